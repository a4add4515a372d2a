"""The names of one test: reports of coverage and of failures write them differently.

`tests/test_a.py::TestB::test_c[1]`, `tests.test_a.TestB.test_c[1]` and `test_a.TestB.test_c` are
one.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable
from typing import NamedTuple

from tersely.code.expressions import last_part
from tersely.foundation.types import Strings

_EXTENSION = re.compile(r"\.\w{1,5}(?=::| > )")
_SEPARATORS = re.compile(r"::| > | › |[/\\#]")
# test_c (test_a.TestB) or with the name again
_WITH_CLASS = re.compile(r"^(?P<name>\w+) \((?P<holder>[\w.]+)\)$")


class SpelledName(NamedTuple):
    """The parts of a name from the outside in, and the arguments of a parametrised test."""

    parts: Strings
    given: str = ""


def name_of(written: str) -> SpelledName:
    """The name that is written."""
    with_class = _WITH_CLASS.match(written)
    if with_class is not None:
        holder, name = with_class["holder"], with_class["name"]
        written = holder if last_part(holder) == name else f"{holder}.{name}"
    base, bracket, given = written.partition("[")
    dotted = _SEPARATORS.sub(".", _EXTENSION.sub("", base))
    return SpelledName(tuple(part for part in dotted.split(".") if part), bracket + given)


class KnownTests:
    """The tests in a report of coverage, looked up by other spellings."""

    def __init__(self, tests: Iterable[str]) -> None:
        self._by_own_name: dict[str, list[tuple[SpelledName, str]]] = defaultdict(list)
        for test in sorted(tests):
            name = name_of(test)
            if name.parts:
                self._by_own_name[name.parts[-1]].append((name, test))

    def matching_tests(self, written: str) -> list[str]:
        """The tests with a name: several only where the report has more, or fewer, parameters than
        the name.
        """
        wanted = name_of(written)
        if not wanted.parts:
            return []
        near = self._by_own_name.get(wanted.parts[-1], [])
        exact = [test for name, test in near if name == wanted]
        if exact:
            return exact
        ends = [
            (name, test) for name, test in near if _one_ends_the_other(name.parts, wanted.parts)
        ]
        if len({name.parts for name, _ in ends}) != 1:
            return []
        alike = [test for name, test in ends if name.given == wanted.given]
        return alike or [test for name, test in ends if not (name.given and wanted.given)]


def _one_ends_the_other(left: Strings, right: Strings) -> bool:
    size = min(len(left), len(right))
    return left[-size:] == right[-size:]


def ways_in(written: str) -> list[Strings]:
    """The parts of a name, then those of its enclosing names, the innermost first.

    A subtest has no definition of its own: the test around it has.
    """
    parts = name_of(written).parts
    return [parts[:size] for size in range(len(parts), 0, -1)]


def is_defined_as(parts: Strings, path: str, qualname: str) -> bool:
    """True if the parts of a test's name may name a definition."""
    return _one_ends_the_other(name_of(f"{path}::{qualname}").parts, parts)
