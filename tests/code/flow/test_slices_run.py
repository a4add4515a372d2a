"""What a slice leaves out makes no difference: running it gives the value that running the whole
gives.
"""

from __future__ import annotations

import contextlib
import io
import re
from random import Random

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from tests.code.flow.programs import program
from tests.depth import examples

from tersely.code.flow.dominance import control_dependences
from tersely.code.flow.effects import with_effects
from tersely.code.flow.lines import lines_of, statements_at
from tersely.code.flow.reaching import data_flows
from tersely.code.flow.slicing import Direction, slice_of
from tersely.code.languages.python import PYTHON
from tersely.code.routines import Routine
from tersely.code.syntax.cfg.read import read_routines

ARGUMENTS = ((0, 0), (1, 2), (5, 3), (2, -1))
SEEDS = st.integers(0, 2**32)


@given(SEEDS)
@settings(max_examples=examples(100))
def test_a_backward_slice_gives_the_value_that_the_whole_gives(seed: int) -> None:
    text = program(Random(seed))
    routine = subject(text)
    criterion = statements_at(routine, text.count("\n"))
    kept = slice_of(routine, criterion, Direction.BACKWARD)
    part = declared(only(text, routine, kept))
    for arguments in ARGUMENTS:
        outcome = run(text, arguments)
        if outcome is not None:
            assert run(part, arguments) == outcome, f"{arguments}\n{text}\n{part}"


@given(SEEDS, st.sampled_from(Direction), st.data())
@settings(max_examples=examples())
def test_a_slice_is_closed_under_dependence_and_stays_within_its_function(
    seed: int, direction: Direction, data: st.DataObject
) -> None:
    routine = subject(program(Random(seed)))
    at = data.draw(st.integers(0, len(routine.statements) - 1))
    kept = set(slice_of(routine, [at], direction))
    assert at in kept
    assert kept <= set(range(len(routine.statements)))
    statement_of = [point.statement for point in routine.points]
    pairs = [(flow.definer, flow.reader) for flow in data_flows(routine)]
    pairs += [
        (other, point)
        for point, others in enumerate(control_dependences(routine))
        for other in others
    ]
    for source, target in pairs:
        first, then = (target, source) if direction is Direction.BACKWARD else (source, target)
        if statement_of[first] in kept:
            assert statement_of[then] in kept


@given(SEEDS, st.integers(0, 2**32))
@example(5, 107)  # the function that is defined after it reads what it changes
@settings(max_examples=examples())
def test_forward_is_backward_read_the_other_way(seed: int, chosen: int) -> None:
    routine = subject(program(Random(seed)))
    one = chosen % len(routine.statements)
    for other in slice_of(routine, [one], Direction.FORWARD):
        assert one in slice_of(routine, [other], Direction.BACKWARD)


@pytest.mark.parametrize("removed", ["b = a", "xs.append(b)", "if p:", "ys = xs"])
def test_a_slice_without_one_of_its_statements_gives_another_value(removed: str) -> None:
    """The comparison above would notice a slice that is too small."""
    text = (
        "def subject(p, q):\n    a = 4\n    b = a\n    xs = []\n    ys = []\n    if p:\n        b = 9\n    ys = xs\n"
        "    xs.append(b)\n    return ys\n"
    )
    less = text.replace(f"    {removed}\n", "    if q:\n" if removed == "if p:" else "")
    assert [run(less, (p, 3)) for p in (0, 1)] != [run(text, (p, 3)) for p in (0, 1)]


def subject(text: str) -> Routine:
    """The routine of the function."""
    routines = with_effects(read_routines(text.encode(), PYTHON)).routines
    return next(routine for routine in routines if routine.name == "subject")


def only(text: str, routine: Routine, kept: list[int]) -> str:
    """The lines of some statements as a program; what is left empty gets a `pass`."""
    lines: set[int] = set()
    for at in kept:
        statement = routine.statements[at]
        whole = (
            range(statement.line, statement.end_line + 1)
            if statement.kind == "definition"
            else lines_of(statement)
        )
        lines.update(whole)
    rows = text.split("\n")
    shown = [rows[line - 1] for line in sorted(lines)]
    filled = []
    for row, following in zip(shown, [*shown[1:], ""], strict=True):
        filled.append(row)
        if row.endswith(":") and indent(following) <= indent(row):
            filled.append(" " * (indent(row) + 4) + "pass")
    return "\n".join(filled) + "\n"


def declared(text: str) -> str:
    """The text with a line for each name that an inner function says is not its own and no line
    binds any more.

    Python wants one to compile it; what the name held before plays no part, or the slice would have
    its line.
    """
    bound = re.findall(r"^    (?:\w+, )*(\w+) =", text, re.MULTILINE)
    names = set(re.findall(r"nonlocal (\w+)", text)) - set(bound)
    head, _, body = text.partition("\n")
    return "\n".join([head, *(f"    {name} = None" for name in sorted(names)), body])


def indent(row: str) -> int:
    """The width of the space that a row begins with."""
    return len(row) - len(row.lstrip())


def run(text: str, arguments: tuple[int, int]) -> str | None:
    """What the function gives, None if it raises."""
    names: dict[str, object] = {}
    exec(compile(text, "subject", "exec"), names)
    function = names["subject"]
    assert callable(function)
    with contextlib.redirect_stdout(io.StringIO()):
        try:
            return repr(function(*arguments))
        except (ArithmeticError, AssertionError, LookupError, NameError, TypeError, ValueError):
            return None
