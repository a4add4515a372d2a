"""Arrays in one file that is mapped into memory, never parsed: a header says what lies where.

magic     MAGIC lengths   the bytes of the header and of the whole file, 8 bytes each, little-endian
checksum  CRC-32 of the header, 4 bytes header    JSON: `about`, whatever its writer wants to know
again, and of each array its type, shape, place and CRC-32 arrays    little-endian, each at a
multiple of ALIGNMENT_BYTES
"""

from __future__ import annotations

import json
import os
import stat
import struct
from collections.abc import Mapping
from mmap import ACCESS_READ, mmap
from pathlib import Path
from zlib import crc32

from tersely.foundation.arrays import Array, np
from tersely.foundation.storage.private import READING
from tersely.foundation.types import JsonMapping, JsonObject, frozen

MAGIC = b"tersely arrays 1"
ALIGNMENT_BYTES = 64
MAX_HEADER_BYTES = 10_000_000
# larger files are checked for shape only: reading them all would take too long
MAX_CHECKED_BYTES = 64_000_000
_LENGTHS = struct.Struct("<QQI")
_START = len(MAGIC) + _LENGTHS.size
_TYPES = frozenset({"|u1", "|i1", "<u2", "<u4", "<u8", "<f4"})


class DamagedFileError(Exception):
    """A file that is not what was written, whoever it comes from."""


@frozen
class ArrayFile:
    """A mapped file. Its arrays are read-only, and stay usable when the file is replaced."""

    about: JsonMapping
    arrays: Mapping[str, Array]

    def __getitem__(self, name: str) -> Array:
        """An array by its name."""
        try:
            return self.arrays[name]
        except KeyError as error:
            raise DamagedFileError(name) from error


def write_arrays(path: Path, about: JsonMapping, arrays: Mapping[str, Array]) -> None:
    """Write a file, or replace it in one step: whoever reads it sees the one before or the new one,
    whole.
    """
    places: JsonObject = {}
    at = 0
    parts = {
        name: np.ascontiguousarray(array).astype(array.dtype.newbyteorder("<"))
        for name, array in arrays.items()
    }
    for name, array in parts.items():
        at = _aligned(at)
        places[name] = [array.dtype.str, list(array.shape), at, crc32(_bytes_of(array))]
        at += array.nbytes
    header = json.dumps({"about": dict(about), "arrays": places}).encode()
    first = _aligned(_START + len(header))
    temporary = path.with_name(f"{path.name}.{os.urandom(4).hex()}.new")
    try:
        with temporary.open("xb") as file:
            file.write(MAGIC + _LENGTHS.pack(len(header), first + at, crc32(header)) + header)
            for name, array in parts.items():
                file.seek(first + places[name][2])
                file.write(_bytes_of(array))
            file.truncate(first + at)
        os.replace(temporary, path)
    except OSError:
        temporary.unlink(missing_ok=True)
        raise


def map_arrays(path: Path) -> ArrayFile:
    """Map a file; `DamagedFileError` for one that is missing, cut off, altered or of another
    program.
    """
    try:
        mapped = _map(path)
    except (OSError, ValueError) as error:
        raise DamagedFileError(path) from error
    if mapped[: len(MAGIC)] != MAGIC or len(mapped) < _START:
        raise DamagedFileError(path)
    header_bytes, total_bytes, checksum = _LENGTHS.unpack_from(mapped, len(MAGIC))
    header = mapped[_START : _START + min(header_bytes, MAX_HEADER_BYTES)]
    if len(mapped) != total_bytes or crc32(header) != checksum:
        raise DamagedFileError(path)
    try:
        said = json.loads(header)
        first = _aligned(_START + header_bytes)
        is_checked = total_bytes <= MAX_CHECKED_BYTES
        arrays = {
            name: _array(mapped, first, place, is_checked) for name, place in said["arrays"].items()
        }
        return ArrayFile(said["about"], arrays)
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise DamagedFileError(path) from error


def _map(path: Path) -> mmap:
    descriptor = os.open(path, READING)
    try:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise ValueError(path)
        return mmap(descriptor, 0, access=ACCESS_READ)
    finally:
        os.close(descriptor)


def _array(
    mapped: mmap, first: int, place: tuple[str, list[int], int, int], is_checked: bool
) -> Array:
    kind, shape, at, checksum = place
    if kind not in _TYPES:
        raise ValueError(kind)
    count = int(np.prod(shape, dtype=np.int64))
    array = np.frombuffer(mapped, np.dtype(kind), count, first + at) if count else np.zeros(0, kind)
    if is_checked and crc32(_bytes_of(array)) != checksum:
        raise ValueError(at)
    return array.reshape(shape)


def _bytes_of(array: Array) -> memoryview:
    return array.reshape(-1).view(np.uint8).data if array.nbytes else memoryview(b"")


def _aligned(at: int) -> int:
    return -(-at // ALIGNMENT_BYTES) * ALIGNMENT_BYTES
