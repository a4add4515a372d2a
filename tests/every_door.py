"""What is asked at every door, in the forms that doors take it in."""

from __future__ import annotations

import json
from typing import Any

from tersely.capabilities import catalogue
from tersely.capabilities.declaration.declaration import Parameter
from tersely.cli.commands import Command
from tersely.cli.help.overview import RELAY_COMMANDS

BUDGET = 100_000  # tokens, which no answer needs
AGENT = "ann"
_VALUES: dict[type, Any] = {str: "x", int: 1, float: 1.0, bool: True, dict: {}, list: []}


def asked_by_declaration(name: str) -> dict[str, Any]:
    """A question to a capability of which no more is known than what it declares: all that it needs,
    with a value of the right type.
    """
    declared = catalogue.load(name).parameters
    return {one.name: _value(one) for one in declared if one.required}


def _value(parameter: Parameter) -> Any:
    if parameter.choices:
        value: Any = parameter.choices[0]
    elif parameter.type in {int, float}:
        value = parameter.type(parameter.minimum or 1)
    else:
        value = _VALUES[parameter.type]
    return [value] if parameter.many else value


def words_for(name: str, arguments: dict[str, Any]) -> list[str]:
    """A question as it is typed."""
    words = catalogue.words_of(name).split()
    typed = words if words[0] in RELAY_COMMANDS and words != ["stats"] else ["relay", *words]
    declared = {one.name: one for one in Command(("x",), name).parameters()}
    for key, value in arguments.items():
        parameter = declared[key]
        said = [value] if not isinstance(value, list) else value
        if parameter.positional:
            typed += said
        elif parameter.type in {dict, list}:
            typed += [parameter.flag, json.dumps(value)]
        elif parameter.many:
            typed += [word for one in said for word in (parameter.flag, str(one))]
        elif isinstance(value, bool):
            typed.append(parameter.flag if value else f"--no-{parameter.flag[2:]}")
        else:
            typed += [parameter.flag, str(value)]
    return typed
