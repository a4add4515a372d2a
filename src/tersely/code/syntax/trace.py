"""Where names get the meanings that they have somewhere: bindings, the spans in which they are
visible, and the tokens at some offsets.

The span of a binding follows from the tree: to the end of the innermost block, function or class
around it.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

from tersely.code.expressions import (
    DETACHED,
    EXTENSION,
    Expression,
)
from tersely.code.languages import model
from tersely.code.languages.children import field
from tersely.code.languages.model import Language
from tersely.code.languages.nodes import OptionalNode, line_of
from tersely.code.symbols import CLASS_KINDS, Import, Kind
from tersely.code.syntax.drafts import SCOPE_OWNERS
from tersely.code.syntax.extract import tools_for, trees
from tersely.code.syntax.isolation import Spared, isolated_walk
from tersely.code.syntax.names_alone import is_type
from tersely.code.syntax.nodes.uses import Use, use_in_header
from tersely.code.syntax.recording import Key, Note, Recording
from tersely.code.syntax.rule_compiler.compilers import ENDING_RULES
from tersely.code.syntax.rule_compiler.statements import LABEL_MARK

if TYPE_CHECKING:
    from tree_sitter import Node

PATTERN_RULES = (
    type(None),
    model.Sequence,
    model.Dictionary,
    model.Pair,
    model.Spread,
    model.Inner,
    model.Parameter,
)


class Binding(NamedTuple):
    """A name gets a meaning on `line`; it is seen in the bytes from `start` to `end`."""

    line: int
    offset: int
    start: int
    end: int
    owner: int  # the definition whose scope has the name
    # there at any time: a name of the whole body of a module or class, not of a block in it
    shared: bool
    definition: int  # the definition that the name means, -1 if none
    declares: bool  # false for an assignment to a variable that may be declared elsewhere
    version: str
    imported: Import | None
    everywhere: bool  # also in the methods of a class that has it: a type parameter
    at: Node  # where the name stands


class Token(NamedTuple):
    """The token at one of the offsets: a name, or a token without one."""

    offset: int  # where it begins
    name: str
    path: str = ""  # the name with those before it in a path
    version: str = ""  # of the name, where straight-line code binds it again
    # scope and expression, where it is the name of a member
    member: tuple[int, Expression] | None = None
    key: Key | None = None  # where it is the key of a mapping that is written down
    # whether the name of the member or key is a variable too: `{name}`
    is_variable: bool = False


class LastSpans:
    """Spans of offsets by their numbers, to find the highest number whose span has an offset. A
    span is its beginning and the offset behind its end.
    """

    def __init__(self, spans: Mapping[int, tuple[int, int]]) -> None:
        self._borders = sorted({border for span in spans.values() for border in span})
        self._last = [0] * len(self._borders)  # from each border to the next
        for number in sorted(spans):
            start, end = (bisect_left(self._borders, border) for border in spans[number])
            self._last[start:end] = [number] * (end - start)

    def at(self, offset: int) -> int:
        """The highest number whose span has the offset, 0 if none has."""
        border = bisect_right(self._borders, offset) - 1
        return self._last[border] if border >= 0 else 0


class Trace(Recording):
    """What a walk that remembers places tells of names and tokens."""

    def lookup(self, token: Token) -> list[Binding]:
        """The bindings of a name at its place: those of the innermost block that has any in scope."""
        every = self.bindings(token.name)
        here = [each for each in every if self._is_declared_at(each, token.offset)]
        if here:
            return here
        seen = self._in_innermost_block(every, token)
        is_of_block = bool(self.language.blocks and seen) and not seen[0].shared
        if is_of_block and seen[0].declares:
            last = max(seen, key=lambda each: (each.offset <= token.offset, each.offset))
            defining = [each for each in seen if each.definition >= 0]
            return defining if last.definition >= 0 else [last]
        return seen

    def _is_declared_at(self, binding: Binding, offset: int) -> bool:
        """True if an offset is in the name that a binding declares."""
        is_own = binding.declares and binding.imported is None
        return is_own and binding.at.start_byte <= offset < binding.at.end_byte

    def _in_innermost_block(self, every: list[Binding], token: Token) -> list[Binding]:
        """The bindings that a token may have its meaning by, of the innermost block with any."""
        offset = token.offset
        seen = [each for each in every if self._is_in_sight(each, offset)]
        seen = [each for each in seen if each.declares] or seen
        if self.language.blocks and not token.name.startswith(LABEL_MARK):
            seen = self._bound_before(seen, offset)
        innermost = max((each.start for each in seen), default=0)
        seen = [each for each in seen if each.start == innermost]
        meant = [
            each for each in seen if each.version in self._variables(token.version, each.owner)
        ]
        return meant or seen

    def _bound_before(self, seen: list[Binding], offset: int) -> list[Binding]:
        """The bindings that are there when the code at an offset runs."""
        before = [each for each in seen if self._precedes(each, offset)]
        if self.language.hoists:
            return before or seen
        return [each for each in before if not self._is_being_bound(each, offset)] or before

    def _variables(self, version: str, owner: int) -> set[str]:
        """The variables that a name may be that is read as one of them."""
        found, pending = {version}, [version]
        while pending:
            further = set(self._met.get((owner, pending.pop()), ())) - found
            found |= further
            pending.extend(further)
        return found

    def bindings(self, name: str) -> list[Binding]:
        """Every binding of a name in the file."""
        return [
            self._binding(note)
            for note in self._notes.get(name, ())
            if self._is_lexical(note.definition)
        ]

    def is_in_import(self, offset: int) -> bool:
        """True if an offset is inside a statement that imports."""
        return any(start <= offset < end for start, end in self._importing)

    def innermost(self, offset: int) -> int:
        """The innermost definition with a scope that contains an offset."""
        return self._innermost.at(offset)

    @cached_property
    def _innermost(self) -> LastSpans:
        """The definitions with a scope, to be looked up by offset once the walk is over."""
        return LastSpans(
            {
                position: (row.start_byte, row.end_byte)
                for position, row in enumerate(self.definitions)
                if self.drafts[position] is not None
            }
        )

    def token(self, offset: int) -> Token:
        """The name at an offset, from the tree, and the member that it is, from the walk."""
        leaf, key = self._leaf(offset), self._keys.get(offset)
        member = self._taken.get(offset) or self._members.get(offset)
        if leaf is None or leaf.child_count:
            return Token(offset, "", member=member, key=key)
        if leaf.parent is not None and type(self.rule(leaf.parent)) is model.Name:
            # of several tokens: `$name`
            leaf = leaf.parent
        name, start = self.text(leaf), leaf.start_byte
        if leaf.parent is not None and leaf.parent.type.startswith(("dotted", "scoped")):
            start = leaf.parent.start_byte
        path = self.source[start : leaf.end_byte].decode("utf-8", "replace")
        name = LABEL_MARK + name if self._is_label(leaf) else name
        is_named_apart = key is not None or offset in self._taken
        is_variable = is_named_apart and type(self.rule(leaf)) is model.Name
        return Token(
            leaf.start_byte, name, path, self._versions.get(offset, ""), member, key, is_variable
        )

    def is_text(self, token: Token) -> bool:
        """True if a token is a part of a text that is no type."""
        leaf = self._leaf(token.offset)
        around = leaf.parent if leaf is not None else None
        return around is not None and type(self.rule(around)) is model.Text and not is_type(around)

    def _leaf(self, offset: int) -> OptionalNode:
        return (
            self._root.descendant_for_byte_range(offset, offset + 1)
            if self._root is not None
            else None
        )

    def use(self, token: Token) -> Use:
        """The use that a name is written for."""
        if self.is_in_import(token.offset):
            return Use.IMPORT
        leaf = self._leaf(token.offset)
        end = token.offset + len(token.name.encode())
        if token.key is not None:
            return Use.WRITE
        if token.offset in self._written or (token.member is not None and end in self._written):
            return Use.WRITE
        if end in self._called:
            return Use.CALL
        return (use_in_header(leaf, self.rules) if leaf is not None else None) or Use.READ

    def _is_label(self, leaf: Node) -> bool:
        """True if a leaf names a label, at its place or in a jump."""
        rule: Any = self.rule(leaf.parent) if leaf.parent is not None else None
        if leaf.parent is None or type(rule) not in (model.Label, model.Jump):
            return False
        label = field(rule.name if type(rule) is model.Label else rule.label)(leaf.parent)
        return label is not None and label.start_byte == leaf.start_byte

    def _binding(self, note: Note) -> Binding:
        node = note.node
        if note.definition >= 0:
            line = self.definitions[note.definition].name_line
        else:
            line = note.imported.line if note.imported is not None else line_of(node)
        start, end, owner, in_block = self._reach(note)
        shared = not in_block and self._is_shared(owner)
        at = note.at or node
        return Binding(
            line, at.start_byte, start, end, owner, shared, note.definition, note.declares, note.version, note.imported,
            note.everywhere, at,
        )  # fmt: skip

    def _reach(self, note: Note) -> tuple[int, int, int, bool]:
        """The bytes in which a binding is seen, the definition whose scope it is of, and whether a
        block ends it.
        """
        outlives = not note.declares or (
            self.language.outlives is not None and self.language.outlives(note.node)
        )
        span: tuple[int, int] | None = None
        is_left = note.outer == 0  # still inside the function that the name is not of
        parent = self.definitions[note.definition].parent if note.definition > 0 else 0
        if parent and self._opened.get(note.node.id, parent) not in (note.definition, parent):
            return note.node.start_byte, note.node.end_byte, parent, False
        around = note.node.parent if note.outer < 1 else None
        while around is not None:
            opened, whole = self._opened.get(around.id, -1), (around.start_byte, around.end_byte)
            if opened >= 0 and opened != note.definition:
                if not is_left:
                    return (*(span or whole), opened, span is not None)
                is_left = False
            elif opened < 0 and not (outlives or is_left or span):
                span = whole if self._ends_names(around, note.node) else None
            around = around.parent
        return (*(span or (0, len(self.source) + 1)), 0, span is not None)

    def _ends_names(self, node: Node, name: Node) -> bool:
        """True if a node ends the names inside, its own name aside."""
        rule = self.rule(node)
        if (
            type(rule) in (model.Function, model.Class)
            and name.parent is not None
            and name.parent.id == node.id
        ):
            return field(rule.name)(node) != name
        return node.type in self.language.blocks or type(rule) in ENDING_RULES

    def _is_lexical(self, definition: int) -> bool:
        """True if a definition is reached by its bare name from its place."""
        draft = self.drafts[definition] if definition >= 0 else None
        if draft is None:
            return definition < 0
        parent = self.definitions[definition].parent
        return not draft.flags & (EXTENSION | DETACHED) and not (
            draft.receiver_type is not None and not parent
        )

    def _is_shared(self, owner: int) -> bool:
        """True if names of a definition's scope are there at any time: those of modules and
        classes.
        """
        kind = self.definitions[owner].kind
        return kind is Kind.MODULE or kind in SCOPE_OWNERS

    def _precedes(self, binding: Binding, offset: int) -> bool:
        """True if a binding is there when the code at an offset runs."""
        return (
            self._is_lasting(binding)
            or binding.offset <= offset
            or self.innermost(offset) != binding.owner
        )

    def _is_lasting(self, binding: Binding) -> bool:
        """True if a binding is there at any time."""
        return binding.definition >= 0 or binding.imported is not None or binding.shared

    def _is_being_bound(self, binding: Binding, offset: int) -> bool:
        """True if an offset is in the very statement that binds a local name, where the name has
        its earlier meaning.
        """
        if self._is_lasting(binding):
            return False
        around = binding.at.parent
        while around is not None and type(self.rule(around)) in PATTERN_RULES:
            around = around.parent
        if around is None or around.id in self._opened or self._ends_names(around, binding.at):
            return False
        return binding.at.end_byte <= offset < around.end_byte

    def _is_in_sight(self, binding: Binding, offset: int) -> bool:
        """True if a binding is seen at an offset. Members of classes are seen by their bare names in
        the body itself, in methods only in some languages.
        """
        if not binding.start <= offset < binding.end:
            return False
        is_member = self.definitions[binding.owner].kind in CLASS_KINDS
        if not is_member or binding.owner == self.innermost(offset):
            return True
        return self.resolution.implicit_receiver or binding.everywhere


def offset_of(source: bytes, line: int, column: int) -> int:
    """The byte at a place; lines count from 1, columns from 0 in characters. -1 where there is no
    such line.
    """
    rows = source.split(b"\n")
    if not 1 <= line <= len(rows):
        return -1
    before = rows[line - 1].decode("utf-8", "replace")[:column].encode("utf-8", "replace")
    return sum(len(row) + 1 for row in rows[: line - 1]) + len(before)


def trace(source: bytes, language: Language, offsets: Sequence[int] = ()) -> Trace:
    """The walk of a file that remembers places, and the tokens at some offsets, which are
    ascending.
    """
    parser, handlers, rules = tools_for(language)
    root = trees(parser, source, language)[-1].root_node

    def trace_tree(spared: Spared) -> Trace:
        walk = Trace(source, language, spared.handlers(handlers), rules, offsets)
        walk.run(root)
        return walk

    return isolated_walk(root, trace_tree)[0]
