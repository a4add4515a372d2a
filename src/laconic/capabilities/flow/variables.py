"""The variable that a question about the inside of a function names."""

from __future__ import annotations

from typing import TYPE_CHECKING

from laconic.foundation.errors import LaconicError

if TYPE_CHECKING:
    from laconic.code.routines import Routine

MAX_NAMES_SHOWN = 30  # variables that a wrong name might have meant


def known_variable(variable: str | None, routine: Routine, path: str) -> str:
    """The name, "" for none; raises `LaconicError` where the routine, which is in the file, has no such variable."""
    from laconic.code.flow.slicing import has_variable, names_of

    if variable is None or has_variable(routine, variable):
        return variable or ""
    names = names_of(routine)
    shown = ", ".join(names[:MAX_NAMES_SHOWN]) + (", …" if len(names) > MAX_NAMES_SHOWN else "")
    raise LaconicError(
        "invalid_argument", f"there is no variable {variable!r} in {routine.name or path}", f"variables: {shown}"
    )
