"""TLS between talkers: one certificate of the user's, which is its own authority.

It lies in `~/.ai-talk/tls/`, `cert.pem` and `key.pem`. Who has one puts it there; else the program
`openssl` makes one. A sender trusts this certificate and no other, so that nobody else's listener
is taken for the user's.
"""

from __future__ import annotations

import os
import shutil
import ssl
import subprocess
from pathlib import Path

from . import files, place
from .failures import TalkError

HELLO_BYTE = b"\x16"  # a connection that begins with it speaks TLS
OPENSSL_SECONDS = 15.0  # for a certificate to be made
_DAYS = "3650"


def certificate(home: Path) -> tuple[Path, Path]:
    """The certificate and its key, made where there are none; raises `TLS_UNAVAILABLE`."""
    directory = home / "tls"
    place.make(directory)
    found = directory / "cert.pem", directory / "key.pem"
    with files.locked(directory / "lock"):
        if not all(path.exists() for path in found):
            _create(*found)
    return found


def server_context(home: Path) -> ssl.SSLContext:
    """The TLS of a listener; raises `TLS_FAILED` where the certificate cannot be used,
    `TLS_UNAVAILABLE`.
    """
    paths = certificate(home)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    try:
        context.load_cert_chain(*paths)
    except (OSError, ssl.SSLError) as error:
        raise _unusable(paths[0], error) from error
    return context


def client_context(home: Path) -> ssl.SSLContext:
    """The TLS of a sender; raises `TLS_UNAVAILABLE` where the user has no certificate,
    `TLS_FAILED`.
    """
    path = home / "tls" / "cert.pem"
    if not path.exists():
        raise TalkError(
            "TLS_UNAVAILABLE",
            f"there is no {path}: no listener of this user's speaks TLS",
            path=str(path),
        )
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False  # it is this certificate that is trusted, whatever it is called
    context.verify_flags |= ssl.VERIFY_X509_PARTIAL_CHAIN
    try:
        context.load_verify_locations(path)
    except (OSError, ssl.SSLError) as error:
        raise _unusable(path, error) from error
    return context


def _create(certificate_path: Path, key_path: Path) -> None:
    program = shutil.which("openssl")
    if program is None:
        why = f"there is no program openssl to make a certificate: put cert.pem and key.pem into {key_path.parent}"
        raise TalkError("TLS_UNAVAILABLE", why, path=str(key_path.parent))
    drafts = [path.with_suffix(".new") for path in (certificate_path, key_path)]
    command = [
        program, "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", _DAYS,
        "-subj", "/CN=ai-talk", "-addext", "subjectAltName=IP:127.0.0.1,DNS:localhost",
        "-out", str(drafts[0]), "-keyout", str(drafts[1]),
    ]  # fmt: skip
    try:
        done = subprocess.run(command, capture_output=True, timeout=OPENSSL_SECONDS, check=False)
        if done.returncode != 0:
            raise TalkError("TLS_UNAVAILABLE", f"openssl has failed: {_last_line(done.stderr)}")
        os.chmod(drafts[1], 0o600)
        for draft, path in zip(reversed(drafts), (key_path, certificate_path), strict=True):
            os.replace(draft, path)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise TalkError("TLS_UNAVAILABLE", f"openssl has failed: {error}") from error
    finally:
        for draft in drafts:
            draft.unlink(missing_ok=True)


def _last_line(said: bytes) -> str:
    lines = said.decode("utf-8", "replace").split("\n")
    return next((line for line in reversed(lines) if line.strip()), "it says nothing")


def _unusable(path: Path, error: Exception) -> TalkError:
    return TalkError("TLS_FAILED", f"{path} cannot be used: {error}", path=str(path))
