"""The texts that models are told first, a file for each family of models and one for all others."""

from __future__ import annotations

from functools import cache
from importlib.resources import files

DEFAULT_FAMILY = "default"


@cache
def system_text(family: str) -> str:
    """The text for a family of models as `Abilities.family` calls it; that for all others where it
    has none.
    """
    folder = files(__name__)
    place = folder / f"{family}.txt"
    if not family.replace("-", "").isalnum() or not place.is_file():
        place = folder / f"{DEFAULT_FAMILY}.txt"
    return place.read_text("utf-8").rstrip("\n")
