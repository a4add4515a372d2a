"""What could matter to an answer about a name and was not read, or not understood."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator
from contextlib import suppress
from itertools import islice
from typing import TYPE_CHECKING

from tersely.code.index.content import Reason, read_below
from tersely.code.languages.registry import family_of, language_of_path

if TYPE_CHECKING:
    from tersely.code.index.store import Store

MAX_SEARCHED_FILES = 100  # files that are not read, or not understood, in which a name is looked for
SOURCE_REASONS = frozenset({
    Reason.TOO_LARGE, Reason.UNREADABLE, Reason.MISSING_GRAMMAR, Reason.EXTRACTION_FAILED, Reason.NOT_UTF8,
    Reason.MINIFIED, Reason.GENERATED,
})  # fmt: skip  # why a file is left out that may be source all the same


def unread(root: str, store: Store, name: str, language: str, using: Collection[str]) -> list[str]:
    """The files that may use a name without the index knowing it, each with the reason.

    These are files of languages that see the definition, left out though they may be source, and those with syntax that
    no grammar understands. `using` are those that are known to use it. A file that can be read all the same
    is named only if its text has the name; the last may say how many were not looked into.
    """
    writes = re.compile(rb"(?<![\w\x80-\xff])" + re.escape(name.encode()) + rb"(?![\w\x80-\xff])").search
    candidates = [(path, why) for path, why in _candidates(store) if _is_kin(path, language) and path not in using]
    found = [f"{path} ({why})" for path, why in candidates[:MAX_SEARCHED_FILES] if _may_use(root, path, writes)]
    beyond = len(candidates) - MAX_SEARCHED_FILES
    return [*found, f"{beyond:,} others that were not looked into"] if beyond > 0 else found


def left_out_texts(root: str, store: Store) -> Iterator[bytes]:
    """The texts of files that were left out though they may be source, as far as they can be read."""
    left_out = (one.path for one in store.skipped() if one.reason in SOURCE_REASONS)
    for path in islice(left_out, MAX_SEARCHED_FILES):
        with suppress(OSError):
            yield read_below(root, path)


def _candidates(store: Store) -> Iterator[tuple[str, str]]:
    for path, reason in store.skipped():
        if reason in SOURCE_REASONS:
            yield path, reason.value.replace("_", " ")
    seen = ""
    for path, problem in store.problems():
        if path != seen:
            yield path, f"not understood from line {problem.line}"
        seen = path


def _is_kin(path: str, language: str) -> bool:
    known = language_of_path(path)
    return known is not None and family_of(known) == family_of(language)


def _may_use(root: str, path: str, writes: Callable[[bytes], object]) -> bool:
    """Whether the text of a file has the name, or cannot be read."""
    try:
        return writes(read_below(root, path)) is not None
    except OSError:
        return True
