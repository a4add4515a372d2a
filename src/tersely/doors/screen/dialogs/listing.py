"""The tools: which can be called, and what happens when they are."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical, VerticalScroll
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Label

from tersely.doors.screen.entries.columns import LaidOut, hanging
from tersely.doors.screen.shown import ToolRow
from tersely.foundation.text.escape import visible_line

_POLICIES = {"allow": "", "ask": "asks first", "deny": "denied"}


class ToolListing(ModalScreen[None]):
    """Every tool by tier."""

    AUTO_FOCUS = "#tools"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,tab,enter,q,ctrl+c", "dismiss", "Back", priority=True)
    ]

    def __init__(self, tools: Sequence[ToolRow]) -> None:
        super().__init__()
        self._tools = tools

    def compose(self) -> ComposeResult:
        """One paragraph a tier."""
        with Vertical(classes="dialog"):
            yield Label("Tools", classes="title")
            with VerticalScroll(id="tools", can_focus=True):
                yield LaidOut(partial(_rows, self._tools))
            yield Label("Ctrl+T or /tier unlocks the next tier. Esc goes back", classes="keys")


def _rows(tools: Sequence[ToolRow], width: int) -> Iterator[Content]:
    for tier in sorted({tool.tier for tool in tools}):
        of_tier = [tool for tool in tools if tool.tier == tier]
        state = "" if any(tool.is_unlocked for tool in of_tier) else "locked"
        notes = [
            note for note in (state, _POLICIES.get(of_tier[0].policy, of_tier[0].policy)) if note
        ]
        yield Content.assemble((f"Tier {tier}", "bold"), (f"  {', '.join(notes)}", "dim"))
        for tool in of_tier:
            yield from hanging(Content(f"  {visible_line(tool.signature)}"), width, 6)
