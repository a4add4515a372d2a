"""The variables of a walk: what names are bound to, in scopes and in blocks.

Straight-line code that binds a name again makes another variable, and so do blocks.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from tersely.code.expressions import (
    BLOCK_MARK,
    DECLARED,
    MEMBER,
    TYPED,
    VERSION_MARK,
    Expression,
    either,
)
from tersely.code.languages.nodes import OptionalNode, named_parts
from tersely.code.symbols import Kind
from tersely.code.syntax.drafts import SCOPE_OWNERS
from tersely.code.syntax.scopes import Scopes
from tersely.foundation.types import Strings

if TYPE_CHECKING:
    from tree_sitter import Node


class Variables(Scopes):
    """The variables that names mean where a walk is."""

    def note_binding(self, name: str, node: Node) -> None:
        """Called where a name is bound; walks that record places override this and the next four."""

    def note_member_store(self, name: str, node: Node) -> None:
        """Called where a member is assigned."""

    def note_key(self, serial: int, key: Expression, node: Node) -> None:
        """Called where the list or mapping with that serial has an entry."""

    def note_pattern_member(self, member: Expression, node: Node) -> None:
        """Called where a pattern takes a member, which `node` names, out of the matched value."""

    def note_join(self, name: str, variables: Strings) -> None:
        """Called where bodies meet that bound a name as different variables: it is now either."""

    def store(self, target: Expression, value: Expression) -> None:
        """Record that a variable, member or item of the current scope holds a value."""
        self.scope.binds.append((target, value))

    def with_type(self, value: Expression, annotation: Expression) -> Expression:
        """A value that is declared to be of a type."""
        if type(annotation) is str and annotation in self.resolution.inferred_types:
            return value
        if annotation is None:
            return value
        if value is None or not self.resolution.virtual:
            return either(value, (TYPED, annotation))
        return (DECLARED, value, annotation)

    def parameter_name(self, node: OptionalNode, position: int) -> str:
        """The name of a parameter, which may have none."""
        if node is None:
            return f"#{position}"
        self.note_binding(self.text(node), node)
        return self.text(node)

    def bind_node(self, name: Node, value: Expression) -> None:
        """Bind the name that a node is, as `bind_name` does."""
        self.bind_name(self.text(name), value, name)

    def bind_name(self, name: str, value: Expression, node: OptionalNode = None) -> None:
        """Bind a name of the current scope; with `rebinds` it is a new variable from here on.

        `node` is the node of the name.
        """
        scope = self.scope
        scope.stored.clear()
        in_block = self.block is not None or self.in_blocks
        if in_block and (variable := self._block_variable(name, node)) is not None:
            self._bind_variable(variable, value)
            if node is not None:
                self.note_binding(name, node)
            return
        (scope.outward if self.outward else scope.declared).add(name)
        mine = not self.outward or name in scope.declared
        # read before: then it was that of a scope around
        met = name in scope.bound or name in scope.read
        if self.rebinds and mine and met and not any(outer == name for outer, _ in scope.outer):
            scope.versions[name] = scope.versions_made[name] = scope.versions_made.get(name, 1) + 1
        if self.rebinds and mine:
            scope.bound.add(name)  # no longer the variable of a block around this function
        scope.binds.append((self.current_variable(name), value))
        scope.bound.add(name)
        if node is not None:
            self.note_binding(name, node)

    def bind_anew(self, name: str, value: Expression, node: OptionalNode = None) -> None:
        """Bind a name, which is a new variable from here on unless it is one of a module."""
        self.rebinds = self.scope.kind is not Kind.MODULE
        self.bind_name(name, value, node)
        self.rebinds = False

    def update(self, name: str, value: Expression, *, straight: bool) -> Expression:
        """Assign to a variable that is declared elsewhere: a local one, else a member of the
        receiver.
        """
        variable = self.visible_block_variable(name) if self.in_blocks else None
        if variable is not None:
            self._bind_variable(variable, value)
            return value
        if name in self.scope.bound:
            value = self.with_type(value, self.scope.types.get(name))
            self.rebinds = straight
            self.bind_name(name, value)
            self.rebinds = False
            return value
        outer = self.scope
        while outer.definition > 0 and outer.kind not in SCOPE_OWNERS:
            if name in outer.bound:
                outer.binds.append((name, None))
                self.scope.outer.append((name, 0))
                self.scope.binds.append((name, self.with_type(value, outer.types.get(name))))
                return value
            parent = self.drafts[self.definitions[outer.definition].parent]
            if parent is None:
                break
            outer = parent
        receiver = next(iter(sorted(self.resolution.receiver_names)), "")
        is_member = receiver and outer is not self.scope and outer.kind in SCOPE_OWNERS
        self.scope.binds.append(((MEMBER, receiver, name) if is_member else name, value))
        return value

    def current_variable(self, name: str) -> str:
        """The variable of a name at this point."""
        variable = self.visible_block_variable(name) if self.in_blocks else None
        if variable is not None:
            return variable
        version = self.scope.versions.get(name)
        return f"{name}{VERSION_MARK}{version}" if version else name

    def visible_block_variable(self, name: str) -> str | None:
        """The variable of an enclosing block with a name, None for other names."""
        variable = self.in_blocks.get(name)
        scope = self.scope
        while variable is not None and variable not in scope.block_variables:
            outer = self.drafts[max(self.definitions[scope.definition].parent, 0)]
            if (
                outer is None
                or scope.definition <= 0
                or (name in scope.bound and scope.kind not in SCOPE_OWNERS)
            ):
                return None
            scope = outer
        return variable

    def is_straight(self, node: Node) -> bool:
        """True if a statement runs whenever the body of its scope runs that far: it is in no branch
        or loop.
        """
        outer, body = node.parent, self.scope.body
        if outer is None or outer.id == body:
            return outer is not None
        around = outer.parent  # of an expression statement
        return around is not None and around.id == body and len(named_parts(outer)) == 1

    @contextmanager
    def in_block(self) -> Iterator[None]:
        """A scope of its own for names that are declared meanwhile."""
        around, versions = (self.block, self.in_blocks), dict(self.scope.versions)
        known_behind, self.known_behind = self.known_behind, []
        self.block = {}
        yield
        (self.block, self.in_blocks), self.scope.versions = around, versions
        narrowed, self.known_behind = self.known_behind, known_behind
        for name, value in narrowed:
            self.narrow(name, value)

    def announce(self, names: Iterable[str]) -> None:
        """Declare variables of the present block for functions that stand before the declarations."""
        for name in names:
            self._new_variable(name)

    def narrow(self, name: str, value: Expression) -> None:
        """Bind a name, or the path of a member, to a narrowed value in the present block: there it
        is another variable.
        """
        self.narrowed_members.add(name.rpartition(".")[2] if "." in name else "")
        self._bind_variable(self._new_variable(name), value)

    def _new_variable(self, name: str) -> str:
        variable = f"{name}{BLOCK_MARK}{self.next_serial()}"
        if self.block is not None:
            self.block[name] = variable
        self.in_blocks = {**self.in_blocks, name: variable}
        self.scope.block_variables.add(variable)
        return variable

    def _block_variable(self, name: str, node: OptionalNode) -> str | None:
        """The variable of a block to which a name is bound: a new one where it is declared in a
        block.
        """
        if not self._declares(node):
            return self.visible_block_variable(name)
        if self.block is None:
            return None
        return (self.language.hoists and self.block.get(name)) or self._new_variable(name)

    def _declares(self, node: OptionalNode) -> bool:
        """True if the present binding declares its name here, and ends with the block."""
        language = self.language
        if not language.hoists:
            return self.rebinds
        outlives = node is None or (language.outlives is not None and language.outlives(node))
        return not (self.outward or outlives)

    def _bind_variable(self, variable: str, value: Expression) -> None:
        self.scope.binds.append((variable, value))
        if variable not in self.scope.block_variables:
            self.scope.outer.append((variable, 0))
