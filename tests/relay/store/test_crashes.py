"""What was acknowledged is there after `kill -9`, and nothing is there in part or that nobody
wrote.
"""

from __future__ import annotations

import random
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest
from tests.relay.store.crashing import BLOB_EVERY, WRITERS, content

from tersely.relay.store.store import Store

CRASHES = 4


def crash(home: Path, acknowledged: int) -> Counter[int]:
    """Have a process write, kill it after so many acknowledgements; the last number of each writer
    that was said.
    """
    program = Path(__file__).with_name("crashing.py")
    process = subprocess.Popen(
        [sys.executable, str(program), str(home)], stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    with process:
        lines = [process.stdout.readline() for _ in range(acknowledged)]
        process.kill()
        lines += process.stdout.readlines()  # what was said before it died
    told: Counter[int] = Counter()
    for line in lines:
        writer, _, number = line.partition(" ")
        if number.endswith("\n"):
            told[int(writer)] = max(told[int(writer)], int(number) + 1)
    return told


@pytest.mark.parametrize("seed", range(2))
def test_nothing_acknowledged_is_lost_and_nothing_else_appears(tmp_path: Path, seed: int) -> None:
    draw = random.Random(seed)
    home = tmp_path / "home"
    told: Counter[int] = Counter()
    for _ in range(CRASHES):
        told |= crash(home, draw.randrange(1, 150))
        with Store.open(home) as store:
            for writer in range(WRITERS):
                check(store, writer, told[writer])


def check(store: Store, writer: int, acknowledged: int) -> None:
    name = str(writer)
    count = store.last(name)
    # One batch of each writer may have been on its way when the process died: it is there as a
    # whole, or not at all.
    assert acknowledged <= count <= acknowledged + CRASHES
    bodies = [
        entry.body for start in range(0, count, 1_000) for entry in store.entries(name, start)
    ]
    assert bodies == [str(number).encode() for number in range(count)]
    assert store.counts("all").get(name, 0) == count
    found = store.document(name)
    assert found == ((count, str(count - 1).encode()) if count else None)
    attached = {one.name: one.digest for one in store.attachments(name)}
    expected = range(0, count, BLOB_EVERY)
    assert sorted(attached) == sorted(map(str, expected))
    for number in expected:
        assert b"".join(store.blob(attached[str(number)])) == content(writer, number)
