"""What can be included beside what was asked about."""

from __future__ import annotations

import pytest
from tests.context.planted import plant

from tersely.context.pack.include import Include, extracts_of, parse_include
from tersely.context.pack.model import Extract
from tersely.foundation.errors import TerselyError


@pytest.mark.parametrize(
    ("text", "include"),
    [
        ("src/a.py", Include("src/a.py")),
        ("src/a.py:10-20", Include("src/a.py", 10, 20)),
        ("src/a.py:7", Include("src/a.py", 7, 7)),
        ("C:/a.py", Include("C:/a.py")),
        ("odd:name.py:1-2", Include("odd:name.py", 1, 2)),
    ],
)
def test_a_path_may_end_in_lines(text: str, include: Include) -> None:
    assert parse_include(text) == include


@pytest.mark.parametrize("text", ["a.py:0-3", "a.py:5-4"])
def test_lines_that_cannot_be_are_refused(text: str) -> None:
    with pytest.raises(TerselyError, match="no range of lines"):
        parse_include(text)


def test_lines_are_taken_as_they_stand() -> None:
    texts = plant({"a.py": "x = 1\r\ny = 2\r\n\r\nz = 3\r\n", "b.py": "q = 1"}).texts()
    assert extracts_of([Include("a.py", 2, 3), Include("b.py"), Include("b.py")], texts) == (
        Extract("a.py", 2, 3, False, "y = 2\n\n"),
        Extract("b.py", 1, 1, True, "q = 1\n"),
    )


def test_an_empty_file_has_no_lines() -> None:
    texts = plant({"a.py": ""}).texts()
    assert extracts_of([Include("a.py")], texts) == (Extract("a.py", 1, 0, True, ""),)


def test_lines_beyond_the_end_are_cut_or_refused() -> None:
    texts = plant({"a.py": "x = 1\ny = 2\n"}).texts()
    assert extracts_of([Include("a.py", 2, 99)], texts)[0].last_line == 2
    with pytest.raises(TerselyError, match="has 2 lines, none from 3"):
        extracts_of([Include("a.py", 3, 4)], texts)
