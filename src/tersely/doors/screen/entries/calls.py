"""A call of a tool in the log: one row that opens to what was asked, what changed and what the
model was told.
"""

from __future__ import annotations

import json
from collections.abc import Iterator

from textual.content import Content

from tersely.agent.events import CallEnded, CallStarted
from tersely.doors.screen.entries.columns import hanging
from tersely.doors.screen.entries.folding import Folding
from tersely.foundation.text.escape import visible, visible_line
from tersely.foundation.text.shortening import shortened

MAX_SUBJECT_CHARACTERS = 240  # of what a call is about, in its first row
MAX_TAIL_ROWS = 4  # of what a command prints, while its call is closed
_COMMAND = "command"  # the argument of tools that run one
_LEAST_SUBJECT_CELLS = 12
_INDENT = 4
MAX_SHOWN_CHARACTERS = 8_000  # of a diff or an observation; the session has the whole
_MUTED = "dim"
_MARKS = {"ok": ("✓", "$text-success"), "": ("…", "$text-warning")}  # "": it is running
_NOT_OK = ("✗", "$text-error")
_DIFF_STYLES = {"+": "$text-success", "-": "$text-error", "@": "$text-accent"}


class CallEntry(Folding):
    """One call, laid out for `width` cells."""

    def __init__(self, started: CallStarted, width: int, *, is_open: bool = False) -> None:
        super().__init__(width, is_open=is_open)
        self._started = started
        self._ended: CallEnded | None = None
        self._tail = ""
        self._show()

    @property
    def call_id(self) -> str:
        """The id of the call."""
        return self._started.call_id

    def tell(self, tail: str) -> None:
        """Show what its command has printed so far."""
        self._tail = tail
        self._show()

    def end(self, ended: CallEnded) -> None:
        """Show how it ended; a change of a file is shown at once."""
        self._ended = ended
        self.is_open = self.is_open or ended.change is not None
        self._show()

    def interrupt(self) -> None:
        """The turn has ended before the call did."""
        if self._ended is None:
            self.end(CallEnded(self._started.turn, self.call_id, "interrupted", self._tail, 0))

    def _show(self) -> None:
        rows = [self._first_row()]
        for row in self._details() if self.is_open else self._last_printed():
            rows += [part.pad_left(_INDENT) for part in hanging(row, self._width - _INDENT, 2)]
        self.update(Content("\n").join(rows))

    def _first_row(self) -> Content:
        """One row: of what the call is about as much as fits."""
        mark, style = _MARKS.get(self._ended.status if self._ended else "", _NOT_OK)
        arrow = ("▾ " if self.is_open else "▸ ", _MUTED)
        head = Content.assemble(
            arrow, (mark, style), (f" {visible_line(self._started.tool)} ", "bold")
        )
        outcome = f"  {_outcome(self._ended)}" if self._ended else ""
        room = self._width - head.cell_length - Content(outcome).cell_length
        subject = Content(_subject(self._started.arguments)).truncate(
            max(room, _LEAST_SUBJECT_CELLS), ellipsis=True
        )
        return Content.assemble(head, subject, (outcome, _MUTED)).truncate(
            self._width, ellipsis=True
        )

    def _last_printed(self) -> Iterator[Content]:
        """The last rows of what a command has printed, so far or in all."""
        names = {name for name, _ in _arguments(self._started.arguments)}
        printed = self._ended.observation if self._ended and _COMMAND in names else ""
        if self._ended is None:
            printed = self._tail
        for line in printed.strip().split("\n")[-MAX_TAIL_ROWS:] if printed.strip() else ():
            yield Content.styled(visible(line), _MUTED).truncate(
                self._width - _INDENT, ellipsis=True
            )

    def _details(self) -> Iterator[Content]:
        change = self._ended.change if self._ended else None
        if change is not None:
            yield from diff_rows(change.diff, change.path)
            return
        if self._started.preview:
            yield from diff_rows(self._started.preview)
        else:
            for name, value in _arguments(self._started.arguments):
                value_rows = shown(value).split("\n")
                yield Content.assemble((f"{visible_line(name)}: ", _MUTED), value_rows[0])
                yield from (row.pad_left(2) for row in value_rows[1:])
        told = self._ended.observation if self._ended else self._tail
        if told:
            yield from shown(told).split("\n")


def diff_rows(text: str, path: str = "") -> Iterator[Content]:
    """A diff, or any text, row by row; signs say what colours repeat. That it is about `path` is
    not said again.
    """
    for line in shown(_without_names(text, path)).split("\n"):
        yield line.stylize(_DIFF_STYLES.get(line.plain[:1], ""))


def _without_names(diff: str, path: str) -> str:
    old, _, rest = diff.partition("\n")
    new, _, hunks = rest.partition("\n")
    names = {
        old.removeprefix("--- ").removeprefix("a/"),
        new.removeprefix("+++ ").removeprefix("b/"),
    }
    return hunks if old.startswith("---") and new.startswith("+++") and names == {path} else diff


def shown(text: str) -> Content:
    """Text of others, harmless and of bounded length."""
    cut = text[:MAX_SHOWN_CHARACTERS]
    left_out = len(text) - len(cut)
    return Content(
        visible(cut.replace("\r", "").rstrip("\n"))
        + (f"\n… {left_out:,} more characters" if left_out else "")
    )


def _subject(arguments: str) -> str:
    """The subject of a call: the first value that fits into a row."""
    return next(filter(None, (_line(value) for _, value in _arguments(arguments))), "")


def _line(text: str) -> str:
    """The first line of a text, not all of it if it is long."""
    line = visible_line(text.strip().partition("\n")[0])
    return shortened(line, MAX_SUBJECT_CHARACTERS)


def _arguments(arguments: str) -> list[tuple[str, str]]:
    """Names and values as text; what is no object is shown as it is."""
    try:
        read = json.loads(arguments) if arguments else {}
    except ValueError:
        return [("arguments", arguments)]
    if not isinstance(read, dict):
        return [("arguments", arguments)]
    return [
        (name, value if isinstance(value, str) else json.dumps(value))
        for name, value in read.items()
    ]


def _outcome(ended: CallEnded) -> str:
    parts = (
        []
        if ended.status == "ok"
        else [": ".join(filter(None, [ended.status, _line(ended.observation)]))]
    )
    if ended.change is not None:
        parts.append(f"+{ended.change.added_lines} -{ended.change.removed_lines}")
    if ended.duration_ms:
        parts.append(
            f"{ended.duration_ms:,} ms"
            if ended.duration_ms < 10_000
            else f"{ended.duration_ms / 1000:,.0f} s"
        )
    return " · ".join(parts)
