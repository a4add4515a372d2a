"""Previews of what is read line by line: plain text, and logs, of which the complaints matter and
the end.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from tersely.foundation.limits import PREVIEW_BYTES
from tersely.foundation.text.shortening import shortened

_COMPLAINT = re.compile(
    r"\b(error|errors|fail|failed|failure|fatal|panic|panicked|exception|traceback|critical|assert\w*error|segfault)\b|"
    r"\b\w+(Error|Exception)\b|^E  ",
    re.IGNORECASE,
)
_LINE_CHARACTERS = 160
_MARK_BYTES = 60  # of a line that says how many are left out


def of_text(head: str, tail: str, size_bytes: int) -> str:
    """The first lines, and the last ones where there is room."""
    lines = head.splitlines()
    room = PREVIEW_BYTES - _MARK_BYTES
    first = _taken(lines, room * 2 // 3)
    ending = tail.splitlines() if tail else lines[len(first) :]
    last = _taken(reversed(ending), room - _bytes(first))[::-1]
    return _joined(first, [], last, lines, tail, size_bytes)


def of_log(head: str, tail: str, size_bytes: int) -> str:
    """The first lines, what complains, and the last lines."""
    lines = head.splitlines()
    room = PREVIEW_BYTES - 2 * _MARK_BYTES
    first = _taken(lines, room // 5)
    ending = tail.splitlines() if tail else lines[len(first) :]
    last = _taken(reversed(ending), room * 2 // 5)[::-1]
    between = lines[len(first) : None if tail else len(lines) - len(last)] + (
        ending[: len(ending) - len(last)] if tail else []
    )
    complaints = list(dict.fromkeys(line for line in between if _COMPLAINT.search(line)))
    return _joined(
        first,
        _taken(complaints, room - _bytes(first) - _bytes(last)),
        last,
        lines,
        tail,
        size_bytes,
    )


def _joined(
    first: list[str],
    middle: list[str],
    last: list[str],
    lines: list[str],
    tail: str,
    size_bytes: int,
) -> str:
    shown = len(first) + len(middle) + len(last)
    more = len(lines) - shown
    left_out = (
        f"⋯ {more:,} more line{'s' * (more != 1)}" if not tail else f"⋯ of {size_bytes:,} bytes"
    )
    marks = [left_out] if tail or more else []
    return "\n".join([*first, *marks, *middle, *(["⋯"] if middle else []), *last])


def _taken(lines: Iterable[str], room_bytes: int) -> list[str]:
    taken: list[str] = []
    for line in lines:
        cut = shortened(line, _LINE_CHARACTERS)
        room_bytes -= len(cut.encode()) + 1
        if room_bytes < 0:
            break
        taken.append(cut)
    return taken


def _bytes(lines: list[str]) -> int:
    return sum(len(line.encode()) + 1 for line in lines)
