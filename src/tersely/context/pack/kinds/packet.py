"""The packet: where a task has to be done, in a few hundred tokens, with the source of what is
likeliest.

It has rows (symbols with their lines, why they are likely and how much so), the source of the first
ones where it is short, and one line that says what to ask next. Rows are filled first, each part
within its own bound of tokens.
"""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from tersely.code.symbols import CALLABLE_KINDS, Symbol
from tersely.context.lenses.candidate import CERTAINTIES
from tersely.context.lenses.localization.rank import LikelySymbol, Location
from tersely.context.pack.sliced import SourceLines, windows
from tersely.context.pack.texts import Texts
from tersely.foundation.text.tokens import filled, too_small
from tersely.foundation.types import Strings, frozen, replace

ROWS_TOKENS = 400  # that everything but source takes, at most
MAX_ROWS = 8
MAX_BODIES = 3
LEAST_SHARE = 0.005  # of the likeliest symbol's chance, that a symbol which is named has
LEAST_BODY_CHANCE = 0.1  # of a symbol whose source is shown
LEAST_BODY_CONFIDENCE = 0.4  # of a packet that shows source
MAX_LISTED_FILES = 3  # that are named though none of their symbols has a row
LEAST_FILE_PROBABILITY = 0.3  # of one of them
MAX_NAMED = 12  # further symbols, whose source is offered
NEXT_TOKENS = (900, 1_800)  # of the sources that the first and the second command print, about
MAX_NEXT_SOURCE_TOKENS = 800  # of one of them; a longer function is offered in windows
MAX_WHOLE_LINES = 80  # of a function with which those inside of it are shown
MAX_NEXT_LINES = 60  # of these windows
NEXT_FILES = 3  # inside which a search is offered
NEXT_WORDS = 4  # for which
HEADING = "Probably about, likeliest first (check before editing):"


@frozen
class PacketRow:
    """A symbol that matters for the task. Lines count from 1 and are inclusive."""

    id: str
    path: str
    name: str  # qualified
    line: int
    end_line: int
    chance: float  # that the task changes it, from 0 to 1
    certainty: str  # the same in words
    reason: str


@frozen
class Body:
    """The source of one row, without documentation. Lines count from 1 and are inclusive."""

    id: str
    path: str
    line: int
    end_line: int
    code: str


@frozen
class Brief:
    """The text of a packet. `used` counts every token of `text`."""

    text: str
    used: int
    rows: tuple[PacketRow, ...]
    bodies: tuple[Body, ...]
    next: Strings  # commands that show more
    rows_left_out: int


@frozen
class PacketFrame:
    """The material that a packet is written from beside its rows and bodies."""

    location: Location
    tests: Strings
    test_command: str
    reference: Callable[[Symbol], str]  # a name by which `symbol get` finds a symbol
    source: SourceLines
    count: Callable[[str], int]


class Offer(NamedTuple):
    """A symbol whose source may be asked for next."""

    id: str
    reference: str  # as `symbol get` takes it
    windows: Strings  # of a long function, as `context` includes them
    tokens: int  # of the source, or of the windows


@frozen
class PacketChoice:
    """The rows and bodies that a packet is to have."""

    rows: tuple[LikelySymbol, ...]
    offers: tuple[Offer, ...]
    bodies: tuple[Body, ...] = ()


def brief(frame: PacketFrame, texts: Texts, budget: int) -> Brief:
    """The packet within a budget; `budget_too_small` when not even its first row fits."""
    likely = _worth_a_row(frame.location.symbols)
    weighed = likely[: MAX_ROWS + MAX_NAMED]
    offers = [_offer(one.symbol, frame, texts) for one in weighed]

    def chosen(places: Sequence[int]) -> PacketChoice:
        rows = tuple(weighed[place] for place in places if place < MAX_ROWS)
        offered = [offers[place] for place in places]
        return PacketChoice(
            rows, tuple(one for one in offered if one.tokens <= MAX_NEXT_SOURCE_TOKENS)
        )

    def rows_tokens(places: Sequence[int]) -> int:
        return _written(frame, chosen(places)).used

    least = rows_tokens([0])
    if least > budget:
        raise too_small(budget, least)
    places = range(len(weighed))
    choice = chosen(filled(places, rows_tokens, min(budget, ROWS_TOKENS), len(places)) or [0])

    def with_bodies(bodies: Sequence[Body]) -> Brief:
        return _written(frame, replace(choice, bodies=tuple(bodies)))

    is_sure = frame.location.confidence >= LEAST_BODY_CONFIDENCE
    likely_rows = [row.symbol for row in choice.rows if is_sure and row.chance >= LEAST_BODY_CHANCE]
    sources = [body for symbol in likely_rows if (body := _body(symbol, texts))]
    bodies = filled(sources, lambda some: with_bodies(some).used, budget, len(sources))
    written = with_bodies(bodies[:MAX_BODIES])
    return replace(written, rows_left_out=len(likely) - len(choice.rows))


def _offer(symbol: Symbol, frame: PacketFrame, texts: Texts) -> Offer:
    tokens = frame.count(texts.code(symbol)[0])
    whole = Offer(symbol.id, frame.reference(symbol), (), tokens)
    if tokens <= MAX_NEXT_SOURCE_TOKENS:
        return whole
    parts = windows(symbol, frame.location, frame.source, MAX_NEXT_LINES)
    shown = [texts.extract(symbol.path, *lines).text for lines in parts]
    written = tuple(f"{symbol.path}:{first}-{last}" for first, last in parts)
    return whole._replace(windows=written, tokens=sum(map(frame.count, shown)))


def _worth_a_row(symbols: Sequence[LikelySymbol]) -> list[LikelySymbol]:
    """The likeliest symbols, but no function together with one inside of it."""
    least = LEAST_SHARE * max((one.chance for one in symbols), default=0.0)
    return outermost(
        one
        for one in symbols
        if one.chance >= least and is_plain(one.symbol.path, one.symbol.qualname)
    )


def outermost(symbols: Iterable[LikelySymbol]) -> list[LikelySymbol]:
    """The symbols in their order, but for those inside of a function that comes before them and is
    not too long to be shown whole.
    """
    found: list[LikelySymbol] = []
    for one in symbols:
        if not any(_holds(other.symbol, one.symbol) for other in found):
            found.append(one)
    return found


def _holds(outer: Symbol, inner: Symbol) -> bool:
    """True if showing one function shows another one too."""
    is_inside = outer.path == inner.path and outer.start_byte <= inner.start_byte < outer.end_byte
    is_shown_whole = outer.end_line - outer.start_line < MAX_WHOLE_LINES
    return is_inside and is_shown_whole and outer.kind in CALLABLE_KINDS


def is_plain(*names: str) -> bool:
    """True if names can stand in lines and commands: who names files could write lines of his own
    otherwise.
    """
    return all(name.isprintable() and not name.startswith("-") for name in names)


def certainty(chance: float) -> str:
    """A chance in words."""
    return next(word for least, word in CERTAINTIES if chance >= least)


def _body(symbol: Symbol, texts: Texts) -> Body | None:
    code, last_line = texts.code(symbol)
    if not code.strip():
        return None
    return Body(symbol.id, symbol.path, symbol.start_line, last_line, code)


def _written(frame: PacketFrame, choice: PacketChoice) -> Brief:
    rows = tuple(_row(one) for one in choice.rows)
    commands = tuple(_next(frame, choice))
    lines = [HEADING, *_listed(frame, rows)]
    if frame.location.missing:
        lines.append(f"not complete: {', '.join(frame.location.missing)}")
    if frame.test_command:
        lines.append(f"test: {frame.test_command}")
    elif frame.tests:
        lines.append(f"tests: {' '.join(frame.tests)}")
    if commands:
        lines += [f"next: {command}" for command in commands]
    for body in choice.bodies:
        lines += [f"== {body.path}:{body.line}-{body.end_line}", body.code.rstrip("\n")]
    text = "\n".join(lines) + "\n"
    return Brief(text, frame.count(text), rows, choice.bodies, commands, 0)


def _row(one: LikelySymbol) -> PacketRow:
    symbol = one.symbol
    return PacketRow(
        symbol.id,
        symbol.path,
        symbol.qualname or symbol.name,
        symbol.start_line,
        symbol.end_line,
        round(one.chance, 3),
        certainty(one.chance),
        one.reason,
    )


def _listed(frame: PacketFrame, rows: Sequence[PacketRow]) -> Iterable[str]:
    """The rows by file, then further files that are likely."""
    by_path: dict[str, list[PacketRow]] = {}
    for row in rows:
        by_path.setdefault(row.path, []).append(row)
    for path, own in by_path.items():
        yield path
        yield from (
            f"  {row.line}-{row.end_line} {row.name}: {row.certainty}, {row.reason}" for row in own
        )
    others = [one for one in frame.location.files if one.path not in by_path and is_plain(one.path)]
    likely = [one.path for one in others if one.probability >= LEAST_FILE_PROBABILITY]
    if likely:
        yield f"also: {' '.join(likely[:MAX_LISTED_FILES])}"


def _next(frame: PacketFrame, choice: PacketChoice) -> Iterable[str]:
    """The commands that show the sources that are offered, the likeliest first, then a search
    inside the files.
    """
    shown = {body.id for body in choice.bodies}
    for offers in _calls([one for one in choice.offers if one.id not in shown]):
        names = [one.reference for one in offers if not one.windows]
        if names:
            alone = " --code" if len(names) == 1 else ""
            yield f"tersely symbol get {shlex.join(names)}{alone}"
        parts = [part for one in offers for part in one.windows]
        if parts:
            yield f"tersely context {shlex.join(f'--include={part}' for part in parts)}"
    symbols = (one.symbol.path for one in choice.rows)
    files = (one.path for one in frame.location.files if is_plain(one.path))
    paths = list(dict.fromkeys([*symbols, *files]))
    words = frame.location.words[:NEXT_WORDS]
    if words and paths:
        yield f"tersely search {shlex.join(words)} --in {shlex.join(paths[:NEXT_FILES])}"


def _calls(offers: Sequence[Offer]) -> Iterable[list[Offer]]:
    """The offers of each call, in their order: so many that it prints about as much as it may."""
    waiting = list(offers)
    for most in NEXT_TOKENS:
        taken = filled(waiting, lambda ones: sum(one.tokens for one in ones), most) or waiting[:1]
        if taken:
            yield taken
        del waiting[: len(taken)]
