"""The interface of an agent to the screen: all that it knows of it, beside the events that a turn
consists of.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from typing import NamedTuple, Protocol

from tersely.agent.events import CallEnded, CallStarted, Decision, Event
from tersely.agent.opening import Mode
from tersely.agent.tools.declaration import INSIST
from tersely.foundation.errors import TerselyError


class ShownStatus(NamedTuple):
    """The figures of the top row. `cached_percent` of the last prompt, None where the server does
    not say.
    """

    model: str
    tier: int
    used_tokens: int
    window_tokens: int
    cached_percent: float | None
    repository: str
    confinement: str  # what bash is confined to, in words that follow its name; "" if it is not
    retrieves: bool
    session: str  # its id, as in `SessionRow`


class ToolRow(NamedTuple):
    """A tool as it is listed; `policy` is allow, ask or deny."""

    name: str
    tier: int
    signature: str
    policy: str
    is_unlocked: bool


class SessionRow(NamedTuple):
    """A session that can be gone on with; `updated` is a date and time as people read it."""

    id: str
    title: str
    turns: int
    updated: str


class ShownWords(NamedTuple):
    """A message of a session that goes on; `role` is user or assistant."""

    role: str
    text: str


class ShownAgent(Protocol):
    """An agent and its session. What goes wrong is a `TerselyError`; sentences that are returned
    are for the user.
    """

    def status(self) -> ShownStatus:
        """The state of the agent; cheap, asked after every event that may have changed it."""

    def run(self, message: str, pasted: Sequence[str] = ()) -> AsyncIterator[Event]:
        """One turn; its last event is `TurnEnded`. `pasted` are parts of the message that were not
        typed.
        """

    def cancel(self) -> None:
        """Have the running turn end."""

    def approve(self, call_id: str, decision: Decision, pattern: str = "") -> None:
        """Answer `ApprovalAsked`."""

    def tools(self) -> Sequence[ToolRow]:
        """Every tool, also those that are locked."""

    def set_tier(self, tier: int) -> None:
        """Lock or unlock tools by hand; raises `invalid_argument` for a tier that there is not."""

    def mode(self) -> Mode:
        """The freedom with which it works."""

    def set_mode(self, mode: Mode) -> None:
        """Work in another mode."""

    def set_retrieval(self, on: bool) -> None:
        """Turn on or off that code is looked up and put in before the model is asked."""

    async def models(self, url: str) -> Sequence[str]:
        """The names of the models that the server at a URL has, the server in use for ""."""

    async def use_model(self, name: str, url: str) -> str:
        """Go on with another model, of the server at a URL or for "" of that in use; the first it
        has for no name.
        """

    def set_budget(self, tokens: int) -> None:
        """Limit the tokens of all requests of the session together; 0 for no limit."""

    def budget(self) -> str:
        """The tokens that the session has used of its limit, as a line."""

    async def compact(self) -> str:
        """Make the prompt shorter now."""

    async def undo(self, *, insists: bool) -> str:
        """Take back the last change to files; who insists, also what was left since somebody else
        changed it.
        """

    async def sessions(self) -> Sequence[SessionRow]:
        """The sessions of this repository, the newest first."""

    async def resume(self, session: str) -> None:
        """Go on with another session."""

    async def begin_anew(self) -> None:
        """Go on with a new session."""

    async def run_command(self, command: str) -> str:
        """Run a command of the shell as `bash` does, because the user says so: what it printed,
        which the model reads with the next message.
        """

    async def fork(self) -> str:
        """Go on in a copy of this session."""

    def history(self) -> Sequence[ShownWords | CallStarted | CallEnded]:
        """The words and calls so far in this session."""

    def cost(self) -> str:
        """The cost of the session so far, as lines."""


async def undo(agent: ShownAgent, argument: str) -> str:
    """Do what follows `/undo`; raises `invalid_argument` for what means nothing there."""
    if argument not in {"", INSIST}:
        raise TerselyError(
            "invalid_argument", f"there is no /undo {argument}", f"it is /undo, or /undo {INSIST}"
        )
    return await agent.undo(insists=argument == INSIST)


def set_retrieval(agent: ShownAgent, *, on: bool) -> str:
    """Turn on or off that code is looked up beforehand; a line that says so."""
    agent.set_retrieval(on)
    return (
        "code is looked up before the model is asked" if on else "no code is looked up beforehand"
    )
