"""The dialog about a call: what it will do, and for what else the answer holds."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator
from functools import partial
from typing import ClassVar, NamedTuple

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical, VerticalScroll
from textual.content import Content
from textual.events import Key
from textual.screen import ModalScreen
from textual.timer import Timer
from textual.widgets import Button, Input, Label

from tersely.agent.events import ApprovalAsked, Decision
from tersely.doors.screen.entries.calls import diff_rows
from tersely.doors.screen.entries.columns import LaidOut, hanging
from tersely.doors.screen.link import is_behind
from tersely.foundation.text.escape import visible, visible_line

QUIET_SECONDS = 0.7  # without a key, once the question can be read, before it takes one
_TOO_EARLY = "takes keys after a short pause in typing"
_PATTERN = "All that fits, in this session (Enter allows, Esc back)"
_SESSION = "Every call of this tool, in this session (Enter allows, Esc back)"
_BUTTON_CELLS = 20  # of the one that shows a pattern


class ApprovalAnswer(NamedTuple):
    """The decision, with its pattern if it has one."""

    decision: Decision
    pattern: str = ""


class Approving(ModalScreen[ApprovalAnswer | None]):
    """A call that waits; the result is None where the turn is to be cancelled.

    No key counts before the question was painted and nothing was typed for a moment: until then
    keys go where they were meant to go. What allows more than this one call takes Enter besides its
    key.
    """

    AUTO_FOCUS = "#detail"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("y", "answer('allow_once')", "Once"),
        Binding("s", "session", "Session"),
        Binding("p", "pattern", "Pattern"),
        Binding("n", "answer('deny')", "Deny"),
        Binding("escape", "back", "Cancel"),
    ]

    def __init__(self, asked: ApprovalAsked, typed_early: Callable[[Key], Awaitable[None]]) -> None:
        """`typed_early` takes the keys that were pressed before the question could be read."""
        super().__init__()
        self.asked = asked
        self.takes_keys = False
        self._typed_early = typed_early
        self._quiet: Timer | None = None
        pattern = asked.pattern
        # what cannot be seen is not offered
        self._pattern = pattern if pattern == visible_line(pattern) else ""

    def compose(self) -> ComposeResult:
        """The call, what it will do, the answers."""
        with Vertical(classes="dialog"):
            title = Content.assemble(
                "Allow ", (visible_line(self.asked.tool), "bold"), f"? {_subject(self.asked)}"
            )
            yield Label(title, markup=False, classes="title")
            with VerticalScroll(id="detail", can_focus=True):
                yield LaidOut(partial(_detail, self.asked))
            yield Label(id="note", markup=False)
            yield Input(self._pattern, id="pattern", compact=True)
            with Horizontal(classes="buttons", disabled=True):
                yield Button(Content("[y] Once"), id="allow_once", compact=True)
                yield Button(Content("[s] Session"), id="allow_session", compact=True)
                if self._pattern:
                    yield Button(_like(self._pattern), id="allow_pattern", compact=True)
                yield Button(Content("[n] Deny"), id="deny", compact=True)

    def on_mount(self) -> None:
        """Hide what allows more until it is asked for; keys count later."""
        self._show_confirmation("")
        self.query_one(".dialog").border_subtitle = _TOO_EARLY
        self.call_after_refresh(self._await_quiet)

    # Until the question can be read.

    def _await_quiet(self) -> None:
        """Begin the moment without a key anew."""
        if self._quiet is not None:
            self._quiet.stop()
        self._quiet = self.set_timer(QUIET_SECONDS, self._take_keys)

    def _take_keys(self) -> None:
        if is_behind(self.app):  # the terminal does not show the question yet
            self._await_quiet()
            return
        self.takes_keys = True
        self.query_one(".buttons").disabled = False
        self.query_one(".dialog").border_subtitle = ""

    async def on_key(self, event: Key) -> None:
        """Before keys count here, they are somebody's who writes; only Esc means the same
        everywhere.
        """
        if self.takes_keys or event.key == "escape":
            return
        event.stop()
        event.prevent_default()
        if self._quiet is not None:
            self._await_quiet()
        await self._typed_early(event)

    # Answers.

    def _show_confirmation(self, note: str) -> None:
        """Show what Enter would allow beyond this call, or the question again."""
        is_pattern = note == _PATTERN
        pattern, detail, label = (
            self.query_one("#pattern"),
            self.query_one("#detail"),
            self.query_one("#note", Label),
        )
        label.update(note)
        label.display = bool(note)
        pattern.display = is_pattern
        detail.set_class(bool(note), "above-note")
        confirming = pattern if is_pattern else self.query_one("#allow_session")
        (confirming if note else detail).focus()

    def on_button_pressed(self, event: Button.Pressed) -> None:
        """A click, or Enter on a button."""
        if event.button.id == Decision.ALLOW_PATTERN:
            self.action_pattern()
        else:
            self.action_answer(str(event.button.id))

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """The pattern is as it should be."""
        if event.value.strip():
            self.dismiss(ApprovalAnswer(Decision.ALLOW_PATTERN, event.value.strip()))

    def action_answer(self, decision: str) -> None:
        """Once, for the session, or not at all."""
        self.dismiss(ApprovalAnswer(Decision(decision)))

    def action_session(self) -> None:
        """Say what Enter allows now."""
        self._show_confirmation(_SESSION)

    def action_pattern(self) -> None:
        """Show what else would be allowed, to be changed first."""
        if self._pattern:
            self._show_confirmation(_PATTERN)

    def action_back(self) -> None:
        """Esc: from what would be allowed to the question, from the question out of the turn."""
        if self.query_one("#note").display:
            self._show_confirmation("")
        else:
            self.dismiss(None)


def _detail(asked: ApprovalAsked, width: int) -> Iterator[Content]:
    """The detail of a call: a diff, or the command."""
    for row in diff_rows(asked.detail, asked.what.removeprefix(f"{asked.tool} ")):
        yield from hanging(row, width, 2)


def _subject(asked: ApprovalAsked) -> str:
    """The subject of a call, without the name of its tool; nothing where the detail begins with it."""
    subject = asked.what.removeprefix(f"{asked.tool} ")
    is_said = asked.detail.startswith((visible(subject), visible(asked.what)))
    return "" if is_said else visible_line(subject)


def _like(pattern: str) -> Content:
    return Content(f"[p] Like {visible_line(pattern)}").truncate(_BUTTON_CELLS, ellipsis=True)
