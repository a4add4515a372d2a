"""Content hashes, and the revision of a set of files made from them."""

from __future__ import annotations

from _blake2 import blake2b  # what `hashlib` wraps, which loads all of OpenSSL

HASH_BYTES = 16
_MODULUS = 1 << (8 * HASH_BYTES)


def content_hash(data: bytes | memoryview) -> bytes:
    """The identity of some bytes: equal exactly when they are, for any purpose but an adversary's."""
    return blake2b(data, digest_size=HASH_BYTES).digest()


def sealed(data: bytes) -> bytes:
    """Bytes with their hash before them, for `unsealed`."""
    return content_hash(data) + data


def unsealed(data: bytes) -> memoryview:
    """The bytes that were sealed; raises `ValueError` where they are not what they were.

    For what is decoded by something that trusts it, as `marshal` does: bytes that it did not write
    may end the process.
    """
    body = memoryview(data)[HASH_BYTES:]
    if content_hash(body) != data[:HASH_BYTES]:
        raise ValueError("the bytes are not those that were written")
    return body


class Revision:
    """The identity of a set of (path, content hash) pairs, kept up to date one change at a time.

    It is the sum of the members' own hashes, so neither the order of additions nor the history of
    removals leaves a trace: a refreshed index and a rebuilt one have the same revision when they
    hold the same files.
    """

    __slots__ = ("_sum",)

    def __init__(self, text: str = "0") -> None:
        """Continue from what `str()` gave, or from the empty set."""
        self._sum = int(text, 16)

    def add(self, path: str, digest: bytes) -> None:
        """Put one file in. Each pair may be in the set only once."""
        self._sum = (self._sum + _member(path, digest)) % _MODULUS

    def remove(self, path: str, digest: bytes) -> None:
        """Take out a file that was added with this hash."""
        self._sum = (self._sum - _member(path, digest)) % _MODULUS

    def __str__(self) -> str:
        return f"{self._sum:0{2 * HASH_BYTES}x}"


def _member(path: str, digest: bytes) -> int:
    # A NUL ends the path, as no path contains one: pairs cannot run into each other.
    keyed = path.encode("utf-8", "surrogateescape") + b"\0" + digest
    return int.from_bytes(content_hash(keyed), "big")
