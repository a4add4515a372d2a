"""The prompt that is sent to the model: the user's message with what belongs before it, and room
for it.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from contextlib import suppress

from tersely.agent.context import compaction, disclosure, retrieval
from tersely.agent.conversation import Conversation
from tersely.agent.events import NoticeLevel, Retrieved, RetrievedItem
from tersely.agent.sessions.analytics import tiers_used
from tersely.agent.sessions.store import name_of
from tersely.agent.tool_calling import PathTrie
from tersely.agent.tools.files.reading import mark_shown
from tersely.agent.tools.observation import bounded
from tersely.agent.turn.window_budget import make_room_between_turns
from tersely.code.index.scan import scan
from tersely.foundation.git.listing import GitListing
from tersely.foundation.git.runner import GitUnavailableError
from tersely.foundation.limits import MAX_AGENTS_BYTES
from tersely.foundation.types import Strings

_CONTINUE = "Your answer was cut off. Go on exactly where it ended, and repeat nothing."
_LAST_QUESTION = (
    "Call no more tools. Answer now, in plain text, from what you know, and say what is not done."
)
_AFTER_SILENCE = "You said nothing. Make the next call, or answer."
MAX_ASKED_CHARACTERS = 400  # of a message that is said again
_LOOKING = frozenset({"read", "search", "outline"})


async def open_turn(conversation: Conversation, message: str, pasted: Sequence[str] = ()) -> None:
    """Append the user's message, and before it what it unlocks, what it is about, and what the
    project asks.
    """
    session = conversation.session
    await look_around(conversation)
    conversation.toolbox.named = retrieval.named_paths(message, conversation.paths)
    if not session.messages and not session.name:
        session.rename(name_of(message))
    tier, words = disclosure.intent(message, pasted)
    has_new = await conversation.unlock(tier, f"the message says “{words}”")
    conversation.is_work = tier > 0
    await conversation.declare()
    found, short = await _retrieved(conversation, message), await shortened(conversation, message)
    await make_room_between_turns(
        conversation, conversation.count(short) + (found.tokens if found else 0)
    )
    asks = await project_asks(conversation) if has_new or found is not None else ""
    code = await _code(conversation, found, asks) if found is not None else ""
    summary = f"{compaction.HEADING}\n{session.summary}" if session.summary else ""
    parts = [summary, asks, conversation.announcement(), code, *conversation.asides, short]
    conversation.asides.clear()
    content = "\n\n".join(filter(None, parts))
    conversation.append("user", content, shown=message)


async def _retrieved(conversation: Conversation, message: str) -> retrieval.Retrieval | None:
    if not conversation.retrieves:
        return None
    box = conversation.toolbox
    most = conversation.budget.retrieval
    return await retrieval.retrieve(box, message, most, box.tokenizer, conversation.paths)


async def _code(conversation: Conversation, found: retrieval.Retrieval, asks: str) -> str:
    """The code that was found, as far as the prompt does not have it."""
    said = [*(stored.content for stored in conversation.session.prompted()), asks]
    new = retrieval.news(found, said, conversation.toolbox.tokenizer)
    if new is None:
        return ""
    await conversation.emit(Retrieved(conversation.turn, new.items, new.tokens, new.why))
    box = conversation.toolbox
    await box.apart(lambda: mark_shown(box, new.pieces))
    return new.text


async def project_asks(conversation: Conversation) -> str:
    """The requests of AGENTS.md, unless the prompt has them already."""
    place = conversation.toolbox.root / retrieval.AGENTS_FILE
    if any(retrieval.ASKS in stored.content for stored in conversation.session.prompted()):
        return ""

    def content() -> bytes:
        try:
            inside = (
                place.resolve(strict=True).is_relative_to(conversation.toolbox.root)
                and place.is_file()
            )
            if not inside:
                return b""
            with place.open("rb") as file:
                return file.read(MAX_AGENTS_BYTES)
        except OSError:
            return b""

    text = retrieval.digest(
        await conversation.toolbox.apart(content),
        conversation.budget.agents,
        conversation.toolbox.tokenizer,
    )
    if text:
        items = (RetrievedItem(retrieval.AGENTS_FILE, conversation.count(text)),)
        await conversation.emit(
            Retrieved(conversation.turn, items, items[0].tokens, "the project asks it of agents")
        )
    return text


async def shortened(conversation: Conversation, message: str) -> str:
    """A message that fits: the middle of a long one is kept where the model can read it."""
    most = conversation.budget.message
    if len(message) <= most or conversation.count(message) <= most:
        return message
    box = conversation.toolbox
    short = await box.apart(lambda: bounded(message, box.kept, box.tokenizer, "ok", most))
    text = f"the message is long: its middle is left out, and kept as ref {short.ref}"
    await conversation.notice(NoticeLevel.WARNING, text)
    return short.text


async def append_continuation(conversation: Conversation) -> None:
    """Ask for the rest of an answer that was cut off."""
    text = f"the answer reached its limit of {conversation.budget.reply:,} tokens: asked to go on"
    await conversation.notice(NoticeLevel.NOTE, text)
    conversation.append("user", _CONTINUE, shown="")


async def append_last_question(conversation: Conversation) -> None:
    """Ask for an answer from what is known."""
    text = "the model does not get on: asked to answer from what it knows"
    await conversation.notice(NoticeLevel.WARNING, text)
    conversation.append("user", reminded(conversation, _LAST_QUESTION), shown="")


async def append_after_silence(conversation: Conversation) -> None:
    """Ask a model that said nothing to go on."""
    await conversation.notice(NoticeLevel.NOTE, "the model said nothing: asked to go on")
    conversation.append("user", reminded(conversation, _AFTER_SILENCE), shown="")


def reminded(conversation: Conversation, text: str) -> str:
    """A text for the model, and what the user asked for in this turn."""
    messages = reversed(conversation.session.messages)
    asked = next(each.shown for each in messages if each.role == "user" and each.shown)
    return f"{text} You were asked: {asked[:MAX_ASKED_CHARACTERS]}"


async def habit(conversation: Conversation, tool: str) -> None:
    """Unlock what earlier sessions in this repository came to use once they had looked."""
    has_called = any(
        stored.shown == "" and stored.role != "assistant"
        for stored in conversation.session.messages
    )
    if has_called or tool not in _LOOKING:
        return
    session = conversation.session
    tiers = tiers_used(
        conversation.store, session.repository, session.id, disclosure.HISTORY_SESSIONS
    )
    await conversation.unlock(disclosure.by_history(tiers), "most sessions here came to use it")


async def look_around(conversation: Conversation) -> None:
    """Learn which files there are, for calls that name one."""
    files = await conversation.toolbox.apart(lambda: _files(str(conversation.toolbox.root)))
    if conversation.paths is None or conversation.paths.files != files:
        conversation.paths = PathTrie(files)


def _files(root: str) -> Strings:
    """All that git lists, source or not; without git, all source and what lies beside it."""
    with GitListing(root) as listing:
        try:
            listed = listing.result()
        except GitUnavailableError:
            return _with_neighbours(root, [file.path for file in scan(root).files])
    return tuple(sorted({*listed.tracked, *listed.untracked}))


def _with_neighbours(root: str, source: Sequence[str]) -> Strings:
    """Files of source, and all others of their folders and of the root that are not hidden."""
    found = set(source)
    for folder in {"", *(path.rpartition("/")[0] for path in source)}:
        with suppress(OSError), os.scandir(f"{root}/{folder}") as entries:
            names = [entry.name for entry in entries if entry.is_file(follow_symlinks=False)]
            found |= {
                f"{folder}/{name}".removeprefix("/") for name in names if not name.startswith(".")
            }
    return tuple(sorted(found))
