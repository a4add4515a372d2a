"""Whether a call may be made: what it will do, and for what else the answer holds."""

from __future__ import annotations

from typing import ClassVar, NamedTuple

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical, VerticalScroll
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Button, Input, Label, Static

from laconic.agent.events import ApprovalAsked, Decision
from laconic.foundation.escape import visible_line
from laconic.tui.calls import diff_rows


class Answered(NamedTuple):
    """The decision, with its pattern if it has one."""

    decision: Decision
    pattern: str = ""


class Approving(ModalScreen[Answered]):
    """A call that waits. Nothing is chosen when it appears, so that a key typed too early allows nothing."""

    AUTO_FOCUS = "#detail"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("y", "answer('allow_once')", "Once"),
        Binding("s", "answer('allow_session')", "Session"),
        Binding("p", "pattern", "Pattern"),
        Binding("n,escape", "answer('deny')", "Deny"),
    ]

    def __init__(self, asked: ApprovalAsked) -> None:
        super().__init__()
        self.asked = asked

    def compose(self) -> ComposeResult:
        """The call, what it will do, the answers."""
        with Vertical(classes="dialog"):
            title = Content.assemble("Allow ", (visible_line(self.asked.tool), "bold"), f"? {_subject(self.asked)}")
            yield Label(title, markup=False, classes="title")
            with VerticalScroll(id="detail", can_focus=True):
                yield Static(Content("\n").join(diff_rows(self.asked.detail)), markup=False)
            yield Input(self.asked.pattern, id="pattern", compact=True)
            with Horizontal(classes="buttons"):
                yield Button(Content("[y] Once"), id="allow_once", compact=True)
                yield Button(Content("[s] Session"), id="allow_session", compact=True)
                yield Button(Content("[p] Pattern"), id="allow_pattern", compact=True, disabled=not self.asked.pattern)
                yield Button(Content("[n] Deny"), id="deny", compact=True)

    def on_mount(self) -> None:
        """The pattern is shown once it is asked for."""
        self.query_one("#pattern").display = False

    def on_button_pressed(self, event: Button.Pressed) -> None:
        """A click, or Enter on a button."""
        if event.button.id == Decision.ALLOW_PATTERN:
            self.action_pattern()
        else:
            self.action_answer(str(event.button.id))

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """The pattern is as it should be."""
        if event.value.strip():
            self.dismiss(Answered(Decision.ALLOW_PATTERN, event.value.strip()))

    def action_answer(self, decision: str) -> None:
        """Once, for the session, or not at all."""
        self.dismiss(Answered(Decision(decision)))

    def action_pattern(self) -> None:
        """Show what else would be allowed, to be changed first."""
        if self.asked.pattern:
            pattern = self.query_one("#pattern", Input)
            pattern.display = True
            pattern.focus()


def _subject(asked: ApprovalAsked) -> str:
    """What the call is about, without the name of its tool."""
    return visible_line(asked.what).removeprefix(f"{visible_line(asked.tool)} ")
