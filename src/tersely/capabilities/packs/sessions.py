"""The sessions of readers, declared alike for all packs: what a reader was told before, and fitting
packs to it.
"""

from __future__ import annotations

from collections import Counter
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, NamedTuple, Protocol

from tersely.capabilities.answers.delta import OF_DOOR, SESSION
from tersely.capabilities.answers.text import Style, counted
from tersely.capabilities.declaration.declaration import frozen, group, option
from tersely.capabilities.packs.exchange import Exchange, Output, included
from tersely.capabilities.packs.hybrid import Piece, Splitter
from tersely.capabilities.packs.wording import Format, Wording, format_of
from tersely.foundation.errors import TerselyError
from tersely.foundation.limits import MAX_SESSION_CHARACTERS
from tersely.foundation.types import Strings, replace

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from tersely.context.lenses.candidate import View
    from tersely.context.pack.delta.sessions import Sessions
    from tersely.context.pack.fitting.token_meter import Fitted, TokenMeter
    from tersely.context.pack.kinds.outline import Outline
    from tersely.context.pack.model import Pack
    from tersely.context.pack.texts import Texts
    from tersely.foundation.types import JsonObject
    from tersely.workspace import Workspace

FOLDED = "folded"
NOTHING_FOUND = "nothing found: no indexed file or symbol fits"
# Arguments with which an answer depends on those before it, or on files that may be in no index
REMEMBERING = frozenset({SESSION, "include"})


@frozen
class Session:
    """The reader that is answered."""

    session: str | None = option(
        None,
        "send what this reader was shown before as [unchanged] or as a diff; any name, kept in .tersely/",
        metavar="ID",
    )
    reset: bool = option(False, "forget first what the session was shown")


@frozen
class Memory:
    """The reader that is answered with a pack, and what becomes of the room that its session saves."""

    reader: Session = group(Session)
    fill: bool = option(
        False, "use the whole budget: fill what a session saves, and show less likely code as well"
    )


@frozen
class Packing:
    """The form of a pack, what it shows beside what was chosen, and the reader that is answered
    with it.
    """

    wording: Wording = group(Wording)
    exchange: Exchange = group(Exchange)
    memory: Memory = group(Memory)


@frozen
class Told:
    """The session's part in a pack: how many of its symbols were sent as what, and the tokens that
    it saved.
    """

    id: str
    unchanged: int
    diffs: int
    whole: int
    saved: int  # tokens that the same pack takes without a session, beyond those used


@frozen
class PackedSymbol:
    """One symbol of the pack: how much of it is shown, and why. `of` is the symbol that the reason
    relates it to.
    """

    id: str
    # body, skeleton, signature or name; `folded` where a line says what differs from the symbol
    # before it
    detail: str
    reason: str
    of: str
    line: int
    end_line: int


@frozen
class Packed:
    """A pack as printed, with what is in it. `used` counts every token of `text`."""

    format: Format
    budget: int
    used: int
    text: str
    items: tuple[PackedSymbol, ...]
    whole_files: Strings  # shown in the place of parts that would cost as much
    omitted: dict[str, int]  # by reason, what there was no room for
    session: Told | None
    pieces: tuple[Piece, ...]  # that the text refers to, of a hybrid pack


class Answer(NamedTuple):
    """A pack as it is printed, and what a session did for it."""

    pack: Pack
    text: str
    told: Told | None
    texts: Texts
    format: Format
    pieces: tuple[Piece, ...] = ()

    def fields(self) -> JsonObject:
        """The values of `Packed`, by name."""
        pack = self.pack
        return {
            "format": self.format,
            "budget": pack.budget,
            "used": pack.used,
            "text": self.text,
            "items": tuple(packed(pack)),
            "whole_files": pack.whole_files,
            "omitted": dict(pack.omitted),
            "session": self.told,
            "pieces": self.pieces,
        }


def packed(pack: Pack) -> Iterator[PackedSymbol]:
    """The symbols of a pack, as they are told beside its text; those that are folded follow what
    they are like.
    """
    for item in pack.items:
        symbol = item.symbol
        end = item.last_line or symbol.end_line
        yield PackedSymbol(
            symbol.id, item.detail.word, item.reason, item.of, symbol.start_line, end
        )
        for twin in item.twins:
            one = twin.symbol
            yield PackedSymbol(one.id, FOLDED, twin.reason, twin.of, one.start_line, one.end_line)


def check(session: Session) -> None:
    """Refuse `--reset` without a session (`usage`), and names that are none (`invalid_argument`)."""
    name = session.session
    if name is None:
        if session.reset:
            raise TerselyError(
                "usage", "--reset needs --session ID", "name the session that is to be forgotten"
            )
    elif not 0 < len(name) <= MAX_SESSION_CHARACTERS:
        raise TerselyError(
            "invalid_argument",
            f"the name of a session has 1 to {MAX_SESSION_CHARACTERS} characters",
        )


def answered(
    workspace: Workspace, packing: Packing, view: View, texts: Texts, budget: int
) -> Answer:
    """Fit a pack in the words that are wanted, and write down what the reader is sent."""
    from tersely.context.pack.fitting.fit import fit
    from tersely.context.pack.fitting.token_meter import TokenMeter
    from tersely.context.render.formats import format_named

    memory, form = packing.memory, format_of(packing.wording)
    is_hybrid = packing.exchange.delivery.output is Output.HYBRID
    if is_hybrid and memory.reader.session is not None:
        raise TerselyError(
            "usage",
            "--output hybrid and --session exclude each other",
            "leave out one of them",
        )
    if is_hybrid:  # a whole file would be one large piece
        view = replace(view, apart=frozenset(one.symbol.path for one in view.candidates))
    includes, texts = included(packing.exchange, texts, budget, workspace.tokenizer)
    meter = TokenMeter(format_named(form.value), workspace.tokenizer.count)
    fitted = partial(
        fit,
        view,
        texts,
        meter.render,
        budget,
        includes=includes,
        revision=workspace.revision,
        count=meter.count,
    )
    if memory.reader.session is not None:
        sent, told = _to_reader(workspace, memory, fitted, meter, texts, view)
        return Answer(sent.pack, sent.text, told, texts, form)
    sent = fitted()
    splitter = Splitter(texts, budget, workspace.tokenizer.count)
    if is_hybrid:
        sent = meter.settle(splitter.split(sent.pack))
    return Answer(sent.pack, sent.text, None, texts, form, tuple(splitter.pieces))


@contextmanager
def _opened(workspace: Workspace, reader: Session, name: str) -> Iterator[Sessions]:
    """The store of what readers were shown, where a reader is forgotten if that is wanted."""
    with workspace.sessions() as sessions:
        if reader.reset:
            sessions.reset(name)
        yield sessions


def _to_reader(
    workspace: Workspace,
    memory: Memory,
    fitted: Callable[..., Fitted],
    meter: TokenMeter,
    texts: Texts,
    view: View,
) -> tuple[Fitted, Told]:
    """A pack in the words that the reader of a session needs, and what its session has saved; from
    now on the reader has it.
    """
    from tersely.context.pack.delta.reader import Reader

    session = memory.reader.session
    assert session is not None
    with _opened(workspace, memory.reader, session) as sessions:
        reader = Reader(sessions.shown(session), texts, meter.count_once, view)
        if memory.fill:
            sent = fitted(reader=reader)
            whole = reader.restored(sent.pack)
        else:
            sent = fitted()
            whole = sent.pack
            shortened = meter.settle(reader.shortened(whole))
            sent = min(shortened, sent, key=lambda one: one.pack.used)
        sessions.record(session, *reader.sent(sent.pack))
    return sent, _savings(session, sent.pack, meter.settle(whole).pack.used)


class Text(NamedTuple):
    """An answer that is one text, as it is sent."""

    text: str
    used: int  # tokens of it
    told: Told | None


def told_outline(workspace: Workspace, reader: Session, key: str, outline: Outline) -> Text:
    """An outline in the words that its reader needs, and what the reader has then written down.

    `key` says what is outlined: lines that were shown for one key are not sent again for it.
    """
    from tersely.context.pack.delta.sessions import SentTexts
    from tersely.context.pack.kinds.outline import lost, named, without_known

    check(reader)
    text, used = outline.text, outline.used
    if reader.session is None:
        return Text(text, used, None)
    with _opened(workspace, reader, reader.session) as sessions:
        had = sessions.shown(reader.session).get(key)
        names = dict(row.split("\t", 1) for row in had.body.split("\n") if row) if had else {}
        if names:
            short = without_known(outline, names)
            size = workspace.tokenizer.count(short)
            text, used = (short, size) if size < used else (text, used)
        now = named(outline)
        before = sum(names.get(one) == name for one, name in now.items())
        kept = names | now
        for one in lost(outline, names):
            del kept[one]
        body = "".join(f"{one}\t{name}\n" for one, name in kept.items())
        sessions.record(reader.session, {key: SentTexts(body=body)}, ())
    return Text(text, used, Told(reader.session, before, 0, len(now) - before, outline.used - used))


def unsent(workspace: Workspace, reader: Session, key: str, rows: Sequence[str]) -> set[str]:
    """The rows that a reader was not sent under a key; from now on it was. All of them without a
    session.
    """
    from tersely.context.pack.delta.sessions import SentTexts

    check(reader)
    if reader.session is None:
        return set(rows)
    with _opened(workspace, reader, reader.session) as sessions:
        had = sessions.shown(reader.session).get(key)
        known = dict.fromkeys(had.body.split("\n")) if had else {}
        new = set(rows).difference(known)
        sessions.record(
            reader.session, {key: SentTexts(body="\n".join([*known, *dict.fromkeys(rows)]))}, ()
        )
    return new


def _savings(name: str, pack: Pack, whole_tokens: int) -> Told:
    from tersely.context.pack.model import Delta

    number = Counter(
        [*(item.delta for item in pack.items), *(extract.delta for extract in pack.extracts)]
    )
    whole = number[Delta.WHOLE] + number[Delta.CHANGED]
    return Told(
        name, number[Delta.UNCHANGED], number[Delta.DIFF], whole, max(0, whole_tokens - pack.used)
    )


class Shown(Protocol):
    """An answer that is one text, whatever else is known of it."""

    @property
    def text(self) -> str:
        """The text that is printed, which was counted."""

    @property
    def session(self) -> Told | None:
        """The changes that a session made to the answer; None without a session."""


def counted_text(found: Shown, style: Style) -> str:
    """The answer as it was counted: nothing is added to it; of one that is empty, that it is."""
    return found.text or style.doubtful(NOTHING_FOUND)


def session_aside(found: Shown, style: Style) -> str:
    """The line beside the answer of what the session did."""
    return "\n".join(session_lines(found.session, style))


def session_lines(told: Told | None, style: Style) -> list[str]:
    """The changes that a session made to an answer: a line beside it, none without one that was
    named.
    """
    if told is None or told.id.startswith(OF_DOOR):
        return []
    sent = f"{told.unchanged} unchanged, {told.diffs} as a diff, {told.whole} whole"
    return [style.faint(f"session {told.id}: {sent}; {counted(told.saved, 'token')} saved")]
