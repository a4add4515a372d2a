"""Unclosed brackets of Python. The grammar reads on within them, over the definitions that follow."""

from __future__ import annotations

import re

_CLOSING = {b")": b"(", b"]": b"[", b"}": b"{"}
# Texts and comments, in which brackets mean nothing; brackets; and how a line begins that is never
# within brackets.
_PIECES = re.compile(
    rb"#[^\n]*"
    rb"|\"{3}(?:[^\\]|\\.)*?\"{3}|'{3}(?:[^\\]|\\.)*?'{3}"
    rb"|\"(?:[^\"\\\n]|\\.)*\"?|'(?:[^'\\\n]|\\.)*'?"
    rb"|(?P<bracket>[()\[\]{}])"
    rb"|(?P<definition>^[ \t]*(?:(?:async[ \t]+)?def[ \t]+\w+[ \t]*[(\[]|class[ \t]+\w+[ \t]*[:(\[]))",
    re.MULTILINE | re.DOTALL,
)


def without_unclosed(source: bytes) -> bytes:
    """The source with a space for each bracket that is still open where a definition begins, with
    a colon for that behind the name of a class.
    """
    open_at: list[int] = []
    unclosed: list[int] = []
    heads: set[int] = set()  # where classes have brackets behind their names
    for piece in _PIECES.finditer(source):
        if piece["definition"]:
            unclosed += open_at
            open_at = [] if piece[0].endswith(b":") else [piece.end() - 1]
            heads.update(open_at if piece[0].lstrip().startswith(b"class") else ())
        elif (bracket := piece["bracket"]) and bracket not in _CLOSING:
            open_at.append(piece.start())
        elif bracket and open_at and source[open_at[-1] : open_at[-1] + 1] == _CLOSING[bracket]:
            open_at.pop()
    mended = bytearray(source)
    for at in unclosed:
        mended[at : at + 1] = b":" if at in heads else b" "
    return bytes(mended)
