"""The agents that can be told of Tersely, and what each reads: one value an agent.

Formats and calls are those of the versions named in docs/give-context.md.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from shlex import join
from typing import TYPE_CHECKING, Any

from tersely.foundation.process.ancestry import NAME_VARIABLE, TOKEN_VARIABLE
from tersely.foundation.types import JsonMapping, frozen, replace
from tersely.integrations import wrapped
from tersely.integrations.declaration import (
    AGENTS_TEXT,
    FileForm,
    KnownAgent,
    SettingsTarget,
    server,
    servers,
    snippet,
)
from tersely.integrations.editors import EDITORS, settings_of, user_folder
from tersely.integrations.formats.json_text import SettingsEntry
from tersely.integrations.run_hook import SOCKET_VARIABLE
from tersely.integrations.wrapped import added_context

if TYPE_CHECKING:
    from tersely.foundation.types import JsonObject

PROMPT_SECONDS = 12  # after which an agent goes on without the answer of a hook; ours ends before
PERMISSION_SECONDS = 3_700  # in which the person may answer from elsewhere; the hook ends before
MILLISECONDS = 1_000


def _denied_in_parts(event: str, text: str) -> JsonObject:
    decision = {"permissionDecision": "deny", "permissionDecisionReason": text}
    return {"hookSpecificOutput": {"hookEventName": event, **decision}}


def _denied(event: str, text: str) -> JsonObject:
    return {"decision": "deny", "reason": text}


def _refused(event: str, text: str) -> JsonObject:
    return {
        "permission": "deny",
        "agent_message": text,
        "user_message": "Tersely shows the outline of a large file.",
    }


def _hook(program: Sequence[str], agent: str, kind: str, unit: int, tools: str = "") -> JsonObject:
    command = join([*program, "hook", kind, "--agent", agent])
    return wrapped.hook_entry(command, PROMPT_SECONDS * unit, tools)


def _run_hook(program: Sequence[str], agent: str, unit: int) -> JsonObject:
    command = join([*program, "hook", "run", "--agent", agent])
    guarded = f'test -z "${SOCKET_VARIABLE}" || {command}'
    return wrapped.hook_entry(guarded, wrapped.HOOK_LIMIT_SECONDS * unit)


@frozen
class _MailHook:
    """An event at which an agent is told something of others; `matcher` names tools, where it is
    about these.
    """

    event: str
    kind: str  # as `mail_hook.py` has them
    matcher: str = ""


_SUBAGENT_START = "SubagentStart"
_CLAUDE_MAIL = (
    _MailHook("SessionStart", "start"),
    _MailHook(_SUBAGENT_START, "start"),
    _MailHook("UserPromptSubmit", "mail"),
    _MailHook("PreToolUse", "edit", wrapped.EDITORS),
    _MailHook("PostToolUse", "mail"),
    _MailHook("Stop", "stop"),
    _MailHook("SessionEnd", "end"),
)
# Beside the dialog of Claude Code, which goes by whichever answer comes first; others wait for the
# hook alone.
_PERMISSION = _MailHook("PermissionRequest", "permission")
_GEMINI_MAIL = (
    _MailHook("SessionStart", "start"),
    _MailHook("BeforeAgent", "mail"),
    _MailHook("BeforeTool", "edit", wrapped.EDITORS),
    _MailHook("AfterTool", "mail"),
    _MailHook("AfterAgent", "stop"),
    _MailHook("SessionEnd", "end"),
)
_CURSOR_MAIL = (
    _MailHook("sessionStart", "start"),
    _MailHook("preToolUse", "edit", "Write"),
    _MailHook("postToolUse", "mail"),
    _MailHook("stop", "stop"),
)


def _mail_hook(program: Sequence[str], hook: _MailHook, unit: int) -> JsonObject:
    """An entry for a script that starts fast; `run` hands mail over itself where it has started the
    agent.
    """
    seconds = PERMISSION_SECONDS if hook.kind == "permission" else PROMPT_SECONDS
    return wrapped.hook_entry(_mail_command(program, hook), seconds * unit, hook.matcher)


def _mail_command(program: Sequence[str], hook: _MailHook) -> str:
    return join(wrapped.mail_words(hook.kind, program=program))


def without_subagents(target: SettingsTarget) -> SettingsTarget:
    """The file as it is written where agents that an agent starts are told nothing of others."""

    def entries(program: Sequence[str]) -> list[SettingsEntry]:
        return [one for one in target.entries(program) if not _tells_subagents(program, one)]

    return replace(
        target,
        entries=entries,
        switches={**target.switches, "SUBAGENTS = true": "SUBAGENTS = false"},
    )


def _tells_subagents(program: Sequence[str], entry: SettingsEntry) -> bool:
    told = _mail_command(program, _MailHook(_SUBAGENT_START, "start"))
    return _SUBAGENT_START in entry.path and any(
        hook["command"] == told for hook in entry.value["hooks"]
    )


# Where what an agent was shown is lost to it or to a part of it, which has a context of its own.
_SESSION_EVENTS = ("SessionStart", "SubagentStart", "SubagentStop")


# The tools of agents that change files, and those that search them or run what does.
_AFTER_TOOLS = f"{wrapped.EDITORS}|Grep|grep_search|search_file_content|Bash|run_shell_command|exec_command|shell"


def _after_hook(program: Sequence[str], agent: str, unit: int) -> JsonObject:
    value = _hook(program, agent, "after", unit, _AFTER_TOOLS)
    if tuple(program) != wrapped.SHARED:
        value["hooks"][0]["command"] = join(wrapped.script_words("after_hook.py", agent))
    return value


def _hooks(
    agent: str,
    prompt: str,
    read: str = "",
    matcher: str = "",
    after: str = "PostToolUse",
    unit: int = 1,
    sessions: Sequence[str] = _SESSION_EVENTS,
    run: Iterable[str] = (),
    mail: Iterable[_MailHook] = (),
) -> Callable[..., list[SettingsEntry]]:
    """Entries for hooks; those for the events `run` do something under `tersely run` alone."""

    def entries(program: Sequence[str]) -> list[SettingsEntry]:
        session = _hook(program, agent, "session", unit)
        found = [(event, session) for event in sessions]
        found.append((prompt, _hook(program, agent, "prompt", unit)))
        if read:
            found.append((read, _hook(program, agent, "read", unit, matcher)))
        found.append((after, _after_hook(program, agent, unit)))
        found += [(event, _run_hook(program, agent, unit)) for event in run]
        found += [(one.event, _mail_hook(program, one, unit)) for one in mail]
        return _at_events(found)

    return entries


def _at_events(found: Iterable[tuple[str, JsonObject]]) -> list[SettingsEntry]:
    return [SettingsEntry(("hooks", event), value, in_list=True) for event, value in found]


def _cursor_hooks(program: Sequence[str]) -> list[SettingsEntry]:
    """Its own form: a version, and hooks without a list of their own below each matcher."""
    own = [("preToolUse", "read", "Read"), ("postToolUse", "after", "Write|Grep|Shell")]
    found = [
        (event, join([*program, "hook", kind, "--agent", "cursor"]), tools)
        for event, kind, tools in own
    ]
    found += [(one.event, _mail_command(program, one), one.matcher) for one in _CURSOR_MAIL]
    values = (
        (event, {"command": command, **wrapped.matching(tools), "timeout": PROMPT_SECONDS})
        for event, command, tools in found
    )
    return [SettingsEntry(("version",), 1), *_at_events(values)]


def _skill(folder: str) -> SettingsTarget:
    path = f"{folder}/skills/tersely/SKILL.md"
    return SettingsTarget(path, path, FileForm.WHOLE, source="SKILL.md", is_text=True)


_CLAUDE = KnownAgent(
    "claude",
    "Claude Code",
    (
        SettingsTarget(".mcp.json", ".claude.json", FileForm.JSON, servers(alwaysLoad=True)),
        SettingsTarget(
            ".claude/settings.json",
            ".claude/settings.json",
            FileForm.JSON,
            _hooks(
                "claude",
                "UserPromptSubmit",
                "PreToolUse",
                "Read",
                mail=(*_CLAUDE_MAIL, _PERMISSION),
            ),
            is_hook=True,
            local=".claude/settings.local.json",
        ),
        _skill(".claude"),
    ),
    untold_event=_SUBAGENT_START,
    after_event="PostToolUse",
    prompt_event="UserPromptSubmit",
    read_event="PreToolUse",
    read_tools=frozenset({"Read"}),
    range_names=frozenset({"offset", "limit", "pages"}),
    answer_beside=added_context,
    answer_read=_denied_in_parts,
    wrapped=wrapped.CLAUDE,
)
# Codex hands a server no others than those of the system: by these it knows the relay, and who it
# is there.
_TOLD_BY_VARIABLES = ["TERSELY_HOME", NAME_VARIABLE, TOKEN_VARIABLE]
_CODEX = KnownAgent(
    "codex",
    "Codex",
    (
        SettingsTarget(
            ".codex/config.toml",
            ".codex/config.toml",
            FileForm.TOML,
            lambda program: [
                SettingsEntry(
                    ("mcp_servers", "tersely"), {**server(program), "env_vars": _TOLD_BY_VARIABLES}
                )
            ],
        ),
        SettingsTarget(
            ".codex/hooks.json",
            ".codex/hooks.json",
            FileForm.JSON,
            _hooks("codex", "UserPromptSubmit", mail=_CLAUDE_MAIL),
            is_hook=True,
        ),
        snippet("AGENTS.md", ".codex/AGENTS.md"),
    ),
    after_event="PostToolUse",
    prompt_event="UserPromptSubmit",
    answer_beside=added_context,
    lacks="it reads files by shell commands, so there is no hook for reading; it asks once whether to trust the hook "
    "(/hooks), and reads .codex/ of projects that are trusted",
    wrapped=wrapped.CODEX,
)
_OPENCODE = KnownAgent(
    "opencode",
    "opencode",
    (
        SettingsTarget(
            "opencode.json",
            ".config/opencode/opencode.json",
            FileForm.JSON,
            lambda program: [
                SettingsEntry(
                    ("mcp", "tersely"),
                    {"type": "local", "command": [*program, "mcp"], "enabled": True},
                )
            ],
        ),
        SettingsTarget(
            ".opencode/plugins/tersely.js",
            ".config/opencode/plugins/tersely.js",
            FileForm.WHOLE,
            source="opencode.js",
            is_hook=True,
        ),
        # It fetches a package for plugins, of which ours needs none, at each start until it has it,
        # and loads no plugin before: without a network, npm tries again for 70 seconds.
        SettingsTarget("", ".config/opencode/.npmrc", FileForm.BLOCK, source="npmrc", is_hook=True),
        snippet("AGENTS.md", ".config/opencode/AGENTS.md"),
    ),
    after_event="tool.execute.after",
    prompt_event="chat.message",
    read_event="tool.execute.after",
    read_tools=frozenset({"read"}),
    path_names=("filePath", "path"),
    answer_beside=wrapped.plain,
    answer_read=wrapped.plain,
    wrapped=wrapped.OPENCODE,
)


def _kin_of_gemini(
    agent: str,
    title: str,
    hooks: Callable[..., list[SettingsEntry]],
    page: str,
    extras: JsonMapping,
    **more: Any,
) -> KnownAgent:
    """Gemini CLI, or what was made from it: the server and the hooks are in one file."""
    settings = f".{agent}/settings.json"
    tools = SettingsTarget(settings, settings, FileForm.JSON, servers(**extras))
    hooked = SettingsTarget(settings, settings, FileForm.JSON, hooks, is_hook=True)
    return KnownAgent(
        agent,
        title,
        (tools, hooked, snippet(page, f".{agent}/{page}")),
        path_names=("file_path", "absolute_path"),
        answer_beside=added_context,
        **more,
    )


_GEMINI = _kin_of_gemini(
    "gemini",
    "Gemini CLI",
    _hooks(
        "gemini",
        "BeforeAgent",
        "BeforeTool",
        "read_file",
        "AfterTool",
        MILLISECONDS,
        ("SessionStart",),
        wrapped.GEMINI_MOMENTS,
        _GEMINI_MAIL,
    ),
    "GEMINI.md",
    {},
    after_event="AfterTool",
    prompt_event="BeforeAgent",
    read_event="BeforeTool",
    read_tools=frozenset({"read_file"}),
    range_names=frozenset({"offset", "limit", "start_line", "end_line"}),
    answer_read=_denied,
    wrapped=wrapped.GEMINI,
)
_QWEN = _kin_of_gemini(
    "qwen",
    "Qwen Code",
    _hooks(
        "qwen",
        "UserPromptSubmit",
        "PreToolUse",
        "^(read_file|ReadFile)$",
        unit=MILLISECONDS,
        run=wrapped.QWEN_MOMENTS,
        mail=_CLAUDE_MAIL,
    ),
    "QWEN.md",
    {"alwaysLoadTools": True},
    after_event="PostToolUse",
    prompt_event="UserPromptSubmit",
    read_event="PreToolUse",
    read_tools=frozenset({"read_file", "ReadFile"}),
    answer_read=_denied_in_parts,
    wrapped=wrapped.QWEN,
)
_CURSOR = KnownAgent(
    "cursor",
    "Cursor",
    (
        SettingsTarget(".cursor/mcp.json", ".cursor/mcp.json", FileForm.JSON, servers()),
        SettingsTarget(
            ".cursor/hooks.json", ".cursor/hooks.json", FileForm.JSON, _cursor_hooks, is_hook=True
        ),
        AGENTS_TEXT,
        settings_of(user_folder("Cursor")),
    ),
    extension_program="cursor",
    after_event="postToolUse",
    answer_beside=lambda event, text: {"additional_context": text},
    read_event="preToolUse",
    read_tools=frozenset({"Read"}),
    range_names=frozenset({"offset", "limit", "start_line", "end_line"}),
    path_names=("file_path", "path", "target_file"),
    answer_read=_refused,
    lacks="its hooks cannot add to a prompt, so a packet has to be asked for",
)

AGENTS: Mapping[str, KnownAgent] = {
    **{agent.name: agent for agent in (_CLAUDE, _CODEX, _OPENCODE, _GEMINI, _QWEN, _CURSOR)},
    **EDITORS,
}
