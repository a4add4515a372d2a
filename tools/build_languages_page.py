"""Write the table of docs/languages.md: which files are whose, and what commands answer about them.

    python tools/build_languages_page.py

The rows are the languages of `code/languages/registry.py`; what stands in them follows from the value
of each. A test compares the page with them, in an environment that has all grammars.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from tersely.code.languages.model import Language
from tersely.code.languages.registry import BY_QUERIES, BY_RULES, DOCUMENTS, LANGUAGES, Known
from tersely.code.languages.runners.conventions import CONVENTIONS

PAGE = Path(__file__).parents[1] / "docs" / "languages.md"
START, END = "<!-- made by python tools/build_languages_page.py -->\n", "<!-- end -->\n"
_COLUMNS = (
    *("language", "files", "`structure` `search` `map` `context` `packet`", "`symbol definition`"),
    "`calls` `symbol callers` `symbol callees` `impact` `change-impact`",
    *("`slice` `cfg` `dfg` `complexity`", "tests are run by"),
)
_NONE = "no"


def table() -> str:
    """The table, a line a language, those with control flow first."""
    known = BY_RULES | BY_QUERIES | DOCUMENTS
    rows = sorted(known, key=lambda name: (known[name].is_document, known[name].by_queries, name))
    cells = [_COLUMNS, ["---"] * len(_COLUMNS), *(_cells(name, known[name]) for name in rows)]
    return "".join(f"| {' | '.join(row)} |\n" for row in cells)


def _cells(name: str, known: Known) -> Iterator[str]:
    language = LANGUAGES[name]
    yield name
    yield " ".join(f"`{one}`" for one in known.suffixes)
    if known.is_document:
        yield from ("of a path: `structure`, `search --in`, `context`", *[_NONE] * 4)
        return
    yield "yes"
    yield "definitions, imports" if language.resolution.by_name else "every name"
    yield _grades(language)
    yield "yes" if language.control else _NONE
    yield _runners(name)


def _grades(language: Language) -> str:
    if language.resolution.by_name:
        return "by name"
    return "exact, inferred, by name"


def _runners(name: str) -> str:
    conventions = CONVENTIONS.get(name)
    programs = (
        dict.fromkeys(filter(None, (one.everything for one in conventions.runners)))
        if conventions
        else ()
    )
    return ", ".join(f"`{one}`" for one in programs) or _NONE


def page(text: str) -> str:
    """The page with its table written anew."""
    before, _, rest = text.partition(START)
    return f"{before}{START}{table()}{END}{rest.partition(END)[2]}"


if __name__ == "__main__":
    PAGE.write_text(page(PAGE.read_text("utf-8")), "utf-8")
