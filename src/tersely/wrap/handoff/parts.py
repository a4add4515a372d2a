"""The parts of a brief: what a thread knows and who has written, from the relay; a repository, from
its index.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack
from functools import partial
from pathlib import Path
from typing import NamedTuple

from tersely.capabilities.relay.answers.messages import DeliveryTold
from tersely.client import Client
from tersely.daemon.asking import Asking
from tersely.foundation.errors import TerselyError
from tersely.foundation.limits import BRIEF_MESSAGE_CHARACTERS
from tersely.foundation.text.escape import visible_line
from tersely.foundation.text.shortening import one_line
from tersely.foundation.text.tokens import Tokenizer
from tersely.foundation.types import JsonMapping
from tersely.relay.wire.documents import Header
from tersely.wrap.handoff.brief import BriefPart, HandoffBrief, Missing, write_brief

MAX_BRIEF_MESSAGES = 50  # that wait, in one brief
THREAD, UNREAD = "Thread", "Unread messages"
ENTRY, RELATED, STRUCTURE = "Entry point", "Related code", "Structure"
# Which part of what is left a part may take, in the order of their worth.
_SHARES = {THREAD: 2.0, UNREAD: 2.0, ENTRY: 3.0, RELATED: 2.0, STRUCTURE: 3.0}
FIRST_VERSION = 1  # of the state of a thread of which nothing is known yet
_OWN = "brief"  # as whom the relay is asked where nobody is named
_RELATED_SYMBOLS = 8
_DEPTH = 2
# (member of the header, its title, what stands first, what is said)
_LISTS = (
    ("top_facts", "fact", "key", "value"),
    ("top_constraints", "constraint", "severity", "description"),
    ("open_questions", "open question", "", "question"),
    ("next_steps", "next", "", "step"),
    ("last_actions", "done", "at", "description"),
    ("artifact_refs", "artifact", "name", "ref"),
)


class BriefSubject(NamedTuple):
    """Of what a brief is. Whatever is empty or None has no part in it."""

    task: str = ""
    entry: str = ""
    thread: str = ""
    agent: str = ""
    root: Path | None = None
    home: Path | None = None  # of the relay, where there is one


async def brief(subject: BriefSubject, budget: int, answer_words: str) -> HandoffBrief:
    """Everything that is worth knowing at the start; raises `budget_too_small`."""
    tokenizer = Tokenizer()
    async with AsyncExitStack() as opened:
        relay = None if subject.home is None else Client.local(subject.agent or _OWN, subject.home)
        if relay is not None:
            opened.callback(relay.close)
        asking = Asking(answer_words)
        opened.callback(asking.close)
        parts, missing = _of_relay(subject, relay)
        parts += _of_code(subject, asking)
        missing += _without_code(subject)
        return await write_brief(parts, budget, tokenizer, missing)


# From the relay


def _of_relay(subject: BriefSubject, relay: Client | None) -> tuple[list[BriefPart], list[Missing]]:
    wanted = [
        title for title, given in ((THREAD, subject.thread), (UNREAD, subject.agent)) if given
    ]
    if relay is None:
        return [], [Missing(title, "no relay runs: tersely up") for title in wanted]
    writers = {
        THREAD: _waited(lambda: _thread_text(relay, subject.thread)),
        UNREAD: _waited(lambda: _unread_text(relay, subject.agent)),
    }
    return [BriefPart(title, _SHARES[title], writers[title]) for title in wanted], []


def _waited(write: Callable[[], str]) -> Callable[[int], Awaitable[str]]:
    """A function that waits for the relay, done by a thread."""

    async def writing(budget: int) -> str:
        return await asyncio.to_thread(write)

    return writing


def _thread_text(relay: Client, thread_id: str) -> str:
    told = relay.ask("thread.get", thread=thread_id)
    header = relay.ask("state.header", thread=thread_id)
    if header.version == FIRST_VERSION:
        return ""
    name = f" {visible_line(told.name)}" if told.name else ""
    lines = [f"{thread_id}{name}, state v{header.version}", *_header_lines(header)]
    if header.truncated:
        lines.append(f"… the state has more: tersely relay state get --thread {thread_id}")
    return "\n".join(lines) + "\n"


def _header_lines(header: Header) -> list[str]:
    lines = []
    for member, title, first, said in _LISTS:
        for item in getattr(header, member):
            words = [
                str(item[name])
                for name in (first, said)
                if name and item.get(name) not in (None, "")
            ]
            lines.append(visible_line(f"{title}: {': '.join(words)}"))
    return lines


def _unread_text(relay: Client, name: str) -> str:
    page = relay.ask("mail.box", name=name, waiting=True, limit=MAX_BRIEF_MESSAGES)
    lines = [_message_line(one) for one in page.messages]
    if page.next_after is not None:
        lines.append(f"… there are more: tersely inbox {name} --waiting --after {page.next_after}")
    return "\n".join(lines) + "\n" if lines else ""


def _message_line(one: DeliveryTold) -> str:
    body = one_line(one.body, BRIEF_MESSAGE_CHARACTERS)
    thread = f" [thread:{one.thread}]" if one.thread else ""
    return visible_line(f"{one.number} {one.sender}{thread}: {body}")


# From the index


def _of_code(subject: BriefSubject, asking: Asking) -> list[BriefPart]:
    if subject.root is None:
        return []
    root = subject.root
    parts = [
        BriefPart(STRUCTURE, _SHARES[STRUCTURE], _outlined(asking, subject.root, subject.entry))
    ]
    if subject.task:
        related = {"query": [subject.task], "limit": _RELATED_SYMBOLS}
        parts.insert(
            0,
            BriefPart(
                RELATED, _SHARES[RELATED], partial(_answer, asking, root, "code.search", related)
            ),
        )
    if subject.entry:
        entry = {"symbols": [subject.entry], "depth": _DEPTH}
        parts.insert(
            0,
            BriefPart(ENTRY, _SHARES[ENTRY], partial(_answer, asking, root, "code.context", entry)),
        )
    return parts


async def _answer(
    asking: Asking, root: Path, command: str, arguments: JsonMapping, budget: int
) -> str:
    given = {**arguments, "budget": budget}
    return str((await asking.ask(root, command, given, lambda done, total: None))["text"])


def _outlined(asking: Asking, root: Path, entry: str) -> Callable[[int], Awaitable[str]]:
    """The outline as it is seen from the entry point, if there is such a symbol."""

    async def writing(budget: int) -> str:
        try:
            return await _answer(
                asking, root, "code.map", {"focus": [entry]} if entry else {}, budget
            )
        except TerselyError as error:
            if not entry or error.code == "budget_too_small":
                raise
            return await _answer(asking, root, "code.map", {}, budget)

    return writing


def _without_code(subject: BriefSubject) -> list[Missing]:
    if subject.root is not None:
        return []
    wanted = [title for title, given in ((ENTRY, subject.entry), (RELATED, subject.task)) if given]
    return [Missing(title, "there is no repository here") for title in [*wanted, STRUCTURE]]
