"""Every capability, listed by hand: its name and the module that declares it, as `run` or by the
name behind the colon.

Modules are imported when their capability is asked for: a command pays for itself and for no other.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from importlib import import_module
from typing import NamedTuple

from tersely.capabilities.declaration.declaration import Capability
from tersely.foundation.errors import TerselyError
from tersely.foundation.types import Strings

CODE = "code."  # how the names begin of what is asked of a repository


class _Row(NamedTuple):
    """The module and name that declare a capability; the words that ask for it on a command line,
    where these are not its name; and whether as a tool it has its name, since the words say too
    little there.
    """

    declared: str
    words: str = ""
    own_tool: str = ""


def _rows(table: str) -> dict[str, _Row]:
    """The rows of a table by the names in its first column; columns are two blanks apart."""
    cells = (re.split(" {2,}", line) for line in table.strip().splitlines())
    return {name: _Row(*more) for name, *more in cells}


_CODE = _rows("""
code.tree               files.outline:tree
code.structure          files.outline:structure
code.extract            files.outline:extract
code.imports            files.imports
code.importers          files.importers
code.symbol.find        symbols.find
code.symbol.get         symbols.get
code.symbol.slice       symbols.slice
code.symbol.deps        symbols.deps
code.symbol.references  symbols.references
code.definition         symbols.definition
code.calls              graph.calls:calls
code.impact             graph.calls:impact
code.change_impact      graph.change_impact
code.breaks             graph.breaks
code.conflicts          graph.conflicts
code.enclosing          graph.enclosing
code.dead               graph.dead
code.cycles             graph.cycles
code.cfg                flow.cfg
code.dfg                flow.dfg
code.slice              flow.slice
code.complexity         flow.complexity
code.search             search.search
code.duplicates         search.duplicates
code.map                packs.map
code.context            packs.context
code.diff_context       packs.diff
code.packet             packs.packet
code.plan               packs.plan
code.coverage.context   coverage.context         coverage-context
code.coverage.files     coverage.files           rank-files
code.coverage.slice     coverage.slice           coverage-slice
code.index              index.index
code.stats              index.stats
""")
# Those without words are asked by their names alone.
_RELAY = _rows("""
mail.send           relay.mail:send               send
mail.inbox          relay.mail:inbox              inbox
mail.box            relay.mail:mailbox
mail.receipt        relay.mail:receipt            receipt
mail.search         relay.mail:search             messages
mail.dead           relay.mail:dead               dead-letters
mail.resend         relay.mail:resend             dead-letters resend
agent.list          relay.agents:agents           agents
agent.retire        relay.agents:retire           agents retire
agent.introduction  relay.introduction:introduce  hello
permission.ask      relay.teams.permissions:wait
claim.take          relay.teams.claims:take       claim
claim.release       relay.teams.claims:release    release
claim.list          relay.teams.claims:claims_of  claims
board.show          relay.teams.board:show        board
board.ready         relay.teams.board:ready       board ready
board.add           relay.teams.board:add         board add
board.take          relay.teams.board:take        board take
board.done          relay.teams.board:done        board done
board.block         relay.teams.board:block       board block
board.reopen        relay.teams.board:reopen      board reopen
channel.list        relay.agents:channels         channels
channel.join        relay.agents:join             channels join
channel.leave       relay.agents:leave            channels leave
thread.new          relay.threads:new             thread new
thread.list         relay.threads:recent          runs                 own
thread.get          relay.threads:get
thread.show         relay.threads:show            show                 own
thread.spend        relay.teams.spending:spend
thread.report       relay.records:report          report               own
thread.checkpoint   relay.records:checkpoint      checkpoint           own
thread.replay       relay.records:replay          replay               own
thread.mirror       relay.records:mirror          mirror               own
state.header        relay.threads:header          state header
state.get           relay.threads:state           state get
state.patch         relay.threads:patch           state patch
state.history       relay.threads:history         state history
event.list          relay.threads:events
artifact.put        relay.artifacts:put
artifact.get        relay.artifacts:get
artifact.list       relay.artifacts:listed        artifact list
artifact.remove     relay.artifacts:remove        artifact remove
artifact.search     relay.artifacts:search        artifact search
service.list        relay.services:services       services
service.call        relay.services:call
relay.status        relay.records:status          status
cap.list            relay.records:calls           cap list
token.savings       relay.records:savings         stats                own
relay.config        relay.records:settings        config               own
""")

CODE_NAMES: Strings = tuple(_CODE)  # of what is asked of a repository
RELAY_NAMES: Strings = tuple(_RELAY)  # of what is asked of the relay
NAMES: Strings = (*CODE_NAMES, *RELAY_NAMES)
RELAY_WORDS: Mapping[str, str] = {row.words: name for name, row in _RELAY.items() if row.words}


def words_of(name: str) -> str:
    """The words of a capability where it is typed: `diff-context`, `symbol find`, `dead-letters
    resend`.
    """
    if name in _RELAY:
        return _RELAY[name].words or name.replace(".", " ")
    return _CODE[name].words or name.removeprefix(CODE).replace("_", "-").replace(".", " ")


def tool_words(name: str) -> str:
    """The name of a capability as a tool, before blanks and dots are made underscores."""
    return name if name in _RELAY and _RELAY[name].own_tool else words_of(name)


def load(name: str) -> Capability:
    """The capability of a name; raises `unknown_command` for a name that is not in the catalogue."""
    if name not in NAMES:
        raise TerselyError(
            "unknown_command", f"there is no capability {name!r}", f"known: {', '.join(NAMES)}"
        )
    row = _RELAY[name] if name in _RELAY else _CODE[name]
    module, _, declared = row.declared.partition(":")
    capability = getattr(import_module(f"tersely.capabilities.{module}"), declared or "run")
    assert isinstance(capability, Capability)
    assert capability.name == name
    return capability


def every(names: Iterable[str] = NAMES) -> Iterator[Capability]:
    """The capabilities of these names, in their order; all, in that of the table, without any."""
    return (load(name) for name in names)
