"""The dialog in which an agent asks its person for permission, read from its screen.

What the agent wants to do is part of the dialog, and another program's words. So a dialog counts
only where all of it is shown, nothing in it looks like its beginning, and its last choices are
those that the agent is known to offer; whatever is not recognised is for the person at the
terminal.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from tersely.capabilities.relay.teams.permissions import (
    MAX_PERMISSION_CHARACTERS,
    MAX_TOOL_CHARACTERS,
)
from tersely.foundation.types import Strings
from tersely.integrations.wrapped import Dialog
from tersely.wrap.delivery.prompts import PromptPattern
from tersely.wrap.inline.reading import BORDERS

MAX_FOOT_ROWS = 4  # below the last choice of a dialog
_FRAME = rf"[\s{BORDERS}╭╮╰╯─]*"
_CHOICE = re.compile(rf"(?P<lead>[\s{BORDERS}●›❯>]*)(?P<number>[1-9])\. (?P<label>.+?){_FRAME}")
_CUT = re.compile(r"(?:…|\.\.\.) ?(?:(?:first|last) )?\d[\d,]* (?:more )?lines")
_BETWEEN = " ⏎ "


class AskedPermission(NamedTuple):
    """A dialog: its first row, what stands between that and the choices, the keys that allow and
    refuse it once, and all its rows.
    """

    title: str
    what: str
    allow: bytes
    deny: bytes
    rows: Strings


class _Choice(NamedTuple):
    row: int
    column: int
    number: int
    label: str


def asked(
    dialogs: Sequence[Dialog], prompt: PromptPattern, shown: Sequence[str]
) -> AskedPermission | None:
    """The dialog that a screen ends with; None where there is none that is wholly understood."""
    rows = [row.rstrip() for row in shown if row.strip()]
    choices = _choices(rows)
    if not choices or any(map(prompt.is_empty, rows[choices[-1].row :])):
        return None
    found = [one for dialog in dialogs if (one := _asked(dialog, rows, choices)) is not None]
    return found[0] if len(found) == 1 else None


def _asked(
    dialog: Dialog, rows: Sequence[str], choices: Sequence[_Choice]
) -> AskedPermission | None:
    """The dialog with some choices, if it is one of a kind and shows all that is asked."""
    first, last = choices[0].row, choices[-1].row
    titles = [at for at in range(first) if re.fullmatch(dialog.title, rows[at])]
    allow, deny = _key(choices, dialog.allow), _key(choices, dialog.deny)
    if len(titles) != 1 or not allow or not deny:
        return None
    whole = tuple(rows[titles[0] : last + 1])
    title, *others = filter(None, map(_framed, rows[titles[0] : first]))
    what = _BETWEEN.join(others)
    is_short = len(title) <= MAX_TOOL_CHARACTERS and len(what) <= MAX_PERMISSION_CHARACTERS
    is_cut = any(map(_CUT.search, whole)) or re.search(dialog.cut, what)
    if not is_short or is_cut:
        return None
    return AskedPermission(title, what, allow, deny, whole)


def _choices(rows: Sequence[str]) -> list[_Choice]:
    """The choices at the end of a screen, from the first to the last, one below the other; none
    where these are not numbered from 1 on.
    """
    found: list[_Choice] = []
    for at in reversed(range(len(rows))):
        choice = _choice(at, rows[at])
        if choice is None or (found and choice.column != found[0].column):
            if not found and len(rows) - at > MAX_FOOT_ROWS:
                return []
            continue
        if found and choice.number != found[0].number - 1:
            return []
        found.insert(0, choice)
        if choice.number == 1:
            return found
    return []


def _choice(at: int, row: str) -> _Choice | None:
    found = _CHOICE.fullmatch(row)
    if found is None:
        return None
    return _Choice(at, found.start("number"), int(found["number"]), found["label"])


def _key(choices: Sequence[_Choice], label: str) -> bytes:
    """The key of the one choice with a label; empty where none or several have it."""
    found = [one.number for one in choices if re.fullmatch(label, one.label)]
    return str(found[0]).encode() if len(found) == 1 else b""


def _framed(row: str) -> str:
    """The text of a row without what is drawn around it."""
    return re.sub(rf"\A{_FRAME}|{_FRAME}\Z", "", row)
