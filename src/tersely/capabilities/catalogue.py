"""Every capability, listed by hand: its name and the module that declares it, as `CAPABILITY` or as
what is named.

Modules are imported when their capability is asked for: a command pays for itself and for no other.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from importlib import import_module
from typing import Any, NamedTuple

from tersely.capabilities.declaration.declaration import Capability
from tersely.foundation.errors import TerselyError

_MODULES = {
    "code.tree": "files.outline:TREE",
    "code.structure": "files.outline:STRUCTURE",
    "code.extract": "files.outline:EXTRACT",
    "code.imports": "files.imports",
    "code.importers": "files.importers",
    "code.symbol.find": "symbols.find",
    "code.symbol.get": "symbols.get",
    "code.symbol.slice": "symbols.slice",
    "code.symbol.deps": "symbols.deps",
    "code.symbol.references": "symbols.references",
    "code.definition": "symbols.definition",
    "code.calls": "graph.calls",
    "code.impact": "graph.calls:IMPACT",
    "code.change_impact": "graph.change_impact",
    "code.conflicts": "graph.conflicts",
    "code.dead": "graph.dead",
    "code.cycles": "graph.cycles",
    "code.cfg": "flow.cfg",
    "code.dfg": "flow.dfg",
    "code.slice": "flow.slice",
    "code.complexity": "flow.complexity",
    "code.search": "search.search",
    "code.duplicates": "clones.duplicates",
    "code.map": "packs.map",
    "code.context": "packs.context",
    "code.diff_context": "packs.diff",
    "code.packet": "packs.packet",
    "code.plan": "packs.plan",
    "code.coverage.context": "coverage.context",
    "code.coverage.files": "coverage.files",
    "code.coverage.slice": "coverage.slice",
    "code.index": "index.index",
    "code.stats": "index.stats",
}

# Those that a command line has other words for than their names.
_CODE_WORDS = {
    "code.coverage.context": "coverage-context",
    "code.coverage.files": "rank-files",
    "code.coverage.slice": "coverage-slice",
}

CODE = "code."  # how the names begin of what is asked of a repository


class _Row(NamedTuple):
    """The place where a capability of the relay is declared, and the words that ask for it on a
    command line.
    """

    declared: str
    words: str = ""  # none: it is asked by its name alone
    has_own_tool: bool = False  # as a tool it has its name, since the words say too little there


_RELAY = {
    "mail.send": _Row("relay.mail:SEND", "send"),
    "mail.inbox": _Row("relay.mail:INBOX", "inbox"),
    "mail.box": _Row("relay.mail:MAILBOX"),
    "mail.receipt": _Row("relay.mail:RECEIPT", "receipt"),
    "mail.search": _Row("relay.mail:SEARCH", "messages"),
    "mail.dead": _Row("relay.mail:DEAD", "dead-letters"),
    "mail.resend": _Row("relay.mail:RESEND", "dead-letters resend"),
    "agent.list": _Row("relay.agents:AGENTS", "agents"),
    "agent.retire": _Row("relay.agents:RETIRE", "agents retire"),
    "agent.introduction": _Row("relay.introduction", "hello"),
    "permission.ask": _Row("relay.teams.permissions"),
    "claim.take": _Row("relay.teams.claims:CLAIM", "claim"),
    "claim.release": _Row("relay.teams.claims:RELEASE", "release"),
    "claim.list": _Row("relay.teams.claims:CLAIMS", "claims"),
    "board.show": _Row("relay.teams.board:SHOW", "board"),
    "board.ready": _Row("relay.teams.board:READY", "board ready"),
    "board.add": _Row("relay.teams.board:ADD", "board add"),
    "board.take": _Row("relay.teams.board:TAKE", "board take"),
    "board.done": _Row("relay.teams.board:DONE", "board done"),
    "board.block": _Row("relay.teams.board:BLOCK", "board block"),
    "board.reopen": _Row("relay.teams.board:REOPEN", "board reopen"),
    "channel.list": _Row("relay.agents:CHANNELS", "channels"),
    "channel.join": _Row("relay.agents:JOIN", "channels join"),
    "channel.leave": _Row("relay.agents:LEAVE", "channels leave"),
    "thread.new": _Row("relay.threads:NEW", "thread new"),
    "thread.list": _Row("relay.threads:LIST", "runs", has_own_tool=True),
    "thread.get": _Row("relay.threads:GET"),
    "thread.show": _Row("relay.threads:SHOW", "show", has_own_tool=True),
    "thread.spend": _Row("relay.teams.spending"),
    "thread.report": _Row("relay.records:REPORT", "report", has_own_tool=True),
    "thread.checkpoint": _Row("relay.records:CHECKPOINT", "checkpoint", has_own_tool=True),
    "thread.replay": _Row("relay.records:REPLAY", "replay", has_own_tool=True),
    "thread.mirror": _Row("relay.records:MIRROR", "mirror", has_own_tool=True),
    "state.header": _Row("relay.threads:HEADER", "state header"),
    "state.get": _Row("relay.threads:STATE", "state get"),
    "state.patch": _Row("relay.threads:PATCH", "state patch"),
    "state.history": _Row("relay.threads:HISTORY", "state history"),
    "event.list": _Row("relay.threads:EVENTS"),
    "artifact.put": _Row("relay.artifacts:PUT"),
    "artifact.get": _Row("relay.artifacts:GET"),
    "artifact.list": _Row("relay.artifacts:LIST", "artifact list"),
    "artifact.remove": _Row("relay.artifacts:REMOVE", "artifact remove"),
    "artifact.search": _Row("relay.artifacts:SEARCH", "artifact search"),
    "service.list": _Row("relay.services:SERVICES", "services"),
    "service.call": _Row("relay.services:CALL"),
    "relay.status": _Row("relay.records:STATUS", "status"),
    "cap.list": _Row("relay.records:CALLS", "cap list"),
    "token.savings": _Row("relay.records:SAVINGS", "stats", has_own_tool=True),
    "relay.config": _Row("relay.records:SETTINGS", "config", has_own_tool=True),
}

CODE_NAMES: tuple[str, ...] = tuple(_MODULES)  # of what is asked of a repository
RELAY_NAMES: tuple[str, ...] = tuple(_RELAY)  # of what is asked of the relay
NAMES: tuple[str, ...] = (*CODE_NAMES, *RELAY_NAMES)
RELAY_WORDS: Mapping[str, str] = {row.words: name for name, row in _RELAY.items() if row.words}


def words_of(name: str) -> str:
    """The words of a capability where it is typed: `diff-context`, `symbol find`, `dead-letters
    resend`.
    """
    if name in _RELAY:
        return _RELAY[name].words or name.replace(".", " ")
    return _CODE_WORDS.get(name) or name.removeprefix(CODE).replace("_", "-").replace(".", " ")


def tool_words(name: str) -> str:
    """The name of a capability as a tool, before blanks and dots are made underscores."""
    return name if name in _RELAY and _RELAY[name].has_own_tool else words_of(name)


def load(name: str) -> Capability[Any, Any]:
    """The capability of a name; raises `unknown_command` for a name that is not in the catalogue."""
    if name not in NAMES:
        raise TerselyError(
            "unknown_command", f"there is no capability {name!r}", f"known: {', '.join(NAMES)}"
        )
    place = _RELAY[name].declared if name in _RELAY else _MODULES[name]
    module, _, declared = place.partition(":")
    capability = getattr(import_module(f"tersely.capabilities.{module}"), declared or "CAPABILITY")
    assert isinstance(capability, Capability)
    assert capability.name == name
    return capability


def every(names: Iterable[str] = NAMES) -> Iterator[Capability[Any, Any]]:
    """The capabilities of these names, in their order; all, in that of the table, without any."""
    return (load(name) for name in names)
