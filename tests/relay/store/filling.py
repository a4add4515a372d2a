"""A process that fills the disk of a store's home, looks at what still works, makes room, and says
what it saw.

    python filling.py HOME BALLAST

`BALLAST` is a file on the same disk that is deleted to make room.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from tersely.foundation.errors import TerselyError
from tersely.relay.store.commands import Append, Attach, StoreBatch
from tersely.relay.store.store import Store

WRITES = 2_000
BODY = b"x" * 10_000
LARGE = b"l" * 2_000_000


def main(home: Path, ballast: Path) -> dict[str, Any]:
    with Store.open(home) as store:
        told: dict[str, Any] = {"acknowledged": fill(store)}
        told["refused"] = [said(store, Append("s", "k", BODY)) for _ in range(3)]
        told["blob"] = put(store)
        told["left"] = left(home)
        told["read"] = store.last("s")
        told["bodies"] = all(entry.body == BODY for entry in store.entries("s"))
        ballast.unlink()
        told["recovered"] = [said(store, Append("s", "k", BODY)) for _ in range(3)]
        told["blob_later"] = put(store)
        told["last"] = store.last("s")
    with Store.open(home) as store:
        told["reopened"] = [
            store.last("s"),
            [entry.number for entry in store.entries("s")] == [*range(1, told["last"] + 1)],
        ]
        told["blob_reopened"] = [
            sum(map(len, store.blob(one.digest))) for one in store.attachments("owner")
        ]
    return told


def fill(store: Store) -> int:
    for number in range(WRITES):
        if said(store, Append("s", "k", BODY)):
            return number
    return WRITES


def said(store: Store, *commands: Any) -> str:
    try:
        store.commit(StoreBatch(commands))
    except TerselyError as error:
        return f"{error} ({error.hint})"
    return ""


def put(store: Store) -> str:
    try:
        kept = store.take_in([LARGE])
    except TerselyError as error:
        return str(error)
    return said(store, kept, Attach("owner", "large", kept.digest, b""))


def left(home: Path) -> list[str]:
    return [
        path.name
        for name in ("blobs", "incoming")
        for path in (home / name).rglob("*")
        if path.is_file()
    ]


if __name__ == "__main__":
    print(json.dumps(main(Path(sys.argv[1]), Path(sys.argv[2]))))
