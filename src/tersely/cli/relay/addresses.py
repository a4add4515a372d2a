"""The addresses at which the relay listens for other machines, and the certificates that it shows
there.
"""

from __future__ import annotations

import socket
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tersely.capabilities.declaration.declaration import option
from tersely.cli.relay.command_spec import RelayCommand, RelayCommandCall
from tersely.doors.home import home_directory
from tersely.foundation.errors import TerselyError
from tersely.foundation.network import certificates

if TYPE_CHECKING:
    from tersely.doors.listening import Address

TLS_FOLDER = "tls"  # in the home
MAX_NAMES = 50


@dataclass(frozen=True, slots=True)
class _CaParameters:
    name: tuple[str, ...] = option(
        (),
        "a name or address by which other machines ask (default: that of this machine)",
        maximum=MAX_NAMES,
    )
    tls: str = option("", "where to keep them (default: tls in the home)", metavar="DIR")


def wanted(listen: str, folder: str, certificate: str, key: str) -> Address | None:
    """The address that `up` was given, None for none; raises `usage`, `insecure_address` or
    `invalid_certificate`.
    """
    from tersely.doors.listening import read_address

    if not listen:
        if folder or certificate or key:
            raise TerselyError("usage", "--tls is for --listen HOST:PORT", "say where to listen")
        return None
    if folder and (certificate or key):
        raise TerselyError(
            "usage", "--tls names a directory with both: leave out --tls-cert and --tls-key"
        )
    if bool(certificate) != bool(key):
        raise TerselyError("usage", "--tls-cert and --tls-key belong together")
    if folder:
        certificate = f"{folder}/{certificates.SERVER_FILE}"
        key = f"{folder}/{certificates.SERVER_KEY}"
    for path in filter(None, (certificate, key)):
        certificates.read_pem(Path(path))
    return read_address(listen, _absolute(certificate), _absolute(key))


def _absolute(path: str) -> str:
    return str(Path(path).absolute()) if path else ""


def _ca(asked: RelayCommandCall, parameters: _CaParameters) -> dict[str, Any]:
    from tersely.relay.relay import make_home

    home = home_directory()
    if not parameters.tls:
        make_home(home)
    folder = Path(parameters.tls) if parameters.tls else home / TLS_FOLDER
    names = parameters.name or (socket.gethostname(), "localhost", "127.0.0.1")
    made = certificates.make(folder, names)
    lines = [
        f"certificate  {made.certificate} for {', '.join(names)}, {certificates.SERVER_DAYS} days",
        f"authority    {made.authority}: give it to other machines for `tersely join --ca`",
        f"fingerprint  {made.fingerprint}: or this, for `tersely join --fingerprint`",
        f"serve        tersely up --listen 0.0.0.0:7474 --tls {folder}",
    ]
    told = {
        name: str(getattr(made, name))
        for name in ("certificate", "key", "authority", "fingerprint")
    }
    return {**told, "names": list(names), "text": "\n".join(lines) + "\n"}


COMMANDS: tuple[RelayCommand, ...] = (
    RelayCommand(
        ("ca",),
        "Make a certificate for `up --tls`, and the authority that signs it",
        _CaParameters,
        _ca,
    ),
)
