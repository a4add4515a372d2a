"""The latest subjects of the history and the files that these commits touched, newest first.

Reading them takes git a third of a second in a long history, so they are kept beside the index for
the commit that is checked out.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

from tersely.foundation.git.runner import beginning
from tersely.foundation.storage.files import read_value, write_value
from tersely.foundation.storage.hashing import content_hash
from tersely.foundation.types import Strings

MAX_SUBJECT_COMMITS = 2_000  # whose subjects are compared with a task
KEPT_FILE = "subjects"
_OPTIONS = (
    "--no-merges", "--name-only", "--no-renames", "--no-color", "--no-ext-diff", "--no-show-signature",
    "--submodule=short", "--format=%x01%s", "--relative",
)  # fmt: skip


class Subject(NamedTuple):
    """One commit: the first line of its message, the files it touched, from the root, and the terms
    of that line.
    """

    text: str
    paths: Strings
    terms: frozenset[str]


TermsOf = Callable[[str], Sequence[str]]


def subjects(
    root: Path, terms_of: TermsOf = str.split, kept_in: Path | None = None, identity: str = ""
) -> list[Subject]:
    """The latest commits that led to what is checked out; none where git cannot tell.

    They are kept in the directory `kept_in`, which must be private. `identity` is that of what
    makes terms of a text.
    """
    head = beginning(str(root), ["rev-parse", "--verify", "--quiet", "HEAD"]).strip()
    if not head:
        return []
    key = content_hash(b"\0".join([head, os.fsencode(root), identity.encode()]))
    known = read_value(kept_in / KEPT_FILE) if kept_in is not None else None
    if known is not None and known[0] == key:
        return [Subject(*row) for row in known[1]]
    text = beginning(str(root), ["log", "HEAD", f"--max-count={MAX_SUBJECT_COMMITS}", *_OPTIONS])
    found = [_subject(part, terms_of) for part in os.fsdecode(text).split("\1")[1:]]
    if kept_in is not None:
        write_value(kept_in / KEPT_FILE, (key, [tuple(subject) for subject in found]))
    return found


def _subject(part: str, terms_of: TermsOf) -> Subject:
    first, _, rest = part.partition("\n")
    return Subject(
        first, tuple(path for path in rest.split("\n") if path), frozenset(terms_of(first))
    )
