"""The files that tests are named after."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from tersely.code.places import file_name_of, is_test
from tersely.code.search.words import pieces_of

TEST_WORDS = frozenset({"test", "tests", "spec", "specs", "testing"})


def files_tested(changed: Collection[str], paths: Iterable[str]) -> set[str]:
    """The files that changed test files are named after."""
    stems = {_stem_of(path) for path in changed if is_test(path)} - {()}
    return (
        {path for path in paths if _stem_of(path) in stems and not is_test(path)}
        if stems
        else set()
    )


def _stem_of(path: str) -> tuple[str, ...]:
    """The words of a file's name without its endings and without those that mark a test."""
    name = file_name_of(path).partition(".")[0]
    return tuple(word for word in pieces_of(name) if word not in TEST_WORDS)
