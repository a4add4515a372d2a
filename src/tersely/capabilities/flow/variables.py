"""The variable that a question about the inside of a function names."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tersely.foundation.errors import TerselyError

if TYPE_CHECKING:
    from tersely.code.routines import Routine

MAX_NAMES_SHOWN = 30  # variables that a wrong name might have meant


def known_variable(variable: str | None, routine: Routine, path: str) -> str:
    """The name, "" for none; raises `TerselyError` where the routine, which is in the file, has no
    such variable.
    """
    from tersely.code.flow.slicing import has_variable, names_of

    if variable is None or has_variable(routine, variable):
        return variable or ""
    names = names_of(routine)
    shown = ", ".join(names[:MAX_NAMES_SHOWN]) + (", …" if len(names) > MAX_NAMES_SHOWN else "")
    raise TerselyError(
        "invalid_argument",
        f"there is no variable {variable!r} in {routine.name or path}",
        f"variables: {shown}",
    )
