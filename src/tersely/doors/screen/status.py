"""The top row: what model, what it may do, how full its window is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from rich.cells import cell_len
from textual.content import Content
from textual.events import Resize
from textual.widgets import Static

from tersely.agent.opening import MODES, Mode
from tersely.doors.screen.shown import ShownStatus
from tersely.foundation.text.escape import visible_line

SEPARATOR = " │ "
_FULL_PERCENT, _FILLING_PERCENT = 90, 70


class StatusField(NamedTuple):
    """A part of the row; where `text` does not fit, `short` may. The least important are left out
    first.
    """

    text: str
    importance: int
    style: str = ""
    short: str = ""


class StatusBar(Static):
    """One row."""

    def __init__(self, *, id: str) -> None:
        super().__init__(id=id, markup=False)
        self._status: ShownStatus | None = None
        self._mode = Mode.ASK

    def show(self, status: ShownStatus, mode: Mode) -> None:
        """Tell how things stand."""
        self._status, self._mode = status, mode
        self._lay_out(self.size.width)

    def on_resize(self, event: Resize) -> None:
        """Another width, other fields."""
        self._lay_out(self.size.width)

    def _lay_out(self, width: int) -> None:
        if self._status is not None and width:
            self.update(row(fields(self._status, self._mode), width))


def fields(status: ShownStatus, mode: Mode) -> list[StatusField]:
    """The parts from left to right."""
    used = f"{status.used_tokens:,}"
    whole = f" / {status.window_tokens:,}" if status.window_tokens else ""
    cached = "" if status.cached_percent is None else f"{status.cached_percent:.0f}% cached"
    bash = f"bash {visible_line(status.confinement)}" if status.confinement else "bash not confined"
    confined, unconfined = ("", "sandbox"), ("$text-warning", "no sandbox")
    found = [
        StatusField("Tersely", 2, "bold"),
        StatusField(visible_line(status.model) or "no model", 7, "bold $text-primary"),
        StatusField(f"Tier {status.tier}", 9, short=f"T{status.tier}"),
        StatusField(f"{used}{whole} tokens", 8, _fullness(status), f"{used}{whole}"),
        StatusField(cached, 5, short=cached and f"kv {cached.split(maxsplit=1)[0]}"),
        StatusField(MODES[mode].name, 5, "" if mode is Mode.ASK else "$text-warning"),
        StatusField("RAG" if status.retrieves else "RAG off", 3),
        StatusField(visible_line(status.repository), 6),
        StatusField(bash, 4, *(confined if status.confinement else unconfined)),
    ]
    return [field for field in found if field.text]


def _fullness(status: ShownStatus) -> str:
    """The style that says how full the window is."""
    percent = 100 * status.used_tokens / status.window_tokens if status.window_tokens else 0.0
    if percent >= _FULL_PERCENT:
        return "$text-error"
    return "$text-warning" if percent >= _FILLING_PERCENT else ""


def row(parts: Sequence[StatusField], width: int) -> Content:
    """As many parts as fit into a width in cells, the most important ones, in their order; then
    more text of them.
    """
    by_importance = sorted(range(len(parts)), key=lambda at: -parts[at].importance)
    chosen: dict[int, str] = {}
    for at in by_importance:
        if _cells({**chosen, at: parts[at].short or parts[at].text}) <= width:
            chosen[at] = parts[at].short or parts[at].text
    for at in by_importance:
        if at in chosen and _cells({**chosen, at: parts[at].text}) <= width:
            chosen[at] = parts[at].text
    shown = [Content.styled(text, parts[at].style) for at, text in sorted(chosen.items())]
    return Content.styled(SEPARATOR, "dim").join(shown)


def _cells(texts: Mapping[int, str]) -> int:
    return sum(map(cell_len, texts.values())) + len(SEPARATOR) * (len(texts) - 1)
