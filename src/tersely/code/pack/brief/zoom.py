"""The zoom levels of packs, from the furthest to the nearest."""

from __future__ import annotations

from enum import StrEnum


class Zoom(StrEnum):
    """How near a pack looks at what it shows: the most that it says of anything."""

    MODULES = "L0"  # which files there are, and the names in them
    SIGNATURES = "L1"
    SKETCH = "L2"  # of functions the branches, loops, exits and calls
    WINDOW = "L3"  # what was asked about whole, of the rest the lines that concern it
    FULL = "L4"
