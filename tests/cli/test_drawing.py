"""Answers about calls, and maps, as drawings."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET

import pytest
from hypothesis import given
from hypothesis import strategies as some
from tests.cli.asking import Ask

from tersely.capabilities.answers.paging import Page
from tersely.capabilities.graph.calls import Call, Calls
from tersely.capabilities.packs.map import Entry, Map
from tersely.cli.options import MAX_DRAWN_NODES, DrawingForm
from tersely.cli.printing.drawing import drawn
from tersely.code.symbols import Grade, Kind

DRAWINGS = [["impact", "format_cents"], ["calls", "checkout"], ["calls"], ["map"]]
NAMES = some.text(
    some.characters(exclude_categories=("Cs", "Cc")) | some.sampled_from("<>\"'&\\${}[]\n\u202e"),
    min_size=1,
    max_size=12,
)
PLACES = some.builds("{}.py:{}".format, NAMES, NAMES)


@pytest.mark.parametrize("words", DRAWINGS, ids=" ".join)
def test_an_answer_is_drawn_in_each_form(ask: Ask, words: list[str]) -> None:
    nodes, links = numbers_of(ask(*words, "--format", "mermaid").out)
    assert nodes
    assert links
    for form in ("dot", "html"):
        assert numbers_of(ask(*words, "--format", form).out) == (nodes, links)


def test_a_line_leads_from_the_caller(ask: Ask) -> None:
    text = ask("calls", "--callees", "checkout", "--format", "dot").out
    names = dict(re.findall(r'^  (n\d+) \[label="(.*?)"', text, re.MULTILINE))
    links = re.findall(r"^  (n\d+) -> (n\d+)", text, re.MULTILINE)
    assert {names[start] for start, _ in links} == {"checkout"}
    assert "Order.place" in {names[end] for _, end in links}


def test_the_data_of_a_drawing_is_that_of_the_answer(ask: Ask) -> None:
    for words in DRAWINGS:
        assert ask(*words, "--format", "html", "--json").out == ask(*words, "--json").out


def test_another_form_is_refused(ask: Ask) -> None:
    answer = ask("impact", "checkout", "--format", "png")
    assert answer.status == 2
    assert "mermaid, dot, html" in answer.err
    assert ask("stats", "--format", "dot").status == 2


@pytest.mark.parametrize("form", DrawingForm)
@given(pairs=some.lists(some.tuples(PLACES, PLACES), max_size=100), more=some.integers(0, 500))
def test_calls_of_any_names_are_drawn_within_the_bound(
    form: DrawingForm, pairs: list[tuple[str, str]], more: int
) -> None:
    grades = list(Grade)
    calls = [
        Call(start, end, grades[number % 3], "a.py", (1,), 1, ())
        for number, (start, end) in enumerate(pairs)
    ]
    page = Page(tuple(calls), len(calls) + more, 0, 100)
    text = drawn(Calls("", None, 0, 0, 1, None, None, page, 0, False, True), form)
    nodes, links = numbers_of(text)
    assert nodes == min(nodes, MAX_DRAWN_NODES)
    assert links <= len(pairs)
    left_out = page.total - links
    assert (f"{left_out:,} left out" in text) == (left_out > 0)
    if len({one for pair in pairs for one in pair}) <= MAX_DRAWN_NODES:
        assert links == len(pairs)


@given(names=some.lists(NAMES, max_size=100, unique=True))
def test_parts_of_a_map_are_drawn_with_what_they_lie_in(names: list[str]) -> None:
    entries = [Entry("src/", 1.0), Entry("src/a.py", 0.5)]
    entries += [Entry(f"src/a.py:{name}", 0.1) for name in names]
    nodes, links = numbers_of(drawn(Map(0, 0, "", tuple(entries), None), DrawingForm.HTML))
    assert nodes == min(len(entries), MAX_DRAWN_NODES)
    assert links == nodes - 1


def test_a_symbol_is_drawn_that_nothing_calls() -> None:
    nobody = Page((), 0, 0, 100)
    calls = Calls("a.py:f", Kind.FUNCTION, 1, 2, 1, nobody, None, None, 0, False, True)
    assert numbers_of(drawn(calls, DrawingForm.HTML)) == (1, 0)


def numbers_of(text: str) -> tuple[int, int]:
    """How many nodes and lines a drawing has, read as its form is."""
    if text.startswith("---"):
        found = [line for line in text.split("flowchart LR\n")[1].split("\n") if line]
        assert all(re.fullmatch(r'  n\d+(\["[^"]*"\]| (-->|-\.->) n\d+)', one) for one in found)
        nodes = sum('["' in one for one in found)
        return nodes, len(found) - nodes
    if text.startswith("digraph"):
        found = [line for line in text.split("\n") if line.startswith("  n")]
        assert all(
            re.fullmatch(
                r'  n\d+ (\[label="[^"\\]*", tooltip="[^"\\]*"\]|-> n\d+( \[style=dashed\])?);', one
            )
            for one in found
        )
        nodes = sum("label=" in one for one in found)
        return nodes, len(found) - nodes
    svg = ET.fromstring(text[text.index("<svg") : text.index("</svg>") + 6])
    return len(svg.findall("g")), len(svg.findall("line"))
