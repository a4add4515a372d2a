"""ETags: a symbol's normalised text, and the hash of it.

The normalised text is that of the symbol with its documentation and decorators, without what
depends on the place where it stands: the indentation of the line on which it begins, as far as all
of its lines share it, a byte order mark, the line ends of another system, and blanks on blank
lines. Lines that begin within a literal of text keep all of their indentation, as it is part of a
value; documentation does not, since whoever reads it trims it. So a tag survives edits elsewhere in
the file, moves, and a block put around the symbol, and changes with every other character.
"""

from __future__ import annotations

import re

from tersely.code.languages.registry import LANGUAGES
from tersely.code.symbols import Symbol
from tersely.context.pack.excerpt import Excerpt, body, indentation
from tersely.foundation.storage.hashing import content_hash

ETAG_BYTES = 6  # of a hash; two versions of one symbol are compared, not all there are

# What may open a literal that goes on in the next line: a lone quotation mark, a heredoc, a sigil,
# a long bracket.
_OPENERS = re.compile(r"<<|\[=*\[|[%~]\w*[\[({<|/!\"']")
_QUOTES = ('"', "'", "`")


def etag_of(normal: str) -> str:
    """The tag of a normalised text: hexadecimal digits."""
    return content_hash(normal.encode("utf-8", "surrogatepass"))[:ETAG_BYTES].hex()


def normalised(symbol: Symbol, source: bytes) -> str:
    """The text of a symbol that its tag is made of, each line ended."""
    lines = body(symbol, source, with_docs=True)
    if not lines:
        return ""
    kept = _within_text(symbol, source, lines)
    shared = _shared_indentation(
        symbol, source, [line for line in lines if line.number not in kept]
    )
    texts = [line.text if line.number in kept else _without(line.text, shared) for line in lines]
    return "\n".join([texts[0].lstrip(" \t"), *texts[1:]]) + "\n"


def _without(text: str, shared: int) -> str:
    return text[shared:] if text.strip() else ""


def _shared_indentation(symbol: Symbol, source: bytes, lines: Excerpt) -> int:
    """The part of the indentation of the symbol's first line that all of the given lines have, in
    characters.
    """
    start = source.rfind(b"\n", 0, symbol.start_byte) + 1
    shared = indentation(source[start : symbol.start_byte + 1].decode("utf-8", "replace"))
    for line in lines:
        if line.text.strip() and line is not lines[0]:
            own = indentation(line.text)
            shared = own if shared.startswith(own) else shared
            while not own.startswith(shared):
                shared = shared[:-1]
    return len(shared)


def _within_text(symbol: Symbol, source: bytes, lines: Excerpt) -> frozenset[int]:
    """Lines that begin within a literal; none where nothing could be lost with their indentation,
    or be known.
    """
    if symbol.language not in LANGUAGES:
        return frozenset()
    first = symbol.start_line
    docs = range(0)
    if symbol.start_byte <= symbol.doc_start_byte < symbol.doc_end_byte:
        opening = first + source.count(b"\n", symbol.start_byte, symbol.doc_start_byte)
        more = source.count(b"\n", symbol.doc_start_byte, symbol.doc_end_byte)
        docs = range(opening, opening + more + 1)
    code = [line.text for line in lines if line.number not in docs]
    if not any(line.text[:1] in {" ", "\t"} for line in lines) or not any(
        map(_may_open_text, code)
    ):
        return frozenset()
    # parses, which a lookup rarely needs to
    from tersely.code.syntax.nodes.literals import lines_within_text

    found = lines_within_text(
        source[symbol.start_byte : symbol.end_byte], LANGUAGES[symbol.language]
    )
    return frozenset(first - 1 + line for line in found).difference(docs[1:])


def _may_open_text(line: str) -> bool:
    return any(line.count(quote) % 2 for quote in _QUOTES) or _OPENERS.search(line) is not None
