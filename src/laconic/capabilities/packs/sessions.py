"""Sessions, for every capability that answers with a pack: the options that declare one, and sending packs in it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from laconic.capabilities.declaration import Role, option
from laconic.capabilities.text import Style, counted
from laconic.foundation.errors import LaconicError
from laconic.foundation.limits import MAX_SESSION_CHARACTERS, MAX_TARGET_SYMBOLS

if TYPE_CHECKING:
    from laconic.code.lenses.candidate import View
    from laconic.code.pack.include import Include
    from laconic.code.pack.model import Pack, Render
    from laconic.code.pack.scale import Fitted
    from laconic.code.pack.texts import Texts
    from laconic.code.symbols import Symbol
    from laconic.workspace import Workspace

# Arguments with which an answer depends on those before it.
REMEMBERING = frozenset({"session"})


def session_option() -> Any:
    """Declare the session of a pack."""
    says = "send what this reader was shown before as [unchanged] or as a diff; any name, kept in .laconic/"
    return option(None, says, metavar="ID")


def reset_option() -> Any:
    """Declare that a session begins anew."""
    return option(False, "forget first what the session was shown")


def rehydrate_option() -> Any:
    """Declare what a session is to be shown once more."""
    says = "a symbol to show whole although the session was shown it"
    return option((), says, role=Role.SYMBOL, metavar="SYMBOL", maximum=MAX_TARGET_SYMBOLS)


def fill_option() -> Any:
    """Declare what becomes of the tokens that a session saves."""
    return option(True, "fill what the session saves with more; without it the answer is that much shorter")


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


def asked(workspace: Workspace, parameters: Any) -> Asked:
    """Read the options of some parameters that declare them; raises `usage` for one that needs a session."""
    name: str | None = parameters.session
    if name is None:
        for option_name in ("reset", "rehydrate"):
            if getattr(parameters, option_name):
                raise LaconicError(
                    "usage", f"--{option_name} without --session ID", "name the session that it is about"
                )
    elif not 0 < len(name) <= MAX_SESSION_CHARACTERS:
        raise LaconicError("invalid_argument", f"the name of a session has 1 to {MAX_SESSION_CHARACTERS} characters")
    rehydrated = [workspace.engine.symbol(query) for query in parameters.rehydrate]
    return Asked(name, parameters.reset, rehydrated, parameters.fill)


def fitted(
    workspace: Workspace,
    session: Asked,
    view: View,
    texts: Texts,
    render: Render,
    budget: int,
    includes: Sequence[Include] = (),
) -> tuple[Fitted, Told | None]:
    """Fit a pack for the reader of a session, if there is one, and write down what it is sent."""
    from laconic.code.pack.fit import fit

    count, revision = workspace.tokenizer.count, workspace.revision
    if session.id is None:
        return fit(view, texts, render, budget, includes=includes, revision=revision, count=count), None
    from laconic.code.pack.memory.reader import Reader
    from laconic.code.pack.scale import Scale

    scale = Scale(render, count)
    with workspace.sessions() as sessions:
        if session.reset:
            sessions.reset(session.id)
        reader = Reader(sessions.shown(session.id), texts, scale.count_once, {one.id for one in session.rehydrate})
        knows = reader if session.fill else None
        sent = fit(view, texts, render, budget, includes=includes, revision=revision, count=count, reader=knows)
        whole = reader.restored(sent.pack) if session.fill else sent.pack
        if not session.fill:
            shortened = scale.settle(reader.shortened(sent.pack))
            sent = min(shortened, sent, key=lambda one: one.pack.used)
        sessions.record(session.id, *reader.sent(sent.pack))
    return sent, _told(session.id, sent.pack, scale.settle(whole).pack.used)


def _told(name: str, pack: Pack, whole_tokens: int) -> Told:
    from laconic.code.pack.model import Delta

    number = Counter([*(item.delta for item in pack.items), *(extract.delta for extract in pack.extracts)])
    whole = number[Delta.WHOLE] + number[Delta.CHANGED]
    return Told(name, number[Delta.UNCHANGED], number[Delta.DIFF], whole, max(0, whole_tokens - pack.used))


def told_line(told: Told, style: Style) -> str:
    """What a session did for a pack, for people."""
    return style.faint(
        f"session {told.id}: {told.unchanged} unchanged, {told.diffs} as a diff, {told.whole} whole; "
        f"{counted(told.saved, 'token')} saved"
    )
