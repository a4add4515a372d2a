"""The result of an edit of a file: three ways to say one, all of which become the replacement of a
range of lines.

An edit that does not fit the file is never guessed at. It comes back as a refusal with the lines
that are there.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from tersely.agent.tools.files.content import FileContent, body_lines
from tersely.foundation.limits import MAX_WHOLE_LINES

AROUND = 3  # lines shown on either side of a place
_TAB_SPACES = 4  # where nothing says how many make a tab
_MOST_PLACES = 3  # of a text that stands in several
_MOST_COMPARED_LINES = 2_000  # with one that stands nowhere


class LineEdit(NamedTuple):
    """Lines `start` to `end`, from 1, become `body`; none is replaced, and `body` put before
    `start`, if `end` is less.

    `needs` are the lines that the model has to have seen for it.
    """

    start: int
    end: int
    body: str
    needs: range


class EditRefusal(NamedTuple):
    """The reason for which an edit does not fit, and the ranges of lines to be shown with that."""

    why: str
    ranges: tuple[range, ...] = ()


def whole(content: FileContent, body: str) -> LineEdit | EditRefusal:
    """A short file becomes `body`."""
    lines = len(content.lines)
    if lines > MAX_WHOLE_LINES:
        return EditRefusal(f"the file has {lines} lines: give start and end, or old")
    return LineEdit(1, lines, body, range(1, lines + 1))


def ranged(content: FileContent, start: int, end: int, body: str) -> LineEdit | EditRefusal:
    """Lines `start` to `end` become `body`."""
    lines = len(content.lines)
    if not 1 <= start <= lines + 1 or not start - 1 <= end <= lines:
        near = _around(min(max(start, 1), lines), min(max(start, 1), lines), lines)
        return EditRefusal(f"there is no range {start}-{end}: the file has {lines} lines", (near,))
    needs = (
        range(start, end + 1) if end >= start else range(max(1, start - 1), min(start, lines) + 1)
    )
    return LineEdit(start, end, body, needs)


def replacing(content: FileContent, old: str, body: str) -> LineEdit | EditRefusal:
    """The one place where `old` stands becomes `body`: as it is, else whole lines that differ in
    their indentation.
    """
    lines = content.shown
    wanted = body_lines(old)
    if not any(line.strip() for line in wanted):
        return EditRefusal("old is empty")
    exact = list(_exact(lines, "\n".join(wanted)))
    if len(exact) == 1:
        return _exact_edit(lines, exact[0], "\n".join(wanted), body)
    loose: list[int] = []
    if not exact:
        starts = range(len(lines))
        loose = [at for at in starts if _is_alike(lines[at : at + len(wanted)], wanted)]
    if len(loose) == 1:
        at = loose[0]
        shifted = _shifted(body_lines(body), wanted, lines[at : at + len(wanted)])
        return LineEdit(at + 1, at + len(wanted), _body(shifted), range(0))
    count = len(exact) + len(loose)
    if not count:
        return _nowhere(lines, wanted)
    places = [_line_at(lines, offset) for offset in exact[:_MOST_PLACES]]
    places = places or [at + 1 for at in loose[:_MOST_PLACES]]
    shown = tuple(_around(line, line + len(wanted) - 1, len(lines)) for line in places)
    return EditRefusal(
        f"old stands in {count} places: take more lines into it, or give start and end", shown
    )


def _nowhere(lines: Sequence[str], wanted: Sequence[str]) -> EditRefusal:
    """The refusal where a text does not stand, with the lines that are most like it."""
    near = _nearest(lines, wanted)
    return EditRefusal(
        "old does not stand in the file", (_around(near, near, len(lines)),) if near else ()
    )


def around(edit: LineEdit, lines: int) -> range:
    """The lines of an edit with those beside them."""
    return _around(edit.start, max(edit.start, edit.end), lines)


def _around(first: int, last: int, lines: int) -> range:
    return range(max(1, first - AROUND), min(lines, last + AROUND) + 1)


def _exact(lines: Sequence[str], wanted: str) -> Iterator[int]:
    """The places of a text, as offsets into all lines joined; overlapping places count."""
    text = "\n".join(lines)
    at = text.find(wanted)
    while at >= 0:
        yield at
        at = text.find(wanted, at + 1)


def _line_at(lines: Sequence[str], offset: int) -> int:
    return "\n".join(lines).count("\n", 0, offset) + 1


def _exact_edit(lines: Sequence[str], offset: int, wanted: str, body: str) -> LineEdit:
    first = _line_at(lines, offset)
    last = first + wanted.count("\n")
    text = "\n".join(lines)
    head = text[text.rfind("\n", 0, offset) + 1 : offset]
    tail = text[offset + len(wanted) :].partition("\n")[0]
    if not head and not tail:  # whole lines: an empty body takes them away
        return LineEdit(first, last, body, range(0))
    return LineEdit(first, last, f"{head}{_inner(body)}{tail}\n", range(0))


def _inner(body: str) -> str:
    return "\n".join(body_lines(body))


def _is_alike(found: Sequence[str], wanted: Sequence[str]) -> bool:
    return len(found) == len(wanted) and all(
        one.strip() == other.strip() for one, other in zip(found, wanted, strict=True)
    )


def _shifted(body: Sequence[str], wanted: Sequence[str], found: Sequence[str]) -> list[str]:
    """The new lines, indented as the file's are where the model wrote another margin."""
    margins: dict[str, str] = {}
    for one, other in zip(wanted, found, strict=True):
        if one.strip():
            margins.setdefault(_margin(one), _margin(other))
    return [_moved(line, margins) if line.strip() else line for line in body]


def _moved(line: str, margins: Mapping[str, str]) -> str:
    """A line with the margin of the file in place of the nearest that the model wrote; what is left
    is translated.
    """
    own = _margin(line)
    known = max((here for here in margins if own.startswith(here)), key=len, default="")
    return margins.get(known, "") + _translated(own[len(known) :], margins) + line[len(own) :]


def _translated(margin: str, margins: Mapping[str, str]) -> str:
    """Spaces as tabs where the file has tabs, and the other way round; `margins` say how many
    spaces make one.
    """
    has_tabs = any("\t" in there for there in margins.values())
    pairs = [(there, here) if has_tabs else (here, there) for here, there in margins.items()]
    widths = [
        len(spaces) // len(tabs)
        for tabs, spaces in pairs
        if tabs and set(tabs) == {"\t"} and set(spaces) == {" "}
    ]
    width = next(filter(None, widths), _TAB_SPACES)
    if has_tabs and set(margin) == {" "}:
        return "\t" * (len(margin) // width) + " " * (len(margin) % width)
    is_spaces = any(there for there in margins.values()) and not has_tabs
    return margin.replace("\t", " " * width) if is_spaces else margin


def _margin(line: str) -> str:
    return line[: len(line) - len(line.lstrip())]


def _body(lines: Sequence[str]) -> str:
    return "".join(f"{line}\n" for line in lines)


def _nearest(lines: Sequence[str], wanted: Sequence[str]) -> int:
    """The line that is most like the first one of `wanted`, from 1; 0 without any."""
    from difflib import get_close_matches  # only who errs pays for it

    first = next(line.strip() for line in wanted if line.strip())
    stripped = [line.strip()[:200] for line in lines]
    found = get_close_matches(
        first[:200], dict.fromkeys(stripped[:_MOST_COMPARED_LINES]), n=1, cutoff=0.5
    )
    return stripped.index(found[0]) + 1 if found else 0
