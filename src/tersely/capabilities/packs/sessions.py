"""What the reader of a pack has, declared alike for all of them: sessions and tags; and fitting packs to it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, NamedTuple, Protocol

from tersely.capabilities.declaration import Role, group, option
from tersely.capabilities.packs.exchange import Exchange, included
from tersely.capabilities.packs.wording import Format, Wording, format_of
from tersely.capabilities.text import Style, counted
from tersely.foundation.errors import TerselyError
from tersely.foundation.limits import MAX_SESSION_CHARACTERS, MAX_TARGET_SYMBOLS

if TYPE_CHECKING:
    from tersely.code.lenses.candidate import View
    from tersely.code.pack.include import Include
    from tersely.code.pack.model import Pack
    from tersely.code.pack.outline import Outline
    from tersely.code.pack.scale import Fitted, Scale
    from tersely.code.pack.texts import Texts
    from tersely.code.symbols import Symbol
    from tersely.workspace import Workspace

# Arguments with which an answer depends on those before it.
REMEMBERING = frozenset({"session", "etag"})
UNCHANGED = "UNCHANGED"
ANSWERS = "<answers>"  # under which versions of answers are remembered: no symbol is named so


@dataclass(frozen=True, slots=True)
class Known:
    """What the reader of an answer was told before."""

    session: str | None = option(
        None,
        "send what this reader was shown before as [unchanged] or as a diff; any name, kept in .tersely/",
        metavar="ID",
    )
    reset: bool = option(False, "forget first what the session was shown")
    etag: str | None = option(
        None, "the tag of the answer that is known: answer UNCHANGED, or what has changed", metavar="TAG", bare=""
    )


@dataclass(frozen=True, slots=True)
class Memory:
    """What the reader of a pack was told before, and what becomes of it."""

    known: Known = group(Known)
    rehydrate: tuple[str, ...] = option(
        (),
        "a symbol to show whole although the session was shown it",
        role=Role.SYMBOL,
        metavar="SYMBOL",
        maximum=MAX_TARGET_SYMBOLS,
    )
    fill: bool = option(True, "fill what the session saves with more; without it the answer is that much shorter")


@dataclass(frozen=True, slots=True)
class Told:
    """The session's part in a pack: how many of its symbols were sent as what, and the tokens that it saved."""

    id: str
    unchanged: int
    diffs: int
    whole: int
    saved: int  # tokens that the same pack takes without a session, beyond those used


class Asked(NamedTuple):
    """What the options of a session say."""

    id: str | None
    reset: bool
    rehydrate: Sequence[Symbol]
    fill: bool
    etag: str | None = None


class Answer(NamedTuple):
    """A pack as it is printed, and what is to be said of it."""

    pack: Pack
    text: str
    used: int  # tokens of the text
    etag: str  # of what the pack says, wherever in their files that stands
    told: Told | None
    texts: Texts


def asked(workspace: Workspace, memory: Memory) -> Asked:
    """Read the options of a session; raises `usage` for one that needs another."""
    known = _checked(memory.known)
    if memory.rehydrate and known.session is None:
        raise TerselyError("usage", "--rehydrate without --session ID", "name the session that it is about")
    rehydrated = [workspace.engine.symbol(query) for query in memory.rehydrate]
    return Asked(known.session, known.reset, rehydrated, memory.fill, known.etag)


def _checked(known: Known) -> Known:
    """Refuse options that need or exclude each other, and names that are none."""
    name = known.session
    if name is None:
        if known.reset:
            raise TerselyError("usage", "--reset without --session ID", "name the session that it is about")
    elif known.etag is not None:
        raise TerselyError("usage", "either --session or --etag", "a session knows itself what its reader has")
    elif not 0 < len(name) <= MAX_SESSION_CHARACTERS:
        raise TerselyError("invalid_argument", f"the name of a session has 1 to {MAX_SESSION_CHARACTERS} characters")
    return known


def answered(
    workspace: Workspace,
    session: Asked,
    wording: Wording,
    view: View,
    texts: Texts,
    budget: int,
    exchange: Exchange,
) -> Answer | str:
    """Fit a pack in the words that are wanted, and write down what the reader is sent; or `UNCHANGED`."""
    from tersely.code.pack.scale import Scale
    from tersely.code.render.formats import format_named

    form = format_of(wording)
    includes, texts = included(exchange, texts, budget, workspace.tokenizer)
    scale = Scale(format_named(form.value), workspace.tokenizer.count)
    sent, told = _fitted(workspace, session, view, texts, scale, budget, includes)
    etag = pack_etag(sent.pack)
    if session.etag == etag:
        return UNCHANGED
    text, used = sent.text, sent.pack.used
    if session.etag is not None and form is not Format.JSON:
        text, used = changed_text(workspace, session.etag, etag, text, used)
    return Answer(sent.pack, text, used, etag, told, texts)


def _fitted(
    workspace: Workspace,
    session: Asked,
    view: View,
    texts: Texts,
    scale: Scale,
    budget: int,
    includes: Sequence[Include],
) -> tuple[Fitted, Told | None]:
    """Fit a pack for the reader of a session, if there is one, and write down what it is sent."""
    from tersely.code.pack.fit import fit

    fitted = partial(
        fit,
        view,
        texts,
        scale.render,
        budget,
        includes=includes,
        revision=workspace.revision,
        count=scale.count,
    )
    if session.id is None:
        return fitted(), None
    from tersely.code.pack.memory.reader import Reader

    with workspace.sessions() as sessions:
        if session.reset:
            sessions.reset(session.id)
        reader = Reader(
            sessions.shown(session.id), texts, scale.count_once, {one.id for one in session.rehydrate}, view
        )
        sent = fitted(reader=reader if session.fill else None)
        whole = reader.restored(sent.pack) if session.fill else sent.pack
        if not session.fill:
            shortened = scale.settle(reader.shortened(sent.pack))
            sent = min(shortened, sent, key=lambda one: one.pack.used)
        sessions.record(session.id, *reader.sent(sent.pack))
    return sent, _told(session.id, sent.pack, scale.settle(whole).pack.used)


def pack_etag(pack: Pack) -> str:
    """The tag of what a pack says: not of where in a file it stands, which edits elsewhere change."""
    from tersely.code.pack.memory.etag import etag_of

    items = [(one.symbol.id, one.detail.word, one.reason, one.of, one.signature, one.code) for one in pack.items]
    extracts = [(one.path, one.text) for one in pack.extracts]
    within = [(one.symbol.id, one.reason, one.of) for one in pack.within]
    return etag_of(repr((items, extracts, within, pack.omitted)))


def changed_text(workspace: Workspace, known: str, etag: str, text: str, used: int) -> tuple[str, int]:
    """The difference from an answer that had the tag `known`, if that is remembered and this is shorter."""
    from tersely.code.pack.memory.deltas import diff_of

    with workspace.sessions() as sessions:
        sessions.keep_version(ANSWERS, etag, text)
        before = sessions.version(ANSWERS, known) if known else None
    diff = diff_of(before, text) if before is not None else ""
    changed = f"changed from {known} to {etag}\n{diff}"
    size = workspace.tokenizer.count(changed) if diff else used
    return (changed, size) if size < used else (text, used)


class Text(NamedTuple):
    """An answer that is one text, as it is sent."""

    text: str
    used: int  # tokens of it
    etag: str  # of the whole, if it was asked for
    told: Told | None


def told_outline(workspace: Workspace, known: Known, key: str, outline: Outline) -> Text | str:
    """An outline in the words that its reader needs, and what the reader has then written down; or `UNCHANGED`.

    `key` says what is outlined: lines that were shown for one key are not sent again for it.
    """
    from tersely.code.pack.memory.etag import etag_of

    whole, used = outline.text, outline.used
    etag = etag_of(whole)
    if _checked(known).session is not None:
        return _told_in_session(workspace, known, key, outline)
    if known.etag == etag:
        return UNCHANGED
    if known.etag is None:
        return Text(whole, used, "", None)
    return Text(*changed_text(workspace, known.etag, etag, whole, used), etag, None)


def _told_in_session(workspace: Workspace, known: Known, key: str, outline: Outline) -> Text:
    from tersely.code.pack.memory.sessions import Shown
    from tersely.code.pack.outline import lost, named, without_known

    session, text, used = known.session or "", outline.text, outline.used
    with workspace.sessions() as sessions:
        if known.reset:
            sessions.reset(session)
        had = sessions.shown(session).get(key)
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
        sessions.record(session, {key: Shown(body="".join(f"{one}\t{name}\n" for one, name in kept.items()))}, ())
    return Text(text, used, "", Told(session, before, 0, len(now) - before, outline.used - used))


def _told(name: str, pack: Pack, whole_tokens: int) -> Told:
    from tersely.code.pack.model import Delta

    number = Counter([*(item.delta for item in pack.items), *(extract.delta for extract in pack.extracts)])
    whole = number[Delta.WHOLE] + number[Delta.CHANGED]
    return Told(name, number[Delta.UNCHANGED], number[Delta.DIFF], whole, max(0, whole_tokens - pack.used))


class Shown(Protocol):
    """An answer that is one text, whatever else is known of it."""

    @property
    def text(self) -> str:
        """What is printed, counted."""

    @property
    def session(self) -> Told | None:
        """What a session did."""

    @property
    def etag(self) -> str:
        """The tag of it, if it was asked for."""


def counted_text(found: Shown | str, style: Style) -> str:
    """The answer as it was counted: nothing is added to it."""
    return found if isinstance(found, str) else found.text


def session_aside(found: Shown | str, style: Style) -> str:
    """What the session did, and the tag."""
    return "" if isinstance(found, str) else "\n".join(aside_lines(found.session, found.etag, style))


def aside_lines(told: Told | None, etag: str, style: Style) -> list[str]:
    """What is said beside a pack: what a session did for it, or the tag that was asked for."""
    lines = [style.faint(f"etag {etag}")] if etag else []
    return [*lines, _told_line(told, style)] if told else lines


def _told_line(told: Told, style: Style) -> str:
    return style.faint(
        f"session {told.id}: {told.unchanged} unchanged, {told.diffs} as a diff, {told.whole} whole; "
        f"{counted(told.saved, 'token')} saved"
    )
