"""One pipeline behind every door."""

from __future__ import annotations

import io
import json
from dataclasses import replace
from functools import wraps
from pathlib import Path
from typing import Any

import pytest
from tests.cli.asking import as_repository

from tersely.capabilities import catalogue
from tersely.capabilities.answers.text import PLAIN
from tersely.capabilities.declaration.binding import checked, schema
from tersely.capabilities.declaration.declaration import Effect
from tersely.capabilities.declaration.projection import to_json
from tersely.capabilities.invoke import MAX_LOOKS_AGAIN, ask, invoke
from tersely.cli.main import main
from tersely.foundation.errors import TerselyError
from tersely.foundation.storage.roots import find_root
from tersely.workspace import Workspace

SOURCE = """import os


class Kettle:
    def boil(self):
        return heat(os.getpid())


def heat(water):
    return water


def main():
    Kettle().boil()
"""

PATCH = """--- a/kitchen.py
+++ b/kitchen.py
@@ -9,2 +9,2 @@
 def heat(water):
-    return None
+    return water
"""

REPORT = "SF:kitchen.py\nDA:6,2\nDA:10,2\nDA:14,0\nend_of_record\n"

CALLS: dict[str, dict[str, Any]] = {
    "code.tree": {},
    "code.structure": {"all": True},
    "code.extract": {"path": "kitchen.py", "docs": True},
    "code.imports": {"file": "kitchen.py"},
    "code.importers": {"module": "os"},
    "code.symbol.find": {"queries": ["*"], "kind": "function"},
    "code.symbol.get": {"symbol": "Kettle"},
    "code.symbol.slice": {"symbols": ["main"], "budget": 300},
    "code.symbol.deps": {"symbol": "main"},
    "code.symbol.references": {"symbol": "heat"},
    "code.definition": {"place": "kitchen.py:6"},
    "code.calls": {"symbol": "heat", "direction": "callers", "depth": 2},
    "code.impact": {"symbol": "heat", "depth": 4},
    "code.change_impact": {"files": ["kitchen.py"]},
    "code.conflicts": {},
    "code.breaks": {},
    "code.enclosing": {"places": ["kitchen.py:10"], "budget": 100},
    "code.cfg": {"symbol": "main"},
    "code.dfg": {"symbol": "heat"},
    "code.slice": {"place": "kitchen.py:10", "with_code": True},
    "code.complexity": {"above": 0},
    "code.search": {"query": ["boil", "water"]},
    "code.duplicates": {"threshold": 90},
    "code.map": {"budget": 200},
    "code.packet": {"task": "Kettle.boil is too hot", "min_confidence": 0},
    "code.diff_context": {"patch": PATCH, "budget": 300},
    "code.plan": {"task": ["boil", "water"], "budget": 300},
    "code.dead": {},
    "code.cycles": {"of": "calls"},
    "code.context": {"symbols": ["heat", "main"], "budget": 300, "format": "compact"},
    "code.coverage.context": {"coverage_file": "lcov.info", "budget": 300},
    "code.coverage.files": {"coverage_file": "lcov.info"},
    "code.coverage.slice": {"file": "kitchen.py", "coverage_file": "lcov.info"},
    "code.index": {"report": True},
    "code.stats": {},
}
WORDS = {
    "code.structure": ["structure", "--all"],
    "code.extract": ["extract", "kitchen.py", "--docs"],
    "code.imports": ["imports", "kitchen.py"],
    "code.importers": ["importers", "os"],
    "code.symbol.find": ["symbol", "find", "*", "--kind", "function"],
    "code.symbol.get": ["symbol", "get", "Kettle"],
    "code.symbol.slice": ["symbol", "slice", "main", "--budget", "300"],
    "code.symbol.deps": ["symbol", "deps", "main"],
    "code.symbol.references": ["symbol", "references", "heat"],
    "code.definition": ["definition", "kitchen.py:6"],
    "code.calls": ["calls", "heat", "--callers", "--depth", "2"],
    "code.impact": ["impact", "heat", "--depth", "4"],
    "code.change_impact": ["change-impact", "kitchen.py"],
    "code.breaks": ["breaks"],
    "code.enclosing": ["enclosing", "kitchen.py:10", "--budget", "100"],
    "code.cfg": ["cfg", "main"],
    "code.dfg": ["dfg", "heat"],
    "code.slice": ["slice", "kitchen.py:10", "--with-code"],
    "code.search": ["search", "boil", "water"],
    "code.duplicates": ["duplicates", "--threshold", "90"],
    "code.map": ["map", "--budget", "200"],
    "code.packet": ["packet", "Kettle.boil is too hot", "--min-confidence", "0"],
    "code.diff_context": ["diff-context", "-", "--budget", "300"],
    "code.plan": ["plan", "boil", "water", "--budget", "300"],
    "code.cycles": ["cycles", "--calls"],
    "code.context": ["context", "heat", "main", "--budget", "300", "--format", "compact"],
    "code.coverage.context": [
        "coverage-context",
        "--coverage-file",
        "lcov.info",
        "--budget",
        "300",
    ],
    "code.coverage.files": ["rank-files", "--coverage-file", "lcov.info"],
    "code.coverage.slice": ["coverage-slice", "kitchen.py", "--coverage-file", "lcov.info"],
    "code.index": ["index", "--report"],
}


@pytest.fixture
def kitchen(tmp_path: Path) -> Path:
    (tmp_path / "kitchen.py").write_text(SOURCE, "utf-8")
    (tmp_path / "lcov.info").write_text(REPORT, "utf-8")
    as_repository(tmp_path)
    return tmp_path


def test_there_is_a_call_for_every_capability() -> None:
    assert set(CALLS) == set(catalogue.CODE_NAMES)


@pytest.mark.parametrize("name", CALLS)
def test_python_and_the_command_line_give_the_same_answer(
    kitchen: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    def typed(*words: str) -> int:
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(PATCH.encode())))
        return main(list(words))

    capability = catalogue.load(name)
    words = ["--root", str(kitchen), *WORDS.get(name, [name.removeprefix("code.")])]
    with Workspace.open(kitchen) as workspace:
        # fills the index, so that what index reports stays the same
        ask(workspace, name, **CALLS[name])
        result = ask(workspace, name, **CALLS[name])
        outcome = invoke(capability, workspace, CALLS[name])
    assert without_times(outcome.envelope()["result"]) == without_times(to_json(result))
    assert typed(*words, "--json") == outcome.exit_status
    assert without_times(json.loads(capsys.readouterr().out)) == without_times(outcome.envelope())
    if name != "code.index":
        assert typed(*words) == outcome.exit_status
        assert capsys.readouterr().out.rstrip("\n") == capability.text(result, PLAIN).rstrip("\n")


def without_times(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: without_times(inner) for key, inner in value.items() if key != "seconds"}
    return value


@pytest.mark.parametrize("name", CALLS)
def test_a_declaration_is_complete(name: str) -> None:
    capability = catalogue.load(name)
    assert capability.name == name
    assert capability.effect is Effect.READ
    assert capability.summary
    assert not capability.summary.endswith(".")
    assert capability.description.endswith(".")
    described = schema(capability.parameters)
    for parameter in capability.parameters:
        assert parameter.help
        assert not parameter.help.endswith(".")
        if parameter.type is int and not parameter.many:
            assert parameter.minimum is not None
    assert json.loads(json.dumps(described)) == described
    assert checked(capability.parameters, CALLS[name]).keys() == CALLS[name].keys()


def test_asking_from_python_raises_what_invoking_reports(kitchen: Path) -> None:
    impact = catalogue.load("code.impact")
    with Workspace.open(kitchen) as workspace:
        outcome = invoke(impact, workspace, {"symbol": "kettl"})
        assert outcome.failure is not None
        assert outcome.failure.code == "symbol_not_found"
        assert outcome.exit_status == 1
        assert outcome.revision == workspace.revision != ""
        with pytest.raises(TerselyError, match="symbol_not_found"):
            ask(workspace, "code.impact", symbol="kettl")
        assert (
            invoke(impact, workspace, {"symbl": "x"}).envelope()["error"]["hint"]
            == "did you mean symbol?"
        )


def test_an_unknown_capability_is_refused() -> None:
    with pytest.raises(TerselyError, match="no capability"):
        catalogue.load("code.nothing")


def test_only_plain_values_leave() -> None:
    with pytest.raises(TypeError, match="PosixPath is not a plain value"):
        to_json((1, {"a": Path("/")}))


def test_the_root_is_found_by_its_index_or_repository(tmp_path: Path) -> None:
    inner = tmp_path / "a" / "b"
    inner.mkdir(parents=True)
    assert find_root(inner) == inner.resolve()
    (tmp_path / "a" / ".tersely").mkdir()
    assert find_root(inner) == inner.resolve()  # a directory of that name alone is no index
    (tmp_path / "a" / ".tersely" / ".gitignore").touch()
    (inner / ".git").mkdir()
    assert find_root(inner) == (tmp_path / "a").resolve()  # nor is an empty `.git` a repository
    (inner / ".git").rmdir()
    (inner / ".git").write_text("gitdir: elsewhere\n", "utf-8")
    assert find_root(inner) == inner.resolve()
    with pytest.raises(TerselyError, match="root_not_found: / is a home directory or holds one"):
        find_root(Path("/"))


@pytest.mark.parametrize("mark", [".git/HEAD", ".tersely/.gitignore"])
def test_a_home_and_what_lies_around_it_are_no_repository(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, mark: str
) -> None:
    home = tmp_path / "home" / "me"
    inner = home / "notes"
    inner.mkdir(parents=True)
    monkeypatch.setenv("HOME", str(home))
    for place in (home, home.parent):
        (place / mark).parent.mkdir()
        (place / mark).touch()
        with pytest.raises(TerselyError, match="root_not_found"):
            find_root(place)
    assert find_root(inner) == inner.resolve()


def test_the_home_of_a_relay_marks_no_repository(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    inner = tmp_path / "a" / "b"
    inner.mkdir(parents=True)
    home = tmp_path / "a" / ".tersely"
    home.mkdir()
    (home / ".gitignore").touch()
    assert find_root(inner) == inner.parent.resolve()
    with monkeypatch.context() as patched:
        patched.setenv("TERSELY_HOME", str(home))
        assert find_root(inner) == inner.resolve()
    (home / "relay.lock").touch()  # of a relay of another environment
    assert find_root(inner) == inner.resolve()


def test_a_question_whose_file_vanishes_under_it_is_asked_of_the_files_as_they_are_then(
    kitchen: Path,
) -> None:
    flow = catalogue.load("code.cfg")

    @wraps(flow.run)
    def run(workspace: Workspace, **arguments: Any) -> Any:
        if (kitchen / "kitchen.py").exists():
            (kitchen / "kitchen.py").rename(kitchen / "pantry.py")
        return flow.run(workspace, **arguments)

    with Workspace.open(kitchen) as workspace:
        outcome = invoke(replace(flow, run=run), workspace, {"symbol": "heat"})
        assert outcome.failure is None
        assert outcome.result.symbol == "pantry.py:heat"
        assert outcome.revision == workspace.revision


def test_a_file_that_changes_under_a_question_is_never_shown_by_the_lines_it_had(
    kitchen: Path,
) -> None:
    get = catalogue.load("code.symbol.get")
    edited = f"# a line before all others\n{SOURCE}"

    @wraps(get.run)
    def run(workspace: Workspace, **arguments: Any) -> Any:
        (kitchen / "kitchen.py").write_text(edited, "utf-8")
        return get.run(workspace, **arguments)

    with Workspace.open(kitchen) as workspace:
        outcome = invoke(replace(get, run=run), workspace, {"symbol": "heat"})
        assert outcome.failure is None
        assert outcome.result.content.startswith("def heat(water):")
        assert outcome.result.lines == (10, 11)
    (kitchen / "kitchen.py").write_text(SOURCE, "utf-8")
    with Workspace.open(kitchen, refresh=False) as workspace:
        outcome = invoke(get, workspace, {"symbol": "heat"})
        assert outcome.failure is None
        assert outcome.notes == (
            "kitchen.py changed after the index was made: lines may be others",
        )


@pytest.mark.parametrize("question", ['"return water"', "/return w.t/"])
@pytest.mark.parametrize(
    ("edited", "lines"), [(f"# before all others\n{SOURCE}", [11]), ("water = 1\n", [])]
)
def test_text_is_found_as_it_is_at_the_revision_that_the_answer_names(
    kitchen: Path, question: str, edited: str, lines: list[int]
) -> None:
    search = catalogue.load("code.search")

    @wraps(search.run)
    def run(workspace: Workspace, **arguments: Any) -> Any:
        (kitchen / "kitchen.py").write_text(edited, "utf-8")
        return search.run(workspace, **arguments)

    with Workspace.open(kitchen) as workspace:
        before = invoke(search, workspace, {"query": [question]})
        assert [hit.line for hit in before.result.hits] == [10]
        outcome = invoke(replace(search, run=run), workspace, {"query": [question]})
        assert [hit.line for hit in outcome.result.hits] == lines
        assert outcome.revision == workspace.revision != before.revision


def test_who_searches_for_text_is_told_of_files_that_are_not_what_was_indexed(
    kitchen: Path,
) -> None:
    search, note = (
        catalogue.load("code.search"),
        "kitchen.py changed after the index was made: lines may be others",
    )
    with Workspace.open(kitchen) as first:
        first.refresh()
    with Workspace.open(kitchen, refresh=False) as workspace:
        (kitchen / "kitchen.py").write_text("water = 1\n", "utf-8")
        assert invoke(search, workspace, {"query": ['"return water"']}).notes == (note,)
        (kitchen / "kitchen.py").unlink()
        outcome = invoke(search, workspace, {"query": ['"return water"']})
        assert (outcome.failure, outcome.result.hits, outcome.notes) == (None, (), (note,))


@pytest.mark.parametrize(("refresh", "runs"), [(True, 1 + MAX_LOOKS_AGAIN), (False, 1)])
def test_it_is_asked_again_a_bounded_number_of_times_and_only_where_files_are_looked_at(
    kitchen: Path, refresh: bool, runs: int
) -> None:
    flow = catalogue.load("code.cfg")
    seen = []

    @wraps(flow.run)
    def run(workspace: Workspace, **arguments: Any) -> Any:
        seen.append(workspace.revision)
        path = f"kitchen{len(seen) - 1}.py"
        (kitchen / path).unlink()
        (kitchen / f"kitchen{len(seen)}.py").write_text(SOURCE, "utf-8")
        return flow.run(workspace, **arguments)

    (kitchen / "kitchen.py").rename(kitchen / "kitchen0.py")
    with Workspace.open(kitchen) as first:
        first.refresh()
    with Workspace.open(kitchen, refresh=refresh) as workspace:
        outcome = invoke(replace(flow, run=run), workspace, {"symbol": "heat"})
    assert outcome.failure is not None
    assert (outcome.failure.code, len(seen)) == ("unreadable_file", runs)


def test_an_answer_that_takes_too_long_is_given_up_where_the_door_says_so(kitchen: Path) -> None:
    def run(workspace: Workspace) -> Any:
        while True:
            pass

    with Workspace.open(kitchen) as workspace:
        workspace.patience_seconds = 0.05
        outcome = invoke(replace(catalogue.load("code.stats"), run=run), workspace, {})
        assert outcome.failure is not None
        assert outcome.failure.code == "timed_out"
        assert invoke(catalogue.load("code.stats"), workspace, {}).failure is None
