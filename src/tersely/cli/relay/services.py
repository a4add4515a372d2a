"""Commands about services: who can be asked what, and asking."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tersely.capabilities.declaration import positional
from tersely.capabilities.relay.foreign import neutral
from tersely.capabilities.text import aligned
from tersely.cli.relay.command_spec import ROOT, Asked, Nothing, RelayCommand, plain
from tersely.foundation.escape import visible_line
from tersely.pty.results import result_text

if TYPE_CHECKING:
    from tersely.doors.http.contract.services import MethodTold

_SHOWN_PARAMETERS = 6


@dataclass(frozen=True, slots=True)
class _Call:
    service: str = positional("its name, as services lists it")
    method: str = positional("what it is to do")
    words: tuple[str, ...] = positional("what it is given: words, and --key value", default=())


def _services(asked: Asked, parameters: Nothing) -> dict[str, Any]:
    from tersely.client import ask

    found = asked.ask(ask.service_list()).services
    lines: list[str] = []
    for one in found:
        about = " ".join(part for part in (one.version, one.how, one.place) if part)
        lines.append(f"{asked.style.symbol(visible_line(one.name))} {asked.style.faint(visible_line(about))}")
        lines += aligned(
            [(visible_line(f"  {_signature(method)}"), visible_line(method.description)) for method in one.methods]
        )
    return {"services": plain(found), "text": "\n".join(lines or ["there are no services"]) + "\n"}


def _signature(method: MethodTold) -> str:
    names = list(method.args_schema.get("properties", {}))
    return f"{method.name}({', '.join([*names[:_SHOWN_PARAMETERS], *(['…'] if names[_SHOWN_PARAMETERS:] else [])])})"


def _call(asked: Asked, parameters: _Call) -> dict[str, Any]:
    from tersely.client import ask
    from tersely.pty.inline.arguments import asked as question

    root, words = _without_root(parameters.words)
    said = question(parameters.service, shlex.join([parameters.method, *words]))
    listed = asked.ask(ask.service_list()).services
    methods = [method for one in listed if one.name == said.service for method in one.methods]
    schema = next((method.args_schema for method in methods if method.name == said.method), {})
    declared = [name for name in schema.get("properties", ()) if name != ROOT]
    if declared:
        said = question(parameters.service, shlex.join([parameters.method, *words]), declared)
    given = {**said.parameters, ROOT: root} if root else said.parameters
    given = asked.about_root(given, schema)
    told = asked.ask(
        ask.service_call(said.service, said.method, given, format="json" if asked.options.json else "text")
    )
    return {
        "service": told.service,
        "method": told.method,
        "result": told.result,
        "duration_ms": told.duration_ms,
        "text": neutral(result_text(told.result)).rstrip("\n") + "\n",
    }


def _without_root(words: Sequence[str]) -> tuple[str, list[str]]:
    """The repository that `--root` names among the words of a question, and the other words."""
    root, left, rest = "", [], list(words)
    while rest:
        word = rest.pop(0)
        option_name, equals, value = word.partition("=")
        if option_name != "--root" or not (equals or rest):
            left.append(word)
        else:
            root = value if equals else rest.pop(0)
    return root, left


COMMANDS: tuple[RelayCommand, ...] = (
    RelayCommand(("services",), "List services and their methods", Nothing, _services),
    RelayCommand(("services", "call"), "Call a method of a service", _Call, _call, is_open=True),
)
