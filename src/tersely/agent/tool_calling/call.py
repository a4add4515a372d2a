"""The result of reading a model's answer: a call that is checked, or one that is not to be
understood.
"""

from __future__ import annotations

from types import MappingProxyType
from typing import NamedTuple

from tersely.foundation.types import JsonMapping, Strings


class ToolCall(NamedTuple):
    """A call of a tool with arguments that fit its parameters. `repairs` says in words what was
    made good for it.
    """

    tool: str
    arguments: JsonMapping
    repairs: Strings = ()
    id: str = ""  # where the server gave it one


class MalformedCall(NamedTuple):
    """A call that cannot be made: `reason` is one line for the model, `tool` the one that it named,
    `arguments` as it wrote them.
    """

    reason: str
    tool: str = ""
    id: str = ""
    arguments: JsonMapping = MappingProxyType({})
