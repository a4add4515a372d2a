"""A store that an earlier version has written, opened by this one."""

from __future__ import annotations

from pathlib import Path

import pytest

from tersely.relay.store import mailboxes
from tersely.relay.store.engines import sqlite
from tersely.relay.store.mailboxes import Mark, Post, Stage
from tersely.relay.store.store import Store

_STEPS_BEFORE = 2  # those after which what waits is counted from an index alone


def test_mail_waits_on_after_an_upgrade(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as earlier:
        earlier.setattr(sqlite, "MIGRATIONS", sqlite.MIGRATIONS[:_STEPS_BEFORE])
        with Store.open(tmp_path) as store:
            for number in range(3):
                _post(store, f"id {number}", b"x" * number)
            seen = Mark("ben", 1, Stage.SEEN, store.now_ms())
            store.write(lambda tables: mailboxes.mark(tables, [seen])).result()
    with Store.open(tmp_path) as store:
        assert mailboxes.loads(store.reader) == {"ben": (2, 3)}
        assert [one.id for one in mailboxes.waiting(store.reader, "ben", 0, 9)] == ["id 1", "id 2"]


def test_what_waits_is_counted_without_reading_the_deliveries(tmp_path: Path) -> None:
    with Store.open(tmp_path) as store:
        _post(store, "id", b"x")
        steps = store.reader.rows(f"explain query plan {mailboxes.LOADS}")
    assert [row[3] for row in steps] == ["SCAN delivery USING COVERING INDEX delivery_waiting"]


def _post(store: Store, id: str, payload: bytes) -> None:
    post = Post(
        "ann", "agent", id, store.now_ms(), "ben", "", "", "message", payload, b"", (("ben", 0),)
    )
    store.write(lambda tables: mailboxes.post(tables, [post])).result()
