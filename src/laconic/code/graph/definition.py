"""What a name at a position means: where it is defined, in this file or another."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from laconic.code.expressions import CALL, DEFINED, IMPORTED, MEMBER, VERSION_MARK, Expression
from laconic.code.graph.callgraph import CallGraph
from laconic.code.graph.program import File
from laconic.code.graph.values import CLASS, FUNCTION, INSTANCE, MODULE, PARENT, Value
from laconic.code.symbols import CLASS_KINDS
from laconic.code.syntax.trace import Trace, trace

MAX_IMPORT_HOPS = 12  # re-exports that a name is followed through


class Place(NamedTuple):
    """Where something is defined. `symbol` is its id, empty for local names."""

    path: str
    line: int
    symbol: str


class Definitions:
    """Definitions of names; `source_of` gives the text of a file."""

    def __init__(self, graph: CallGraph, source_of: Callable[[str], bytes]) -> None:
        self._graph = graph
        self._evaluator = graph.evaluator
        self._program = graph.program
        self._source_of = source_of
        self._traces: dict[int, Trace] = {}

    def at(self, path: str, line: int, column: int) -> list[Place]:
        """Where the name at a position is defined, nearest first; line from 1, column from 0."""
        file = self._program.file(self._program.by_path[path])
        walk = trace(self._source_of(path), file.language, line, column)
        self._traces[file.id] = walk
        if walk.hit is not None:
            found = self._of_expression(file, *walk.hit)
            if found:
                return found
        if not walk.token:
            return []
        scope = self._scope_at(file, walk.offset)
        found = self._of_name(file, scope, walk.token, 0)
        if not found and any(item.module == walk.token for item in walk.imports):
            found = self._of_module(file, walk.token)
        return found

    def _of_expression(self, file: File, scope: int, expression: Expression) -> list[Place]:
        if type(expression) is str:
            return self._of_name(file, scope, expression, 0) or self._of_values(file, scope, expression)
        if type(expression) is tuple and expression[0] == MEMBER:
            found: dict[Place, None] = {}
            for value in sorted(self._evaluator.values(file, scope, expression[1]), key=repr):
                for place in self._of_member(value, expression[2]):
                    found[place] = None
            return list(found) or self._of_values(file, scope, expression) or self._assigned_here(file, expression[2])
        return []

    def _assigned_here(self, file: File, name: str) -> list[Place]:
        """Where the file itself assigns a member of that name, when nothing is known of the object."""
        stores = file.member_stores().get(name, ())
        lines = [line for store in stores for line in self._lines(file, store.scope, name)]
        return [Place(file.path, line, "") for line in dict.fromkeys(lines)]

    def _import_places(self, file: File, name: str) -> list[Place]:
        """The lines on which a file imports a name."""
        lines = dict.fromkeys(item.line for item in self._trace(file).imports if item.alias == name)
        return [Place(file.path, line, "") for line in lines]

    def _of_name(self, file: File, scope: int, name: str, hops: int) -> list[Place]:
        """Follow a name to its bindings: the scope that binds it, then through imports."""
        name = name.partition(VERSION_MARK)[0]
        position = scope
        while position >= 0:
            visible = file.definitions[position][0] not in CLASS_KINDS or position == scope
            if name in file.names(position) and (visible or file.facts.class_scope_visible):
                return self._of_bindings(file, position, name, hops)
            position = file.definitions[position][3]
        return self._of_top_level(file, name, hops)

    def _of_bindings(self, file: File, owner: int, name: str, hops: int) -> list[Place]:
        found: dict[Place, None] = {}
        plain = False
        for _, entry in file.all_bindings(owner, name):
            definition = _definition_of(entry)
            if definition >= 0:
                found[self._place(file, definition)] = None
            elif type(entry) is tuple and entry[0] == IMPORTED:
                followed = self._of_import(file, entry[1], entry[2], hops + 1) if hops < MAX_IMPORT_HOPS else []
                for place in (*followed, *self._import_places(file, name)):
                    found[place] = None
            else:
                plain = True
        if plain:
            for line in self._lines(file, owner, name):
                found[self._bound_place(file, owner, name, line)] = None
        return list(found)

    def _of_import(self, file: File, module: str, name: str, hops: int) -> list[Place]:
        targets = self._program.modules(file, module)
        if not name:
            return [self._place(self._program.file(target), 0) for target in targets[:1]]
        for target in targets:
            other = self._program.file(target)
            if name in other.names(0):
                return self._of_bindings(other, 0, name, hops)
            found = self._of_top_level(other, name, hops)
            if found:
                return found
        submodule = self._program.modules(file, f"{module}{'' if module.endswith('.') else '.'}{name}")
        return [self._place(self._program.file(target), 0) for target in submodule[:1]]

    def _of_top_level(self, file: File, name: str, hops: int) -> list[Place]:
        if hops < MAX_IMPORT_HOPS:
            for module in file.stars:
                for target in self._program.modules(file, module):
                    other = self._program.file(target)
                    if target != file.id and name in other.names(0):
                        return self._of_bindings(other, 0, name, hops + 1)
        return self._of_values(file, 0, name)

    def _of_values(self, file: File, scope: int, expression: Expression) -> list[Place]:
        """What an expression evaluates to, where that is a definition."""
        values = sorted(self._evaluator.values(file, scope, expression), key=repr)
        return [self._place(self._program.file(v[1]), v[2]) for v in values if v[0] in (FUNCTION, CLASS)]

    def _of_member(self, value: Value, name: str) -> list[Place]:
        if value[0] == MODULE:
            other = self._program.file(value[1])
            bound = name in other.names(0)
            return self._of_bindings(other, 0, name, 0) if bound else self._of_top_level(other, name, 0)
        if value[0] not in (INSTANCE, CLASS, PARENT):
            return []
        owners = self._evaluator.members.linearised((CLASS, value[1], value[2]))
        for owner in owners[1:] if value[0] == PARENT else owners:
            file = self._program.file(owner[1])
            for body, position in [(file, owner[2]), *self._evaluator.members.extensions(owner)]:
                if name in body.names(position):
                    return self._of_bindings(body, position, name, 0)
                stores = body.receiver_stores(position).get(name, ())
                lines = [line for scope, _ in stores for line in self._lines(body, scope, name)]
                if lines:
                    return [Place(body.path, line, "") for line in dict.fromkeys(lines)]
        return []

    def _of_module(self, file: File, text: str) -> list[Place]:
        return [self._place(self._program.file(target), 0) for target in self._program.modules(file, text)[:1]]

    def _lines(self, file: File, owner: int, name: str) -> list[int]:
        """Lines inside a scope on which a name is bound."""
        inside = file.definitions[owner]
        return [
            line
            for offset, line in self._trace(file).bound.get(name, ())
            if inside[7] <= offset < inside[8] or not owner
        ]

    def _bound_place(self, file: File, owner: int, name: str, line: int) -> Place:
        """A line that binds a name, with the symbol that the name is at module and class level."""
        for position in file.children.get(owner, ()):
            definition = file.definitions[position]
            if definition[1] == name and file.scopes[position] is None and definition[6] == line:
                return self._place(file, position)
        return Place(file.path, line, "")

    def _trace(self, file: File) -> Trace:
        walk = self._traces.get(file.id)
        if walk is None:
            walk = self._traces[file.id] = trace(self._source_of(file.path), file.language)
        return walk

    def _place(self, file: File, position: int) -> Place:
        return Place(file.path, file.definitions[position][6], self._program.symbol_id(file.id, position))

    def _scope_at(self, file: File, offset: int) -> int:
        """The innermost scope around an offset."""
        best = 0
        for position, definition in enumerate(file.definitions):
            if file.scopes[position] is not None and definition[7] <= offset < definition[8]:
                best = position
        return best


def _definition_of(entry: Expression) -> int:
    """The definition that a binding stands for, decorators aside; -1 for none."""
    while type(entry) is tuple and entry[0] == CALL and len(entry[2]) == 1:
        entry = entry[2][0]
    return entry[1] if type(entry) is tuple and entry[0] == DEFINED else -1
