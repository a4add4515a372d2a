"""The dependency lens: what a symbol needs to compile, and what that needs; then who calls it.

The names in the text of a symbol are resolved as its file sees them, chains of them (`module.name`,
`Class.MEMBER`) as far as the repository defines their parts. Names that the function binds itself
mean something else and are passed over. What is called on objects is known to the call graph alone.
Callers are candidates too, but wait for a place in the pack until each dependency has one.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import NamedTuple

from tersely.code.graph.callgraph import EXTERNAL_PREFIX
from tersely.code.symbols import (
    CALLABLE_KINDS,
    CLASS_KINDS,
    VALUE_KINDS,
    Grade,
    Import,
    Kind,
    Range,
    Symbol,
)
from tersely.context.lenses.candidate import (
    BASE,
    BY_NAME,
    CALLEE,
    CALLER,
    CONSTANT,
    DECORATOR,
    ENCLOSING,
    IMPORT,
    REFERENCE,
    TARGET,
    TARGET_SCORE,
    TEST,
    TYPE,
    Candidate,
    View,
    ranked,
)
from tersely.context.lenses.mentions import holds
from tersely.context.lenses.neighbours import ALL_NAMES, Neighbours
from tersely.context.lenses.symbol import HOP_DECAY, around
from tersely.foundation.limits import MAX_CANDIDATES_SYMBOLS, MAX_EXPANDED_SYMBOLS
from tersely.foundation.types import Strings, replace

# What is read first when there is no room for all: what the symbol is made of, then what it does.
NEED_SCORE = {
    BASE: 0.9,
    CONSTANT: 0.85,
    TYPE: 0.8,
    CALLEE: 0.8,
    DECORATOR: 0.75,
    ENCLOSING: 0.7,
    REFERENCE: 0.6,
    CALLEE + BY_NAME: 0.4,
    IMPORT: 0.3,
}
# Of a caller's score by the symbol lens: who uses a symbol is not what it needs.
CALLER_PART = 0.05

_CHAIN = re.compile(r"(?<![\w.])(?<!->)(?<!::)[^\W\d]\w*(?:(?:\.|::|->)[^\W\d]\w*)*")
_BOUND = re.compile(rb"\s*(?:[:,;)]|=(?!=))")  # behind a name that is given a type or a value
_LINK = re.compile(r"\.|::|->|/|\\")


class Need(NamedTuple):
    """One dependency of `of`, `depth` steps from what was asked about. Outside the repository there
    is no symbol.
    """

    id: str  # of the symbol, or `external:` and what is imported
    symbol: Symbol | None
    need: str  # a key of `NEED_SCORE`
    of: str
    depth: int


def needs_of(targets: Sequence[Symbol], neighbours: Neighbours, depth: int) -> list[Need]:
    """The needs of symbols, nearest first, each once."""
    seen = {target.id for target in targets}
    frontier, found = list(targets), []
    for distance in range(1, depth + 1):
        reached: list[Symbol] = []
        for symbol in frontier[:MAX_EXPANDED_SYMBOLS] if distance > 1 else frontier:
            for need in _Names(symbol, neighbours, neighbours.names_in(symbol)).needs(distance):
                if need.id not in seen:
                    seen.add(need.id)
                    found.append(need)
                    if need.symbol is not None and need.symbol.kind is not Kind.MODULE:
                        reached.append(need.symbol)
        frontier = reached
    return found


def closure(targets: Sequence[Symbol], neighbours: Neighbours, depth: int) -> View:
    """The targets, what they need within `depth` steps, and who calls them."""
    needs = needs_of(targets, neighbours, depth)
    outside: dict[str, list[str]] = {}
    for need in needs:
        if need.symbol is None:
            outside.setdefault(need.of, []).append(need.id.removeprefix(EXTERNAL_PREFIX))
    found = [
        Candidate(one, TARGET_SCORE, TARGET, imports=tuple(outside.get(one.id, ())))
        for one in targets
    ]
    for need in needs:
        if need.symbol is not None:
            score = NEED_SCORE[need.need] * HOP_DECAY ** (need.depth - 1)
            imports = tuple(outside.get(need.id, ()))
            found.append(Candidate(need.symbol, score, need.need, need.of, imports=imports))
    seen = {candidate.symbol.id for candidate in found}
    callers = around(targets, neighbours, depth=1)
    is_caller = {reason + suffix for reason in (CALLER, TEST) for suffix in ("", BY_NAME)}
    found += [
        replace(candidate, score=candidate.score * CALLER_PART, waits=True)
        for candidate in callers.candidates
        if candidate.reason in is_caller and candidate.symbol.id not in seen
    ]
    candidates = ranked(found)
    beyond = {reason: number for reason, number in callers.beyond.items() if reason in is_caller}
    return first(View(candidates, beyond, lens=f"needs {depth}"), MAX_CANDIDATES_SYMBOLS)


def first(view: View, number: int) -> View:
    """A view cut to its best candidates."""
    left = Counter(candidate.reason for candidate in view.candidates[number:])
    return replace(
        view, candidates=view.candidates[:number], beyond=dict(Counter(view.beyond) + left)
    )


class _Names:
    """The names in one symbol and what they mean."""

    def __init__(
        self,
        symbol: Symbol,
        neighbours: Neighbours,
        source: bytes,
        grades: Mapping[str, Grade] | None = None,
    ) -> None:
        self._symbol = symbol
        self._neighbours = neighbours
        self._imports = neighbours.imports(symbol.path)
        within = range(symbol.start_line, symbol.end_line + 1)
        self._own_imports = [item for item in self._imports if item.line in within]
        if grades is None:
            grades = {edge.callee: edge.grade for edge in neighbours.callees(symbol.id)}
        self._grades = grades
        # Methods bind names of their own, so each is read by itself.
        members = [
            one for one in neighbours.members(symbol) if one.kind in CALLABLE_KINDS | CLASS_KINDS
        ]
        self._members = [_Names(one, neighbours, source, grades) for one in members]
        blanks = [_lines_of(source, item.line) for item in self._own_imports]
        blanks += [(one.start_byte, one.end_byte) for one in members]
        blanks += [
            span
            for one in neighbours.members(symbol)
            if (span := _leading_name(one, source)) is not None
        ]
        self._decoration, self._signature, self._body = _parts(symbol, _blanked(source, blanks))

    def needs(self, depth: int) -> Iterator[Need]:
        """Everything that the symbol needs, in the order in which it is read; what is called on
        objects comes last.
        """
        symbol = self._symbol
        holder = self._neighbours.symbol(symbol.parent) if symbol.parent else None
        if holder is not None and holder.kind in CLASS_KINDS:
            yield Need(holder.id, holder, ENCLOSING, symbol.id, depth)
        yield from self._named(symbol, depth)
        for callee, grade in self._grades.items():
            other = None if callee.startswith(EXTERNAL_PREFIX) else self._neighbours.symbol(callee)
            if other is not None and not holds(symbol, other) and not holds(other, symbol):
                yield Need(
                    callee,
                    other,
                    CALLEE + BY_NAME if grade is Grade.BY_NAME else CALLEE,
                    symbol.id,
                    depth,
                )

    def _named(self, of: Symbol, depth: int) -> Iterator[Need]:
        """The meanings of the names in this and its members, as needs of a symbol that holds them."""
        for chain in self._chains():
            yield from self._needs_of(chain, of, depth)
        for member in self._members:
            yield from member._named(of, depth)

    def _chains(self) -> Iterator[Strings]:
        """The chains of names, without those that begin with a name of the function's own."""
        imported = {bound for item in self._own_imports for bound in _bound(item)}
        own = self._neighbours.locals(self._symbol) - imported
        text = f"{self._decoration}\n{self._signature}\n{self._body}"
        chains = dict.fromkeys(tuple(_LINK.split(found)) for found in _CHAIN.findall(text))
        return (chain for chain in chains if self._is_free(chain[0], own))

    def _is_free(self, name: str, own: Collection[str]) -> bool:
        """True if a name means more than a value that the function, or one around it, binds."""
        return name not in own or self._is_default(name) or self._inner(name) is not None

    def _inner(self, name: str) -> Symbol | None:
        return self._neighbours.inner_meaning(self._symbol, name)

    def _is_default(self, name: str) -> bool:
        """True if the signature names something as well as the parameter that hides it: `def
        f(limit=limit)`.
        """
        return len(re.findall(rf"(?<!\w){re.escape(name)}(?!\w)", self._signature)) > 1

    def _needs_of(self, chain: Strings, of: Symbol, depth: int) -> Iterator[Need]:
        for other in self._meanings(chain):
            if not holds(other, of) and not holds(of, other):
                yield Need(other.id, other, self._need(chain, other), of.id, depth)
            elif other.kind in CLASS_KINDS and not holds(of, other):
                yield Need(other.id, other, ENCLOSING, of.id, depth)
        if self._inner(chain[0]) is None and self._neighbours.meaning(of.path, chain[0]) is None:
            for item in self._imports:
                if chain[0] in _bound(item) and item.name != ALL_NAMES and self._is_outside(item):
                    yield Need(f"{EXTERNAL_PREFIX}{_written(item)}", None, IMPORT, of.id, depth)

    def _is_outside(self, item: Import) -> bool:
        return self._neighbours.module(self._symbol.path, item) is None

    def _meanings(self, chain: Strings) -> list[Symbol]:
        """The last symbols that a chain leads to: through modules, and on to the member of a class."""
        path = self._symbol.path
        head = self._inner(chain[0]) or self._neighbours.meaning(path, chain[0])
        if head is not None:
            return [head, *self._member(head, chain[1:])]
        for item in self._imports:
            rest = _after(item, chain)
            module = self._neighbours.module(path, item) if rest is not None else None
            if module is not None and rest is not None:
                inner = self._neighbours.meaning(module.path, rest[0]) if rest else None
                return [module] if inner is None else [inner, *self._member(inner, rest[1:])]
        return []

    def _member(self, holder: Symbol, rest: Sequence[str]) -> list[Symbol]:
        """The constant or class of a class that a chain names next; methods are the call graph's
        business.
        """
        if not rest or holder.kind not in CLASS_KINDS:
            return []
        named = (one for one in self._neighbours.members(holder) if one.name == rest[0])
        return [one for one in named if one.kind in VALUE_KINDS | CLASS_KINDS]

    def _need(self, chain: Strings, other: Symbol) -> str:
        if other.kind is Kind.MODULE:
            return IMPORT
        if _names(self._decoration, chain[0]) and not _names(
            self._signature + self._body, chain[0]
        ):
            return DECORATOR
        if other.kind in CLASS_KINDS:
            is_base = self._symbol.kind in CLASS_KINDS and _names(self._signature, chain[0])
            return BASE if is_base else TYPE
        if other.kind in VALUE_KINDS | {Kind.MACRO}:
            return CONSTANT
        return CALLEE if other.id in self._grades else REFERENCE


def _blanked(source: bytes, spans: Sequence[Range]) -> bytes:
    """The source with blanks in some places: what is read by itself, and imports, which use
    nothing.
    """
    if not spans:
        return source
    text = bytearray(source)
    for start, end in spans:
        text[start:end] = b"\n".join(b" " * len(line) for line in source[start:end].split(b"\n"))
    return bytes(text)


def _lines_of(source: bytes, line: int) -> Range:
    """The beginning and the end of a line of a file."""
    start = 0
    for _ in range(line - 1):
        start = source.find(b"\n", start) + 1
    end = source.find(b"\n", start)
    return start, len(source) if end < 0 else end


def _leading_name(member: Symbol, source: bytes) -> Range | None:
    """The place of the name of a field that begins with it, `name: type` or `name = value`: there
    it means itself.
    """
    end = member.start_byte + len(member.name.encode())
    begins_with_it = (
        member.kind in VALUE_KINDS and source[member.start_byte : end] == member.name.encode()
    )
    is_bound = begins_with_it and _BOUND.match(source, end) is not None
    return (member.start_byte, end) if is_bound else None


def _parts(symbol: Symbol, source: bytes) -> tuple[str, str, str]:
    """Decorators, the rest of the header and the body without its documentation."""
    name_start = symbol.start_byte
    for _ in range(symbol.name_line - symbol.start_line):
        name_start = source.find(b"\n", name_start, symbol.end_byte) + 1 or name_start
    header_end = max(symbol.signature_end_byte, name_start)
    body = source[header_end : symbol.end_byte]
    if header_end <= symbol.doc_start_byte < symbol.doc_end_byte <= symbol.end_byte:
        body = (
            source[header_end : symbol.doc_start_byte]
            + source[symbol.doc_end_byte : symbol.end_byte]
        )
    parts = source[symbol.start_byte : name_start], source[name_start:header_end], body
    decoration, header, rest = (part.decode("utf-8", "replace") for part in parts)
    return decoration, header, rest


def _bound(item: Import) -> Strings:
    """The name that an import binds."""
    name = item.alias or item.name or next(filter(None, _LINK.split(item.module)), "")
    return (name,) if name else ()


def _written(item: Import) -> str:
    return f"{item.module}.{item.name}" if item.name else item.module


def _after(item: Import, chain: Strings) -> Strings | None:
    """The rest of a chain behind the module that an import names, None if it does not begin with
    that.
    """
    if item.alias or item.name:
        return chain[1:] if chain[0] in _bound(item) else None
    parts = tuple(_LINK.split(item.module))
    return chain[len(parts) :] if chain[: len(parts)] == parts else None


def _names(text: str, name: str) -> bool:
    return re.search(rf"(?<![\w.]){re.escape(name)}(?!\w)", text) is not None
