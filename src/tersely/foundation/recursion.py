"""The depth to which recursive walks over source and over values may go."""

from __future__ import annotations

import sys

# Python frames; calls between Python functions take no native stack. What is said of things nested
# in each other takes room that grows with the square of this: some tens of megabytes.
MAX_NESTING_FRAMES = 5_000


def allow_deep_nesting() -> None:
    """Let walks go as deep as `MAX_NESTING_FRAMES`; what lies deeper is a RecursionError still."""
    if sys.getrecursionlimit() < MAX_NESTING_FRAMES:
        sys.setrecursionlimit(MAX_NESTING_FRAMES)
