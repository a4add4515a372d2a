"""What was not read is said: files that may use a symbol, and the reasons."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

import pytest
from tests.repositories import repository

from tersely.capabilities.answers.text import PLAIN
from tersely.capabilities.catalogue import load
from tersely.capabilities.graph import calls, dead
from tersely.capabilities.invoke import ask, invoke
from tersely.capabilities.symbols import references
from tersely.foundation.errors import TerselyError
from tersely.foundation.limits import MAX_FILE_BYTES
from tersely.workspace import Workspace

USE = "from a import save\n"
UNREAD = ("big.py (too large)", "latin.py (not utf8)", "broken.py (not understood from line 1)")


def test_files_that_may_use_a_symbol_are_named(tmp_path: Path) -> None:
    _write(tmp_path)
    with Workspace.open(tmp_path) as workspace:
        called: Any = ask(workspace, "code.calls", symbol="save")
        assert set(called.unread) == set(UNREAD)
        shown = calls.text(called, PLAIN)
        assert "exact" not in shown
        assert "not complete: big.py (too large)" in shown
        referred: Any = ask(workspace, "code.symbol.references", symbol="save")
        # what imports it is a reference that is known
        assert set(referred.unread) == set(UNREAD[:2])
        assert "exact" not in references.text(referred, PLAIN)
        whole: Any = ask(workspace, "code.calls", symbol="load")
        assert whole.unread == ()  # large as it is, it was looked into
        assert "lone" not in dead.text(ask(workspace, "code.dead"), PLAIN)  # type: ignore[arg-type]
        for name in ("big.py", "latin.py", "broken.py"):
            (tmp_path / name).unlink()
        workspace.refresh()
        called = ask(workspace, "code.calls", symbol="save")
        assert called.unread == ()
        assert "exact" in calls.text(called, PLAIN)


def test_packs_and_tests_of_a_change_name_files_that_may_matter(tmp_path: Path) -> None:
    _write(tmp_path)
    _commit(tmp_path)
    others = "".join(f"def other_{number}(x):\n    return x + {number}\n" for number in range(100))
    (tmp_path / "a.py").write_text(f"def save(x):\n    return x\n{others}")
    with Workspace.open(tmp_path) as workspace:
        asked: list[tuple[str, dict[str, Any]]] = [
            ("code.context", {"symbols": ("save",)}),
            ("code.symbol.slice", {"symbols": ("save",)}),
            ("code.diff_context", {"worktree": True}),
            ("code.change_impact", {}),
            ("code.plan", {"task": ("save", "in", "a.py", "loses", "x")}),
            ("code.packet", {"task": "save in a.py loses x, see `save`"}),
        ]
        for name, parameters in asked:
            notes = notes_of(workspace, name, **parameters)
            assert [one for one in UNREAD if one not in str(notes)] == [], name
        notes = notes_of(workspace, "code.context", symbols=("other_1",))
        assert "latin.py" not in str(notes)


def test_answers_about_everything_name_files_that_were_left_out(tmp_path: Path) -> None:
    _write(tmp_path)
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "c.py").write_text("import a\n")
    asked: dict[str, dict[str, Any]] = {
        "code.calls": {},
        "code.complexity": {},
        "code.cycles": {},
        "code.duplicates": {},
        "code.importers": {"module": "a"},
        "code.structure": {},
        "code.tree": {},
    }
    with Workspace.open(tmp_path) as workspace:
        for name, parameters in asked.items():
            notes = notes_of(workspace, name, **parameters)
            assert "big.py (too large)" in str(notes), name
        for name in ("code.complexity", "code.duplicates", "code.structure", "code.tree"):
            notes = notes_of(workspace, name, path="other")
            assert notes == (), name


@pytest.mark.parametrize(
    ("path", "head", "encoding"),
    [
        ("a.py", "# -*- coding: latin-1 -*-\n", "latin-1"),
        ("a.py", "#!/usr/bin/python3\n# vim: set fileencoding=cp1252 :\n", "cp1252"),
        ("a.py", "# coding=euc_jp\n", "euc_jp"),
        ("a.rb", "# encoding: iso-8859-1\n", "iso-8859-1"),
    ],
)
def test_a_file_is_read_in_the_encoding_that_it_names(
    tmp_path: Path, path: str, head: str, encoding: str
) -> None:
    name, said = ("本", "日本") if encoding == "euc_jp" else ("caf\xe9", "\xfcber")
    block = ["(x):\n    return", ""] if path == "a.py" else ["(x)\n  ", "end\n"]
    text = f"{head}def {name}{block[0]} '{said}'\n{block[1]}"
    text += f"def user{block[0]} {name}(x)\n{block[1]}"
    (tmp_path / path).write_bytes(text.encode(encoding))
    with Workspace.open(tmp_path) as workspace:
        called: Any = ask(workspace, "code.calls", symbol=name)
        assert "user" in calls.text(called, PLAIN)
        assert called.unread == ()
        assert workspace.source(path) == text.encode()
        hits: Any = ask(workspace, "code.search", query=(f'"{said}"',))
        assert len(hits.hits) == 1
        report = workspace.refresh()
        assert (report.added, report.changed) == (0, 0)


@pytest.mark.parametrize("said", ["utf-8", "utf_16", "unicode_escape", "punycode", "rot13", "none"])
def test_an_encoding_that_cannot_be_is_none(tmp_path: Path, said: str) -> None:
    (tmp_path / "a.py").write_bytes(f"# coding: {said}\n".encode() + b"save = '\xff'\n")
    with Workspace.open(tmp_path) as workspace, pytest.raises(TerselyError) as failure:
        ask(workspace, "code.extract", path="a.py")
    assert failure.value.message.endswith("not utf8")


def test_what_is_not_found_may_be_in_what_was_not_read(tmp_path: Path) -> None:
    _write(tmp_path)
    (tmp_path / "latin.py").write_bytes(b"x = '\xff'\ndef hidden(): ...\nimport secret\n")
    with Workspace.open(tmp_path) as workspace:
        for name, parameters in (
            ("code.symbol.get", {"symbol": ("hidden",)}),
            ("code.importers", {"module": "secret"}),
        ):
            with pytest.raises(TerselyError) as failure:
                ask(workspace, name, **parameters)
            assert "latin.py (not utf8)" in failure.value.hint, name
        with pytest.raises(TerselyError) as failure:
            ask(workspace, "code.symbol.get", symbol=("elsewhere",))
        assert "latin.py" not in failure.value.hint


def test_what_is_not_understood_in_a_function_is_said_of_it(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text(
        "def whole(x):\n    return x\n\ndef torn(x):\n    y = x +* 2\n    return whole(y)\n"
    )
    with Workspace.open(tmp_path) as workspace:
        for name in ("code.cfg", "code.dfg", "code.symbol.deps"):
            notes = notes_of(workspace, name, symbol="whole")
            assert notes == (), name
            notes = notes_of(workspace, name, symbol="torn")
            assert "a.py (not understood from line 5)" in str(notes), name
        called: Any = ask(workspace, "code.calls", symbol="torn")
        assert "exact" not in calls.text(called, PLAIN)


def test_a_changed_file_that_is_not_indexed_is_named(tmp_path: Path) -> None:
    _write(tmp_path)
    _commit(tmp_path)
    (tmp_path / "latin.py").write_bytes(b"x = '\xff'\n")
    with Workspace.open(tmp_path) as workspace:
        notes = notes_of(workspace, "code.change_impact")
        assert notes == ("not complete: latin.py (not utf8) may matter",)


def test_of_changed_files_with_names_that_are_no_text_it_is_said_and_the_rest_stands(
    tmp_path: Path,
) -> None:
    user = "from helper import load\n"
    files = ("helper.py", "caf\udce9.py", "left\udce9.py", "new\nline\t\"'.py", "lost.dat")
    repository(tmp_path, {**dict.fromkeys(files, "def load():\n    return 1\n"), "user.py": user})
    (tmp_path / "left\udce9.py").rename(tmp_path / "right\udce9.py")
    (tmp_path / "lost.dat").unlink()
    for path in (*files[:2], files[3], "\udcff.py"):
        (tmp_path / path).write_text("def loaded(x):\n    return x\n")
    names = {r"\xff", r"caf\xe9", r"left\xe9", r"right\xe9"}
    with Workspace.open(tmp_path) as workspace:
        ask(workspace, "code.change_impact")
        ask(workspace, "code.plan", task=("mend", "it"))
        uses = ask(workspace, "code.breaks").uses
        assert [one.places for one in uses] == [("user.py:1",)]
        (note,) = notes_of(workspace, "code.breaks")
        assert note == r"not complete: caf\xe9.py (its name is not UTF-8) and 3 more may matter"
        pack: Any = ask(workspace, "code.diff_context", worktree=True)
        assert {name for name in names if f"{name}.py" in pack.text} == names


def test_a_slice_through_what_is_not_understood_says_so(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text(
        "def whole(x):\n    return x\n\ndef torn(x):\n    y = x +* 2\n    return y\n"
    )
    with Workspace.open(tmp_path) as workspace:
        notes = notes_of(workspace, "code.slice", place="a.py:2")
        assert notes == ()
        notes = notes_of(workspace, "code.slice", place="a.py:6")
        assert notes == ("not complete: a.py (not understood from line 5) may matter",)


def test_a_symbol_that_is_not_understood_is_shown_with_a_note(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("def whole(x):\n    return x\n\ndef torn(x):\n    y = x +* 2\n")
    with Workspace.open(tmp_path) as workspace:
        notes = notes_of(workspace, "code.symbol.get", symbol=("whole",))
        assert notes == ()
        notes = notes_of(workspace, "code.symbol.get", symbol=("torn",))
        assert notes == ("not complete: a.py (not understood from line 5) may matter",)


def test_kinds_that_are_not_read_are_named_where_they_may_hold_users(tmp_path: Path) -> None:
    users = {
        "a.py": ("slow.pxd", "fast.pyx"),
        "a.ts": ("pages/index.mdx", "Nav.mdx"),
        "a.rb": ("page.html.erb",),
    }
    (tmp_path / "pages").mkdir()
    for path, others in users.items():
        (tmp_path / path).write_text(DEFINED[path])
        for other in others:
            (tmp_path / other).write_text("...\nsave(1)\n")
    (tmp_path / "other.mdx").write_text("<p>saved</p>\n")  # writes another name
    (tmp_path / "save.txt").write_text("save(1)\n")
    with Workspace.open(tmp_path) as workspace:
        for path, others in users.items():
            called: Any = ask(workspace, "code.calls", symbol=f"{path}:save")
            assert set(called.unread) == {f"{other} (kind not read)" for other in others}
            assert "not complete: " in calls.text(called, PLAIN)
        (tmp_path / "new.mdx").write_text("save(1)\n")
        workspace.refresh()
        called = ask(workspace, "code.calls", symbol="a.ts:save")
        assert "new.mdx (kind not read)" in called.unread


def test_many_files_that_were_not_read_take_one_short_sentence(tmp_path: Path) -> None:
    (tmp_path / "a.ts").write_text("export function save() {}\n")
    (tmp_path / "api").mkdir()
    for number in range(57):
        path = tmp_path / "api" / f"generated-client-number-{number:02}.ts"
        path.write_text("// Code generated. DO NOT EDIT.\nsave()\n")
    with Workspace.open(tmp_path) as workspace:
        notes = notes_of(workspace, "code.context", symbols=("save",))
        (note,) = notes
        first = "api/generated-client-number-00.ts (generated)"
        assert note == f"not complete: {first} and 56 more may matter"


def test_a_mark_that_a_grammar_misses_is_no_problem(tmp_path: Path) -> None:
    styled = (
        "const A = styled.div<{ $x: boolean }>`a ${(p) => p.x}`;\nfunction f() { A(); save(); }\n"
    )
    (tmp_path / "a.tsx").write_text(f"export function save() {{}}\n{styled}")
    (tmp_path / "b.tsx").write_text(styled)
    (tmp_path / "torn.ts").write_text("function g() { if (save { }\n")
    with Workspace.open(tmp_path) as workspace:
        called: Any = ask(workspace, "code.calls", symbol="save")
        assert called.unread == ("torn.ts (not understood from line 1)",)
        reported: Any = ask(workspace, "code.index", report=True)
        assert {one.path for one in reported.problems.items} == {"torn.ts"}


DEFINED = {
    "a.py": "def save(x): ...\n",
    "a.ts": "export function save(x) {}\n",
    "a.rb": "def save(x)\nend\n",
}


def notes_of(workspace: Workspace, name: str, **arguments: object) -> tuple[str, ...]:
    """The notes of an answer."""
    return invoke(load(name), workspace, arguments).notes


def _commit(root: Path) -> None:
    who = ("-c", "user.name=a", "-c", "user.email=a@example.org")
    for words in (("init", "-q"), ("add", "."), (*who, "commit", "-qm", "all")):
        subprocess.run(["git", *words], cwd=root, check=True, capture_output=True)


def _write(root: Path) -> None:
    (root / "a.py").write_text("def save(x): ...\ndef load(): ...\ndef lone(): ...\n")
    (root / "b.py").write_text(f"{USE}save(1)\n")
    (root / "big.py").write_text(USE + "#" * MAX_FILE_BYTES)
    (root / "latin.py").write_bytes(b"x = '\xff'\nsave(3)\nlone()\n")
    (root / "broken.py").write_text(f"{USE}def f(:\n  save((\n")
