"""`code.definition`: what a name at a place in a file means."""

from __future__ import annotations

import re
from dataclasses import dataclass

from laconic.capabilities.declaration import Role, positional

_PLACE = re.compile(r"(?P<path>.+?):(?P<line>\d+)(?::(?P<column>\d+))?", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Parameters:
    """Where the name stands."""

    place: str = positional("FILE:LINE, or FILE:LINE:COLUMN for one name; both count from 1", role=Role.PLACE)
