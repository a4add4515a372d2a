"""Every capability, listed by hand: its name and the module that declares it, as `run` or by the
name behind the colon.

Modules are imported when their capability is asked for: a command pays for itself and for no other.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from importlib import import_module
from typing import NamedTuple

from tersely.capabilities.declaration.declaration import Capability
from tersely.foundation.errors import TerselyError

_MODULES = {
    "code.tree": "files.outline:tree",
    "code.structure": "files.outline:structure",
    "code.extract": "files.outline:extract",
    "code.imports": "files.imports",
    "code.importers": "files.importers",
    "code.symbol.find": "symbols.find",
    "code.symbol.get": "symbols.get",
    "code.symbol.slice": "symbols.slice",
    "code.symbol.deps": "symbols.deps",
    "code.symbol.references": "symbols.references",
    "code.definition": "symbols.definition",
    "code.calls": "graph.calls:calls",
    "code.impact": "graph.calls:impact",
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
    "mail.send": _Row("relay.mail:send", "send"),
    "mail.inbox": _Row("relay.mail:inbox", "inbox"),
    "mail.box": _Row("relay.mail:mailbox"),
    "mail.receipt": _Row("relay.mail:receipt", "receipt"),
    "mail.search": _Row("relay.mail:search", "messages"),
    "mail.dead": _Row("relay.mail:dead", "dead-letters"),
    "mail.resend": _Row("relay.mail:resend", "dead-letters resend"),
    "agent.list": _Row("relay.agents:agents", "agents"),
    "agent.retire": _Row("relay.agents:retire", "agents retire"),
    "agent.introduction": _Row("relay.introduction:introduce", "hello"),
    "permission.ask": _Row("relay.teams.permissions:wait"),
    "claim.take": _Row("relay.teams.claims:take", "claim"),
    "claim.release": _Row("relay.teams.claims:release", "release"),
    "claim.list": _Row("relay.teams.claims:claims_of", "claims"),
    "board.show": _Row("relay.teams.board:show", "board"),
    "board.ready": _Row("relay.teams.board:ready", "board ready"),
    "board.add": _Row("relay.teams.board:add", "board add"),
    "board.take": _Row("relay.teams.board:take", "board take"),
    "board.done": _Row("relay.teams.board:done", "board done"),
    "board.block": _Row("relay.teams.board:block", "board block"),
    "board.reopen": _Row("relay.teams.board:reopen", "board reopen"),
    "channel.list": _Row("relay.agents:channels", "channels"),
    "channel.join": _Row("relay.agents:join", "channels join"),
    "channel.leave": _Row("relay.agents:leave", "channels leave"),
    "thread.new": _Row("relay.threads:new", "thread new"),
    "thread.list": _Row("relay.threads:recent", "runs", has_own_tool=True),
    "thread.get": _Row("relay.threads:get"),
    "thread.show": _Row("relay.threads:show", "show", has_own_tool=True),
    "thread.spend": _Row("relay.teams.spending:spend"),
    "thread.report": _Row("relay.records:report", "report", has_own_tool=True),
    "thread.checkpoint": _Row("relay.records:checkpoint", "checkpoint", has_own_tool=True),
    "thread.replay": _Row("relay.records:replay", "replay", has_own_tool=True),
    "thread.mirror": _Row("relay.records:mirror", "mirror", has_own_tool=True),
    "state.header": _Row("relay.threads:header", "state header"),
    "state.get": _Row("relay.threads:state", "state get"),
    "state.patch": _Row("relay.threads:patch", "state patch"),
    "state.history": _Row("relay.threads:history", "state history"),
    "event.list": _Row("relay.threads:events"),
    "artifact.put": _Row("relay.artifacts:put"),
    "artifact.get": _Row("relay.artifacts:get"),
    "artifact.list": _Row("relay.artifacts:listed", "artifact list"),
    "artifact.remove": _Row("relay.artifacts:remove", "artifact remove"),
    "artifact.search": _Row("relay.artifacts:search", "artifact search"),
    "service.list": _Row("relay.services:services", "services"),
    "service.call": _Row("relay.services:call"),
    "relay.status": _Row("relay.records:status", "status"),
    "cap.list": _Row("relay.records:calls", "cap list"),
    "token.savings": _Row("relay.records:savings", "stats", has_own_tool=True),
    "relay.config": _Row("relay.records:settings", "config", has_own_tool=True),
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


def load(name: str) -> Capability:
    """The capability of a name; raises `unknown_command` for a name that is not in the catalogue."""
    if name not in NAMES:
        raise TerselyError(
            "unknown_command", f"there is no capability {name!r}", f"known: {', '.join(NAMES)}"
        )
    place = _RELAY[name].declared if name in _RELAY else _MODULES[name]
    module, _, declared = place.partition(":")
    capability = getattr(import_module(f"tersely.capabilities.{module}"), declared or "run")
    assert isinstance(capability, Capability)
    assert capability.name == name
    return capability


def every(names: Iterable[str] = NAMES) -> Iterator[Capability]:
    """The capabilities of these names, in their order; all, in that of the table, without any."""
    return (load(name) for name in names)
