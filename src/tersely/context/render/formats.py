"""Every format a pack can be printed in, listed by hand. A format is one function and its line
here.
"""

from __future__ import annotations

from tersely.context.pack.model import Render
from tersely.context.render.as_json import as_json
from tersely.context.render.lines import compact, numbered, text, ultracompact
from tersely.context.render.markdown import markdown
from tersely.foundation.errors import TerselyError

FORMATS: dict[str, Render] = {
    "text": text,
    "ultracompact": ultracompact,
    "compact": compact,
    "numbered": numbered,
    "json": as_json,
    "markdown": markdown,
}


def format_named(name: str) -> Render:
    """The format with this name."""
    if name not in FORMATS:
        raise TerselyError(
            "invalid_argument", f"there is no format {name!r}", f"Formats: {', '.join(FORMATS)}."
        )
    return FORMATS[name]
