"""The tool behind the trees of the diff lens cuts commits in two and says which pieces the hidden
half needs.
"""

from __future__ import annotations

import runpy
import subprocess
from pathlib import Path

import pytest

from tersely.context.lenses.diff.evidence import FIELDS

TOOL = Path(__file__).parents[3] / "tools" / "build_diff_trees.py"
BEFORE = "".join(f"def f{one}(value):\n    return value + {one}\n\n\n" for one in range(9))


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    """A repository of three commits, of which the second changes two functions and the third one."""
    root = tmp_path / "KhronosGroup+SPIRV-Tools"
    root.mkdir()
    last = BEFORE.replace("value + 2", "2 - value").replace("value + 6", "6 - value")
    _git(root, "init", "-q")
    for text in (BEFORE, last, last.replace("value + 4", "4 - value")):
        (root / "made.py").write_text(text)
        _git(root, "add", "made.py")
        _git(root, "commit", "-q", "-m", "more")
    return root


def _git(root: Path, *words: str) -> None:
    subprocess.run(
        ["git", "-C", str(root), "-c", "user.name=A", "-c", "user.email=a@b.c", *words], check=True
    )


def test_a_case_is_one_half_of_a_commit_and_needs_the_other(clone: Path) -> None:
    (seen,) = runpy.run_path(str(TOOL))["gathered"](clone, 10)

    regions = seen.evidence.regions
    assert seen.evidence.figures.shape == (len(regions), len(FIELDS))
    needed = [
        region.symbol.name
        for region, number in zip(regions, seen.needed, strict=True)
        if number >= 0
    ]
    given = {f"f{one}" for one in range(9)} - {region.symbol.name for region in regions}
    assert {*needed, *given} == {"f2", "f6"}  # what was given is no piece
    assert len(needed) == len(given) == 1
    assert seen.known == {"made.py"}
    assert 0 < seen.targets < 200


def test_what_was_gathered_is_not_gathered_again(clone: Path, tmp_path: Path) -> None:
    tool = runpy.run_path(str(TOOL), run_name="tool")
    place = tmp_path / "cases" / "KhronosGroup+SPIRV-Tools.cases"
    place.parent.mkdir()
    place.write_bytes(b"kept")
    assert tool["main"](["gather", str(place.parent), str(clone)]) == 0
    assert place.read_bytes() == b"kept"
