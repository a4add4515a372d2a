"""A process that writes to a store while waiting for the disk fails for a time, and says what it
was answered.

strace -f -e inject=fsync,fdatasync:error=EIO:when=FIRST..LAST python unsynced.py HOME
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from tersely.foundation.errors import TerselyError
from tersely.relay.store.commands import Append, Attach, Command, StoreBatch
from tersely.relay.store.store import Store

WRITES = 60
BLOB_EVERY = 3


def main(home: Path) -> dict[str, Any]:
    with Store.open(home) as store:
        answers = [answer(store, number) for number in range(WRITES)]
        told: dict[str, Any] = {"answers": answers}
        told["bodies"] = [int(entry.body) for entry in store.entries("s")]
        told["files"] = len([path for path in (home / "blobs").rglob("*") if path.is_file()])
        told["incoming"] = len(list((home / "incoming").iterdir()))
        told["attached"] = [int(one.name) for one in store.attachments("owner")]
    with Store.open(home) as store:
        told["reopened"] = [int(entry.body) for entry in store.entries("s")]
        told["blobs"] = [
            sum(map(len, store.blob(one.digest))) for one in store.attachments("owner")
        ]
    return told


def answer(store: Store, number: int) -> str:
    """Empty where a write was acknowledged, else what was said; it is looked whether what is there
    can be read.
    """
    before = store.last("s")
    commands: list[Command] = [Append("s", "k", b"%d" % number)]
    try:
        if number % BLOB_EVERY == 0:
            kept = store.take_in([b"%d " % number * 20_000])
            commands += [kept, Attach("owner", str(number), kept.digest, b"")]
        store.commit(StoreBatch(tuple(commands)))
    except TerselyError as error:
        return str(error) if len(store.entries("s")) == before else "unreadable"
    return ""


if __name__ == "__main__":
    print(json.dumps(main(Path(sys.argv[1]))))
