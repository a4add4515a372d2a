"""The log of a conversation: events in, entries out."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from functools import partial
from typing import ClassVar

from textual import work
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.events import Resize
from textual.timer import Timer
from textual.widget import Widget
from textual.widgets import Static

from tersely.agent.events import (
    AnswerRestarted,
    CallEnded,
    CallProgress,
    CallStarted,
    Compacted,
    EndReason,
    Event,
    Notice,
    Retrieved,
    TextDelta,
    ThoughtDelta,
    TurnEnded,
    Unlocked,
    Usage,
)
from tersely.doors.screen.entries.answer import AnswerEntry
from tersely.doors.screen.entries.calls import CallEntry, shown
from tersely.doors.screen.entries.columns import LaidOut, columns
from tersely.doors.screen.entries.folding import Folding
from tersely.doors.screen.entries.thoughts import Thought
from tersely.doors.screen.link import is_behind
from tersely.foundation.text.escape import visible_line
from tersely.foundation.text.shortening import listed

MAX_ENTRIES = 200  # on the screen; the session keeps everything
MAX_NAMED_ITEMS = 4  # of what was put into the prompt
REFRESHES_PER_SECOND = 20
MAX_TEXT_CELLS = 120  # longer rows of words are hard to read
_LEAST_WIDTH_CELLS = 20
_LEFT = "Older messages have left the screen; they are in the session."


class Log(VerticalScroll, can_focus=True):
    """The words and calls so far, the newest at the bottom."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("home", "scroll_home", "Top", show=False),
        Binding("end", "scroll_end", "Bottom", show=False),
    ]

    def __init__(self, *, id: str) -> None:
        super().__init__(id=id)
        self._answer: AnswerEntry | None = None  # the one that is being written
        self._thought: Thought | None = None  # the ones that are being thought
        # entries of the answer to the last request, which may begin again
        self._of_request: list[Widget] = []
        self._growing: list[AnswerEntry] = []  # those that are not shown to their end
        self._ticking: Timer | None = None
        self._entries: deque[Widget] = deque()
        self._newest: Widget | None = None
        self._has_left = False  # some have left the screen

    def on_mount(self) -> None:
        """Stay at the bottom while nobody scrolls."""
        self.anchor()
        self._ticking = self.set_interval(1 / REFRESHES_PER_SECOND, self._flush, pause=True)

    def on_resize(self, event: Resize) -> None:
        """Lay answers out again, the newest first, without keeping anybody waiting."""
        self._lay_out_again()

    @work(group="layout", exclusive=True)
    async def _lay_out_again(self) -> None:
        width = self._width()
        for entry in self.query(Folding):
            entry.lay_out(width)
        for answer in reversed(list(self.query(AnswerEntry))):
            await answer.lay_out_again(min(width, MAX_TEXT_CELLS))

    def _width(self) -> int:
        """Of an entry, in cells: a column for the scrollbar is always kept free, and one on each
        side.
        """
        inner = self.size.width - self.styles.padding.width - self.styles.scrollbar_size_vertical
        return max(_LEAST_WIDTH_CELLS, inner - 2)

    def clear(self) -> None:
        """Begin anew, for another session."""
        self._end_answer()
        self._growing.clear()
        self._entries.clear()
        self._newest = None
        self._has_left = False
        self.remove_children()

    def say(self, text: str, kind: str = "note") -> None:
        """Something of our own: `kind` is user, note, warning or error."""
        self._end_answer()
        self._add(Static(shown(text), markup=False, classes=f"entry {kind}"))

    def table(self, rows: Sequence[tuple[str, str]]) -> Widget:
        """Names and their meanings; the entry that shows them."""
        self._end_answer()
        entry = LaidOut(partial(columns, rows), classes="entry")
        self._add(entry)
        return entry

    def take_back(self, entry: Widget) -> None:
        """Show an entry no longer."""
        if entry in self._entries:
            self._entries.remove(entry)
            entry.remove()

    def answered(self, text: str) -> None:
        """A whole answer, of a session that goes on."""
        self._end_answer()
        self._write(text)
        self._end_answer()

    def show(self, event: Event) -> None:
        """Show what an event adds. What is asked and what was used are for others to show."""
        if isinstance(event, Usage | CallStarted | TurnEnded):
            self._of_request.clear()
        match event:
            case TextDelta():
                self._end_thought()
                self._write(event.text)
            case ThoughtDelta():
                self._think(event.text)
            case AnswerRestarted():
                self._take_back_answer()
            case CallStarted():
                self._end_answer()
                self._add(CallEntry(event, self._width()))
            case CallProgress():
                if not is_behind(self.app) and (call := self._call(event.call_id)) is not None:
                    call.tell(event.tail)
            case CallEnded():
                if (call := self._call(event.call_id)) is not None:
                    call.end(event)
            case Unlocked():
                self.say(f"tier {event.tier} unlocked: {event.reason}")
            case Retrieved():
                self.say(_retrieved(event))
            case Compacted():
                self.say(
                    f"older turns summarized ({event.how}): {event.before:,} tokens became {event.after:,}"
                )
            case Notice():
                self.say(event.text, event.level.value)
            case TurnEnded():
                self._end_turn(event)
            case _:
                pass

    def open_calls(self) -> None:
        """Open all calls and thoughts, or close them if all are open."""
        entries: Sequence[Folding] = list(self.query(Folding))
        is_open = not all(entry.is_open for entry in entries)
        for entry in entries:
            entry.open(is_open)

    def _write(self, text: str) -> None:
        if self._answer is None:
            if not text.strip():  # an answer does not begin with blank lines
                return
            self._answer = AnswerEntry(min(self._width(), MAX_TEXT_CELLS))
            self._add(self._answer)
            self._of_request.append(self._answer)
            self._growing.append(self._answer)
        self._answer.add(text)
        if self._ticking is not None:
            self._ticking.resume()

    def _flush(self) -> None:
        """Show more of what was written; the timer rests while nothing is, and passes over a line
        that is behind.
        """
        if is_behind(self.app):
            return
        if self._thought is not None:
            self._thought.flush()
        for answer in self._growing:
            answer.flush()
        self._growing = [answer for answer in self._growing if not answer.is_done]
        if not self._growing and self._ticking is not None:
            self._ticking.pause()

    def _think(self, text: str) -> None:
        if self._thought is None:
            self._end_answer()
            self._thought = Thought(self._width())
            self._add(self._thought)
            self._of_request.append(self._thought)
        self._thought.add(text)
        if self._ticking is not None:
            self._ticking.resume()

    def _end_thought(self) -> None:
        if self._thought is not None:
            self._thought.flush()
            self._thought = None

    def _take_back_answer(self) -> None:
        """Take back what was written and thought of an answer that begins anew."""
        for entry in self._of_request:
            self.take_back(entry)
        self._growing = [answer for answer in self._growing if answer not in self._of_request]
        self._of_request.clear()
        self._answer = self._thought = None

    def _end_answer(self) -> None:
        self._end_thought()
        if self._answer is not None:
            self._answer.end()
            self._answer = None

    def _call(self, call_id: str) -> CallEntry | None:
        """The call of this id; None if it has left the screen."""
        return next(
            (call for call in reversed(list(self.query(CallEntry))) if call.call_id == call_id),
            None,
        )

    def _end_turn(self, event: TurnEnded) -> None:
        self._end_answer()
        for call in self.query(CallEntry):
            call.interrupt()
        if event.reason is EndReason.CANCELLED:  # why it ended otherwise was said by a notice
            self.say("cancelled", "warning")

    def _add(self, entry: Widget) -> None:
        entry.set_class(
            isinstance(entry, CallEntry) and isinstance(self._newest, CallEntry), "joined"
        )
        self._newest = entry
        self.mount(entry)
        self._entries.append(entry)
        if len(self._entries) > MAX_ENTRIES:
            if not self._has_left:
                self._has_left = True
                self.mount(Static(_LEFT, classes="entry note", markup=False), before=0)
            self._entries.popleft().remove()


def _retrieved(event: Retrieved) -> str:
    names = listed([visible_line(item.name) for item in event.items], MAX_NAMED_ITEMS)
    return f"read beforehand, {event.tokens:,} tokens ({event.why}): {names}"
