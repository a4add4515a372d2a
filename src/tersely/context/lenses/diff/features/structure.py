"""Evidence from structure: shared names, places, and what tests are named after."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Sequence

from tersely.code.places import file_name_of, is_test
from tersely.code.search.words import pieces_of
from tersely.foundation.types import Strings, Sums

STRUCTURE_FIELDS = (
    "file_share", "folder_share", "tested", "same_stem", "body_named", "meaning", "meaning_rank",
)  # fmt: skip
TEST_WORDS = frozenset({"test", "tests", "spec", "specs", "testing"})


def stem_of(path: str) -> Strings:
    """The words of a file's name without its endings and without those that mark a test."""
    name = file_name_of(path).partition(".")[0]
    return tuple(word for word in pieces_of(name) if word not in TEST_WORDS)


def files_tested(changed: Collection[str], paths: Iterable[str]) -> set[str]:
    """The files that changed test files are named after."""
    stems = {stem_of(path) for path in changed if is_test(path)} - {()}
    return (
        {path for path in paths if stem_of(path) in stems and not is_test(path)} if stems else set()
    )


def shares(keys: Sequence[str]) -> Sums:
    """The share of each key in all."""
    counts = Counter(keys)
    return {key: times / len(keys) for key, times in counts.items()}
