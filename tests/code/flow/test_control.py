"""Where control goes, line by line: each program says it in the notation `from-to`, 0 for the way
in and out.
"""

from __future__ import annotations

import pytest
from tests.code.flow.line_edges import line_edges

from tersely.code.flow.blocks import basic_blocks
from tersely.code.languages.python import PYTHON
from tersely.code.routines import ENTRY, EXIT, EdgeKind, Routine
from tersely.code.syntax.cfg.read import read_routines

CASES = {
    "straight on": ("a = 1\nb = 2", "0-1 1-2 2-0"),
    "if": ("if a:\n    b\nc", "0-1 1-2 1-3 2-3 3-0"),
    "if, elif, else": (
        "if a:\n    b\nelif c:\n    d\nelse:\n    e\nf",
        "0-1 1-2 1-3 3-4 3-6 2-7 4-7 6-7 7-0",
    ),
    "while with else": (
        "while a:\n    if b:\n        break\nelse:\n    c\nd",
        "0-1 1-2 2-1 2-3 1-5 5-6 3-6 6-0",
    ),
    "for": ("for a in b:\n    if c: continue\n    d\ne", "0-1 1-2 2-1 2-3 3-1 1-4 4-0"),
    "for ever": ("while True:\n    if a:\n        break\nb", "0-1 1-2 2-1 2-3 3-4 4-0"),
    "never": ("while 0:\n    a\nb", "0-1 1-3 3-0"),
    "try": (
        "try:\n    a = 1\nexcept A:\n    b\nexcept B:\n    c\nelse:\n    d\ne",
        "0-1 1-2 2-8 3-4 3-5 4-9 5-6 6-9 8-9 9-0",
    ),
    "raise": ("try:\n    raise a\nexcept A:\n    raise\nb", "0-1 1-2 2-3 3-4 4-0"),
    "finally": (
        "for a in b:\n    try:\n        break\n    finally:\n        c\nd",
        "0-1 1-2 2-3 3-5 5-6 1-6 6-0",
    ),
    "with": ("with a as b:\n    c\nd", "0-1 1-2 2-3 3-0"),
    "match": (
        "match a:\n    case 1:\n        b\n    case _:\n        c\nd",
        "0-1 1-2 2-3 2-4 3-6 4-5 5-6 6-0",
    ),
    "match without default": (
        "match a:\n    case 1 if b:\n        c\nd",
        "0-1 1-2 2-3 2-4 3-4 4-0",
    ),
    "a name takes everything": ("match a:\n    case b:\n        c\nd", "0-1 1-2 2-3 3-4 4-0"),
    "return in a loop": ("while a:\n    return b\nc", "0-1 1-2 1-3 2-0 3-0"),
    "two lines, one statement": ("a = f(\n    b,\n)\nc", "0-1 1-4 4-0"),
}


@pytest.mark.parametrize("name", CASES)
def test_control_goes_where_python_goes(name: str) -> None:
    text, expected = CASES[name]
    routine = function_of(text)
    reached = {edge for edge in ways(routine) if edge[0] in reachable(routine)}
    assert reached == {tuple(int(line) for line in way.split("-")) for way in expected.split()}


def test_and_and_or_are_decided_one_after_the_other() -> None:
    routine = function_of("if a and (b or not c):\n    d")
    texts = {
        number: point.reads[0][0] for number, point in enumerate(routine.points) if point.reads
    }
    ways = {
        (texts[e.source], texts.get(e.target, "out"), e.kind)
        for e in routine.edges
        if e.source in texts
    }
    assert ways >= {
        ("a", "b", EdgeKind.TRUE), ("a", "out", EdgeKind.FALSE), ("b", "d", EdgeKind.TRUE), ("b", "c", EdgeKind.FALSE),
        ("c", "out", EdgeKind.TRUE), ("c", "d", EdgeKind.FALSE),
    }  # fmt: skip


def test_a_step_that_may_raise_leads_to_the_handlers_without_ending_its_block() -> None:
    routine = function_of("try:\n    a()\n    b()\nexcept A:\n    c")
    blocks = basic_blocks(routine)
    lines = [{line_of(routine, point) for point in block.points} for block in blocks]
    calling = lines.index({1, 2, 3})
    handler = next(number for number, found in enumerate(lines) if 4 in found)
    assert blocks[calling].raises == (handler,)


def test_what_is_never_reached_is_said() -> None:
    routine = function_of("return 1\na = 2")
    unreached = [block for block in basic_blocks(routine) if not block.reachable]
    assert [line_of(routine, block.points[0]) for block in unreached] == [2]


def test_every_point_is_in_one_block_and_every_exit_leads_to_a_block() -> None:
    for text, _ in CASES.values():
        routine = function_of(text)
        blocks = basic_blocks(routine)
        assert sorted(point for block in blocks for point in block.points) == list(
            range(len(routine.points))
        )
        assert all(0 <= target < len(blocks) for block in blocks for target, _ in block.exits)


def test_broken_source_is_read_as_far_as_it_can_be() -> None:
    for text in (
        "def f(:\n  if",
        "while",
        "try:\n except",
        "match x:\n case",
        "def f():\n\treturn (",
        "\x00",
        "else:",
    ):
        assert read_routines(text.encode(), PYTHON).routines


def test_a_file_of_comments_alone_has_no_statements() -> None:
    (module,) = read_routines(b"# nothing here\n", PYTHON).routines
    assert [statement.kind for statement in module.statements] == ["entry"]


def function_of(text: str) -> Routine:
    """The routine of a function with that body; its lines count from the first of the body."""
    body = "".join(f"    {line}\n" for line in text.split("\n"))
    return read_routines(f"def subject():\n{body}".encode(), PYTHON).routines[1]


def line_of(routine: Routine, point: int) -> int:
    """The line of a point in the text that the case gives, 0 for entry and exit."""
    return (
        0
        if point in (ENTRY, EXIT)
        else routine.statements[routine.points[point].statement].line - 1
    )


def ways(routine: Routine) -> set[tuple[int, int]]:
    """From which line control goes to which other, apart from exceptions that anything may raise."""
    return {(max(0, source - 1), max(0, target - 1)) for source, target in line_edges(routine)}


def reachable(routine: Routine) -> set[int]:
    """The lines that control may reach."""
    seen, pending = {ENTRY}, [ENTRY]
    while pending:
        point = pending.pop()
        for edge in routine.edges:
            if edge.source == point and edge.kind is not EdgeKind.NEVER and edge.target not in seen:
                seen.add(edge.target)
                pending.append(edge.target)
    return {line_of(routine, point) for point in seen}
