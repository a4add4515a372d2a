"""Texts of others made short enough to be shown."""

from __future__ import annotations


def shortened(text: str, characters: int) -> str:
    """The text, or its beginning and an ellipsis: at most so many characters."""
    return text if len(text) <= characters else text[: characters - 1] + "…"


def one_line(text: str, characters: int) -> str:
    """The text on one line, runs of white space as one blank, at most so many characters."""
    return shortened(" ".join(text.split()), characters)
