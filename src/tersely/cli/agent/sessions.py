"""`tersely sessions`: what was said and done in the sessions of the agent, and what it cost."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Callable, Mapping
from typing import NamedTuple

from tersely.agent.opening import delete_session
from tersely.agent.sessions.analytics import analytics
from tersely.agent.sessions.store import (
    ListedSession,
    SessionHistory,
    SessionStore,
    checked_name,
    short_id,
)
from tersely.capabilities.answers.text import Style, aligned, counted
from tersely.cli.agent.chat import folder
from tersely.cli.agent.command_spec import ExportFormat, SessionParameters, SessionVerb
from tersely.cli.builtin.daemon import resolved_root
from tersely.foundation.clock import local_minute
from tersely.foundation.errors import TerselyError
from tersely.foundation.text.escape import visible_line
from tersely.foundation.text.templates import from_template
from tersely.foundation.types import JsonObject

MAX_TURN_DIGITS = 9


class _Asked(NamedTuple):
    store: SessionStore
    repository: str
    parameters: SessionParameters
    style: Style

    def named(self) -> ListedSession:
        """The session that is meant."""
        if not self.parameters.session:
            raise TerselyError(
                "usage",
                "SESSION is missing",
                "an id, its end, a name, or `last`: tersely sessions list",
            )
        return self.store.find(self.parameters.session, self.repository)


def run_sessions(root: str, parameters: SessionParameters, style: Style) -> JsonObject:
    """Do what the verb says; the result, with its `text`."""
    with SessionStore.open(folder()) as store:
        return _VERBS[parameters.verb](_Asked(store, resolved_root(root), parameters, style))


def _list(asked: _Asked) -> JsonObject:
    found = asked.store.every(asked.repository)
    rows = [
        (
            short_id(each.id),
            _when(each.updated_at),
            counted(each.turns, "turn"),
            visible_line(each.model),
            visible_line(each.name),
        )
        for each in found
    ]
    lines = (
        aligned(rows, [asked.style.symbol, asked.style.faint], right=(2,))
        if rows
        else ["no sessions here"]
    )
    return {"sessions": [each._asdict() for each in found], "text": "\n".join(lines) + "\n"}


def _show(asked: _Asked) -> JsonObject:
    history = asked.store.history(asked.named().id)
    return {**_plain(history), "text": _markdown(history)}


def _fork(asked: _Asked) -> JsonObject:
    new = asked.store.fork(asked.named().id, " ".join(asked.parameters.value))
    return {"id": new.id, "text": f"{new.id}\n"}


def _rewind(asked: _Asked) -> JsonObject:
    found = asked.named()
    turn = "".join(asked.parameters.value)
    if not (turn.isascii() and turn.isdigit() and len(turn) <= MAX_TURN_DIGITS):
        raise TerselyError(
            "usage", "a turn is missing", f"a number from 0 to {found.turns}: tersely sessions show"
        )
    with asked.store.hold(found.id):
        asked.store.resume(found.id).rewind(int(turn))
    return {"id": found.id, "turn": int(turn), "text": f"{found.id} goes on after turn {turn}\n"}


def _rename(asked: _Asked) -> JsonObject:
    found, name = asked.named(), checked_name(" ".join(asked.parameters.value))
    if not name:
        raise TerselyError("usage", "a name is missing", "tersely sessions rename SESSION NAME")
    asked.store.rename(found.id, name)
    return {"id": found.id, "name": name, "text": f"{found.id} is called {visible_line(name)}\n"}


def _delete(asked: _Asked) -> JsonObject:
    found = asked.named()
    delete_session(asked.store, folder(), found.id)
    return {"id": found.id, "text": f"{found.id} is deleted\n"}


def _export(asked: _Asked) -> JsonObject:
    history = asked.store.history(asked.named().id)
    is_json = asked.parameters.format is ExportFormat.JSON
    text = (
        f"{json.dumps(_plain(history), ensure_ascii=False, indent=1)}\n"
        if is_json
        else _markdown(history)
    )
    return {**_plain(history), "text": text}


def _stats(asked: _Asked) -> JsonObject:
    found = [asked.named()] if asked.parameters.session else asked.store.every(asked.repository)
    figures = analytics(asked.store, tuple(each.id for each in found))
    sessions = [
        (
            short_id(each.id), f"{each.requests:,}", f"{each.prompt_tokens:,}",
            "–" if each.cached_percent is None else f"{each.cached_percent:.1f} %", f"{each.completion_tokens:,}",
            f"{each.seconds:,.1f}", visible_line(each.name),
        )
        for each in figures.sessions
    ]  # fmt: skip
    head = ("session", "requests", "prompt", "cached", "answers", "seconds", "name")
    lines = aligned([head, *sessions], [asked.style.symbol], right=(1, 2, 3, 4, 5))
    tools = [
        (
            each.tool,
            f"{each.calls:,}",
            f"{each.completed:,}",
            f"{each.denied:,}",
            f"{each.tokens:,}",
            f"{each.mean_ms:,.0f}",
        )
        for each in figures.tools
    ]
    if tools:
        head_of_tools = ("tool", "calls", "completed", "denied", "tokens", "mean ms")
        lines += [
            "",
            *aligned([head_of_tools, *tools], [asked.style.symbol], right=(1, 2, 3, 4, 5)),
        ]
    told = [{**each._asdict(), "cached_percent": each.cached_percent} for each in figures.sessions]
    return {
        "sessions": told,
        "tools": [each._asdict() for each in figures.tools],
        "text": "\n".join(lines) + "\n",
    }


def _plain(history: SessionHistory) -> JsonObject:
    """All that is kept of a session."""
    messages = [
        {"id": each.id, "parent_id": each.parent_id, "turn": each.turn, "role": each.role, "content": each.content,
         "shown": each.text, "tokens": each.tokens, "created_at": each.created_at, "is_whole": bool(each.is_whole)}
        for each in history.messages
    ]  # fmt: skip
    calls = [each._asdict() for each in history.calls]
    models = [each._asdict() for each in history.models]
    return {**history.listed._asdict(), "models": models, "messages": messages, "tool_calls": calls}


def _markdown(history: SessionHistory) -> str:
    """A session as people read it: what was said, and the calls between."""
    calls = defaultdict(list)
    for call in history.calls:
        calls[call.message_id].append(call)
    text = from_template(
        "cli/agent/session.jinja",
        listed=history.listed,
        when=_when(history.listed.created_at),
        messages=history.messages,
        models={each.turn: each for each in history.models},
        calls=calls,
    )
    return f"{text.rstrip()}\n"


def _when(stamp_ms: int) -> str:
    return local_minute(stamp_ms / 1000)


_VERBS: Mapping[SessionVerb, Callable[[_Asked], JsonObject]] = {
    SessionVerb.LIST: _list,
    SessionVerb.SHOW: _show,
    SessionVerb.FORK: _fork,
    SessionVerb.REWIND: _rewind,
    SessionVerb.RENAME: _rename,
    SessionVerb.DELETE: _delete,
    SessionVerb.EXPORT: _export,
    SessionVerb.STATS: _stats,
}
