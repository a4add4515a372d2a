"""The catalogue as tools of a model: what each is called, and the line that says how it is called."""

from __future__ import annotations

import re
from collections.abc import Iterable

from tersely.capabilities import catalogue
from tersely.capabilities.answers.reply import BUDGET
from tersely.capabilities.declaration.declaration import (
    Capability,
    Effect,
    Parameter,
)
from tersely.foundation.types import Strings

# What is offered: all but what reads a mailbox for programs, beside `inbox`.
OFFERED: Strings = tuple(name for name in catalogue.NAMES if name != "mail.box")


def tool_name(command: str) -> str:
    """The name of a capability or command as a tool: letters, digits and underscores, which every
    client takes.
    """
    name = (
        catalogue.tool_words(command)
        if command in catalogue.RELAY_NAMES
        else command.removeprefix(catalogue.CODE)
    )
    return re.sub(r"[ .-]", "_", name)


def offered(capability: Capability) -> list[Parameter]:
    """The parameters that a model may say: nothing that does more than read, beside what the
    capability does.
    """
    return [one for one in capability.parameters if one.effect is Effect.READ and not one.hidden]


def call_line(capability: Capability) -> str:
    """The call of a capability as a model writes it: `send(to, body, reply_to?)`."""
    named = [one for one in offered(capability) if one.name != BUDGET]
    return signature(tool_name(capability.name), named)


def signature(name: str, parameters: Iterable[Parameter]) -> str:
    """The call of a tool of these parameters; one that can be left out has a question mark."""
    words = [one.name if one.required else f"{one.name}?" for one in parameters]
    return f"{name}({', '.join(words)})"
