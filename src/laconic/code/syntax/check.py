"""Whether a change breaks the syntax of a file: what the grammar does not understand after it and did before."""

from __future__ import annotations

from laconic.code.languages.registry import LANGUAGES, language_of_path
from laconic.code.symbols import Problem
from laconic.code.syntax.extract import parse, syntax_problems
from laconic.foundation.errors import LaconicError


def broken_by(path: str, before: bytes, after: bytes) -> list[Problem]:
    """The problems of `after` if it has more of them than `before`; none for what no grammar is known for.

    A grammar may not know all that a compiler accepts, so a file that it does not understand today may stay as it is.
    """
    language = language_of_path(path)
    if language is None:
        return []
    try:
        found = [_problems(source, language) for source in (before, after)]
    except (ImportError, LaconicError):  # a grammar that is not installed checks nothing
        return []
    is_worse = len(found[1]) > len(found[0])
    return found[1] if is_worse else []


def _problems(source: bytes, language: str) -> list[Problem]:
    return syntax_problems(parse(source, LANGUAGES[language]).root_node)
