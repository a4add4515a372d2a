"""What goes into the settings of other agents, and the hooks that they call."""

from __future__ import annotations

from enum import StrEnum

from tersely.capabilities.declaration.declaration import group, option, positional
from tersely.cli.own_command import CommandCall, command
from tersely.foundation.types import JsonObject, frozen


@frozen
class InstallParameters:
    """What `install` is asked for."""

    agent: str = positional(
        "claude, codex, opencode, gemini, qwen, cursor, or an editor: vscode, zed, jetbrains, …; without it all "
        "that are on this machine, in the user's own settings",
        default="",
    )
    user: bool = option(False, "in the user's own settings rather than in those of this repository")
    hooks: bool = option(
        True, "have prompts and large files looked at; without it only the server is added"
    )
    texts: bool = option(True, "add the skill file, or the paragraph for AGENTS.md")
    subagents: bool = option(True, "tell the agents that it starts of other agents, too")
    vsix: str = option(
        "", "the extension for VS Code, where it is not beside this copy", metavar="FILE"
    )
    yes: bool = option(False, "write without asking")


@command("install")
def _install(
    asked: CommandCall, *, wanted: InstallParameters = group(InstallParameters)
) -> JsonObject:
    if not wanted.agent:
        from tersely.cli.builtin.setup import install_everywhere

        return install_everywhere(asked, wanted)
    from tersely.cli.builtin.install import carried_out, planned_install

    root = asked.options.root
    return carried_out(root, wanted, planned_install(root, wanted))


@command("uninstall")
def _uninstall(
    asked: CommandCall,
    *,
    agent: str = positional("the agent, as given to install; without it all of them", default=""),
    user: bool = option(False, "from the user's own settings"),
    yes: bool = option(False, "remove without asking"),
) -> JsonObject:
    wanted = InstallParameters(agent, user, yes=yes)
    if not agent:
        from tersely.cli.builtin.setup import uninstall_everywhere

        return uninstall_everywhere(asked, wanted)
    from tersely.cli.builtin.install import carried_out, planned_removal

    root = asked.options.root
    return carried_out(root, wanted, planned_removal(root, wanted))


class HookKind(StrEnum):
    """The action that an agent is about to take."""

    SESSION = "session"
    PROMPT = "prompt"
    READ = "read"
    AFTER = "after"
    RUN = "run"
    START = "start"
    MAIL = "mail"
    EDIT = "edit"
    STOP = "stop"
    END = "end"
    PERMISSION = "permission"


@command("hook")
def _hook(
    asked: CommandCall,
    *,
    kind: HookKind = positional("what the agent is about to do"),
    agent: str = option("claude", "which agent it is"),
) -> JsonObject:
    if kind is HookKind.RUN:
        from tersely.integrations import run_hook as running

        running.main(waits=False, agent=agent)
        return {"text": ""}
    if kind not in (HookKind.SESSION, HookKind.PROMPT, HookKind.READ, HookKind.AFTER):
        from tersely.integrations import mail_hook

        mail_hook.main(kind.value)
        return {"text": ""}
    from tersely.cli.builtin.hook import run_hook

    answer = run_hook(kind, agent)
    return {"text": f"{answer}\n" if answer else ""}
