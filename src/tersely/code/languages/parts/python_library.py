"""Objects and collections that Python code fills, and functions that run or return a function named
in a text.
"""

from __future__ import annotations

import re

from tersely.code.expressions import IMPORTED, Expression
from tersely.code.languages.model import Filling, names

# objects that code gives members at will
OPEN_OBJECTS = names("threading.local() types.SimpleNamespace argparse.Namespace flask.g")

FILLABLE = {
    **dict.fromkeys(
        names("list set collections.deque collections.UserList weakref.WeakSet"), Filling.ELEMENTS
    ),
    **dict.fromkeys(
        names(
            "dict collections.OrderedDict collections.ChainMap collections.UserDict weakref.WeakKeyDictionary "
            "weakref.WeakValueDictionary"
        ),
        Filling.ITEMS,
    ),
    "collections.defaultdict": Filling.FACTORY,
    "contextvars.ContextVar": Filling.DEFAULT,
    **{
        f"{module}.{name}": Filling.ELEMENTS
        for module in ("queue", "asyncio", "multiprocessing")
        for name in ("Queue", "LifoQueue", "PriorityQueue", "SimpleQueue")
    },
}

_DOTTED = re.compile(r"([^\W\d]\w*(?:\.[^\W\d]\w*)*)[.:]([^\W\d]\w*)")


def meant_by_text(text: str) -> Expression:
    """The definition that a text such as `pkg.tasks.ingest` or `pkg.tasks:ingest` names, None for
    other texts.
    """
    named = _DOTTED.fullmatch(text)
    return (IMPORTED, named[1], named[2]) if named else None
