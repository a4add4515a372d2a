"""Where the disk is full or fails: a clear refusal, what is there can be read, and later writing
goes on.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from tests.relay.store.unsynced import BLOB_EVERY, WRITES

from tersely.foundation.errors import TerselyError
from tersely.relay.store.commands import Append, Attach, StoreBatch
from tersely.relay.store.store import Store

HERE = Path(__file__).parent
FULL = "the disk is full"
SECONDS = 60


def told(command: list[str]) -> Any:
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=SECONDS)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def in_own_mounts(*command: str) -> list[str]:
    return ["unshare", "--user", "--map-root-user", "--mount", *command]


def test_a_full_disk_is_told_and_outlived(tmp_path: Path) -> None:
    disk = tmp_path / "disk"
    disk.mkdir()
    mount = f'mount -t tmpfs -o size=8m tersely "{disk}"'
    try:
        subprocess.run(
            in_own_mounts("sh", "-c", mount), capture_output=True, check=True, timeout=SECONDS
        )
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("this user may not make a mount namespace")
    program = f'"{sys.executable}" "{HERE / "filling.py"}" "{disk}/home" "{disk}/ballast"'
    saw = told(
        in_own_mounts(
            "sh", "-c", f'{mount} && head -c 4000000 /dev/zero > "{disk}/ballast" && exec {program}'
        )
    )
    assert saw["acknowledged"] > 10
    assert all(
        refusal.startswith("database_unavailable") and FULL in refusal for refusal in saw["refused"]
    )
    assert FULL in saw["blob"]
    assert saw["left"] == []  # nothing of the blob that did not fit
    assert (saw["read"], saw["bodies"]) == (saw["acknowledged"], True)
    assert (saw["recovered"], saw["blob_later"]) == (["", "", ""], "")
    assert saw["last"] == saw["acknowledged"] + 3
    assert saw["reopened"] == [saw["last"], True]
    assert saw["blob_reopened"] == [2_000_000]


@pytest.mark.skipif(
    shutil.which("strace") is None, reason="no strace, which makes waiting for the disk fail"
)
@pytest.mark.parametrize("failing", ["20..45", "21..21", "30..30"])
def test_a_disk_that_cannot_be_waited_for_is_told_and_outlived(
    tmp_path: Path, failing: str
) -> None:
    inject = f"inject=fsync,fdatasync:error=EIO:when={failing}"
    traced = ["strace", "-f", "-qq", "-o", os.devnull, "-e", "trace=fsync,fdatasync", "-e", inject]
    saw = told([*traced, sys.executable, str(HERE / "unsynced.py"), str(tmp_path / "home")])
    acknowledged = [number for number, said in enumerate(saw["answers"]) if not said]
    refused = [said for said in saw["answers"] if said]
    assert refused
    assert not saw["answers"][-1]
    assert all(said.startswith("database_unavailable") for said in refused)
    assert saw["bodies"] == saw["reopened"] == acknowledged
    with_blobs = [number for number in acknowledged if number % BLOB_EVERY == 0]
    assert saw["attached"] == with_blobs
    assert (saw["files"], saw["incoming"]) == (len(with_blobs), 0)
    assert saw["blobs"] == [len(b"%d " % number * 20_000) for number in with_blobs]
    assert len(saw["answers"]) == WRITES


@pytest.mark.parametrize("opening", ["sqlite"], indirect=True)
def test_a_database_that_may_not_grow_says_so_and_is_read(store: Store) -> None:
    for _ in range(10):
        store.commit(StoreBatch((Append("s", "k", b"x" * 5_000),)))
    pages = "pragma max_page_count = {}"
    # as many as there are
    store._writer.submit(lambda tables: tables.database.execute(pages.format(1))).result()
    kept = store.take_in([b"l" * 100_000])
    with pytest.raises(TerselyError, match=f"database_unavailable: .*{FULL}") as caught:
        store.commit(
            StoreBatch(
                (
                    kept,
                    *(Append("s", "k", b"x" * 5_000) for _ in range(9)),
                    Attach("o", "n", kept.digest, b""),
                )
            )
        )
    assert "make room" in caught.value.hint
    assert [path for path in (store.home / "blobs").rglob("*") if path.is_file()] == []
    assert list((store.home / "incoming").iterdir()) == []
    assert len(store.entries("s")) == 10
    store._writer.submit(lambda tables: tables.database.execute(pages.format(10_000))).result()
    assert store.commit(StoreBatch((Append("s", "k", b"x" * 5_000),))).given == (11,)
