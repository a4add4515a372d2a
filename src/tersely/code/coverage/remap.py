"""Paths of reports, found in the repository: reports are written in containers, other checkouts,
and subdirectories.

A path is tried with the replacements of `--map`, as it stands, from the directories around the
report, and at last by its end: the file of the repository that shares the longest end with it, if
there is only one. An end of one name alone proves little (there is a `setup.py` everywhere), so it
counts only where other files of the report have been moved the same way.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import NamedTuple

from tersely.code.places import file_name_of, outward
from tersely.foundation.errors import TerselyError
from tersely.foundation.types import Strings

MIN_SHARED_NAMES = 2  # of two paths, neither of which is whole in the other
Move = tuple[str, str]  # the beginning of a path as written, and that in the repository


class _End(NamedTuple):
    path: str
    move: Move
    is_strong: bool


def parse_map(text: str) -> Move:
    """`FROM=TO`; raises `invalid_argument`."""
    start, equals, target = text.partition("=")
    if not equals or not start:
        message = f"{text!r} does not say how paths begin here"
        raise TerselyError(
            "invalid_argument", message, "write --map FROM=TO, as in --map /app=services/api"
        )
    return start.rstrip("/"), target.strip("/")


class ReportPlacement(NamedTuple):
    """The places of the files of a report: paths as written and in the repository; those that are
    not in it.
    """

    found: Mapping[str, str]
    elsewhere: Strings


class ReportPlaces:
    """The files of one repository, looked up by the paths that reports give them."""

    def __init__(
        self, paths: Iterable[str], root: str, maps: Sequence[Move] = (), around: str = ""
    ) -> None:
        """`around` is the directory of the report, from the root."""
        self._paths = frozenset(paths)
        self._root = root.rstrip("/") + "/"
        self._maps = maps
        self._directories = outward(around)
        self._by_name: dict[str, list[str]] = defaultdict(list)
        for path in sorted(self._paths):
            self._by_name[file_name_of(path)].append(path)

    def place(self, written: Collection[str]) -> ReportPlacement:
        """Find all the paths of one report."""
        found: dict[str, str] = {}
        ends: dict[str, _End] = {}
        for path in written:
            direct = self._direct(path)
            if direct is not None:
                found[path] = direct
            elif (end := self._find_by_end(path)) is not None:
                ends[path] = end
        moves = Counter(end.move for end in ends.values() if end.is_strong)
        if not moves and not found:
            moves = Counter(dict(Counter(end.move for end in ends.values()).most_common(1)))
        found.update(
            {path: end.path for path, end in ends.items() if end.is_strong or end.move in moves}
        )
        return ReportPlacement(found, tuple(sorted(set(written) - set(found))))

    def _direct(self, path: str) -> str | None:
        for start, target in self._maps:
            if path == start or path.startswith(f"{start}/"):
                moved = f"{target}{path[len(start) :]}".lstrip("/")
                return moved if moved in self._paths else None
        inside = path.removeprefix(self._root).removeprefix("./")
        tried = (
            f"{directory}/{inside}" if directory else inside for directory in self._directories
        )
        return next((one for one in tried if one in self._paths), None)

    def _find_by_end(self, path: str) -> _End | None:
        names = [name for name in path.split("/") if name not in {"", "."}]
        if not names:
            return None
        shared = {
            one: _shared_end(names, one.split("/")) for one in self._by_name.get(names[-1], ())
        }
        size = max(shared.values(), default=0)
        longest = [one for one, number in shared.items() if number == size]
        if len(longest) != 1:
            return None
        best = longest[0]
        own = best.split("/")
        move = "/".join(names[:-size]), "/".join(own[:-size])
        return _End(
            best,
            move,
            size >= MIN_SHARED_NAMES or (size == len(names) and not path.startswith("/")),
        )


def _shared_end(left: Sequence[str], right: Sequence[str]) -> int:
    size = 0
    for one, other in zip(reversed(left), reversed(right), strict=False):
        if one != other:
            break
        size += 1
    return size
