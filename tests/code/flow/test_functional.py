"""Forms of languages in which everything is an expression and functions are written in clauses."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tersely.code.flow.lines import line_edges
from tersely.code.flow.reaching import data_flows
from tersely.code.languages.elixir import ELIXIR
from tersely.code.routines import Routine
from tersely.code.syntax.control.read import read_routines


def routine_of(body: str, name: str = "f") -> Routine:
    text = body if body.lstrip().startswith("def") else f"def f(a, b) do\n{body}\nend"
    found = read_routines(text.encode(), ELIXIR).routines
    return next(one for one in found if one.name.rpartition(".")[2] == name)


def flows(routine: Routine) -> set[tuple[str, int, int]]:
    """Variable, the line that writes it, the line that reads it."""
    line_of = [routine.statements[point.statement].line for point in routine.points]
    return {
        (flow.path[0].partition("'")[0], line_of[flow.definer], line_of[flow.reader])
        for flow in data_flows(routine)
        if not flow.path[0].startswith("<")
    }


WAYS = {
    "clauses are cases": (
        "def f(0), do: 1\ndef f(n) when n > 1 do\n  n\nend\ndef f(_), do: 3",
        "0-1 1-0 1-2 2-3 2-5 3-0 5-0",
    ),
    "a case that nothing fits leaves": ("case a do\n1 -> b\n2 -> a\nend", "0-2 2-3 3-0 3-4 4-0"),
    "cond": ("cond do\na -> 1\ntrue -> 2\nend\nb", "0-3 3-4 3-6 4-6 6-0"),
    "keywords": ("if a, do: 1, else: 2\nb", "0-2 2-3 3-0"),
    "unless": ("unless a do\n1\nelse\n2\nend", "0-2 2-3 2-5 3-0 5-0"),
    "with, whose else is tried": (
        "with 1 <- a,\n2 <- b do\n1\nelse\n3 -> 4\n_ -> 5\nend",
        "0-2 2-3 2-6 3-4 3-6 4-0 6-0 6-7 7-0",
    ),
    "with without else": ("with 1 <- a do\nb\nend\na", "0-2 2-3 2-5 3-5 5-0"),
    "rescue of a function": ("g(a)\nrescue\ne -> e\nafter\nb", "0-1 1-2 2-6 3-4 4-6 6-0"),
    "receive": ("receive do\n1 -> a\nafter\nb -> 2\nend", "0-3 3-0 3-4 4-5 5-0"),
    "for": ("for c <- a,\nc > 1 do\nb\nend\nb", "0-2 2-4 2-6 4-2 6-0"),
}


@pytest.mark.parametrize("name", WAYS)
def test_control_goes_where_the_language_says(name: str) -> None:
    text, expected = WAYS[name]
    assert " ".join(f"{one}-{other}" for one, other in sorted(line_edges(routine_of(text)))) == " ".join(
        sorted(expected.split(), key=lambda way: tuple(map(int, way.split("-"))))
    )


def test_names_are_bound_anew_in_the_block_that_is_read() -> None:
    body = "c = a\nif b do\nc = c + 1\nc\nend\nc"
    assert flows(routine_of(body)) >= {("c", 2, 4), ("c", 4, 5), ("c", 2, 7)}
    assert ("c", 4, 7) not in flows(routine_of(body))


def test_a_pin_reads_what_a_name_would_write() -> None:
    found = flows(routine_of("c = 1\ncase a do\n^c -> 2\nc -> c\nend\nc"))
    assert {("c", 2, 4), ("c", 2, 7), ("c", 5, 5)} <= found


def test_a_pipe_into_a_case_hands_its_value_over() -> None:
    routine = routine_of("a\n|> g()\n|> case do\n{:ok, c} -> c\n_ -> b\nend")
    readers = {flow.reader for flow in data_flows(routine) if flow.path[0].endswith("matched>")}
    assert len(readers) == 2


def test_sizes_are_read_and_types_are_not() -> None:
    routine = routine_of("<<c, d::binary-size(b), rest::binary>> = a\n{c, d, rest}")
    assert {("b", 1, 2), ("a", 1, 2), ("c", 2, 3), ("d", 2, 3), ("rest", 2, 3)} <= flows(routine)
    assert routine.free == ()


def test_functions_are_no_variables() -> None:
    routine = routine_of("count = count(a)\nEnum.map(b, &count/1)\n&(&1 + count)")
    assert ("count", 2, 3) not in flows(routine)
    assert ("count", 2, 4) in flows(routine)


def test_nothing_is_changed_in_place() -> None:
    routine = routine_of("Map.put(a, 1, 2)\nb.run(a)\na")
    assert not any(point.changes for point in routine.points)


def test_a_head_without_a_body_begins_the_function() -> None:
    routine = routine_of(
        "defmodule M do\ndef f(a, b \\\\ 1)\n\n@doc false\ndef f(1, _), do: 2\ndef f(a, b), do: a + b\nend"
    )
    assert (routine.line, routine.end_line, routine.complexity) == (2, 6, 2)


def test_a_macro_runs_the_block_that_it_is_given() -> None:
    text = 'defmodule T do\ntest "it", %{conn: conn} do\nuser = get(conn)\nassert user\nend\nend'
    module = next(one for one in read_routines(text.encode(), ELIXIR).routines if one.kind == "class")
    assert {("conn", 2, 3), ("user", 3, 4)} <= flows(module)


def test_a_language_without_a_table_promises_nothing() -> None:
    assert read_routines(b"def f do\n1\nend", replace(ELIXIR, control=None)).level == "none"
