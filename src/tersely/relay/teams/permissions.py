"""Permissions that agents wait for, and what the person said of them.

It is in memory: a question lasts as long as its agent's hook, or `run`, asks it again and again,
until that says that it is over. The first answer stands, and is remembered for as long, so that a
button that is pressed twice answers once.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable
from concurrent.futures import Future
from threading import Lock

from tersely.foundation.activity import ALLOW, DENY
from tersely.foundation.clock import elapsed_seconds
from tersely.foundation.errors import TerselyError
from tersely.foundation.types import record
from tersely.relay.waiters import Waiters

PERMISSION_SILENCE_SECONDS = 10.0  # without being asked again, after which a question is over
MAX_OPEN_PERMISSIONS = 1_000
MAX_AGENT_PERMISSIONS = 64  # of one agent among them, which keeps no others from being asked for
_ID_BYTES = 3


@record
class Permission:
    """One question: an agent, the tool that it wants to use, and for `what`."""

    id: str
    agent: str
    tool: str
    what: str
    since_ms: int
    heard: float  # when it was last asked
    decision: str = ""


class Permissions:
    """The open questions of all agents. May be used from any thread."""

    def __init__(
        self, now_ms: Callable[[], int], clock: Callable[[], float] = elapsed_seconds
    ) -> None:
        self._now_ms = now_ms
        self._clock = clock
        self._open: dict[str, Permission] = {}
        self._changing = Lock()
        self._waiters = Waiters("permission")  # by id

    def ask(self, agent: str, tool: str, what: str, id: str) -> Permission:
        """A question, a new one without `id`; its `decision` is "" until it is answered.

        Raises `permission_not_found` where the id is of no open question of the agent, `busy`.
        """
        with self._changing:
            self._forget_silent()
            known = self._found(id, agent) if id else self._new(agent, tool, what)
            known.heard = self._clock()
            return known

    def wait(self, known: Permission, seconds: float) -> Future[None]:
        """What is done as soon as a question is answered or taken back, or the time is over; raises
        `busy` where too many wait.
        """
        done = self._waiters.wait(known.id, lambda: self._is_settled(known), seconds)
        known.heard = self._clock() + seconds
        return done

    def close(self, agent: str, id: str) -> Permission:
        """End a question of an agent that was answered where the agent runs; raises
        `permission_not_found`.
        """
        with self._changing:
            self._forget_silent()
            known = self._found(id, agent)
            del self._open[id]
        self._waiters.came(id)
        return known

    def end_of(self, agent: str) -> None:
        """End all questions of an agent that waits for none any more; hooks of some agents go on to
        ask.
        """
        with self._changing:
            ended = [one.id for one in self._open.values() if one.agent == agent]
            for one in ended:
                del self._open[one]
        for one in ended:
            self._waiters.came(one)

    def answer(self, id: str, *, allows: bool) -> Permission:
        """Give the person's answer to a question, by its id: under the name of an agent another
        question may stand by now than the person has seen.

        The same answer again changes nothing. Raises `permission_not_found`, also where the other
        answer was given.
        """
        decision = ALLOW if allows else DENY
        with self._changing:
            self._forget_silent()
            known = self._found(id)
            if known.decision not in {"", decision}:
                message = f"permission {known.id} was answered already: {known.decision}"
                raise TerselyError("permission_not_found", message, "an answer cannot be changed")
            known.decision = decision
        self._waiters.came(known.id)
        return known

    def listed(self) -> list[Permission]:
        """The questions that wait for an answer, the oldest first."""
        with self._changing:
            self._forget_silent()
            return [one for one in self._open.values() if not one.decision]

    def _is_settled(self, known: Permission) -> bool:
        return bool(known.decision) or known.id not in self._open

    def _new(self, agent: str, tool: str, what: str) -> Permission:
        if len(self._open) >= MAX_OPEN_PERMISSIONS:
            raise TerselyError(
                "busy", f"{MAX_OPEN_PERMISSIONS:,} permissions are waited for", "answer some"
            )
        if sum(one.agent == agent for one in self._open.values()) >= MAX_AGENT_PERMISSIONS:
            message = f"{agent} waits for {MAX_AGENT_PERMISSIONS} permissions"
            raise TerselyError("busy", message, "answer some")
        made = Permission(
            f"p{secrets.token_hex(_ID_BYTES)}", agent, tool, what, self._now_ms(), self._clock()
        )
        self._open[made.id] = made
        return made

    def _found(self, id: str, agent: str = "") -> Permission:
        known = self._open.get(id)
        if known is None or (agent and known.agent != agent):
            hint = "`tersely agents` shows what is waited for; it may have been answered where the agent runs"
            raise TerselyError(
                "permission_not_found", f"nobody waits for permission {id[:40]!r}", hint
            )
        return known

    def _forget_silent(self) -> None:
        oldest = self._clock() - PERMISSION_SILENCE_SECONDS
        self._open = {one.id: one for one in self._open.values() if one.heard >= oldest}
