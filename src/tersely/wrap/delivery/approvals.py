"""The person answers the dialog of a wrapped agent from elsewhere.

The relay is asked what the dialog asks. The key of a choice is pressed once for one answer, and
only while the dialog that was asked about still stands there and nobody has pressed a key since;
Enter never is. A dialog that an answer did not close is asked about anew.
"""

from __future__ import annotations

import asyncio

from tersely.client import AsyncClient
from tersely.foundation.activity import ALLOW
from tersely.foundation.background import Background
from tersely.foundation.errors import TerselyError
from tersely.foundation.types import entity
from tersely.wrap.delivery.dialogs import AskedPermission
from tersely.wrap.mail import Who

STANDING_SECONDS = 0.6  # for which a dialog has not changed before it is asked about
GONE_SECONDS = 0.3  # without the dialog, after which it is over: programs draw in several steps
UNCLOSED_SECONDS = 5.0  # after a key, after which a dialog that still stands is asked about anew
ANSWER_SECONDS = 1  # that one question to the relay waits
AWAY_SECONDS = 2.0  # before the relay is asked again that did not answer
_ASK = "permission.ask"


@entity
class _PermissionQuestion:
    """A dialog that the relay is asked about, when it was last seen, what the person has said, and
    when that was typed.
    """

    asked: AskedPermission
    seen: float
    id: str = ""
    decision: str = ""
    typed: float | None = None
    is_over: bool = False


class PermissionAnswers:
    """The questions of one run, one at a time."""

    def __init__(self, who: Who) -> None:
        self._who = who
        self._question: _PermissionQuestion | None = None
        self._seen: AskedPermission | None = None
        self._since = 0.0  # when the screen began to show it
        self._asking = Background()

    def look(self, now: float, asked: AskedPermission | None, *, is_calm: bool) -> bytes:
        """Take the dialog that the screen shows; the key that is to be pressed.

        `is_calm` says that the screen is what the program has drawn last, and that the program has
        read all keys.
        """
        if asked != self._seen:
            self._seen, self._since = asked, now
        question = self._question
        if question is None:
            if asked is not None and now - self._since >= STANDING_SECONDS:
                self._ask(_PermissionQuestion(asked, now))
            return b""
        if asked != question.asked:
            if now - question.seen >= GONE_SECONDS:
                self.end()
            return b""
        question.seen = now
        if question.typed is not None:
            if now - question.typed >= UNCLOSED_SECONDS:
                self.end()
            return b""
        if not question.decision or not is_calm:
            return b""
        question.typed = now
        return asked.allow if question.decision == ALLOW else asked.deny

    def end(self) -> None:
        """The dialog is no more what was asked about: it was answered, or a key was pressed."""
        if self._question is not None:
            self._question.is_over = True
            self._question = self._seen = None

    async def close(self) -> None:
        """End, and have the relay know."""
        self.end()
        await asyncio.gather(*self._asking)

    def _ask(self, question: _PermissionQuestion) -> None:
        self._question = question
        self._asking.begin(self._keep_asking(question))

    async def _keep_asking(self, question: _PermissionQuestion) -> None:
        while not question.is_over and not question.decision:
            try:
                await self._tell(question)
            except (TerselyError, OSError):  # the relay is away, or has begun anew
                question.id = ""
                await asyncio.sleep(AWAY_SECONDS)
        if question.id and not question.decision:
            try:
                await self._tell(question)
            except (TerselyError, OSError):
                return

    async def _tell(self, question: _PermissionQuestion) -> None:
        """Ask the relay for the person's answer; where the question is over, tell it so."""
        is_over = question.is_over
        async with AsyncClient.local(self._who.name, self._who.home) as relay:
            told = await relay.ask(
                _ASK,
                tool=question.asked.title,
                what=question.asked.what,
                id=question.id,
                seconds=ANSWER_SECONDS if question.id else 0,
                over=is_over,
            )
        question.id = told.id
        question.decision = told.decision if not is_over else ""
