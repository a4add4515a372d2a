"""Definitions that nothing uses: nobody in the repository writes their names.

A name that somebody writes may still mean another definition, so what is found is dead as far as
names can tell, and there may be more. What is called without being named is left out: what a
decorator or an annotation of a framework has taken hold of, classes with such methods, what
overrides a member of a base from outside, what the language itself calls, tests, what a module
lists as its own exports, and what the call graph has callers of: names may be put together when the
program runs.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable
from functools import lru_cache

from tersely.code.expressions import CONST, DEFINED, SEQUENCE, is_tagged
from tersely.code.graph.callgraph import CallGraph
from tersely.code.graph.pointsto.evaluate import Evaluator
from tersely.code.graph.pointsto.values import CLASS
from tersely.code.graph.program.file import File
from tersely.code.symbols import CALLABLE_KINDS, CLASS_KINDS, Kind, Symbol

ENTRY_NAMES = frozenset({"main"})  # what runs a program calls it
LANGUAGE_PREFIX = "__"  # what several languages put before the names that they themselves call

MAX_ASKED = 300  # symbols that nobody names and whose callers are looked for
ASKED_LIMIT = (
    f"truncated: of {MAX_ASKED} symbols that nobody names it was looked whether calls reach them"
)

_WORD = re.compile(rb"[\w\x80-\xff]+")
_CANDIDATES = (CALLABLE_KINDS | CLASS_KINDS) - {Kind.LAMBDA}


def dead(symbols: Iterable[Symbol], graph: CallGraph) -> list[Symbol]:
    """Those of `symbols` that nothing uses, in their order; of a dead class only the class itself.

    `symbols` are those whose names no file mentions, by file.
    """
    evaluator, asked = graph.evaluator, 0
    program, passed_on = evaluator.program, lru_cache(maxsize=1)(_passed_on)
    found: dict[str, Symbol] = {}
    for symbol in symbols:
        if (
            symbol.kind not in _CANDIDATES
            or symbol.parent in found
            or _is_called_unnamed(symbol.name)
        ):
            continue
        file = program.file(program.by_path[symbol.path])
        position = file.by_qualname[symbol.qualname]
        if _is_held(file, position, passed_on(file), evaluator):
            continue
        asked += 1
        if asked > MAX_ASKED:
            evaluator.solver.mark_cut(ASKED_LIMIT)
        elif graph.callers(symbol.id, guesses=False):
            continue
        found[symbol.id] = symbol
    return list(found.values())


def in_other_text(
    names: Collection[str], sources: Iterable[bytes], evaluator: Evaluator
) -> set[str]:
    """Those of `names` that the sources write more often than they define them: in strings or
    comments.
    """
    wanted = {name.encode(): name for name in names}
    times: Counter[str] = Counter()
    for source in sources:
        words = _WORD.findall(source)
        times.update(wanted[word] for word in words if word in wanted)
    return {name for name, number in times.items() if number > len(evaluator.program.named(name))}


def _is_called_unnamed(name: str) -> bool:
    return name in ENTRY_NAMES or name.startswith(LANGUAGE_PREFIX)


def _passed_on(file: File) -> frozenset[int]:
    """The definitions that are passed to a call where they stand: by decorators, annotations, and
    as arguments.
    """
    calls = (call for scope in file.scopes if scope is not None for call in scope.calls)
    arguments = (argument for call in calls for argument in call[2])
    return frozenset(argument[1] for argument in arguments if is_tagged(argument, DEFINED))


def _is_held(file: File, position: int, passed_on: Collection[int], evaluator: Evaluator) -> bool:
    """True if something that does not write the name has got hold of the definition."""
    scope = file.scopes[position]
    if scope is not None and scope.decorated is not None:
        return True
    if position in passed_on:
        return True
    if any(_is_annotated(file, member, passed_on) for member in file.children[position]):
        return True
    name = file.definitions[position].name
    if name in called_by_language(file) or (
        file.definitions[position].parent == 0 and _is_exported(file, name)
    ):
        return True
    owner = file.owner_class(position)
    return _fits_outside(file, position, evaluator) or (
        owner >= 0 and has_base_outside(file, owner, evaluator)
    )


def _is_annotated(file: File, position: int, passed_on: Collection[int]) -> bool:
    """True if an annotation, which is no decorator, has its framework call a member of a class."""
    scope = file.scopes[position]
    is_decorated = scope is not None and scope.decorated is not None
    is_member = file.owner_class(position) >= 0
    return is_member and position in passed_on and not is_decorated


def _fits_outside(file: File, position: int, evaluator: Evaluator) -> bool:
    """True if a method is one of those by which its class fits an interface of the standard
    library.
    """
    name, members = file.definitions[position].name, evaluator.members
    interfaces = [methods for methods in file.facts.outside_interfaces if name in methods]
    target = members.owner_of_method(file, position) if interfaces else None
    if target is None:
        return False
    return any(
        all(members.declared(target, method) for method in methods) for methods in interfaces
    )


def called_by_language(file: File) -> set[str]:
    """The methods that the language itself calls."""
    facts = file.facts
    return {
        *facts.constructors,
        facts.subclass_method,
        facts.missing_method,
        facts.call_method,
        facts.enter_method,
        *facts.iterate_methods,
        facts.next_method,
        facts.await_method,
        *facts.async_methods.values(),
    }


def _is_exported(file: File, name: str) -> bool:
    listed = file.names(0).get(file.facts.star_exports, ()) if file.facts.star_exports else ()
    return any(
        type(expression) is tuple and expression[0] == SEQUENCE and (CONST, name) in expression[1]
        for _, expression in listed
    )


def has_base_outside(file: File, owner: int, evaluator: Evaluator) -> bool:
    """True if a class inherits from one that is not in the repository, at any distance."""
    pending, seen = [(file, owner)], set()
    while pending:
        home, position = pending.pop()
        if (home.id, position) in seen:
            continue
        seen.add((home.id, position))
        scope = home.scopes[position]
        for base in scope.bases if scope is not None else ():
            values = evaluator.values(home, home.definitions[position].parent, base)
            ours = [value for value in values if value[0] == CLASS]
            if not ours or len(ours) < len(values):
                return True
            pending += [(evaluator.program.file(value[1]), value[2]) for value in ours]
    return False
