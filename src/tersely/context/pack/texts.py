"""The sources of the text of a pack: files, the symbols in them, and program slices and deltas of
their bodies.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence

from tersely.code.languages.registry import line_comment_of
from tersely.code.symbols import CALLABLE_KINDS, Range, Symbol, SymbolsOf
from tersely.context.lenses.candidate import View
from tersely.context.pack.excerpt import (
    Excerpt,
    Line,
    Signature,
    body,
    dedented,
    indentation_at,
    lines_of,
    shortened,
    signature,
)
from tersely.context.pack.model import Extract
from tersely.context.pack.sliced import in_parts, without_ranges
from tersely.foundation.types import field, frozen

# A list of members is to be read at a glance; one that fills the screen is shown whole only by
# itself.
MEMBER_CHARACTERS = 300
MAX_HEADER_LINES = 20  # of what is cut down to parts; of a longer one only what is in them
MEMBER_INDENTATION = "    "  # of one that stands on no line of its own, or outside of its class

SourceOf = Callable[[str], bytes]
# The lines to show as the body of a symbol, None for those of the file: program slices and deltas
# come in here.
BodyOf = Callable[[Symbol], Sequence[Line] | None]


def no_symbols(path: str) -> Sequence[Symbol]:
    """For symbols whose neighbours in the file are not known: skeletons have no members then."""
    return ()


def body_of_file(symbol: Symbol) -> None:
    """No other words: the body is what the file says."""


@frozen
class Texts:
    """Reads each text once. One value serves one answer: it does not notice when files change."""

    source_of: SourceOf
    symbols_of: SymbolsOf = no_symbols
    body_of: BodyOf = body_of_file
    with_docs: bool = False
    _sources: dict[str, bytes] = field(default_factory=dict, init=False, repr=False)
    _symbols: dict[str, Sequence[Symbol]] = field(default_factory=dict, init=False, repr=False)
    _signatures: dict[str, Signature] = field(default_factory=dict, init=False, repr=False)
    _bodies: dict[str, Sequence[Line]] = field(default_factory=dict, init=False, repr=False)

    def source(self, path: str) -> bytes:
        """The bytes of a file."""
        if path not in self._sources:
            self._sources[path] = self.source_of(path)
        return self._sources[path]

    def signature(self, symbol: Symbol) -> Signature:
        """The header of a symbol, on one line."""
        if symbol.id not in self._signatures:
            comment = line_comment_of(symbol.language)
            self._signatures[symbol.id] = signature(symbol, self.source(symbol.path), comment)
        return self._signatures[symbol.id]

    def header_size(self, symbol: Symbol) -> int:
        """The lines from the start of a symbol to where its body begins."""
        return (
            self.source(symbol.path).count(b"\n", symbol.start_byte, symbol.signature_end_byte) + 1
        )

    def body(self, symbol: Symbol) -> Sequence[Line]:
        """The lines of a symbol, documentation only on demand."""
        if symbol.id not in self._bodies:
            self._bodies[symbol.id] = self.body_of(symbol) or self._body_of_file(symbol)
        return self._bodies[symbol.id]

    def code(self, symbol: Symbol, size_lines: int | None = None) -> tuple[str, int]:
        """The text of a body and the last line of the file that it reaches.

        With a size, that of its first lines, and the signatures of the members that come after
        them.
        """
        lines, last = self.code_lines(symbol, size_lines)
        return dedented(lines), last

    def code_lines(
        self, symbol: Symbol, size_lines: int | None = None, apart: Collection[Range] = ()
    ) -> tuple[Excerpt, int]:
        """The lines of a body and the last that it reaches, without ranges of the file that are
        shown `apart`.
        """
        lines = list(self.body(symbol))
        if size_lines is None or size_lines >= len(lines):
            return without_ranges(lines, apart) if apart else lines, symbol.end_line
        size_lines = _without_blank_end(lines, size_lines)
        last = lines[size_lines - 1].number
        passed = {member.id for member in self._members(symbol) if member.start_line <= last}
        begun = lines[:size_lines]
        return [
            *(without_ranges(begun, apart) if apart else begun),
            *self._member_rows(symbol, passed),
        ], last

    def last_line(self, symbol: Symbol, size_lines: int) -> int:
        """The last line of the file that the first lines of a body reach."""
        lines = self.body(symbol)
        if size_lines >= len(lines):
            return symbol.end_line
        return lines[_without_blank_end(lines, size_lines) - 1].number

    def body_with(self, symbol: Symbol, numbers: Collection[int]) -> Excerpt:
        """The lines of a symbol as the file has them, documentation only where it stands on one of
        some lines.
        """
        kept = {line.number for line in self._body_of_file(symbol)}.union(numbers)
        source = self.source(symbol.path)
        lines = lines_of(source, symbol.start_byte, symbol.end_byte, symbol.start_line)
        return [line for line in lines if line.number in kept]

    def whole(self, symbol: Symbol) -> str:
        """The text of a body as the file has it, whatever is shown in its place."""
        return dedented(self._body_of_file(symbol))

    def skeleton(
        self, symbol: Symbol, shown: Collection[str] = (), size_members: int | None = None
    ) -> str:
        """The signature of a symbol and of its (first) members, but not of those with an id in
        `shown`.
        """
        return dedented(self.skeleton_lines(symbol, shown, size_members))

    def skeleton_lines(
        self, symbol: Symbol, shown: Collection[str] = (), size_members: int | None = None
    ) -> Excerpt:
        """The lines of a skeleton, each with the line of the file at which what it speaks of
        begins.
        """
        members = self._member_rows(symbol, shown)
        header = self.signature(symbol).plain
        around = indentation_at(self.source(symbol.path), symbol.start_byte)
        lines = [Line(symbol.start_line, around + header, is_whole=False)] if header else []
        kept = members if size_members is None else members[:size_members]
        if len(kept) == len(members):
            return [*lines, *kept]
        inside = around + MEMBER_INDENTATION if header else ""
        rest = Line(symbol.end_line, f"{inside}… {len(members) - len(kept)} more", is_gap=True)
        return [*lines, *kept, rest]

    def member_lines(self, symbol: Symbol) -> list[str]:
        """The signatures of members, very long ones cut."""
        return [row.text for row in self._member_rows(symbol, ())]

    def _member_rows(self, symbol: Symbol, shown: Collection[str]) -> Excerpt:
        source = self.source(symbol.path)
        around = indentation_at(source, symbol.start_byte)
        deeper = around + MEMBER_INDENTATION if self.signature(symbol).plain else around
        rows: Excerpt = []
        for member in self._members(symbol):
            text = shortened(self.signature(member).plain, MEMBER_CHARACTERS)
            own = indentation_at(source, member.start_byte)
            indent = own if len(own) > len(around) and own.startswith(around) else deeper
            if text and member.id not in shown:
                rows.append(Line(member.start_line, indent + text, is_whole=False))
        return rows

    def extract(self, path: str, first_line: int = 1, last_line: int | None = None) -> Extract:
        """Lines of a file as they stand; without a last line, all that follow."""
        source = self.source(path)
        lines = lines_of(source, 0, len(source), 1)
        end = len(lines) if last_line is None else min(last_line, len(lines))
        text = "".join(f"{line.text}\n" for line in lines[first_line - 1 : end])
        return Extract(path, first_line, end, first_line == 1 and end == len(lines), text)

    def _body_of_file(self, symbol: Symbol) -> Excerpt:
        # Functions within a function rarely have documentation; not worth looking at the whole
        # file.
        nested = (
            () if self.with_docs or symbol.kind in CALLABLE_KINDS else self._symbols_in(symbol.path)
        )
        docs = [
            (other.doc_start_byte, other.doc_end_byte)
            for other in nested
            if other.doc_end_byte and symbol.start_byte <= other.doc_start_byte < symbol.end_byte
        ]
        return body(symbol, self.source(symbol.path), docs, with_docs=self.with_docs)

    def _members(self, symbol: Symbol) -> list[Symbol]:
        found = [other for other in self._symbols_in(symbol.path) if other.parent == symbol.id]
        return sorted(found, key=lambda member: (member.start_byte, member.id))

    def _symbols_in(self, path: str) -> Sequence[Symbol]:
        if path not in self._symbols:
            self._symbols[path] = self.symbols_of(path)
        return self._symbols[path]


def _without_blank_end(lines: Sequence[Line], size_lines: int) -> int:
    """The number of the first lines up to the last of them that is not blank, at least one."""
    while size_lines > 1 and not lines[size_lines - 1].text.strip():
        size_lines -= 1
    return size_lines


def cut_to_parts(whole: Texts, view: View) -> Texts:
    """The same texts, with the bodies of the candidates of a view cut down to their parts.

    What a change put in is in them whatever it is, documentation as well.
    """
    candidates = {one.symbol.id: one for one in view.candidates if one.parts or one.change}

    def body_of(symbol: Symbol) -> Sequence[Line] | None:
        one = candidates.get(symbol.id)
        if one is None:
            return None
        lines = whole.body(symbol)
        if one.change and one.change.lines:
            lines = whole.body_with(symbol, one.change.lines)
        if not one.parts:
            return lines
        header_lines = whole.header_size(symbol) if symbol.qualname else 0
        return in_parts(lines, one.parts, header_lines if header_lines <= MAX_HEADER_LINES else 0)

    return Texts(whole.source_of, whole.symbols_of, body_of, whole.with_docs)
