"""The spending of one run, told to its thread: the programs that it starts, its turns, and its
tokens.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from contextlib import suppress
from threading import Lock
from typing import Any

from tersely.client import Client
from tersely.foundation.errors import TerselyError
from tersely.integrations.transcripts import Transcripts
from tersely.pty.mail import Who

SPENDING_SECONDS = 10.0  # from one report to the next
MAX_REPORTED_TOKENS = 1_000_000_000  # in one report; the rest is in the next
_SPEND = "thread.spend"  # the capability that takes reports


class Spending:
    """The spending of a program, and how much of it the relay knows."""

    def __init__(self, who: Who, thread: str, agent: str) -> None:
        self._who = who
        self._thread = thread
        self._transcripts = Transcripts(agent)
        self._said_tokens = 0  # by a plugin, of an agent without a transcript
        self._told_turns = self._told_tokens = 0
        self._telling = Lock()
        self.turns = 0

    def hear(self, call: Mapping[str, Any]) -> None:
        """Take what a hook says: where the transcript is, or how many tokens there have been."""
        path, tokens = call.get("transcript_path"), call.get("tokens")
        if isinstance(path, str):
            self._transcripts.begin(path)
        if isinstance(tokens, int):
            self._said_tokens = max(self._said_tokens, tokens)

    def start_program(self) -> None:
        """Count a program that is about to be started; raises `spending_limit`, and what keeps the
        relay from answering.
        """
        self._spend(programs=1)

    def begin(self) -> None:
        """Have the relay know in which thread the program works, before it runs; a relay that does
        not answer learns of it by the first report.
        """
        with suppress(TerselyError, OSError):
            self._spend()

    def tell(self) -> None:
        """Have the relay know what has been used; what it cannot hear now is told the next time."""
        with self._telling:
            tokens = self._transcripts.tokens() + self._said_tokens - self._told_tokens
            tokens = max(0, min(tokens, MAX_REPORTED_TOKENS))
            turns = self.turns - self._told_turns
            if not turns and not tokens:
                return
            try:
                self._spend(turns=turns, tokens=tokens)
            except (TerselyError, OSError):
                return
            self._told_turns += turns
            self._told_tokens += tokens

    async def keep_telling(self) -> None:
        """Tell now and then, for as long as this is awaited."""
        while True:
            await asyncio.sleep(SPENDING_SECONDS)
            await asyncio.to_thread(self.tell)

    def _spend(self, programs: int = 0, turns: int = 0, tokens: int = 0) -> None:
        with Client.local(self._who.name, self._who.home) as relay:
            relay.ask(_SPEND, thread=self._thread, programs=programs, turns=turns, tokens=tokens)
