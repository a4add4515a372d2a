"""Reading source files, and the reasons for which files are left out."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Callable
from enum import StrEnum
from functools import cache
from typing import NamedTuple

from laconic.foundation.limits import MAX_FILE_BYTES


class Reason(StrEnum):
    """Why a file, or all below a directory, is not in the index."""

    TOO_LARGE = "too_large"
    BINARY = "binary"
    NOT_UTF8 = "not_utf8"
    MINIFIED = "minified"
    GENERATED = "generated"
    UNREADABLE = "unreadable"
    NOT_A_FILE = "not_a_file"  # a pipe, a socket, a device
    SYMLINK = "symlink"  # what it points to is indexed under its own name, if it lies inside
    SYMLINK_OUTSIDE = "symlink_outside"
    SYMLINK_LOOP = "symlink_loop"
    SYMLINK_BROKEN = "symlink_broken"
    NAME_NOT_UTF8 = "name_not_utf8"
    SKIPPED_DIRECTORY = "skipped_directory"  # of a tool, of dependencies, or the output of a build
    OTHER_REPOSITORY = "other_repository"  # a clone or worktree inside this one that is not its submodule
    SUBMODULE_MISSING = "submodule_missing"  # not checked out
    MISSING_GRAMMAR = "missing_grammar"
    EXTRACTION_FAILED = "extraction_failed"  # a defect in Laconic or in a grammar
    UNKNOWN_LANGUAGE = "unknown_language"  # an executable that is no script of ours; not worth a report


class Skipped(NamedTuple):
    """A file, or a directory with all below it, that is not read."""

    path: str
    reason: Reason


def read_file(path: str) -> bytes:
    """The content of a regular file of at most `MAX_FILE_BYTES`; anything else is an `OSError`.

    The last part of the path is never followed if it is a link, and opening a pipe does not wait for a writer.
    """
    descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode):
            raise OSError(errno.EINVAL, "not a regular file", path)
        content = b""
        while len(content) <= MAX_FILE_BYTES >= status.st_size:
            part = os.read(descriptor, max(status.st_size - len(content), 0) + 1)
            if not part:
                return content
            content += part
    finally:
        os.close(descriptor)
    raise OSError(errno.EFBIG, "file too large", path)


def read_below(root: str, path: str) -> bytes:
    """The same for a path from an absolute root without links in it, none of whose directories may be a link either.

    A repository is not trusted to say what else is read: with `..` in its settings, or a link put in place of a
    directory that was looked at, it could.
    """
    return reader_below(root)(path)


def reader_below(root: str) -> Callable[[str], bytes]:
    """`read_below` for many files at once: each directory is looked at when its first file is read, not again."""
    is_real = cache(lambda directory: os.path.realpath(directory) == directory)

    def read(path: str) -> bytes:
        place = os.path.normpath(f"{root}/{path}")
        if not place.startswith(f"{root.rstrip('/')}/") or not is_real(os.path.dirname(place)):
            raise OSError(errno.ELOOP, "it leads out of its directory", path)
        return read_file(place)

    return read


def reason_of(error: OSError) -> Reason:
    """What `read_file` met."""
    return {errno.EFBIG: Reason.TOO_LARGE, errno.EINVAL: Reason.NOT_A_FILE, errno.ENXIO: Reason.NOT_A_FILE}.get(
        error.errno or 0, Reason.UNREADABLE
    )
