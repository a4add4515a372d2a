"""Reading source files, and the reasons for which files are left out."""

from __future__ import annotations

import errno
import os
import posixpath
import re
from collections.abc import Callable
from contextlib import suppress
from enum import StrEnum
from typing import NamedTuple, Protocol

from tersely.code.languages.registry import source_in
from tersely.foundation.limits import MAX_FILE_BYTES
from tersely.foundation.storage.private import READING, read_bounded
from tersely.foundation.system import IS_WINDOWS, NO_LINK, UNCHANGED

# To look into a directory is not to list it, which the user may not be allowed to.
_DIRECTORY: int = getattr(os, "O_PATH", os.O_RDONLY) | getattr(os, "O_DIRECTORY", 0)
_DIRECTORY |= NO_LINK | UNCHANGED


# The line, one of the first two, in which a comment names the encoding: PEP 263, and Ruby's.
_CODING = re.compile(rb"(?:[^\n]*\n)?[ \t\f]*#[^\n]*?coding[:=][ \t]*([-\w.]+)")
_WINDOWS_MARKS = frozenset("\\:")  # which lead elsewhere there, and are in no name of a file
_PLAIN = rb"\x41 +AC0-"  # which encodings of source leave as it is


class Reason(StrEnum):
    """The reasons why a file, or all below a directory, is not in the index."""

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
    # a clone or worktree inside this one that is not its submodule
    OTHER_REPOSITORY = "other_repository"
    SUBMODULE_MISSING = "submodule_missing"  # not checked out
    MISSING_GRAMMAR = "missing_grammar"
    EXTRACTION_FAILED = "extraction_failed"  # a defect in Tersely or in a grammar
    KIND_NOT_READ = "kind_not_read"  # it has code in it, but is of a kind that no grammar is for
    POINTER = "pointer"  # to the content that large-file storage keeps elsewhere
    # an executable that is no script of ours; not worth a report
    UNKNOWN_LANGUAGE = "unknown_language"


class Skipped(NamedTuple):
    """A file, or a directory with all below it, that is not read."""

    path: str
    reason: Reason


class Hashed(Protocol):
    """A file as something knows it: where it is from the root, and the hash of what it held."""

    @property
    def path(self) -> str: ...  # noqa: D102
    @property
    def hash(self) -> bytes: ...  # noqa: D102


def name_in_text(path: str) -> str:
    """A path as it can be stored and shown: bytes of it that are no UTF-8 are written out."""
    return path if path.isascii() else os.fsencode(path).decode("utf-8", "backslashreplace")


def read_file(path: str, folder: int | None = None, most_bytes: int = MAX_FILE_BYTES) -> bytes:
    """The content of a regular file of at most so many bytes; anything else is an `OSError`.

    The last part of the path is never followed if it is a link, and opening a pipe does not wait
    for a writer. With the descriptor of a `folder` the path is one from there.
    """
    if IS_WINDOWS and _is_link(path):
        raise OSError(errno.ELOOP, "a link", path)
    return read_bounded(path, most_bytes, READING, folder)


def utf8(source: bytes) -> bytes:
    """The text of a file in UTF-8: of one in another encoding, if a comment at its top names that;
    else as it is.
    """
    said = None if source.isascii() else _CODING.match(source)
    if said is None:
        return source
    try:
        source.decode()
    except UnicodeDecodeError:
        name = said[1].decode()
        with suppress(LookupError, ValueError):
            if _PLAIN.decode(name) == _PLAIN.decode():
                return source.decode(name).encode()
    return source


def read_below(root: str, path: str) -> bytes:
    """The source in a file of at most `MAX_FILE_BYTES`, in UTF-8, for a path from an absolute root
    without links in it, none of whose directories may be a link either.

    A repository is not trusted to say what else is read: with `..` in its settings, or a link put
    in place of a directory that was looked at, it could. So directories are opened one in the
    other, and no link is followed, whenever it was made.
    """
    return source_in(path, utf8(bytes_below(root, path)))


def bytes_below(root: str, path: str) -> bytes:
    """The content of a file for `read_below`, in the encoding that it has."""
    return _bytes_reader(root)(path, MAX_FILE_BYTES)


def text_below(root: str, path: str) -> str:
    """The text of a file as `read_below` reads it; "" where it cannot be read."""
    try:
        return read_below(root, path).decode("utf-8", "replace")
    except OSError:
        return ""


class ReadBelow(Protocol):
    """`read_below` for many files of one root."""

    def __call__(self, path: str, most_bytes: int = MAX_FILE_BYTES, /) -> bytes:
        """The content of a file, an `OSError` where it has more bytes."""


def reader_below(root: str) -> ReadBelow:
    """`read_below` for many files at once: the directory of the last one stays open."""
    read = _bytes_reader(root)
    return lambda path, most_bytes=MAX_FILE_BYTES: source_in(path, utf8(read(path, most_bytes)))


def _bytes_reader(root: str) -> Callable[[str, int], bytes]:
    last: tuple[str, _OpenFolder | _CheckedFolder] | None = None
    opened = _CheckedFolder if IS_WINDOWS else _OpenFolder

    def read(path: str, most_bytes: int) -> bytes:
        nonlocal last
        directory, _, name = posixpath.normpath(path.lstrip("/")).rpartition("/")
        leads_out = f"{directory}/".startswith("../") or name in {"", ".", ".."}
        if leads_out or (IS_WINDOWS and _WINDOWS_MARKS & set(path)):
            raise OSError(errno.ELOOP, "it leads out of its directory", path)
        try:
            if last is None or last[0] != directory:
                last = (directory, opened(root, directory))
            return last[1].read(name, most_bytes)
        except ValueError as error:  # no path of any system: it holds a zero, or half a character
            raise OSError(errno.EINVAL, "not a path", path) from error

    return read


class _OpenFolder:
    """A directory below a root, open for as long as somebody refers to it; `OSError` if a link is
    on the way.
    """

    __slots__ = ("descriptor",)

    def __init__(self, root: str, directory: str) -> None:
        self.descriptor = -1
        self.descriptor = os.open(root, _DIRECTORY)
        for name in directory.split("/") if directory else ():
            inner = os.open(name, _DIRECTORY, dir_fd=self.descriptor)
            os.close(self.descriptor)
            self.descriptor = inner

    def read(self, name: str, most_bytes: int) -> bytes:
        return read_file(name, self.descriptor, most_bytes)

    def __del__(self) -> None:
        if self.descriptor >= 0:
            os.close(self.descriptor)


class _CheckedFolder:
    """The same where the system opens nothing from a directory: a link that is put in place of one
    after it was looked at is followed.
    """

    __slots__ = ("_path",)

    def __init__(self, root: str, directory: str) -> None:
        self._path = root
        for name in directory.split("/") if directory else ():
            self._path = f"{self._path}/{name}"
            if _is_link(self._path):
                raise OSError(errno.ELOOP, "a link", directory)

    def read(self, name: str, most_bytes: int) -> bytes:
        return read_file(f"{self._path}/{name}", most_bytes=most_bytes)


def _is_link(path: str) -> bool:
    """True for a link, and for what Windows calls a junction."""
    return os.path.islink(path) or bool(getattr(os.lstat(path), "st_reparse_tag", 0))


def reason_of(error: OSError) -> Reason:
    """The reason for the error that `read_file` met."""
    return {
        errno.EFBIG: Reason.TOO_LARGE,
        errno.EINVAL: Reason.NOT_A_FILE,
        errno.ENXIO: Reason.NOT_A_FILE,
    }.get(error.errno or 0, Reason.UNREADABLE)
