"""The screen of a terminal: rows of cells, where the cursor is, and what has scrolled away.

The screen that programs see is that of xterm without colours. It knows what readers of text need
and most emulators do not tell: which rows a long line was broken into by the terminal, and which
rows have left for good.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from enum import Enum, auto

from tersely.pty.screen.sequences import Kind, Piece, Sequences
from tersely.pty.screen.widths import width

MAX_JOINED_CHARACTERS = 16  # in one cell: what has no width of its own joins the character before
MAX_SCREEN_CELLS = 1_000  # of columns, and of rows
MAX_TERMINAL_MODES = 64  # switched on at a time
TAB_CELLS = 8
_AUTOWRAP, _ORIGIN, _CURSOR, _PASTE, _FOCUS = 7, 6, 25, 2_004, 1_004
_ALTERNATES = frozenset({47, 1_047, 1_049})
_ALTERNATE_WITH_CURSOR = 1_049
_ERASE_BELOW, _ERASE_ABOVE, _ERASE_ALL, _ERASE_HISTORY = range(4)


class Event(Enum):
    """The changes of the rows beside rows leaving."""

    CLEARED = auto()  # everything was erased at once: what follows may be a repetition


class Row:
    """One row: its cells, the second of a wide character being empty, and whether the next row goes
    on with it.
    """

    __slots__ = ("cells", "is_continued")

    def __init__(self) -> None:
        self.cells: list[str] = []
        self.is_continued = False

    @property
    def text(self) -> str:
        """The text in it, without the blanks at its end."""
        return "".join(self.cells).rstrip()


class Buffer:
    """The rows of the main or of the alternate screen, with the cursor in them."""

    def __init__(self, rows: int) -> None:
        self.rows = [Row() for _ in range(rows)]
        self.x, self.y = 0, 0
        self.top, self.bottom = 0, rows - 1
        self.saved = (0, 0)
        self.scrolled_rows = 0  # that have left since the beginning
        self.left: list[Row | Event] = []  # since somebody looked


class Screen:
    """A terminal that a program writes to."""

    def __init__(self, columns: int, rows: int) -> None:
        self.columns, self.height = _within_bounds(columns, rows)
        self.main, self.alternate = Buffer(self.height), Buffer(self.height)
        self.shown = self.main
        self.modes = {_AUTOWRAP, _CURSOR}
        self._sequences = Sequences()
        # the cursor stands behind the last column; the next character wraps
        self._is_past_end = False
        self._last = " "

    @property
    def is_alternate(self) -> bool:
        """True if a full-screen program has the alternate screen."""
        return self.shown is self.alternate

    @property
    def takes_pastes(self) -> bool:
        """True if the program wants to be told what is pasted (bracketed paste)."""
        return _PASTE in self.modes

    @property
    def has_cursor(self) -> bool:
        """True if the cursor is shown."""
        return _CURSOR in self.modes

    def texts(self) -> list[str]:
        """The rows that are shown."""
        return [row.text for row in self.shown.rows]

    def before_cursor(self) -> str:
        """The text of the cursor's line up to the cursor, all rows of it."""
        buffer = self.shown
        first = buffer.y
        while first > 0 and buffer.rows[first - 1].is_continued:
            first -= 1
        above = "".join("".join(row.cells) for row in buffer.rows[first : buffer.y])
        return above + "".join(buffer.rows[buffer.y].cells[: buffer.x + self._is_past_end])

    def feed(self, data: bytes) -> None:
        """Take what the program writes."""
        for piece in self._sequences.feed(data):
            if piece.kind is Kind.TEXT:
                self._write(piece.text)
            elif piece.kind is Kind.CONTROL:
                self._control(piece.text)
            elif piece.kind is Kind.ESCAPE:
                self._escape(piece)
            else:
                self._sequence(piece)

    def resize(self, columns: int, rows: int) -> None:
        """Take another size; the program is expected to draw again what matters."""
        columns, rows = _within_bounds(columns, rows)
        for buffer in (self.main, self.alternate):
            while len(buffer.rows) > rows:
                if buffer.y < len(buffer.rows) - 1:
                    buffer.rows.pop()
                else:
                    self._leave(buffer, buffer.rows.pop(0))
                    buffer.y -= 1
            buffer.rows += [Row() for _ in range(rows - len(buffer.rows))]
            buffer.top, buffer.bottom = 0, rows - 1
            buffer.x = min(buffer.x, columns - 1)
            for row in buffer.rows:
                del row.cells[columns:]
        self.columns, self.height = columns, rows
        self._is_past_end = False

    def _leave(self, buffer: Buffer, row: Row) -> None:
        if buffer is self.main:
            buffer.scrolled_rows += 1
            buffer.left.append(row)

    # Characters

    def _write(self, text: str) -> None:
        self._last = text[-1]
        if not text.isascii():
            for character in text:
                self._write_one(character)
            return
        place = 0
        while place < len(text):
            self._wrap_if_due()
            room = self.columns - self.shown.x
            part = text[place : place + room]
            self._put(list(part))
            place += len(part)
            if place < len(text) and _AUTOWRAP not in self.modes:
                self._put([text[-1]])
                return

    def _write_one(self, character: str) -> None:
        cells = width(character)
        if cells == 0:
            self._join(character)
            return
        self._wrap_if_due()
        if self.shown.x + cells > self.columns:
            if _AUTOWRAP not in self.modes or cells > self.columns:
                return
            self._wrap()
        self._put([character, ""][:cells])

    def _put(self, cells: list[str]) -> None:
        """Write cells that fit into the rest of the row."""
        buffer = self.shown
        row, x, end = buffer.rows[buffer.y], buffer.x, buffer.x + len(cells)
        held = row.cells
        if len(held) < x:
            held += [" "] * (x - len(held))
        if x < len(held) and held[x] == "" and x > 0:
            held[x - 1] = " "  # half of a wide character cannot stay
        if end < len(held) and held[end] == "":
            held[end] = " "
        held[x:end] = cells
        buffer.x = min(end, self.columns - 1)
        self._is_past_end = end >= self.columns

    def _join(self, character: str) -> None:
        buffer = self.shown
        row, x = buffer.rows[buffer.y], buffer.x - (not self._is_past_end)
        while 0 < x < len(row.cells) and row.cells[x] == "":
            x -= 1
        if 0 <= x < len(row.cells) and len(row.cells[x]) < MAX_JOINED_CHARACTERS:
            row.cells[x] += character

    def _wrap_if_due(self) -> None:
        if self._is_past_end and _AUTOWRAP in self.modes:
            self._wrap()
        elif self._is_past_end:
            self._is_past_end = False

    def _wrap(self) -> None:
        self.shown.rows[self.shown.y].is_continued = True
        self.shown.x = 0
        self._is_past_end = False
        self._line_feed()

    # Controls and sequences

    def _control(self, control: str) -> None:
        if control in "\n\v\f":
            self._is_past_end = False
            self.shown.rows[self.shown.y].is_continued = False
            self._line_feed()
        elif control == "\r":
            self._move(x=0)
        elif control == "\b":
            self._move(x=self.shown.x - 1)
        elif control == "\t":
            self._move(x=(self.shown.x // TAB_CELLS + 1) * TAB_CELLS)

    def _escape(self, piece: Piece) -> None:
        if piece.prefix:
            return
        if piece.text == "c":
            self._reset()
        elif piece.text == "D":
            self._line_feed()
        elif piece.text == "E":
            self._move(x=0)
            self._line_feed()
        elif piece.text == "M":
            self._reverse_line_feed()
        elif piece.text == "7":
            self.shown.saved = (self.shown.x, self.shown.y)
        elif piece.text == "8":
            self._move(*self.shown.saved)

    def _sequence(self, piece: Piece) -> None:
        if piece.prefix == "?" and piece.text in "hl":
            for mode in piece.parameters:
                self._set_mode(mode, piece.text == "h")
        elif piece.prefix == "!" and piece.text == "p":
            self._soft_reset()
        elif not piece.prefix:
            do = _SEQUENCES.get(piece.text)
            if do is not None:
                do(self, piece)

    def _set_mode(self, mode: int, is_on: bool) -> None:
        if mode in _ALTERNATES:
            if is_on != self.is_alternate:
                self._show_alternate(is_on, keeps_cursor=mode == _ALTERNATE_WITH_CURSOR)
        elif is_on:
            self.modes.add(mode)
        else:
            self.modes.discard(mode)
        if mode == _ORIGIN:
            self._move(0, 0)
        if len(self.modes) > MAX_TERMINAL_MODES:  # modes that mean nothing here
            self.modes &= {_AUTOWRAP, _ORIGIN, _CURSOR, _PASTE, _FOCUS}

    def _show_alternate(self, is_on: bool, *, keeps_cursor: bool) -> None:
        if is_on:
            self.alternate = Buffer(self.height)
            if keeps_cursor:
                self.main.saved = (self.main.x, self.main.y)
            self.alternate.x, self.alternate.y = self.main.x, self.main.y
        else:
            self.main.x, self.main.y = self.alternate.x, self.alternate.y
        self.shown = self.alternate if is_on else self.main
        if keeps_cursor and not is_on:
            self._move(*self.main.saved)
        self._is_past_end = False

    def _reset(self) -> None:
        self._cleared()
        self.shown = self.main
        self.main.rows = [Row() for _ in range(self.height)]
        self.modes = {_AUTOWRAP, _CURSOR}
        self.main.top, self.main.bottom = 0, self.height - 1
        self._move(0, 0)

    def _soft_reset(self) -> None:
        self.modes = (self.modes | {_AUTOWRAP, _CURSOR}) - {_ORIGIN}
        self.shown.top, self.shown.bottom = 0, self.height - 1

    def _cleared(self) -> None:
        if self.shown is self.main:
            self.main.left.append(Event.CLEARED)

    # The cursor

    def _move(self, x: int | None = None, y: int | None = None) -> None:
        buffer = self.shown
        if x is not None:
            buffer.x = max(0, min(x, self.columns - 1))
        if y is not None:
            buffer.y = max(0, min(y, self.height - 1))
        self._is_past_end = False

    def _move_to_line(self, y: int) -> None:
        buffer = self.shown
        if _ORIGIN in self.modes:
            y = min(buffer.top + y, buffer.bottom)
        self._move(y=y)

    def _up(self, rows: int, x: int | None = None) -> None:
        buffer = self.shown
        self._move(x, max(buffer.y - rows, buffer.top if buffer.y >= buffer.top else 0))

    def _down(self, rows: int, x: int | None = None) -> None:
        buffer = self.shown
        self._move(
            x, min(buffer.y + rows, buffer.bottom if buffer.y <= buffer.bottom else self.height - 1)
        )

    # Rows

    def _line_feed(self) -> None:
        buffer = self.shown
        if buffer.y == buffer.bottom:
            self._scroll_up(1)
        elif buffer.y < self.height - 1:
            buffer.y += 1

    def _reverse_line_feed(self) -> None:
        buffer = self.shown
        self._is_past_end = False
        if buffer.y == buffer.top:
            self._scroll_down(1)
        elif buffer.y > 0:
            buffer.y -= 1

    def _scroll_up(self, rows: int) -> None:
        buffer = self.shown
        for _ in range(min(rows, self.height)):
            row = buffer.rows.pop(buffer.top)
            buffer.rows.insert(buffer.bottom, Row())
            if buffer.top == 0:
                self._leave(buffer, row)

    def _scroll_down(self, rows: int) -> None:
        buffer = self.shown
        for _ in range(min(rows, self.height)):
            del buffer.rows[buffer.bottom]
            buffer.rows.insert(buffer.top, Row())

    def _insert_rows(self, rows: int) -> None:
        buffer = self.shown
        if buffer.top <= buffer.y <= buffer.bottom:
            for _ in range(min(rows, buffer.bottom - buffer.y + 1)):
                del buffer.rows[buffer.bottom]
                buffer.rows.insert(buffer.y, Row())
            self._move(x=0)

    def _delete_rows(self, rows: int) -> None:
        buffer = self.shown
        if buffer.top <= buffer.y <= buffer.bottom:
            for _ in range(min(rows, buffer.bottom - buffer.y + 1)):
                del buffer.rows[buffer.y]
                buffer.rows.insert(buffer.bottom, Row())
            self._move(x=0)

    def _erase_display(self, which: int) -> None:
        buffer = self.shown
        is_at_start = buffer.x == 0 and buffer.y == 0
        if which in (_ERASE_ALL, _ERASE_HISTORY) or (which == _ERASE_BELOW and is_at_start):
            self._cleared()
        if which == _ERASE_BELOW:
            self._erase_line(_ERASE_BELOW)
            buffer.rows[buffer.y + 1 :] = [Row() for _ in buffer.rows[buffer.y + 1 :]]
        elif which == _ERASE_ABOVE:
            self._erase_line(_ERASE_ABOVE)
            buffer.rows[: buffer.y] = [Row() for _ in range(buffer.y)]
        elif which == _ERASE_ALL:
            buffer.rows = [Row() for _ in buffer.rows]

    def _erase_line(self, which: int) -> None:
        row, x = self.shown.rows[self.shown.y], self.shown.x
        if which == _ERASE_BELOW:
            del row.cells[x:]
            row.is_continued = False
        elif which == _ERASE_ABOVE:
            row.cells[: x + 1] = [" "] * min(x + 1, len(row.cells))
        elif which == _ERASE_ALL:
            row.cells.clear()
            row.is_continued = False

    def _insert_cells(self, cells: int) -> None:
        row, x = self.shown.rows[self.shown.y].cells, self.shown.x
        if x < len(row):
            row[x:x] = [" "] * min(cells, self.columns)
            del row[self.columns :]

    def _delete_cells(self, cells: int) -> None:
        row, x = self.shown.rows[self.shown.y].cells, self.shown.x
        del row[x : x + cells]

    def _erase_cells(self, cells: int) -> None:
        row, x = self.shown.rows[self.shown.y].cells, self.shown.x
        end = min(x + cells, len(row))
        row[x:end] = [" "] * max(0, end - x)

    def _repeat(self, times: int) -> None:
        self._write(self._last * min(times, self.columns * self.height))

    def _set_margins(self, piece: Piece) -> None:
        buffer = self.shown
        top, bottom = piece.number(0) - 1, min(piece.number(1, self.height), self.height) - 1
        if top < bottom:
            buffer.top, buffer.bottom = top, bottom
            self._move_to_line(0)
            self._move(x=0)

    def _place(self, piece: Piece) -> None:
        self._move_to_line(piece.number(0) - 1)
        self._move(x=piece.number(1) - 1)


def _within_bounds(columns: int, rows: int) -> tuple[int, int]:
    """A size that there can be: terminals say 0 where they do not know theirs."""
    return min(columns or 80, MAX_SCREEN_CELLS), min(rows or 24, MAX_SCREEN_CELLS)


_SEQUENCES: Mapping[str, Callable[[Screen, Piece], None]] = {
    "A": lambda screen, piece: screen._up(piece.number(0)),
    "B": lambda screen, piece: screen._down(piece.number(0)),
    "e": lambda screen, piece: screen._down(piece.number(0)),
    "C": lambda screen, piece: screen._move(x=screen.shown.x + piece.number(0)),
    "a": lambda screen, piece: screen._move(x=screen.shown.x + piece.number(0)),
    "D": lambda screen, piece: screen._move(x=screen.shown.x - piece.number(0)),
    "E": lambda screen, piece: screen._down(piece.number(0), x=0),
    "F": lambda screen, piece: screen._up(piece.number(0), x=0),
    "G": lambda screen, piece: screen._move(x=piece.number(0) - 1),
    "`": lambda screen, piece: screen._move(x=piece.number(0) - 1),
    "H": Screen._place,
    "f": Screen._place,
    "d": lambda screen, piece: screen._move_to_line(piece.number(0) - 1),
    "J": lambda screen, piece: screen._erase_display(piece.number(0, 0)),
    "K": lambda screen, piece: screen._erase_line(piece.number(0, 0)),
    "L": lambda screen, piece: screen._insert_rows(piece.number(0)),
    "M": lambda screen, piece: screen._delete_rows(piece.number(0)),
    "P": lambda screen, piece: screen._delete_cells(piece.number(0)),
    "@": lambda screen, piece: screen._insert_cells(piece.number(0)),
    "X": lambda screen, piece: screen._erase_cells(piece.number(0)),
    "S": lambda screen, piece: screen._scroll_up(piece.number(0)),
    "T": lambda screen, piece: screen._scroll_down(piece.number(0)),
    "b": lambda screen, piece: screen._repeat(piece.number(0)),
    "r": Screen._set_margins,
    "s": lambda screen, piece: setattr(screen.shown, "saved", (screen.shown.x, screen.shown.y)),
    "u": lambda screen, piece: screen._move(*screen.shown.saved),
}
