"""Threads: what they are called, their state, and what happened in them."""

from __future__ import annotations

import json
import re
from functools import partial
from typing import TYPE_CHECKING, Any

from msgspec import convert, to_builtins

from tersely.capabilities.answers.text import Style, aligned
from tersely.capabilities.declaration.declaration import (
    Effect,
    frozen,
    option,
    positional,
    relay_capability,
)
from tersely.capabilities.relay.answers.pages import BEHIND, MAX_PAGE_ENTRIES
from tersely.capabilities.relay.context import RelayContext
from tersely.foundation.errors import TerselyError
from tersely.foundation.limits import MAX_NAME_CHARACTERS
from tersely.foundation.text.escape import json_escaped, visible_line
from tersely.foundation.types import MISSING
from tersely.relay.wire.documents import (
    THREAD_ERRORS,
    VERSION,
    ArtifactTold,
    Events,
    EventTold,
    Header,
    History,
    Patched,
    SpentTold,
    State,
    Threads,
    ThreadTold,
)

if TYPE_CHECKING:
    from tersely.foundation.types import JsonObject
    from tersely.relay.threads import threads

MAX_THREAD_LIMIT = 1_000_000_000_000  # of programs in a day
LISTED_ENTRIES = 100  # where nobody says how many
SHOWN_REF_CHARACTERS = 12  # of a hash
_SHOWN_ITEM_CHARACTERS = 200
_SHOWN_VALUE_CHARACTERS = 160
_SHOWN_ARTIFACTS = 100
_FIELDS = re.compile(r'[\s="]|[:,] ')
THREAD_ID = positional("the id of a thread", metavar="THREAD-ID")
OF_THREAD = option(MISSING, "the id of a thread")
LISTED = option(LISTED_ENTRIES, "how many at most", minimum=1, maximum=MAX_PAGE_ENTRIES)
_LISTS = ("top_facts", "top_constraints", "open_questions", "next_steps")


@frozen
class ThreadShown:
    """A thread with the header of its state, and its first artifacts."""

    thread: ThreadTold
    header: Header
    artifacts: list[ArtifactTold]


_reading = partial(relay_capability, fails=THREAD_ERRORS)
_writing = partial(_reading, effect=Effect.WRITE)


@_writing(
    "thread.new",
    lambda made, style: made.thread_id,
    'thread new --name "parse dates"',
    "thread new --programs 4",
    fails=("invalid_argument", "not_permitted"),
)
def new(
    context: RelayContext,
    *,
    name: str = option("", "what to call it", maximum=MAX_NAME_CHARACTERS),
    programs: int | None = option(
        None,
        "that its agents start in a day, where that is not as the policy says; the person's to say",
        minimum=1,
        maximum=MAX_THREAD_LIMIT,
    ),
) -> ThreadTold:
    """Make a thread.

    A thread is one piece of work: a state, artifacts and events.
    """
    from tersely.relay.teams.spending import PROGRAMS
    from tersely.relay.threads import threads

    most = {} if programs is None else {PROGRAMS: programs}
    if most and not context.is_typed():
        hint = "the person types it at a terminal that no agent was started in"
        raise TerselyError("not_permitted", "an agent sets no bounds of a thread", hint)
    store = context.relay.store
    return told(context, threads.create(store, name, context.agent, most=most))


def _list_text(found: Threads, style: Style) -> str:
    rows = [
        (
            one.thread_id,
            one.created_at,
            one.state_ref,
            f"{one.artifact_count}",
            visible_line(one.name),
        )
        for one in found.threads
    ]
    lines = aligned([("thread", "created", "state", "artifacts", "name"), *rows], [style.symbol])
    return "\n".join(lines) if rows else "there are no threads"


@_reading("thread.list", _list_text, "runs", fails=())
def recent(
    context: RelayContext,
    *,
    before: str = option("", "those older than this thread"),
    limit: int = LISTED,
) -> Threads:
    """List threads, the newest first."""
    from tersely.relay.threads import threads

    found = threads.recent(context.relay.store, before, limit)
    return Threads([told(context, one) for one in found])


def _thread_lines(thread: ThreadTold, style: Style) -> list[str]:
    rows = [
        ("thread", thread.thread_id),
        ("name", visible_line(thread.name)),
        ("created", thread.created_at),
    ]
    rows += [("state", thread.state_ref), ("calls", f"{thread.hop_count:,}")]
    rows += [("today", spent_line(thread.spent))] if thread.spent is not None else []
    return aligned(rows, [style.faint])


@_reading("thread.get", lambda one, style: "\n".join(_thread_lines(one, style)))
def get(
    context: RelayContext,
    *,
    thread: str = THREAD_ID,
) -> ThreadTold:
    """One thread."""
    from tersely.relay.threads import threads

    return told(context, threads.get(context.relay.store, thread))


def _show_text(found: ThreadShown, style: Style) -> str:
    lines = _thread_lines(found.thread, style)
    for title in _LISTS:
        items = getattr(found.header, title)
        lines += (
            [f"{title.replace('_', ' ')}:", *(f"  {_item_line(one)}" for one in items)]
            if items
            else []
        )
    listed = artifact_lines(found.artifacts, style)
    lines += ["artifacts:", *(f"  {line}" for line in listed)] if listed else []
    return "\n".join(lines)


@_reading("thread.show", _show_text, "show THREAD")
def show(
    context: RelayContext,
    *,
    thread: str = THREAD_ID,
) -> ThreadShown:
    """State and artifacts of a thread."""
    from tersely.relay.artifacts import artifacts
    from tersely.relay.threads import threads

    store = context.relay.store
    found = artifacts.listed(store, thread, limit=_SHOWN_ARTIFACTS)
    listed = [one.told() for one in found]
    return ThreadShown(told(context, threads.get(store, thread)), _header(context, thread), listed)


def as_json(value: Any, style: Style) -> str:
    """A document as indented JSON, which is what it is read as."""
    return json_escaped(json.dumps(to_builtins(value), ensure_ascii=False, indent=2))


@_reading("state.header", as_json, "state header --thread THREAD")
def header(
    context: RelayContext,
    *,
    thread: str = OF_THREAD,
) -> Header:
    """The bounded view of a state that agents are given."""
    return _header(context, thread)


def _header(context: RelayContext, thread: str) -> Header:
    from tersely.relay.threads import threads

    return convert(threads.header(context.relay.store, thread), Header)


@_reading(
    "state.get",
    as_json,
    "state get --thread THREAD",
    "state get --thread THREAD --version v7",
    fails=(*THREAD_ERRORS, "version_not_found", "invalid_argument"),
)
def state(
    context: RelayContext,
    *,
    thread: str = OF_THREAD,
    version: str = option("", "as v7 or 7; the present one without", pattern=VERSION),
) -> State:
    """The whole state, at any version."""
    from tersely.relay.threads import threads

    wanted = threads.read_state_ref(version) if version else None
    return convert(threads.state(context.relay.store, thread, wanted), State)


@_writing(
    "state.patch",
    lambda made, style: made.state_ref,
    """state patch --thread THREAD --patch '[{"op": "add", "path": "/facts/-", "value": {"key": "k"}}]'""",
    fails=(
        *THREAD_ERRORS,
        "invalid_patch",
        "patch_failed",
        "invalid_state",
        "version_conflict",
        "payload_too_large",
        "key_reused",
        "invalid_argument",
    ),
)
def patch(
    context: RelayContext,
    *,
    thread: str = OF_THREAD,
    patch: list[Any] = option(
        MISSING, "a JSON Patch (RFC 6902), on a command line - for standard input", metavar="JSON"
    ),
    version: str = option("", "change this version alone, as v7; any without", pattern=VERSION),
) -> Patched:
    """Change a state by JSON Patch.

    A state has facts, constraints, open_questions, decisions, plan, artifacts and last_actions.
    """
    from tersely.relay.encoding import encode
    from tersely.relay.threads import threads

    relay, of = context.relay, version or context.expected
    relay.policy.check_payload(len(encode(patch)))
    expected = threads.read_state_ref(of) if of else None
    made = threads.patch_state(
        relay.store,
        thread,
        patch,
        context.agent,
        expected=expected,
        key=context.key,
    )
    return made.told()


def _history_text(found: History, style: Style) -> str:
    rows = [
        (one.state_ref, one.at, one.by, _item_line({"": json.dumps(one.operations)}))
        for one in found.versions
    ]
    return "\n".join(aligned(rows, [style.symbol]))


@_reading("state.history", _history_text, "state history --thread THREAD")
def history(
    context: RelayContext,
    *,
    thread: str = OF_THREAD,
    before: int | None = option(None, "those before this version", minimum=1),
    limit: int = LISTED,
) -> History:
    """The patches that led to a state, the newest first."""
    from tersely.relay.threads import threads

    found = threads.history(context.relay.store, thread, before, limit)
    return History(found)


def event_line(event: EventTold) -> str:
    """An event on one line."""
    payload = event.payload.items() if isinstance(event.payload, dict) else ()
    shown = [
        f"{_delimited(name)}={_delimited(value)}"
        for name, value in payload
        if isinstance(value, str | int)
    ]
    return visible_line(f"{event.seq:>6} {event.timestamp} {event.type}  {' '.join(shown)}")


@_reading(
    "event.list",
    lambda found, style: (
        "\n".join(map(event_line, found.events)) or "nothing has happened behind that number"
    ),
)
def events(
    context: RelayContext,
    *,
    thread: str = THREAD_ID,
    after: int = BEHIND,
    limit: int = LISTED,
) -> Events:
    """What happened in a thread, the oldest first."""
    from tersely.relay.threads import threads

    found = threads.events(context.relay.store, thread, after, limit)
    return Events([one.told() for one in found])


def told(context: RelayContext, thread: threads.Thread) -> ThreadTold:
    """A thread with the figures that lists show."""
    from tersely.relay.store.streams import STATE
    from tersely.relay.teams import spending
    from tersely.relay.threads.accounting import savings

    store = context.relay.store
    found = store.document(STATE + thread.thread_id)
    figures = savings(store, f"thread/{thread.thread_id}")
    return ThreadTold(
        **thread.told(found[0] if found else 1),
        hop_count=figures.hops,
        artifact_count=figures.artifacts,
        spent=spent_told(context, thread, spending.programs(store, thread.thread_id)),
    )


def spent_told(context: RelayContext, thread: threads.Thread, programs: int) -> SpentTold:
    """The programs of a thread's agents today, beside their bound."""
    from tersely.relay.teams import spending

    return SpentTold(programs, spending.bound(context.relay.policy, thread))


def spent_line(spent: SpentTold) -> str:
    """A line about what was used of what."""
    return f"{spent.programs:,} of {spent.most_programs:,} programs"


def artifact_lines(artifacts: list[ArtifactTold], style: Style) -> list[str]:
    """Artifacts, a line each."""
    rows = [
        (one.ref[:SHOWN_REF_CHARACTERS], one.type, f"{one.size:,}", visible_line(one.name))
        for one in artifacts
    ]
    return aligned(rows, [style.symbol], right=(2,)) if rows else []


def _item_line(item: JsonObject) -> str:
    pairs = [(name, value) for name, value in item.items() if name != "id"]
    shown = [
        f"{_delimited(name)}: {_delimited(value)}" if name else _delimited(value)
        for name, value in pairs
    ]
    return visible_line(", ".join(shown))[:_SHOWN_ITEM_CHARACTERS]


def _delimited(value: Any) -> str:
    """A value of somebody else's, in quotes where it could be taken for more fields than it is."""
    text = str(value)[:_SHOWN_VALUE_CHARACTERS]
    return json.dumps(text, ensure_ascii=False) if _FIELDS.search(text) else text
