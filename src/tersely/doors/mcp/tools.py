"""The catalogue as tools: a few that are listed, and two by which all others are found and called.

Whatever a list of tools says is sent to the model with every request, so it says little: names,
types, and the one line that each capability has for itself. `more_tools` tells the rest to whoever
asks.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from tersely.capabilities import catalogue
from tersely.capabilities.answers.delta import for_reader
from tersely.capabilities.answers.reply import BUDGET
from tersely.capabilities.declaration.binding import JSON_NAMES, object_schema, schema_of
from tersely.capabilities.declaration.declaration import (
    Capability,
    Context,
    Effect,
    Parameter,
)
from tersely.capabilities.declaration.toolset import OFFERED, call_line, offered, tool_name
from tersely.daemon.ndjson.spellings import SPELLINGS, spelling_of
from tersely.doors.mcp.quoted_values import unquoted
from tersely.foundation.errors import TerselyError
from tersely.foundation.limits import DEFAULT_BUDGET_TOKENS
from tersely.foundation.text.suggestion import suggestion
from tersely.foundation.types import JsonMapping, JsonObject, Strings

INSTRUCTIONS = (
    "Answers about the code of one repository. Begin a task with packet, and do what its line next says. A symbol is "
    "named by its id, path/from/root.py:Class.method, or any unambiguous end of it. Every tool takes budget, in "
    "tokens."
)
MORE_TOOLS = "more_tools"
CALL = "call"
ACT = "relay"  # what calls those that do more than read
# keeps the answer to a question about code in the relay, and replies its reference
STORE = "store_in_cassette"

BY_EVERY_TOOL: JsonMapping = {BUDGET: {"type": "integer"}, STORE: {"type": "boolean"}}

# The tools that are listed, with the parameters that their schemas show. They take the others of
# their capability too.
CORE: Mapping[str, Strings] = {
    "code.packet": ("task",),
    "code.context": ("symbols",),
    "code.search": ("query", "in"),
    "code.symbol.get": ("symbol",),
    "code.impact": ("symbol",),
    "code.change_impact": ("base",),
    "code.plan": ("task",),
    "code.diff_context": ("base",),
    "mail.send": ("to", "body", "reply_to"),
    "mail.inbox": ("wait",),
    "agent.list": (),
    "claim.take": ("targets",),
    "claim.release": ("targets",),
}


# What an answer may have where neither the call nor a setting says so. All others have the budget
# of the settings, or one that their capability declares.
DEFAULT_BUDGETS: Mapping[str, int] = {"code.diff_context": 4_000}


# which nobody meets by accident
_BOUNDS_OF_SIZE = frozenset({"minLength", "maxLength", "minItems", "maxItems", "pattern"})
_PLAIN_DEFAULTS: tuple[Any, ...] = (None, "", [], False, 0)


class ListedTool(NamedTuple):
    """One entry of the list."""

    name: str
    description: str
    schema: JsonObject
    only_reads: bool
    capability: Capability | None = None  # that it asks, None for one that asks any


class ToolQuestion(NamedTuple):
    """The question of a call: a command as `daemon.ndjson.commands` knows it, and what it is given."""

    command: str
    arguments: JsonObject


def _callers() -> list[ListedTool]:
    about_more = (
        f"Lists the tools that {CALL} and {ACT} call: calls, dead code, slices, threads, state, artifacts, board "
        "and others. With tool: all about that one"
    )
    named = {"type": "string", "description": "its name"}
    called = {"tool": named, "arguments": {"type": "object", "description": "by name"}}
    acting = f"Calls a tool that {MORE_TOOLS} lists and that changes what agents share"
    return [
        ListedTool(MORE_TOOLS, about_more, object_schema({"tool": named}, []), only_reads=True),
        ListedTool(
            CALL,
            f"Calls a tool that {MORE_TOOLS} lists and that reads",
            object_schema(called, ["tool"]),
            only_reads=True,
        ),
        ListedTool(ACT, acting, object_schema(called, ["tool"]), only_reads=False),
    ]


def tools(*, all_tools: bool = False) -> list[ListedTool]:
    """The listed tools: the core and the pair, or every capability as a tool of its own."""
    if all_tools:
        return [
            _tool(capability, tuple(_names(capability))) for capability in catalogue.every(OFFERED)
        ]
    core = [_tool(catalogue.load(name), shown, is_core=True) for name, shown in CORE.items()]
    return [*core, *_callers()]


def question(name: str, arguments: JsonMapping) -> ToolQuestion:
    """The question of a tool's call; raises `unknown_command` or `invalid_argument`."""
    given, pair = dict(arguments), name if name in {CALL, ACT} else ""
    if pair:
        name, budget, given = called(given)
        given = given if budget is None else {BUDGET: budget, **given}
    commands = {tool_name(command): command for command in _commands()}
    command = commands.get(tool_name(name))
    if command is None:
        raise TerselyError(
            "unknown_command", f"there is no tool {name!r}", _suggestion(name, commands)
        )
    if pair == CALL and is_of_relay(command) and catalogue.load(command).effect is not Effect.READ:
        raise TerselyError("not_permitted", f"{name} does more than read", f"call it through {ACT}")
    return ToolQuestion(command, _typed(command, given))


def _typed(command: str, given: JsonMapping) -> JsonObject:
    """The arguments of a command as its parameters want them, where they came in quotes."""
    spelling = spelling_of(command)
    name, renames = (spelling.capability, spelling.renames) if spelling else (command, {})
    declared = catalogue.load(name).parameters
    own = {parameter.name: schema_of(parameter) for parameter in declared}
    schemas = {**own, **BY_EVERY_TOOL}
    return {
        name: unquoted(value, schemas.get(renames.get(name, name), {}))
        for name, value in given.items()
    }


def is_of_relay(command: str) -> bool:
    """True if a command is asked of the relay rather than of a repository."""
    return command in catalogue.RELAY_NAMES


def default_budget(asked: ToolQuestion) -> int | None:
    """The budget of a question that says none, where it has one of its own."""
    spelling = spelling_of(asked.command)
    is_said = BUDGET in asked.arguments
    return None if is_said or spelling is None else DEFAULT_BUDGETS.get(spelling.capability)


def for_session(question: ToolQuestion, session: str) -> ToolQuestion:
    """The question as whoever has that session asks it; an answer that is kept elsewhere is whole."""
    spelling = spelling_of(question.command)
    if spelling is None or question.arguments.get(STORE):
        return question
    names = _parameter_names(catalogue.load(spelling.capability))
    return question._replace(
        arguments=for_reader(spelling.capability, names, question.arguments, session)
    )


def _parameter_names(capability: Capability) -> set[str]:
    return {parameter.name for parameter in capability.parameters}


def is_known(name: str) -> bool:
    """True if a client may call a tool by this name."""
    return name in {MORE_TOOLS, CALL, ACT} or tool_name(name) in {
        tool_name(command) for command in _commands()
    }


def likely(name: str) -> str:
    """A sentence with the tool that a wrong name may mean, or with that which lists them all."""
    known = {tool_name(command): command for command in _commands()}
    return _suggestion(name, {**known, MORE_TOOLS: "", CALL: "", ACT: ""})


def more_tools(arguments: JsonMapping) -> str:
    """The tools that can be called; or, of one tool, all that there is to be known. Raises
    `unknown_command`.
    """
    for name in arguments:
        if name not in {"tool", BUDGET}:
            raise TerselyError(
                "invalid_argument", f"there is no parameter {name!r}", f"known: tool, {BUDGET}"
            )
    asked = arguments.get("tool")
    if not asked:
        return "".join(
            f"{call_line(capability)}  {capability.summary}\n" for capability in _others()
        )
    found = {tool_name(name): name for name in OFFERED}
    if not isinstance(asked, str) or tool_name(asked) not in found:
        raise TerselyError(
            "unknown_command", f"there is no tool {asked!r}", _suggestion(str(asked), found)
        )
    return _page(catalogue.load(found[tool_name(asked)]))


def _others() -> Iterator[Capability]:
    return (catalogue.load(name) for name in OFFERED if name not in CORE)


def _commands() -> list[str]:
    """The capabilities, and the spellings of tools that clients know from elsewhere."""
    return [*OFFERED, *(name for name in SPELLINGS if "." in name)]


def called(arguments: JsonMapping) -> tuple[str, Any, JsonObject]:
    """The tool, budget and arguments that are given to `call`; some models write the arguments as a
    text of JSON.
    """
    given = dict(arguments)
    name, inner = given.pop("tool", None), given.pop("arguments", None)
    budget = given.pop(BUDGET, None)
    if isinstance(inner, str):
        try:
            inner = json.loads(inner or "{}")
        except (ValueError, RecursionError) as error:
            raise TerselyError(
                "invalid_argument", f"arguments is not JSON: {error}", "an object"
            ) from error
    if not isinstance(name, str) or not isinstance(inner, dict | None) or given:
        message = "call takes tool, a name; arguments, an object; and budget"
        hint = (
            suggestion(next(iter(given)), ("tool", "arguments", BUDGET))
            if given
            else f"{MORE_TOOLS} lists the names"
        )
        raise TerselyError("invalid_argument", message, hint)
    return name, budget, inner or {}


def _tool(capability: Capability, shown: Strings, *, is_core: bool = False) -> ListedTool:
    declared = {parameter.name: parameter for parameter in capability.parameters}
    properties = {name: _schema(declared[name]) for name in shown if name != BUDGET}
    is_asked_of_code = capability.context is Context.WORKSPACE
    if is_asked_of_code:
        most = DEFAULT_BUDGETS.get(capability.name, DEFAULT_BUDGET_TOKENS)
        properties[BUDGET] = {"type": "integer", "description": f"most tokens (default {most})"}
    needed = _is_expected if is_core and is_asked_of_code else _is_needed
    required = [name for name in shown if needed(declared[name])]
    only_reads = capability.effect is Effect.READ
    return ListedTool(
        tool_name(capability.name),
        capability.summary,
        object_schema(properties, required),
        only_reads,
        capability,
    )


def _is_needed(parameter: Parameter) -> bool:
    return parameter.required or (parameter.many and (parameter.minimum or 0) > 0)


def _is_expected(parameter: Parameter) -> bool:
    """True if a call of a listed tool says nothing without it, though its capability can do
    without.
    """
    return _is_needed(parameter) or (parameter.positional and not parameter.nullable)


def _schema(parameter: Parameter) -> JsonObject:
    """Its type with what it means, its default where that says anything, and its bounds."""
    whole = schema_of(parameter)
    is_default_plain = whole.get("default") in _PLAIN_DEFAULTS
    kept = {name: value for name, value in whole.items() if name not in _BOUNDS_OF_SIZE}
    return {
        name: value for name, value in kept.items() if not (name == "default" and is_default_plain)
    }


def _names(capability: Capability) -> Iterator[str]:
    return (parameter.name for parameter in offered(capability))


def _page(capability: Capability) -> str:
    declared = offered(capability)
    lines = [f"{tool_name(capability.name)}: {capability.summary}", "", capability.description, ""]
    is_of_code = capability.context is Context.WORKSPACE
    kept = (
        [f"{STORE}: boolean  keep the answer in the relay and reply its reference"]
        if is_of_code
        else []
    )
    return "\n".join([*lines, *map(_parameter_line, declared), *kept]) + "\n"


def _parameter_line(parameter: Parameter) -> str:
    kind = " | ".join(parameter.choices) or JSON_NAMES.get(parameter.type, "string")
    kind = f"list of {kind}" if parameter.many else kind
    least, most = parameter.minimum, parameter.maximum
    bounds = (
        ""
        if least is None and most is None
        else f", {least if least is not None else ''}..{most or ''}"
    )
    default = (
        ""
        if parameter.required or parameter.default in {None, ()}
        else f", {json.dumps(parameter.default)}"
    )
    needed = " (required)" if parameter.required else ""
    return f"{parameter.name}{needed}: {kind}{bounds}{default}  {parameter.help}"


def _suggestion(name: str, known: Mapping[str, str]) -> str:
    """The name that a wrong one may mean: one that is spelled alike, or one that ends with it, as
    `symbol_deps` with `deps`.
    """
    wrong = tool_name(name)
    ending = [one for one in known if one.endswith(f"_{wrong}")]
    otherwise = f"did you mean {ending[0]}?" if ending else f"{MORE_TOOLS} lists them"
    return suggestion(wrong, known, otherwise)
