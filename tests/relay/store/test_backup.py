"""Backups: one moment of a store that is written to meanwhile, put back whole or not at all."""

from __future__ import annotations

import tarfile
import threading
from pathlib import Path

import pytest

from tersely.foundation.errors import TerselyError
from tersely.relay.store import backup
from tersely.relay.store.commands import Append, Attach, StoreBatch
from tersely.relay.store.store import Store

LARGE = b"large " * 20_000


def keep(store: Store, name: str, content: bytes) -> None:
    taken = store.take_in([content])
    store.commit(StoreBatch((taken, Attach("thread/one", name, taken.digest, b"{}"))))


def test_a_backup_is_one_moment_of_a_store_that_is_written_to(tmp_path: Path) -> None:
    home, other = tmp_path / "home", tmp_path / "other"
    other.mkdir(0o700)
    with (
        Store.open(home, durable=False) as store,
        Store.open(home, tenant="red", durable=False) as red,
    ):
        keep(store, "large", LARGE)
        red.commit(StoreBatch((Append("crimson", "kind", b"{}"),)))
        is_over = threading.Event()

        def writing() -> None:
            while not is_over.is_set():
                store.commit(StoreBatch((Append("a", "kind", b"{}"), Append("b", "kind", b"{}"))))

        thread = threading.Thread(target=writing)
        thread.start()
        try:
            path = backup.write(home, tmp_path / "backup.tar")
        finally:
            is_over.set()
            thread.join()
        written = store.last("a")
    assert path.stat().st_mode & 0o077 == 0
    backup.restore(path, other)
    with (
        Store.open(other, durable=False) as store,
        Store.open(other, tenant="red", durable=False) as red,
    ):
        assert store.last("a") == store.last("b") <= written
        (found,) = store.attachments("thread/one")
        assert b"".join(store.blob(found.digest)) == LARGE
        assert red.last("crimson") == 1
    with pytest.raises(TerselyError, match="has a store already"):
        backup.restore(path, other)


def test_what_is_no_backup_leaves_nothing_behind(tmp_path: Path) -> None:
    home = tmp_path / "home"
    with Store.open(home, durable=False) as store:
        keep(store, "large", LARGE)
    path = backup.write(home, tmp_path / "backup.tar")
    content = path.read_bytes()
    at = content.index(LARGE[:1000])
    spoiled = {
        "cut": content[: len(content) // 2],
        "changed": content[:at] + b"smile " + content[at + 6 :],
        "none": b"no archive at all" * 100,
    }
    outside = tmp_path / "outside.tar"
    with tarfile.open(path) as archive, tarfile.open(outside, "w") as made:
        first = archive.next()
        assert first is not None
        made.addfile(first, archive.extractfile(first))
        made.addfile(tarfile.TarInfo("../escaped"))
    spoiled["escaping"] = outside.read_bytes()
    for name, bad in spoiled.items():
        other = tmp_path / name
        other.mkdir(0o700)
        (tmp_path / "bad.tar").write_bytes(bad)
        with pytest.raises(TerselyError):
            backup.restore(tmp_path / "bad.tar", other)
        assert list(other.iterdir()) == [], name
    assert not (tmp_path / "escaped").exists()


def test_of_backups_in_a_directory_the_latest_stay(tmp_path: Path) -> None:
    home, folder = tmp_path / "home", tmp_path / "backups"
    folder.mkdir()
    with Store.open(home, durable=False):
        pass
    (folder / "mine.tar").write_text("of somebody else")
    made = [backup.write(home, folder, keep=2) for _ in range(4)]
    assert sorted(folder.iterdir()) == sorted([folder / "mine.tar", *made[-2:]])
    found = backup.last(home)
    assert found is not None
    assert found[1] == made[-1]
