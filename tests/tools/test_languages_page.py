"""The generated table of docs/languages.md."""

from __future__ import annotations

from tools.build_languages_page import PAGE, page, table

from tersely.code.languages.registry import LANGUAGES


def test_the_table_is_that_of_the_registry() -> None:
    text = PAGE.read_text("utf-8")
    assert text == page(text), "python tools/build_languages_page.py writes it anew"


def test_every_language_has_a_row() -> None:
    rows = table().splitlines()[2:]
    assert sorted(row.split()[1] for row in rows) == sorted(LANGUAGES)
    assert any("by name | no" in row for row in rows)
