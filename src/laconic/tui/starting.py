"""Before there is a conversation: no model is served yet. It says what to start, and looks again until one is."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import ClassVar, Generic, TypeVar

from textual import work
from textual.app import App, ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.widgets import Footer, Static

from laconic.foundation.errors import LaconicError
from laconic.tui.app import has_colours, theme_of
from laconic.tui.calls import shown

FoundT = TypeVar("FoundT")

LOOK_AGAIN_SECONDS = 3.0
_LOOKING = "Looking for a model"
_WAITING = "Looks again by itself; R looks now"


class Starting(App[FoundT], Generic[FoundT]):
    """Ends with what `look` gives, or with None when the user gives up. `error` says why it is needed."""

    CSS_PATH = "chat.tcss"
    ENABLE_COMMAND_PALETTE = False
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("r,enter", "look", "Look again"),
        Binding("q,ctrl+q,ctrl+c,escape", "give_up", "Quit", priority=True),
    ]

    def __init__(self, look: Callable[[], Awaitable[FoundT]], error: LaconicError, theme: str = "") -> None:
        wants_colours = has_colours()
        super().__init__(ansi_color=None if wants_colours else True)
        self._look = look
        self._error = error
        self.animation_level = "none"
        self.theme = theme_of(theme, self.available_themes, wants_colours)

    def compose(self) -> ComposeResult:
        """What is wrong, what to do, what goes on."""
        with VerticalScroll(id="log"):
            yield Static(id="why", markup=False, classes="entry warning")
            yield Static(id="start", markup=False, classes="entry")
        yield Static(id="activity", markup=False)
        yield Footer(show_command_palette=False, compact=True)

    def on_mount(self) -> None:
        """Tell, and begin to wait."""
        self._tell()
        self.set_interval(LOOK_AGAIN_SECONDS, self.action_look)

    def _tell(self) -> None:
        self.query_one("#why", Static).update(shown(self._error.message))
        self.query_one("#start", Static).update(shown(self._error.hint))
        self.query_one("#activity", Static).update(_WAITING)

    @work(group="look", exclusive=True)
    async def action_look(self) -> None:
        """R, Enter, or by itself."""
        self.query_one("#activity", Static).update(_LOOKING)
        try:
            self.exit(await self._look())
        except LaconicError as error:
            self._error = error
            self._tell()

    def action_give_up(self) -> None:
        """Q."""
        self.workers.cancel_group(self, "look")
        self.exit()


async def until_found(look: Callable[[], Awaitable[FoundT]], error: LaconicError, theme: str = "") -> FoundT:
    """What `look` gives in the end; raises the last error where the user gives up."""
    app = Starting(look, error, theme)
    found = await app.run_async()
    if found is None:
        raise app._error
    return found
