"""Definitions that nothing uses: nobody in the repository writes their names.

A name that somebody writes may still mean another definition, so what is found is dead as far as
names can tell, and there may be more. What is called without being named is left out: what a
decorator or an annotation of a framework has taken hold of, classes with such methods, what
overrides a member of a base from outside, what the language, its runtime, a linker or a test runner
calls, tests, what a module exports, and what the call graph has callers of: names may be put
together when the program runs. So is what has no name to be used by, and a class of which something
is used.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable
from fnmatch import fnmatchcase
from functools import lru_cache

from tersely.code.graph.callgraph import CallGraph
from tersely.code.graph.pointsto.evaluate import Evaluator
from tersely.code.graph.pointsto.values import (
    ClassObject,
    only,
)
from tersely.code.graph.program.file import File
from tersely.code.nodes import ConstantValue, DefinedHere, ListLiteral
from tersely.code.symbols import CALLABLE_KINDS, CLASS_KINDS, VALUE_KINDS, Kind, Symbol

ENTRY_NAMES = frozenset({"main", "Main"})  # what runs a program calls it
QUOTES = "\"'"  # around the name of a namespace that declares what is in a module
LANGUAGE_PREFIX = "__"  # what several languages put before the names that they themselves call

MAX_OWN_MEMBERS = 100  # of a class or namespace that are looked at for users
MAX_ASKED = 300  # symbols that nobody names and whose callers are looked for
ASKED_LIMIT = f"of {MAX_ASKED} symbols that nobody names it was looked whether calls reach them"

_WORD = re.compile(rb"[\w\x80-\xff]+")
_CANDIDATES = (CALLABLE_KINDS | CLASS_KINDS) - {Kind.LAMBDA}


def dead(
    symbols: Iterable[Symbol], graph: CallGraph, source: Callable[[str], bytes]
) -> list[Symbol]:
    """Those of `symbols` that nothing uses, in their order; of a dead class only the class itself.

    `symbols` are those whose names no file mentions, by file; `source` gives the text of a path.
    """
    evaluator, asked = graph.evaluator, 0
    program, passed_on = evaluator.program, lru_cache(maxsize=1)(_passed_on)
    found: dict[str, Symbol] = {}
    for symbol in symbols:
        file = program.file(program.by_path[symbol.path])
        if (
            symbol.kind not in _CANDIDATES
            or symbol.parent in found
            or _is_called_unnamed(file, symbol.name)
            or _is_marked(file, symbol, source)
        ):
            continue
        position = file.by_qualname[symbol.qualname]
        if _is_held(file, position, passed_on(file), evaluator):
            continue
        asked += 1
        if asked > MAX_ASKED:
            evaluator.program.notes.add(ASKED_LIMIT)
        elif graph.callers(symbol.id, guesses=False) or _is_used_inside(file, position, graph):
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


def _is_found_by_base(file: File, position: int, evaluator: Evaluator) -> bool:
    """True if a framework finds a class by what it inherits from."""
    patterns = file.semantics.found_bases.split()
    is_class = bool(patterns) and file.kind(position) in CLASS_KINDS
    target = evaluator.bodies.class_of(file, position) if is_class else None
    base = evaluator.inheritance.outer_base(target) if target is not None else ""
    return any(fnmatchcase(base, pattern) for pattern in patterns)


def _is_called_unnamed(file: File, name: str) -> bool:
    """True if nobody need write a name to reach what has it, or has none to write."""
    semantics = file.semantics
    is_written = name[:1] != "<" and any(part.isalnum() or part == "_" for part in name)
    is_anonymous = not is_written or name in (semantics.companion, semantics.default_export)
    is_entry = name in ENTRY_NAMES or name.startswith(LANGUAGE_PREFIX)
    loaded = any(name in one and one <= file.names(0).keys() for one in semantics.loaded_modules)
    by_runtime = any(fnmatchcase(name, pattern) for pattern in semantics.called_by_runtime.split())
    return is_anonymous or is_entry or loaded or by_runtime


def _is_marked(file: File, symbol: Symbol, source: Callable[[str], bytes]) -> bool:
    """True if the header of a definition says that others than code reach it."""
    marks = file.semantics.reaching_marks
    begin = symbol.doc_start_byte or symbol.start_byte
    header = (
        source(symbol.path)[begin : symbol.signature_end_byte].decode("utf-8", "replace")
        if marks
        else ""
    )
    return any(mark in header for mark in marks)


def _is_used_inside(file: File, owner: int, graph: CallGraph) -> bool:
    """True if something of a class or namespace is used by what is not in it."""
    program = graph.evaluator.program
    own = program.symbol_id(file.id, owner)
    for child in file.children.get(owner, ())[:MAX_OWN_MEMBERS]:
        kind, name = file.kind(child), file.name(child)
        if kind in VALUE_KINDS:
            places = program.named(name)
            is_only_here = all(
                at == file.id and file.is_inside(where, owner) for at, where in places
            )
            if is_only_here and program.mentioning(name, file):
                return True
        elif kind in CALLABLE_KINDS:
            callers = graph.callers(program.symbol_id(file.id, child), guesses=False)
            is_reached = name in ENTRY_NAMES
            if is_reached or any(not f"{edge.caller}.".startswith(f"{own}.") for edge in callers):
                return True
        elif _is_used_inside(file, child, graph):
            return True
    return False


def _passed_on(file: File) -> frozenset[int]:
    """The definitions that are passed to a call where they stand: by decorators, annotations, and
    as arguments.
    """
    calls = (call for _, scope in file.bodies for call in scope.calls)
    arguments = (argument for call in calls for argument in call.arguments)
    return frozenset(
        argument.definition for argument in arguments if isinstance(argument, DefinedHere)
    )


def _is_held(file: File, position: int, passed_on: Collection[int], evaluator: Evaluator) -> bool:
    """True if something that does not write the name has got hold of the definition."""
    scope = file.body(position)
    if scope is not None and scope.decorated is not None:
        return True
    if position in passed_on or _is_found_by_base(file, position, evaluator):
        return True
    if any(_is_annotated(file, member, passed_on) for member in file.children[position]):
        return True
    name = file.name(position)
    if name in called_by_language(file) or (
        file.parent(position) == 0 and _is_exported(file, name, evaluator)
    ):
        return True
    owner = file.owner_class(position)
    around = file.name(owner) if owner >= 0 else ""
    is_constructor = name == around
    if around and (
        is_constructor or around == file.semantics.global_namespace or around[:1] in QUOTES
    ):
        return True
    return _fits_outside(file, position, evaluator) or (
        owner >= 0 and has_base_outside(file, owner, evaluator)
    )


def _is_annotated(file: File, position: int, passed_on: Collection[int]) -> bool:
    """True if an annotation, which is no decorator, has its framework call a member of a class."""
    scope = file.body(position)
    is_decorated = scope is not None and scope.decorated is not None
    is_member = file.owner_class(position) >= 0
    return is_member and position in passed_on and not is_decorated


def _fits_outside(file: File, position: int, evaluator: Evaluator) -> bool:
    """True if a method is one of those by which its class fits an interface of the standard
    library.
    """
    name = file.name(position)
    interfaces = [methods for methods in file.semantics.outside_interfaces if name in methods]
    target = evaluator.bodies.owner_of_method(file, position) if interfaces else None
    if target is None:
        return False
    return any(
        all(evaluator.class_members.declared(target, method) for method in methods)
        for methods in interfaces
    )


def called_by_language(file: File) -> set[str]:
    """The methods that the language itself calls."""
    semantics = file.semantics
    return {
        *semantics.constructors,
        semantics.subclass_method,
        semantics.missing_method,
        semantics.call_method,
        semantics.enter_method,
        *semantics.iterate_methods,
        semantics.next_method,
        semantics.await_method,
        *semantics.async_methods.values(),
    }


def _is_exported(file: File, name: str, evaluator: Evaluator) -> bool:
    """True if a module says that it exports a name: in a list, or as the one thing that importers
    give a name of their own.
    """
    semantics = file.semantics
    if any(value == name for _, value in file.bindings(0, semantics.default_export)):
        return bool(evaluator.aliases.importers(file.id) - {file.id})
    return any(
        isinstance(value, ListLiteral) and ConstantValue(name) in value.elements
        for _, value in file.bindings(0, semantics.star_exports)
    )


def has_base_outside(file: File, owner: int, evaluator: Evaluator) -> bool:
    """True if a class inherits from one that is not in the repository, at any distance."""
    pending, seen = [(file, owner)], set()
    while pending:
        home, position = pending.pop()
        if (home.id, position) in seen:
            continue
        seen.add((home.id, position))
        scope = home.body(position)
        for base in scope.bases if scope is not None else ():
            values = evaluator.values(home, home.parent(position), base)
            ours = list(only(values, ClassObject))
            if not ours or len(ours) < len(values):
                return True
            pending += [(evaluator.program.home(value), value.position) for value in ours]
    return False
