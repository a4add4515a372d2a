"""Before there is a conversation: no model has answered yet. It says what to start, and looks again
until one does.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import ClassVar, Generic, TypeVar

from textual import work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.widgets import Footer, Static

from tersely.doors.screen.app import QuietApp, raise_defect
from tersely.doors.screen.entries.calls import shown
from tersely.foundation.errors import TerselyError

FoundT = TypeVar("FoundT")

LOOK_AGAIN_SECONDS = 3.0
SILENT_SECONDS = 1.0  # in which most servers are found
_LOOKING = "Looking for a model"
_WAITING = "Looks again by itself; R looks now"


class Starting(QuietApp[FoundT], Generic[FoundT]):
    """Ends with what `look` gives, or with None when the user gives up; `error` says why nothing
    was found, if so.
    """

    CSS_PATH = "chat.tcss"
    ENABLE_COMMAND_PALETTE = False
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("r,enter", "look", "Look again"),
        Binding("q,ctrl+q,ctrl+c,escape", "give_up", "Quit", key_display="q", priority=True),
    ]

    def __init__(self, look: Callable[[], Awaitable[FoundT]]) -> None:
        super().__init__()
        self._look = look
        self._is_looking = False
        self.error: TerselyError | None = None

    def compose(self) -> ComposeResult:
        """The texts: what is wrong, what to do, what goes on."""
        with VerticalScroll(id="log"):
            yield Static(id="why", markup=False, classes="entry warning")
            yield Static(id="hint", markup=False, classes="entry")
        yield Static(id="activity", markup=False)
        yield Footer(show_command_palette=False, compact=True)

    def on_mount(self) -> None:
        """Look, then again and again."""
        self.action_look()
        self.set_interval(LOOK_AGAIN_SECONDS, self.action_look)

    def action_look(self) -> None:
        """R, Enter, or by itself; one look at a time, however long a server takes to answer."""
        if not self._is_looking:
            self._is_looking = True
            self._look_once()

    @work(group="look")
    async def _look_once(self) -> None:
        self.query_one("#activity", Static).update(_LOOKING)
        try:
            found = await self._look()
        except TerselyError as error:
            self.error = error
            self.query_one("#why", Static).update(shown(error.message))
            self.query_one("#hint", Static).update(shown(error.hint))
            self.query_one("#activity", Static).update(_WAITING)
        else:
            self.exit(found)
        finally:
            self._is_looking = False

    def action_give_up(self) -> None:
        """Q."""
        self.workers.cancel_group(self, "look")
        self.exit()


async def until_found(look: Callable[[], Awaitable[FoundT]]) -> FoundT | TerselyError:
    """The value that `look` gives in the end; the error that it last failed with where the user
    gives up.

    What is found at once comes without a screen.
    """
    first = asyncio.ensure_future(look())
    done, _ = await asyncio.wait([first], timeout=SILENT_SECONDS)
    if done and not isinstance(first.exception(), TerselyError):
        return first.result()

    pending = [first]

    async def again() -> FoundT:
        return await (pending.pop() if pending else look())

    app = Starting(again)
    found = await app.run_async()
    raise_defect(app)
    return found or app.error or TerselyError("model_unavailable", "no model has answered yet")
