"""From syntax tree to facts: one walk over the named nodes, steered by the rules of the language.

Every rule is compiled once a language into a function `(lowering, node) -> Expression`
(`rule_compiler`); `Lowering.value` dispatches on the numeric node kind. A node without a rule has an
unknown value, and its children are visited.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from tersely.code.expressions import (
    BLOCK_MARK,
    CALL,
    DECLARED,
    DEFINED,
    IMPORTED,
    ITEM,
    MEMBER,
    TYPED,
    VERSION_MARK,
    Expression,
    NamedExpressions,
    Parameter,
    either,
    is_literal,
    is_tagged,
)
from tersely.code.languages import model
from tersely.code.languages.nodes import OptionalNode, named_parts
from tersely.code.symbols import Definition, Import, Kind
from tersely.code.syntax.drafts import SCOPE_OWNERS, Naming, ScopeDraft
from tersely.code.syntax.effects import (
    note_additions,
    note_export,
    note_given_names,
    note_inheritance,
    note_named_member,
    note_receiver,
)
from tersely.code.syntax.isolation import UnreadableNodeError
from tersely.code.syntax.mentions import taking_names
from tersely.code.syntax.naming import naming_of
from tersely.code.syntax.nodes.comments import comment_above, doc_string, first_attribute
from tersely.code.syntax.patterns import bind
from tersely.code.syntax.redefinitions import Redefinitions
from tersely.code.syntax.rule_compiler.compilers import LOWERINGS
from tersely.code.syntax.rule_compiler.expressions import arguments_of
from tersely.code.syntax.rule_compiler.parameters import parameters_of
from tersely.foundation.types import JsonObject

if TYPE_CHECKING:
    from tree_sitter import Node


class _Texts(dict[bytes, str]):
    """Source texts by their bytes, one object for equal texts, without the quotes around names."""

    def __init__(self, quote: str) -> None:
        super().__init__()
        self._quote = quote

    def __missing__(self, raw: bytes) -> str:
        text, quote = raw.decode("utf-8", "replace"), self._quote
        is_quoted = quote and text.startswith(quote) and text.endswith(quote)
        known = self[raw] = text.strip(quote) if is_quoted else text
        return known


class Lowering:
    """The state of one walk over one file."""

    def __init__(
        self, source: bytes, language: model.Language, handlers: list[Any], rules: list[Any]
    ) -> None:
        self.source = source
        self.path = ""  # of the file, where the caller knows it
        self.language = language
        self.resolution = facts = language.resolution
        # of methods whose calls do more than give a result
        self.noted = (
            facts.adders.keys() | facts.mergers | facts.mixing_functions | facts.receiver_binders
        )
        self.taking_names = taking_names(facts)
        # last names of callees that make collections which code fills; an import may give any of
        # them another name
        self.filling_names = {name.rpartition(".")[2] for name in facts.fillable}
        self.handlers = handlers
        self.rules = rules
        self.definitions: list[Definition] = []
        self.drafts: list[ScopeDraft | None] = []
        # of definitions by their positions: the one that they are another name of
        self.other_names: dict[int, int] = {}
        self.imports: list[Import] = []
        self.mentions: set[str] = set()
        self.spelled: set[str] = set()  # texts as far as they are known, with holes
        self.serial = 0
        # variables of the innermost block by name, None outside of any
        self.block: dict[str, str] | None = None
        # variables of all blocks around, those of functions around included
        self.in_blocks: dict[str, str] = {}
        # of variables, once the present block has ended
        self.known_behind: NamedExpressions = []
        # last names of the members of which more is known in some block
        self.narrowed_members: set[str] = set()
        self.type_parameters: dict[str, Expression] = {}  # in scope, with their bounds
        # those that are declared on their own: they belong to the definitions that name them
        self.loose_type_parameters: dict[str, Expression] = {}
        self.outward = False  # bindings now declare nothing
        self.rebinds = False  # bindings now replace the earlier ones of the same names
        self.enters = ""  # the method whose result an Alias met now binds
        # the node around the next definition, and flags for it
        self.wrapped: tuple[Node, int] | None = None
        self.naming: Naming | None = None  # the name of the next function, class or mapping
        self.texts = _Texts(language.resolution.name_quote)
        self.redefinitions = Redefinitions(language.resolution.redefinition)
        self.notes: JsonObject = {}  # notes of a language's rules during the walk
        # a newline at the end begins no other line
        lines = source.count(b"\n", 0, len(source) - 1) + 1
        module = Definition(Kind.MODULE, "", "", -1, 1, lines, 1, 0, len(source), 0, 0, 0)
        self.scope = self._open(module, Kind.MODULE, "")

    def is_definition(self, value: Expression, name: str) -> bool:
        """True if a value is a definition of that name, so that no variable of the name need be a
        symbol.
        """
        name = name.removeprefix(self.resolution.sigil)
        return is_tagged(value, DEFINED) and self.definitions[value[1]].name == name

    # The interface for rules and languages

    def text(self, node: OptionalNode) -> str:
        """The source text of a node, one object for equal texts; "" of None."""
        if node is None:
            return ""
        return self.texts[self.source[node.start_byte : node.end_byte]]

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

    def arguments(self, node: OptionalNode) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
        """Positional and keyword arguments of an argument list."""
        return arguments_of(self, node)

    def bind(self, target: Node, value: Expression) -> None:
        """Bind the names in `target` to `value`, taking patterns apart."""
        bind(self, target, value)

    def comment_above(self, node: Node) -> tuple[int, int]:
        """Byte span of the comments that end on the line above a definition, (0, 0) without any."""
        return comment_above(self, node)

    def parameters(self, node: OptionalNode) -> tuple[list[Parameter], list[tuple[str, Node]]]:
        """The parameters of a list, and the patterns that the body must take apart: (synthetic
        name, pattern).
        """
        return parameters_of(self, node)

    def with_type(self, value: Expression, annotation: Expression) -> Expression:
        """A value that is declared to be of a type."""
        if type(annotation) is str and annotation in self.resolution.inferred_types:
            return value
        if annotation is None:
            return value
        if value is None or not self.resolution.virtual:
            return either(value, (TYPED, annotation))
        return (DECLARED, value, annotation)

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

    def values(self, node: OptionalNode) -> tuple[Expression, ...]:
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

    def rule(self, node: Node) -> Any:
        """The rule of a node's type, None without one."""
        return self.rules[node.kind_id]

    def next_serial(self) -> int:
        """The next serial, by which displays of the file differ."""
        self.serial += 1
        return self.serial

    def anonymous(self, what: str) -> str:
        """A name for a definition without one, counted within its scope."""
        self.scope.unnamed += 1
        return f"<{what}{self.scope.unnamed}>"

    def note_binding(self, name: str, node: Node) -> None:
        """Called where a name is bound; walks that record places override this and the next four."""

    def note_member_store(self, name: str, node: Node) -> None:
        """Called where a member is assigned."""

    def note_key(self, serial: int, key: Expression, node: Node) -> None:
        """Called where the list or mapping with that serial has an entry."""

    def note_pattern_member(self, member: Expression, node: Node) -> None:
        """Called where a pattern takes a member, which `node` names, out of the matched value."""

    def note_join(self, name: str, variables: tuple[str, ...]) -> None:
        """Called where bodies meet that bound a name as different variables: it is now either."""

    def fill(self, owner: Expression, name: Node, value: Expression) -> None:
        """Give a member of the object that a literal makes its value; `name` is where the member is
        written.
        """
        member = self.text(name)
        self.mentions.add(member)
        self.scope.binds.append(((MEMBER, owner, member), value))

    def store(self, target: Expression, value: Expression) -> None:
        """Record that a variable, member or item of the current scope holds a value."""
        self.scope.binds.append((target, value))

    def member(self, owner: Expression, name: str) -> Expression:
        """The member of an owner with a name, which the file mentions."""
        self.mentions.add(name)
        return (MEMBER, owner, name)

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

    def _bind_variable(self, variable: str, value: Expression) -> None:
        self.scope.binds.append((variable, value))
        if variable not in self.scope.block_variables:
            self.scope.outer.append((variable, 0))

    def parameter_name(self, node: OptionalNode, position: int) -> str:
        """The name of a parameter, which may have none."""
        if node is None:
            return f"#{position}"
        self.note_binding(self.text(node), node)
        return self.text(node)

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

    def is_straight(self, node: Node) -> bool:
        """True if a statement runs whenever the body of its scope runs that far: it is in no branch
        or loop.
        """
        outer, body = node.parent, self.scope.body
        if outer is None or outer.id == body:
            return outer is not None
        around = outer.parent  # of an expression statement
        return around is not None and around.id == body and len(named_parts(outer)) == 1

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
            note_inheritance(self, callee, arguments)
        if arguments and self.resolution.module_functions:
            note_export(self, callee, arguments)
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

    def define_node(self, node: Node, name: Node, kind: Kind) -> None:
        """Make the variable whose name a node is a symbol, as `define_value` does."""
        self.define_value(node, self.text(name), name, kind)

    def define_value(self, node: Node, name: str, name_node: Node, kind: Kind, prefix: str = "",
                     meant: int = -1) -> None:  # fmt: skip
        """Make a variable of a module or class a symbol, once: another name of the definition
        `meant` if that is one.
        """
        scope = self.scope
        key = f"{prefix}.{name}" if prefix else name
        if key in scope.values:
            return
        scope.values.add(key)
        doc = comment_above(self, node)
        row = self._definition(kind, name, node, name_node, node.end_byte, doc, prefix, node)
        if meant >= 0:
            self.other_names[len(self.definitions)] = meant
        self.definitions.append(row)
        self.drafts.append(None)

    def qualname(self, name: str, prefix: str) -> str:
        """The qualified name of a definition of the current scope."""
        return ".".join(filter(None, (self.scope.qualname, prefix, name)))

    def enter(self, node: Node, kind: Kind, name: str, name_node: OptionalNode, body: OptionalNode,
              prefix: str = "") -> ScopeDraft:  # fmt: skip
        """Open the scope of a new definition; `leave` closes it. `prefix` qualifies the name beyond
        the scope.
        """
        wrapped, self.wrapped = self.wrapped, None
        outermost = first_attribute(self, wrapped[0] if wrapped else node)
        doc = doc_string(self, body)
        if doc == (0, 0):
            doc = comment_above(self, outermost)
        signature_end = body.start_byte if body is not None else node.end_byte
        row = self._definition(
            kind,
            name,
            wrapped[0] if wrapped else node,
            name_node or node,
            signature_end,
            doc,
            prefix,
            outermost,
        )
        draft = self._open(row, kind, row.qualname)
        draft.around = self.scope, self.block, self.in_blocks
        self.block = None
        self.redefinitions.add(draft, wrapped[0] if wrapped else node, self.text)
        if wrapped:
            draft.flags |= wrapped[1]
        modifiers = self.resolution.modifiers
        for child in node.children if modifiers else ():
            if "modifier" in child.type:
                for word in self.text(child).split():
                    draft.flags |= modifiers.get(word, 0)
        return draft

    def enter_lambda(self, node: Node, body: OptionalNode) -> ScopeDraft:
        """Open the scope of a function without a name."""
        return self.enter(node, Kind.LAMBDA, self.anonymous("lambda"), None, body)

    def leave(self, draft: ScopeDraft) -> Expression:
        """Close a definition's scope for the one around it; returns the expression of the definition."""
        elsewhere = draft.outward - draft.declared
        if elsewhere:
            elsewhere -= {parameter.name for parameter in draft.parameters}
            draft.outer.extend((name, 0) for name in sorted(elsewhere))
        own = draft.bound - elsewhere if draft.kind not in SCOPE_OWNERS else set()
        self.mentions |= draft.read - own
        if own:
            draft.reads = [read for read in draft.reads if read[0] not in own]
        self.scope, self.block, self.in_blocks = draft.around
        return (DEFINED, draft.definition)

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

    # Inside

    def _open(self, row: Definition, kind: Kind, qualname: str) -> ScopeDraft:
        draft = ScopeDraft(len(self.definitions), kind, qualname)
        self.definitions.append(row)
        self.drafts.append(draft)
        return draft

    def _definition(self, kind: Kind, name: str, node: Node, name_node: Node, signature_end: int,
                    doc: tuple[int, int], prefix: str, outermost: Node) -> Definition:  # fmt: skip
        end_row, end_column = node.end_point
        # in broken source the name may stand elsewhere
        name_row = max(name_node.start_point[0], node.start_point[0])
        return Definition(
            kind, name, self.qualname(name, prefix), self.scope.definition, outermost.start_point[0] + 1,
            end_row + (1 if end_column else 0), name_row + 1,
            outermost.start_byte, node.end_byte, signature_end, *doc,
        )  # fmt: skip
