"""What the screen remembers of its user's choices from one run to the next: a file beside the sessions.

It is a convenience: a file that cannot be read, or says what cannot be, counts as none.
"""

from __future__ import annotations

import json
import os
from pathlib import Path

from tersely.foundation.errors import TerselyError
from tersely.foundation.limits import MAX_SETTINGS_BYTES

FILE = "screen.json"


def kept_theme(folder: Path) -> str:
    """The theme that was chosen last, "" if none is known."""
    try:
        with (folder / FILE).open("rb") as file:
            theme = json.loads(file.read(MAX_SETTINGS_BYTES))["theme"]
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return ""
    return theme if isinstance(theme, str) else ""


def keep_theme(folder: Path, theme: str) -> None:
    """Remember a theme; raises `unwritable_output`."""
    place = folder / FILE
    draft = place.with_suffix(f".{os.getpid()}")
    try:
        folder.mkdir(0o700, parents=True, exist_ok=True)
        draft.write_text(json.dumps({"theme": theme}), "utf-8")
        draft.replace(place)
    except OSError as error:
        raise TerselyError("unwritable_output", f"the theme cannot be kept: {place}: {error.strerror}") from error
