"""What is searched: a repository as it was at a commit, with or without its documentation comments."""

from __future__ import annotations

import io
import tarfile
from pathlib import Path

from bench.scratch import git
from tersely.code.engine import Engine
from tersely.code.symbols import Symbol

_NEWLINE = 0x0A
_SPACE = 0x20


def has_history(repository: Path, commits: int) -> bool:
    """Whether that many commits can be walked back."""
    return int(git(repository, "rev-list", "--count", f"--max-count={commits}", "HEAD")) >= commits


def export(repository: Path, commit: str, place: Path) -> None:
    """Lay the files of a commit below a directory."""
    place.mkdir(parents=True)
    with tarfile.open(fileobj=io.BytesIO(git(repository, "archive", commit))) as archive:
        # not as an argument: Python 3.11 knows none before 3.11.4
        archive.extraction_filter = getattr(tarfile, "data_filter", None)
        archive.extractall(place)


def without_docs(root: Path, engine: Engine) -> None:
    """Blank out every documentation comment and docstring below a root; lines stay where they are."""
    for file in engine.store.files():
        symbols = [symbol for symbol in engine.store.symbols_of(file.path) if symbol.doc_end_byte]
        if symbols:
            path = root / file.path
            path.write_bytes(_blanked(path.read_bytes(), symbols))


def _blanked(source: bytes, symbols: list[Symbol]) -> bytes:
    text = bytearray(source)
    for symbol in symbols:
        for at in range(symbol.doc_start_byte, symbol.doc_end_byte):
            if text[at] != _NEWLINE:
                text[at] = _SPACE
        if source[symbol.doc_start_byte : symbol.doc_start_byte + 1] in {b'"', b"'"}:
            # a docstring is a statement, and may be the only one
            text[symbol.doc_start_byte] = ord("0")
    return bytes(text)
