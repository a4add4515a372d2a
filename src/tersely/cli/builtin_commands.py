"""The commands that speak about the program itself."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, NamedTuple

from tersely import __version__
from tersely.capabilities.binding import bind
from tersely.capabilities.declaration import Parameter, option, parameters_of, positional
from tersely.capabilities.invoke import Outcome
from tersely.capabilities.text import Style
from tersely.cli import completion, manual
from tersely.cli.agent.command_spec import (
    LAST,
    BenchParameters,
    ChatParameters,
    ServerKind,
    SessionParameters,
    SessionVerb,
)
from tersely.cli.options import OPTIONS, Options, read_with_options
from tersely.cli.output import Output
from tersely.cli.overview import CANDIDATES_COMMAND
from tersely.cli.terminal import Terminal

EXIT_STATUS = "exit_status"  # in a result: how the process ends, where it has printed by itself
_HELP_FLAGS = frozenset({"--help", "-h"})
_VERSION_FLAGS = frozenset({"--version", "-V"})


def run_own(program: str, leading: Sequence[str], words: Sequence[str]) -> int:
    """Run a command of our own, `leading` being the options before it; raises `usage`."""
    given = [*leading, *words]
    if _HELP_FLAGS & set(given):
        name, rest = "help", [word for word in given if word not in _HELP_FLAGS]
        rest = _without_options_of_commands(rest)
    elif _VERSION_FLAGS & set(leading):
        name, rest = "version", [word for word in given if word not in _VERSION_FLAGS]
    else:
        name, rest = (words[0], [*leading, *words[1:]]) if words else ("help", list(leading))
    command = _COMMANDS[name]
    options, arguments = read_with_options(parameters_of(command.parameters), rest)
    parameters: Any = bind(command.parameters, arguments)
    output = Output(program, options, Terminal.own())
    asked = OwnCommandCall(program, options, output.answer_style())
    result = command.run(asked, parameters)
    status = result.pop(EXIT_STATUS, None)
    return output.print_plain(Outcome("", result)) if status is None else int(status)


def own_parameters(name: str) -> tuple[Parameter, ...] | None:
    """The parameters of a command of our own; None for one that reads its words by itself."""
    command = _COMMANDS.get(name)
    return parameters_of(command.parameters) if command else None


def _without_options_of_commands(words: Sequence[str]) -> list[str]:
    """The words with which somebody asked for help, `context x --budget 5`, as those of a manual
    page.
    """
    flags = {parameter.flag for parameter in OPTIONS}
    return [word for word in words if not word.startswith("-") or word.partition("=")[0] in flags]


class Verb(StrEnum):
    """The verbs for daemons."""

    START = "start"
    STOP = "stop"
    STATUS = "status"
    LIST = "list"


class OwnCommandCall(NamedTuple):
    """The call of a command of our own."""

    program: str
    options: Options
    style: Style


@dataclass(frozen=True, slots=True)
class _OwnCommand:
    parameters: type
    # gives the result; `text` in it is what is printed
    run: Callable[[OwnCommandCall, Any], dict[str, Any]]


@dataclass(frozen=True, slots=True)
class _HelpParameters:
    topic: tuple[str, ...] = positional("a command, or a topic", default=(), metavar="COMMAND")


def _help(asked: OwnCommandCall, parameters: _HelpParameters) -> dict[str, Any]:
    return {"text": manual.text(asked.program, parameters.topic, asked.style)}


@dataclass(frozen=True, slots=True)
class _Nothing:
    pass


def _version(asked: OwnCommandCall, parameters: _Nothing) -> dict[str, Any]:
    return {"version": __version__, "text": f"{asked.program} {__version__}\n"}


@dataclass(frozen=True, slots=True)
class _CompletionParameters:
    shell: completion.Shell = positional("bash, zsh or fish")


def _completion(asked: OwnCommandCall, parameters: _CompletionParameters) -> dict[str, Any]:
    return {"text": completion.script(asked.program, parameters.shell)}


@dataclass(frozen=True, slots=True)
class _CandidatesParameters:
    line: str = positional("the command line up to the cursor")


def _candidates(asked: OwnCommandCall, parameters: _CandidatesParameters) -> dict[str, Any]:
    return {
        "text": "".join(f"{candidate}\n" for candidate in completion.candidates(parameters.line))
    }


@dataclass(frozen=True, slots=True)
class _DaemonParameters:
    verb: Verb = positional("what to do", metavar="start|stop|status|list")


def _daemon(asked: OwnCommandCall, parameters: _DaemonParameters) -> dict[str, Any]:
    from tersely.cli.daemon import run_daemon

    return run_daemon(parameters.verb, asked.options.root, asked.style)


def _warm(asked: OwnCommandCall, parameters: _Nothing) -> dict[str, Any]:
    from tersely.cli.daemon import run_warm

    return run_warm(asked.options.root)


@dataclass(frozen=True, slots=True)
class _McpParameters:
    all_tools: bool = option(False, "list every capability as a tool of its own")
    # For the conformance suite, which drives servers over HTTP alone.
    http: bool = option(
        False, "serve over HTTP on this machine rather than over the standard streams", hidden=True
    )
    port: int = option(
        0, "where to listen for HTTP, 0 for any free port", minimum=0, maximum=65_535, hidden=True
    )


def _mcp(asked: OwnCommandCall, parameters: _McpParameters) -> dict[str, Any]:
    from tersely.cli.mcp import run_mcp

    run_mcp(
        asked.options.root,
        parameters.port if parameters.http else None,
        all_tools=parameters.all_tools,
    )
    return {"text": ""}


@dataclass(frozen=True, slots=True)
class _InstallParameters:
    agent: str = positional(
        "claude, codex, opencode, gemini, qwen, cursor, or an editor: vscode, zed, jetbrains, …"
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


def _install(asked: OwnCommandCall, parameters: _InstallParameters) -> dict[str, Any]:
    from tersely.cli import install

    root, given = asked.options.root, parameters
    wanted = install.InstallOptions(
        given.agent, root, given.user, given.yes, given.hooks, given.texts, given.subagents, given.vsix
    )  # fmt: skip
    return install.run_install(wanted)


@dataclass(frozen=True, slots=True)
class _UninstallParameters:
    agent: str = positional("the agent, as given to install")
    user: bool = option(False, "from the user's own settings")
    yes: bool = option(False, "write without asking")


def _uninstall(asked: OwnCommandCall, parameters: _UninstallParameters) -> dict[str, Any]:
    from tersely.cli import install

    return install.run_uninstall(
        install.InstallOptions(
            parameters.agent, asked.options.root, parameters.user, parameters.yes
        )
    )


def _chat(asked: OwnCommandCall, parameters: ChatParameters) -> dict[str, Any]:
    from tersely.cli.agent.chat import run_chat

    return {"text": "", EXIT_STATUS: run_chat(asked.options, parameters)}


@dataclass(frozen=True, slots=True)
class _AcpParameters:
    url: str = option("", "where the model is served, as for chat")
    model: str = option("", "which of its models")
    kind: ServerKind = option(ServerKind.AUTO, "what the server speaks")
    window: int = option(0, "tokens of context, as for chat", minimum=0)


def _acp(asked: OwnCommandCall, given: _AcpParameters) -> dict[str, Any]:
    from tersely.cli.agent.editor import run_acp

    run_acp(ChatParameters(url=given.url, model=given.model, kind=given.kind, window=given.window))
    return {"text": ""}


def _lsp(asked: OwnCommandCall, parameters: _Nothing) -> dict[str, Any]:
    from tersely.cli.daemon import ANSWER_WORDS
    from tersely.lsp.server import serve

    serve(ANSWER_WORDS)
    return {"text": ""}


def _bench(asked: OwnCommandCall, parameters: BenchParameters) -> dict[str, Any]:
    from tersely.cli.agent.bench import run_bench

    return run_bench(asked.options.root, parameters, asked.style, asked.options.quiet)


def _sessions(asked: OwnCommandCall, parameters: SessionParameters) -> dict[str, Any]:
    from tersely.cli.agent.sessions import run_sessions

    if parameters.verb is SessionVerb.RESUME:
        return _chat(asked, ChatParameters(resume=parameters.session or LAST))
    return run_sessions(asked.options.root, parameters, asked.style)


class HookKind(StrEnum):
    """The action that an agent is about to take."""

    SESSION = "session"
    PROMPT = "prompt"
    READ = "read"
    RUN = "run"


@dataclass(frozen=True, slots=True)
class _HookParameters:
    kind: HookKind = positional("what the agent is about to do")
    agent: str = option("claude", "which agent it is")


def _hook(asked: OwnCommandCall, parameters: _HookParameters) -> dict[str, Any]:
    if parameters.kind is HookKind.RUN:
        from tersely.integrations import run_hook as running

        running.main(waits=False, agent=parameters.agent)
        return {"text": ""}
    from tersely.cli.hook import run_hook

    answer = run_hook(parameters.kind, parameters.agent)
    return {"text": f"{answer}\n" if answer else ""}


_COMMANDS: Mapping[str, _OwnCommand] = {
    "install": _OwnCommand(_InstallParameters, _install),
    "uninstall": _OwnCommand(_UninstallParameters, _uninstall),
    "hook": _OwnCommand(_HookParameters, _hook),
    "daemon": _OwnCommand(_DaemonParameters, _daemon),
    "warm": _OwnCommand(_Nothing, _warm),
    "mcp": _OwnCommand(_McpParameters, _mcp),
    "chat": _OwnCommand(ChatParameters, _chat),
    "lsp": _OwnCommand(_Nothing, _lsp),
    "acp": _OwnCommand(_AcpParameters, _acp),
    "sessions": _OwnCommand(SessionParameters, _sessions),
    "bench": _OwnCommand(BenchParameters, _bench),
    "help": _OwnCommand(_HelpParameters, _help),
    "version": _OwnCommand(_Nothing, _version),
    "completion": _OwnCommand(_CompletionParameters, _completion),
    CANDIDATES_COMMAND: _OwnCommand(_CandidatesParameters, _candidates),
}
