"""The files that could matter to an answer about a name and were not read, or not understood."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from tersely.code.index.content import Reason, read_below, reader_below
from tersely.code.languages.registry import family_in, family_of
from tersely.code.symbols import OUTLINED
from tersely.foundation.text.escape import visible_line

if TYPE_CHECKING:
    from tersely.code.index.storage.store import Store

# files that are not read, or not understood, in which a name is looked for
MAX_SEARCHED_FILES = 400
MAX_SEARCHED_BYTES = 100_000_000  # of all of them
MAX_LISTED_UNREAD = 3  # files that were not read and may matter, named one by one
SOURCE_REASONS = frozenset({
    Reason.TOO_LARGE, Reason.UNREADABLE, Reason.MISSING_GRAMMAR, Reason.EXTRACTION_FAILED, Reason.NOT_UTF8,
    Reason.MINIFIED, Reason.GENERATED, Reason.KIND_NOT_READ,
})  # fmt: skip  # why a file is left out that may be source all the same


def unread(
    root: str, store: Store, names: Collection[str], language: str, using: Collection[str]
) -> list[str]:
    """The files that may use names without the index knowing it, each with the reason.

    These are files of languages that see the definitions of `language` ("": all languages), left
    out though they may be source, and those with syntax that no grammar understands, or of which
    only the definitions were read. `using` are those that are known to use them; of the last kind
    they may do so elsewhere as well. A file that can be read all the same, however large, is named only if
    its text has one of the names; the last may say how many were not looked into.
    """
    candidates = [
        (path, why)
        for path, why in _candidates(store)
        if _is_kin(path, language) and (path not in using or why == OUTLINED)
    ]
    if not candidates:
        return []
    texts = _Texts(root, names)
    found = [
        _named(path, why) for path, why in candidates[:MAX_SEARCHED_FILES] if texts.may_use(path)
    ]
    return [*found, *_beyond(len(candidates))]


def left_out_texts(
    root: str, store: Store, say_unread: Callable[[Iterable[str]], None]
) -> Iterator[bytes]:
    """The texts of files that were left out though they may be source; those that cannot be read
    are said.
    """
    left_out = list(_left_out(store))
    for path, why in left_out[:MAX_SEARCHED_FILES]:
        try:
            yield read_below(root, path)
        except OSError:
            say_unread((_named(path, why),))
    say_unread(_beyond(len(left_out)))


def left_out(store: Store, paths: Iterable[str]) -> list[str]:
    """Those of some files that were left out though they may be source, each with the reason."""
    reasons = {path: store.why_skipped(path) for path in paths}
    return [_named(path, _words(why)) for path, why in reasons.items() if why in SOURCE_REASONS]


def left_out_below(store: Store, path: str) -> list[str]:
    """The files in a directory at any depth, "" for the root, that were left out though they may be
    source, each with the reason.
    """
    inside = f"{path}/" if path else ""
    return [_named(other, why) for other, why in _left_out(store) if other.startswith(inside)]


def not_understood(store: Store, path: str, first: int, last: int) -> list[str]:
    """A file if there is something between two of its lines that no grammar understands, with the
    place.
    """
    lines = [
        problem.line
        for other, problem in store.problems()
        if other == path and first <= problem.line <= last
    ]
    return [_named(path, _from_line(lines[0]))] if lines else []


def unread_text(found: Sequence[str], matter: str) -> str:
    """The sentence about files that were not read, the first few by name; `matter` says what they
    may do.
    """
    return f"not complete: {first_of(found)} {matter}"


def first_of(found: Sequence[str]) -> str:
    """Some files by name if they are few, else the first and how many more there are."""
    if len(found) <= MAX_LISTED_UNREAD:
        return ", ".join(map(visible_line, found))
    return f"{visible_line(found[0])} and {len(found) - 1:,} more"


def _named(path: str, why: str) -> str:
    return f"{path} ({why})"


def _words(reason: Reason) -> str:
    return reason.value.replace("_", " ")


def _from_line(line: int) -> str:
    return f"not understood from line {line}"


def _beyond(candidates: int) -> list[str]:
    """A line with the number of files that were not looked into, if any."""
    beyond = candidates - MAX_SEARCHED_FILES
    return [f"{beyond:,} others that were not looked into"] if beyond > 0 else []


def _left_out(store: Store) -> Iterator[tuple[str, str]]:
    for path, reason in store.skipped():
        if reason in SOURCE_REASONS:
            yield path, _words(reason)


def _candidates(store: Store) -> Iterator[tuple[str, str]]:
    yield from _left_out(store)
    seen = ""
    for path, problem in store.problems():
        if path != seen:
            is_outlined = problem.message == OUTLINED
            yield path, OUTLINED if is_outlined else _from_line(problem.line)
        seen = path


def _is_kin(path: str, language: str) -> bool:
    family = family_in(path)
    return bool(family) and (not language or family_of(language) == family)


class _Texts:
    """The texts below a root in which names are looked for, as many as the bound allows."""

    def __init__(self, root: str, names: Collection[str]) -> None:
        # what stands before a name is looked at behind it: so the search leaps from name to name
        alone = rb"%b(?<![\w\x80-\xff]%b)(?![\w\x80-\xff])"
        escaped = [re.escape(name.encode()) for name in names]
        self._writes = re.compile(b"|".join(alone % (name, name) for name in escaped)).search
        self._read = reader_below(root)
        self._left_bytes = MAX_SEARCHED_BYTES

    def may_use(self, path: str) -> bool:
        """True if the text of a file has one of the names, or cannot be read."""
        try:
            text = self._read(path, self._left_bytes)
        except OSError:
            return True
        self._left_bytes -= len(text)
        return self._writes(text) is not None
