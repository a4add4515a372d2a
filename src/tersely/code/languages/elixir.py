"""Elixir.

Everything is a call: `defmodule`, `def`, `alias` and `if` are told apart by their names. Modules
are known everywhere by their whole names, which aliases shorten within a file. The clauses of a
function are one definition; functions of one name are told apart by the number of their arguments.
An implementation of a protocol adds its functions to it.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from itertools import pairwise
from typing import TYPE_CHECKING

from tersely.code.expressions import (
    ABSTRACT,
    CONST,
    ELEMENT,
    EXTENSION,
    ITEM,
    MAPPING,
    MEMBER,
    POSITIONAL,
    PRIVATE,
    SEQUENCE,
    TYPED,
    Expression,
    Parameter,
    either,
    is_tagged,
)  # fmt: skip
from tersely.code.languages import model
from tersely.code.languages.closures import assign_outer, holder
from tersely.code.languages.model import (
    Comment,
    Custom,
    Files,
    Language,
    Literal,
    Resolution,
    Skip,
    Summary,
    Text,
    names,
)
from tersely.code.languages.nodes import (
    all_parts,
    first_part,
    last_line_of,
    line_of,
    named_parts,
    parts_in,
    parts_of,
)
from tersely.code.places import file_name_of
from tersely.code.symbols import Import, Kind

if TYPE_CHECKING:
    from tree_sitter import Node

    from tersely.code.syntax.drafts import ScopeDraft
    from tersely.code.syntax.lowering import Lowering

FUNCTIONS = {
    "def": 0, "defp": PRIVATE, "defmacro": 0, "defmacrop": PRIVATE, "defguard": 0, "defguardp": PRIVATE,
    "defdelegate": 0, "defn": 0, "defnp": PRIVATE, "defcallback": ABSTRACT, "defmacrocallback": ABSTRACT,
}  # fmt: skip
SEES_OUT = frozenset({Kind.LAMBDA})
MODULES = frozenset({Kind.NAMESPACE, Kind.INTERFACE, Kind.EXTENSION})
TYPE_ATTRIBUTES = frozenset({"type", "typep", "opaque"})
CALLBACK_ATTRIBUTES = frozenset({"callback", "macrocallback"})
SILENT_ATTRIBUTES = frozenset(
    "doc moduledoc typedoc spec impl derive deprecated since dialyzer enforce_keys optional_callbacks".split()
)
NAME = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")


def grammar() -> object:
    """The grammar of the wheel."""
    import tree_sitter_elixir

    return tree_sitter_elixir.language()


def module_files(files: Files, importer: str, module: str) -> list[str]:
    """The files that by custom hold a module: `MyApp.UserName` is in `my_app/user_name.ex`, or at
    least so named.
    """
    tail = "/".join(NAME.sub("_", part).lower() for part in module.split("."))
    for stem in (tail, file_name_of(tail)):
        found = [path for suffix in (".ex", ".exs") for path in files.ending(stem + suffix)]
        if found and (stem == tail or len(found) == 1):
            return sorted(found, key=lambda path: (path.count("/"), path))
    return []


def part(node: Node, field: str) -> Node | None:
    """A field of a node. Parentheses around it carry the field's name too."""
    return next((child for child in parts_in(node, field) if child.is_named), None)


# Names of modules


def _expand(walk: Lowering, dotted: str) -> str:
    """The whole name of a module as the aliases in sight have it."""
    first, dot, rest = dotted.partition(".")
    position = walk.scope.definition
    while position >= 0:
        known = walk.notes.get(f"alias {position} {first}")
        if known is not None:
            return f"{known}{dot}{rest}"
        position = walk.definitions[position].parent
    return dotted


def _own_module(walk: Lowering) -> str:
    position = walk.scope.definition
    while position > 0 and walk.definitions[position].kind not in MODULES:
        position = walk.definitions[position].parent
    return walk.definitions[position].qualname


def _module_name(walk: Lowering, node: Node | None) -> str:
    """The whole name that an alias, `__MODULE__` or `__MODULE__.A` stands for, empty for anything
    else.
    """
    if node is None:
        return ""
    if node.type == "alias":
        return _expand(walk, walk.text(node).replace(" ", ""))
    if node.type == "identifier" and walk.text(node) == "__MODULE__":
        return _own_module(walk)
    if node.type == "dot":
        left, right = part(node, "left"), part(node, "right")
        before = _module_name(walk, left)
        if before and right is not None and right.type == "alias":
            return f"{before}.{walk.text(right)}"
    return ""


def _lower_alias_name(walk: Lowering, node: Node) -> Expression:
    name = _module_name(walk, node)
    if not name:
        walk.values(node)
        return None
    walk.mentions.add(name.rpartition(".")[2])
    walk.scope.read.add(name)
    return name


# Modules


def arguments_of(call: Node) -> list[Node]:
    """The arguments of a call, without its block."""
    listed = next((child for child in named_parts(call) if child.type == "arguments"), None)
    return parts_of(listed)


def do_block_of(call: Node) -> Node | None:
    """The `do … end` that a call is given."""
    return next((child for child in named_parts(call) if child.type == "do_block"), None)


def _keyword(walk: Lowering, arguments: list[Node], wanted: str) -> Node | None:
    """The value of `wanted: value` among the arguments."""
    for argument in arguments:
        for pair in named_parts(argument) if argument.type == "keywords" else ():
            key = part(pair, "key")
            if key is not None and walk.text(key).strip().rstrip(":") == wanted:
                return part(pair, "value")
    return None


def _define_module(walk: Lowering, node: Node, form: str) -> Expression:
    """`defmodule A.B do … end`, `defprotocol P do … end`, `defimpl P, for: T do … end`."""
    arguments, block = arguments_of(node), do_block_of(node)
    if not arguments:
        walk.values(node)
        return None
    name_node = arguments[0]
    written = (
        _module_name(walk, name_node)
        if form == "defimpl"
        else walk.text(name_node).replace("__MODULE__.", "")
    )
    prefix, _, name = written.rpartition(".")
    parent = walk.scope
    kind = {"defprotocol": Kind.INTERFACE, "defimpl": Kind.EXTENSION}.get(form, Kind.NAMESPACE)
    draft = walk.enter(node, kind, name, name_node, block, prefix)
    row = walk.definitions[draft.definition]
    doc = _attribute_text(walk, block, "moduledoc")
    walk.definitions[draft.definition] = row._replace(
        doc_start_byte=doc[0] or row.doc_start_byte, doc_end_byte=doc[1] or row.doc_end_byte
    )
    if form == "defimpl":
        draft.flags |= EXTENSION
        draft.receiver_type = written
        walk.mentions.add(name)
    else:
        first = written.partition(".")[0]
        own = f"{parent.qualname}.{first}" if parent.qualname else first
        walk.notes[f"alias {parent.definition} {first}"] = own
    walk.scope = draft
    walk.visit(arguments[1:])
    _lower_block(walk, block)
    return walk.leave(draft, parent)


def _attribute_text(walk: Lowering, block: Node | None, name: str) -> tuple[int, int]:
    """The place of the text of an attribute such as `@moduledoc` in a block."""
    for child in parts_of(block):
        attribute, value = _attribute(walk, child)
        if attribute == name and value is not None and value.type in ("string", "sigil"):
            return value.start_byte, value.end_byte
    return 0, 0


def _attribute(walk: Lowering, node: Node) -> tuple[str, Node | None]:
    """Name and value of `@name value`."""
    if node.type != "unary_operator" or not node.children or all_parts(node)[0].type != "@":
        return "", None
    operand = part(node, "operand")
    if operand is None or operand.type != "call":
        return "", None
    target, arguments = part(operand, "target"), arguments_of(operand)
    return (walk.text_or_none(target)), (arguments[0] if arguments else None)


def _lower_attribute(walk: Lowering, node: Node) -> Expression:
    """`@name value` sets, `@name` reads."""
    name, value = _attribute(walk, node)
    if not name:
        operand = part(node, "operand")
        return f"@{walk.text(operand)}" if operand is not None else None
    if name in SILENT_ATTRIBUTES or value is None:
        return None
    if name in TYPE_ATTRIBUTES:
        return _define_type(walk, node, value)
    if name in CALLBACK_ATTRIBUTES:
        head = part(value, "left") if value.type == "binary_operator" else value
        return (
            _define_function(walk, node, head, None, Kind.FUNCTION, ABSTRACT)
            if head is not None
            else None
        )
    if name in ("behaviour", "behavior"):
        base = walk.value(value)
        walk.scope.bases.extend([base] if base is not None else [])
        return None
    walk.bind_name(f"@{name}", walk.value(value))
    if walk.scope.kind in MODULES:
        walk.define_value(node, f"@{name}", node, Kind.CONSTANT)
    return None


def _define_type(walk: Lowering, node: Node, value: Node) -> Expression:
    """`@type t :: …`."""
    head = part(value, "left") if value.type == "binary_operator" else None
    name = part(head, "target") if head is not None and head.type == "call" else head
    if name is not None:
        walk.define_node(node, name, Kind.TYPE)
    return None


def _define_fields(walk: Lowering, node: Node, form: str) -> Expression:
    """`defstruct [:a, b: 1]`."""
    pending = arguments_of(node)
    while pending:
        child = pending.pop(0)
        if child.type in ("list", "keywords"):
            pending = [*named_parts(child), *pending]
        elif child.type == "atom":
            walk.define_value(child, walk.text(child).lstrip(":"), child, Kind.FIELD)
        elif child.type == "pair":
            key = part(child, "key")
            if key is not None:
                walk.define_value(child, walk.text(key).strip().rstrip(":"), key, Kind.FIELD)
            walk.value(part(child, "value"))
    return None


# Functions


def _define(walk: Lowering, node: Node, form: str) -> Expression:
    """`def f(a) when g do … end` and its relatives."""
    arguments = arguments_of(node)
    if not arguments:
        walk.values(node)
        return None
    kind = Kind.MACRO if form.startswith("defmacro") else Kind.FUNCTION
    body = do_block_of(node) or _keyword(walk, arguments[1:], "do")
    is_declared = body is None and walk.scope.kind is Kind.INTERFACE
    flags = FUNCTIONS[form] | (ABSTRACT if is_declared else 0)
    result = _define_function(walk, node, arguments[0], body, kind, flags)
    if form == "defdelegate" and type(result) is tuple:
        _delegate(walk, arguments, walk.drafts[result[1]], walk.definitions[result[1]].name)
    return result


def _delegate(walk: Lowering, arguments: list[Node], draft: ScopeDraft | None, name: str) -> None:
    """`defdelegate f(x), to: M, as: :g` calls `M.g(x)`."""
    target = _keyword(walk, arguments, "to")
    other = _keyword(walk, arguments, "as")
    if draft is None or target is None:
        return
    parent, walk.scope = walk.scope, draft
    called = walk.text(other).lstrip(":") if other is not None else name
    walk.mentions.add(called)
    values = tuple(parameter.name for parameter in draft.parameters)
    draft.returns.append(
        walk.call((MEMBER, walk.value(target), called), values, (), line_of(target))
    )
    walk.scope = parent


def head_of(text: Callable[[Node], str], head: Node) -> tuple[str, Node, list[Node], list[Node]]:
    """Name, name node, parameters and guards of a function head."""
    guards: list[Node] = []
    if head.type == "binary_operator" and operator_of(head) == "when":
        right = part(head, "right")
        guards = [right] if right is not None else []
        head = part(head, "left") or head
    if head.type == "binary_operator" and operator_of(head) == "::":
        # what it gives is declared beside it
        head = part(head, "left") or head
    if head.type == "call":
        target = part(head, "target") or head
        return text(target), target, arguments_of(head), guards
    if head.type in ("binary_operator", "unary_operator"):
        operands = named_parts(head)
        sign = next((child for child in head.children if not child.is_named), head)
        return text(sign), sign, operands, guards
    return text(head), head, [], guards


def _define_function(
    walk: Lowering, node: Node, head: Node, body: Node | None, kind: Kind, flags: int
) -> Expression:
    name, name_node, listed, guards = head_of(walk.text, head)
    parent = walk.scope
    draft = _earlier_clause(walk, name, len(listed), kind)
    if draft is None:
        draft = walk.enter(node, kind, name, name_node, None)
        row = walk.definitions[draft.definition]
        doc = _doc_above(walk, node)
        walk.definitions[draft.definition] = row._replace(
            signature_end_byte=head.end_byte, doc_start_byte=doc[0] or row.doc_start_byte,
            doc_end_byte=doc[1] or row.doc_end_byte,
        )  # fmt: skip
        draft.flags |= flags
        draft.parameters = [
            Parameter(f"#{position}", None, None, POSITIONAL) for position in range(len(listed))
        ]
    else:
        row = walk.definitions[draft.definition]
        walk.definitions[draft.definition] = row._replace(
            end_line=last_line_of(node), end_byte=node.end_byte
        )
        walk.reopened(draft, node)
    walk.scope = draft
    for position, pattern in enumerate(listed):
        _receive(walk, draft, position, pattern)
    walk.visit(guards)
    value = (
        _lower_block(walk, body)
        if body is not None and body.type == "do_block"
        else walk.value(body)
    )
    if value is not None:
        draft.returns.append(value)
    return walk.leave(draft, parent)


def _earlier_clause(walk: Lowering, name: str, arity: int, kind: Kind) -> ScopeDraft | None:
    """The definition right before this one in the same module if it is another clause of the same
    function.
    """
    for position in range(len(walk.definitions) - 1, walk.scope.definition, -1):
        row = walk.definitions[position]
        if row.parent != walk.scope.definition or row.kind == Kind.LAMBDA:
            continue
        draft = walk.drafts[position]
        same = (
            row.name == name
            and row.kind == kind
            and draft is not None
            and len(draft.parameters) == arity
        )
        return draft if same and draft is not None and not draft.flags & ABSTRACT else None
    return None


def _receive(walk: Lowering, draft: ScopeDraft, position: int, pattern: Node) -> None:
    """Bind what the pattern of a parameter names."""
    name = draft.parameters[position].name
    if pattern.type == "binary_operator" and operator_of(pattern) == "\\\\":
        default = walk.value(part(pattern, "right"))
        draft.parameters[position] = draft.parameters[position]._replace(
            default=default or (CONST, "nil")
        )
        pattern = part(pattern, "left") or pattern
    if pattern.type == "identifier" and name.startswith("#"):
        # the first clause that names it names it for all
        own = walk.text(pattern)
        if all(parameter.name != own for parameter in draft.parameters):
            draft.binds = [
                (target, own if value == name else value) for target, value in draft.binds
            ]
            draft.parameters[position] = draft.parameters[position]._replace(name=own)
            draft.bound.add(own)
            walk.written(own, pattern)
            return
    if pattern.type == "identifier" and walk.text(pattern) == name:
        walk.written(name, pattern)
        return
    _bind(walk, pattern, name)


def _doc_above(walk: Lowering, node: Node) -> tuple[int, int]:
    """The text of the `@doc` that belongs to a definition."""
    previous = node.prev_named_sibling
    while previous is not None:
        name, value = _attribute(walk, previous)
        if name == "doc":
            is_text = value is not None and value.type in ("string", "sigil")
            return (value.start_byte, value.end_byte) if value is not None and is_text else (0, 0)
        if previous.type != "comment" and name not in SILENT_ATTRIBUTES:
            return 0, 0
        previous = previous.prev_named_sibling
    return 0, 0


def _lower_anonymous(walk: Lowering, node: Node) -> Expression:
    """`fn a, b -> … end`."""
    parent = walk.scope
    draft = walk.enter_lambda(node, None)
    walk.scope = draft
    for clause in named_parts(node):
        if clause.type != "stab_clause":
            walk.value(clause)
            continue
        patterns, guards = _clause_patterns(clause)
        while len(draft.parameters) < len(patterns):
            draft.parameters.append(Parameter(f"#{len(draft.parameters)}", None, None, POSITIONAL))
        for position, pattern in enumerate(patterns):
            _receive(walk, draft, position, pattern)
        walk.visit(guards)
        value = walk.value(part(clause, "right"))
        if value is not None:
            draft.returns.append(value)
    return walk.leave(draft, parent)


def _clause_patterns(clause: Node) -> tuple[list[Node], list[Node]]:
    """Patterns and guards left of `->`."""
    left = part(clause, "left")
    if left is None:
        return [], []
    if left.type == "binary_operator" and operator_of(left) == "when":
        listed, guard = part(left, "left"), part(left, "right")
        if listed is None or guard is None:
            return [], []
        return (named_parts(listed) if listed.type == "arguments" else [listed]), [guard]
    return (named_parts(left) if left.type == "arguments" else [left]), []


def _lower_capture(walk: Lowering, node: Node) -> Expression:
    """`&f/1`, `&M.f/1` are the function; `&(…)` is an anonymous one."""
    operand = part(node, "operand")
    if operand is None:
        return None
    if operand.type == "integer":
        return f"&{walk.text(operand)}"
    if operand.type == "binary_operator" and operator_of(operand) == "/":
        named = part(operand, "left")
        if named is not None and named.type == "identifier":
            walk.scope.read.add(walk.text(named))
            return walk.text(named)
        target = part(named, "target") if named is not None and named.type == "call" else None
        if target is not None and target.type == "dot":
            return _member(walk, target)
    parent = walk.scope
    draft = walk.enter_lambda(node, None)
    count = max((int(digits) for digits in re.findall(r"&(\d)", walk.text(node))), default=0)
    draft.parameters = [
        Parameter(f"&{position}", None, None, POSITIONAL) for position in range(1, count + 1)
    ]
    walk.scope = draft
    value = walk.value(operand)
    draft.returns.extend([value] if value is not None else [])
    return walk.leave(draft, parent)


# Patterns


def _bind(walk: Lowering, pattern: Node, value: Expression) -> None:
    """Bind the names of a pattern to parts of a value."""
    kind = pattern.type
    if kind == "identifier":
        name = walk.text(pattern)
        if name == "_" or name.startswith("__"):
            return
        owner = None if name in walk.scope.bound else holder(walk, name, through=SEES_OUT)
        if owner is not None and walk.scope.kind not in SEES_OUT:
            assign_outer(walk, owner, name, value)
        else:
            walk.bind_name(name, value, pattern)
    elif kind == "binary_operator":
        _bind_operator(walk, pattern, value)
    elif kind == "tuple":
        for position, child in enumerate(named_parts(pattern)):
            _bind(walk, child, value and (ITEM, value, (CONST, position)))
    elif kind == "list":
        for child in named_parts(pattern):
            _bind(walk, child, value and (ELEMENT, value))
    elif kind == "map":
        struct = next((child for child in named_parts(pattern) if child.type == "struct"), None)
        walk.value(struct)
        for key, inner in _map_pairs(walk, pattern):
            _bind(walk, inner, value and (ITEM, value, key))
    elif kind in (
        "unary_operator",
        "integer",
        "atom",
        "string",
        "boolean",
        "nil",
        "float",
        "sigil",
    ):
        walk.value(pattern)
    else:
        for child in named_parts(pattern):
            _bind(walk, child, None)


def _bind_operator(walk: Lowering, pattern: Node, value: Expression) -> None:
    left, right = part(pattern, "left"), part(pattern, "right")
    operator = operator_of(pattern)
    if left is None or right is None:
        return
    if operator in ("=", "|"):  # both name it; head and tail of a list
        _bind(walk, left, value)
        _bind(walk, right, value)
    elif operator == "\\\\":
        walk.value(right)
        _bind(walk, left, value)
    elif operator == "when":
        _bind(walk, left, value)
        walk.value(right)
    elif operator in ("::", "<>"):
        _bind(walk, left, None)
        _bind(walk, right, None) if operator == "<>" else None
    else:
        _bind(walk, left, None)
        _bind(walk, right, None)


def _map_pairs(walk: Lowering, node: Node) -> list[tuple[Expression, Node]]:
    """Keys and values of a map."""
    found: list[tuple[Expression, Node]] = []
    pending = [child for child in named_parts(node) if child.type in ("map_content", "keywords")]
    while pending:
        for child in named_parts(pending.pop()):
            if child.type == "keywords":
                pending.append(child)
            elif child.type == "pair":
                key, value = part(child, "key"), part(child, "value")
                if key is not None and value is not None:
                    found.append(((CONST, walk.text(key).strip().rstrip(":")), value))
            elif child.type == "binary_operator" and operator_of(child) == "=>":
                key, value = part(child, "left"), part(child, "right")
                if value is not None:
                    found.append((walk.value(key), value))
            elif child.type == "binary_operator" and operator_of(child) == "|":
                walk.value(part(child, "left"))
                right = part(child, "right")
                pending.extend([right] if right is not None else [])
    return found


# Calls


def operator_of(node: Node) -> str:
    """The operator of a node, "" for one without."""
    found = node.child_by_field_name("operator")
    return found.type if found is not None else ""


def _call(walk: Lowering, node: Node, piped: tuple[Expression, ...] = ()) -> Expression:
    """A call; `piped` comes before its written arguments."""
    target = part(node, "target")
    if target is None:
        walk.values(node)
        return None
    name = walk.text(target) if target.type == "identifier" else ""
    special = FORMS.get(name)
    if special is not None and not piped:
        return special(walk, node, name)
    line = last_line_of(target)
    arguments = arguments_of(node)
    listed = any(child.type == "arguments" for child in named_parts(node))
    if target.type == "dot" and not listed and not piped and not _is_module(walk, target):
        return _member(walk, target)  # a field
    callee: Expression
    if target.type == "dot":
        line = last_line_of(target)
        callee = _member(walk, target)
    else:
        callee = name or walk.value(target)
        walk.scope.read.update([name] if name else [])
    values = (*piped, *_values(walk, arguments))
    block = do_block_of(node)
    if block is not None:
        values = (*values, _lower_block(walk, block, values[0] if values else None))
    _call_by_names(walk, values, line)
    return walk.call(callee, values, (), line)


def _values(walk: Lowering, arguments: list[Node]) -> tuple[Expression, ...]:
    return tuple(walk.value(argument) for argument in arguments)


def _is_module(walk: Lowering, dot: Node) -> bool:
    left = part(dot, "left")
    return left is not None and (left.type in ("alias", "atom") or bool(_module_name(walk, left)))


def _member(walk: Lowering, dot: Node) -> Expression:
    """`M.f`, `value.(…)`."""
    whole = _module_name(walk, dot)
    if whole:
        return _lower_alias_name(walk, dot)
    left, right = part(dot, "left"), part(dot, "right")
    base = (
        f"{walk.text(left).lstrip(':')}"
        if left is not None and left.type == "atom"
        else walk.value(left)
    )
    if right is None:
        return base
    name = walk.text(right)
    walk.mentions.add(name)
    return (MEMBER, base, name)


def _call_by_names(walk: Lowering, values: tuple[Expression, ...], line: int) -> None:
    """A module and the name of its function next to each other: `apply(M, :f, args)`, `spawn(M, :f,
    [])`.
    """
    for first, second in pairwise(values):
        is_name = is_tagged(second, CONST) and type(second[1]) is str
        if type(first) is str and first[:1].isupper() and is_name:
            walk.mentions.add(second[1])
            walk.call((MEMBER, first, second[1]), (), (), line)


def _lower_identifier(walk: Lowering, node: Node) -> Expression:
    name = walk.text(node)
    if name == "__MODULE__":
        return _lower_alias_name(walk, node)
    walk.scope.read.add(name)
    return name


def _lower_binary(walk: Lowering, node: Node) -> Expression:
    left, right = part(node, "left"), part(node, "right")
    operator = operator_of(node)
    if operator == "|>" and right is not None:
        piped = walk.value(left)
        if right.type == "call":
            return _call(walk, right, (piped,))
        callee = walk.value(right)
        return walk.call(callee, (piped,), (), line_of(right)) if callee is not None else None
    if operator in ("=", "<-") and left is not None:
        value = walk.value(right)
        _bind(walk, left, value)
        return value
    first, second = walk.value(left), walk.value(right)
    if operator in ("||", "or"):
        return either(first, second)
    return second if operator in ("&&", "and") else None


def _lower_unary(walk: Lowering, node: Node) -> Expression:
    sign = all_parts(node)[0].type if node.children else ""
    if sign == "@":
        return _lower_attribute(walk, node)
    if sign == "&":
        return _lower_capture(walk, node)
    walk.values(node)
    return None


# Forms


def _lower_block(walk: Lowering, node: Node | None, subject: Expression = None) -> Expression:
    """The value of the last statement; of any clause; of `else` and `rescue`."""
    last: Expression = None
    others: list[Expression] = []
    for child in parts_of(node):
        if child.type == "stab_clause":
            patterns, guards = _clause_patterns(child)
            for pattern in patterns:
                _bind(walk, pattern, subject)
            walk.visit(guards)
            others.append(walk.value(part(child, "right")))
        elif child.type in ("else_block", "rescue_block", "catch_block"):
            others.append(_lower_block(walk, child))
        elif child.type == "after_block":
            _lower_block(walk, child)
        else:
            last = walk.value(child)
    return either(last, *others)


def _form(walk: Lowering, node: Node, name: str) -> Expression:
    """`if`, `case`, `with`, `try`… give the value of a branch; keywords `do:` and `else:` are
    branches too.
    """
    arguments = arguments_of(node)
    subject: Expression = None
    branches: list[Expression] = []
    for argument in arguments:
        if argument.type == "keywords":
            branches.extend(_branches(walk, argument))
        elif name == "for" and argument.type == "binary_operator" and operator_of(argument) == "<-":
            left, value = part(argument, "left"), walk.value(part(argument, "right"))
            if left is not None:
                _bind(walk, left, value and (ELEMENT, value))
        else:
            subject = walk.value(argument)
    branches.append(_lower_block(walk, do_block_of(node), subject if name == "case" else None))
    value = either(*branches)
    return (
        (SEQUENCE, (value,), walk.next_serial()) if name == "for" and value is not None else value
    )


def _branches(walk: Lowering, keywords: Node) -> list[Expression]:
    found = []
    for pair in named_parts(keywords):
        key = part(pair, "key")
        value = walk.value(part(pair, "value"))
        if key is not None and walk.text(key).strip() in ("do:", "else:"):
            found.append(value)
    return found


def _alias(walk: Lowering, node: Node, form: str) -> Expression:
    """`alias A.B`, `alias A.B, as: C`, `alias A.{B, C}`; `require` likewise."""
    arguments = arguments_of(node)
    line = line_of(node)
    chosen = _keyword(walk, arguments, "as")
    for whole in _named_modules(walk, arguments[0]) if arguments else []:
        short = walk.text(chosen) if chosen is not None else whole.rpartition(".")[2]
        binds = form == "alias" or chosen is not None
        walk.imports.append(Import(whole, "", short if binds else "", line))
        walk.mentions.add(whole.rpartition(".")[2])
        if binds:
            walk.notes[f"alias {walk.scope.definition} {short}"] = whole
    return None


def _named_modules(walk: Lowering, node: Node) -> list[str]:
    if node.type == "dot":
        left, right = part(node, "left"), part(node, "right")
        if right is not None and right.type == "tuple":
            before = _module_name(walk, left)
            return [
                f"{before}.{walk.text(child)}"
                for child in named_parts(right)
                if child.type == "alias"
            ]
    name = _module_name(walk, node)
    return [name] if name else []


def _import(walk: Lowering, node: Node, form: str) -> Expression:
    """`import M` brings its functions into sight; `use M` runs its `__using__`, which often does."""
    arguments = arguments_of(node)
    line = line_of(node)
    for whole in _named_modules(walk, arguments[0]) if arguments else []:
        walk.add_import(Import(whole, "*", "", line))
        walk.mentions.add(whole.rpartition(".")[2])
        if form == "use":
            walk.mentions.add("__using__")
            walk.call((MEMBER, whole, "__using__"), (), (), line)
    walk.visit(arguments[1:])
    return None


Form = Callable[["Lowering", "Node", str], Expression]

FORMS: dict[str, Form] = {
    **dict.fromkeys(("defmodule", "defprotocol", "defimpl"), _define_module),
    **dict.fromkeys(FUNCTIONS, _define),
    **dict.fromkeys(
        ("if", "unless", "case", "cond", "with", "for", "try", "receive", "quote"), _form
    ),
    **dict.fromkeys(("alias", "require"), _alias),
    **dict.fromkeys(("import", "use"), _import),
    **dict.fromkeys(("defstruct", "defexception"), _define_fields),
}


# Values


def _lower_map(walk: Lowering, node: Node) -> Expression:
    struct = next((child for child in named_parts(node) if child.type == "struct"), None)
    typed = walk.value(first_part(struct))
    pairs = tuple((key, walk.value(value)) for key, value in _map_pairs(walk, node))
    return (TYPED, typed) if typed is not None else (MAPPING, pairs, walk.next_serial())


def _lower_keywords(walk: Lowering, node: Node) -> Expression:
    pairs = []
    for pair in named_parts(node):
        key, value = part(pair, "key"), part(pair, "value")
        if key is not None:
            pairs.append(((CONST, walk.text(key).strip().rstrip(":")), walk.value(value)))
    return (MAPPING, tuple(pairs), walk.next_serial())


def _lower_sequence(walk: Lowering, node: Node) -> Expression:
    parts = walk.values(node)
    return (SEQUENCE, parts, walk.next_serial())


def _lower_atom(walk: Lowering, node: Node) -> Expression:
    return (CONST, walk.text(node).lstrip(":").strip('"'))


def _lower_access(walk: Lowering, node: Node) -> Expression:
    """`container[key]`."""
    target, key = part(node, "target"), part(node, "key")
    container = walk.value(target)
    return container and (ITEM, container, walk.value(key))


BODY = Custom(_lower_block)

RULES: dict[str, model.Rule] = {
    "source": BODY,
    "body": BODY,
    "block": BODY,
    "do_block": BODY,
    "call": Custom(_call),
    "dot": Custom(_member),
    "alias": Custom(_lower_alias_name),
    "identifier": Custom(_lower_identifier),
    "binary_operator": Custom(_lower_binary),
    "unary_operator": Custom(_lower_unary),
    "anonymous_function": Custom(_lower_anonymous),
    "map": Custom(_lower_map),
    "keywords": Custom(_lower_keywords),
    "list": Custom(_lower_sequence),
    "tuple": Custom(_lower_sequence),
    "access_call": Custom(_lower_access),
    "atom": Custom(_lower_atom),
    "quoted_atom": Custom(_lower_atom),
    "string": Text(("quoted_content",)),
    "charlist": Literal("charlist"),
    "integer": Literal("int"),
    "float": Literal("float"),
    "boolean": Literal("boolean"),
    "nil": Literal("nil"),
    "char": Literal("char"),
    "comment": Comment(),
    "sigil_modifiers": Skip(),
}

ELIXIR = Language(
    name="elixir",
    grammar=grammar,
    rules=RULES,
    blocks=frozenset({"do_block", "stab_clause"}),
    resolution=Resolution(
        called_by_runtime=(
            "start stop init handle_* terminate code_change child_spec format_status mount render update "
            "call run project application"
        ),
        modules=module_files,
        namespace="global",
        open_classes=True,
        overloads=True,
        calls_back=True,
        builtins="Elixir",
        summaries={
            "Elixir.then": Summary(calls=(1,), result_of=1),
            **dict.fromkeys(
                names("Elixir.tap Elixir.Enum.filter Elixir.Enum.reject Elixir.Enum.sort_by"),
                Summary(calls=(1,), returns=0),
            ),
            "Elixir.Enum.map": Summary(calls=(1,), collects=(1,)),
            "Elixir.Enum.flat_map": Summary(calls=(1,), collects=(1,)),
            "Elixir.Enum.each": Summary(calls=(1,)),
            "Elixir.Enum.reverse": Summary(returns=0),
            "Elixir.Enum.find": Summary(calls=(1,), elements=0),
            "Elixir.List.first": Summary(elements=0),
            "Elixir.hd": Summary(elements=0),
        },
    ),
)
