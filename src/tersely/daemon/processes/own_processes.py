"""A daemon without its socket: for a process that asks a repository which no daemon serves."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tersely.daemon.freshness import Freshness
from tersely.daemon.processes.dispatch import Dispatcher
from tersely.daemon.service import Service
from tersely.foundation.limits import MAX_REQUEST_SECONDS
from tersely.foundation.types import JsonMapping

if TYPE_CHECKING:
    from tersely.code.index.refresh import Progress


class OwnProcesses:
    """Processes that answer about one repository. Close them, on the event loop that they were made
    on.
    """

    def __init__(self, root: str, answer_words: str, identity: str) -> None:
        self._dispatcher = Dispatcher(root, answer_words)
        self._freshness = Freshness(root, self._dispatcher)
        self._service = Service(root, identity, self._dispatcher, self._freshness)
        self._dispatcher.start()
        self._freshness.start()

    async def ask(self, question: JsonMapping, on_progress: Progress) -> bytes:
        """The encoded reply to a question that is answered in words."""
        task = (
            "text",
            question["command"],
            question["arguments"],
            question["environment"],
            question["whole"],
        )
        # every question is a client of its own: none waits for the turn of another
        client = object()
        return await self._service.ask(client, MAX_REQUEST_SECONDS, task, on_progress)

    async def value(self, command: str, arguments: JsonMapping) -> bytes:
        """The encoded reply with the result of a command as a plain value."""
        return await self._service.ask(
            object(), MAX_REQUEST_SECONDS, ("call", command, dict(arguments))
        )

    async def revision(self) -> str:
        """As `Service.revision`."""
        return await self._service.revision()

    def close(self) -> None:
        """End them."""
        self._freshness.close()
        self._dispatcher.close()
