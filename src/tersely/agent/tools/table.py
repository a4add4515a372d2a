"""Every tool, by tier. A tier is what is unlocked together: 0 looks, 1 edits, 2 runs programs, 3
leaves the machine.

What is a question to a capability takes its parameters from the catalogue.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial

from tersely.agent.tools.declaration import (
    ANSWER,
    REQUEST_TOOLS,
    Effect,
    Kind,
    Parameter,
    Subject,
    Tool,
)
from tersely.agent.tools.editors import tools as editor
from tersely.agent.tools.files import editing, reading
from tersely.agent.tools.others import external, relay
from tersely.agent.tools.running import git, shell
from tersely.agent.tools.web import browsing, fetching
from tersely.capabilities import catalogue
from tersely.capabilities.declaration import Role, parameters_of

MAX_BODY_CHARACTERS = 100_000  # of the lines that one call writes
_KIND_OF_ROLE = {Role.PATH: Kind.PATH, Role.FILE: Kind.PATH, Role.SYMBOL: Kind.SYMBOL}


def _of(capability: str, name: str, *, required: bool | None = None) -> Parameter:
    """A parameter as a capability declares it."""
    declared = {one.name: one for one in parameters_of(catalogue.load(capability).parameters)}[name]
    kind = (
        Kind.CHOICE
        if declared.choices
        else Kind.INTEGER
        if declared.type is int
        else _KIND_OF_ROLE.get(declared.role)
    )
    is_required = declared.required if required is None else required
    return Parameter(name, kind or Kind.TEXT, is_required, declared.choices)


def _raw(name: str, *, required: bool = True) -> Parameter:
    return Parameter(name, Kind.RAW, required, most_characters=MAX_BODY_CHARACTERS)


def _changing(
    name: str, signature: str, parameters: tuple[Parameter, ...], plan: editing.Planning
) -> Tool:
    """A tool that changes a file as it is planned."""
    return Tool(
        name, 1, signature, parameters, Effect.WRITE, partial(editing.run, plan), partial(editing.preview, plan),
        subject="path", about=Subject.PATH, refusal=partial(editing.refusal, plan),
        is_doubtful=partial(editing.is_doubtful, plan),
    )  # fmt: skip


_PATH = Parameter("path", Kind.PATH)
_NEW_PATH = Parameter("path", Kind.PATH, is_new=True)
_START = Parameter("start", Kind.INTEGER, required=False)
_END = Parameter("end", Kind.INTEGER, required=False)

TOOLS: tuple[Tool, ...] = (
    Tool(
        "read",
        0,
        "read(path or symbol or ref, start?, end?) numbered lines",
        (
            Parameter("path", Kind.PATH, required=False),
            _of("code.symbol.get", "symbol", required=False),
            Parameter("ref", required=False),
            _START,
            _END,
        ),
        Effect.READ,
        reading.read,
    ),
    Tool(
        "search",
        0,
        'search(query) code by meaning, name or "text"',
        (_of("code.search", "query"),),
        Effect.READ,
        reading.search,
    ),
    Tool(
        "list", 0, "list(path?) files", (_of("code.tree", "path"),), Effect.READ, reading.list_files
    ),
    Tool(
        "outline",
        0,
        "outline(path?) definitions",
        (_of("code.structure", "path"),),
        Effect.READ,
        reading.outline,
    ),
    Tool(ANSWER, 0, "respond(text) ends your turn", (_raw("text"),), Effect.READ, reading.respond),
    Tool(
        REQUEST_TOOLS,
        0,
        "request_tools(tier) 1 edits, 2 runs programs, 3 web, agents",
        (Parameter("tier", Kind.CHOICE, choices=("1", "2", "3")),),
        Effect.READ,
        reading.request_tools,
    ),
    _changing(
        "edit",
        "edit(path, start, end, body) replaces lines; edit(path, old, body) a text; edit(path, body) a short file",
        (_PATH, _START, _END, _raw("old", required=False), _raw("body")),
        editing.plan_edit,
    ),
    _changing("write", "write(path, body) a new file", (_NEW_PATH, _raw("body")), editing.plan_new),
    _changing("create", "create(path) an empty file", (_NEW_PATH,), editing.plan_new),
    Tool(
        "bash",
        2,
        "bash(command) runs in the repository, no input",
        (Parameter("command"),),
        Effect.EXECUTE,
        shell.bash,
        shell.preview,
        subject="command",
        about=Subject.COMMAND,
    ),
    Tool(
        "git",
        2,
        "git(arguments) as status or diff a.py",
        (Parameter("arguments"),),
        Effect.EXECUTE,
        git.git,
        git.preview,
        git.effect_of,
        subject="arguments",
        about=Subject.COMMAND,
    ),
    Tool(
        "editor_open",
        0,
        "editor_open(path?, line?) shows the user a file; no path tells what the user looks at and has selected",
        (replace(_PATH, required=False), Parameter("line", Kind.INTEGER, required=False)),
        Effect.READ,
        editor.open_file,
        other_name="vscode_open_file",
        is_in_editor=True,
    ),
    Tool(
        "editor_diagnostics",
        0,
        "editor_diagnostics(path?) errors and warnings in the user's editor",
        (replace(_PATH, required=False),),
        Effect.READ,
        editor.diagnostics,
        is_in_editor=True,
    ),
    Tool(
        "editor_edit",
        1,
        "editor_edit(path, start?, end?, old?, body) as edit, in the user's editor, which can undo it",
        (_PATH, _START, _END, _raw("old", required=False), _raw("body")),
        Effect.WRITE,
        editor.edit,
        editor.edit_preview,
        subject="path",
        about=Subject.PATH,
        refusal=editor.edit_refusal,
        is_doubtful=editor.edit_is_doubtful,
        other_name="vscode_edit",
        is_in_editor=True,
    ),
    Tool(
        "editor_terminal",
        2,
        "editor_terminal(command) in a terminal that the user sees",
        (Parameter("command"),),
        Effect.EXECUTE,
        editor.terminal,
        editor.terminal_preview,
        subject="command",
        about=Subject.COMMAND,
        other_name="vscode_run_terminal",
        is_in_editor=True,
        is_confined=False,
    ),
    Tool(
        "fetch",
        3,
        "fetch(url, form?) a page as text, or its source",
        (Parameter("url"), Parameter("form", Kind.CHOICE, required=False, choices=fetching.FORMS)),
        Effect.NETWORK,
        fetching.fetch,
        fetching.preview,
        subject="url",
        about=Subject.HOST,
    ),
    Tool(
        "browser",
        3,
        "browser(action, url?, element?, text?) a real one: open a url; read; click, or type text into, element e3; "
        "press a key; screenshot; log of errors",
        (
            Parameter("action", Kind.CHOICE, choices=browsing.ACTIONS),
            Parameter("url", required=False),
            Parameter("element", required=False),
            Parameter("text", required=False),
        ),
        Effect.NETWORK,
        browsing.browser,
        browsing.preview,
        browsing.effect_of,
        subject_of=browsing.subject_of,
        about=Subject.HOST,
        is_doubtful=browsing.is_doubtful,
        is_in_browser=True,
    ),
    Tool(
        "mcp",
        3,
        "mcp(server, tool?, arguments?) tools of others; arguments in JSON",
        (Parameter("server"), Parameter("tool", required=False), _raw("arguments", required=False)),
        Effect.NETWORK,
        external.mcp,
        external.preview,
        subject="server",
    ),
    Tool(
        "relay",
        3,
        "relay(tool?, arguments?) other agents: mail, claims, board; no tool lists all; arguments in JSON",
        (Parameter("tool", required=False), _raw("arguments", required=False)),
        Effect.NETWORK,
        relay.relay,
        relay.preview,
        relay.effect_of,
        subject="tool",
    ),
)

_BY_NAME: Mapping[str, Tool] = {tool.name: tool for tool in TOOLS}
_PLAIN: Mapping[str, Tool] = {
    "read": replace(
        _BY_NAME["read"],
        signature="read(path or ref, start?, end?) numbered lines",
        parameters=tuple(one for one in _BY_NAME["read"].parameters if one.kind is not Kind.SYMBOL),
    ),
    "search": replace(
        _BY_NAME["search"],
        signature="search(text) lines that contain it",
        parameters=(Parameter("text"),),
        run=reading.search_text,
    ),
}
_OF_CODE = frozenset({"outline"})
# The same without anything that the index knows: files by their paths, lines by their text.
PLAIN_TOOLS: tuple[Tool, ...] = tuple(
    _PLAIN.get(tool.name, tool) for tool in TOOLS if tool.name not in _OF_CODE
)
