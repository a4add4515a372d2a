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
_FIRST, _SECOND_ONE = (0, "func", "f", "name", "task"), (1, "func")
# functions that run a function by its name in a text
NAMED_CALLBACKS = {
    **dict.fromkeys(
        names(
            "send_task signature subtask enqueue enqueue_call async_task add_job import_string locate resolve_name"
        ),
        _FIRST,
    ),
    **dict.fromkeys(names("enqueue_at enqueue_in"), _SECOND_ONE),
}


def meant_by_text(text: str) -> Expression:
    """The definition that a text such as `pkg.tasks.ingest` or `pkg.tasks:ingest` names, None for
    other texts.
    """
    named = _DOTTED.fullmatch(text)
    return (IMPORTED, named[1], named[2]) if named else None


# of decorators that pass their result to the function, as its first argument
BINDING_KEYWORDS = names("bind")
