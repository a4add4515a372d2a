"""Questions of a reader that a door knows: what the reader was sent before is not sent again, and
nobody has to ask.
"""

from __future__ import annotations

from collections.abc import Collection

from tersely.foundation.types import JsonMapping, JsonObject

SESSION = "session"  # the parameter that names a reader
OF_DOOR = "@"  # begins the names of sessions that nobody gave; what these save is not reported


# How a reader gets whole what was left out elsewhere: what is asked for by its name is never
# shortened unasked.
ALWAYS_WHOLE = frozenset({"code.symbol.slice"})


def for_reader(
    capability: str, parameters: Collection[str], arguments: JsonMapping, session: str
) -> JsonObject:
    """The arguments of a question as the reader with that session asks it, where its capability
    remembers readers.

    What the caller says by itself counts.
    """
    remembers = SESSION in parameters and capability not in ALWAYS_WHOLE
    if not session or not remembers or arguments.get(SESSION) is not None:
        return dict(arguments)
    return {**arguments, SESSION: OF_DOOR + session}
