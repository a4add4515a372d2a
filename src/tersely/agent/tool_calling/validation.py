"""Arguments against the parameters of a tool: what fits is a call, what is meant beyond doubt is
made to fit.

The same check for every way of asking, a constrained one included: a constraint is a promise of the
server's.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Sequence
from difflib import get_close_matches
from typing import Any

from tersely.agent.tool_calling.call import MalformedCall, ToolCall
from tersely.agent.tool_calling.path_trie import KNOWN_PATHS, PathTrie
from tersely.agent.tool_calling.text_call_format import WrittenCall
from tersely.agent.tools.declaration import AgentTool, ApprovalSubject, by_names
from tersely.capabilities.declaration import binding
from tersely.capabilities.declaration.declaration import Effect, Parameter, Role
from tersely.foundation.errors import TerselyError
from tersely.foundation.text.escape import visible_line
from tersely.foundation.text.tokens import well_formed
from tersely.foundation.types import JsonMapping, JsonObject

_INTEGER = re.compile(r"[+]?(\d{1,9})(?:\.0+)?$")
_FENCED = re.compile(
    r"\A[ \t]*(```|~~~)[\w+-]*[ \t]*\n(.*?)^[ \t]*\1[ \t]*\n?\Z", re.DOTALL | re.MULTILINE
)
_PROGRAM = re.compile(r"[\w.+-]{1,64}")
_NAME_CUTOFF = 0.75
# Names that mean the same to models: what goes by one of them may go by another here.
_SAME = (
    {"path", "file", "filename", "file_path", "filepath", "directory", "dir", "folder"},
    {"query", "pattern", "q", "search_query"},
    {"command", "cmd", "arguments", "args"},
    {"start", "line", "start_line", "from"},
    {"end", "end_line", "to"},
    {"body", "content", "text", "new", "replace", "replacement", "code", "new_text"},
    {"old", "search", "find", "old_text"},
)
# Where a fence around everything may be what was meant.
_MARKUP = (".md", ".markdown", ".rst", ".txt", ".adoc", ".mdx")


def checked(
    said: WrittenCall, tools: Sequence[AgentTool], paths: PathTrie | None = None, id: str = ""
) -> ToolCall | MalformedCall:
    """The call that was written, or in one line why it cannot be made."""
    tool, repaired = _tool_named(said.tool, tools)
    if tool is None:
        command = _as_command(said, tools)
        if command is not None:
            return checked(command, tools, paths, id)
        return MalformedCall(_unknown(said.tool, tools), said.tool, id, said.values)
    if said.problem:
        return _malformed(tool, said.problem, said, id)
    repairs = [*said.repairs, *repaired]
    try:
        meant = _normalised(_renamed(said.values, tool, repairs), tool, repairs)
        arguments = _with_known_paths(binding.checked(tool.parameters, meant), tool, paths, repairs)
    except TerselyError as error:
        return _malformed(tool, error.message, said, id)
    return ToolCall(tool.name, arguments, tuple(repairs), id)


def _malformed(tool: AgentTool, reason: str, said: WrittenCall, id: str) -> MalformedCall:
    return MalformedCall(f"{tool.name}: {reason}; {tool.signature}", tool.name, id, said.values)


def _unknown(name: str, tools: Sequence[AgentTool]) -> str:
    """The answer to a call of a tool that there is not: the names of those that there are."""
    return f"there is no tool {name!r}; there are {', '.join(each.name for each in tools)}"


def _as_command(said: WrittenCall, tools: Sequence[AgentTool]) -> WrittenCall | None:
    """The call of a program, with its words in at most one argument, as a call of the tool that runs
    programs; None for anything else.
    """
    runner = next((each for each in tools if each.about is ApprovalSubject.COMMAND), None)
    words = list(said.values.values())
    is_line = len(words) < 2 and all(isinstance(each, str) for each in words)
    is_program = _PROGRAM.fullmatch(said.tool) is not None and shutil.which(said.tool) is not None
    if runner is None or not (is_line and is_program):
        return None
    command = " ".join([said.tool, *words])
    return WrittenCall(
        runner.name, {runner.subject: command}, (f"took {said.tool!r} for a command",)
    )


def _tool_named(name: str, tools: Sequence[AgentTool]) -> tuple[AgentTool | None, list[str]]:
    """The tool of this name, or the only one that is written nearly so."""
    by_name = by_names(tools)
    if name in by_name:
        return by_name[name], []
    plain = name.strip().lower().rpartition(".")[2].replace("-", "_")
    alike = (
        [plain] if plain in by_name else get_close_matches(plain, by_name, n=2, cutoff=_NAME_CUTOFF)
    )
    if len(alike) != 1:
        return None, []
    return by_name[alike[0]], [f"took {name!r} for {alike[0]!r}"]


def _renamed(values: JsonMapping, tool: AgentTool, repairs: list[str]) -> JsonObject:
    """The values under the names of parameters; a name that is not known stands for the one that it
    must mean, if there is one, and is left out where a tool only looks.
    """
    known = {parameter.name for parameter in tool.parameters}
    found = {name: value for name, value in values.items() if name in known and value is not None}
    for name, value in values.items():
        if name in known or value is None:
            continue
        free = [each for each in known if each not in found]
        same = next((names for names in _SAME if name.lower() in names), set())
        meant = sorted(same & set(free)) or get_close_matches(
            name.lower(), free, n=2, cutoff=_NAME_CUTOFF
        )
        own = meant[0] if len(meant) == 1 else name
        if own not in known and tool.effect is Effect.READ:
            repairs.append(f"left out {binding.shown_value(name)}")
            continue
        if own != name:
            repairs.append(f"took {name!r} for {own!r}")
        found[own] = value
    return found


def _normalised(values: JsonMapping, tool: AgentTool, repairs: list[str]) -> JsonObject:
    """The values as they are meant. An empty one of a parameter that can be left out is left out."""
    meant = dict(values)
    is_markup = any(str(value).lower().endswith(_MARKUP) for value in values.values())
    for parameter in tool.parameters:
        given = values.get(parameter.name)
        if given is None:
            continue
        if parameter.role is Role.CONTENT:
            lines = _lines(given)
            lines = lines if is_markup else _without_fence(lines, repairs)
            is_command = tool.about is ApprovalSubject.COMMAND and isinstance(lines, str)
            meant[parameter.name] = lines.rstrip("\n") if is_command else lines
        elif given == "" and not parameter.required:
            del meant[parameter.name]
        else:
            meant[parameter.name] = _value(parameter, given, repairs)
    return meant


def _value(parameter: Parameter, value: Any, repairs: list[str]) -> Any:
    """A value as its parameter wants it, as far as it can be made so."""
    if parameter.type is int and not isinstance(value, bool):
        plain = _INTEGER.match(str(value).strip())
        return int(plain.group(1)) if plain else value
    if parameter.choices:
        return _choice(parameter, value, repairs)
    return well_formed(value) if isinstance(value, str) else value


def _lines(value: Any) -> Any:
    """Lines, each with its end, of a text or a list of lines; anything else as it is."""
    if isinstance(value, list) and all(isinstance(each, str) for each in value):
        value = "".join(f"{line}\n" for line in value)
    if not isinstance(value, str):
        return value
    return well_formed(value if value.endswith("\n") or not value else f"{value}\n")


def _without_fence(value: Any, repairs: list[str]) -> Any:
    """Lines without a fence that was put around all of them; anything else as it is."""
    fenced = _FENCED.match(value) if isinstance(value, str) else None
    if fenced is None or re.search(r"^[ \t]*(```|~~~)", fenced.group(2), re.MULTILINE):
        return value
    repairs.append("took the fence off the code")
    return fenced.group(2)


def _choice(parameter: Parameter, value: Any, repairs: list[str]) -> Any:
    """The choice that a value is, but for blanks and the case of letters."""
    plain = str(value).strip().lower()
    alike = [choice for choice in parameter.choices if choice.lower() == plain]
    if value in parameter.choices or len(alike) != 1:
        return value
    repairs.append(f"took {value!r} for {alike[0]!r}")
    return alike[0]


def _with_known_paths(
    values: JsonObject, tool: AgentTool, paths: PathTrie | None, repairs: list[str]
) -> JsonObject:
    """The arguments, in the order of the parameters, with paths that there are; raises
    `invalid_argument`.
    """
    found = {}
    for parameter in tool.parameters:
        if parameter.name not in values:
            continue
        value = values[parameter.name]
        if isinstance(value, str) and parameter.role is not Role.CONTENT:
            _check_line(parameter, value)
        if parameter.role in KNOWN_PATHS and paths is not None:
            value = _path(value, paths, repairs)
        found[parameter.name] = value
    return found


def _check_line(parameter: Parameter, value: str) -> None:
    """Raises `invalid_argument` for a text that is not one line, or cannot be the name of a file."""
    has_breaks = "\n" in value or "\r" in value
    if has_breaks or not value.strip(" \t"):
        raise _refused(f"{parameter.name} must be one line of text")
    if parameter.role is Role.NEW_PATH and visible_line(value) != value:
        shown = binding.shown_value(visible_line(value))
        raise _refused(f"{parameter.name} has characters that nobody sees: {shown}")


def _path(value: str, paths: PathTrie, repairs: list[str]) -> str:
    """The path that is meant; raises `invalid_argument` where there is none."""
    if value in paths:
        return value
    meant = paths.meant(value)
    if meant is None:
        nearest = paths.nearest(value)
        hint = f", maybe {' or '.join(nearest)}" if nearest else ""
        raise _refused(f"there is no {binding.shown_value(value)}{hint}")
    repairs.append(f"took {value!r} for {meant!r}")
    return meant


def _refused(message: str) -> TerselyError:
    return TerselyError("invalid_argument", message)
