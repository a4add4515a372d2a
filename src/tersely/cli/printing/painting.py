"""The colours of a context pack, which is rendered for models without any."""

from __future__ import annotations

import re

from tersely.capabilities.answers.text import Style

# files, symbols, added lines, removed lines, and what is passed over
_LINES = re.compile(r"^(?:(=== .*)|(@\d+-\d+ .*)|(\+.*)|(-.*)|(@@ .*|[ \t]*⋯.*))$", re.MULTILINE)


def painted(text: str, style: Style) -> str:
    """A pack with its lines in colours by what they are; any other answer as it is."""
    if not text.startswith("=== "):
        return text
    paints = style.heading, style.symbol, style.good, style.bad, style.faint
    return _LINES.sub(lambda line: paints[(line.lastindex or 1) - 1](line[0]), text)
