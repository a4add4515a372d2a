"""Which capability a command of the socket means, under every spelling of its parameters that clients use.

A spelling renames; it computes nothing. Parameters that it does not rename are those of the capability itself. Every
capability is also a command under its own name. What the daemon does about itself is listed in `OWN_COMMANDS`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from tersely.capabilities import catalogue
from tersely.capabilities.declaration import Parameter, Role, parameters_of
from tersely.foundation.errors import TerselyError
from tersely.foundation.limits import MAX_BUDGET_TOKENS, MAX_PAGE_ENTRIES
from tersely.protocols import answers
from tersely.protocols.answers import Shape

# What the daemon answers about itself, with the parameters that it takes.
OWN_COMMANDS: Mapping[str, frozenset[str]] = {
    "ping": frozenset(),
    "status": frozenset({"session"}),
    "shutdown": frozenset(),
    "invalidate": frozenset({"path"}),
    "notify": frozenset({"file"}),
    "warm": frozenset({"language"}),
    "cancel": frozenset({"request"}),
    "revision": frozenset({"program_identity", "root"}),
}
WORDS_COMMAND = "words"  # what the command line asks: its words, answered as they would be printed
TEXT_COMMAND = "text"  # what doors that show text ask: any command, answered in words within a token budget

_PATH_ROLES = frozenset({Role.PATH, Role.FILE, Role.PLACE, Role.SOURCE, Role.SYMBOL, Role.MODULE, Role.REPORT})
PREFIX = "code."  # of the names of capabilities, which may be left out
_ALL = {"limit": MAX_PAGE_ENTRIES}


@dataclass(frozen=True, slots=True)
class Spelling:
    """One way to ask for a capability. A request is spelled so if it has all of `needs`."""

    capability: str
    needs: tuple[str, ...] = ()
    renames: Mapping[str, str] = field(default_factory=dict)  # parameter of the command: that of the capability
    joins: tuple[str, str, str] | None = None  # (parameter of the capability, first, second): it is `first:second`
    expression: str = ""  # the parameter of the command that is a regular expression
    without_effect: frozenset[str] = frozenset()
    preset: Mapping[str, object] = field(default_factory=dict)
    shape: Shape = answers.whole


@dataclass(frozen=True, slots=True)
class Call:
    """A question to a capability, and how its answer is written."""

    capability: str
    arguments: dict[str, object]
    shape: Shape


_LANGUAGE = frozenset({"language"})  # llm-tldr is told the language; here each file has its own

SPELLINGS: Mapping[str, tuple[Spelling, ...]] = {
    "context": (
        Spelling("code.context", ("target",), {"target": "symbols"}),
        Spelling("code.context", ("entry",), {"entry": "symbols"}, without_effect=_LANGUAGE),
    ),
    "impact": (
        Spelling("code.impact", ("target",), {"target": "symbol"}),
        Spelling(
            "code.calls", ("func",), {"func": "symbol"}, preset={"direction": "callers", **_ALL}, shape=answers.callers
        ),
    ),
    "calls": (
        Spelling("code.calls", ("target",), {"target": "symbol"}),
        Spelling("code.calls", without_effect=_LANGUAGE, preset={**_ALL, "external": False}, shape=answers.edges),
    ),
    "structure": (
        Spelling("code.structure", ("language",), {"max_results": "limit"}, without_effect=_LANGUAGE,
                 shape=answers.outline),
        Spelling("code.structure", ("max_results",), {"max_results": "limit"}, shape=answers.outline),
        Spelling("code.structure"),
    ),
    "extract": (
        Spelling("code.symbol.get", ("symbol",)),
        Spelling("code.extract", ("file",), {"file": "path"}, preset={**_ALL, "docs": True},
                 without_effect=frozenset({"session"}), shape=answers.module),
    ),
    "semantic": (
        Spelling("code.search", ("query",), {"k": "limit"}, shape=answers.hits,
                 without_effect=_LANGUAGE | {"action"}),
    ),
    "search": (
        Spelling("code.search", ("pattern",), {"pattern": "query", "max_results": "limit"}, expression="pattern",
                 shape=answers.matches),
        Spelling("code.search", ("query",)),
    ),
    "cfg": (
        Spelling("code.cfg", ("target",), {"target": "symbol"}),
        Spelling("code.cfg", ("file", "function"), joins=("symbol", "file", "function"), without_effect=_LANGUAGE,
                 shape=answers.control_flow),
    ),
    "dfg": (
        Spelling("code.dfg", ("target",), {"target": "symbol"}),
        Spelling("code.dfg", ("file", "function"), joins=("symbol", "file", "function"), without_effect=_LANGUAGE,
                 preset=_ALL, shape=answers.data_flow),
    ),
    "slice": (
        Spelling("code.slice", ("target",), {"target": "place"}),
        Spelling("code.slice", ("file", "function", "line"), joins=("place", "file", "line"),
                 without_effect=_LANGUAGE | {"function"}, shape=answers.sliced),
    ),
    "change_impact": (
        Spelling("code.change_impact", preset={**_ALL, "budget": MAX_BUDGET_TOKENS},
                 without_effect=frozenset({"session"}), shape=answers.affected),
    ),
    "tree": (
        Spelling("code.tree", without_effect=frozenset({"extensions", "exclude_hidden"}), preset=_ALL,
                 shape=answers.tree),
    ),
    "imports": (Spelling("code.imports", ("file",), preset=_ALL, without_effect=_LANGUAGE, shape=answers.imports),),
    "importers": (
        Spelling("code.importers", ("module",), preset=_ALL, without_effect=_LANGUAGE, shape=answers.importers),
    ),
    "dead": (
        Spelling("code.dead", preset=_ALL, without_effect=_LANGUAGE | {"entry_points"}, shape=answers.dead),
    ),
    "arch": (Spelling("code.cycles", preset=_ALL, without_effect=_LANGUAGE, shape=answers.circles),),
    # Names of tools of the Model Context Protocol.
    "difflens.context": (Spelling("code.diff_context", ("base_ref",), {"base_ref": "base"}),),
    "difflens.slice": (Spelling("code.symbol.slice", ("symbol",), {"symbol": "symbols"}),),
    "difflens.deps": (Spelling("code.calls", ("symbol",)),),
    "coverage.rank_files": (Spelling("code.coverage.files", renames={"top_n": "limit"}),),
    "symbols.search": (Spelling("code.symbol.find", ("query",), {"query": "queries"}),),
    "symbols.slice": (Spelling("code.symbol.slice", ("symbol_id",), {"symbol_id": "symbols"}),),
    "symbols.get": (Spelling("code.symbol.get", ("symbol_id",), {"symbol_id": "symbol"}),),
    "symbols.callers": (
        Spelling("code.calls", ("symbol_id",), {"symbol_id": "symbol"}, preset={"direction": "callers"}),
    ),
    "symbols.callees": (
        Spelling("code.calls", ("symbol_id",), {"symbol_id": "symbol"}, preset={"direction": "callees"}),
    ),
}  # fmt: skip


def commands() -> list[str]:
    """Every command, for whoever mistypes one."""
    spelled = [name for name, spellings in SPELLINGS.items() if spellings[0].capability in catalogue.NAMES]
    short = [name.removeprefix(PREFIX) for name in catalogue.NAMES]
    return sorted({*OWN_COMMANDS, *spelled, *catalogue.NAMES, *short})


def call(command: str, given: Mapping[str, Any], root: str) -> Call:
    """What a request asks of which capability; raises `unknown_command` or `invalid_argument`.

    Absolute paths below `root` are taken for what they are in the repository.
    """
    spelling = _spelling(command, given)
    declared = parameters_of(catalogue.load(spelling.capability).parameters)
    arguments = dict(spelling.preset)
    given = dict(given)
    if spelling.joins is not None:
        name, first, second = spelling.joins
        if first in given and second in given:
            arguments[name] = f"{given.pop(first)}:{given.pop(second)}"
    if spelling.expression in given:
        given[spelling.expression] = f"/{given[spelling.expression]}/"
    roles = {parameter.name: parameter.role for parameter in declared}
    for name, value in given.items():
        if name not in spelling.without_effect:
            arguments[spelling.renames.get(name, name)] = value
    rewritten = {name: _from_root(value, root) if roles.get(name) in _PATH_ROLES else value
                 for name, value in arguments.items()}  # fmt: skip
    _check_known(command, spelling, declared, rewritten)
    return Call(spelling.capability, rewritten, spelling.shape)


def _spelling(command: str, given: Mapping[str, Any]) -> Spelling:
    if command in catalogue.NAMES:
        return Spelling(command)
    spellings = [one for one in SPELLINGS.get(command, ()) if one.capability in catalogue.NAMES]
    if not spellings and f"{PREFIX}{command}" in catalogue.NAMES:
        return Spelling(f"{PREFIX}{command}")
    if not spellings:
        raise TerselyError("unknown_command", f"there is no command {command!r}", _suggestion(command))
    for spelling in spellings:
        if set(spelling.needs) <= set(given):
            return spelling
    ways = " or ".join(dict.fromkeys(" and ".join(spelling.needs) for spelling in spellings))
    raise TerselyError("invalid_argument", f"{command} needs {ways}")


def _check_known(
    command: str, spelling: Spelling, declared: Sequence[Parameter], arguments: Mapping[str, object]
) -> None:
    names = {parameter.name for parameter in declared}
    for name in arguments:
        if name not in names:
            known = sorted((names | set(spelling.renames)) - set(spelling.preset))
            raise TerselyError("invalid_argument", f"{command} has no parameter {name!r}", f"known: {', '.join(known)}")


def _from_root(value: Any, root: str) -> Any:
    if isinstance(value, list):
        return [_from_root(element, root) for element in value]
    if isinstance(value, str) and value.startswith(f"{root}/"):
        return value[len(root) + 1 :]
    return value


def _suggestion(command: str) -> str:
    import difflib  # only who errs pays for it

    near = difflib.get_close_matches(command, commands(), n=1)
    return f"did you mean {near[0]}?" if near else f"known: {', '.join(commands())}"
