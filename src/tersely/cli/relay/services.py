"""The command that asks a service, in the words in which a program asks one."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from tersely.capabilities.declaration.declaration import positional
from tersely.cli.own_command import ROOT, CommandCall, command
from tersely.cli.services import CONNECTED
from tersely.foundation.types import JsonMapping, JsonObject, Strings

if TYPE_CHECKING:
    from tersely.client import Client
    from tersely.wrap.inline.arguments import ServiceQuestion as Question


@command("services call", is_open=True)
def _call(
    asked: CommandCall,
    *,
    service: str = positional("its name, as services lists it"),
    method: str = positional("what it is to do"),
    words: Strings = positional("what it is given: words, and --key value", default=()),
) -> JsonObject:
    """Call a method of a service."""
    from tersely.wrap.inline.arguments import asked as question

    root, others = _without_root(words)
    line = shlex.join([method, *others])
    said = question(service, line)
    with asked.connect() as relay:
        meant = _method(relay, said)
        if meant.declared:
            said = question(service, line, meant.declared)
        given = {**said.parameters, ROOT: root} if root else said.parameters
        form = "json" if asked.options.json else "text"
        arguments = {"service": said.service, "method": said.method, "format": form}
        params = asked.about_root(relay, given, meant.schema)
        answered = relay.answer("service.call", {**arguments, "params": params})
    return {**answered.result, "text": answered.text}


class _MeantMethod(NamedTuple):
    """The parameters of the method that is meant: as its service says, and by which names, where it
    is a foreign one.
    """

    schema: JsonMapping
    declared: Sequence[str]


def _method(relay: Client, said: Question) -> _MeantMethod:
    for service in relay.ask("service.list").services:
        found = next((one for one in service.methods if one.name == said.method), None)
        if service.name == said.service and found is not None:
            names = [name for name in found.args_schema.get("properties", ()) if name != ROOT]
            return _MeantMethod(found.args_schema, names if service.how == CONNECTED else ())
    return _MeantMethod({}, ())


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
