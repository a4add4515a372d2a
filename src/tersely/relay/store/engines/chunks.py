"""Large blobs as rows, for processes on several machines that share one database."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from tersely.foundation.errors import failing_as
from tersely.foundation.limits import BLOB_CHUNK_BYTES
from tersely.relay.store.commands import KeptBlob
from tersely.relay.store.engines.engine import Statements


class BlobChunks:
    """The bytes of a blob are written and removed with its row: nothing is ever without one."""

    def put(self, database: Statements, keep: KeptBlob) -> None:
        """Write the bytes of a file, over those that are there."""
        assert keep.file is not None
        self.dropped(database, (keep.digest,))
        sql = "insert into chunk (digest, number, body) values (?, ?, ?)"
        with (
            failing_as("unreadable_file", keep.file, "look at its disk"),
            keep.file.open("rb") as file,
        ):
            number = 0
            while chunk := file.read(BLOB_CHUNK_BYTES):
                database.execute(sql, (keep.digest, number, chunk))
                number += 1

    def dropped(self, database: Statements, digests: Iterable[str]) -> None:
        """Remove their bytes with them."""
        database.execute_many(
            "delete from chunk where digest = ?", [(digest,) for digest in digests]
        )

    def suspect(self, digests: Iterable[str]) -> None:
        """There are none."""

    def settle(self, database: Statements) -> None:
        """There is nothing to remove."""

    def chunks(self, database: Statements, digest: str) -> Iterator[bytes]:
        """The bytes of one."""
        number = 0
        sql = "select body from chunk where digest = ? and number = ?"
        while (body := database.value(sql, (digest, number))) is not None:
            yield body
            number += 1

    def strays(self, older_than_ms: int) -> Iterator[list[str]]:
        """There are none."""
        return iter(())
