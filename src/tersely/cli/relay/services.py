"""The command that asks a service, in the words in which a program asks one."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tersely.capabilities.declaration import positional
from tersely.cli.relay.command_spec import ROOT, Asked, RelayCommand

if TYPE_CHECKING:
    from tersely.client import Client
    from tersely.pty.inline.arguments import Asked as Question


@dataclass(frozen=True, slots=True)
class _Call:
    service: str = positional("its name, as services lists it")
    method: str = positional("what it is to do")
    words: tuple[str, ...] = positional("what it is given: words, and --key value", default=())


def _call(asked: Asked, parameters: _Call) -> dict[str, Any]:
    from tersely.pty.inline.arguments import asked as question

    root, words = _without_root(parameters.words)
    said = question(parameters.service, shlex.join([parameters.method, *words]))
    with asked.connect() as relay:
        schema = _schema(relay, said)
        declared = [name for name in schema.get("properties", ()) if name != ROOT]
        if declared:
            said = question(parameters.service, shlex.join([parameters.method, *words]), declared)
        given = {**said.parameters, ROOT: root} if root else said.parameters
        form = "json" if asked.options.json else "text"
        arguments = {"service": said.service, "method": said.method, "format": form}
        params = asked.about_root(relay, given, schema)
        answered = relay.answer("service.call", {**arguments, "params": params})
    return {**answered.result, "text": answered.text}


def _schema(relay: Client, said: Question) -> Mapping[str, Any]:
    """What the method that is meant takes, as its service declares it."""
    listed = relay.ask("service.list").services
    methods = [method for one in listed if one.name == said.service for method in one.methods]
    return next((method.args_schema for method in methods if method.name == said.method), {})


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
    RelayCommand(("services", "call"), "Call a method of a service", _Call, _call, is_open=True),
)
