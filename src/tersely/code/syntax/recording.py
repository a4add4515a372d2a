"""A walk that also remembers places: where names are bound, read, called and written, and which keys
and members stand at some offsets.

Nothing of this is in the facts: a file is walked so when a question needs it.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from tersely.code.expressions import CONST, ITEM, MEMBER, VERSION_MARK, Expression, is_tagged
from tersely.code.languages import model
from tersely.code.languages.children import field
from tersely.code.languages.model import Language
from tersely.code.languages.nodes import OptionalNode, last_line_of, line_of
from tersely.code.symbols import Import, Kind
from tersely.code.syntax.drafts import ScopeDraft
from tersely.code.syntax.lowering import Lowering
from tersely.foundation.types import Strings

if TYPE_CHECKING:
    from tree_sitter import Node


class Note(NamedTuple):
    """A binding as the walk met it."""

    node: Node
    definition: int
    declares: bool
    version: str
    imported: Import | None = None
    outer: int = -1  # 1 for a name of the module, 0 for one of the function around
    everywhere: bool = False
    at: OptionalNode = None  # where the name stands, if not at `node`


class Key(NamedTuple):
    """A key of the mapping with a serial, as it is written down."""

    serial: int
    name: str


class Recording(Lowering):
    """A file walked again, with places. `offsets`: the bytes, ascending, whose tokens are asked for."""

    def __init__(
        self,
        source: bytes,
        language: Language,
        handlers: list[Any],
        rules: list[Any],
        offsets: Sequence[int],
    ) -> None:
        self._offsets = offsets
        self._members: dict[int, tuple[int, Expression]] = {}  # by offset
        self._taken: dict[int, tuple[int, Expression]] = {}  # by patterns, by offset
        self._keys: dict[int, Key] = {}  # by offset
        self._versions: dict[int, str] = {}  # by offset
        self.defined: dict[int, int] = {}  # where the name of a definition stands -> the definition
        self._called: set[int] = set()  # the ends of callees
        self._written: set[int] = set()  # the starts of bound names, the ends of assigned members
        self._root: OptionalNode = None
        # lines that give a display a key
        self.keys: dict[tuple[int, Any], list[int]] = defaultdict(list)
        # (offset, line) of assigned members
        self.stores: dict[str, list[tuple[int, int]]] = defaultdict(list)
        self._notes: dict[str, list[Note]] = defaultdict(list)
        # where statements that import begin and end
        self._importing: dict[tuple[int, int], None] = {}
        self._opened: dict[int, int] = {}  # node -> the definition that it is
        # (scope, variable) -> those that it may be
        self._met: dict[tuple[int, str], Strings] = {}
        self._skipped: list[Node] = []
        self._current: OptionalNode = None
        super().__init__(source, language, handlers, rules)

    def run(self, root: Node) -> None:
        """Walk the tree, then the nodes that the language skips: a reader meets bindings and reads
        there too.
        """
        super().run(root)
        for node in self._skipped:
            self.values(node)
        self._root = root

    def note_binding(self, name: str, node: Node) -> None:
        """Remember where a name is bound."""
        if name:
            outer = dict(self.scope.outer).get(name, -1)
            everywhere = (
                self._current is not None and type(self.rule(self._current)) is model.TypeParameter
            )
            note = Note(
                node,
                -1,
                not self.outward,
                self.current_variable(name),
                outer=outer,
                everywhere=everywhere,
            )
            self._notes[name].append(note)
            self._written.add(node.start_byte)

    def note_member_store(self, name: str, node: Node) -> None:
        """Remember where a member is assigned."""
        self.stores[name].append((node.start_byte, last_line_of(node)))
        self._written.add(node.end_byte)

    def note_join(self, name: str, variables: Strings) -> None:
        """Remember the variables that a variable may be."""
        self._met[self.scope.definition, name] = variables

    def fill(self, owner: Expression, name: Node, value: Expression) -> None:
        """Remember the member, which is written there."""
        super().fill(owner, name, value)
        self._written.add(name.end_byte)
        member = (MEMBER, owner, self.text(name))
        for offset in self._asked_in(name):
            self._members[offset] = (self.scope.definition, member)

    def note_key(self, serial: int, key: Expression, node: Node) -> None:
        """Remember the line of a key in a list or mapping."""
        if type(key) is tuple and len(key) > 1:
            self.keys[serial, key[1]].append(line_of(node))
            if type(key[1]) is str:
                self._keys.update(dict.fromkeys(self._asked_in(node), Key(serial, key[1])))

    def note_pattern_member(self, member: Expression, node: Node) -> None:
        """Remember where a pattern names a member."""
        self._taken.update(dict.fromkeys(self._asked_in(node), (self.scope.definition, member)))

    def add_import(self, fact: Import, node: OptionalNode = None) -> None:
        """Remember the name that an import binds."""
        super().add_import(fact)
        node = node or self._current
        if node is None:
            return
        self._importing[node.start_byte, node.end_byte] = None
        if fact.alias:
            self._notes[fact.alias].append(
                Note(node, -1, True, self.current_variable(fact.alias), fact)
            )

    def enter(self, node: Node, kind: Kind, name: str, name_node: OptionalNode, body: OptionalNode,
              prefix: str = "") -> ScopeDraft:  # fmt: skip
        """Remember the name of a definition."""
        draft = super().enter(node, kind, name, name_node, body, prefix)
        self._opened[node.id] = draft.definition
        if name_node is not None:
            self.defined[name_node.start_byte] = draft.definition
        if name_node is not None and not prefix and kind is not Kind.LAMBDA:
            self._notes[name].append(Note(node, draft.definition, True, name, at=name_node))
        return draft

    def value(self, node: OptionalNode) -> Expression:
        """Notice the member at the position."""
        if node is None:
            return None
        around, self._current = self._current, node
        if type(self.rule(node)) is model.Skip:
            self._skipped.append(node)
        result = super().value(node)
        self._notice(node, result)
        self._current = around
        return result

    def callee(self, node: OptionalNode) -> Expression:
        """Note a callee: it is a member that is not read."""
        result = super().callee(node)
        if node is None:
            return result
        self._called.add(node.end_byte)
        self._notice(node, result)
        return result

    def _notice(self, node: Node, result: Expression) -> None:
        inside = self._asked_in(node) if self._offsets else ()
        if not inside:
            return
        rule = self.rule(node)
        if type(rule) is model.Name:
            version = result if type(result) is str and VERSION_MARK in result else self.text(node)
            self._versions.update(dict.fromkeys(inside, version))
            return
        called = field(rule.callee)(node) if type(rule) is model.Call else None
        self._called.update((called.end_byte,) if called is not None else ())
        member, expression = self._named_member(node, rule, result)
        for offset in (
            self._asked_in(member) if member is not None and expression is not None else ()
        ):
            self._members.setdefault(offset, (self.scope.definition, expression))

    def _asked_in(self, node: Node) -> Sequence[int]:
        """The offsets of the trace within a node."""
        first = bisect_left(self._offsets, node.start_byte)
        return self._offsets[first : bisect_left(self._offsets, node.end_byte, first)]

    def _named_member(
        self, node: Node, rule: Any, result: Expression
    ) -> tuple[OptionalNode, Expression]:
        """The name of the member that a node reads or calls, and its expression; nothing for other
        nodes.
        """
        if type(rule) is model.Member and is_tagged(result, MEMBER):
            return field(rule.member)(node), result
        if type(rule) is model.Call and rule.receiver and field(rule.receiver)(node) is not None:
            return field(rule.callee)(node), result[1] if type(result) is tuple and len(
                result
            ) > 1 else None
        if type(rule) is model.Item and is_tagged(result, ITEM):
            is_constant = is_tagged(result[2], CONST)
            return field(rule.index)(node) if is_constant else None, result
        return None, None
