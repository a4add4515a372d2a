"""No pack is larger than its budget, or than the plain files that it stands for, whatever is asked
of real code.

What a pack stands for is computed here from what it names, not by the code that sees to the bound:
every file of which the answer lists a symbol or which it shows whole, each under its heading, as
the format prints a whole file. Beside them may stand what no file tells: of a change the diff, of a
report of coverage a line for each symbol that it ranks, and the last line, which counts what had no
room. A file that `coverage-slice` cuts stands for itself and for the numbers of the lines that the
report lists of it. A packet stands for the files that it names, a plan also for those of its map.
"""

from __future__ import annotations

import difflib
import random
import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple
from wsgiref import handlers as wsgiref_handlers

import markdown_it
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from tests.depth import examples

from tersely.capabilities.answers.text import PLAIN
from tersely.capabilities.coverage.slice import text
from tersely.capabilities.invoke import ask
from tersely.code.symbols import CALLABLE_KINDS, Symbol
from tersely.context.pack.model import Pack, joined
from tersely.context.render.formats import FORMATS
from tersely.foundation.errors import TerselyError
from tersely.workspace import Workspace

# Installed code: many small files that call each other, and a few large ones.
PACKAGES: tuple[ModuleType, ...] = (markdown_it, wsgiref_handlers)
# at a line that was drawn
NO_STATEMENT = {"no_statement", "no_function", "not_found", "invalid_argument"}
BLANK = Pack("", 0, 0, (), (), (), (), ())


class Code(NamedTuple):
    """Real packages as a repository, and what is asked about."""

    workspace: Workspace
    symbols: tuple[Symbol, ...]

    def __repr__(self) -> str:
        return f"{len(self.symbols)} functions"


@pytest.fixture(scope="module")
def code(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Code]:
    root = tmp_path_factory.mktemp("repository")
    for package in PACKAGES:
        folder = Path(package.__file__ or "").parent
        shutil.copytree(
            folder, root / folder.name, ignore=shutil.ignore_patterns("__pycache__", "*.so")
        )
    with Workspace.open(root) as workspace:
        workspace.check_freshness()
        symbols = (one for one in workspace.engine.store.symbols() if one.kind in CALLABLE_KINDS)
        yield Code(workspace, tuple(sorted(symbols, key=lambda symbol: symbol.id)))


def source(code: Code, path: str) -> str:
    return code.workspace.source(path).decode("utf-8", "replace")


def plain_tokens(code: Code, answer: Any, wording: dict[str, Any]) -> int:
    """The files that a pack names, whole, as its format prints them, and what it says that it has
    no room for.
    """
    ids = (item.id.partition(":")[0] for item in answer.items)
    paths = dict.fromkeys([*ids, *answer.whole_files])
    texts = code.workspace.texts(with_docs=True)
    files = tuple(texts.extract(path) for path in paths)
    format_name = wording.get("format", "text")
    whole = replace(
        BLANK, extracts=files, omitted=tuple(answer.omitted.items()), budget=9_999, used=9_999
    )
    whole = replace(whole, revision=code.workspace.revision)
    return code.workspace.tokenizer.count(
        joined(FORMATS[format_name](whole, code.workspace.tokenizer.count))
    )


WORDINGS = st.fixed_dictionaries(
    {"format": st.sampled_from(sorted(FORMATS))},
    optional={"with_docs": st.just(True)},
)
BUDGETS = st.sampled_from([60, 150, 300, 600, 1_000, 2_000, 4_000, 16_000])
CHOICES = st.integers(0, 2**32)
DEAR = settings(max_examples=examples())


def drawn(code: Code, choice: int) -> Symbol:
    return random.Random(choice).choice(code.symbols)


def packed(code: Code, capability: str, budget: int, **arguments: Any) -> Any:
    """The answer, of which the budget is checked."""
    try:
        answer = ask(code.workspace, capability, budget=budget, **arguments)
    except TerselyError as error:
        assert error.code == "budget_too_small"
        assume(False)
        raise
    assert code.workspace.tokenizer.count(answer.text) == answer.used <= budget
    return answer


@DEAR
@given(CHOICES, st.sampled_from(["code.context", "code.symbol.slice"]), BUDGETS, WORDINGS)
def test_packs_around_symbols(
    code: Code, choice: int, capability: str, budget: int, wording: dict[str, Any]
) -> None:
    answer = packed(code, capability, budget, symbols=(drawn(code, choice).id,), **wording)
    assert answer.used <= plain_tokens(code, answer, wording)


@DEAR
@given(CHOICES, BUDGETS, WORDINGS)
def test_program_slices(code: Code, choice: int, budget: int, wording: dict[str, Any]) -> None:
    symbol = drawn(code, choice)
    line = random.Random(choice).randint(symbol.start_line, symbol.end_line)
    try:
        answer = packed(code, "code.context", budget, slice=f"{symbol.path}:{line}", **wording)
    except TerselyError as error:
        assert error.code in NO_STATEMENT
        assume(False)
        raise
    assert answer.used <= plain_tokens(code, answer, wording)


def test_program_slices_of_all_functions_of_a_file(code: Code) -> None:
    for symbol in (one for one in code.symbols if one.path == "markdown_it/utils.py"):
        answer = ask(
            code.workspace, "code.context", slice=f"{symbol.path}:{symbol.end_line}", budget=2_000
        )
        assert answer.used <= plain_tokens(code, answer, {})


@pytest.mark.slow
@DEAR
@given(st.lists(CHOICES, min_size=2, max_size=5), BUDGETS, WORDINGS, st.booleans())
def test_packs_in_a_session(
    code: Code, choices: list[int], budget: int, wording: dict[str, Any], fill: bool
) -> None:
    reset = True
    for choice in choices:
        symbols = (drawn(code, choice).id,)
        answer = packed(
            code,
            "code.context",
            budget,
            symbols=symbols,
            session="reader",
            reset=reset,
            fill=fill,
            **wording,
        )
        reset = False
        # is said of what is not sent
        counted = len(str(answer.session.unchanged)) + len(', "as_before":1234')
        assert answer.used <= plain_tokens(code, answer, wording) + counted


@pytest.mark.slow
@DEAR
@given(CHOICES, BUDGETS, WORDINGS, st.booleans())
def test_packs_of_changes(
    code: Code, choice: int, budget: int, wording: dict[str, Any], applied: bool
) -> None:
    patch = deletion(code, drawn(code, choice), applied)
    answer = packed(code, "code.diff_context", budget, patch=patch, **wording)
    diff = escaped(code, patch, wording)
    assert answer.used <= plain_tokens(code, answer, wording) + diff


def deletion(code: Code, symbol: Symbol, applied: bool) -> str:
    """The lines of a symbol taken out, or put in where they are already there."""
    lines = source(code, symbol.path).splitlines(keepends=True)
    without = lines[: symbol.start_line - 1] + lines[symbol.end_line :]
    sides = (without, lines) if applied else (lines, without)
    return "".join(difflib.unified_diff(*sides, f"a/{symbol.path}", f"b/{symbol.path}"))


def escaped(code: Code, told: str, wording: dict[str, Any]) -> int:
    """The tokens of a text that is told beside files, in a pack of a format."""
    extract = replace(code.workspace.texts().extract(code.symbols[0].path), text=told)
    format_name = wording.get("format", "text")
    pack = replace(BLANK, extracts=(extract,))
    return code.workspace.tokenizer.count(
        joined(FORMATS[format_name](pack, code.workspace.tokenizer.count))
    )


@DEAR
@given(CHOICES, BUDGETS, WORDINGS)
def test_packs_of_what_ran(code: Code, choice: int, budget: int, wording: dict[str, Any]) -> None:
    report(code, choice)
    answer = packed(
        code,
        "code.coverage.context",
        budget,
        coverage_file="lcov.info",
        failures=("out.txt",),
        **wording,
    )
    told = "".join(
        f"@{one.line}-{one.end_line} {one.reason} ({one.evidence}): {one.id}\n"
        for one in answer.items
        if one.evidence
    )
    fields = (
        40 * sum(bool(one.evidence) for one in answer.items)
        if wording["format"] in {"json", "markdown"}
        else 0
    )
    assert (
        answer.used <= plain_tokens(code, answer, wording) + escaped(code, told, wording) + fields
    )


def report(code: Code, choice: int) -> list[str]:
    """Write what a run of some functions leaves: lines that ran, and the traceback of one that
    failed.
    """
    dice = random.Random(choice)
    chosen = dice.sample(code.symbols, 12)
    rows = []
    for path in sorted({symbol.path for symbol in chosen}):
        rows.append(f"SF:{path}")
        for symbol in (one for one in chosen if one.path == path):
            rows += [
                f"DA:{line},{dice.choice([0, 1, 7])}"
                for line in range(symbol.start_line, symbol.end_line + 1)
            ]
        rows.append("end_of_record")
    root = code.workspace.root
    (root / "lcov.info").write_text("\n".join(["TN:", *rows, ""]))
    failed = chosen[0]
    (root / "out.txt").write_text(
        f"{failed.path}:{failed.end_line}: AssertionError\nFAILED {failed.path}::test_it\n"
    )
    return sorted({symbol.path for symbol in chosen})


@DEAR
@given(CHOICES, st.booleans(), st.booleans())
def test_files_cut_down_to_what_ran(code: Code, choice: int, missed: bool, only_hits: bool) -> None:
    path = random.Random(choice).choice(report(code, choice))
    answer = ask(
        code.workspace, "code.coverage.slice", file=path, coverage_file="lcov.info", missed=missed,
        hit_lines_only=only_hits,
    )  # fmt: skip
    count = code.workspace.tokenizer.count
    measured = [str(line.number) for line in answer.lines if line.hits is not None]
    # a mark before each line
    told = count(",".join(measured)) if only_hits or missed else len(answer.lines)
    said = text(answer, PLAIN)
    heading = said.partition("\n")[0]
    assert count(said) <= count(f"{heading}\n{source(code, path)}") + told


@DEAR
@given(CHOICES, BUDGETS, WORDINGS)
def test_plans(code: Code, choice: int, budget: int, wording: dict[str, Any]) -> None:
    symbol = drawn(code, choice)
    task = f"make {symbol.name} faster: it goes wrong in {symbol.path}:{symbol.end_line}"
    answer = packed(code, "code.plan", budget, task=tuple(task.split()), **wording)
    outlined = {
        one.path: count_of(code, one.path)
        for one in code.workspace.engine.store.files()
        if one.path.rpartition("/")[2] in answer.text
    }
    assert answer.used <= plain_tokens(code, answer, wording) + sum(outlined.values())


def count_of(code: Code, path: str) -> int:
    return code.workspace.tokenizer.count(source(code, path))


@DEAR
@given(CHOICES, st.sampled_from([60, 100, 200, 400, 1_000]))
def test_packets(code: Code, choice: int, budget: int) -> None:
    symbol = drawn(code, choice)
    task = f"{symbol.qualname} in {symbol.path} goes wrong"
    try:
        answer = ask(
            code.workspace, "code.packet", task=task, max_tokens=budget, min_confidence=0.0
        )
    except TerselyError as error:
        assert error.code == "budget_too_small"
        return
    count = code.workspace.tokenizer.count
    assert count(answer.text) == answer.used <= budget
    paths = [one.path for one in answer.files] + list(answer.tests)
    assert answer.used <= sum(count(f"=== {path} whole\n{source(code, path)}") for path in paths)
