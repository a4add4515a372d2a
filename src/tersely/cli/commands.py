"""How the capabilities are spelled as commands, listed by hand in the order in which help shows them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from tersely.capabilities import catalogue
from tersely.capabilities.declaration import Capability, Parameter, parameters_of
from tersely.foundation.errors import TerselyError


@dataclass(frozen=True, slots=True)
class Command:
    """A capability under the words that ask for it; what `preset` fixes is no option of the command."""

    words: tuple[str, ...]
    capability_name: str
    preset: Mapping[str, object] = field(default_factory=dict)
    summary: str = ""  # where the command is narrower than its capability
    required: frozenset[str] = frozenset()  # parameters that the command cannot do without

    @property
    def name(self) -> str:
        """The words as they are typed."""
        return " ".join(self.words)

    def capability(self) -> Capability[Any, Any]:
        """What the command asks; imports its module."""
        return catalogue.load(self.capability_name)

    def parameters(self) -> tuple[Parameter, ...]:
        """The parameters that are left to say."""
        declared = parameters_of(self.capability().parameters)
        return tuple(
            replace(parameter, required=parameter.required or parameter.name in self.required)
            for parameter in declared
            if parameter.name not in self.preset
        )

    def line(self) -> str:
        """What the command does, in one line."""
        return self.summary or self.capability().summary


_ONE = frozenset({"symbol"})

SECTIONS: tuple[tuple[str, tuple[Command, ...]], ...] = (
    (
        "Context",
        (
            Command(("context",), "code.context"),
            Command(("diff-context",), "code.diff_context"),
            Command(("plan",), "code.plan"),
            Command(("coverage-context",), "code.coverage.context"),
            Command(("map",), "code.map"),
            Command(("packet",), "code.packet"),
        ),
    ),
    (
        "Coverage",
        (Command(("rank-files",), "code.coverage.files"), Command(("coverage-slice",), "code.coverage.slice")),
    ),
    ("Search", (Command(("search",), "code.search"), Command(("duplicates",), "code.duplicates"))),
    (
        "Symbols",
        (
            Command(("symbol", "find"), "code.symbol.find"),
            Command(("symbol", "get"), "code.symbol.get"),
            Command(("symbol", "slice"), "code.symbol.slice"),
            Command(("symbol", "deps"), "code.symbol.deps"),
            Command(("definition",), "code.definition"),
        ),
    ),
    (
        "Calls",
        (
            Command(("calls",), "code.calls"),
            Command(("symbol", "callers"), "code.calls", {"direction": "callers"}, "Callers of a symbol", _ONE),
            Command(("symbol", "callees"), "code.calls", {"direction": "callees"}, "Callees of a symbol", _ONE),
            Command(("impact",), "code.impact"),
            Command(("change-impact",), "code.change_impact"),
            Command(("conflicts",), "code.conflicts"),
            Command(("dead",), "code.dead"),
            Command(("cycles",), "code.cycles"),
        ),
    ),
    (
        "Inside functions",
        (
            Command(("slice",), "code.slice"),
            Command(("cfg",), "code.cfg"),
            Command(("dfg",), "code.dfg"),
            Command(("complexity",), "code.complexity"),
        ),
    ),
    (
        "Files",
        (
            Command(("tree",), "code.tree"),
            Command(("structure",), "code.structure"),
            Command(("extract",), "code.extract"),
            Command(("imports",), "code.imports"),
            Command(("importers",), "code.importers"),
        ),
    ),
    (
        "Index",
        (
            Command(("index",), "code.index"),
            Command(("stats",), "code.stats"),
        ),
    ),
)

COMMANDS: tuple[Command, ...] = tuple(command for _, commands in SECTIONS for command in commands)

# Spellings that help does not list a second time.
ALIASES: tuple[Command, ...] = (
    Command(("symbol",), "code.symbol.find"),
    Command(("semantic",), "code.search"),
    Command(("find",), "code.search"),
)

# What the relay answers, as capabilities of the catalogue.
RELAY_QUESTIONS: tuple[Command, ...] = tuple(
    Command(tuple(words.split()), name) for words, name in catalogue.RELAY_WORDS.items()
)

# The commands about the program itself: usage and summary. `own.py` runs them.
OWN_COMMANDS: Mapping[str, tuple[str, str]] = {
    "help": ("help [COMMAND|TOPIC]", "The manual page of a command; topics: exit-codes, json"),
    "daemon": ("daemon start|stop|status|list", "Control the process that keeps a repository's index warm"),
    "warm": ("warm", "Start the daemon and load the index into memory"),
    "mcp": ("mcp [--all-tools]", "Serve the commands as tools of the Model Context Protocol"),
    "chat": ("chat [-p TEXT] [--url URL]", "A coding agent for small models; -p answers without a screen"),
    "acp": ("acp [--url URL]", "Serve the coding agent to editors: the Agent Client Protocol over standard streams"),
    "lsp": ("lsp", "Serve code answers to editors: the Language Server Protocol over standard streams"),
    "sessions": ("sessions VERB [SESSION]", "Manage chat sessions: list, show, resume, export, stats, …"),
    "bench": ("bench agent [--agent COMMAND]", "Measure agents on tasks from the history of the repository"),
    "install": (
        "install AGENT [--user] [--yes]",
        "Add the MCP server, hooks and a skill to an agent; shows the changes first",
    ),
    "uninstall": ("uninstall AGENT [--user] [--yes]", "Remove what install added"),
    "hook": (
        "hook session|prompt|read|run --agent AGENT",
        "Hook that agents run when a session begins, on a prompt, before they read a file, or under `tersely run`",
    ),
    "talk": ("talk listen|check|send|discover|listen-once|join", "Messages between agents on ports of this machine"),
    "completion": ("completion SHELL", "Completion script for bash, zsh or fish"),
    "version": ("version", "The version of the program"),
}

TALK = "talk"  # one of them, whose words and output are those of `scripts/`

# The relay's commands that are commands of the program as well; all of them are behind `relay`.
RELAY = "relay"
RELAY_COMMANDS: Mapping[str, tuple[str, str]] = {
    "up": ("up [--port N]", "Start the relay, which connects agents"),
    "down": ("down", "Stop the relay"),
    "status": ("status", "Show the relay's address and uptime"),
    "doctor": ("doctor [--url URL]", "Check the relay and the agent, or one server of a model, for problems"),
    "config": ("config", "The relay's settings in force"),
    "hello": ("hello", "Who you are to other agents, who else is there, and how to work with them"),
    "agents": ("agents", "List agents, and which of them are connected"),
    "send": ("send TO TEXT", "Send a message to an agent, a #channel, or all agents (*)"),
    "inbox": ("inbox [NAME] [--wait SECONDS]", "Read a mailbox"),
    "claim": ("claim TARGET…", "Claim what you are about to change, so that no other agent changes it meanwhile"),
    "release": ("release [TARGET…]", "Give back what you have claimed"),
    "claims": ("claims [TARGET]", "What is claimed in this project, and by whom"),
    "board": ("board [ready|add|take|done|block|reopen]", "The work board of this project"),
    "messages": ("messages [WORDS]", "Search messages"),
    "channels": ("channels [join|leave #NAME]", "List channels and their members; join or leave one"),
    "dead-letters": ("dead-letters", "List undelivered messages; dead-letters resend ID sends one again"),
    "services": ("services [call NAME METHOD …]", "List services; services call asks one"),
    "brief": ("brief [--task TEXT] [--entry SYMBOL]", "Brief for the start of a session, within a token budget"),
    "run": ("run [--name NAME] [--tmux] -- PROGRAM…", "Run a program as an agent: its lines are commands"),
    RELAY: ("relay COMMAND", "Threads, state, artifacts, events and calls; relay help lists the commands"),
}

# What the completion scripts call; help does not show it.
CANDIDATES_COMMAND = "complete"


def find_command(words: Sequence[str]) -> tuple[Command, Sequence[str]]:
    """The command that `words` begin with, the longest spelling first, and the words after it; raises `usage`."""
    for command in sorted((*COMMANDS, *ALIASES), key=lambda command: -len(command.words)):
        length = len(command.words)
        if tuple(words[:length]) == command.words:
            return command, words[length:]
    raise TerselyError("usage", f"there is no command {words[0]!r}", suggestion(words[0]))


def suggestion(word: str) -> str:
    """What somebody who wrote an unknown command may have meant."""
    import difflib  # only who errs pays for it

    known = {command.words[0] for command in COMMANDS} | set(OWN_COMMANDS) | set(RELAY_COMMANDS)
    # A name of a symbol command is an easy slip: `find` for `symbol find`.
    seconds = {command.words[1]: command.name for command in COMMANDS if len(command.words) > 1}
    if word in seconds:
        return f"did you mean {seconds[word]}?"
    near = difflib.get_close_matches(word, sorted(known), n=1)
    return f"did you mean {near[0]}?" if near else "tersely help lists the commands"
