"""Entries of the log that show one row until they are opened."""

from __future__ import annotations

from typing import ClassVar

from textual.binding import Binding, BindingType
from textual.widgets import Static


class Folding(Static, can_focus=True):
    """An entry that Enter, Space or a click opens and closes; who derives from it says in `_show`
    what stands there.
    """

    BINDINGS: ClassVar[list[BindingType]] = [Binding("enter,space", "open", "Open", show=False)]
    DEFAULT_CSS = """
    Folding { width: 1fr; height: auto; text-wrap: nowrap; }
    Folding:focus { text-style: bold; background: $boost; }
    """

    def __init__(self, width: int, *, is_open: bool = False) -> None:
        super().__init__(markup=False, classes="entry")
        self.auto_links = False
        self._width = width
        self.is_open = is_open

    def lay_out(self, width: int) -> None:
        """Show it in another width."""
        if width != self._width:
            self._width = width
            self._show()

    def open(self, is_open: bool) -> None:
        """Show or hide all but the first row."""
        self.is_open = is_open
        self._show()

    def action_open(self) -> None:
        """Enter."""
        self.open(not self.is_open)

    def on_click(self) -> None:
        """Like Enter, unless the click was the end of a selection."""
        if self.text_selection is None:
            self.action_open()

    def _show(self) -> None:
        """Paint it anew."""
        raise NotImplementedError
