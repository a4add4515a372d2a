"""Every tool, by tier. A tier is what is unlocked together: 0 looks, 1 edits, 2 runs programs, 3
leaves the machine.

What is a question to a capability takes its parameters from the catalogue.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from functools import partial
from typing import Any

from tersely.agent.tools.declaration import (
    ANSWER,
    REQUEST_TOOLS,
    AgentTool,
    ApprovalSubject,
)
from tersely.agent.tools.editors import tools as editor
from tersely.agent.tools.files import editing, reading
from tersely.agent.tools.others import external, relay
from tersely.agent.tools.running import git, shell
from tersely.agent.tools.web import browsing, fetching
from tersely.capabilities import catalogue
from tersely.capabilities.declaration.declaration import Effect, Parameter, Role
from tersely.foundation.types import replace

MAX_BODY_CHARACTERS = 100_000  # of the lines that one call writes


class _Unlocked(StrEnum):
    """The tiers that can be asked for."""

    EDIT = "1"
    SYSTEM = "2"
    EXTERNAL = "3"


def _of(capability: str, name: str, **other: Any) -> Parameter:
    """One value of a parameter as a capability declares it; `other` fields are different here."""
    declared = {one.name: one for one in catalogue.load(capability).parameters}
    return replace(declared[name], many=False, **other)


def _raw(name: str, *, required: bool = True) -> Parameter:
    return Parameter(name, required=required, role=Role.CONTENT, maximum=MAX_BODY_CHARACTERS)


def _optional(name: str, type: type = str) -> Parameter:
    return Parameter(name, type, required=False)


def _changing(
    name: str,
    summary: str,
    parameters: tuple[Parameter, ...],
    plan: editing.Planning,
    **other: Any,
) -> AgentTool:
    """A tool that changes a file as it is planned; `other` fields are different."""
    tool = AgentTool(
        name, summary, parameters, Effect.WRITE, partial(editing.run, plan), partial(editing.preview, plan),
        subject="path", about=ApprovalSubject.PATH, refusal=partial(editing.refusal, plan),
        is_doubtful=partial(editing.is_doubtful, plan),
    )  # fmt: skip
    return replace(tool, **other)


_PATH = Parameter("path", role=Role.PATH)
_NEW_PATH = replace(_PATH, role=Role.NEW_PATH)
_ANY_PATH = replace(_PATH, required=False)
_START, _END = _optional("start", int), _optional("end", int)
_EDITED = (_PATH, _raw("old", required=False), _raw("body"), _START, _END)

TOOLS: tuple[AgentTool, ...] = (
    AgentTool(
        "read",
        "numbered lines",
        (
            _ANY_PATH,
            _of("code.symbol.get", "symbol", required=False),
            _optional("ref"),
            _START,
            _END,
        ),
        Effect.READ,
        reading.read,
        form="read(path or symbol or ref, start?, end?)",
    ),
    AgentTool(
        "search",
        'code by meaning, name or "text"',
        (_of("code.search", "query"),),
        Effect.READ,
        reading.search,
    ),
    AgentTool("list", "files", (_of("code.tree", "path"),), Effect.READ, reading.list_files),
    AgentTool(
        "outline",
        "definitions",
        (_of("code.structure", "path"),),
        Effect.READ,
        reading.outline,
    ),
    AgentTool(ANSWER, "ends your turn", (_raw("text"),), Effect.READ, reading.respond),
    AgentTool(
        REQUEST_TOOLS,
        "1 edits, 2 runs programs, 3 web, agents",
        (Parameter("tier", _Unlocked),),
        Effect.READ,
        reading.request_tools,
    ),
    _changing(
        "edit",
        "replaces a text; edit(path, start, end, body) lines; edit(path, body) a short file",
        _EDITED,
        editing.plan_edit,
        form="edit(path, old, body)",
    ),
    _changing("write", "a new file", (_NEW_PATH, _raw("body")), editing.plan_new),
    _changing("create", "a new file", (_NEW_PATH, _raw("body", required=False)), editing.plan_new),
    AgentTool(
        "bash",
        "runs a program or the tests, no input",
        (_raw("command"),),
        Effect.EXECUTE,
        shell.bash,
        shell.preview,
        subject="command",
        about=ApprovalSubject.COMMAND,
    ),
    AgentTool(
        "git",
        "as status or diff a.py",
        (Parameter("arguments"),),
        Effect.EXECUTE,
        git.git,
        git.preview,
        git.effect_of,
        subject="arguments",
        about=ApprovalSubject.COMMAND,
    ),
    AgentTool(
        "editor_open",
        "shows the user a file; no path tells what the user looks at and has selected",
        (_ANY_PATH, _optional("line", int)),
        Effect.READ,
        editor.open_file,
        other_name="vscode_open_file",
        is_in_editor=True,
    ),
    AgentTool(
        "editor_diagnostics",
        "errors and warnings in the user's editor",
        (_ANY_PATH,),
        Effect.READ,
        editor.diagnostics,
        is_in_editor=True,
    ),
    _changing(
        "editor_edit",
        "as edit, in the user's editor, which can undo it",
        _EDITED,
        editor.plan_edit,
        run=editor.edit,
        other_name="vscode_edit",
        is_in_editor=True,
    ),
    AgentTool(
        "editor_terminal",
        "in a terminal that the user sees",
        (_raw("command"),),
        Effect.EXECUTE,
        editor.terminal,
        editor.terminal_preview,
        subject="command",
        about=ApprovalSubject.COMMAND,
        other_name="vscode_run_terminal",
        is_in_editor=True,
        is_confined=False,
    ),
    AgentTool(
        "fetch",
        "a page as text, or its source",
        (Parameter("url"), _optional("form", fetching.PageForm)),
        Effect.NETWORK,
        fetching.fetch,
        fetching.preview,
        subject="url",
        about=ApprovalSubject.HOST,
    ),
    AgentTool(
        "browser",
        "a real one: open a url; read; click, or type text into, element e3; "
        "press a key; screenshot; log of errors",
        (
            Parameter("action", browsing.Action),
            _optional("url"),
            _optional("element"),
            _optional("text"),
        ),
        Effect.NETWORK,
        browsing.browser,
        browsing.preview,
        browsing.effect_of,
        subject_of=browsing.subject_of,
        about=ApprovalSubject.HOST,
        is_doubtful=browsing.is_doubtful,
        is_in_browser=True,
    ),
    AgentTool(
        "mcp",
        "tools of others; arguments in JSON",
        (Parameter("server"), _optional("tool"), _raw("arguments", required=False)),
        Effect.NETWORK,
        external.mcp,
        external.preview,
        subject="server",
    ),
    AgentTool(
        "relay",
        "other agents: mail, claims, board; no tool lists all; arguments in JSON",
        (_optional("tool"), _raw("arguments", required=False)),
        Effect.NETWORK,
        relay.relay,
        relay.preview,
        relay.effect_of,
        subject="tool",
    ),
)

_BY_NAME: Mapping[str, AgentTool] = {tool.name: tool for tool in TOOLS}
_PLAIN: Mapping[str, AgentTool] = {
    "read": replace(
        _BY_NAME["read"],
        form="read(path or ref, start?, end?)",
        parameters=tuple(one for one in _BY_NAME["read"].parameters if one.role is not Role.SYMBOL),
    ),
    "search": replace(
        _BY_NAME["search"],
        summary="lines that contain it",
        parameters=(Parameter("text"),),
        run=reading.search_text,
    ),
}
_OF_CODE = frozenset({"outline"})
# The same without anything that the index knows: files by their paths, lines by their text.
PLAIN_TOOLS: tuple[AgentTool, ...] = tuple(
    _PLAIN.get(tool.name, tool) for tool in TOOLS if tool.name not in _OF_CODE
)
