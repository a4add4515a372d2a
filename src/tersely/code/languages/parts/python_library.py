"""Definitions that Python code names in texts."""

from __future__ import annotations

import re

from tersely.code.expressions import IMPORTED, Expression

_DOTTED = re.compile(r"([^\W\d]\w*(?:\.[^\W\d]\w*)*)[.:]([^\W\d]\w*)")


def meant_by_text(text: str) -> Expression:
    """The definition that a text such as `pkg.tasks.ingest` or `pkg.tasks:ingest` names, None for
    other texts.
    """
    named = _DOTTED.fullmatch(text)
    return (IMPORTED, named[1], named[2]) if named else None
