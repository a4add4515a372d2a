"""A refresh notices every change, and leaves an index equal to one built anew, whatever happens to
it.
"""

from __future__ import annotations

import errno
import os
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, rule, run_state_machine_as_test
from tests.code.index.dumped import dumped
from tests.depth import examples
from tests.repositories import initialized

import tersely
from tersely.code.index import refresh as module
from tersely.code.index.content import Reason, Skipped
from tersely.code.index.fingerprint import extraction_fingerprint, versions
from tersely.code.index.refresh import RefreshReport, refresh
from tersely.code.index.storage.schema import SCHEMA
from tersely.code.index.storage.store import Store
from tersely.code.languages.registry import BY_QUERIES, BY_RULES, DOCUMENTS
from tersely.code.syntax.extract import extract
from tersely.foundation.errors import TerselyError
from tersely.foundation.limits import MAX_FILE_BYTES
from tersely.foundation.storage.database import Database
from tersely.foundation.storage.private import index_places

Plant = Callable[[dict[str, str | bytes]], None]
LONG_AGO = 1_600_000_000


@pytest.fixture
def store(root: Path) -> Iterator[Store]:
    with Store.open(root) as opened:
        yield opened


def counts(report: RefreshReport) -> tuple[int, int, int, int]:
    return report.added, report.changed, report.removed, report.unchanged


def rebuilt(root: Path) -> list[tuple[Any, ...]]:
    with Store.in_memory() as fresh:
        refresh(root, fresh)
        return dumped(fresh)


class TestChanges:
    def test_counts(self, root: Path, store: Store, plant: Plant) -> None:
        plant({"a.py": "def f(): g()\n", "b.py": "def g(): ...\n", "notes.txt": ""})
        report = refresh(root, store)
        assert counts(report) == (2, 0, 0, 0)
        assert report.unknown == 1
        assert report.revision == store.revision() != ""
        assert counts(refresh(root, store)) == (0, 0, 0, 2)
        plant({"a.py": "def f(): h()\n", "c.py": "import a\n"})
        (root / "b.py").unlink()
        assert counts(refresh(root, store)) == (1, 1, 1, 0)
        assert store.files_mentioning("g") == []
        assert len(store.files_mentioning("h")) == 1
        assert dumped(store) == rebuilt(root)

    def test_progress_reaches_its_end(self, root: Path, store: Store, plant: Plant) -> None:
        plant({f"{number}.py": "" for number in range(450)})
        seen: list[tuple[int, int]] = []
        refresh(root, store, progress=lambda done, total: seen.append((done, total)))
        assert seen == [(200, 450), (400, 450), (450, 450)]

    def test_a_change_that_keeps_size_and_mtime_is_seen(
        self, root: Path, store: Store, plant: Plant
    ) -> None:
        plant({"a.py": "x = 1\n"})
        os.utime(root / "a.py", (LONG_AGO, LONG_AGO))
        refresh(root, store)
        plant({"a.py": "x = 2\n"})
        os.utime(root / "a.py", (LONG_AGO, LONG_AGO))
        assert counts(refresh(root, store)) == (0, 1, 0, 0)

    def test_a_file_written_just_now_is_read_again(
        self, root: Path, store: Store, plant: Plant, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Its times could be the same after another change within one tick of the file system's
        clock.
        """
        plant({"a.py": "x = 1\n"})
        frozen = (root / "a.py").stat()
        refresh(root, store)
        assert store.known()["a.py"].mtime_ns == 0
        read: list[str] = []
        original = module.reader_below
        monkeypatch.setattr(
            module,
            "reader_below",
            lambda root: lambda path: read.append(path) or original(root)(path),
        )
        refresh(root, store)
        assert read == ["a.py"]
        # Once enough time has passed its stat is trusted, and it is read no more.
        later = frozen.st_mtime + module.RACY_SECONDS + 1
        monkeypatch.setattr(module, "wall_seconds", lambda: later)
        refresh(root, store)
        assert store.known()["a.py"].mtime_ns == frozen.st_mtime_ns
        read.clear()
        refresh(root, store)
        assert read == []

    def test_a_touch_changes_no_facts(self, root: Path, store: Store, plant: Plant) -> None:
        plant({"a.py": "x = 1\n"})
        revision = refresh(root, store).revision
        os.utime(root / "a.py", (LONG_AGO, LONG_AGO))
        report = refresh(root, store)
        assert counts(report) == (0, 0, 0, 1)
        assert report.revision == revision

    def test_revisions_depend_on_content_alone(
        self, root: Path, store: Store, plant: Plant
    ) -> None:
        plant({"a.py": "x = 1\n", "b.py": "y = 1\n"})
        revision = refresh(root, store).revision
        plant({"a.py": "x = 2\n"})
        assert refresh(root, store).revision != revision
        (root / "a.py").rename(root / "c.py")
        assert refresh(root, store).revision != revision
        (root / "c.py").rename(root / "a.py")
        plant({"a.py": "x = 1\n"})
        assert refresh(root, store).revision == revision
        shutil.copytree(root, root.parent / "copy", ignore=shutil.ignore_patterns(".tersely"))
        with Store.in_memory() as other:
            assert refresh(root.parent / "copy", other).revision == revision

    def test_reasons_come_and_go(self, root: Path, store: Store, plant: Plant) -> None:
        plant({"a.py": "x = 1\n", "b.py": b"\0", "c.py": "# Generated. Do not edit.\n"})
        refresh(root, store)
        assert store.skipped() == [
            Skipped("b.py", Reason.BINARY),
            Skipped("c.py", Reason.GENERATED),
        ]
        assert counts(refresh(root, store)) == (0, 0, 0, 3)
        plant({"a.py": b"#" * (MAX_FILE_BYTES + 1), "b.py": "x = 1\n"})
        (root / "c.py").unlink()
        (root / "c.py").symlink_to("b.py")
        assert counts(refresh(root, store)) == (0, 3, 0, 0)
        assert store.skipped() == [
            Skipped("a.py", Reason.TOO_LARGE),
            Skipped("c.py", Reason.SYMLINK),
        ]
        assert counts(refresh(root, store)) == (0, 0, 0, 3)
        (root / "a.py").unlink()
        assert counts(refresh(root, store)) == (0, 0, 1, 2)

    def test_what_could_not_be_read_is_tried_again(
        self, root: Path, store: Store, plant: Plant, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def fail(path: str, folder: int, most_bytes: int) -> bytes:
            raise OSError(errno.EMFILE, "too many open files")

        plant({"a.py": "def f(): ...\n"})
        os.utime(root / "a.py", (LONG_AGO, LONG_AGO))
        with monkeypatch.context() as patch:
            patch.setattr("tersely.code.index.content.read_file", fail)
            refresh(root, store)
            assert store.why_skipped("a.py") == Reason.UNREADABLE
            assert counts(refresh(root, store)) == (0, 0, 0, 1)
        assert counts(refresh(root, store)) == (0, 1, 0, 0)
        assert dumped(store) == rebuilt(root)

    def test_scripts_are_known_by_their_first_line(
        self, root: Path, store: Store, plant: Plant
    ) -> None:
        plant({"run": "#!/usr/bin/env python3\ndef f(): ...\n", "tool": "#!/bin/false\n"})
        for name in ("run", "tool"):
            (root / name).chmod(0o755)
        refresh(root, store)
        assert [file.path for file in store.files()] == ["run"]
        assert store.skipped() == []

    def test_a_file_that_breaks_extraction_is_told(
        self, root: Path, store: Store, plant: Plant, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def explode(source: bytes, language: object, path: str, levels: object) -> None:
            raise ZeroDivisionError("oh")

        plant({"a.py": ""})
        monkeypatch.setattr("tersely.code.index.building.rows.extract", explode)
        refresh(root, store)
        assert store.skipped() == [Skipped("a.py", Reason.EXTRACTION_FAILED)]
        assert [(path, problem.message) for path, problem in store.problems()] == [
            ("a.py", "ZeroDivisionError: oh")
        ]

    def test_another_extraction_builds_anew(
        self, root: Path, store: Store, plant: Plant, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        plant({"a.py": "def f(): ...\n"})
        revision = refresh(root, store).revision
        for place in ("store", "writer"):
            monkeypatch.setattr(
                f"tersely.code.index.storage.{place}.extraction_fingerprint", lambda: "another"
            )
        assert not store.is_current()
        report = refresh(root, store)
        assert counts(report) == (1, 0, 0, 0)
        assert report.revision != revision

    @pytest.mark.parametrize("is_gone", [False, True])
    def test_rules_of_one_language_have_its_files_alone_read_again(
        self,
        root: Path,
        store: Store,
        plant: Plant,
        monkeypatch: pytest.MonkeyPatch,
        is_gone: bool,
    ) -> None:
        plant({
            "a.py": "def f(): ...\n", "b.rb": "def g\n  f\nend\n", "lib/c.rb": "def h\nend\n", "d.go": "package d\n",
            "latin.py": "x = 1\n",
        })  # fmt: skip
        (root / "latin.py").write_bytes(b"x = '\xff'\n")
        before = refresh(root, store).revision
        if is_gone:
            (root / "lib/c.rb").unlink()
        read: list[str] = []

        def counted(*arguments: Any) -> Any:
            read.append(arguments[2])
            return extract(*arguments)

        monkeypatch.setattr("tersely.code.index.building.rows.extract", counted)
        older = re.sub(r"\bruby=\w+", "ruby=0", extraction_fingerprint())
        for place in ("store", "writer"):
            monkeypatch.setattr(
                f"tersely.code.index.storage.{place}.extraction_fingerprint", lambda: older
            )
        assert not store.is_current()
        report = refresh(root, store)
        assert read == ["b.rb"] if is_gone else ["b.rb", "lib/c.rb"]
        # what was skipped is looked at again
        assert counts(report) == (0, 2, 1, 2) if is_gone else (0, 3, 0, 2)
        assert report.revision != before
        assert store.is_current()
        assert dumped(store) == rebuilt(root)
        read.clear()
        assert counts(refresh(root, store)) == (0, 0, 0, 4 if is_gone else 5)
        assert read == []

    def test_a_root_that_is_none(self, root: Path, store: Store) -> None:
        for path in (root / "nothing", root / ".tersely" / ".gitignore"):
            with pytest.raises(TerselyError, match="root_not_found"):
                refresh(path, store)


NAMES = st.sampled_from(
    ["a.py", "b.py", "dir", "dir/a.py", "dir/sub/c.py", "other/a.py", "other", "data.txt"]
)
SOURCES = st.sampled_from([
    b"", b"def f(): g()\n", b"import a\nclass C:\n    def f(self): self.g()\n", b"def f(:\n",
    b"def f(): ...\ndef f(): ...\n",
    b"\0", b"# Generated. Do not edit.\n", b"from dir.a import f as g\ng(x)\n", b"\xff",
])  # fmt: skip


class Edits(RuleBasedStateMachine):
    """Random edits to a tree, and refreshes at random moments in between."""

    base: Path
    in_git: bool

    @initialize()
    def begin(self) -> None:
        shutil.rmtree(self.base, ignore_errors=True)
        self.base.mkdir()
        if self.in_git:
            initialized(self.base)
        self.store = Store.open(self.base)

    def teardown(self) -> None:
        self.store.close()

    def _free(self, name: str) -> Path:
        """Make way for an entry of this name."""
        path = self.base / name
        for parent in reversed(path.relative_to(self.base).parents[:-1]):
            if (self.base / parent).is_symlink() or (self.base / parent).is_file():
                (self.base / parent).unlink()
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        else:
            path.unlink(missing_ok=True)
        path.parent.mkdir(parents=True, exist_ok=True)
        return path

    @rule(name=NAMES, source=SOURCES)
    def write(self, name: str, source: bytes) -> None:
        self._free(name).write_bytes(source)

    @rule(name=NAMES)
    def delete(self, name: str) -> None:
        self._free(name)

    @rule(name=NAMES, to=NAMES)
    def rename(self, name: str, to: str) -> None:
        source = self.base / name
        if (
            source.exists()
            and not f"{to}/".startswith(f"{name}/")
            and not f"{name}/".startswith(f"{to}/")
        ):
            target = self._free(to)
            if os.path.lexists(source):  # the way to it may have led through what stood in the way
                source.rename(target)

    @rule(name=NAMES, to=st.sampled_from([".", "a.py", "dir", "../outside", "dir/a.py"]))
    def link(self, name: str, to: str) -> None:
        self._free(name).symlink_to(to)

    @rule(
        name=st.sampled_from([".gitignore", ".tldrsignore", "dir/.tldrsignore", "dir/.gitignore"]),
        patterns=st.lists(
            st.sampled_from(["a.py", "dir/", "/other", "!a.py", "*", "!*.py", "sub"]), max_size=3
        ),
    )
    def ignore(self, name: str, patterns: list[str]) -> None:
        self._free(name).write_text("\n".join(patterns))

    @rule()
    def refresh(self) -> None:
        refresh(self.base, self.store)

    @rule()
    def reopen(self) -> None:
        self.store.close()
        self.store = Store.open(self.base)

    @rule()
    def compare(self) -> None:
        refresh(self.base, self.store)
        assert dumped(self.store) == rebuilt(self.base)
        assert counts(refresh(self.base, self.store))[:3] == (0, 0, 0)
        assert self.store.find("secret") == []


@pytest.mark.hypothesis
@pytest.mark.parametrize("in_git", [False, True])
def test_refreshed_equals_rebuilt(in_git: bool, tmp_path: Path, git: Callable[..., str]) -> None:
    class Machine(Edits):
        base = tmp_path.resolve() / "tree"

    Machine.in_git = in_git
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "secret.py").write_text("def secret(): ...\n")
    run_state_machine_as_test(
        Machine,
        settings=settings(
            max_examples=examples(),
            stateful_step_count=25,
            suppress_health_check=list(HealthCheck),
        ),
    )


class TestDamage:
    @pytest.mark.parametrize("place", [0, 5_000])
    def test_a_damaged_index_is_built_anew(self, root: Path, plant: Plant, place: int) -> None:
        plant({f"{number}.py": f"def f{number}(): g()\n" for number in range(50)})
        with Store.open(root) as store:
            refresh(root, store)
        path = Path(index_places(str(root)).in_repository) / "index.db"
        with Database.open_derived(path, SCHEMA) as database:
            # the log would mend what is damaged
            database.execute("pragma wal_checkpoint(truncate)")
        content = bytearray(path.read_bytes())
        content[place:] = b"\xa5" * (len(content) - place)
        path.write_bytes(content)
        with Store.open(root) as store:
            report = refresh(root, store)
            assert dumped(store) == rebuilt(root)
        assert "the index was damaged and is built anew; `tersely doctor` checks it" in report.news
        with Store.open(root) as store:
            assert counts(refresh(root, store)) == (0, 0, 0, 50)
            assert store.take_news() == ()

    @pytest.mark.parametrize("table", ["meta", "file", "facts", "symbol", "mention"])
    def test_an_index_without_a_table_is_built_anew(
        self, root: Path, plant: Plant, table: str
    ) -> None:
        plant({"a.py": "def f(): g()\n"})
        with Store.open(root) as store:
            refresh(root, store)
        path = Path(index_places(str(root)).in_repository) / "index.db"
        with Database.open_derived(path, SCHEMA) as database:
            database.execute(f"pragma foreign_keys = off; drop table {table}")
        plant({"a.py": "def h(): g()\n"})
        with Store.open(root) as store:
            refresh(root, store)
            assert dumped(store) == rebuilt(root)

    @pytest.mark.parametrize("damage", ["one bit", "cut", "another file's end", "nothing"])
    def test_damaged_facts_are_read_anew(self, root: Path, plant: Plant, damage: str) -> None:
        plant({f"{number}.py": f"def f{number}(): g()\n" for number in range(3)})
        with Store.open(root) as store:
            refresh(root, store)
        with Database.open_derived(
            Path(index_places(str(root)).in_repository) / "index.db", SCHEMA
        ) as database:
            facts = database.value("select facts from facts where file_id = 1")
            kept = {"one bit": facts[:40] + bytes([facts[40] ^ 1]) + facts[41:], "cut": facts[:-1],
                    "another file's end": facts[:20] + b"\xfb" * 9, "nothing": b""}[damage]  # fmt: skip
            database.execute("update facts set facts = ? where file_id = 1", (kept,))
        (root / "0.py").write_text("def other(): h()\n")
        with Store.open(root) as store:
            with pytest.raises(TerselyError, match="database_corrupt"):
                store.facts(1)
            refresh(root, store)
            assert dumped(store) == rebuilt(root)

    def test_a_failing_refresh_leaves_the_index_before(
        self, root: Path, store: Store, plant: Plant, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        plant({"a.py": "def f(): ...\n"})
        refresh(root, store)
        before = dumped(store)

        def interrupted(*_: object) -> Iterator[None]:
            raise KeyboardInterrupt
            yield

        plant({"a.py": "def g(): ...\n", "b.py": ""})
        with monkeypatch.context() as patch:
            patch.setattr(module, "batches", interrupted)
            with pytest.raises(KeyboardInterrupt):
                refresh(root, store)
        assert dumped(store) == before
        refresh(root, store)
        assert dumped(store) == rebuilt(root)

    def test_a_full_disk_is_told_and_leaves_the_index_before(
        self, root: Path, store: Store, plant: Plant
    ) -> None:
        plant({"a.py": "def f(): ...\n"})
        refresh(root, store)
        before = dumped(store)
        plant({f"{number}.py": "def g(): ...\n" * 500 for number in range(20)})
        store._database.execute("pragma max_page_count = 40")
        with pytest.raises(TerselyError, match="full"):
            refresh(root, store)
        assert dumped(store) == before


PROGRAM = """
import sys, time
from pathlib import Path
from tersely.code.index import refresh as module
from tersely.code.index.storage import store as store_module, writer
from tersely.code.index.building import jobs
from tersely.code.index.storage.store import Store
jobs.CHUNK_FILES = 1
for place in (store_module, writer):
    place.extraction_fingerprint = lambda: sys.argv[2]
def progress(done, total):
    if done == 3:
        print("halfway", flush=True)
        sys.stdin.readline()
root = Path(sys.argv[1])
with Store.open(root) as store:
    print(module.refresh(root, store, progress=progress).revision, flush=True)
"""


@pytest.fixture
def halfway(root: Path) -> Iterator[Callable[[], subprocess.Popen[str]]]:
    """Start another process that stops in the middle of a refresh until it gets a line."""
    running: list[subprocess.Popen[str]] = []

    def start() -> subprocess.Popen[str]:
        process = subprocess.Popen(
            # The same fingerprint here and there, even while somebody edits the sources.
            [sys.executable, "-c", PROGRAM, str(root), extraction_fingerprint()],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        running.append(process)
        assert process.stdout is not None
        assert process.stdout.readline() == "halfway\n"
        return process

    yield start
    for process in running:
        process.kill()
        process.communicate()


class TestSeveralProcesses:
    def test_a_killed_refresh_leaves_the_index_before(
        self, root: Path, store: Store, plant: Plant, halfway: Callable[[], subprocess.Popen[str]]
    ) -> None:
        plant({f"{number}.py": "def f(): ...\n" for number in range(6)})
        refresh(root, store)
        before = dumped(store)
        plant({f"{number}.py": "def g(): ...\n" for number in range(6)})
        process = halfway()
        assert dumped(store) == before
        process.send_signal(signal.SIGKILL)
        process.wait()
        assert dumped(store) == before
        assert counts(refresh(root, store)) == (0, 6, 0, 0)
        assert dumped(store) == rebuilt(root)

    def test_a_killed_first_build_leaves_an_empty_index(
        self, root: Path, plant: Plant, halfway: Callable[[], subprocess.Popen[str]]
    ) -> None:
        plant({f"{number}.py": "def f(): ...\n" for number in range(6)})
        process = halfway()
        process.send_signal(signal.SIGKILL)
        process.wait()
        with Store.open(root) as store:
            assert store.revision() == ""
            assert counts(refresh(root, store)) == (6, 0, 0, 0)

    def test_readers_answer_from_before_while_another_writes(
        self, root: Path, store: Store, plant: Plant, halfway: Callable[[], subprocess.Popen[str]]
    ) -> None:
        plant({f"{number}.py": "def f(): ...\n" for number in range(6)})
        revision = refresh(root, store).revision
        plant({f"{number}.py": "def g(): ...\n" for number in range(6)})
        process = halfway()
        store._database.execute("pragma busy_timeout = 50")
        report = refresh(root, store)
        assert report.is_behind
        assert report.revision == revision
        output, _ = process.communicate("\n")
        report = refresh(root, store)
        assert not report.is_behind
        assert counts(report) == (0, 0, 0, 6)
        assert report.revision == output.strip() != revision

    def test_who_comes_second_waits_for_the_first_build_and_has_nothing_to_do(
        self, root: Path, store: Store, plant: Plant, halfway: Callable[[], subprocess.Popen[str]]
    ) -> None:
        plant({f"{number}.py": "def f(): ...\n" for number in range(6)})
        process = halfway()
        store._database.execute("pragma busy_timeout = 50")
        waits = 0
        original = module._make_plan

        def make_plan(*arguments: Any) -> Any:
            nonlocal waits
            waits += 1
            if waits == 2:
                process.communicate("\n")
            return original(*arguments)

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(module, "_make_plan", make_plan)
            report = refresh(root, store)
        assert counts(report) == (0, 0, 0, 6)
        assert waits == 2

    def test_a_plan_made_before_another_wrote_is_made_again(
        self, root: Path, store: Store, plant: Plant, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        plant({"a.py": "def f(): ...\n", "b.py": ""})
        refresh(root, store)
        plant({"a.py": "def g(): ...\n"})
        (root / "b.py").unlink()
        original = module._carry_out

        def overtaken(*arguments: Any) -> Any:
            with Store.open(root) as other:
                monkeypatch.setattr(module, "_carry_out", original)
                assert counts(refresh(root, other)) == (0, 1, 1, 0)
            return original(*arguments)

        monkeypatch.setattr(module, "_carry_out", overtaken)
        assert counts(refresh(root, store)) == (0, 0, 0, 1)
        assert dumped(store) == rebuilt(root)

    def test_a_snapshot_is_one_revision(self, root: Path, store: Store, plant: Plant) -> None:
        plant({"a.py": "def f(): ...\n"})
        refresh(root, store)
        with store.snapshot():
            revision = store.revision()
            plant({"a.py": "def g(): ...\n"})
            with Store.open(root) as other:
                assert refresh(root, other).revision != revision
            assert store.revision() == revision
            assert store.find("g") == []
        assert [symbol.id for symbol in store.find("g")] == ["a.py:g"]


@pytest.mark.parametrize(
    ("source", "changed"),
    [
        ("languages/ruby.py", {"ruby"}),
        ("languages/summaries/ruby.json", {"ruby"}),
        ("languages/rules/ruby.json", {"ruby"}),
        ("languages/rules/c.json", {"c", "cpp"}),
        ("languages/tags/bash.scm", {"bash"}),
        ("languages/c.py", {"c", "cpp"}),
        ("languages/parts/python_fields.py", {"python"}),
        ("languages/parts/python_matching.py", {"python"}),
        ("languages/ecmascript.py", {"astro", "javascript", "svelte", "tsx", "typescript", "vue"}),
        ("languages/tags.py", set(DOCUMENTS | BY_QUERIES | BY_RULES)),
        ("languages/nodes.py", set(DOCUMENTS | BY_QUERIES | BY_RULES)),
        ("syntax/lowering.py", set(DOCUMENTS | BY_QUERIES | BY_RULES)),
    ],
)
def test_a_source_changes_the_versions_of_the_languages_that_use_it(
    tmp_path: Path, source: str, changed: set[str]
) -> None:
    code = tmp_path / "code"
    shutil.copytree(Path(tersely.__file__).parent / "code", code)
    before = versions(code)
    with (code / source).open("a") as file:
        file.write("\n")
    after = versions(code)
    assert {language for language in before if after[language] != before[language]} == changed


def test_modules_that_python_compiles_change_no_fingerprint() -> None:
    before = extraction_fingerprint.__wrapped__()
    folders = {path.parent for path in Path(tersely.__file__).parent.glob("code/**/*.py")}
    drafts = [folder / "__pycache__" / "of_a_test.pyc" for folder in folders]
    try:
        for draft in drafts:
            draft.parent.mkdir(exist_ok=True)
            draft.write_bytes(b"x")
        assert extraction_fingerprint.__wrapped__() == before
    finally:
        for draft in drafts:
            draft.unlink(missing_ok=True)
