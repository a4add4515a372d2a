"""Arguments against the parameters of a tool: what fits is a call, what is meant beyond doubt is
made to fit.

The same check for every way of asking, a constrained one included: a constraint is a promise of the
server's.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from typing import Any

from tersely.agent.tool_calling.call import Call, Malformed
from tersely.agent.tool_calling.path_trie import PathTrie
from tersely.agent.tool_calling.text_call_format import Written
from tersely.agent.tools.declaration import Kind, Parameter, Tool, by_names
from tersely.foundation.escape import visible_line
from tersely.foundation.tokens import well_formed

_INTEGER = re.compile(r"[+]?(\d{1,9})(?:\.0+)?$")
_FENCED = re.compile(
    r"\A[ \t]*(```|~~~)[\w+-]*[ \t]*\n(.*?)^[ \t]*\1[ \t]*\n?\Z", re.DOTALL | re.MULTILINE
)
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


class _RefusedError(Exception):
    """A value that does not fit, with what is wrong about it."""


def checked(
    said: Written, tools: Sequence[Tool], paths: PathTrie | None = None, id: str = ""
) -> Call | Malformed:
    """The call that was written, or in one line why it cannot be made."""
    tool, repaired = _tool_named(said.tool, tools)
    if tool is None:
        names = ", ".join(each.name for each in tools)
        return Malformed(f"there is no tool {said.tool!r}; there are {names}", said.tool, id)
    if said.problem:
        return Malformed(f"{tool.name}: {said.problem}; {tool.signature}", tool.name, id)
    repairs = [*said.repairs, *repaired]
    try:
        values = _renamed(said.values, tool, repairs)
        arguments = _fitted(values, tool, paths, repairs)
    except _RefusedError as error:
        return Malformed(f"{tool.name}: {error}; {tool.signature}", tool.name, id)
    return Call(tool.name, arguments, tuple(repairs), id)


def _tool_named(name: str, tools: Sequence[Tool]) -> tuple[Tool | None, list[str]]:
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


def _renamed(values: Mapping[str, Any], tool: Tool, repairs: list[str]) -> dict[str, Any]:
    """The values under the names of parameters; a name that is not known stands for the one that it
    must mean.
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
        if len(meant) != 1:
            raise _RefusedError(f"it has no parameter {name!r}")
        found[meant[0]] = value
        repairs.append(f"took {name!r} for {meant[0]!r}")
    return found


def _fitted(
    values: dict[str, Any], tool: Tool, paths: PathTrie | None, repairs: list[str]
) -> dict[str, Any]:
    fitted: dict[str, Any] = {}
    is_markup = any(str(value).lower().endswith(_MARKUP) for value in values.values())
    for parameter in tool.parameters:
        given = parameter.name in values
        if given and not (
            values[parameter.name] == ""
            and not parameter.required
            and parameter.kind is not Kind.RAW
        ):
            value = _value(parameter, values[parameter.name], paths, repairs)
            if parameter.kind is Kind.RAW and not is_markup:
                value = _without_fence(value, repairs)
            fitted[parameter.name] = value
        elif parameter.required:
            raise _RefusedError(f"{parameter.name!r} is missing")
    return fitted


def _value(parameter: Parameter, value: Any, paths: PathTrie | None, repairs: list[str]) -> Any:
    """The value as its kind wants it; raises _RefusedError."""
    if parameter.kind is Kind.INTEGER:
        return _integer(parameter, value)
    if (
        isinstance(value, list)
        and parameter.kind is Kind.RAW
        and all(isinstance(each, str) for each in value)
    ):
        value = "".join(f"{line}\n" for line in value)
    if not isinstance(value, str):
        raise _RefusedError(f"{parameter.name!r} is to be text, not {type(value).__name__}")
    value = well_formed(value)
    if len(value) > parameter.most_characters:
        raise _RefusedError(
            f"{parameter.name!r} has {len(value):,} characters, at most {parameter.most_characters:,} are taken"
        )
    if parameter.kind is Kind.RAW:
        return value if value.endswith("\n") or not value else f"{value}\n"
    if not value.strip(" \t") or any(character in value for character in "\n\r\0"):
        raise _RefusedError(f"{parameter.name!r} is to be one line of text")
    if parameter.kind is Kind.CHOICE:
        return _choice(parameter, value, repairs)
    if parameter.kind is Kind.PATH and parameter.is_new and visible_line(value) != value:
        raise _RefusedError(
            f"{parameter.name!r} has characters that nobody sees: {visible_line(value)[:200]!r}"
        )
    if parameter.kind is Kind.PATH and not parameter.is_new and paths is not None:
        return _path(parameter, value, paths, repairs)
    return value


def _integer(parameter: Parameter, value: Any) -> int:
    plain = _INTEGER.match(str(value).strip()) if not isinstance(value, bool) else None
    if plain is None:
        raise _RefusedError(f"{parameter.name!r} is to be a whole number, not {str(value)[:40]!r}")
    return int(plain.group(1))


def _without_fence(value: str, repairs: list[str]) -> str:
    """Lines without a fence that was put around all of them."""
    fenced = _FENCED.match(value)
    if fenced is None or re.search(r"^[ \t]*(```|~~~)", fenced.group(2), re.MULTILINE):
        return value
    repairs.append("took the fence off the code")
    return fenced.group(2)


def _choice(parameter: Parameter, value: str, repairs: list[str]) -> str:
    if value in parameter.choices:
        return value
    alike = [choice for choice in parameter.choices if choice.lower() == value.strip().lower()]
    if len(alike) != 1:
        raise _RefusedError(
            f"{parameter.name!r} is one of {', '.join(parameter.choices)}, not {value[:40]!r}"
        )
    repairs.append(f"took {value!r} for {alike[0]!r}")
    return alike[0]


def _path(parameter: Parameter, value: str, paths: PathTrie, repairs: list[str]) -> str:
    if value in paths:
        return value
    meant = paths.meant(value)
    if meant is None:
        nearest = paths.nearest(value)
        hint = f", maybe {' or '.join(nearest)}" if nearest else ""
        raise _RefusedError(f"there is no {value[:200]!r}{hint}")
    repairs.append(f"took {value!r} for {meant!r}")
    return meant
