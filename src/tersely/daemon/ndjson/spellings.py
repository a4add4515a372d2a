"""The spellings of capabilities and their parameters by clients and servers of the wire: the one
table of them.

The names are those of relays, of tools of the Model Context Protocol, and of llm-tldr 1.5.2.
Parameters that a spelling does not rename are those of the capability itself.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence

from tersely.capabilities import catalogue
from tersely.daemon.ndjson import answers
from tersely.daemon.ndjson.answers import Shape
from tersely.foundation.types import JsonMapping, JsonObject, Strings, field, frozen

PREFIX = "code."  # of the names of capabilities, which may be left out
_FILE = "file"
_ANY_LANGUAGE = frozenset({"language"})


@frozen
class Spelling:
    """A command that asks for a capability, with parameters under other names and some values
    already given.
    """

    capability: str
    # name in a request: parameter; of several, one is shown
    renames: Mapping[str, str] = field(default_factory=dict)
    preset: JsonMapping = field(default_factory=dict)
    shape: Shape = answers.whole
    # parameter: names whose values make it up
    parts: Mapping[str, Strings] = field(default_factory=dict)
    unused: frozenset[str] = frozenset()  # names that are taken and change nothing
    of_file: Spelling | None = None  # what it means where what it is asked about is a file

    @property
    def shown(self) -> dict[str, str]:
        """The name of each renamed parameter that clients are told of: the first."""
        names: dict[str, str] = {}
        for name, own in self.renames.items():
            names.setdefault(own, name)
        return names

    def joined(self, given: JsonMapping) -> dict[str, str]:
        """The parameters that are given in parts, as `file` and `line` of a place."""
        found = {
            own: [str(given[name]) for name in names if name in given]
            for own, names in self.parts.items()
        }
        return {own: ":".join(values) for own, values in found.items() if values}

    def about(self, given: JsonMapping, root: str) -> Spelling:
        """This spelling, or its own for files where the question is about a file of a repository."""
        if self.of_file is None:
            return self
        named = [
            value
            for name, value in given.items()
            if name in self.of_file.renames and isinstance(value, str)
        ]
        is_file = bool(named) and all(os.path.isfile(os.path.join(root, path)) for path in named)
        return self.of_file if is_file else self

    def under_every_name(self, given: JsonMapping, root: str) -> JsonObject:
        """A question with each parameter under all names that it may have, for servers that know
        one of them.

        Files are named by absolute paths, as a server may work anywhere.
        """
        own = {self.renames.get(name, name): value for name, value in given.items()}
        named: JsonObject = {
            name: own[parameter] for name, parameter in self.renames.items() if parameter in own
        }
        for parameter, names in self.parts.items():
            named |= _in_parts(own.get(parameter), names)
        if isinstance(path := named.get(_FILE), str):
            named[_FILE] = os.path.join(root, path)
        return {**given, **named}


def _in_parts(value: object, names: Sequence[str]) -> JsonObject:
    """A value under the names of its parts, nothing where it has not as many."""
    parts = str(value).rsplit(":", len(names) - 1)
    if len(parts) != len(names):
        return {}
    return {
        name: int(part) if part.isdecimal() else part
        for name, part in zip(names, parts, strict=True)
    }


SPELLINGS: Mapping[str, Spelling] = {
    "semantic": Spelling("code.search", {"limit": "limit", "k": "limit"}, shape=answers.hits),
    "search": Spelling("code.search", {"query": "query", "pattern": "query", "limit": "limit", "max_results": "limit"}),
    "context": Spelling("code.context", {"target": "symbols", "entry": "symbols"}, unused=_ANY_LANGUAGE),
    "impact": Spelling("code.impact", {"target": "symbol", "func": "symbol"}, unused=_ANY_LANGUAGE),
    "calls": Spelling("code.calls", {"target": "symbol"}, unused=_ANY_LANGUAGE),
    "structure": Spelling("code.structure", {"limit": "limit", "max_results": "limit"}, unused=_ANY_LANGUAGE),
    "extract": Spelling(
        "code.symbol.get", {"symbol": "symbol", _FILE: "symbol"},
        of_file=Spelling("code.extract", {"symbol": "path", _FILE: "path"}),
    ),
    "cfg": Spelling(
        "code.cfg", {"target": "symbol"}, parts={"symbol": (_FILE, "function")}, unused=_ANY_LANGUAGE
    ),
    "dfg": Spelling(
        "code.dfg", {"target": "symbol"}, parts={"symbol": (_FILE, "function")}, unused=_ANY_LANGUAGE
    ),
    "slice": Spelling(
        "code.slice", {"target": "place"}, parts={"place": (_FILE, "line")}, unused=_ANY_LANGUAGE | {"function"}
    ),
    "dead": Spelling("code.dead", unused=_ANY_LANGUAGE),
    "imports": Spelling("code.imports", {_FILE: "file"}, unused=_ANY_LANGUAGE),
    "importers": Spelling("code.importers", unused=_ANY_LANGUAGE),
    # Names of tools of the Model Context Protocol.
    "difflens.context": Spelling("code.diff_context", {"base_ref": "base"}),
    "difflens.slice": Spelling("code.symbol.slice", {"symbol": "symbols"}),
    "difflens.deps": Spelling("code.calls"),
    "coverage.rank_files": Spelling("code.coverage.files", {"top_n": "limit"}),
    "symbols.search": Spelling("code.symbol.find", {"query": "queries"}),
    "symbols.slice": Spelling("code.symbol.slice", {"symbol_id": "symbols"}),
    "symbols.get": Spelling("code.symbol.get", {"symbol_id": "symbol"}),
    "symbols.callers": Spelling("code.calls", {"symbol_id": "symbol"}, {"direction": "callers"}),
    "symbols.callees": Spelling("code.calls", {"symbol_id": "symbol"}, {"direction": "callees"}),
}  # fmt: skip


def spelling_of(command: str) -> Spelling | None:
    """The spelling that a command means: a word of its own, or a capability by its name, with or
    without the prefix.
    """
    if command in SPELLINGS:
        return SPELLINGS[command]
    names = [name for name in (command, f"{PREFIX}{command}") if name in catalogue.CODE_NAMES]
    return Spelling(names[0]) if names else None
