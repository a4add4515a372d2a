"""The overview of help as a table: it would take longer to import what declares the commands than
to do all else.

Commands are known by their rows; a test compares these with the declarations.
"""

from __future__ import annotations

from collections.abc import Mapping

# The titles of help and the commands of code below each: the arguments of a command, what it does.
SECTIONS: Mapping[str, Mapping[str, tuple[str, str]]] = {
    "Context": {
        "context": ("[SYMBOL…]", "Build a context pack for one or more symbols"),
        "diff-context": (
            "[PATCH]",
            "Build a context pack for a change: what it touches and what depends on it",
        ),
        "plan": ("[TASK…]", "Build a context pack for a task in words"),
        "coverage-context": (
            "",
            "Failures, code that only failing tests ran, and the most executed code, within a token budget",
        ),
        "map": (
            "[PATH]",
            "Outline of the repository, its most important parts opened, within a token budget",
        ),
        "packet": ("[TASK]", "Where a task has to be done, with likely source"),
    },
    "Coverage": {
        "rank-files": (
            "",
            "Files of a coverage report, the most suspicious and the most executed first",
        ),
        "coverage-slice": ("FILE", "One file reduced to the lines that ran"),
    },
    "Search": {
        "search": ("QUERY…", "Search symbols by meaning, name or text"),
        "duplicates": (
            "[PATH]",
            "Groups of functions that are nearly the same: one exemplar, and what differs in the others",
        ),
    },
    "Symbols": {
        "symbol find": ("QUERY…", "Symbols by name, end of an id, or pattern"),
        "symbol get": ("SYMBOL…", "Source of symbols"),
        "symbol slice": (
            "SYMBOL…",
            "Symbols with their dependencies, then their callers, within a token budget",
        ),
        "symbol deps": (
            "SYMBOL",
            "Dependencies of a symbol: types, bases, constants, imports, decorators, callees",
        ),
        "symbol references": (
            "SYMBOL",
            "References to a symbol: calls, types, bases, imports, reads and writes of its name, links",
        ),
        "definition": ("FILE:LINE[:COLUMN]", "Definitions of the names at a place in a file"),
    },
    "Calls": {
        "calls": ("[SYMBOL]", "Callers and callees of a symbol"),
        "symbol callers": ("SYMBOL", "Callers of a symbol"),
        "symbol callees": ("SYMBOL", "Callees of a symbol"),
        "impact": (
            "SYMBOL",
            "Symbols that a change of a symbol may affect: its callers, theirs, and so on",
        ),
        "change-impact": ("[FILE…]", "Tests affected by a change, and the command that runs them"),
        "breaks": (
            "[FILE…]",
            "Uses of what a change removed, renamed, moved, or gave another signature or result",
        ),
        "conflicts": (
            "[DIRECTORY…]",
            "Symbols changed here and in other working trees, and uses in one of what changed in the other",
        ),
        "enclosing": ("FILE:LINE…", "Definitions around lines of files, and who calls them"),
        "dead": ("[PATH]", "Unreferenced functions and classes"),
        "cycles": ("", "Import cycles between files, or call cycles between functions"),
    },
    "Inside functions": {
        "slice": (
            "FILE:LINE",
            "Program slice: the statements that a line depends on, or that depend on it",
        ),
        "cfg": ("SYMBOL", "Basic blocks of a function and the control flow between them"),
        "dfg": ("SYMBOL", "Def-use chains of a function: where the values that it reads come from"),
        "complexity": ("[PATH]", "Cyclomatic complexity of functions, the largest first"),
    },
    "Files": {
        "tree": ("[PATH]", "Indexed files by directory"),
        "structure": (
            "[PATH]",
            "Classes, functions and methods of a directory or file, with their lines",
        ),
        "extract": (
            "FILE",
            "One file in brief: imports, classes, functions with signatures and lines",
        ),
        "imports": (
            "FILE",
            "Imports of a file, and the files of the repository that they resolve to",
        ),
        "importers": ("MODULE", "Files that import a module"),
    },
    "Index": {
        "index": ("", "Bring the index up to date"),
        "stats": ("", "Index statistics: files, symbols and skipped files"),
    },
}

# The commands about the program itself. `builtin_commands.py` runs them.
OWN_COMMANDS: Mapping[str, tuple[str, str]] = {
    "help": ("[COMMAND|TOPIC]", "The manual page of a command; topics: exit-codes, json"),
    "tour": ("", "Four questions about this repository, and what they cost beside grep"),
    "daemon": (
        "start|stop|status|list",
        "Control the process that keeps a repository's index warm",
    ),
    "warm": ("", "Start the daemon and load the index into memory"),
    "mcp": ("[--all-tools]", "Serve the commands as tools of the Model Context Protocol"),
    "chat": (
        "[-p TEXT] [--url URL]",
        "A coding agent for small models; -p answers without a screen",
    ),
    "acp": (
        "[--url URL]",
        "Serve the coding agent to editors: the Agent Client Protocol over standard streams",
    ),
    "lsp": (
        "",
        "Serve code answers to editors: the Language Server Protocol over standard streams",
    ),
    "sessions": ("VERB [SESSION]", "Manage chat sessions: list, show, resume, export, stats, …"),
    "install": (
        "[AGENT] [--user] [--yes]",
        "Add the MCP server, hooks and a skill to one agent or all; shows the changes first",
    ),
    "uninstall": ("[AGENT] [--user] [--yes]", "Remove what install added"),
    "hook": (
        "session|prompt|read|run|mail|… --agent AGENT",
        "Hook that agents run when a session begins, on a prompt, before they read a file, for what others write, …",
    ),
    "talk": (
        "discover|listen|check|send|listen-once",
        "Messages between agents on ports of this machine",
    ),
    "completion": ("SHELL", "Completion script for bash, zsh or fish"),
    "version": ("", "The version of the program"),
}

TALK = "talk"  # one of them, whose words are those of `scripts/`

# The relay's commands that are commands of the program as well; all of them are behind `relay`.
RELAY = "relay"
RELAY_COMMANDS: Mapping[str, tuple[str, str]] = {
    "join": ("URL", "Have this machine use the relay of another"),
    "leave": ("", "Have this machine use a relay of its own again"),
    "up": ("[--port N] [--listen HOST:PORT]", "Start the relay, which connects agents"),
    "down": ("", "Stop the relay"),
    "status": ("", "Show the relay's address and uptime"),
    "doctor": (
        "[--url URL]",
        "Check the relay and the agent, or one server of a model, for problems",
    ),
    "config": ("", "The settings in force"),
    "hello": ("", "Who you are to other agents, who else is there, and how to work with them"),
    "agents": ("", "List agents, what they do, and how much waits for them"),
    "send": ("AGENT|#CHANNEL|* TEXT", "Send a message to another agent, or answer one"),
    "inbox": (
        "[NAME] [--wait SECONDS]",
        "Read the messages that came, the oldest first, or wait for one",
    ),
    "claim": (
        "TARGET…",
        "Claim what you are about to change, so that no other agent changes it meanwhile",
    ),
    "release": ("[TARGET…]", "Give back what you have claimed"),
    "claims": ("[TARGET]", "What is claimed in this project, and by whom"),
    "board": ("[ready|add|take|done|block|reopen]", "The work board: all items, and who has them"),
    "messages": ("[WORDS]", "Search messages, the oldest first"),
    "channels": ("[join|leave #NAME]", "The channels and their members"),
    "dead-letters": ("[resend ID]", "Messages that were refused or not collected in time"),
    "services": ("[call NAME METHOD …]", "List services and their methods"),
    "brief": (
        "[--task TEXT] [--entry SYMBOL]",
        "Brief for the start of a session, within a token budget",
    ),
    "run": (
        "[--name NAME] [--tmux] -- PROGRAM…",
        "Run a program as an agent: its lines are commands",
    ),
    RELAY: (
        "COMMAND",
        "Threads, state, artifacts, events and calls; relay help lists the commands",
    ),
}

# What the completion scripts call; help does not show it.
CANDIDATES_COMMAND = "complete"
