"""What two revisions find, compared."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from tools.compare.__main__ import DUMP, differences, read, table
from tools.compare.dump import rows

SOURCE = """
class Shop:
    def total(self):
        return price(self)

def price(shop):
    return 1
"""
OTHER = SOURCE.replace("price(self)", "cost(self)").replace("def price", "\ndef cost")


def dumped(folder: Path, source: str) -> dict[str, dict[str, str]]:
    folder.mkdir()
    (folder / "shop.py").write_text(source)
    return read("\t".join(row) for row in rows(folder, 0))


def test_all_that_differs_is_counted_by_kind(tmp_path: Path) -> None:
    before, after = dumped(tmp_path / "a", SOURCE), dumped(tmp_path / "b", OTHER)
    found = {each.kind: each for each in differences(before, after)}
    total = "shop.py:Shop.total → shop.py"
    assert found["forward edge"].gone == found["backward edge"].gone == (f"{total}:price",)
    assert found["forward edge"].new == found["backward edge"].new == (f"{total}:cost",)
    assert found["symbol"].gone == ("shop.py:price",)
    assert [each.partition(": ")[0] for each in found["scope"].changed] == ["shop.py:Shop.total"]
    assert found["mention"].new == ("shop.py cost",)
    assert found["file"].is_none
    lines = list(table("shop", list(found.values()), 1))
    assert lines[0].split() == ["shop", "before", "after", "gone", "new", "changed"]
    assert ["symbol", "4", "4", "1", "1", "1"] in [line.split() for line in lines]
    assert f"    - forward edge: {total}:price" in lines


def test_what_is_the_same_differs_in_nothing(tmp_path: Path) -> None:
    before, after = dumped(tmp_path / "a", SOURCE), dumped(tmp_path / "b", SOURCE)
    assert all(each.is_none for each in differences(before, after))


def test_an_edge_that_one_direction_lacks_is_told(tmp_path: Path) -> None:
    (tmp_path / "shop.py").write_text(SOURCE)
    missing = (
        "from tersely.code.graph.callgraph import CallGraph\nCallGraph.callers = lambda *_: []\n"
    )
    program = f"import runpy, sys\n{missing}sys.argv.pop(0)\nrunpy.run_path(sys.argv[0], run_name='__main__')\n"
    words = [sys.executable, "-c", program, os.fspath(DUMP), os.fspath(tmp_path), "0"]
    done = subprocess.run(words, capture_output=True, text=True, check=True)
    ways = read(iter(done.stdout.splitlines()))["one way only"]
    assert ways == {"shop.py:Shop.total → shop.py:price": "forward"}
    assert "one way only" not in {row.kind for row in rows(tmp_path, 0)}
