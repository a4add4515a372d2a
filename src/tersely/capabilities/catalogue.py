"""Every capability, listed by hand: its name and the module that declares it, as `CAPABILITY` or as what is named.

Modules are imported when their capability is asked for: a command pays for itself and for no other.
"""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module
from typing import Any

from tersely.capabilities.declaration import Capability
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
    "code.definition": "symbols.definition",
    "code.calls": "graph.calls",
    "code.impact": "graph.calls:IMPACT",
    "code.change_impact": "graph.change_impact",
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

NAMES: tuple[str, ...] = tuple(_MODULES)


def load(name: str) -> Capability[Any, Any]:
    """The capability of a name; raises `usage` for a name that is not in the catalogue."""
    if name not in _MODULES:
        raise TerselyError("usage", f"there is no capability {name!r}", f"known: {', '.join(NAMES)}")
    module, _, declared = _MODULES[name].partition(":")
    capability = getattr(import_module(f"tersely.capabilities.{module}"), declared or "CAPABILITY")
    assert isinstance(capability, Capability)
    assert capability.name == name
    return capability


def every() -> Iterator[Capability[Any, Any]]:
    """All capabilities, in the order of the table."""
    return (load(name) for name in NAMES)
