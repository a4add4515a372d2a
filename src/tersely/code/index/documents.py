"""Documents: Markdown by heading, and YAML, TOML and JSON by key path. They are in no index and are
read when somebody asks for one.

Values that may be secret are never given away: those of keys that are named so, and all of a file
that is.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from tersely.code.index.content import reader_below
from tersely.code.index.storage.schema import IndexedFile, symbols_of_facts
from tersely.code.languages.registry import LANGUAGES, PROSE
from tersely.code.places import file_name_of
from tersely.code.symbols import Symbol
from tersely.code.syntax.extract import extract
from tersely.foundation.storage.hashing import content_hash

MAX_DOCUMENT_BYTES = 1_000_000  # a larger one is data that nobody reads by its keys

_MAY_BE_SECRET = re.compile(
    r"secret|passw|passphrase|pwd|token|credential|private|api_?-?key|access_?-?key|auth(?!or)|cookie|dsn|"
    r"connection_?-?string|(?:^|[._-])(?:key|env)$|\.env\b",
    re.IGNORECASE,
)
_VALUE = re.compile(rb"""["'\]]*\s*[:=]\s*(?P<value>\S.*)""", re.DOTALL)


class Document(NamedTuple):
    """A document as it is shown."""

    file: IndexedFile
    symbols: list[Symbol]
    source: bytes  # `*` for what may be secret


def document(root: str, path: str, language: str) -> Document | None:
    """The document below an absolute root, None if there is none at the path, or a larger one."""
    try:
        source = reader_below(root)(path, MAX_DOCUMENT_BYTES)
    except OSError:
        return None
    definitions = extract(source, LANGUAGES[language], path).definitions
    symbols = symbols_of_facts(path, language, definitions)
    shown = source if language == PROSE else _without_secrets(source, symbols)
    file = IndexedFile(-1, path, language, len(source), content_hash(shown), "")
    return Document(file, symbols, shown)


def _without_secrets(source: bytes, symbols: list[Symbol]) -> bytes:
    """The source with `*` for values that may be secret; every byte stays where it was."""
    shown, whole, parents = bytearray(source), symbols[0], {one.parent for one in symbols}
    secret = {whole.id} if _MAY_BE_SECRET.search(file_name_of(whole.path)) else set()
    for symbol in symbols[1:]:
        if symbol.parent in secret or _MAY_BE_SECRET.search(symbol.name):
            secret.add(symbol.id)
        name = symbol.name.encode()
        start = source.find(name, symbol.start_byte) + len(name)
        value = _VALUE.match(source, start, symbol.end_byte)
        if value is not None and symbol.id in secret - parents:
            at, end = value.span("value")
            shown[at:end] = re.sub(rb"[^\s,{}\[\]]", b"*", shown[at:end])
    return bytes(shown)
