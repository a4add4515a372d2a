"""TLS between talkers: one certificate of the user's, which is its own authority.

It lies in `~/.ai-talk/tls/`, `cert.pem` and `key.pem`. Who has one puts it there; else the program
`openssl` makes one. A sender trusts this certificate and no other, so that nobody else's listener
is taken for the user's.
"""

from __future__ import annotations

import socket
import ssl
import subprocess
from pathlib import Path

from .failures import TalkError
from .place import locked, made

OPENSSL_SECONDS = 15.0  # for a certificate to be made
_COMMAND = (
    "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 3650"
    " -subj /CN=ai-talk -addext subjectAltName=IP:127.0.0.1,DNS:localhost"
    " -out cert.pem -keyout key.pem"
)


def server_context(home: Path) -> ssl.SSLContext:
    """The TLS of a listener, with a certificate that is made where there is none; raises
    `TLS_FAILED`.
    """
    folder = made(home / "tls")
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    try:
        with locked(folder / "lock"):
            if not (folder / "cert.pem").exists():
                subprocess.run(
                    _COMMAND.split(), cwd=folder, timeout=OPENSSL_SECONDS, check=True,
                    stdin=subprocess.DEVNULL, capture_output=True,
                )  # fmt: skip
        context.load_cert_chain(folder / "cert.pem", folder / "key.pem")
    except (OSError, subprocess.SubprocessError) as error:
        why = f"put cert.pem and key.pem into {folder}: {error}"
        raise TalkError("TLS_FAILED", why, path=str(folder)) from error
    return context


def wrapped(connection: socket.socket, home: Path) -> ssl.SSLSocket:
    """A connection that speaks TLS to whoever has the user's certificate; raises `TLS_FAILED`."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False  # it is this certificate that is trusted, whatever it is called
    context.verify_flags |= ssl.VERIFY_X509_PARTIAL_CHAIN
    try:
        context.load_verify_locations(home / "tls" / "cert.pem")
        return context.wrap_socket(connection)
    except OSError as error:
        connection.close()
        raise TalkError("TLS_FAILED", f"{home / 'tls'}: {error}") from error
