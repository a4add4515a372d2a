"""The program of the screen: its looks, its palette, its end."""

from __future__ import annotations

import gc
import os
from collections.abc import Iterable
from functools import partial
from pathlib import Path
from typing import ClassVar, TypeVar

from textual.app import App, SystemCommand
from textual.binding import Binding, BindingType
from textual.screen import ModalScreen, Screen

from tersely.doors.screen.chat import ChatScreen
from tersely.doors.screen.dialogs.approving import Approving
from tersely.doors.screen.shown import ShownAgent
from tersely.doors.screen.typing.commands import COMMANDS
from tersely.doors.screen.typing.completion import Index

PLAIN = "ansi-dark"  # the colours of the terminal
ResultT = TypeVar("ResultT")


class QuietApp(App[ResultT]):
    """A program of Textual that asks the terminal for no more than it has to."""

    def __init__(self) -> None:
        wants_colours = "NO_COLOR" not in os.environ  # before Textual takes the variable out
        super().__init__(ansi_color=None if wants_colours else True)
        self.animation_level = "none"  # every frame of one would be sent over SSH
        if not wants_colours:
            self.theme = PLAIN

    def _fatal_error(self) -> None:
        """Instead of Textual's, which fills the terminal with a trace: who runs the program says
        what went wrong.
        """
        self._close_messages_no_wait()


class ChatApp(QuietApp[None]):
    """A conversation in a terminal. `root` is the repository whose names are completed, None for
    none.
    """

    TITLE = "Tersely"
    NOTIFICATION_TIMEOUT = 3
    CSS_PATH = "chat.tcss"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+c", "cancel", show=False, priority=True),
        Binding("ctrl+q", "quit", "Quit", priority=True),
    ]

    def __init__(self, agent: ShownAgent, root: Path | None = None) -> None:
        super().__init__()
        self._index = Index(root) if root is not None else None
        self._chat = ChatScreen(agent, self._index)

    def get_default_screen(self) -> Screen[None]:
        """The conversation is all that there is."""
        return self._chat

    def get_system_commands(self, screen: Screen[object]) -> Iterable[SystemCommand]:
        """The palette: what can be typed after `/`, and the colours."""
        for name, command in COMMANDS.items():
            yield SystemCommand(f"/{name}", command.summary, partial(self._choose, name))
        yield SystemCommand("Theme", "other colours", self.action_change_theme)

    def _choose(self, name: str) -> None:
        """A command that needs an argument is put into the prompt."""
        if COMMANDS[name].needs_argument:
            self._chat.prompt.put(f"/{name} ")
        else:
            self._chat.run_command(f"/{name}")

    def action_cancel(self) -> None:
        """Ctrl+C never ends the program: it goes back from a dialog, or ends the turn."""
        screen = self.screen
        if isinstance(screen, ModalScreen) and not isinstance(screen, Approving):
            screen.dismiss(None)
        else:
            self._chat.cancel()

    def on_unmount(self) -> None:
        """Let go of the index."""
        if self._index is not None:
            self._index.close()


def spare_collector() -> None:
    """Have the collector of cycles pass over what stays until the end: looking through all of it
    stalls the screen.

    From then on it works: commands begin without it, and a conversation may take hours.
    """
    gc.collect()
    gc.freeze()
    gc.enable()


def raise_defect(app: App[ResultT]) -> None:
    """Raise what has ended a program that ended by a defect."""
    if app._exception is not None:
        raise app._exception


async def chat(agent: ShownAgent, root: Path | None = None) -> None:
    """Show a conversation until the user ends it."""
    app = ChatApp(agent, root)
    app.call_later(spare_collector)
    await app.run_async()
    raise_defect(app)
