"""Certificates: an authority of one's own and what it signs, their fingerprints, and whose a client
believes.

Making and reading them takes the package `cryptography`, which the extra `remote` brings; believing
them takes none.
"""

from __future__ import annotations

import datetime as dt
import ipaddress
import os
import socket
import ssl
from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from tersely.foundation.errors import TerselyError

if TYPE_CHECKING:
    from cryptography import x509
    from cryptography.hazmat.primitives.asymmetric.ec import EllipticCurvePrivateKey

CA_FILE, CA_KEY = "ca.pem", "ca.key"
SERVER_FILE, SERVER_KEY = "server.pem", "server.key"
CA_DAYS = 3_650
SERVER_DAYS = 397  # the most that clients take
MAX_PEM_BYTES = 200_000
MAX_COMMON_NAME_CHARACTERS = 64
FINGERPRINT_PREFIX = "SHA256:"
_FINGERPRINT_DIGITS = 64
_AUTHORITY_NAME = "Tersely relay authority"
_BACKDATED = dt.timedelta(hours=1)  # for clocks that are behind
_NEW = "`tersely relay ca` makes new ones"


class Made(NamedTuple):
    """The outcome of `make`: files, and the fingerprint of the server's certificate."""

    certificate: Path
    key: Path
    authority: Path
    fingerprint: str


class _Signed(NamedTuple):
    certificate: x509.Certificate
    key: EllipticCurvePrivateKey


def make(folder: Path, names: Sequence[str]) -> Made:
    """A certificate of a server for some names and addresses, signed by the authority in a folder,
    made where there is none. Raises `damaged_installation` without the package,
    `unwritable_output`, `invalid_certificate`.
    """
    check_package()
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        if not (folder / CA_FILE).exists():
            made = _authority()
            _write(folder / CA_KEY, _key_pem(made.key))
            _write(folder / CA_FILE, _pem(made.certificate))
        authority = _read_authority(folder)
        server = _server(names, authority)
        _write(folder / SERVER_KEY, _key_pem(server.key))
        _write(folder / SERVER_FILE, _pem(server.certificate) + _pem(authority.certificate))
    except OSError as error:
        raise TerselyError("unwritable_output", f"{folder}: {error.strerror or error}") from error
    return Made(
        folder / SERVER_FILE, folder / SERVER_KEY, folder / CA_FILE, fingerprint_of(_der(server.certificate))
    )  # fmt: skip


def check_package() -> None:
    """Raise `damaged_installation` where certificates cannot be made."""
    try:
        import cryptography  # noqa: F401
    except ModuleNotFoundError:
        hint = "pip install 'tersely[remote]'"
        raise TerselyError(
            "damaged_installation", "certificates are made by the package cryptography", hint
        ) from None


def fingerprint_of(der: bytes) -> str:
    """The fingerprint by which a certificate is told from all others."""
    return f"{FINGERPRINT_PREFIX}{sha256(der).hexdigest()}"


def read_fingerprint(text: str) -> str:
    """A fingerprint as others write it, with colons and in capitals; raises `invalid_argument`."""
    digits = text.strip().lower().removeprefix(FINGERPRINT_PREFIX.lower()).replace(":", "")
    if len(digits) != _FINGERPRINT_DIGITS or set(digits) - set("0123456789abcdef"):
        hint = f"{FINGERPRINT_PREFIX} and {_FINGERPRINT_DIGITS} hexadecimal digits, as `tersely relay ca` prints it"
        raise TerselyError("invalid_argument", f"{text[:80]!r} is no fingerprint", hint)
    return FINGERPRINT_PREFIX + digits


def certificate_of(host: str, port: int, seconds: float) -> bytes:
    """The certificate that a server shows, believed or not, in DER; raises `relay_unreachable`."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    # nothing is sent: it is compared with what was told by another way
    context.verify_mode = ssl.CERT_NONE
    try:
        with (
            socket.create_connection((host, port), seconds) as plain,
            context.wrap_socket(plain) as secured,
        ):
            return secured.getpeercert(binary_form=True) or b""
    except OSError as error:
        message = f"{host}:{port} does not answer over TLS: {error.strerror or error}"
        raise TerselyError(
            "relay_unreachable", message, "check the address, and that the relay runs"
        ) from error


def client_context(pinned: str, authority: str) -> ssl.SSLContext:
    """The TLS of a client that believes one `pinned` certificate, those that an `authority` signed
    (both in PEM), or those of the system where neither is given. Raises `invalid_certificate`.
    """
    try:
        context = ssl.create_default_context(cadata=pinned or authority or None)
    except ssl.SSLError as error:
        raise TerselyError(
            "invalid_certificate", f"that is no certificate: {error.reason or error}", _NEW
        ) from error
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    if pinned:  # it is the one, whoever signed it and whatever names it has
        context.check_hostname = False
        context.verify_flags |= ssl.VERIFY_X509_PARTIAL_CHAIN
    return context


def valid_until(path: Path) -> dt.datetime:
    """Until when the first certificate of a file holds; raises `invalid_certificate`, and as
    `check_package` does.
    """
    check_package()
    from cryptography import x509

    try:
        return x509.load_pem_x509_certificate(read_pem(path).encode()).not_valid_after_utc
    except ValueError as error:
        raise TerselyError(
            "invalid_certificate", f"{path} is no certificate: {error}", _NEW
        ) from error


def read_pem(path: Path) -> str:
    """A file of certificates; raises `invalid_certificate`."""
    try:
        with path.open("rb") as file:
            return file.read(MAX_PEM_BYTES).decode("ascii")
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "it is no PEM"
        raise TerselyError("invalid_certificate", f"{path}: {reason}", _NEW) from error


def _authority() -> _Signed:
    from cryptography import x509

    key = _new_key()
    builder = _builder(_AUTHORITY_NAME, _name(_AUTHORITY_NAME), key, CA_DAYS)
    builder = builder.add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
    builder = builder.add_extension(_usage(signs=True), critical=True)
    return _Signed(_sign(builder, key), key)


def _server(names: Sequence[str], authority: _Signed) -> _Signed:
    from cryptography import x509

    key = _new_key()
    meant = x509.SubjectAlternativeName([_general_name(name) for name in names])
    server_only = _server_auth()
    signer = x509.AuthorityKeyIdentifier.from_issuer_public_key(authority.key.public_key())
    builder = _builder(names[0], authority.certificate.subject, key, SERVER_DAYS)
    builder = builder.add_extension(meant, critical=False)
    builder = builder.add_extension(
        x509.BasicConstraints(ca=False, path_length=None), critical=True
    )
    builder = builder.add_extension(_usage(signs=False), critical=True)
    builder = builder.add_extension(server_only, critical=False)
    builder = builder.add_extension(signer, critical=False)
    return _Signed(_sign(builder, authority.key), key)


def _builder(
    name: str, issuer: x509.Name, key: EllipticCurvePrivateKey, days: int
) -> x509.CertificateBuilder:
    from cryptography import x509

    now = dt.datetime.now(dt.UTC)
    return (
        x509.CertificateBuilder()
        .subject_name(_name(name))
        .issuer_name(issuer)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - _BACKDATED)
        .not_valid_after(now + dt.timedelta(days=days))
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
    )


def _usage(*, signs: bool) -> x509.KeyUsage:
    from cryptography import x509

    return x509.KeyUsage(
        digital_signature=not signs, content_commitment=False, key_encipherment=False, data_encipherment=False,
        key_agreement=False, key_cert_sign=signs, crl_sign=signs, encipher_only=False, decipher_only=False,
    )  # fmt: skip


def _server_auth() -> x509.ExtendedKeyUsage:
    from cryptography import x509
    from cryptography.x509.oid import ExtendedKeyUsageOID

    return x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH])


def _name(text: str) -> x509.Name:
    from cryptography import x509
    from cryptography.x509.oid import NameOID

    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, text[:MAX_COMMON_NAME_CHARACTERS])])


def _general_name(name: str) -> x509.GeneralName:
    """A name or an address as certificates have it; raises `invalid_argument`."""
    from cryptography import x509

    try:
        return x509.IPAddress(ipaddress.ip_address(name))
    except ValueError:
        pass
    try:
        return x509.DNSName(name)
    except ValueError as error:
        raise TerselyError(
            "invalid_argument", f"{name[:80]!r} is no name of a machine: {error}"
        ) from None


def _new_key() -> EllipticCurvePrivateKey:
    from cryptography.hazmat.primitives.asymmetric import ec

    return ec.generate_private_key(ec.SECP256R1())


def _sign(builder: x509.CertificateBuilder, key: EllipticCurvePrivateKey) -> x509.Certificate:
    from cryptography.hazmat.primitives import hashes

    return builder.sign(key, hashes.SHA256())


def _read_authority(folder: Path) -> _Signed:
    from cryptography import x509
    from cryptography.hazmat.primitives.asymmetric.ec import EllipticCurvePrivateKey
    from cryptography.hazmat.primitives.serialization import load_pem_private_key

    try:
        certificate = x509.load_pem_x509_certificate(read_pem(folder / CA_FILE).encode())
        key = load_pem_private_key((folder / CA_KEY).read_bytes(), None)
    except (ValueError, TypeError, OSError) as error:
        hint = "move both away: `tersely relay ca` makes another authority"
        message = f"{folder / CA_FILE} and {CA_KEY} are no authority: {error}"
        raise TerselyError("invalid_certificate", message, hint) from error
    if not isinstance(key, EllipticCurvePrivateKey):
        raise TerselyError(
            "invalid_certificate", f"{folder / CA_KEY} is a key of another kind", "move it away"
        )
    return _Signed(certificate, key)


def _pem(certificate: x509.Certificate) -> bytes:
    from cryptography.hazmat.primitives.serialization import Encoding

    return certificate.public_bytes(Encoding.PEM)


def _der(certificate: x509.Certificate) -> bytes:
    from cryptography.hazmat.primitives.serialization import Encoding

    return certificate.public_bytes(Encoding.DER)


def _key_pem(key: EllipticCurvePrivateKey) -> bytes:
    from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

    return key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())


def _write(path: Path, content: bytes) -> None:
    """Put a file of this user alone in its place at once."""
    draft = path.with_suffix(f".{os.getpid()}")
    with os.fdopen(
        os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW, 0o600), "wb"
    ) as file:
        file.write(content)
    draft.replace(path)
