"""Large blobs as files beside a database that one process has."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from pathlib import Path

from tersely.foundation.errors import TerselyError, failing_as
from tersely.foundation.limits import BLOB_CHUNK_BYTES
from tersely.relay.store.commands import KeptBlob
from tersely.relay.store.engines.engine import Statements


class BlobFiles:
    """A folder of files that are named by their digests. A file without a row is removed once that
    is certain.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._loose: set[str] = set()  # blobs whose files may have no row, of transactions in doubt
        folder.mkdir(mode=0o700, exist_ok=True)

    def put(self, database: Statements, keep: KeptBlob) -> None:
        """Move a file, whose bytes are on the disk, so that its name is there too before any row
        tells of it.
        """
        assert keep.file is not None
        self._loose.add(keep.digest)
        path = self._path(keep.digest)
        folder = path.parent
        with failing_as("database_unavailable", path, "look at its disk"):
            if not folder.is_dir():
                folder.mkdir(mode=0o700)
                _sync_directory(folder.parent)
            # where it was already, this mends what the disk may have done to it
            os.replace(keep.file, path)
            _sync_directory(folder)

    def dropped(self, database: Statements, digests: Iterable[str]) -> None:
        """Their files go when that is on the disk."""
        self._loose.update(digests)

    def suspect(self, digests: Iterable[str]) -> None:
        """These may have no row: `settle` sees to it."""
        self._loose.update(digests)

    def settle(self, database: Statements) -> None:
        """Remove the files of blobs that no row tells of."""
        loose, self._loose = self._loose, set()
        for digest in loose:
            if not database.value("select count(*) from blob where digest = ?", (digest,)):
                self._path(digest).unlink(missing_ok=True)

    def chunks(self, database: Statements, digest: str) -> Iterator[bytes]:
        """The bytes of one; none where its file is gone."""
        try:
            with self._path(digest).open("rb") as file:
                while chunk := file.read(BLOB_CHUNK_BYTES):
                    yield chunk
        except OSError:
            return

    def strays(self, older_than_ms: int) -> Iterator[list[str]]:
        """Files that are there since before a time, a folder at a time."""
        try:
            for folder in self._folder.iterdir():
                yield [
                    path.name
                    for path in folder.iterdir()
                    if path.stat().st_mtime * 1000 < older_than_ms
                ]
        except OSError as error:
            raise TerselyError(
                "database_unavailable", f"{self._folder}: {error.strerror}"
            ) from error

    def _path(self, digest: str) -> Path:
        return self._folder / digest[:2] / digest


def _sync_directory(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
