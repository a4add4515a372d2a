"""Lines of files in other words: without comments and documentation, and with blocks of imports on one line.

Both go by the syntax tree. A line that is left says what it said at the same number, so spans stay what they are; a
line in the place of a block begins with the mark for lines that are left out, and their numbers.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from tersely.code.languages.registry import LANGUAGES, language_of_path, language_of_script
from tersely.code.pack.excerpt import Line
from tersely.code.pack.model import Count
from tersely.code.pack.sliced import ELLIPSIS
from tersely.code.symbols import Import
from tersely.code.syntax.spans import ImportStatement, comment_spans, doc_spans, import_statements
from tersely.foundation import tokens

# Around these a comment leaves nothing behind; elsewhere it keeps two words apart.
_OPEN, _CLOSED = b" \t([{<,;", b" \t\r)]}>,;"


@dataclass(frozen=True, slots=True)
class Rewording:
    """Which words are to be saved. One value serves one answer: each file is read once."""

    strip_comments: bool = False
    compress_imports: bool = False
    count: Count = tokens.count
    _files: dict[tuple[str, bytes], dict[int, tuple[str, str | None]]] = field(
        default_factory=dict, init=False, repr=False
    )

    def lines(self, path: str, source: bytes, lines: Sequence[Line]) -> Sequence[Line]:
        """Lines of a file, reworded; those that do not stand so in the file stay as they are."""
        if not (self.strip_comments or self.compress_imports):
            return lines
        key = path, source
        if key not in self._files:
            self._files[key] = self._changes(path, source)
        return _reworded(lines, self._files[key])

    def _changes(self, path: str, source: bytes) -> dict[int, tuple[str, str | None]]:
        """By number, the lines that change: what they say, and what they shall say (None: nothing)."""
        name = language_of_path(path) or language_of_script(source.partition(b"\n")[0].decode("utf-8", "replace"))
        if name is None:
            return {}
        language = LANGUAGES[name]
        rows = _rows(source)
        after: list[str | None] = [*rows]
        if self.strip_comments:
            _strip(source, [*comment_spans(source, language), *_own_lines(source, doc_spans(source, language))], after)
        if self.compress_imports:
            for block in _blocks(import_statements(source, language), after):
                _compress(block, after, self.count)
        return {at: (old, new) for at, (old, new) in enumerate(zip(rows, after, strict=True), 1) if old != new}


def _rows(source: bytes) -> list[str]:
    text = source.decode("utf-8", "replace").replace("\r\n", "\n")
    return text.removeprefix("\ufeff").split("\n")


def _reworded(lines: Sequence[Line], changes: dict[int, tuple[str, str | None]]) -> list[Line]:
    kept: list[Line] = []
    gone = False  # whether the line before went
    for line in lines:
        old, new = changes.get(line.number, (line.text, line.text))
        text = new if line.text == old else line.text
        gone = text is None or (gone and not line.text.strip())
        if text is not None and not gone:
            kept.append(line if text == line.text else Line(line.number, text))
    return kept


# Comments


def _strip(source: bytes, spans: list[tuple[int, int]], after: list[str | None]) -> None:
    """Take ranges of bytes out of the rows that they lie in; a row of which nothing is left goes."""
    starts = [0]
    while (end := source.find(b"\n", starts[-1])) != -1:
        starts.append(end + 1)
    pieces: dict[int, list[tuple[int, int]]] = {}
    row = 0
    for start, end in _merged(spans):
        while row + 1 < len(starts) and starts[row + 1] <= start:
            row += 1
        at = row
        while at < len(starts) and starts[at] < end:
            limit = starts[at + 1] - 1 if at + 1 < len(starts) else len(source)
            pieces.setdefault(at, []).append((max(start, starts[at]) - starts[at], min(end, limit) - starts[at]))
            at += 1
    for at, cuts in pieces.items():
        limit = starts[at + 1] - 1 if at + 1 < len(starts) else len(source)
        text = _without(source[starts[at] : limit], cuts).decode("utf-8", "replace").rstrip()
        after[at] = text.removeprefix("\ufeff") if text.strip("\ufeff \t") else None


def _merged(spans: list[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    last = 0
    for start, end in sorted(spans):
        if end > last:
            yield max(start, last), end
            last = end


def _without(row: bytes, cuts: list[tuple[int, int]]) -> bytes:
    kept = b""
    at = 0
    for start, end in cuts:
        kept += row[at:start]
        follows = row[end : end + 1]
        if kept.strip() and follows.strip() and kept[-1:] not in _OPEN and follows not in _CLOSED:
            kept += b" "
        elif kept[-1:] in {b" ", b"\t"} and follows in {b" ", b"\t"} and kept.strip():
            end += 1
        at = end
    return kept + row[at:]


def _own_lines(source: bytes, spans: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Of documentation what shares no line with code: a text that is the whole of a body on one line has to stay."""
    return [
        (start, end)
        for start, end in spans
        if not source[source.rfind(b"\n", 0, start) + 1 : start].strip()
        and not source[end : source.find(b"\n", end) if source.find(b"\n", end) != -1 else len(source)].strip()
    ]


# Imports


def _blocks(statements: list[ImportStatement], rows: Sequence[str | None]) -> Iterator[list[ImportStatement]]:
    """Statements with nothing between them but blank lines."""
    block: list[ImportStatement] = []
    for statement in statements:
        between = rows[block[-1].last_line : statement.first_line - 1] if block else []
        if any(row and row.strip() for row in between):
            yield block
            block = []
        block.append(statement)
    if block:
        yield block


def _compress(block: list[ImportStatement], after: list[str | None], count: Count) -> None:
    """Put a block on its first line, if that takes fewer tokens."""
    first, last = block[0].first_line, block[-1].last_line
    written = [row for row in after[first - 1 : last] if row]
    indentation = written[0][: len(written[0]) - len(written[0].lstrip())] if written else ""
    mark = f"{first}-{last}" if last > first else f"{first}"
    line = f"{indentation}{ELLIPSIS} {mark} {' | '.join(_groups(block))}"
    if count(line) < count("\n".join(written)):
        after[first - 1 : last] = [line, *[None] * (last - first)]


def _groups(block: list[ImportStatement]) -> list[str]:
    """`import os, re`, `from…import typing: Any, Final; .model: Pack`: what is imported, by the words for it."""
    found: dict[tuple[str, ...], dict[str, list[str]]] = {}
    for statement in block:
        modules = found.setdefault(statement.words, {})
        for one in statement.imports:
            if any(other.module.startswith(f"{one.module}.") and not one.name for other in statement.imports):
                continue  # `import a.b` imports `a` as well
            bound = "" if one.name == "*" and not statement.says_all else _bound(one)
            names = modules.setdefault(one.module if one.name or not bound else f"{one.module} as {bound}", [])
            if one.name and bound and bound not in names:
                names.append(bound)
    return [f"{'…'.join(words)} {_modules(modules)}" for words, modules in found.items()]


def _bound(one: Import) -> str:
    """A name with what it is bound to; of a module only that, where it is another word than those of its name."""
    if one.name:
        return one.name if one.alias in {"", one.name} or one.name == "*" else f"{one.name} as {one.alias}"
    return "" if one.alias in one.module else one.alias


def _modules(modules: dict[str, list[str]]) -> str:
    words = [f"{module}: {', '.join(names)}" if names else module for module, names in modules.items()]
    return ("; " if any(modules.values()) else ", ").join(words)
