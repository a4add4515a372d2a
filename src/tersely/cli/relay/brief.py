"""The command that prints what is worth knowing at the start of a session."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path

from tersely.capabilities.declaration.declaration import option
from tersely.cli.builtin.daemon import ANSWER_WORDS
from tersely.cli.own_command import CommandCall, command
from tersely.foundation.limits import MAX_BUDGET_TOKENS, MIN_BRIEF_TOKENS
from tersely.foundation.process.ancestry import NAME_VARIABLE
from tersely.foundation.storage.roots import enclosing_root, is_repository
from tersely.foundation.types import JsonObject
from tersely.relay.wire.home import home_directory

BRIEF_TOKENS = 2_000  # of a brief, where nothing else is said


@command("brief")
def _brief(
    asked: CommandCall,
    *,
    task: str = option("", "what is to be done; code that it is about is shown", metavar="TEXT"),
    entry: str = option(
        "", "a symbol to begin at; it is shown with what is around it", metavar="SYMBOL"
    ),
    thread: str = option(
        "", "the id of a thread (default: TERSELY_THREAD, or that of this project)", metavar="ID"
    ),
    agent: str = option("", f"whose unread messages (default: {NAME_VARIABLE})", metavar="NAME"),
    budget: int = option(
        BRIEF_TOKENS,
        "the most tokens that all of it may have",
        minimum=MIN_BRIEF_TOKENS,
        maximum=MAX_BUDGET_TOKENS,
        metavar="TOKENS",
    ),
) -> JsonObject:
    """Brief for the start of a session, within a token budget."""
    from tersely.wrap.handoff.parts import BriefSubject, brief

    home = _running_home()
    directory, has_code = session_directory(asked.options.root)
    root = directory if has_code else None
    agent = agent or os.environ.get(NAME_VARIABLE, "")
    thread = thread or _thread(home, directory)
    subject = BriefSubject(task, entry, thread, agent, root, home)
    made = asyncio.run(brief(subject, budget, ANSWER_WORDS))
    missing = [{"part": one.title, "reason": one.reason} for one in made.missing]
    return {
        "text": made.text, "tokens": made.tokens, "budget": made.budget, "parts": made.parts, "missing": missing,
        "thread": thread, "agent": agent,
    }  # fmt: skip


def session_directory(root: str) -> tuple[Path, bool]:
    """The directory that a session is about, and whether it is a repository: one that was named
    counts as such.
    """
    directory = enclosing_root(str(Path(root or ".").resolve()))
    return Path(directory), bool(root) or is_repository(directory)


def _running_home() -> Path | None:
    from tersely.client import relay_process

    home = home_directory()
    return home if relay_process.running(home) is not None else None


def _thread(home: Path | None, directory: Path) -> str:
    from tersely.client import Client
    from tersely.wrap.handoff import threads

    named = os.environ.get(threads.VARIABLE, "")
    if named or home is None:
        return named
    with Client.local("cli", home) as relay:
        return threads.named_or_own(relay, "", directory)
