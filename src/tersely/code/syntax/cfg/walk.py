"""The state of one walk over a file, with the reads, writes and changes of an expression."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from tersely.code.languages import model
from tersely.code.languages import roles as control
from tersely.code.languages.children import field, token
from tersely.code.languages.model import Names
from tersely.code.languages.nodes import (
    OptionalNode,
    last_line_of,
    last_part,
    line_of,
    named_parts,
    parts_and_fields,
)
from tersely.code.languages.tables import SHARED, control_of, roles_of
from tersely.code.routines import OBJECT, AccessPath, CfgCall, Routine, line_count
from tersely.code.syntax.cfg.draft import MAX_PATH_NAMES, Draft
from tersely.code.syntax.cfg.paths import path_of, sources_of
from tersely.code.syntax.isolation import UnreadableNodeError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from tree_sitter import Node

    # what nodes do, by the types of their roles
    Handlers = Mapping[type, Callable[["Walk", Node, Any], None]]


# of a target: no variables
TYPE_FIELDS = frozenset({"type", "type_arguments", "size", "parameters"})
# statements with which the names end that they declare
SCOPED = (control.If, control.While, control.Each, control.Try, control.Switch)


def declaration_variable(name: str) -> str:
    """The variable for the declaration that a name is one of an enclosing routine."""
    return f"<outer {name}>"


class Postponed(NamedTuple):
    """A function that was passed by, with the state needed to read it later."""

    node: Node
    role: Any
    imported: Names
    around: Draft  # the module or class that it stands in


class Walk:
    """One walk over one file. `visitors` and `statements` give the meaning of a role, by its type.

    With `lines`, functions that have none of them, and are in no other, are passed by.
    """

    def __init__(
        self,
        source: bytes,
        language: model.Language,
        visitors: Handlers,
        statements: Handlers,
        lines: range | None,
        spared: Mapping[int, bool],
    ) -> None:
        self.source = source
        self.language = language
        self.resolution = language.resolution
        self.control = control_of(language.control or SHARED)
        self.declares = not self.control.declares_by_assignment
        self.roles = roles_of(language)
        self.visitors = visitors
        self.statements = statements
        self.spared = spared  # nodes by id that have no role here; false: nor have their children
        self.routines: list[Routine | None] = []
        self.draft = Draft("", "module", -1, 1, line_count(source), 0)
        self.discarded = -1  # the node whose value is unused
        self.imported: Names = frozenset()  # names that imports bind, here or around
        self.wanted = lines  # None in functions that are read: with all that is in them
        # functions of the module and of classes that are not read as yet, by qualified name
        self.postponed: dict[str, list[Postponed]] = {}
        self.label = ""  # the name of the loop that comes next
        # the variable that takes the value of the statement being read
        self.result: str | None = None

    def text(self, node: OptionalNode) -> str:
        """The source text of a node, "" of None."""
        span = self.source[node.start_byte : node.end_byte] if node is not None else b""
        return span.decode("utf-8", "replace")

    def role(self, node: OptionalNode) -> Any:
        """The role of a node, None without a role or rule, and of None."""
        if node is None or (self.spared and node.id in self.spared):
            return None
        role = self.roles.get(node.type)
        return self._form(node, role) if type(role) is control.Forms else role

    def _form(self, node: Node, role: control.Forms) -> Any:
        if role.place:
            marks = {self.text(field(role.place)(node))}
        else:
            leaves = [child for child in node.children if child.child_count < 2] or (
                [] if node.child_count else [node]
            )
            marks = {child.type for child in node.children} | {self.text(leaf) for leaf in leaves}
        return next(form for mark, form in role.forms if not mark or mark in marks)

    def label_of(self, node: OptionalNode) -> str:
        """The name of a label, without its punctuation."""
        return self.text(node).strip("@:'")

    def is_statement(self, node: Node) -> bool:
        """True if a node has control flow of its own, also inside an expression."""
        return type(self.role(node)) in self.statements

    # Reading

    def visit(self, node: OptionalNode) -> None:
        """Record the effects of evaluating a node at the point being filled."""
        if node is None or (self.spared and self.spared.get(node.id) is False):
            return
        role = self.role(node)
        draft = self.draft
        draft.decisions += self.control.decisions.get(node.type, 0)
        decisions = draft.decisions
        if type(role) in self.statements:
            self.nested(node)
            return
        visitor = self.visitors.get(type(role))
        if visitor is not None:
            self.apply(visitor, node, role)
        else:
            self.visit_children(node)
        if node.type in self.control.undivided:
            draft.decisions = decisions

    def apply(self, rule: Callable[[Walk, Node, Any], object], node: Node, role: Any) -> None:
        """Let a rule have its effect. Raises UnreadableNodeError with the innermost node whose rule
        failed.
        """
        try:
            rule(self, node, role)
        except UnreadableNodeError:
            raise
        except Exception as error:
            raise UnreadableNodeError(node) from error

    def visit_children(self, node: Node, but: tuple[OptionalNode, ...] = ()) -> None:
        """Visit the named children, some excepted."""
        left_out = {child.id for child in but if child is not None}
        for child in named_parts(node):
            if child.id not in left_out:
                self.visit(child)

    def statement(self, node: Node) -> None:
        """Lower a node that has control flow of its own, as a part of the statement being filled."""
        draft, role = self.draft, self.role(node)
        lower, outer = self.statements[type(role)], draft.statement
        if type(role) in SCOPED:
            with draft.scope():
                self.apply(lower, node, role)
        else:
            self.apply(lower, node, role)
        draft.close()
        draft.statement = outer

    def nested(self, node: Node) -> None:
        """Lower a statement inside an expression: the expression goes on at another point, with its
        value.
        """
        draft = self.draft
        outer_result, around = self.result, draft.current
        taken = self.result = f"<{node.start_byte}>"
        draft.close()
        around.head_end_line = min(around.head_end_line, line_of(node))
        self.statement(node)
        if around.end_line > last_line_of(node):
            around.tails.append(around.end_line)
        self.result = outer_result
        if taken in draft.own:
            self.read((taken,), node)

    def read(self, path: AccessPath, node: Node) -> None:
        """A variable, or a part of one, is read."""
        self.draft.at(node).reads[path] = None

    def write(self, path: AccessPath, node: Node) -> None:
        """A variable, or a part of one, gets another value."""
        point = self.draft.at(node)
        point.writes[path] = None
        if len(path) > 1:
            point.reads[path[0], OBJECT] = None
            self._outward(path[0])

    def change(self, path: AccessPath, node: Node) -> None:
        """Record that the object of a variable is changed in place."""
        point = self.draft.at(node)
        point.mutates[path] = None
        point.reads[path[0], OBJECT] = None
        self._outward(path[0])

    def _outward(self, name: str) -> None:
        if name in self.draft.free:
            self.draft.outward[name] = None

    def path(self, node: OptionalNode) -> AccessPath | None:
        """The access path of a node, None for a node that is no variable."""
        return path_of(self, node, MAX_PATH_NAMES)

    # Binding

    def bind(self, target: OptionalNode, value: OptionalNode, *, declares: bool) -> None:
        """Bind the names in `target`, taking patterns apart; `value` gives the variables that they
        may alias. Nothing is bound where there is no target.
        """
        if target is None:
            return
        role = self.role(target)
        kind = type(role)
        if kind is model.Name:
            self.bind_name(self.text(target), target, value, declares=declares)
        elif kind in (model.Member, model.Item):
            self._bind_part(target, role, value)
        elif kind is model.Assign:  # a pattern with a default
            self.visit(field(role.right)(target))
            self.bind(field(role.left)(target), value, declares=declares)
        elif kind in (model.Skip, model.Comment):
            return
        elif kind is model.Call:  # `items(key) = …`
            callee = field(role.callee)(target)
            self.visit_children(target)
            self._bind_followed(callee)
        elif kind is model.Pair:
            self.bind(field(role.value)(target), value, declares=declares)
        elif kind is control.Unary and token(target, control.FOLLOWS) is not None:
            self._bind_followed(last_part(target))
        else:
            for child, name in parts_and_fields(target):
                if name not in TYPE_FIELDS:
                    self.bind(child, value, declares=declares)

    def bind_name(
        self, name: str, node: Node, value: OptionalNode = None, *, declares: bool
    ) -> None:
        """Bind a name to another value."""
        draft = self.draft
        if declares:
            variable = draft.declare(name)
        elif (
            self.control.declares_by_assignment
            and name not in draft.outer
            and not draft.shares_variable(name)
        ):
            variable = draft.scopes.get(name, name)
            if variable == name and name not in draft.own:
                draft.scopes.maps[-1][name] = name
                draft.own.add(name)
                draft.free.pop(name, None)
        else:
            variable = draft.variable(name)
            if variable not in draft.own:
                draft.outward[variable] = None
        self.write((variable,), node)
        if name in draft.outer:
            self.read((declaration_variable(name),), node)
        self._share(variable, value)

    def _share(self, variable: str, value: OptionalNode) -> None:
        """A variable may hold objects that those in a value hold too."""
        for source in sources_of(self, value) if value is not None else ():
            if source != variable:
                self.draft.shares[min(source, variable), max(source, variable)] = None

    def _bind_followed(self, pointer: OptionalNode) -> None:
        """`*pointer = …`."""
        self.visit(pointer)
        path = self.path(pointer)
        if path is not None and pointer is not None:
            self.change(path, pointer)

    def _bind_part(self, target: Node, role: Any, value: OptionalNode) -> None:
        """`object.member = …`, `object[key] = …`."""
        path = self.path(target)
        inside = field(role.object)(target)
        whole = self.path(inside)
        if type(role) is model.Item:
            self.visit(field(role.index)(target))
        if path is not None and len(path) > 1 and (whole is None or len(path) > len(whole)):
            self.write(path, target)
            root = path[0]
        elif whole is not None:
            self.change(whole, target)
            root = whole[0]
        else:
            self.visit(inside)
            return
        self._share(root, value)

    # Calls

    def note_call(
        self,
        node: Node,
        callee: str,
        receiver: AccessPath | None,
        arguments: list[Node],
        *,
        blind: bool,
    ) -> None:
        """Remember a call, for analyses that know the effects of the callee."""
        passed: list[tuple[int | str, AccessPath]] = []
        for position, argument in enumerate(arguments):
            role = self.role(argument)
            key: int | str = position
            if type(role) is model.KeywordArgument:
                name, inner = field(role.name)(argument), field(role.value)(argument)
                key, argument = self.text(name) or position, inner or argument
            path = self.path(argument)
            if path is not None:
                passed.append((key, path))
        line = line_of(node)
        on_own = self._is_own(receiver)
        self.draft.calls.append(
            CfgCall(self.draft.last(), callee, line, receiver or (), tuple(passed), blind, on_own)
        )

    def _is_own(self, receiver: AccessPath | None) -> bool:
        """True if a call may be of a method on the receiver of the enclosing method."""
        if not receiver:
            return self.resolution.implicit_receiver
        names = self.resolution.receiver_names | self.draft.receivers
        return len(receiver) == 1 and receiver[0] in names
