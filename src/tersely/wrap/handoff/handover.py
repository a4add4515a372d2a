"""A session from its start to its end as continuity sees it: what it is handed, and what it hands
on.
"""

from __future__ import annotations

import asyncio

from tersely.client import Client
from tersely.foundation.errors import TerselyError
from tersely.wrap.handoff import changed, threads
from tersely.wrap.handoff.parts import BriefSubject, brief
from tersely.wrap.handoff.session import EndedSession, Record, tell
from tersely.wrap.handoff.threads import SessionPlace

# of one that is typed into a program: what is longer than MAX_TYPED_BYTES would be cut
RUN_BRIEF_TOKENS = 700
BRIEF_SECONDS = 20.0  # for the brief of a program that runs already


class Handover:
    """One session. Nothing that goes wrong here keeps a program from running."""

    def __init__(self, place: SessionPlace, name: str, task: str) -> None:
        """Look at what there is before the program runs; raises `thread_not_found` for one that was
        named.
        """
        self.record = Record(task)
        self._place = place
        self._name = name
        self._task = task
        self._relay = Client.local(name, place.home)
        self.thread = threads.named_or_own(self._relay, place.thread, place.directory)
        self._before = changed.look(place.directory) if place.is_repository else None

    async def opening(self) -> str:
        """The text that is typed in first: the task, and the brief where it is ready in time."""
        told = ""
        if self._place.has_brief:
            root = self._place.directory if self._place.is_repository else None
            subject = BriefSubject(self._task, "", self.thread, self._name, root, self._place.home)
            try:
                async with asyncio.timeout(BRIEF_SECONDS):
                    made = await brief(subject, RUN_BRIEF_TOKENS, self._place.answer_words)
                told = made.text if made.parts else ""
            except (TimeoutError, TerselyError, OSError):
                told = ""
        return "\n".join(filter(None, (self._task, told.strip("\n"))))

    def close(self, program: str, status: int) -> str:
        """Leave the summary in the thread; what kept it from that, in a line, empty if nothing did."""
        try:
            files = changed.changed_since(self._before) if self._before is not None else []
            tell(
                self._relay,
                self.thread,
                EndedSession(self._name, program, status, files, self.record),
            )
        except (TerselyError, OSError) as error:
            return f"the summary of this session is not kept: {error}"
        finally:
            self._relay.close()
        return ""
