"""Worktrees and clones share bases: an index with one is what it would be without."""

from __future__ import annotations

import os
import re
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.code.index.dumped import dumped
from tests.depth import examples

from tersely.code.index import refresh as module
from tersely.code.index.building import jobs
from tersely.code.index.fingerprint import extraction_fingerprint
from tersely.code.index.refresh import RefreshReport, refresh
from tersely.code.index.storage import shared
from tersely.code.index.storage.store import Store
from tersely.foundation.errors import TerselyError
from tersely.foundation.storage.private import index_places

Plant = Callable[[Mapping[str, str | bytes]], None]

FILES: dict[str, str | bytes] = {
    f"{number}.py": f"import os\nclass C{number}:\n    def f(self): g{number}(); shared()\n"
    for number in range(30)
} | {"broken.py": "def f(:\n", "binary.py": b"\0", "dir/a.py": "def shared(): ...\n"}


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A state folder of the test's own, in which the smallest tree is worth a base."""
    monkeypatch.setenv("TERSELY_HOME", str(tmp_path / "home"))
    monkeypatch.setattr(module, "LEAST_SHARED_BYTES", 1)
    return tmp_path / "home"


@pytest.fixture
def read(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The files that are read for their facts, as they are."""
    found: list[str] = []

    def noting(root: str, wanted: list[jobs.Job]) -> Iterator[jobs.Batch]:
        found.extend(job.path for job in wanted)
        return jobs.batches(root, wanted)

    monkeypatch.setattr(module, "batches", noting)
    return found


@pytest.fixture
def copy(root: Path) -> Callable[[str], Path]:
    """A copy of the tree at another place."""

    def copied(name: str) -> Path:
        return shutil.copytree(root, root.parent / name, ignore=shutil.ignore_patterns(".tersely"))

    return copied


def refreshed(root: Path) -> RefreshReport:
    with Store.open(root) as store:
        report = refresh(root, store)
        with Store.in_memory() as fresh:
            refresh(root, fresh)
            with store.snapshot():
                assert dumped(store) == dumped(fresh)
    return report


def bases() -> list[Path]:
    folder = Path(index_places("/").shared)
    return sorted(path for path in folder.iterdir() if not path.name.startswith("lock-"))


def test_rules_of_one_language_have_its_files_of_a_base_alone_read_again(
    root: Path, plant: Plant, copy: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    plant(FILES | {"a.rb": "def f\nend\n", "b.rb": "def g\n  f\nend\n"})
    refreshed(root)
    second = copy("second")
    assert refreshed(second).taken == len(FILES) + 2
    older = re.sub(r"\bruby=\w+", "ruby=0", extraction_fingerprint())
    for place in ("shared", "store", "writer"):
        monkeypatch.setattr(
            f"tersely.code.index.storage.{place}.extraction_fingerprint", lambda: older
        )
    report = refreshed(second)
    # both files of the language, and the one that is skipped
    assert (report.changed, report.unchanged) == (3, len(FILES) - 1)
    assert len(bases()) == 1


def test_a_second_worktree_reads_nothing_anew(
    root: Path, plant: Plant, copy: Callable[[str], Path], read: list[str]
) -> None:
    plant(FILES)
    first = refreshed(root)
    assert (first.added, first.taken, len(bases())) == (len(FILES), 0, 1)
    assert len(read) == 2 * len(
        FILES
    )  # once for the index in memory that `refreshed` compares with
    read.clear()
    with Store.open(copy("second")) as store:
        report = refresh(root.parent / "second", store)
        assert (report.added, report.taken, report.revision) == (
            len(FILES),
            len(FILES),
            first.revision,
        )
    assert read == []
    assert refreshed(root.parent / "second").added == 0


def test_what_differs_is_read_and_nothing_of_the_base_shows_through(
    root: Path, plant: Plant, copy: Callable[[str], Path], read: list[str]
) -> None:
    plant(FILES)
    refreshed(root)
    second = copy("second")
    (second / "0.py").write_text("def other(): h()\n")
    (second / "dir").rename(second / "moved")
    (second / "broken.py").unlink()
    read.clear()
    with Store.open(second) as store:
        refresh(second, store)
        assert sorted(read) == ["0.py", "moved/a.py"]
        for name in ("g0", "C0"):
            assert store.files_mentioning(name) == store.places_named(name) == []
            assert name not in dict(store.mentions())
        assert [symbol.id for symbol in store.symbols_named("shared")] == ["moved/a.py:shared"]
    refreshed(second)
    refreshed(root)


@pytest.mark.parametrize(("differing", "made"), [(2, 1), (12, 2), (30, 2)])
def test_a_tree_that_differs_much_gets_a_base_of_its_own(
    root: Path,
    plant: Plant,
    copy: Callable[[str], Path],
    read: list[str],
    differing: int,
    made: int,
) -> None:
    plant(FILES)
    refreshed(root)
    second = copy("second")
    for number in range(differing):
        (second / f"{number}.py").write_text("def other(): h()\n")
    read.clear()
    with Store.open(second) as store:
        report = refresh(second, store)
    assert len(read) == (len(FILES) if differing == 30 else differing)
    assert report.taken == len(FILES) - len(read)
    assert len(bases()) == made
    refreshed(second)


@pytest.mark.parametrize("damage", ["gone", "empty", "cut", "zeros", "facts"])
def test_a_damaged_base_is_made_anew(
    root: Path, plant: Plant, copy: Callable[[str], Path], damage: str
) -> None:
    plant(FILES)
    refreshed(root)
    (base,) = bases()
    content = base.read_bytes()
    if damage == "gone":
        base.unlink()
    elif damage == "empty":
        base.write_bytes(b"")
    elif damage == "cut":
        base.write_bytes(content[: len(content) // 2])
    elif damage == "zeros":
        base.write_bytes(bytes(len(content)))
    else:
        assert content.count(b"shared") > 30
        base.write_bytes(content.replace(b"shared", b"hostle"))
    for each in (root, copy("second")):
        with Store.open(each) as store:
            try:
                refresh(each, store)
                with store.snapshot():
                    dumped(store)
            except TerselyError as error:
                assert error.code == "database_corrupt"
                store.replace_damaged()
        if damage != "facts":
            refreshed(each)


@pytest.mark.parametrize("differing", [2, 20])
def test_a_base_that_cannot_be_used_is_done_without(
    root: Path, plant: Plant, copy: Callable[[str], Path], differing: int
) -> None:
    plant(FILES)
    refreshed(root)
    (base,) = bases()
    content = base.read_bytes()
    base.write_bytes(content[:8192] + b"\xa5" * (len(content) - 8192))
    second = copy("second")
    for number in range(differing):
        (second / f"{number}.py").write_text("def other(): h()\n")
    assert refreshed(second).taken == 0


def test_a_tree_that_is_emptied(root: Path, plant: Plant) -> None:
    plant(FILES)
    refreshed(root)
    for path in root.glob("**/*.py"):
        path.unlink()
    assert refreshed(root).removed == len(FILES)


def test_others_have_no_say_in_what_is_taken(
    root: Path, plant: Plant, home: Path, copy: Callable[[str], Path]
) -> None:
    plant(FILES)
    refreshed(root)
    (base,) = bases()
    assert base.parent.stat().st_mode & 0o777 == 0o700
    base.parent.chmod(0o777)
    assert refreshed(copy("second")).taken == 0
    assert bases() == [base]


@pytest.mark.parametrize("claimed", ["../../victim", "..", "", "/victim"])
def test_an_index_names_no_file_outside_of_the_bases(
    root: Path, plant: Plant, tmp_path: Path, claimed: str
) -> None:
    """It may come with a repository: what it calls its base is neither read nor deleted."""
    plant(FILES)
    refreshed(root)
    victim = tmp_path / "victim"
    victim.write_text("of the user")
    with Store.open(root) as store:
        index = store._database.path
    with closing(sqlite3.connect(index)) as connection, connection:
        connection.execute("update meta set value = ? where key = 'base'", (claimed,))
    with Store.open(root) as store:
        assert not store.is_current()
        store.replace_damaged()
    refreshed(root)
    assert victim.read_text() == "of the user"
    assert len(bases()) == 1


def test_bases_that_are_not_used_go_first(
    root: Path, plant: Plant, copy: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    trees = []
    for name in ("one", "two", "three"):
        plant({f"{name}{number}.py": f"def {name}{number}(): ...\n" for number in range(9)})
        trees.append(copy(name))
        shutil.rmtree(root)
        root.mkdir()
    refreshed(trees[0])
    one = bases()[0].name
    refreshed(trees[1])
    (two,) = {path.name for path in bases()} - {one}
    for base, at in (one, 5), (two, 3):
        os.utime(Path(index_places("/").shared, base), (at, at))
    size = sum(path.stat().st_size for path in bases())
    monkeypatch.setattr(shared, "MAX_SHARED_BYTES", size)
    refreshed(trees[2])
    names = {path.name for path in bases()}
    assert one in names
    assert two not in names
    assert refreshed(trees[1]).unchanged == 0  # its base is gone, so it is built anew


PROGRAM = """
import sys
from pathlib import Path
from tersely.code.index import refresh as module
from tersely.code.index.storage.store import Store
module.LEAST_SHARED_BYTES = 1
root = Path(sys.argv[1])
with Store.open(root) as store:
    report = module.refresh(root, store)
print(report.added, report.taken, report.revision)
"""


def test_worktrees_that_begin_at_once_make_one_base(
    root: Path, plant: Plant, copy: Callable[[str], Path]
) -> None:
    plant(FILES)
    trees = [copy(f"tree{number}") for number in range(5)]
    running = [
        subprocess.Popen(
            [sys.executable, "-c", PROGRAM, str(tree)], stdout=subprocess.PIPE, text=True
        )
        for tree in trees
    ]
    reports = sorted(process.communicate()[0].split() for process in running)
    assert len(bases()) == len({revision for _, _, revision in reports}) == 1
    assert [(int(added), int(taken)) for added, taken, _ in reports] == [
        (len(FILES), 0),
        *[(len(FILES), len(FILES))] * 4,
    ]


NAMES = st.sampled_from(["a.py", "b.py", "dir/a.py", "dir/sub/c.py", "d.js", "e.txt"])
SOURCES = st.sampled_from([
    b"", b"def f(): g()\n", b"import a\nclass C:\n    def f(self): self.g()\n", b"def f(:\n", b"\0",
    b"def f(): ...\ndef f(): ...\n", b"# Generated. Do not edit.\n", b"f(g)\n", b"\xff",
])  # fmt: skip
TREES = st.dictionaries(NAMES, SOURCES, max_size=6)


@given(trees=st.lists(st.tuples(st.integers(0, 2), TREES), min_size=2, max_size=8))
@settings(max_examples=examples(), suppress_health_check=list(HealthCheck))
def test_any_worktrees_have_what_a_rebuild_has(
    trees: list[tuple[int, dict[str, bytes]]], tmp_path: Path
) -> None:
    """Each of three places holds one tree after the other, and all share what bases there are."""
    for number, tree in trees:
        place = tmp_path.resolve() / f"place{number}"
        for path in place.rglob("*") if place.exists() else ():
            if path.is_file() and ".tersely" not in path.parts:
                path.unlink()
        for name, source in tree.items():
            (place / name).parent.mkdir(parents=True, exist_ok=True)
            (place / name).write_bytes(source)
        place.mkdir(exist_ok=True)
        refreshed(place)
