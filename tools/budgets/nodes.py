"""Syntax nodes of `src`, as a whole and by room."""

from __future__ import annotations

from collections import Counter

from tools.budgets.limits import ROOMS, ROOT, WHOLE
from tools.sizes import OPENED, PRODUCT, nodes, rooms

BESIDE = "beside"  # the modules that lie in no room


def figures() -> dict[str, float]:
    """Syntax nodes of each room and of the whole. Of those that `make sizes` opens each package is a
    room, and the modules beside them are one together.
    """
    found = Counter[str]()
    for room in rooms(ROOT / PRODUCT):
        name = room.name if room.is_dir() else BESIDE
        for place in rooms(room) if room.name in OPENED else [room]:
            is_inside = place.is_dir() and place != room
            found[f"{ROOMS}{name}/{place.name}" if is_inside else ROOMS + name] += nodes(place)
    return {WHOLE: found.total(), **found}
