"""From syntax tree to facts: one walk over the named nodes, steered by the rules of the language.

Every rule is compiled once a language into a function `(lowering, node) -> Expression`
(`rule_compiler`); `Lowering.value` dispatches on the numeric node kind. A node without a rule has an
unknown value, and its children are visited.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from tersely.code.expressions import (
    CALL,
    IMPORTED,
    ITEM,
    MEMBER,
    Expression,
    Expressions,
    Parameter,
    is_literal,
    is_tagged,
)
from tersely.code.languages import model
from tersely.code.languages.nodes import OptionalNode, named_parts
from tersely.code.symbols import Import
from tersely.code.syntax.drafts import Naming, naming_of
from tersely.code.syntax.effects import (
    note_additions,
    note_given_names,
    note_named_member,
    note_receiver,
)
from tersely.code.syntax.isolation import UnreadableNodeError
from tersely.code.syntax.mentions import taking_names
from tersely.code.syntax.nodes.comments import comment_above
from tersely.code.syntax.patterns import bind
from tersely.code.syntax.rule_compiler.compilers import LOWERINGS
from tersely.code.syntax.rule_compiler.expressions import arguments_of
from tersely.code.syntax.rule_compiler.parameters import parameters_of
from tersely.code.syntax.variables import Variables

if TYPE_CHECKING:
    from tree_sitter import Node


class Lowering(Variables):
    """The state of one walk over one file, and what rules and languages may ask of it."""

    def __init__(
        self, source: bytes, language: model.Language, handlers: list[Any], rules: list[Any]
    ) -> None:
        super().__init__(source, language, rules)
        facts = language.resolution
        # of methods whose calls do more than give a result
        self.noted = (
            facts.adders.keys() | facts.mergers | facts.mixing_functions | facts.receiver_binders
        )
        self.taking_names = taking_names(facts)
        # last names of callees that make collections which code fills; an import may give any of
        # them another name
        self.filling_names = {name.rpartition(".")[2] for name in facts.fillable}
        self.handlers = handlers
        self.spelled: set[str] = set()  # texts as far as they are known, with holes
        self.type_parameters: dict[str, Expression] = {}  # in scope, with their bounds
        # those that are declared on their own: they belong to the definitions that name them
        self.loose_type_parameters: dict[str, Expression] = {}
        self.enters = ""  # the method whose result an Alias met now binds

    def is_symbol(self, key: Node) -> bool:
        """True if a key in brackets is a member of the object whose members are no texts."""
        owner = self.resolution.symbols
        return (
            bool(owner)
            and type(self.rules[key.kind_id]) is model.Member
            and self.text(key).startswith(f"{owner}.")
        )

    def as_rule(self, rule: model.Rule, node: Node) -> Expression:
        """The expression of a node, as if it had this rule."""
        return LOWERINGS[type(rule)](rule, self, node)

    def run(self, root: Node) -> None:
        """Walk the whole tree. Raises UnreadableNodeError where a rule fails."""
        self.scope.body = root.id
        (self.language.walk or type(self).value)(self, root)

    def value(self, node: OptionalNode) -> Expression:
        """The expression of a node; calls and bindings inside are recorded in the current scope.
        Raises UnreadableNodeError with the innermost node whose rule failed.
        """
        if node is None:
            return None
        handler = self.handlers[node.kind_id]
        if handler is not None:
            try:
                return handler(self, node)
            except UnreadableNodeError:
                raise
            except Exception as error:
                raise UnreadableNodeError(node) from error
        for child in node.named_children:
            self.value(child)
        return None

    def values(self, node: OptionalNode) -> Expressions:
        """The expressions of the named children of a node, none of None."""
        return tuple(map(self.value, named_parts(node))) if node is not None else ()

    def field_value(self, node: Node, field: str) -> Expression:
        """The expression of the child in a field, None where there is none."""
        return self.value(node.child_by_field_name(field))

    def visit(self, nodes: list[Node]) -> None:
        """Record the effects of nodes, without their values."""
        for node in nodes:
            self.value(node)

    def visit_others(self, node: Node, *but: OptionalNode) -> None:
        """Record the effects of a node's named children, some excepted."""
        for child in named_parts(node):
            if child not in but:
                self.value(child)

    def value_knowing(
        self, narrowed: Iterable[tuple[str, Expression]], *nodes: OptionalNode
    ) -> Expression:
        """The expression of the last of some nodes, with narrowed variables in it."""
        around, found = self.in_blocks, None
        for name, value in narrowed:
            self.narrow(name, value)
        for node in nodes:
            found = self.value(node)
        self.in_blocks = around
        return found

    def callee(self, node: OptionalNode) -> Expression:
        """Like `value`, but a member or name at the top is not recorded as read."""
        if node is not None and type(self.rules[node.kind_id]) in (model.Member, model.Name):
            reads = self.scope.reads
            result = self.handlers[node.kind_id](self, node)
            if reads and reads[-1][0] is result:
                reads.pop()
            return result
        return self.value(node)

    def named_value(self, node: Node, naming: Naming) -> Expression:
        """The value of a node; a function, class or mapping is named by its assignment or key."""
        if type(self.rules[node.kind_id]) in (model.Function, model.Class, model.Dictionary):
            self.naming = naming
        return self.value(node)

    def assigned_value(
        self, left: Node, right: Node, wrapped: tuple[Node, int] | None
    ) -> Expression:
        """The value of the right side of an assignment, named by the left; `wrapped` is the
        enclosing statement.
        """
        rule = self.rules[right.kind_id]
        while type(rule) is model.Inner and len(named_parts(right)) == 1:  # in parentheses
            right = named_parts(right)[0]
            rule = self.rules[right.kind_id]
        kind = type(rule)
        if kind in (model.Function, model.Class, model.Assign):
            self.wrapped = wrapped
        naming = (
            naming_of(self, left)
            if kind in (model.Function, model.Class, model.Dictionary)
            else None
        )
        return self.named_value(right, naming) if naming is not None else self.value(right)

    def value_assigned_to(
        self, name: str, node: Node, wrapped: tuple[Node, int] | None
    ) -> Expression:
        """The value of a node that is bound to a name which is not written as one."""
        kind = type(self.rules[node.kind_id])
        if kind in (model.Function, model.Class):
            self.wrapped = wrapped
        return self.named_value(node, Naming("" if kind is model.Dictionary else name, node))

    def arguments(self, node: OptionalNode) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
        """Positional and keyword arguments of an argument list."""
        return arguments_of(self, node)

    def parameters(self, node: OptionalNode) -> tuple[list[Parameter], list[tuple[str, Node]]]:
        """The parameters of a list, and the patterns that the body must take apart: (synthetic
        name, pattern).
        """
        return parameters_of(self, node)

    def bind(self, target: Node, value: Expression) -> None:
        """Bind the names in `target` to `value`, taking patterns apart."""
        bind(self, target, value)

    def comment_above(self, node: Node) -> tuple[int, int]:
        """Byte span of the comments that end on the line above a definition, (0, 0) without any."""
        return comment_above(self, node)

    def call(self, callee: Expression, arguments: tuple[Any, ...], keywords: tuple[Any, ...], line: int,
             tag: int = CALL, types: tuple[Any, ...] = ()) -> Expression:  # fmt: skip
        """Record a call in the current scope and return its expression."""
        result = (
            (tag, callee, arguments, keywords, line, types)
            if types
            else (tag, callee, arguments, keywords, line)
        )
        self.scope.calls.append(result)
        self.scope.stored.clear()
        if type(callee) is tuple and callee[0] == MEMBER:
            if callee[2] in self.noted:
                note_additions(self, callee, arguments)
                note_receiver(self, callee, arguments)
            if callee[2] in self.taking_names:
                note_given_names(self, callee[2], arguments)
        elif type(callee) is str and callee in self.taking_names:
            note_given_names(self, callee, arguments)
        elif (
            len(arguments) == 1
            and callee in self.resolution.asking_functions
            and callee not in self.scope.bound
        ):
            self.implicit(arguments[0], self.resolution.asking_functions[callee], (), line)
        if len(arguments) > 1:
            note_named_member(self, callee, arguments, line)
        if arguments and self.resolution.note_call is not None:
            self.resolution.note_call(self, callee, arguments)
        return result

    def implicit(
        self, receiver: Expression, method: str, arguments: tuple[Any, ...], line: int
    ) -> None:
        """Record an implicit call, which syntax makes; a literal has no methods of the repository."""
        if receiver is None or is_literal(receiver):
            return
        self.mentions.update(self.resolution.in_place_of(method))
        self.scope.calls.append((CALL, (MEMBER, receiver, method), arguments, (), line))

    def instead_of_reading(self, item: Expression, method: int, arguments: tuple[Any, ...]) -> None:
        """The item that was lowered last is not read but stored or removed: that is another method."""
        methods, calls = self.resolution.item_methods, self.scope.calls
        if not methods or not is_tagged(item, ITEM) or not calls:
            return
        callee = calls[-1][1]
        if is_tagged(callee, MEMBER) and callee[1] is item[1] and callee[2] == methods[0]:
            line = calls.pop()[4]
            self.implicit(item[1], methods[method], arguments, line)

    def member(self, owner: Expression, name: str) -> Expression:
        """The member of an owner with a name, which the file mentions."""
        self.mentions.add(name)
        return (MEMBER, owner, name)

    def fill(self, owner: Expression, name: Node, value: Expression) -> None:
        """Give a member of the object that a literal makes its value; `name` is where the member is
        written.
        """
        member = self.text(name)
        self.mentions.add(member)
        self.scope.binds.append(((MEMBER, owner, member), value))

    def add_import(self, fact: Import, node: OptionalNode = None) -> None:
        """Record an import and the name it binds; `node` is the statement, if not the node being
        read.
        """
        self.imports.append(fact)
        if fact.name == "*":
            self.scope.stars.append(fact.module)
        elif fact.alias:
            if fact.alias != fact.name:
                self.filling_names.add(fact.alias)
            value, variable = self.imported_value(fact), self.current_variable(fact.alias)
            if self.rebinds and (variable, value) not in self.scope.binds:
                self.bind_name(fact.alias, value)
            else:
                self.scope.binds.append((variable, value))
                self.scope.bound.add(fact.alias)
        if fact.name and fact.name != "*":
            self.mentions.add(fact.name)

    def imported_value(self, fact: Import) -> Expression:
        """The expression of the value that an import binds."""
        facts = self.resolution
        if facts.module_keys is not None:
            self.mentions.update(facts.module_keys(fact.module))
        return (IMPORTED, fact.module, fact.name or facts.module_object)
