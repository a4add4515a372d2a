"""Files as the editor has them: its buffers, saved or not."""

from __future__ import annotations

import asyncio
import concurrent.futures
from collections.abc import Coroutine
from typing import Any, TypeVar

from acp import RequestError
from acp.interfaces import Client
from acp.schema import FileSystemCapabilities

from tersely.doors.acp.places import EditorPlaces
from tersely.foundation.errors import TerselyError

EDITOR_SECONDS = 20.0  # for the editor to read or write a file

ResultT = TypeVar("ResultT")


class EditorFiles:
    """See `agent.tools.files.opened.OpenFiles`; of one session, made on the event loop of the
    connection.
    """

    def __init__(self, client: Client, offered: FileSystemCapabilities) -> None:
        self._client = client
        self._offered = offered
        self._loop = asyncio.get_running_loop()
        self.session = ""  # known once the session is open
        self.places: EditorPlaces | None = None

    def read(self, inside: str) -> str | None:
        """The text of a file in the editor, None where it offers none or has no such file."""
        if not self._offered.read_text_file or self.places is None:
            return None
        try:
            return self._asked(
                self._client.read_text_file(self.session, self.places.absolute(inside))
            ).content
        except RequestError:
            return None

    def write(self, inside: str, text: str) -> bool:
        """Have the editor change a file, where it offers that."""
        if not self._offered.write_text_file or self.places is None:
            return False
        try:
            self._asked(
                self._client.write_text_file(self.session, self.places.absolute(inside), text)
            )
        except RequestError as error:
            message = f"the editor did not write {inside}: {error}"
            raise TerselyError(
                "unwritable_output", message, "look at the file in the editor"
            ) from error
        return True

    def _asked(self, asking: Coroutine[Any, Any, ResultT]) -> ResultT:
        """The answer of the editor, waited for in the thread of the call."""
        future = asyncio.run_coroutine_threadsafe(asking, self._loop)
        try:
            return future.result(EDITOR_SECONDS)
        except concurrent.futures.TimeoutError as error:
            future.cancel()
            raise TerselyError(
                "timed_out", f"the editor did not answer in {EDITOR_SECONDS:g} s"
            ) from error
