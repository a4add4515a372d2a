"""The files that are not worth indexing for what is in them."""

from __future__ import annotations

import re

from tersely.code.index.content import Reason

LONG_LINE_BYTES = 1_000
# more of them around each long line, and somebody wrote the file: data inside code
SHORT_LINES_PER_LONG = 40
# in squeezed code a brace or semicolon comes at least so often, in tables of data it does not
CODE_BYTES_PER_MARK = 50
HEADER_BYTES = 2_000  # where generators sign

# Git LFS, which was once called otherwise, and git-annex
_POINTERS = (
    b"version https://git-lfs.github.com/spec/",
    b"version https://hawser.github.com/spec/",
    b"/annex/objects/",
)
_MINIFIED_NAME = re.compile(r"[.-]min\.[cm]?js$", re.IGNORECASE)
# Comments before the first line of code. A signature further down is one that this code writes into
# other files.
_HEADER = re.compile(
    rb"(?:\xef\xbb\xbf)?(?:\s+|(?:#|//|--|;|%)[^\n]*|/\*.*?(?:\*/|\Z)|<!--.*?(?:-->|\Z)|\(\*.*?(?:\*\)|\Z)|<\?php\b)*",
    re.DOTALL,
)
_DO_NOT_EDIT = rb"\bdo not (?:hand[- ]?)?(?:edit|modify|change|touch)\b"
_SIGNATURE = re.compile(
    rb"(?:^\W*|\bis (?:automatically )?)@generated\b"
    rb"|<auto-?generated\b"
    rb"|generated\b.{0,200}?" + _DO_NOT_EDIT + rb"|" + _DO_NOT_EDIT + rb".{0,200}?generated\b"
    rb"|\bgenerated from [^\n]*\.g4? by ANTLR\b",
    re.IGNORECASE | re.MULTILINE | re.DOTALL,
)


def not_worth_indexing(path: str, source: bytes) -> Reason | None:
    """The reason why a file with this content is skipped, None if it is source that people write."""
    if source.startswith(_POINTERS):
        return Reason.POINTER
    if b"\0" in source:
        return Reason.NOT_UTF8 if source.startswith((b"\xff\xfe", b"\xfe\xff")) else Reason.BINARY
    if not _is_utf8(source):
        return Reason.NOT_UTF8
    if _MINIFIED_NAME.search(path) or _looks_minified(source):
        return Reason.MINIFIED
    return Reason.GENERATED if _is_signed_by_generator(source[:HEADER_BYTES]) else None


def _is_signed_by_generator(start: bytes) -> bool:
    if b"generated" not in start.lower():
        return False
    header = _HEADER.match(start)
    return header is not None and _SIGNATURE.search(header[0]) is not None


def _is_utf8(source: bytes) -> bool:
    if source.isascii():
        return True
    try:
        source.decode()
    except UnicodeDecodeError:
        return False
    return True


def _looks_minified(source: bytes) -> bool:
    """True if long lines of code make up most of the file, and there is not much around them."""
    if len(source) < LONG_LINE_BYTES or len(source) < 100 * source.count(b"\n"):
        return False
    lines = [line for line in source.split(b"\n") if line.strip()]
    long = [line for line in lines if len(line) >= LONG_LINE_BYTES]
    long_bytes = sum(map(len, long))
    if 2 * long_bytes < len(source) or len(lines) - len(long) > SHORT_LINES_PER_LONG * len(long):
        return False
    marks = sum(line.count(b";") + line.count(b"{") + line.count(b"}") for line in long)
    return marks * CODE_BYTES_PER_MARK >= long_bytes
