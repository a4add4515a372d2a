"""A process that writes to a store from several threads until it is killed, and says what was
acknowledged.

Thread `n` appends 0, 1, 2, … to the stream `n`, each with the next version of the document `n`, a
counter, and now and then a blob, in one batch. A line is printed when the batch is acknowledged.
"""

from __future__ import annotations

import sys
import threading
from pathlib import Path

from tersely.relay.store.commands import (
    Append,
    Attach,
    Command,
    Count,
    DocumentEdit,
    StoreBatch,
    Write,
)
from tersely.relay.store.store import Store

WRITERS = 4
BLOB_EVERY = 5


def content(writer: int, number: int) -> bytes:
    """The blob of a batch: small ones are in the database, large ones are files."""
    return f"{writer}/{number} ".encode() * (10 if number % 2 else 20_000)


def main(home: str) -> None:
    with Store.open(Path(home)) as store:
        threads = [
            threading.Thread(target=write, args=(store, number), daemon=True)
            for number in range(WRITERS)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()


def write(store: Store, writer: int) -> None:
    number = store.last(str(writer))
    while True:
        body = str(number).encode()
        commands: list[Command] = [
            Append(str(writer), "k", body),
            Write(str(writer), lambda before, body=body: DocumentEdit(body, body)),  # type: ignore[misc]
            Count("all", str(writer)),
        ]
        if number % BLOB_EVERY == 0:
            kept = store.take_in([content(writer, number)])
            commands += [kept, Attach(str(writer), str(number), kept.digest, b"")]
        store.commit(StoreBatch(tuple(commands), f"{writer}/{number}", body))
        sys.stdout.write(f"{writer} {number}\n")
        sys.stdout.flush()
        number += 1


if __name__ == "__main__":
    main(sys.argv[1])
