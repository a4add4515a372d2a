"""What a command about the program itself is."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from tersely.capabilities.answers.text import Style
from tersely.cli.options import Options
from tersely.foundation.types import JsonObject, frozen

EXIT_STATUS = "exit_status"  # in a result: how the process ends, where it has printed by itself


class OwnCommandCall(NamedTuple):
    """The call of a command of our own."""

    program: str
    options: Options
    style: Style


class OwnCommand(NamedTuple):
    """A command of our own: its parameters, declared as those of a capability are."""

    parameters: type
    # gives the result; `text` in it is what is printed
    run: Callable[[OwnCommandCall, Any], JsonObject]


@frozen
class NoParameters:
    """The parameters of a command that has none."""
