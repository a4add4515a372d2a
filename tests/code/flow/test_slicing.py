"""Slices of small programs, line by line, and what their lines stand for."""

from __future__ import annotations

import pytest

from tersely.code.flow.effects import with_effects
from tersely.code.flow.lines import lines_of_all, nearest_statements, routine_at
from tersely.code.flow.reaching import MAX_NAMES_APART
from tersely.code.flow.slicing import Direction, has_variable, names_of, slice_of
from tersely.code.languages.python import PYTHON
from tersely.code.syntax.cfg.read import read_routines

RECURSIVE = """\
def walk(n, kept):
    if n == 0:
        return kept
    step = n * 2
    other = 5
    return walk(n - 1, kept + step)
"""
METHOD = """\
class Tree:
    def size(self, node):
        total = 1
        for child in node.children:
            unused = 3
            total += self.size(child)
        return total
"""
MUTUAL = """\
def f(n, kept):
    if n == 0:
        return kept
    step = n * 2
    other = 5
    return g(n, step)


def g(n, kept):
    more = kept + n
    return f(n - 1, more)
"""
METHODS = """\
class Tree:
    def size(self, node):
        total = 1
        for child in node.children:
            total += self.sum([child])
        return total

    def sum(self, nodes):
        unused = 3
        return sum(self.size(node) for node in nodes)
"""
NESTED = """\
def f(x):
    y = 1
    z = 2
    def g():
        return y
    return g() + z
"""
CASES = {
    "what is not read is left out": ("a = 1\nb = 2\nc = a\nprint(c)", 4, [1, 3, 4]),
    "a loop": ("s = 0\nt = 0\nfor i in range(9):\n    s += i\n    t += i\nprint(s)", 6, [1, 3, 4, 6]),
    "a condition": ("a = 1\nif b:\n    a = 2\n    c = 3\nprint(a)", 5, [1, 2, 3, 5]),
    "an early return decides": ("def f(a):\n    if a:\n        return 1\n    b = 2\n    return b", 5, [1, 2, 3, 4, 5]),
    "changed in place": ("xs = []\nys = []\nxs.append(1)\nys.append(2)\nprint(xs)", 5, [1, 3, 5]),
    "through another name": ("xs = []\nys = xs\nys.append(1)\nprint(xs)", 4, [1, 2, 3, 4]),
    "a part of an object": ("self.a = 1\nself.b = 2\nprint(self.a)", 3, [1, 3]),
    "a key of a mapping": ("d = {}\nd['a'] = 1\nd['b'] = 2\nprint(d['a'])", 4, [1, 2, 4]),
    "a function that changes its argument": (
        "def zap(x):\n    x[1] = 2\ndef look(x):\n    return x[0]\na = [1, 2]\nzap(a)\nlook(a)\nprint(a)",
        8,
        [1, 2, 5, 6, 8],
    ),
    "a function that is called": ("k = 1\nj = 2\ndef f():\n    return k\nprint(f())", 5, [1, 3, 4, 5]),
    "imports": ("import os\nimport sys\nprint(os.name)", 3, [1, 3]),
    "a comprehension has names of its own": ("i = 1\nxs = [i for i in range(3)]\nprint(xs)", 3, [2, 3]),
    "an exception that is caught": (
        "a = 1\ntry:\n    b = f()\nexcept E as e:\n    a = 2\nprint(a)", 6, [1, 2, 3, 4, 5, 6],
    ),
    "what it gives itself when it calls itself": (RECURSIVE, 3, [1, 2, 3, 4, 6]),
    "what its own call gives": (METHOD, 7, [2, 3, 4, 6, 7]),
    "what it is given through another function": (MUTUAL, 3, [1, 2, 3, 4, 6]),
    "what another function gives that calls it": (METHODS, 4, [2, 3, 4, 5, 6]),
    "not a method by a bare name": (
        "class A:\n    def f(self, a):\n        b = a\n        c = 1\n        f(self, c)",
        3,
        [2, 3],
    ),
    "declared to be of the module": ("def f():\n    global a\n    b = 1\n    a = 2\n    return a", 5, [1, 2, 4, 5]),
    "what cases compare": ("a = f()\nb = g()\nmatch a:\n    case [x]:\n        print(x)", 5, [1, 3, 4, 5]),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_a_backward_slice_has_just_these_lines(name: str) -> None:
    text, line, expected = CASES[name]
    assert sliced(text, line) == expected


FORWARD = {
    "what reads it": ("a = 1\nb = 2\nc = a\nprint(b)\nprint(c)", 1, [1, 3, 5]),
    "what it decides": ("a = f()\nif a:\n    b = 1\nc = 2", 1, [1, 2, 3]),
    "until it is replaced": ("a = 1\nb = a\na = 2\nc = a", 1, [1, 2]),
    "what its own call is given": (RECURSIVE, 4, [2, 3, 4, 5, 6]),
    "what it gives another function that calls it": (MUTUAL, 4, [2, 3, 4, 5, 6]),
    "a function inside that reads it": (NESTED, 2, [2, 4, 5, 6]),
    "no function inside that reads something else": (NESTED, 3, [3, 6]),
    "the parameters": ("def f(a, b):\n    c = a\n    d = 1\n    return c", 1, [1, 2, 3, 4]),
}


@pytest.mark.parametrize("name", FORWARD)
def test_a_forward_slice_has_just_these_lines(name: str) -> None:
    text, line, expected = FORWARD[name]
    assert sliced(text, line, Direction.FORWARD) == expected


VARIABLES = {
    "the value before the line": ("a = 1\nb = 2\nc = f(a, b)", 3, "a", Direction.BACKWARD, [1, 3]),
    "the value that the line gives": (
        "a = 1\nb = 2\nc = a\nd = b",
        3,
        "c",
        Direction.BACKWARD,
        [1, 3],
    ),
    "where the value goes": ("a = b = 1\nc = a\nd = b", 1, "b", Direction.FORWARD, [1, 3]),
    "of a part": ("self.a = 1\nself.b = 2\nf(self)", 3, "self.b", Direction.BACKWARD, [2, 3]),
}


@pytest.mark.parametrize("name", VARIABLES)
def test_a_variable_narrows_a_slice(name: str) -> None:
    text, line, variable, direction, expected = VARIABLES[name]
    assert sliced(text, line, direction, variable) == expected


STATEMENT = """\
@decorated
def f(
    a,
):
    '''What it
    does.'''
    # about b
    b = g(
        a,
    )

    return b
"""


@pytest.mark.parametrize(
    ("line", "first"), [(1, 1), (3, 1), (5, 8), (7, 8), (9, 8), (11, 12), (12, 12)]
)
def test_every_line_stands_for_a_statement(line: int, first: int) -> None:
    routines = read_routines(STATEMENT.encode(), PYTHON)
    routine = routines.routines[routine_at(routines, line)]
    assert routine.name == "f"
    assert [routine.statements[at].line for at in nearest_statements(routine, line)] == [first]


def test_of_very_many_names_for_one_object_each_sees_what_is_changed_through_another() -> None:
    names = [f"y{number}" for number in range(2 * MAX_NAMES_APART)]
    text = (
        "xs = []\nz = 1\n"
        + "".join(f"{name} = xs\n" for name in names)
        + "y7.append(1)\nz = 2\nprint(y9)"
    )
    lines = text.split("\n")
    found = [lines[line - 1] for line in sliced(text, len(lines))]
    assert found[0] == "xs = []"
    assert found[-2:] == ["y7.append(1)", "print(y9)"]
    assert not any(line.startswith("z") for line in found)
    assert found == [lines[line - 1] for line in sliced(text, len(lines), variable="y9")]


def test_a_line_inside_a_callback_is_of_the_callback() -> None:
    text = "run(\n    lambda a: [\n        a,\n    ],\n)\n"
    routines = read_routines(text.encode(), PYTHON)
    assert routines.routines[routine_at(routines, 1)].name == ""


def test_variables_are_known_by_their_names() -> None:
    routine = read_routines(b"def f(a):\n    self.b = a\n    return c\n", PYTHON).routines[1]
    assert names_of(routine) == ["a", "c", "self"]
    assert has_variable(routine, "self.b")
    assert not has_variable(routine, "d")


def sliced(
    text: str, line: int, direction: Direction = Direction.BACKWARD, variable: str = ""
) -> list[int]:
    """The lines of a slice; of functions that the slice needs whole, all lines."""
    routines = with_effects(read_routines(text.encode(), PYTHON))
    routine = routines.routines[routine_at(routines, line)]
    statements = slice_of(routine, nearest_statements(routine, line), direction, variable)
    return lines_of_all(routine, statements)
