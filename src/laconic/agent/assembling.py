"""What is sent to the model: the user's message with what belongs before it, and room for it."""

from __future__ import annotations

import os
from collections.abc import Sequence
from contextlib import suppress

from laconic.agent import compaction, disclosure, retrieval
from laconic.agent.calling import Paths
from laconic.agent.conversation import Conversation
from laconic.agent.events import Compacted, Item, Level, Notice, Retrieved
from laconic.agent.sessions.analytics import tiers_used
from laconic.agent.sessions.session import Draft, Stored
from laconic.agent.sessions.store import name_of
from laconic.agent.tools.observation import bounded
from laconic.code.index.listing.git import GitListing
from laconic.code.index.listing.running import GitUnavailableError
from laconic.code.index.scan import scan
from laconic.foundation.limits import MAX_AGENTS_BYTES

_LOOKING = frozenset({"read", "search", "outline"})


async def open_turn(talk: Conversation, message: str) -> None:
    """Append the user's message, and before it what it unlocks, what it is about, and what the project asks."""
    session = talk.session
    await look_around(talk)
    await make_room_between_turns(talk, message)
    if not session.messages and not session.name:
        session.rename(name_of(message))
    tier, words = disclosure.intent(message)
    is_work = await talk.unlock(tier, f"the message says “{words}”")
    found = None
    if talk.retrieves:
        found = await retrieval.retrieve(talk.toolbox, message, talk.budget.retrieval, talk.toolbox.tokenizer)
    if found is not None:
        await talk.emit(Retrieved(talk.turn, found.items, found.tokens, found.why))
    asks = await project_asks(talk) if is_work or found is not None else ""
    summary = f"{compaction.HEADING}\n{session.summary}" if session.summary else ""
    known = [found.text if found else "", *talk.asides]
    parts = [summary, asks, talk.announcement(), *known, await shortened(talk, message)]
    talk.asides.clear()
    content = "\n\n".join(filter(None, parts))
    session.add(Draft("user", content, talk.count(content), talk.turn, shown=message))


async def project_asks(talk: Conversation) -> str:
    """What AGENTS.md asks, unless the prompt has it already."""
    heading = f"{retrieval.AGENTS_FILE} asks:"
    place = talk.toolbox.root / retrieval.AGENTS_FILE
    if any(heading in stored.content for stored in talk.session.prompted()):
        return ""

    def content() -> bytes:
        try:
            inside = place.resolve(strict=True).is_relative_to(talk.toolbox.root) and place.is_file()
            if not inside:
                return b""
            with place.open("rb") as file:
                return file.read(MAX_AGENTS_BYTES)
        except OSError:
            return b""

    text = retrieval.digest(await talk.toolbox.apart(content), talk.budget.agents, talk.toolbox.tokenizer)
    if text:
        items = (Item(retrieval.AGENTS_FILE, talk.count(text)),)
        await talk.emit(Retrieved(talk.turn, items, items[0].tokens, "the project asks it of agents"))
    return text


async def shortened(talk: Conversation, message: str) -> str:
    """A message that fits: the middle of a long one is kept where the model can read it."""
    most = talk.budget.message
    if len(message) <= most or talk.count(message) <= most:
        return message
    box = talk.toolbox
    short = await box.apart(lambda: bounded(message, box.kept, box.tokenizer, "ok", most))
    text = f"the message is long: its middle is left out, and kept as ref {short.ref}"
    await talk.emit(Notice(talk.turn, Level.WARNING, text))
    return short.text


async def habit(talk: Conversation, tool: str) -> None:
    """Unlock what earlier sessions in this repository came to use once they had looked."""
    has_called = any(stored.shown == "" and stored.role != "assistant" for stored in talk.session.messages)
    if has_called or tool not in _LOOKING:
        return
    session = talk.session
    tiers = tiers_used(talk.store, session.repository, session.id, disclosure.HISTORY_SESSIONS)
    await talk.unlock(disclosure.by_history(tiers), "most sessions here came to use it")


async def look_around(talk: Conversation) -> None:
    """Learn which files there are, for calls that name one."""
    files = await talk.toolbox.apart(lambda: _files(str(talk.toolbox.root)))
    if talk.paths is None or talk.paths.files != files:
        talk.paths = Paths(files)


def _files(root: str) -> tuple[str, ...]:
    """All that git lists, source or not; without git, all source and what lies beside it."""
    with GitListing(root) as listing:
        try:
            listed = listing.result()
        except GitUnavailableError:
            return _with_neighbours(root, [file.path for file in scan(root).files])
    return tuple(sorted({*listed.tracked, *listed.untracked}))


def _with_neighbours(root: str, source: Sequence[str]) -> tuple[str, ...]:
    """Files of source, and all others of their folders and of the root that are not hidden."""
    found = set(source)
    for folder in {"", *(path.rpartition("/")[0] for path in source)}:
        with suppress(OSError), os.scandir(f"{root}/{folder}") as entries:
            names = [entry.name for entry in entries if entry.is_file(follow_symlinks=False)]
            found |= {f"{folder}/{name}".removeprefix("/") for name in names if not name.startswith(".")}
    return tuple(sorted(found))


async def make_room_between_turns(talk: Conversation, message: str) -> None:
    """Have old turns leave where the prompt would be above its threshold."""
    prompt = talk.session.prompt()
    coming = min(talk.count(message), talk.budget.message) + talk.budget.retrieval * talk.retrieves
    if talk.session.messages and talk.gauge.tokens(prompt) + coming > talk.budget.threshold:
        await compact(talk, talk.budget.history)


async def compact(talk: Conversation, most_tokens: int) -> Compacted | None:
    """Have the turns leave that do not fit into `most_tokens`; None where there is none."""
    session, prompt = talk.session, talk.session.prompt()
    messages = session.prompted()
    at = compaction.first_kept(messages, most_tokens)
    leaving = messages[:at]
    if not leaving or session.summary:
        return None
    before = talk.gauge.tokens(prompt)
    most = talk.budget.summary
    if before + most < talk.budget.window:
        made = await compaction.summarised(talk.model, prompt, leaving, most, talk.toolbox.tokenizer)
    else:
        text = compaction.extracts(leaving, most, talk.toolbox.tokenizer)
        made = compaction.Summary(text, compaction.EXTRACTIVE)
    session.leave_out(messages[at].id if at < len(messages) else None, made.text)
    kept = sum(stored.tokens for stored in messages[at:]) + talk.count(session.prefix) + talk.count(made.text)
    done = Compacted(talk.turn, before, kept, made.how)
    await talk.emit(done)
    return done


async def has_room(talk: Conversation, *, is_refused: bool = False) -> bool:
    """Whether the prompt fits with a reply; once in a turn, what is oldest leaves. `is_refused`: the server says no."""
    before = talk.gauge.tokens(talk.session.prompt())
    if before <= talk.budget.room and not is_refused:
        return True
    messages = talk.session.prompted()
    most = talk.budget.observations // 2
    if is_refused:  # by a server that counts otherwise than we do
        most = min(most, sum(stored.tokens for stored in messages) // 2)
    at = compaction.first_kept_step(messages, most)
    if talk.has_made_room or at == 0:
        return False
    talk.has_made_room = True
    _fold(talk, messages, at)
    after = talk.gauge.tokens(talk.session.prompt())
    await talk.emit(Compacted(talk.turn, before, after, compaction.EXTRACTIVE))
    return after <= talk.budget.room


def _fold(talk: Conversation, messages: Sequence[Stored], at: int) -> None:
    """Have all messages before a place leave, and say in the last one what they were."""
    session, last = talk.session, messages[-1]
    wish = next((each.text for each in messages[:at] if each.turn == last.turn and each.role == "user"), "")
    text = compaction.extracts(messages[:at], talk.budget.summary, talk.toolbox.tokenizer)
    task = talk.toolbox.tokenizer.truncate(wish, talk.budget.summary)
    parts = [
        f"{compaction.HEADING}\n{text}",
        f"The task: {task}" if task else "",
        talk.announcement(after_all_left=True),
    ]
    content = "\n\n".join(filter(None, [*parts, last.content]))
    session.replace_last(content, talk.count(content), messages[at].id)
