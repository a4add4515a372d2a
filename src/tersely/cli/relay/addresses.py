"""The address at which the relay listens for other machines, and the files of its certificate."""

from __future__ import annotations

import ssl
from pathlib import Path
from typing import TYPE_CHECKING

from tersely.foundation.errors import TerselyError

if TYPE_CHECKING:
    from tersely.relay.wire.addresses import Address


def wanted(listen: str, certificate: str, key: str) -> Address | None:
    """The address that `up` was given, None for none; raises `usage`, `insecure_address` or
    `invalid_certificate`.
    """
    from tersely.doors.listening import read_address

    if bool(certificate) != bool(key):
        raise TerselyError("usage", "--tls-cert and --tls-key belong together", "name both files")
    if not listen:
        if certificate:
            raise TerselyError(
                "usage", "--tls-cert is for --listen HOST:PORT", "say where to listen"
            )
        return None
    if certificate:
        _check(certificate, key)
    return read_address(listen, _absolute(certificate), _absolute(key))


def _check(certificate: str, key: str) -> None:
    """Raise `invalid_certificate` where a server could not show it, before there is a process that
    would.
    """
    try:
        # a key under a password is refused, and nobody is asked for it: the relay has no terminal
        ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER).load_cert_chain(certificate, key, password="")
    except OSError as error:  # of ssl as well
        hint = "name a certificate and its own key, without a password, both in PEM and readable by this user"
        message = f"{certificate} and {key} cannot be used: {error.strerror or error}"
        raise TerselyError("invalid_certificate", message, hint) from error


def _absolute(path: str) -> str:
    return str(Path(path).absolute()) if path else ""
