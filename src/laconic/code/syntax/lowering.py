"""From syntax tree to facts: one walk over the named nodes, steered by the rules of the language.

Every rule is compiled once per language into a function `(lowering, node) -> Expression`; `Lowering.value` dispatches
on the numeric node kind. A node without a rule has an unknown value and its children are visited.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

from laconic.code.expressions import (
    ABSTRACT,
    CALL,
    CONST,
    DECLARED,
    DEFINED,
    DETACHED,
    DISPLAYED,
    EITHER,
    ELEMENT,
    ENTER,
    EXTENSION,
    GENERATOR,
    GENERIC,
    IMPORTED,
    ITEM,
    KEYWORD_REST,
    LITERAL,
    MAPPING,
    MEMBER,
    NEW,
    OWN_RECEIVER,
    POSITIONAL,
    PROPERTY,
    REST,
    SEQUENCE,
    SPREAD,
    TYPED,
    VERSION_MARK,
    Expression,
    Parameter,
    Scope,
)
from laconic.code.languages import model
from laconic.code.symbols import CLASS_KINDS, Definition, Import, Kind

if TYPE_CHECKING:
    from tree_sitter import Language as Grammar
    from tree_sitter import Node

type_of_handler = Callable[["Lowering", "Node"], Expression]
Child = Callable[["Node"], "Node | None"]

PLAIN_PATH = re.compile(r"[\w$#]+(\.[\w$#]+)*")

LABEL_MARK = "\x02"  # before the name of a label, which names no value

SCOPE_OWNERS = CLASS_KINDS | {Kind.EXTENSION, Kind.NAMESPACE}


class Naming(NamedTuple):
    """The name that a function, class or mapping gets from where it is put."""

    name: str
    node: Node  # where the name stands
    prefix: str = ""  # qualifies the name beyond the scope
    holder: Expression = None  # the object that it becomes a member of
    kind: Kind | None = None  # of a function

    @property
    def path(self) -> str:
        """The prefix of what is inside."""
        return f"{self.prefix}.{self.name}" if self.prefix and self.name else self.prefix or self.name


class ScopeDraft:
    """A scope under construction; `Scope` says what the lists mean."""

    __slots__ = (
        "bases", "binds", "body", "bound", "calls", "declared", "decorated", "definition", "flags", "holder", "kind",
        "outer", "outward", "parameters", "qualname", "read", "reads", "receiver_type", "returned_type", "returns",
        "stars", "types", "unnamed", "values", "versions", "versions_made", "yields",
    )  # fmt: skip

    def __init__(self, definition: int, kind: Kind, qualname: str) -> None:
        self.definition = definition
        self.kind = kind
        self.qualname = qualname
        self.parameters: list[Parameter] = []
        self.binds: list[tuple[Expression, Expression]] = []
        self.calls: list[Expression] = []
        self.reads: list[tuple[Expression, int]] = []
        self.returns: list[Expression] = []
        self.yields: list[Expression] = []
        self.outer: list[tuple[str, int]] = []
        self.stars: list[str] = []
        self.bases: list[Expression] = []
        self.decorated: Expression = None
        self.returned_type: Expression = None
        self.receiver_type: Expression = None
        self.flags = 0
        self.holder: Expression = None
        self.unnamed = 0
        self.read: set[str] = set()  # names read, to find those that must come from elsewhere
        self.bound: set[str] = set()
        self.types: dict[str, Expression] = {}  # declared types of local names
        self.versions: dict[str, int] = {}  # of names that straight-line code has bound again
        self.versions_made: dict[str, int] = {}  # ever, those of blocks that have ended included
        self.body = 0  # node id of the body, whose statements run one after the other
        self.values: set[str] = set()  # variables that already are symbols
        self.declared: set[str] = set()  # names that the scope declares
        self.outward: set[str] = set()  # names that it assigns without declaring them at that place

    def freeze(self) -> tuple[Any, ...]:
        """The scope as a plain tuple in the order of `Scope`, cheap to marshal."""
        return tuple(
            Scope(
                tuple(tuple(parameter) for parameter in self.parameters),  # type: ignore[misc]
                tuple(self.binds), tuple(self.calls), tuple(self.reads), tuple(self.returns), tuple(self.yields),
                tuple(self.outer), tuple(self.stars), tuple(self.bases), self.decorated, self.returned_type,
                self.receiver_type, self.flags, self.holder,
            )
        )  # fmt: skip


class Lowering:
    """The state of one walk over one file."""

    def __init__(self, source: bytes, language: model.Language, handlers: list[Any], rules: list[Any]) -> None:
        self.source = source
        self.language = language
        self.resolution = language.resolution
        self.handlers = handlers
        self.rules = rules
        self.definitions: list[Definition] = []
        self.drafts: list[ScopeDraft | None] = []
        self.imports: list[Import] = []
        self.mentions: set[str] = set()
        self.serial = 0
        self.type_parameters: dict[str, Expression] = {}  # in sight, with what bounds them
        self.outward = False  # bindings now declare nothing
        self.rebinds = False  # bindings now replace the earlier ones of the same names
        self.enters = False  # an Alias met now binds what entering gives
        self.wrapped: tuple[Node, int] | None = None  # the node around the next definition, and flags for it
        self.naming: Naming | None = None  # the name of the next function, class or mapping
        self.interned: dict[bytes, str] = {}
        self.notes: dict[str, Any] = {}  # what the rules of a language remember during the walk
        module = Definition(Kind.MODULE, "", "", -1, 1, source.count(b"\n") + 1, 1, 0, len(source), 0, 0, 0)
        self.scope = self._open(module, Kind.MODULE, "")

    def is_definition(self, value: Expression, name: str) -> bool:
        """Whether a value is a definition of that name, so that no variable of the name need be a symbol."""
        name = name.removeprefix(self.resolution.sigil)
        return type(value) is tuple and value[0] == DEFINED and self.definitions[value[1]].name == name

    # What rules and languages may call

    def text(self, node: Node) -> str:
        """The source text of a node, one object for equal texts."""
        raw = self.source[node.start_byte : node.end_byte]
        known = self.interned.get(raw)
        if known is None:
            known = self.interned[raw] = raw.decode("utf-8", "replace")
        return known

    def as_rule(self, rule: model.Rule, node: Node) -> Expression:
        """What a node stands for if it had this rule."""
        return COMPILERS[type(rule)](rule)(self, node)

    def arguments(self, node: Node | None) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
        """Positional and keyword arguments of an argument list."""
        return arguments_of(self, node)

    def typed(self, value: Expression, annotation: Expression) -> Expression:
        """A value that is declared to be of a type."""
        return declared(self, value, annotation)

    def value(self, node: Node | None) -> Expression:
        """The expression a node stands for; calls and bindings inside are recorded in the current scope."""
        if node is None:
            return None
        handler = self.handlers[node.kind_id]
        if handler is not None:
            return handler(self, node)
        for child in node.named_children:
            self.value(child)
        return None

    def visit(self, nodes: list[Node]) -> None:
        """Record what the nodes do, their values aside."""
        for node in nodes:
            self.value(node)

    def rule(self, node: Node) -> Any:
        """The rule of a node's type, None without one."""
        return self.rules[node.kind_id]

    def next_serial(self) -> int:
        """A number that tells two displays of the file apart."""
        self.serial += 1
        return self.serial

    def anonymous(self, what: str) -> str:
        """A name for a definition without one, counted within its scope."""
        self.scope.unnamed += 1
        return f"<{what}{self.scope.unnamed}>"

    def bind(self, target: Node, value: Expression) -> None:
        """Bind what `target` names to `value`, taking patterns apart."""
        rule = self.rules[target.kind_id]
        kind = type(rule)
        if kind is model.Name:
            self.bind_name(self.text(target), value, target)
        elif kind is model.Member:
            member = self.callee(target)
            self.stored(member[2] if type(member) is tuple and member[0] == MEMBER else "", target)
            self.scope.binds.append((member, value))
        elif kind is model.Item:
            self.scope.binds.append((self.handlers[target.kind_id](self, target), value))
        elif kind is model.Sequence and rule.unwraps and target.named_child_count == 1:
            self.bind(target.named_children[0], value)
        elif kind is model.Sequence:
            self._bind_elements(target, value)
        elif kind is model.Dictionary:
            self._bind_members(target, value)
        elif kind is model.Spread:
            for child in target.named_children[:1]:
                self.bind(child, value)
        elif kind is model.Assign:  # a pattern with a default
            self._bind_default(rule, target, value)
        elif kind is model.Inner or rule is None:
            for child in target.named_children:
                self.bind(child, value)

    def written(self, name: str, node: Node) -> None:
        """Called where a name is bound; walks that want to know the places override this and the next two."""

    def stored(self, name: str, node: Node) -> None:
        """Called where a member is assigned."""

    def displayed(self, serial: int, key: Expression, node: Node) -> None:
        """Called where the list or mapping of that serial holds something."""

    def bind_name(self, name: str, value: Expression, node: Node | None = None) -> None:
        """Bind a name of the current scope; inside a `rebinding` it is a new variable from here on.

        `node` is where the name stands.
        """
        scope = self.scope
        (scope.outward if self.outward else scope.declared).add(name)
        mine = not self.outward or name in scope.declared
        met = name in scope.bound or name in scope.read  # read before: then it was that of a scope around
        if self.rebinds and mine and met and not any(outer == name for outer, _ in scope.outer):
            scope.versions[name] = scope.versions_made[name] = scope.versions_made.get(name, 1) + 1
        scope.binds.append((self.versioned(name), value))
        scope.bound.add(name)
        if node is not None:
            self.written(name, node)

    def update(self, name: str, value: Expression, *, straight: bool) -> Expression:
        """Give a variable that is declared elsewhere a value: a local one, else a member of the receiver."""
        if name in self.scope.bound:
            value = declared(self, value, self.scope.types.get(name))
            self.rebinds = straight
            self.bind_name(name, value)
            self.rebinds = False
            return value
        outer = self.scope
        while outer.definition > 0 and outer.kind not in SCOPE_OWNERS:
            if name in outer.bound:
                outer.binds.append((name, None))
                self.scope.outer.append((name, 0))
                self.scope.binds.append((name, declared(self, value, outer.types.get(name))))
                return value
            parent = self.drafts[self.definitions[outer.definition].parent]
            if parent is None:
                break
            outer = parent
        receiver = next(iter(sorted(self.resolution.receiver_names)), "")
        is_member = receiver and outer is not self.scope and outer.kind in SCOPE_OWNERS
        self.scope.binds.append(((MEMBER, receiver, name) if is_member else name, value))
        return value

    def versioned(self, name: str) -> str:
        """The variable that a name of the current scope means at this point."""
        version = self.scope.versions.get(name)
        return f"{name}{VERSION_MARK}{version}" if version else name

    def is_straight(self, node: Node) -> bool:
        """Whether a statement runs whenever the body of its scope runs to there: it stands in no branch or loop."""
        outer = node.parent
        if outer is not None and outer.id != self.scope.body and outer.named_child_count == 1:
            outer = outer.parent  # an expression statement
        return outer is not None and outer.id == self.scope.body

    def callee(self, node: Node) -> Expression:
        """Like `value`, but a member at the top is not recorded as read."""
        if type(self.rules[node.kind_id]) is model.Member:
            reads = self.scope.reads
            result = self.handlers[node.kind_id](self, node)
            if reads and reads[-1][0] is result:
                reads.pop()
            return result
        return self.value(node)

    def named(self, node: Node, naming: Naming) -> Expression:
        """The value of a node; a function, class or mapping gets a name from where it is put."""
        if type(self.rules[node.kind_id]) in (model.Function, model.Class, model.Dictionary):
            self.naming = naming
        return self.value(node)

    def assigned(self, left: Node, right: Node, wrapped: tuple[Node, int] | None) -> Expression:
        """The value of the right side of an assignment, named by the left; `wrapped` is the statement around it."""
        rule = self.rules[right.kind_id]
        while type(rule) is model.Inner and right.named_child_count == 1:  # in parentheses
            right = right.named_children[0]
            rule = self.rules[right.kind_id]
        kind = type(rule)
        if kind in (model.Function, model.Class, model.Assign):
            self.wrapped = wrapped
        naming = self._naming(left) if kind in (model.Function, model.Class, model.Dictionary) else None
        return self.named(right, naming) if naming is not None else self.value(right)

    def assigned_to(self, name: str, node: Node, wrapped: tuple[Node, int] | None) -> Expression:
        """The value of a node that is bound to a name which is not written as one."""
        kind = type(self.rules[node.kind_id])
        if kind in (model.Function, model.Class):
            self.wrapped = wrapped
        return self.named(node, Naming("" if kind is model.Dictionary else name, node))

    def _naming(self, target: Node) -> Naming | None:
        rule = self.rules[target.kind_id]
        text = self.text(target)
        if type(rule) is model.Name:
            return Naming(text.removeprefix(self.resolution.sigil), target)
        if type(rule) is not model.Member:
            return None
        module_object = self.resolution.module_object
        if text in rule.aliases:
            return Naming("", target)
        owner, member = field(rule.object)(target), field(rule.member)(target)
        if owner is None or member is None or not PLAIN_PATH.fullmatch(self.text(owner)):
            return None
        path = self.text(owner)
        alias = next((long for long in rule.aliases if path == long or path.startswith(f"{long}.")), "")
        prefix = path.removeprefix(alias or module_object).lstrip(".") if alias or path == module_object else path
        prototype = self.resolution.prototype
        first, _, rest = prefix.partition(".")
        own = first in self.resolution.receiver_names
        method = own or bool(prototype and prefix.endswith(f".{prototype}"))
        prefix = (rest if own else prefix).removesuffix(f".{prototype}" if prototype else "")
        name = "" if self.text(member) == prototype else self.text(member)
        return Naming(name, member, prefix, self.callee(owner), Kind.METHOD if method else None)

    def call(self, callee: Expression, arguments: tuple[Any, ...], keywords: tuple[Any, ...], line: int,
             tag: int = CALL) -> Expression:  # fmt: skip
        """Record a call in the current scope and return its expression."""
        result = (tag, callee, arguments, keywords, line)
        self.scope.calls.append(result)
        if type(callee) is tuple and callee[0] == MEMBER:
            self._note_additions(callee, arguments)
            self._note_receiver(callee, arguments)
        if len(arguments) > 1:
            self._note_inheritance(callee, arguments)
        return result

    def _note_receiver(self, callee: tuple[Any, ...], arguments: tuple[Any, ...]) -> None:
        """`function … .bind(receiver)`: the function is written in place and called on that receiver."""
        function = callee[1]
        if callee[2] in self.resolution.receiver_binders and arguments and type(function) is tuple:
            draft = self.drafts[function[1]] if function[0] == DEFINED else None
            if draft is not None:
                draft.holder = arguments[0]

    def _note_inheritance(self, callee: Expression, arguments: tuple[Any, ...]) -> None:
        facts = self.resolution
        name = callee if type(callee) is str else callee[2] if type(callee) is tuple and callee[0] == MEMBER else ""
        target = arguments[0]
        if name in facts.mixing_functions:
            self.scope.binds.extend(((ITEM, target, (SPREAD, added)), None) for added in arguments[1:])
        elif name in facts.inheriting_functions:
            if not (type(target) is tuple and target[0] == MEMBER and target[2] == facts.prototype):
                target = (MEMBER, target, facts.prototype)
            base = arguments[1]
            if not (type(base) is tuple and base[0] == MEMBER and base[2] == facts.prototype):
                base = (MEMBER, base, facts.prototype)
            self.scope.binds.append((target, base))

    def define_value(self, node: Node, name: str, name_node: Node, kind: Kind, prefix: str = "") -> None:
        """Make a variable of a module or class a symbol, once."""
        scope = self.scope
        key = f"{prefix}.{name}" if prefix else name
        if key in scope.values:
            return
        scope.values.add(key)
        doc = self.comment_above(node)
        row = self._definition(kind, name, node, name_node, node.end_byte, doc, prefix)
        self.definitions.append(row)
        self.drafts.append(None)

    def enter(self, node: Node, kind: Kind, name: str, name_node: Node | None, body: Node | None,
              prefix: str = "") -> ScopeDraft:  # fmt: skip
        """Open the scope of a new definition; `leave` closes it. `prefix` qualifies the name beyond the scope."""
        wrapped, self.wrapped = self.wrapped, None
        outermost = self._first_attribute(wrapped[0] if wrapped else node)
        doc = self._doc_string(body)
        if doc == (0, 0):
            doc = self.comment_above(outermost)
        signature_end = body.start_byte if body is not None else node.end_byte
        row = self._definition(
            kind, name, wrapped[0] if wrapped else node, name_node or node, signature_end, doc, prefix
        )
        row = row._replace(start_line=outermost.start_point[0] + 1, start_byte=outermost.start_byte)
        draft = self._open(row, kind, row.qualname)
        if wrapped:
            draft.flags |= wrapped[1]
        modifiers = self.resolution.modifiers
        for child in node.children if modifiers else ():
            if "modifier" in child.type:
                for word in self.text(child).split():
                    draft.flags |= modifiers.get(word, 0)
        return draft

    def _first_attribute(self, node: Node) -> Node:
        """The first of the attributes directly before a node, else the node."""
        first, previous = node, node.prev_sibling
        while previous is not None and type(self.rules[previous.kind_id]) in (model.Attribute, model.Comment):
            if type(self.rules[previous.kind_id]) is model.Attribute:
                first = previous
            previous = previous.prev_sibling
        return first

    def leave(self, draft: ScopeDraft, parent: ScopeDraft) -> Expression:
        """Close a definition's scope; returns the expression of the definition."""
        elsewhere = draft.outward - draft.declared - {parameter.name for parameter in draft.parameters}
        draft.outer.extend((name, 0) for name in sorted(elsewhere))
        own = draft.bound - elsewhere if draft.kind not in SCOPE_OWNERS else set()
        self.mentions |= draft.read - own
        self.scope = parent
        return (DEFINED, draft.definition)

    def comment_above(self, node: Node) -> tuple[int, int]:
        """Byte span of the comments that end on the line above a definition, (0, 0) without any."""
        start = end = 0
        line = node.start_point[0]
        previous, around = node.prev_sibling, node.parent
        while previous is None and around is not None and around.start_byte == node.start_byte:
            previous, around = around.prev_sibling, around.parent  # the first statement of a block
        while previous is not None and type(self.rules[previous.kind_id]) is model.Comment:
            last = previous.end_point
            if (last[0] if last[1] else last[0] - 1) < line - 1 or last[0] > line:
                break
            before = previous.prev_sibling  # a comment at the end of other code's line does not document this
            if before is not None and before.end_point[0] == previous.start_point[0]:
                break
            start, end = previous.start_byte, end or previous.end_byte
            line = previous.start_point[0]
            previous = before
        return start, end

    def add_import(self, fact: Import) -> None:
        """Record an import and the name it binds."""
        self.imports.append(fact)
        if fact.name == "*":
            self.scope.stars.append(fact.module)
        elif fact.alias:
            self.scope.binds.append((fact.alias, self.imported(fact)))
            self.scope.bound.add(fact.alias)
        if fact.name and fact.name != "*":
            self.mentions.add(fact.name)

    def imported(self, fact: Import) -> Expression:
        """The expression of what an import gives."""
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
                    doc: tuple[int, int], prefix: str = "") -> Definition:  # fmt: skip
        scope = self.scope
        qualname = ".".join(part for part in (scope.qualname, prefix, name) if part)
        end_row, end_column = node.end_point
        return Definition(
            kind, name, qualname, scope.definition, node.start_point[0] + 1, end_row + (1 if end_column else 0),
            name_node.start_point[0] + 1, node.start_byte, node.end_byte, signature_end, *doc,
        )  # fmt: skip

    def _doc_string(self, body: Node | None) -> tuple[int, int]:
        wanted = self.language.doc_string
        if not wanted or body is None:
            return 0, 0
        first = body
        for _ in range(2):  # the statement, then the string in it
            if not first.named_child_count or first.type == wanted:
                break
            first = first.named_children[0]
        if first is not body and first.type == wanted:
            return first.start_byte, first.end_byte
        return 0, 0

    def _note_additions(self, callee: tuple[Any, ...], arguments: tuple[Any, ...]) -> None:
        fed = self.resolution.feeders.get(callee[2])
        if fed is not None and callee[1] is not None:
            self._feed(callee[1], fed, arguments)
        adder = self.resolution.adders.get(callee[2])
        if adder is not None and len(arguments) > adder[1]:
            key = arguments[adder[0]] if adder[0] >= 0 else None
            self.scope.binds.append(((ITEM, callee[1], key), arguments[adder[1]]))
        merged = self.resolution.mergers.get(callee[2])
        if merged is not None and len(arguments) > merged:
            self.scope.binds.append(((ITEM, callee[1], (SPREAD, arguments[merged])), None))

    def _feed(self, source: Expression, place: int, arguments: tuple[Any, ...]) -> None:
        """Functions written as arguments take elements of what the method belongs to, or what it holds."""
        for argument in arguments:
            draft = self.drafts[argument[1]] if type(argument) is tuple and argument[0] == DEFINED else None
            if draft is not None and place < len(draft.parameters):
                name, annotation, default, mode = draft.parameters[place]
                fed = either(default, (ELEMENT, source), source)
                draft.parameters[place] = Parameter(name, annotation, fed, mode)

    def _bind_elements(self, target: Node, value: Expression) -> None:
        elements = [child for child in target.named_children if type(self.rules[child.kind_id]) is not model.Comment]
        known: tuple[Any, ...] = ()
        if type(value) is tuple and value[0] == SEQUENCE:
            known = value[1]
            if any(type(part) is tuple and part[0] == SPREAD for part in known):
                known = ()
        spread = False
        commas = [part.start_byte for part in target.children if part.type == ","]  # two in a row leave one out
        for index, child in enumerate(elements):
            position = max(index, sum(start < child.start_byte for start in commas))
            if type(self.rules[child.kind_id]) is model.Spread:
                spread = True
                tail = len(elements) - position - 1
                rest = (SEQUENCE, known[position : len(known) - tail], self.next_serial()) if known else value
                self.bind(child, rest)
            elif spread:
                from_end = position - len(elements)
                self.bind(child, known[from_end] if len(known) >= -from_end else (ELEMENT, value))
            elif position < len(known):
                self.bind(child, known[position])
            else:
                self.bind(child, (ITEM, value, (CONST, position)) if value is not None else None)

    def _bind_members(self, target: Node, value: Expression) -> None:
        for child in target.named_children:
            rule = self.rules[child.kind_id]
            kind = type(rule)
            if kind is model.Name:
                self.bind_name(self.text(child), value and (MEMBER, value, self.text(child)), child)
            elif kind is model.Pair:
                key, inner = field(rule.key)(child), field(rule.value)(child)
                if key is not None and inner is not None:
                    self.mentions.add(self.text(key))
                    self.bind(inner, value and (MEMBER, value, self.text(key)))
            elif kind is model.Assign:  # a name with a default
                left = field(rule.left)(child)
                self.bind(child, value and left and (MEMBER, value, self.text(left)))
            else:
                self.bind(child, value)

    def _bind_default(self, rule: model.Assign, target: Node, value: Expression) -> None:
        left, right = field(rule.left)(target), field(rule.right)(target)
        default = self.value(right)
        if left is not None:
            self.bind(left, either(value, default))


def declared(walk: Lowering, value: Expression, annotation: Expression) -> Expression:
    """A value that is declared to be of a type."""
    if type(annotation) is str and annotation in walk.resolution.inferred_types:
        return value
    if annotation is None or value is None or not walk.resolution.virtual:
        return either(value, annotation and (TYPED, annotation))
    return (DECLARED, value, annotation)


def either(*alternatives: Expression) -> Expression:
    """One expression for several possible ones."""
    known = tuple(part for part in alternatives if part is not None)
    return known[0] if len(known) == 1 else (EITHER, known) if known else None


def field(name: str) -> Child:
    """How to reach a child: a field name, `#n` by position, `:type` by node type, `a|b` for a or else b, "" none."""
    if not name:
        return lambda node: None
    if "|" in name:
        first, second = map(field, name.split("|", 1))
        return lambda node: first(node) or second(node)
    if "/" in name:
        outer, inner = (field(part) for part in name.split("/", 1))
        return lambda node: inner(found) if (found := outer(node)) is not None else None
    if name[0] == "=":
        token = name[1:]
        return lambda node: next((child for child in node.children if child.type == token), None)
    if name[0] == "#":
        position = int(name[1:])

        def by_position(node: Node) -> Node | None:
            children = node.named_children
            return children[position] if -len(children) <= position < len(children) else None

        return by_position
    if name[0] == ":":
        wanted = name[1:]
        return lambda node: next((child for child in node.named_children if child.type == wanted), None)
    return lambda node: node.child_by_field_name(name)


KINDS = 1 << 16  # numeric node kinds; error nodes have the last one


def compile_rules(language: model.Language, grammar: Grammar) -> tuple[list[Any], list[Any]]:
    """Handlers and rules by numeric node kind. Raises KeyError for a node type that the grammar does not have."""
    handlers: list[Any] = [None] * KINDS
    rules: list[Any] = [None] * KINDS
    unknown = set(language.rules)
    for kind_id in range(grammar.node_kind_count):
        name = grammar.node_kind_for_id(kind_id)
        if name is None:
            continue
        if not grammar.node_kind_is_named(kind_id):
            name = f"={name}"
        rule = language.rules.get(name)
        if rule is not None:
            unknown.discard(name)
            rules[kind_id] = rule
            handlers[kind_id] = COMPILERS[type(rule)](rule)
    if unknown:
        raise KeyError(f"{language.name}: not node types of the grammar: {', '.join(sorted(unknown))}")
    return handlers, rules


# One compiler a rule: it reaches for fields once and returns the function that lowers a node.


def _name(rule: model.Name) -> type_of_handler:
    def lower(walk: Lowering, node: Node) -> Expression:
        name = walk.text(node)
        if name in walk.type_parameters:
            return walk.type_parameters[name]
        walk.scope.read.add(name)
        return walk.versioned(name) if walk.scope.versions else name

    return lower


def _member(rule: model.Member) -> type_of_handler:
    get_object, get_member = field(rule.object), field(rule.member)

    def lower(walk: Lowering, node: Node) -> Expression:
        member = get_member(node)
        if rule.aliases and walk.text(node) in rule.aliases:
            return rule.aliases[walk.text(node)]
        if member is None:
            return walk.value(get_object(node))
        rule_of_member = walk.rules[member.kind_id]
        if type(rule_of_member) is model.Generic:  # a.b<T>
            member = field(rule_of_member.base)(member) or member
        name = walk.text(member).removeprefix(walk.resolution.sigil)
        walk.mentions.add(name)
        result = (MEMBER, walk.value(get_object(node)), name)
        walk.scope.reads.append((result, node.start_point[0] + 1))
        return result

    return lower


def arguments_of(walk: Lowering, node: Node | None) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
    """Positional and keyword arguments of an argument list."""
    if node is None:
        return (), ()
    own = type(walk.rules[node.kind_id])
    if own is not model.Sequence and own is not type(None):
        return (walk.value(node),), ()
    positional: list[Expression] = []
    keywords: list[tuple[str, Expression]] = []
    for child in node.named_children:
        rule = walk.rules[child.kind_id]
        kind = type(rule)
        if kind is model.KeywordArgument:
            name, value = field(rule.name)(child), field(rule.value)(child)
            if name is None:
                positional.append(walk.value(value))
            else:
                keywords.append((walk.resolution.sigil + walk.text(name), walk.value(value)))
        elif kind is model.Spread and rule.keyed:
            keywords.append(("", walk.value(field(rule.value)(child))))
        elif kind is not model.Comment:
            positional.append(walk.value(child))
    return tuple(positional), tuple(keywords)


def _call(rule: model.Call) -> type_of_handler:
    get_callee, get_arguments, get_receiver = field(rule.callee), field(rule.arguments), field(rule.receiver)
    tag = NEW if rule.constructs else CALL

    def lower(walk: Lowering, node: Node) -> Expression:
        callee_node, receiver = get_callee(node), get_receiver(node)
        fact = rule.imports(node, walk.text) if rule.imports is not None else None
        if fact is not None:
            walk.add_import(fact)
            return walk.imported(fact)
        callee: Expression
        if callee_node is None:
            callee = walk.value(receiver)
        elif receiver is not None:
            name = walk.text(callee_node)
            walk.mentions.add(name)
            callee = (MEMBER, walk.value(receiver), name)
        else:
            callee = walk.callee(callee_node)
        positional, keywords = arguments_of(walk, get_arguments(node))
        in_place = type(callee) is tuple and callee[0] == DEFINED
        line = (node.start_point if in_place else (callee_node or node).end_point)[0] + 1
        result = walk.call(callee, positional, keywords, line, tag)
        derives = walk.resolution.deriving_functions
        if derives and positional and type(callee) is tuple and callee[0] == MEMBER and type(callee[1]) is str:
            if f"{callee[1]}.{callee[2]}" in derives:
                return (MAPPING, (((SPREAD, None), positional[0]),), walk.next_serial())
        return result

    return lower


def _keyword_argument(rule: model.KeywordArgument) -> type_of_handler:
    get_value = field(rule.value)
    return lambda walk, node: walk.value(get_value(node))


def _spread(rule: model.Spread) -> type_of_handler:
    get_value = field(rule.value)

    def lower(walk: Lowering, node: Node) -> Expression:
        value = walk.value(get_value(node))
        return value and (SPREAD, value)

    return lower


def _item(rule: model.Item) -> type_of_handler:
    get_object, get_index = field(rule.object), field(rule.index)

    def lower(walk: Lowering, node: Node) -> Expression:
        index = get_index(node)
        value, key = walk.value(get_object(node)), walk.value(index)
        if value is not None and index is not None and type(walk.rules[index.kind_id]) is model.Slice:
            return (SEQUENCE, ((SPREAD, value),), walk.next_serial())
        return value and (ITEM, value, key)

    return lower


def _slice(rule: model.Slice) -> type_of_handler:
    def lower(walk: Lowering, node: Node) -> Expression:
        walk.visit(node.named_children)
        return None

    return lower


def _raises(rule: model.Raises) -> type_of_handler:
    get = field(rule.value)

    def lower(walk: Lowering, node: Node) -> Expression:
        raised = get(node)
        if raised is None:
            return None
        value = walk.callee(raised)
        walk.visit([child for child in node.named_children if child.id != raised.id])
        if type(value) is str or (type(value) is tuple and value[0] == MEMBER):
            walk.call(value, (), (), node.start_point[0] + 1, NEW)
        return None

    return lower


def _text(rule: model.Text) -> type_of_handler:
    def lower(walk: Lowering, node: Node) -> Expression:
        parts = node.named_children
        literal = [part for part in parts if part.type in rule.content]
        walk.visit([part for part in parts if part.type not in rule.content and part.named_child_count])
        if len(literal) == 1 and len(parts) <= 3:
            return (CONST, walk.text(literal[0]))
        if not parts:
            return (CONST, walk.text(node).strip("\"'`"))
        return (LITERAL, "str")

    return lower


def _literal(rule: model.Literal) -> type_of_handler:
    def lower(walk: Lowering, node: Node) -> Expression:
        if rule.type in INDEX_TYPES:
            text = walk.text(node)
            if text.isascii() and text.isdigit() and len(text) <= MAX_INDEX_DIGITS:
                return (CONST, int(text))
        return (LITERAL, rule.type)

    return lower


MAX_INDEX_DIGITS = 6
INDEX_TYPES = ("int", "number")


def _sequence(rule: model.Sequence) -> type_of_handler:
    def lower(walk: Lowering, node: Node) -> Expression:
        if rule.unwraps and node.named_child_count == 1:
            return walk.value(node.named_children[0])
        parts = tuple(walk.value(child) for child in node.named_children)
        serial = walk.next_serial()
        for index, child in enumerate(node.named_children):
            walk.displayed(serial, (CONST, index), child)
        return (SEQUENCE, parts, serial)

    return lower


def _comprehension(rule: model.Comprehension) -> type_of_handler:
    get_body = field(rule.body)

    def lower(walk: Lowering, node: Node) -> Expression:
        body = get_body(node)
        walk.visit([child for child in node.named_children if body is None or child.id != body.id])
        if body is None:
            return None
        inner = walk.rules[body.kind_id]
        if type(inner) is model.Pair:
            walk.value(field(inner.key)(body))
            return (MAPPING, ((None, walk.value(field(inner.value)(body))),), walk.next_serial())
        return (SEQUENCE, (walk.value(body),), walk.next_serial())

    return lower


def _key(text: str) -> Expression:
    """The constant key that is written in a mapping; digits in quotes are a number all the same."""
    plain = text.strip("\"'")
    return (CONST, int(plain) if plain.isascii() and plain.isdigit() and len(plain) <= MAX_INDEX_DIGITS else plain)


def _last_of_each(pairs: list[tuple[Expression, Expression]]) -> tuple[tuple[Expression, Expression], ...]:
    """Pairs without those whose constant key comes again."""
    last = {key: index for index, (key, _) in enumerate(pairs) if type(key) is tuple and key[0] == CONST}
    return tuple(pair for index, pair in enumerate(pairs) if last.get(pair[0], index) == index)


def _mapping(rule: model.Dictionary) -> type_of_handler:
    def lower(walk: Lowering, node: Node) -> Expression:
        naming, walk.naming = walk.naming, None
        walk.wrapped = None
        path, serial = naming.path if naming is not None else "", walk.next_serial()
        holder = (DISPLAYED, serial)
        pairs: list[tuple[Expression, Expression]] = []
        for child in node.named_children:
            inner = walk.rules[child.kind_id]
            kind = type(inner)
            if kind is model.Pair:
                key_node = field(inner.key)(child)
                named = key_node is not None and inner.names_are_keys and not key_node.named_child_count
                key = _key(walk.text(key_node)) if named and key_node else walk.value(key_node)
                if inner.names_are_keys and type(key) is tuple and key[0] == CONST:
                    key = _key(str(key[1]))
                walk.displayed(serial, key, child)
                value_node = field(inner.value)(child)
                if not inner.names_are_keys or type(key) is not tuple or key[0] != CONST or value_node is None:
                    pairs.append((key, walk.value(value_node)))
                    continue
                member = Naming(str(key[1]), key_node or child, path, holder, Kind.METHOD)
                if type(walk.rules[value_node.kind_id]) in (model.Function, model.Class):
                    walk.wrapped = (child, 0)
                value = walk.named(value_node, member)
                pairs.append((key, value))
                is_value = inner.defines is not None and naming is not None and walk.scope.kind is Kind.MODULE
                if inner.defines is not None and is_value and not walk.is_definition(value, member.name):
                    walk.define_value(child, member.name, member.node, inner.defines, path)
            elif kind is model.Spread:
                pairs.append(((SPREAD, None), walk.value(field(inner.value)(child))))
            elif kind is model.Name:  # { name }
                walk.displayed(serial, (CONST, walk.text(child)), child)
                pairs.append(((CONST, walk.text(child)), walk.value(child)))
            elif kind is model.Function:  # { name() { … } }
                name = field(inner.name)(child)
                if name is not None:
                    walk.naming = Naming(walk.text(name), name, path, holder, Kind.METHOD)
                    walk.displayed(serial, (CONST, walk.text(name)), name)
                pairs.append(((CONST, walk.text(name)) if name else None, walk.value(child)))
            else:
                walk.value(child)
        return (MAPPING, _last_of_each(pairs), serial)

    return lower


def _pair(rule: model.Pair) -> type_of_handler:
    get_key, get_value = field(rule.key), field(rule.value)

    def lower(walk: Lowering, node: Node) -> Expression:
        if not rule.names_are_keys:
            walk.value(get_key(node))
        return walk.value(get_value(node))

    return lower


def _either(rule: model.Either) -> type_of_handler:
    getters = [field(name) for name in rule.fields]

    def lower(walk: Lowering, node: Node) -> Expression:
        if not getters:
            return either(*[walk.value(child) for child in node.named_children])
        if rule.operators and not any(child.type in rule.operators for child in node.children):
            walk.visit(node.named_children)
            return None
        chosen = [child for child in (get(node) for get in getters) if child is not None]
        ids = {child.id for child in chosen}
        walk.visit([child for child in node.named_children if child.id not in ids])
        return either(*[walk.value(child) for child in chosen])

    return lower


def _inner(rule: model.Inner) -> type_of_handler:
    get = field(rule.field)

    def lower(walk: Lowering, node: Node) -> Expression:
        chosen = get(node)
        if node.named_child_count > 1:
            walk.visit([child for child in node.named_children if chosen is None or child.id != chosen.id])
        return walk.value(chosen)

    return lower


def _typed(rule: model.Typed) -> type_of_handler:
    get, get_value = field(rule.type), field(rule.value)

    def lower(walk: Lowering, node: Node) -> Expression:
        chosen, known = get(node), get_value(node)
        used = {child.id for child in (chosen, known) if child is not None}
        walk.visit([child for child in node.named_children if child.id not in used])
        return declared(walk, walk.value(known), walk.value(chosen))

    return lower


def _generic(rule: model.Generic) -> type_of_handler:
    get_base, get_arguments = field(rule.base), field(rule.arguments)

    def lower(walk: Lowering, node: Node) -> Expression:
        base, arguments = walk.value(get_base(node)), get_arguments(node)
        inner = () if arguments is None else tuple(walk.value(child) for child in arguments.named_children)
        return base and (GENERIC, base, inner)

    return lower


def _assign(rule: model.Assign) -> type_of_handler:
    get_left, get_right, get_type = field(rule.left), field(rule.right), field(rule.type)

    def lower(walk: Lowering, node: Node) -> Expression:
        wrapped, walk.wrapped = walk.wrapped, None
        left, right, annotation = get_left(node), get_right(node), walk.value(get_type(node))
        while (
            rule.updates
            and left is not None
            and type(walk.rules[left.kind_id]) is model.Inner
            and left.named_child_count == 1
        ):
            left = left.named_children[0]
        named = rule.names and left is not None and right is not None
        value = walk.assigned(left, right, wrapped) if named and left and right else walk.value(right)
        is_definition = left is not None and walk.is_definition(value, walk.text(left))
        value = declared(walk, value, annotation)
        if left is not None and rule.updates and type(walk.rules[left.kind_id]) is model.Name:
            value = walk.update(walk.text(left), value, straight=walk.is_straight(node))
        elif left is not None:
            walk.rebinds = walk.text(left) in walk.scope.bound or left.named_child_count > 0
            walk.rebinds = rule.declares or (walk.rebinds and walk.is_straight(node))
            outward, walk.outward = walk.outward, rule.outward
            walk.bind(left, value)
            walk.rebinds, walk.outward = False, outward
            if rule.defines is not None and (walk.scope.kind is Kind.MODULE or walk.scope.kind in SCOPE_OWNERS):
                if not is_definition:
                    _define_targets(walk, wrapped[0] if wrapped else node, left, rule.defines)
        return value

    return lower


def _define_targets(walk: Lowering, node: Node, target: Node, kind: Kind) -> None:
    own = type(walk.rules[target.kind_id])
    if own is model.Name:
        name = walk.text(target).removeprefix(walk.resolution.sigil)
        if kind is Kind.VARIABLE and walk.scope.kind in CLASS_KINDS:
            kind = Kind.FIELD
        elif kind is Kind.VARIABLE and name.isupper():
            kind = Kind.CONSTANT
        walk.define_value(node, name, target, kind)
    elif own in (model.Sequence, model.Spread, model.Inner, model.Dictionary):
        for child in target.named_children:
            _define_targets(walk, node, child, kind)
    elif own in (model.Pair, model.Assign):
        rule = walk.rules[target.kind_id]
        inner = field(rule.value if own is model.Pair else rule.left)(target)
        if inner is not None:
            _define_targets(walk, node, inner, kind)


def _return(rule: model.Return) -> type_of_handler:
    get = field(rule.value)

    def lower(walk: Lowering, node: Node) -> Expression:
        value = walk.value(get(node))
        if value is not None:
            walk.scope.returns.append(value)
        return None

    return lower


def _yield(rule: model.Yield) -> type_of_handler:
    get = field(rule.value)

    def lower(walk: Lowering, node: Node) -> Expression:
        value = walk.value(get(node))
        delegates = any(child.type == rule.delegate for child in node.children)
        walk.scope.flags |= GENERATOR
        if value is not None:
            walk.scope.yields.append((ELEMENT, value) if delegates else value)
        return None

    return lower


def _iterate(rule: model.Iterate) -> type_of_handler:
    get_target, get_iterable, get_type = field(rule.target), field(rule.iterable), field(rule.type)

    def lower(walk: Lowering, node: Node) -> Expression:
        target, iterable, annotation = get_target(node), get_iterable(node), walk.value(get_type(node))
        value = walk.value(iterable)
        if target is not None:
            walk.bind(target, declared(walk, value and (ELEMENT, value), annotation))
        if value is not None:
            _implicit_iteration(walk, value, node.start_point[0] + 1)
        used = {child.id for child in (target, iterable) if child is not None}
        walk.visit([child for child in node.named_children if child.id not in used])
        return None

    return lower


def _implicit_iteration(walk: Lowering, value: Expression, line: int) -> None:
    """Iterating calls methods that nobody writes down."""
    facts = walk.resolution
    if type(value) is tuple and value[0] in (SEQUENCE, MAPPING):
        return
    for method in facts.iterate_methods:
        walk.mentions.update((method, facts.next_method))
        started = walk.call((MEMBER, value, method), (), (), line)
        if facts.next_method:
            walk.call((MEMBER, started, facts.next_method), (), (), line)


def _alias(rule: model.Alias) -> type_of_handler:
    get_value, get_target = field(rule.value), field(rule.target)

    def lower(walk: Lowering, node: Node) -> Expression:
        enters, walk.enters = walk.enters, False
        value = walk.value(get_value(node))
        target = get_target(node)
        if enters:
            _implicit_enter(walk, value, node.start_point[0] + 1)
        if target is not None:
            walk.bind(target, value and (ENTER, value) if enters else value)
        return value

    return lower


def _implicit_enter(walk: Lowering, value: Expression, line: int) -> None:
    if value is None:
        return
    for method in (walk.resolution.enter_method, walk.resolution.exit_method):
        if method:
            walk.mentions.add(method)
            walk.call((MEMBER, value, method), (), (), line)


def _enters(rule: model.Enters) -> type_of_handler:
    get = field(rule.value)

    def lower(walk: Lowering, node: Node) -> Expression:
        inner = get(node)
        if inner is not None and type(walk.rules[inner.kind_id]) is model.Alias:
            walk.enters = True
            return walk.value(inner)
        value = walk.value(inner)
        _implicit_enter(walk, value, node.start_point[0] + 1)
        return value

    return lower


def _catches(rule: model.Catches) -> type_of_handler:
    get_type, get_target = field(rule.type), field(rule.target)

    def lower(walk: Lowering, node: Node) -> Expression:
        caught, target = get_type(node), get_target(node)
        used = {child.id for child in (caught, target) if child is not None}
        if caught is not None:
            inner = walk.rules[caught.kind_id]
            if type(inner) is model.Alias:  # `except E as e` as one node
                target = field(inner.target)(caught)
                caught = field(inner.value)(caught)
        value = walk.value(caught)
        if target is not None:
            walk.bind(target, value and (TYPED, value))
        walk.visit([child for child in node.named_children if child.id not in used])
        return None

    return lower


def _captures(rule: model.Captures) -> type_of_handler:
    def lower(walk: Lowering, node: Node) -> Expression:
        for child in node.named_children:
            innermost = child
            while innermost.named_child_count == 1 and innermost.type != node.type:
                innermost = innermost.named_children[0]
            covers_all = innermost.start_byte == child.start_byte and innermost.end_byte == child.end_byte
            if covers_all and type(walk.rules[innermost.kind_id]) is model.Name:
                walk.bind(innermost, None)
            else:
                walk.value(child)
        return None

    return lower


def _parameter(rule: model.Parameter) -> type_of_handler:
    """A parameter outside a parameter list binds its name in the current scope."""
    get_name, get_type, get_default = field(rule.name), field(rule.type), field(rule.default)

    def lower(walk: Lowering, node: Node) -> Expression:
        annotation = walk.value(get_type(node))
        value = declared(walk, walk.value(get_default(node)), annotation)
        name = get_name(node)
        if name is not None:
            walk.bind(name, value)
            if rule.defines is not None and walk.scope.kind in CLASS_KINDS:
                walk.define_value(node, walk.text(name), name, rule.defines)
        return None

    return lower


def _type_parameter(rule: model.TypeParameter) -> type_of_handler:
    get_name, get_bound = field(rule.name), field(rule.bound)

    def lower(walk: Lowering, node: Node) -> Expression:
        name, bound = get_name(node), walk.value(get_bound(node))
        if name is not None:
            walk.type_parameters[walk.text(name)] = bound
            walk.written(walk.text(name), name)
        return None

    return lower


def _block(rule: model.Block) -> type_of_handler:
    def lower(walk: Lowering, node: Node) -> Expression:
        scope, before = walk.scope, dict(walk.scope.versions)
        value: Expression = None
        for child in node.named_children:
            value = walk.value(child)
        scope.versions = before
        return value if rule.is_value else None

    return lower


def parameters_of(walk: Lowering, node: Node | None) -> tuple[list[Parameter], list[tuple[str, Node]]]:
    """Parameters of a list, and the patterns that the body must take apart: (synthetic name, pattern).

    Types and defaults are lowered here, in the enclosing scope, where their calls happen.
    """
    parameters: list[Parameter] = []
    patterns: list[tuple[str, Node]] = []
    if node is None:
        return parameters, patterns
    if type(walk.rules[node.kind_id]) is model.Name:
        walk.written(walk.text(node), node)
        return [Parameter(walk.text(node), None, None, POSITIONAL)], patterns
    for child in node.named_children:
        rule = walk.rules[child.kind_id]
        if type(rule) in (model.Comment, model.Skip):
            continue
        name_node, annotation, default, mode = child, None, None, POSITIONAL
        if type(rule) is model.Parameter:
            found = field(rule.name)(child)
            if found is not None and found.type == rule.ignored:
                continue
            annotation, default = walk.value(field(rule.type)(child)), walk.value(field(rule.default)(child))
            mode = rule.mode
            if found is None:
                parameters.append(Parameter(f"#{len(parameters)}", annotation, default, mode))
                continue
            name_node = found
        elif type(rule) is model.Assign:  # a pattern with a default
            default = walk.value(field(rule.right)(child))
            name_node = field(rule.left)(child) or child
        inner = walk.rules[name_node.kind_id]
        while type(inner) is model.Spread:
            mode = KEYWORD_REST if inner.keyed else REST
            unwrapped = next(iter(name_node.named_children), None)
            if unwrapped is None:
                break
            name_node, inner = unwrapped, walk.rules[unwrapped.kind_id]
        if type(inner) in (model.Sequence, model.Dictionary):
            name = f"#{len(parameters)}"
            patterns.append((name, name_node))
        else:
            name = walk.text(name_node)
            walk.written(name, name_node)
        parameters.append(Parameter(name, annotation, default, mode))
        for further in child.children_by_field_name(rule.name)[1:] if _may_list_names(rule) else ():
            walk.written(walk.text(further), further)
            parameters.append(Parameter(walk.text(further), annotation, default, mode))
    return parameters, patterns


def _may_list_names(rule: Any) -> bool:
    return type(rule) is model.Parameter and rule.name[:1] not in ("", "#", ":")


def _function(rule: model.Function) -> type_of_handler:
    get_name, get_parameters, get_body = field(rule.name), field(rule.parameters), field(rule.body)
    get_returns, get_receiver = field(rule.returns), field(rule.receiver)
    get_generics = [field(name) for name in rule.generics]

    def lower(walk: Lowering, node: Node) -> Expression:
        naming, walk.naming = walk.naming, None
        if rule.repeats is not None and rule.repeats(node):
            walk.wrapped = None
            return None
        own_name, body = get_name(node), get_body(node)
        name_node = naming.node if naming is not None else own_name
        if naming is not None:
            name = naming.name or (walk.text(own_name) if own_name is not None else walk.text(naming.node))
        else:
            name = walk.text(name_node) if name_node is not None else walk.anonymous("lambda")
        parent, type_parameters = walk.scope, walk.type_parameters
        if get_generics:
            walk.type_parameters = dict(type_parameters)
            walk.visit([found for found in (get(node) for get in get_generics) if found is not None])
        parameters, patterns = (
            parameters_of(walk, get_parameters(node)) if rule.read is None else (rule.read(walk, node), [])
        )
        returned = walk.value(get_returns(node))
        receivers, _ = parameters_of(walk, get_receiver(node))
        owner = base_name(receivers[0].annotation) if receivers else ""
        kind = rule.kind if name_node is not None else Kind.LAMBDA
        flags = rule.flags
        if naming is not None:
            kind, owner = naming.kind or kind, naming.prefix
        if naming is not None or rule.is_value:
            flags |= DETACHED
        if naming is not None and rule.kind is Kind.METHOD:
            flags |= OWN_RECEIVER
        if rule.modifiers:
            flags |= sum({rule.modifiers[child.type] for child in node.children if child.type in rule.modifiers})
        belongs = bool(owner) and naming is None
        if kind is Kind.FUNCTION and (parent.kind in SCOPE_OWNERS - {Kind.NAMESPACE} or belongs):
            kind = Kind.METHOD
        if kind is Kind.METHOD and (flags | (walk.wrapped[1] if walk.wrapped else 0)) & PROPERTY:
            kind = Kind.PROPERTY
        draft = walk.enter(node, kind, name, name_node, body, owner)
        draft.flags |= flags
        draft.holder = naming.holder if naming is not None else None
        if body is None and walk.resolution.virtual:
            draft.flags |= ABSTRACT
        draft.parameters = receivers + parameters
        draft.receiver_type = receivers[0].annotation if receivers else None
        draft.returned_type = returned
        walk.scope = draft
        draft.body = body.id if body is not None else 0
        draft.bound.update(parameter.name for parameter in draft.parameters)
        draft.types.update((parameter.name, parameter.annotation) for parameter in draft.parameters)
        for synthetic, pattern in patterns:
            walk.bind(pattern, synthetic)
        if rule.results_are_variables:
            results = get_returns(node)
            walk.visit(
                [part for part in results.named_children if type(walk.rule(part)) is model.Parameter] if results else []
            )
        if rule.is_value and own_name is not None:
            draft.binds.append((walk.text(own_name), (DEFINED, draft.definition)))
            walk.written(walk.text(own_name), own_name)
        _bind_fields(walk, get_parameters(node), draft, parent)
        value = walk.value(body)
        if rule.body_is_value and value is not None:
            draft.returns.append(value)
        walk.type_parameters = type_parameters
        return walk.leave(draft, parent)

    return lower


def _bind_fields(walk: Lowering, node: Node | None, draft: ScopeDraft, owner: ScopeDraft) -> None:
    """Parameters that are fields of the class too."""
    for child in node.named_children if node is not None else ():
        rule = walk.rules[child.kind_id]
        if type(rule) is not model.Parameter or not rule.fields:
            continue
        name_node = field(rule.name)(child)
        if name_node is None or not any(part.type in rule.fields for part in child.children):
            continue
        name = walk.text(name_node)
        draft.binds.extend(((MEMBER, receiver, name), name) for receiver in walk.resolution.receiver_names)
        annotation = next((parameter.annotation for parameter in draft.parameters if parameter.name == name), None)
        walk.scope = owner
        if annotation is not None:
            walk.bind_name(name, (TYPED, annotation))
        walk.define_value(child, name, name_node, Kind.FIELD)
        walk.scope = draft


def base_name(annotation: Expression) -> str:
    """The last name of a type expression: `pkg.T[int]` gives `T`."""
    while type(annotation) is tuple:
        if annotation[0] == MEMBER:
            return str(annotation[2])
        annotation = annotation[1] if annotation[0] in (GENERIC, ITEM, LITERAL, TYPED) else None
    return annotation if type(annotation) is str else ""


def _class(rule: model.Class) -> type_of_handler:
    get_name, get_body = field(rule.name), field(rule.body)
    get_bases, get_alias = [field(name) for name in rule.bases], field(rule.alias)
    get_generics = [field(name) for name in rule.generics]

    def lower(walk: Lowering, node: Node) -> Expression:
        naming, walk.naming = walk.naming, None
        own_name, body = get_name(node), get_body(node)
        name_node = naming.node if naming is not None else own_name
        parent, type_parameters = walk.scope, walk.type_parameters
        if get_generics:
            walk.type_parameters = dict(type_parameters)
            walk.visit([found for found in (get(node) for get in get_generics) if found is not None])
        if rule.alias and body is None:
            value = walk.value(get_alias(node))
            walk.type_parameters = type_parameters
            return _type_alias(walk, node, own_name, value, rule.kind)
        bases: list[Expression] = []
        skipped = {child.id for child in (own_name, body) if child is not None}
        for get in get_bases:
            listed = get(node)
            while listed is not None:
                skipped.add(listed.id)
                bases.extend(_bases(walk, listed))
                following = listed.next_named_sibling  # a grammar may have a node for each base
                listed = following if following is not None and following.type == listed.type else None
        if name_node is None:
            name = walk.anonymous("class")
        elif rule.extends:
            name = base_name(walk.value(name_node)) or walk.text(name_node)
        elif naming is not None:
            name = naming.name or (walk.text(own_name) if own_name is not None else walk.text(naming.node))
        else:
            name = walk.text(name_node)
        prefix = naming.prefix if naming is not None else ""
        draft = walk.enter(node, Kind.EXTENSION if rule.extends else rule.kind, name, name_node, body, prefix)
        draft.bases = bases
        if naming is not None or rule.is_value:
            draft.flags |= DETACHED
        if rule.extends:
            draft.flags |= EXTENSION
            draft.receiver_type = walk.value(name_node)
        walk.scope = draft
        draft.body = body.id if body is not None else 0
        walk.visit([child for child in node.named_children if child.id not in skipped])
        walk.value(body)
        walk.type_parameters = type_parameters
        return walk.leave(draft, parent)

    return lower


def _type_alias(walk: Lowering, node: Node, name_node: Node | None, value: Expression, kind: Kind) -> Expression:
    """A name for another type: what is declared with it is an instance of that."""
    wrapped, walk.wrapped = walk.wrapped, None
    if name_node is not None:
        name = walk.text(name_node)
        walk.bind_name(name, value and (TYPED, value), name_node)
        walk.define_value(wrapped[0] if wrapped else node, name, name_node, kind)
    return None


def _bases(walk: Lowering, node: Node) -> list[Expression]:
    """The base types that a node lists; keyword arguments (`metaclass=`) are visited only."""
    if walk.rules[node.kind_id] is not None and type(walk.rules[node.kind_id]) is not model.Sequence:
        return [walk.value(node)]
    found: list[Expression] = []
    for child in node.named_children:
        if type(walk.rules[child.kind_id]) is model.KeywordArgument:
            walk.value(child)
        elif walk.rules[child.kind_id] is None:
            found.extend(_bases(walk, child))
        else:
            value = walk.value(child)
            if value is not None:
                found.append(value)
    return found


def _variable(rule: model.Variable) -> type_of_handler:
    get_name, get_type, get_value = field(rule.name), field(rule.type), field(rule.value)

    def lower(walk: Lowering, node: Node) -> Expression:
        name, annotation, value_node = get_name(node), walk.value(get_type(node)), get_value(node)
        wrapped, walk.wrapped = walk.wrapped, None
        if rule.names and name is not None and value_node is not None:
            if type(walk.rules[value_node.kind_id]) in (model.Function, model.Class):
                walk.wrapped = wrapped or (node, 0)
            value = walk.named(value_node, Naming(walk.text(name), name))
        else:
            value = walk.value(value_node)
        is_definition = name is not None and walk.is_definition(value, walk.text(name))
        value = declared(walk, value, annotation)
        used = {child.id for child in (name, get_type(node), get_value(node)) if child is not None}
        walk.visit([child for child in node.named_children if child.id not in used])
        if name is not None:
            text = walk.text(name)
            walk.bind_name(text, value, name)
            if not is_definition and (walk.scope.kind is Kind.MODULE or walk.scope.kind in SCOPE_OWNERS):
                walk.define_value(wrapped[0] if wrapped else node, text, name, rule.kind)
        return None

    return lower


def _variables(rule: model.Variables) -> type_of_handler:
    get_type, get_name, get_value = field(rule.type), field(rule.name), field(rule.value)

    def lower(walk: Lowering, node: Node) -> Expression:
        typed = get_type(node)
        annotation = walk.value(typed)
        scope = walk.scope
        symbol = scope.kind is Kind.MODULE or scope.kind in SCOPE_OWNERS
        wrapped, walk.wrapped = walk.wrapped, None
        outermost = wrapped[0] if wrapped else node
        for child in node.named_children:
            if child.type != rule.each:
                if typed is None or child.id != typed.id:
                    walk.value(child)
                continue
            name, value = get_name(child), walk.value(get_value(child))
            if name is None:
                continue
            text = walk.text(name)
            walk.written(text, name)
            walk.rebinds = text in scope.bound and walk.is_straight(node)
            if symbol or value is not None:
                walk.bind_name(text, declared(walk, value, annotation), name)
            else:  # a local variable holds what is assigned later
                walk.bind_name(text, None, name)
            walk.rebinds = False
            if annotation is not None and not symbol:
                scope.types[text] = annotation
            if symbol:
                walk.define_value(outermost, text, name, rule.kind)
        return None

    return lower


def _wrapper(rule: model.Wrapper) -> type_of_handler:
    get_definition = field(rule.definition)

    def lower(walk: Lowering, node: Node) -> Expression:
        inner = get_definition(node)
        if inner is None:
            walk.visit(node.named_children)
            return None
        decorators, flags = _decorators(walk, node, rule)
        if type(walk.rules[inner.kind_id]) in (model.Function, model.Class, model.Variables):
            walk.wrapped = (walk.wrapped[0] if walk.wrapped else node, flags)
        result = walk.value(inner)
        if type(result) is not tuple or result[0] != DEFINED:
            return result
        draft = walk.drafts[result[1]]
        for expression, line in decorators:
            result = walk.call(expression, (result,), (), line)
        if draft is not None and decorators:
            draft.decorated = result
        return result

    return lower


def _statement(rule: model.Statement) -> type_of_handler:
    def lower(walk: Lowering, node: Node) -> Expression:
        children = [child for child in node.named_children if type(walk.rules[child.kind_id]) is not model.Comment]
        single = len(children) == 1 and type(walk.rules[children[0].kind_id]) in HELD_IN_STATEMENTS
        walk.wrapped = (walk.wrapped or (node, 0)) if single else None
        result: Expression = None
        for child in children:
            result = walk.value(child)
        walk.wrapped = None
        return result

    return lower


HELD_IN_STATEMENTS = (model.Assign, model.Function, model.Class, model.Variable, model.Statement)


def _decorators(walk: Lowering, node: Node, rule: model.Wrapper) -> tuple[list[tuple[Expression, int]], int]:
    """Decorator expressions with their lines, innermost first, and the flags that some of them mean instead."""
    found: list[tuple[Expression, int]] = []
    flags = rule.flags
    meanings = walk.resolution.value_decorators
    for child in node.named_children:
        if not rule.decorators or child.type != rule.decorators or not child.named_children:
            continue
        inner = child.named_children[0]
        text = walk.text(inner).partition("(")[0]
        meaning = meanings.get(text) or meanings.get(text.rpartition(".")[2])
        expression = walk.value(inner)
        if meaning:
            flags |= meaning
        elif expression is not None:
            found.append((expression, child.start_point[0] + 1))
    return found[::-1], flags


def _outer(rule: model.Outer) -> type_of_handler:
    def lower(walk: Lowering, node: Node) -> Expression:
        walk.scope.outer.extend((walk.text(child), int(rule.module)) for child in node.named_children)
        return None

    return lower


def _imports(rule: model.Imports) -> type_of_handler:
    def lower(walk: Lowering, node: Node) -> Expression:
        for fact in rule.read(node, walk.text):
            walk.add_import(fact)
        return None

    return lower


def _attribute(rule: model.Attribute) -> type_of_handler:
    def lower(walk: Lowering, node: Node) -> Expression:
        walk.visit(node.named_children)
        return None

    return lower


def _label(rule: model.Label) -> type_of_handler:
    get_name = field(rule.name)

    def lower(walk: Lowering, node: Node) -> Expression:
        name = get_name(node)
        if name is not None:
            walk.written(LABEL_MARK + walk.text(name), name)
        walk.visit([child for child in node.named_children if name is None or child.id != name.id])
        return None

    return lower


def _jump(rule: model.Jump) -> type_of_handler:
    get_label = field(rule.label)

    def lower(walk: Lowering, node: Node) -> Expression:
        label = get_label(node)
        walk.visit([child for child in node.named_children if label is None or child.id != label.id])
        return None

    return lower


def _nothing(rule: model.Comment | model.Skip) -> type_of_handler:
    return lambda walk, node: None


def _custom(rule: model.Custom) -> type_of_handler:
    return rule.lower


COMPILERS: dict[type[Any], Callable[[Any], type_of_handler]] = {
    model.Name: _name,
    model.Member: _member,
    model.Call: _call,
    model.KeywordArgument: _keyword_argument,
    model.Spread: _spread,
    model.Item: _item,
    model.Slice: _slice,
    model.Raises: _raises,
    model.Text: _text,
    model.Literal: _literal,
    model.Sequence: _sequence,
    model.Comprehension: _comprehension,
    model.Dictionary: _mapping,
    model.Pair: _pair,
    model.Either: _either,
    model.Inner: _inner,
    model.Typed: _typed,
    model.Generic: _generic,
    model.Assign: _assign,
    model.Return: _return,
    model.Yield: _yield,
    model.Iterate: _iterate,
    model.Alias: _alias,
    model.Enters: _enters,
    model.Catches: _catches,
    model.Captures: _captures,
    model.Parameter: _parameter,
    model.TypeParameter: _type_parameter,
    model.Block: _block,
    model.Function: _function,
    model.Class: _class,
    model.Variable: _variable,
    model.Variables: _variables,
    model.Wrapper: _wrapper,
    model.Statement: _statement,
    model.Outer: _outer,
    model.Imports: _imports,
    model.Comment: _nothing,
    model.Attribute: _attribute,
    model.Label: _label,
    model.Jump: _jump,
    model.Skip: _nothing,
    model.Custom: _custom,
}
