"""Editors and desktop programs that can be told of Tersely: a server for tools, the agent, or the
extension.

Formats are those of the versions named in docs/give-context.md.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from tersely.integrations.declaration import (
    AGENTS_TEXT,
    FileForm,
    KnownAgent,
    SettingsTarget,
    server,
    servers,
)
from tersely.integrations.formats.json_text import SettingsEntry

PROGRAM_SETTING = "tersely.program"  # of the extension
GOOSE_SECONDS = 300  # that an answer may take there
_IS_MAC = sys.platform == "darwin"
_CONFIG = "Library/Application Support" if _IS_MAC else ".config"  # of programs with windows


def _program_setting(program: Sequence[str]) -> list[SettingsEntry]:
    """The setting for the program that the extension starts: an editor that was not started from a
    terminal has another PATH.
    """
    return [SettingsEntry((PROGRAM_SETTING,), program[0])] if len(program) == 1 else []


def _vscode_servers(program: Sequence[str]) -> list[SettingsEntry]:
    return [SettingsEntry(("servers", "tersely"), {"type": "stdio", **server(program)})]


def settings_of(user_folder: str) -> SettingsTarget:
    """The setting of the extension, in the user's settings of an editor made from VS Code."""
    return SettingsTarget("", f"{user_folder}/settings.json", FileForm.JSON, _program_setting)


def user_folder(name: str) -> str:
    """The folder where an editor made from VS Code keeps what its user has chosen, from the home
    directory.
    """
    return f"{_CONFIG}/{name}/User"


def _made_from_vscode(
    name: str,
    title: str,
    program: str,
    folder: str,
    tools: SettingsTarget | None = None,
    lacks: str = "",
) -> KnownAgent:
    """VS Code, or what was made from it; its own file of servers unless it has another."""
    own = SettingsTarget(".vscode/mcp.json", f"{folder}/mcp.json", FileForm.JSON, _vscode_servers)
    return KnownAgent(
        name, title, (tools or own, settings_of(folder), AGENTS_TEXT), extension_program=program, lacks=lacks
    )  # fmt: skip


def _mcp_json(project: str, user: str, **more: Any) -> SettingsTarget:
    return SettingsTarget(project, user, FileForm.JSON, servers(**more))


def _agent_server(**more: Any) -> Callable[[Sequence[str]], list[SettingsEntry]]:
    """Our agent as one that an editor talks to by the Agent Client Protocol."""

    def entries(program: Sequence[str]) -> list[SettingsEntry]:
        words = {"command": program[0], "args": [*program[1:], "acp"], "env": {}}
        return [SettingsEntry(("agent_servers", "Tersely"), {**more, **words})]

    return entries


def _zed_servers(program: Sequence[str]) -> list[SettingsEntry]:
    return [
        SettingsEntry(
            ("context_servers", "tersely"), {"source": "custom", **server(program), "env": {}}
        )
    ]


def _goose_extension(program: Sequence[str]) -> list[SettingsEntry]:
    started = {
        "cmd": program[0],
        "args": [*program[1:], "mcp"],
        "envs": {},
        "timeout": GOOSE_SECONDS,
    }
    return [
        SettingsEntry(
            ("extensions", "tersely"),
            {"enabled": True, "type": "stdio", "name": "tersely", **started},
        )
    ]


_VSCODE = _made_from_vscode("vscode", "VS Code", "code", user_folder("Code"))
_VSCODIUM = _made_from_vscode("vscodium", "VSCodium", "codium", user_folder("VSCodium"))
_CODE_SERVER = _made_from_vscode(
    "code-server", "code-server", "code-server", ".local/share/code-server/User"
)
_WINDSURF = _made_from_vscode(
    "windsurf", "Windsurf", "windsurf", user_folder("Windsurf"),
    _mcp_json("", ".codeium/windsurf/mcp_config.json"), "it reads servers of the user alone: --user",
)  # fmt: skip
_KIRO = _made_from_vscode(
    "kiro", "Kiro", "kiro", user_folder("Kiro"),
    _mcp_json(".kiro/settings/mcp.json", ".kiro/settings/mcp.json", disabled=False),
)  # fmt: skip
_ANTIGRAVITY = _made_from_vscode(
    "antigravity", "Antigravity", "antigravity", user_folder("Antigravity"),
    _mcp_json(".agents/mcp_config.json", ".gemini/config/mcp_config.json"),
)  # fmt: skip
_CLINE = KnownAgent(
    "cline",
    "Cline",
    (
        _mcp_json("", ".cline/data/settings/cline_mcp_settings.json", disabled=False),
        AGENTS_TEXT,
    ),
    lacks="it reads servers of the user alone: --user",
)
_ZED = KnownAgent(
    "zed",
    "Zed",
    (
        SettingsTarget(
            ".zed/settings.json", ".config/zed/settings.json", FileForm.JSON, _zed_servers
        ),
        SettingsTarget(
            "", ".config/zed/settings.json", FileForm.JSON, _agent_server(type="custom")
        ),
        AGENTS_TEXT,
    ),
    lacks="it knows agents from the user's own settings alone: --user",
)
_JETBRAINS = KnownAgent(
    "jetbrains",
    "JetBrains",
    (
        _mcp_json(".junie/mcp/mcp.json", ".junie/mcp/mcp.json"),
        SettingsTarget("", ".jetbrains/acp.json", FileForm.JSON, _agent_server()),
        AGENTS_TEXT,
    ),
    lacks="AI Assistant knows agents from the user's own file alone (--user), and servers from its settings; Junie "
    "reads the file",
)
_CLAUDE_DESKTOP = KnownAgent(
    "claude-desktop",
    "Claude Desktop",
    (_mcp_json("", f"{_CONFIG}/Claude/claude_desktop_config.json"),),
    lacks="it opens no folder, so questions have to name one",
)
_GOOSE = KnownAgent(
    "goose",
    "goose",
    (SettingsTarget("", ".config/goose/config.yaml", FileForm.YAML, _goose_extension), AGENTS_TEXT),
    lacks="it reads servers of the user alone: --user",
)

EDITORS: Mapping[str, KnownAgent] = {
    agent.name: agent
    for agent in (
        _VSCODE, _VSCODIUM, _CODE_SERVER, _WINDSURF, _KIRO, _ANTIGRAVITY, _CLINE, _ZED, _JETBRAINS, _CLAUDE_DESKTOP,
        _GOOSE,
    )
}  # fmt: skip
