"""The syntax check of a change: the errors that the grammar finds after it and did not find before."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from tersely.code.languages.registry import LANGUAGES, language_of_path
from tersely.code.symbols import Problem
from tersely.code.syntax.extract import parse, syntax_problems
from tersely.foundation.errors import TerselyError


def introduced_problems(path: str, before: bytes, after: bytes) -> list[Problem]:
    """The problems that `after` has and `before` had not, if it has more; none for a file without a
    grammar.

    A grammar may not know all that a compiler accepts, so a file that it does not understand today
    may stay as it is.
    """
    language = language_of_path(path)
    if language is None:
        return []
    try:
        found = [_problems(source, language) for source in (before, after)]
    except (ImportError, TerselyError):  # a grammar that is not installed checks nothing
        return []
    if len(found[1]) <= len(found[0]):
        return []
    known = Counter(_with_line_texts(before, found[0]))
    problems = []
    for problem, pair in zip(found[1], _with_line_texts(after, found[1]), strict=True):
        if known[pair] > 0:
            known[pair] -= 1
        else:
            problems.append(problem)
    return problems


def _with_line_texts(source: bytes, problems: Sequence[Problem]) -> list[tuple[str, bytes]]:
    """Problems as (message, text of the line): an edit above moves the numbers of lines."""
    lines = source.split(b"\n")
    return [
        (one.message, lines[one.line - 1].strip() if one.line <= len(lines) else b"")
        for one in problems
    ]


def _problems(source: bytes, language: str) -> list[Problem]:
    return syntax_problems(parse(source, LANGUAGES[language]).root_node)
