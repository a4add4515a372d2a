"""Whether a call may be made: what it will do, and for what else the answer holds."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import ClassVar, NamedTuple

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical, VerticalScroll
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Button, Input, Label

from tersely.agent.events import ApprovalAsked, Decision
from tersely.foundation.escape import visible, visible_line
from tersely.tui.calls import diff_rows
from tersely.tui.columns import LaidOut, hanging

_PATTERN = "All that fits, in this session (Enter allows, Esc back)"
_BUTTON_CELLS = 20  # of the one that shows a pattern


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
        Binding("n", "answer('deny')", "Deny"),
        Binding("escape", "back", "Deny"),
    ]

    def __init__(self, asked: ApprovalAsked) -> None:
        super().__init__()
        self.asked = asked
        pattern = asked.pattern
        self._pattern = pattern if pattern == visible_line(pattern) else ""  # what cannot be seen is not offered

    def compose(self) -> ComposeResult:
        """The call, what it will do, the answers."""
        with Vertical(classes="dialog"):
            title = Content.assemble("Allow ", (visible_line(self.asked.tool), "bold"), f"? {_subject(self.asked)}")
            yield Label(title, markup=False, classes="title")
            with VerticalScroll(id="detail", can_focus=True):
                yield LaidOut(partial(_detail, self.asked))
            yield Label(_PATTERN, id="pattern-note", markup=False)
            yield Input(self._pattern, id="pattern", compact=True)
            with Horizontal(classes="buttons"):
                yield Button(Content("[y] Once"), id="allow_once", compact=True)
                yield Button(Content("[s] Session"), id="allow_session", compact=True)
                if self._pattern:
                    yield Button(_like(self._pattern), id="allow_pattern", compact=True)
                yield Button(Content("[n] Deny"), id="deny", compact=True)

    def on_mount(self) -> None:
        """The pattern is shown once it is asked for."""
        self._show_pattern(False)

    def _show_pattern(self, is_shown: bool) -> None:
        pattern, detail = self.query_one("#pattern"), self.query_one("#detail")
        pattern.display = self.query_one("#pattern-note").display = is_shown
        detail.set_class(is_shown, "above-pattern")
        (pattern if is_shown else detail).focus()

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
        if self._pattern:
            self._show_pattern(True)

    def action_back(self) -> None:
        """Esc: from the pattern to the question, from the question to no."""
        if self.query_one("#pattern").display:
            self._show_pattern(False)
        else:
            self.action_answer(Decision.DENY)


def _detail(asked: ApprovalAsked, width: int) -> Iterator[Content]:
    """What a call will do: a diff, or the command."""
    for row in diff_rows(asked.detail, asked.what.removeprefix(f"{asked.tool} ")):
        yield from hanging(row, width, 2)


def _subject(asked: ApprovalAsked) -> str:
    """What the call is about, without the name of its tool; nothing where the detail begins with it."""
    subject = asked.what.removeprefix(f"{asked.tool} ")
    is_said = asked.detail.startswith((visible(subject), visible(asked.what)))
    return "" if is_said else visible_line(subject)


def _like(pattern: str) -> Content:
    return Content(f"[p] Like {visible_line(pattern)}").truncate(_BUTTON_CELLS, ellipsis=True)
