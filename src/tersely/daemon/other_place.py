"""Being found by clients of llm-tldr, which look for a socket named after the project's path among temporary files."""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Iterator
from hashlib import md5

_NAME_CHARACTERS = 8


def other_place(root: str) -> str:
    """Where such a client looks for the daemon of a resolved root."""
    name = md5(root.encode("utf-8", "surrogateescape"), usedforsecurity=False).hexdigest()[:_NAME_CHARACTERS]
    return f"{tempfile.gettempdir()}/tldr-{name}.sock"


@contextlib.contextmanager
def linked(root: str, socket: str) -> Iterator[None]:
    """For as long as the block runs, a link there to our socket, unless somebody else is there already."""
    place = other_place(root)
    with contextlib.suppress(OSError):
        if _is_ours(place, socket):
            os.unlink(place)  # left by a daemon that was killed
        os.symlink(socket, place)
    try:
        yield
    finally:
        with contextlib.suppress(OSError):
            if _is_ours(place, socket):
                os.unlink(place)


def _is_ours(place: str, socket: str) -> bool:
    return os.path.islink(place) and os.readlink(place) == socket
