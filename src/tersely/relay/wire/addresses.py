"""The addresses at which other machines find a relay."""

from __future__ import annotations

import ipaddress

import msgspec


class Address(msgspec.Struct, frozen=True):
    """The address at which other machines find the relay, and the files of its certificate and key;
    without them it is not TLS.
    """

    host: str
    port: int
    certificate: str = ""
    key: str = ""

    @property
    def url(self) -> str:
        """As a client is told it."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"http{'s' if self.certificate else ''}://{host}:{self.port}"


def is_loopback(host: str) -> bool:
    """True if an address is one of this machine alone. A name is none but `localhost`: it may mean
    anything.
    """
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
