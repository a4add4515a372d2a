"""Evidence from structure: imports, class hierarchies, shared names, places, and what tests are
named after.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Sequence

from tersely.code.places import file_name_of, is_test
from tersely.code.search.words import pieces_of
from tersely.code.symbols import CLASS_KINDS, Symbol
from tersely.context.lenses.diff.features.words import NAME
from tersely.foundation.types import Strings, Sums, Weights

STRUCTURE_FIELDS = (
    "imported", "importing", "file_share", "folder_share", "tested", "same_stem", "namesake", "kin", "kin_namesake",
    "body_named", "meaning", "meaning_rank",
)  # fmt: skip
MAX_SHARED_BASE_TYPES = 12  # that name a base, above which two of them are not related by it
DIRECT_KIN, SHARED_BASE_KIN = 1.0, 0.5
TEST_WORDS = frozenset({"test", "tests", "spec", "specs", "testing"})


def type_name(symbol: Symbol) -> str:
    """The name of a type, or of the type that a member belongs to; "" for what is outside of all
    types.
    """
    path = symbol.qualname if symbol.kind in CLASS_KINDS else symbol.qualname.rpartition(".")[0]
    found = NAME.search(path.rpartition(".")[2])
    return found[0] if found else ""


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


def kinship(headers: Iterable[tuple[str, str]], concerned: Collection[str]) -> Weights:
    """By name of a type how near it is to those that a change concerns, by the names in headers of types."""
    bases: dict[str, set[str]] = defaultdict(set)
    for name, header in headers:
        bases[name].update(NAME.findall(header))
    for name, named in bases.items():
        named.discard(name)
    users = Counter(
        base for named in bases.values() for base in named if base in bases or base[:1].isupper()
    )
    of_concerned = set[str]().union(*(bases.get(name, set()) for name in concerned))
    shared = {base for base in of_concerned if 1 < users[base] <= MAX_SHARED_BASE_TYPES}
    nearness: Sums = {}
    for name, named in bases.items():
        if name in concerned:
            continue
        if name in of_concerned or not named.isdisjoint(concerned):
            nearness[name] = DIRECT_KIN
        elif not named.isdisjoint(shared):
            nearness[name] = SHARED_BASE_KIN
    return nearness


def shares(keys: Sequence[str]) -> Sums:
    """The share of each key in all."""
    counts = Counter(keys)
    return {key: times / len(keys) for key, times in counts.items()}
