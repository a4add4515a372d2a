"""Ruby.

Constants are global and classes are open: all files that define `A::B` define one class. A bare
name is a local variable when one is in scope, else a call of the receiver. A block is an anonymous
function that reaches the method as the keyword argument `&`.
"""

from __future__ import annotations

import posixpath
from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

from tersely.code.expressions import (
    CALL,
    CLASS_METHOD,
    CONST,
    DEFINED,
    EITHER,
    ELEMENT,
    ITEM,
    KEYWORD_ONLY,
    LITERAL,
    MAPPING,
    MEMBER,
    SEQUENCE,
    SPREAD,
    STATIC,
    TYPED,
    UNFOLLOWED,
    Expression,
    NamedExpressions,
    Parameter,
    either,
    is_tagged,
)  # fmt: skip
from tersely.code.languages import model
from tersely.code.languages.closures import assign_outer, holder
from tersely.code.languages.model import (  # fmt: skip
    Files,
    Language,
    Resolution,
    names,
    wheel,
)
from tersely.code.languages.nodes import (
    OptionalNode,
    child_in,
    children_in,
    first_part,
    last_line_of,
    line_of,
    named_parts,
    parts_of,
)
from tersely.code.languages.summaries import resolution_facts, summaries
from tersely.code.languages.tables import rules_of
from tersely.code.places import file_name_of
from tersely.code.symbols import Import, Kind

if TYPE_CHECKING:
    from tree_sitter import Node

    from tersely.code.syntax.drafts import ScopeDraft
    from tersely.code.syntax.lowering import Lowering

BLOCK = "&"  # the name under which a method receives its block
SEES_OUT = frozenset({Kind.LAMBDA})  # blocks share the variables around them, methods do not
BODIES = frozenset({Kind.CLASS, Kind.NAMESPACE})
EVERY_VALUE = frozenset({"each_value", "values_at"})


# Methods that give a block the elements of the receiver.
ITERATING = names(
    "each map collect select filter reject find detect find_all each_with_index flat_map collect_concat sort_by min_by "
    "max_by group_by partition any? all? none? one? count sum each_with_object filter_map find_index index "
    "take_while drop_while each_entry reverse_each delete_if keep_if map! select! reject! uniq to_h cycle each_slice "
    "zip sum sort_by! tally_by find_each"
)
NEVER_RETURNING = names("raise fail throw abort exit exit!")  # a call of them gives no value
SENDING = names("send public_send __send__")
HANDING_OVER = names("tap then yield_self")  # give a block the receiver itself
INLINE = names("included class_methods class_eval module_eval instance_eval concerning prepended")
ATTRIBUTES = {"attr_reader": "r", "attr_writer": "w", "attr_accessor": "rw", "attr": "r", "cattr_accessor": "rw",
              "mattr_accessor": "rw", "class_attribute": "rw", "thread_mattr_accessor": "rw"}  # fmt: skip
CLASS_ATTRIBUTES = names("cattr_accessor mattr_accessor class_attribute thread_mattr_accessor")
CALLBACKS = ("before_", "after_", "around_", "validate", "helper_method", "set_callback", "skip_")
OPERATORS = names("+ - * / % ** == != < > <= >= <=> === =~ << >> & | ^")


def module_files(files: Files, importer: str, module: str) -> list[str]:
    """Files of a `require`: relative to the importer for leading dots, else under a load path,
    `lib` first.
    """
    if module.startswith("."):
        path = posixpath.normpath(posixpath.join(posixpath.dirname(importer), module))
        return [form for form in (f"{path}.rb", path) if files.exists(form)]
    stem = module.removesuffix(".rb")
    found = files.ending(f"{stem}.rb")
    return sorted(
        found, key=lambda path: (not _is_load_path(path[: -len(stem) - 3]), path.count("/"), path)
    )


def _is_load_path(directory: str) -> bool:
    return file_name_of(directory.rstrip("/")) in (
        "",
        "lib",
        "app",
        "ext",
        "src",
        "test",
        "spec",
    )


# Classes, modules, methods


def _lower_class(
    walk: Lowering,
    node: Node,
    name_node: OptionalNode,
    superclass: OptionalNode,
    body: OptionalNode,
) -> Expression:
    """`class A::B < C`, `module M`."""
    if name_node is None:
        walk.values(node)
        return None
    bases = walk.values(superclass)
    made_of = first_part(superclass)
    kind = Kind.CLASS if node.type == "class" else Kind.NAMESPACE
    draft, last = _open_class(
        walk, node, kind, name_node, [base for base in bases if base is not None]
    )
    _end_signature(walk, draft, superclass or last)
    if made_of is not None:
        _define_struct_members(walk, made_of)
    walk.value(body)
    return walk.leave(draft)


def _open_class(
    walk: Lowering, node: Node, kind: Kind, name_node: Node, bases: list[Expression]
) -> tuple[ScopeDraft, Node]:
    """Enter a class; `A::B` is qualified by the names before it."""
    last = name_node.child_by_field_name("name") if name_node.type == "scope_resolution" else None
    prefix = ""
    if last is not None:
        walk.value(name_node)
        prefix = _dotted_name(walk, name_node.child_by_field_name("scope"))
    draft = walk.enter(node, kind, walk.text(last or name_node), last or name_node, None, prefix)
    draft.bases = bases
    walk.scope = draft
    return draft, last or name_node


def _dotted_name(walk: Lowering, node: OptionalNode) -> str:
    return (
        walk.text(node).strip(":").replace("::", ".").replace(" ", "") if node is not None else ""
    )


def _end_signature(walk: Lowering, draft: ScopeDraft, last: Node) -> None:
    row = walk.definitions[draft.definition]
    walk.definitions[draft.definition] = row._replace(
        signature_end_byte=max(last.end_byte, row.start_byte)
    )


def _is_of_class(walk: Lowering, node: Node) -> bool:
    """True if a method definition is in `class << self` or `class_methods do`."""
    around = node.parent
    while around is not None and around.type not in (
        "class",
        "module",
        "method",
        "singleton_method",
    ):
        if around.type == "singleton_class":
            return True
        if around.type == "call":
            name = around.child_by_field_name("method")
            if name is not None and walk.text(name) == "class_methods":
                return True
        around = around.parent
    return False


def _lower_method(
    walk: Lowering,
    node: Node,
    name_node: OptionalNode,
    owner: OptionalNode,
    listed: OptionalNode,
    body: OptionalNode,
) -> Expression:
    """`def m`, `def self.m`, `def A.m`."""
    if name_node is None:
        walk.values(node)
        return None
    flags, prefix = 0, ""
    if owner is not None:
        flags = CLASS_METHOD
        named = _dotted_name(walk, owner)
        if owner.type != "self" and walk.definitions[walk.scope.definition].name != named:
            prefix = named
    elif walk.scope.kind in BODIES and _is_of_class(walk, node):
        flags = CLASS_METHOD
    if walk.notes.get(f"functions {walk.scope.definition}") and not flags:
        flags = STATIC
    kind = Kind.FUNCTION if walk.scope.kind is Kind.MODULE and not prefix else Kind.METHOD
    return _define(walk, node, kind, walk.text(name_node), name_node, listed, body, flags, prefix)


def _define(walk: Lowering, node: Node, kind: Kind, name: str, name_node: OptionalNode, listed: OptionalNode,
            body: OptionalNode, flags: int = 0, prefix: str = "", given: Expression = None) -> Expression:  # fmt: skip
    """A method or block. `given` is the value that its first parameter receives."""
    parameters, patterns = walk.parameters(listed)
    draft = walk.enter(node, kind, name, name_node, None, prefix)
    draft.flags |= flags
    if given is not None and parameters:
        parameters[0] = parameters[0]._replace(default=given)
    draft.take(parameters)
    walk.scope = draft
    for synthetic, pattern in patterns:
        _bind(walk, pattern, synthetic)
    for child in parts_of(listed):
        if child.type == "block_parameter":
            _receive_block(draft)
            local = child.child_by_field_name("name")
            if local is not None:
                walk.bind_node(local, BLOCK)
    if kind is not Kind.LAMBDA:
        _end_signature(walk, draft, listed or name_node or node)
    value = walk.value(body)
    if value is not None:
        draft.returns.append(value)
    return walk.leave(draft)


def _receive_block(draft: ScopeDraft) -> None:
    if all(parameter.name != BLOCK for parameter in draft.parameters):
        draft.parameters.append(Parameter(BLOCK, None, UNFOLLOWED, KEYWORD_ONLY))


def _method_around(walk: Lowering) -> ScopeDraft | None:
    """The method that the present place belongs to, blocks being transparent."""
    scope: ScopeDraft | None = walk.scope
    while scope is not None and scope.kind is Kind.LAMBDA:
        scope = walk.drafts[walk.definitions[scope.definition].parent]
    return scope if scope is not None and scope.kind in (Kind.METHOD, Kind.FUNCTION) else None


def _define_attribute(walk: Lowering, call: Node, argument: Node, access: str, flags: int) -> None:
    """`attr_accessor :name`: a reader that returns `@name` and a writer that sets it."""
    name = _symbol(walk, argument)
    if not name:
        return
    if "r" in access:
        reader = walk.enter(call, Kind.PROPERTY, name, argument, None)
        reader.flags |= flags
        reader.returns.append((MEMBER, "self", f"@{name}"))
        walk.leave(reader)
    if "w" in access:
        writer = walk.enter(call, Kind.PROPERTY, f"{name}=", argument, None)
        writer.flags |= flags
        writer.parameters = [Parameter("value", None, None, 0)]
        writer.binds.append(((MEMBER, "self", f"@{name}"), "value"))
        walk.leave(writer)


def _define_struct_members(walk: Lowering, call: Node) -> None:
    """`Struct.new(:a, :b)` and `Data.define(:a)` have an attribute for each symbol."""
    receiver, method = children_in(call, "receiver", "method")
    if (
        receiver is None
        or method is None
        or (walk.text(receiver), walk.text(method)) not in STRUCTS
    ):
        return
    for argument in _arguments(call):
        if argument.type == "simple_symbol":
            _define_attribute(
                walk, argument, argument, "rw" if walk.text(receiver) == "Struct" else "r", 0
            )


STRUCTS = {("Struct", "new"), ("Data", "define")}
MADE_CLASSES = {("Class", "new"): Kind.CLASS, ("Module", "new"): Kind.NAMESPACE} | dict.fromkeys(
    STRUCTS, Kind.CLASS
)


def _define_made_class(
    walk: Lowering, node: Node, target: Node, call: Node, kind: Kind
) -> Expression:
    """`Name = Class.new(Base) do … end`."""
    arguments = _arguments(call)
    constants = ("constant", "scope_resolution")
    bases = [walk.value(argument) for argument in arguments if argument.type in constants]
    draft, last = _open_class(walk, node, kind, target, bases)
    _end_signature(walk, draft, last)
    _define_struct_members(walk, call)
    block = call.child_by_field_name("block")
    if block is not None:
        walk.field_value(block, "body")
    return walk.leave(draft)


# Assignments


def _lower_assignment(
    walk: Lowering, node: Node, left: OptionalNode, right: OptionalNode
) -> Expression:
    if left is None or right is None:
        walk.values(node)
        return None
    is_constant = left.type == "constant" or (
        left.type == "scope_resolution" and walk.scope.kind is Kind.MODULE
    )
    if is_constant and right.type == "call":
        receiver = right.child_by_field_name("receiver")
        method = right.child_by_field_name("method")
        made = (
            (walk.text(receiver), walk.text(method))
            if receiver is not None and method is not None
            else ("", "")
        )
        if made in MADE_CLASSES:
            return _define_made_class(walk, node, left, right, MADE_CLASSES[made])
    value = walk.value(right)
    _bind(walk, left, value, node)
    return value


def _lower_operator_assignment(
    walk: Lowering, node: Node, left: OptionalNode, right: OptionalNode
) -> Expression:
    """`a ||= b`, `a += b`."""
    value = walk.value(right)
    if left is not None:
        if left.type in ("call", "element_reference"):
            walk.value(left)
        _bind(walk, left, value, node)
    return value


def _bind(walk: Lowering, target: Node, value: Expression, node: OptionalNode = None) -> None:
    """Bind the names in a target; `node` is the whole assignment."""
    kind, text = target.type, walk.text(target)
    if kind == "identifier":
        owner = None if text in walk.scope.bound else holder(walk, text, through=SEES_OUT)
        if owner is not None:
            assign_outer(walk, owner, text, value)
        else:
            walk.bind_name(text, value, target)
    elif kind == "constant":
        walk.bind_node(target, value)
        if walk.scope.kind in BODIES or walk.scope.kind is Kind.MODULE:
            walk.define_node(node or target, target, Kind.CONSTANT)
    elif kind in ("instance_variable", "class_variable"):
        walk.note_member_store(text, target)
        walk.mentions.add(text)
        walk.scope.binds.append(((MEMBER, "self", text), value))
    elif kind == "global_variable":
        walk.scope.outer.append((text, 1))
        walk.scope.binds.append((text, value))
    elif kind == "call":
        _bind_attribute(walk, target, value)
    elif kind == "element_reference":
        _bind_element(walk, target, value)
    elif kind in PATTERNS:
        _bind_pattern(walk, target, value)
    elif kind in ("splat_parameter", "rest_assignment"):
        for child in named_parts(target)[:1]:
            _bind(walk, child, value)


def _bind_element(walk: Lowering, target: Node, value: Expression) -> None:
    """`container[key] = value` calls `[]=`."""
    container = walk.field_value(target, "object")
    keys = list(map(walk.value, named_parts(target)[1:]))
    walk.scope.binds.append(((ITEM, container, keys[0] if len(keys) == 1 else None), value))
    walk.call((MEMBER, container, "[]="), (*keys, value), (), line_of(target))


PATTERNS = names("left_assignment_list destructured_left_assignment destructured_parameter")


def _bind_attribute(walk: Lowering, target: Node, value: Expression) -> None:
    """`thing.name = value` calls `name=`."""
    receiver, method = children_in(target, "receiver", "method")
    if method is None:
        return
    base, name = walk.value(receiver), walk.text(method)
    walk.note_member_store(f"@{name}", method)
    walk.mentions.add(f"{name}=")
    walk.scope.binds.append(((MEMBER, base, f"@{name}"), value))
    walk.call((MEMBER, base, f"{name}="), (value,), (), last_line_of(method))


def _bind_pattern(walk: Lowering, target: Node, value: Expression) -> None:
    parts = value[1] if is_tagged(value, SEQUENCE) else ()
    for position, child in enumerate(named_parts(target)):
        if position < len(parts):
            _bind(walk, child, parts[position])
        else:
            _bind(walk, child, (ITEM, value, (CONST, position)) if value is not None else None)


# Calls


def _arguments(call: Node) -> list[Node]:
    listed = call.child_by_field_name("arguments")
    return named_parts(listed) if listed is not None else []


def _symbol(walk: Lowering, node: Node) -> str:
    """The text of `:name` or a plain string, empty for anything else."""
    if node.type == "simple_symbol":
        return walk.text(node)[1:]
    if node.type in ("string", "delimited_symbol"):
        parts = named_parts(node)
        return walk.text(parts[0]) if len(parts) == 1 and parts[0].type == "string_content" else ""
    if node.type == "parenthesized_statements" and len(named_parts(node)) == 1:
        return _symbol(walk, named_parts(node)[0])
    return ""


def _lower_call(
    walk: Lowering, node: Node, receiver: OptionalNode, method: OptionalNode, block: OptionalNode
) -> Expression:
    if method is not None and method.type == "super":
        return _call_super(walk, node, method)
    name = walk.text(method) if method is not None else "call"
    if receiver is None or receiver.type == "self":
        special = DIRECTIVES.get(name)
        if special is not None and special(walk, node, name):
            return None
    if block is not None and name in INLINE and walk.scope.kind in BODIES:
        walk.field_value(block, "body")
        return None
    line = (method or node).end_point[0] + 1
    base = walk.value(receiver)
    positional, keywords, arguments = _lower_arguments(walk, node, base)
    sent = _symbol(walk, arguments[0]) if arguments and name in SENDING else ""
    if sent:  # `send(:name, …)` calls `name`
        name, positional = sent, positional[1:]
    if receiver is None:
        return _call_own(walk, name, arguments, _Passed(positional, keywords), line)
    if name == "new" and walk.text(receiver) == "Proc" and keywords:
        return keywords[-1][1]
    if name == "class" and not arguments:
        return (MEMBER, base, name)
    walk.mentions.add(name)
    return walk.call((MEMBER, base, name), positional, keywords, line)


class _Passed(NamedTuple):
    """The values of the arguments of a call."""

    positional: tuple[Expression, ...]
    keywords: tuple[tuple[str, Expression], ...]


def _call_own(
    walk: Lowering, name: str, arguments: list[Node], passed: _Passed, line: int
) -> Expression:
    """A call without a receiver: of a method of `self`, or of a function that Ruby has."""
    positional, keywords = passed
    if name in ("lambda", "proc") and keywords and keywords[-1][0] == BLOCK:
        return keywords[-1][1]
    if name == "method" and arguments:
        return _symbol(walk, arguments[0]) or None
    if name == "raise" and arguments and arguments[0].type in ("constant", "scope_resolution"):
        walk.call((MEMBER, positional[0], "new"), positional[1:], (), line)
    if walk.scope.kind in BODIES and name.startswith(CALLBACKS):
        _call_named(walk, arguments, line)
    walk.mentions.add(name)
    walk.scope.read.add(name)
    made = walk.call(name, positional, keywords, line)
    return None if name in NEVER_RETURNING else made


def _call_named(walk: Lowering, arguments: list[Node], line: int) -> None:
    """`before_action :name`: a method of the instances is called on behalf of the class."""
    for argument in arguments:
        name = _symbol(walk, argument) if argument.type == "simple_symbol" else ""
        if name:
            owner = (TYPED, (DEFINED, walk.scope.definition))
            walk.call(walk.member(owner, name), (), (), line)


Arguments = tuple[tuple[Expression, ...], tuple[tuple[str, Expression], ...], list["Node"]]


def _lower_arguments(walk: Lowering, node: Node, receiver: Expression) -> Arguments:
    """Positional and keyword arguments with the nodes of the former. A block is a keyword argument."""
    positional: list[Expression] = []
    keywords: NamedExpressions = []
    nodes: list[Node] = []
    for argument in _arguments(node):
        if argument.type == "pair":
            key, value = children_in(argument, "key", "value")
            name = _key(walk, key) if key is not None else None
            plain = name[1] if is_tagged(name, CONST) and type(name[1]) is str else ""
            keywords.append((plain, walk.value(value) if value is not None else walk.value(key)))
        elif argument.type == "hash_splat_argument":
            keywords.append(("", walk.value(first_part(argument))))
        elif argument.type == "block_argument":
            keywords.append((BLOCK, _lower_block_argument(walk, argument, receiver)))
        else:
            nodes.append(argument)
            positional.append(walk.value(argument))
    block = node.child_by_field_name("block")
    if block is not None:
        method = node.child_by_field_name("method")
        given = _block_argument(walk.text(method), receiver) if method is not None else None
        keywords.append((BLOCK, _lower_block(walk, block, given)))
    return tuple(positional), tuple(keywords), nodes


def _block_argument(method: str, receiver: Expression) -> Expression:
    """The value that a method passes to its block."""
    if receiver is None:
        return None
    if method in ITERATING:
        return (ELEMENT, receiver)
    if method in EVERY_VALUE:
        return (ITEM, receiver, None)
    return receiver if method in HANDING_OVER else None


def _lower_block_argument(walk: Lowering, argument: Node, receiver: Expression) -> Expression:
    """`&block`, `&:name` (calls `name` on each element), `&method(:name)`."""
    inner = first_part(argument)
    if inner is not None and inner.type == "simple_symbol" and receiver is not None:
        name = _symbol(walk, inner)
        walk.call(walk.member((ELEMENT, receiver), name), (), (), line_of(argument))
        return None
    return walk.value(inner) if inner is not None else BLOCK


def _lower_block(walk: Lowering, node: Node, given: Expression = None) -> Expression:
    listed, body = children_in(node, "parameters", "body")
    if node.type == "lambda" and body is not None:
        body = body.child_by_field_name("body")
    return _define(
        walk, node, Kind.LAMBDA, walk.anonymous("lambda"), None, listed, body, given=given
    )


def _lower_yield(walk: Lowering, node: Node) -> Expression:
    method = _method_around(walk)
    if method is not None:
        _receive_block(method)
    values: list[Expression] = []
    for child in named_parts(node):
        values += walk.values(child)
    return walk.call(BLOCK, tuple(values), (), line_of(node))


def _lower_super(walk: Lowering, node: Node) -> Expression:
    return _call_super(walk, node, node)


def _call_super(walk: Lowering, node: Node, name: Node) -> Expression:
    method = _method_around(walk)
    positional, keywords, _ = (
        _lower_arguments(walk, node, None) if node.type == "call" else ((), (), [])
    )
    line = line_of(name)
    if method is None:
        return None
    wanted = walk.definitions[method.definition].name
    walk.mentions.add(wanted)
    if node.type != "call":  # passes on the arguments of the method
        positional = tuple(parameter.name for parameter in method.parameters if parameter.mode == 0)
    return walk.call((MEMBER, (CALL, "super", (), (), line), wanted), positional, keywords, line)


# Declarations in the form of calls


def _require(walk: Lowering, node: Node, name: str) -> bool:
    arguments = _arguments(node)
    module = _symbol(walk, arguments[0]) if arguments and arguments[0].type == "string" else ""
    if not module:
        return False
    if name == "require_relative" and not module.startswith("."):
        module = f"./{module}"
    walk.add_import(
        Import(
            module.removesuffix(".rb") if name == "load" else module,
            "",
            "",
            line_of(node),
        )
    )
    return True


def _autoload(walk: Lowering, node: Node, name: str) -> bool:
    arguments = _arguments(node)
    if len(arguments) != 2 or not _symbol(walk, arguments[1]):
        return False
    walk.imports.append(
        Import(_symbol(walk, arguments[1]), _symbol(walk, arguments[0]), "", line_of(node))
    )
    return True


def _mix_in(walk: Lowering, node: Node, name: str) -> bool:
    """`include M`, `prepend M`, `extend M`."""
    if walk.scope.kind not in BODIES:
        return False
    for argument in _arguments(node):
        if argument.type == "self":
            value: Expression = (DEFINED, walk.scope.definition)
        elif argument.type in ("constant", "scope_resolution"):
            value = _from_within(walk.value(argument), walk.scope.qualname)
        else:
            value = walk.value(argument)
        if value is not None:
            walk.scope.bases.append((TYPED, value) if name == "extend" else value)
    return True


def _from_within(value: Expression, qualname: str) -> Expression:
    """A constant that may be defined inside the class that mixes it in; bases are looked up from
    outside.
    """
    if type(value) is str:
        return (EITHER, (value, f"{qualname}.{value}"))
    if is_tagged(value, MEMBER):
        return (MEMBER, _from_within(value[1], qualname), value[2])
    return value


def _attributes(walk: Lowering, node: Node, name: str) -> bool:
    if walk.scope.kind not in BODIES:
        return False
    of_class = name in CLASS_ATTRIBUTES or _is_of_class(walk, node)
    for argument in _arguments(node):
        _define_attribute(walk, node, argument, ATTRIBUTES[name], CLASS_METHOD if of_class else 0)
    return True


def _alias_method(walk: Lowering, node: Node, name: str) -> bool:
    arguments = _arguments(node)
    if len(arguments) != 2 or walk.scope.kind not in BODIES:
        return False
    _alias(walk, node, arguments[0], _symbol(walk, arguments[0]), _symbol(walk, arguments[1]))
    return True


def _lower_alias(walk: Lowering, node: Node, new: OptionalNode, old: OptionalNode) -> None:
    if new is not None and old is not None:
        _alias(walk, node, new, walk.text(new).lstrip(":"), walk.text(old).lstrip(":"))


def _alias(walk: Lowering, node: Node, place: Node, new: str, old: str) -> None:
    """Another method, at `place`, with the body of the method that has the old name by then."""
    outer = walk.scope
    new, old = new.strip("\"'"), old.strip("\"'")
    if not new or not old or new[0] == "$" or outer.kind not in BODIES:
        return
    known = [
        at
        for at, row in enumerate(walk.definitions)
        if row.parent == outer.definition and row.name == old
    ]
    original = walk.drafts[known[-1]] if known else None
    walk.mentions.add(old)
    draft = walk.enter(node, Kind.METHOD, new, place, None)
    draft.flags |= original.flags & CLASS_METHOD if original is not None else 0
    walk.scope = draft
    called = (DEFINED, known[-1]) if original is not None else (MEMBER, "self", old)
    draft.returns.append(walk.call(called, (), (), line_of(node)))
    walk.leave(draft)


def _define_method(walk: Lowering, node: Node, name: str) -> bool:
    """`define_method(:name) { … }`."""
    arguments = _arguments(node)
    method = _symbol(walk, arguments[0]) if arguments else ""
    block = node.child_by_field_name("block")
    if not method or name == "define_singleton_method":
        return False
    listed = child_in(block, "parameters")
    body = child_in(block, "body")
    for argument in arguments[1:]:
        walk.value(argument)
    _define(walk, node, Kind.METHOD, method, arguments[0], listed, body)
    return True


def _module_function(walk: Lowering, node: Node, name: str) -> bool:
    """`module_function :a, :b` or before a definition: methods of the module and of classes that
    include it.
    """
    for argument in _arguments(node):
        value = walk.value(argument)
        wanted = _symbol(walk, argument)
        for at, row in enumerate(walk.definitions):
            draft = walk.drafts[at]
            is_named = row.parent == walk.scope.definition and row.name == wanted
            if draft is not None and (is_named or value == (DEFINED, at)):
                draft.flags |= STATIC
    return True


Directive = Callable[["Lowering", "Node", str], bool]

DIRECTIVES: dict[str, Directive] = {
    "require": _require,
    "require_relative": _require,
    "load": _require,
    "autoload": _autoload,
    "include": _mix_in,
    "prepend": _mix_in,
    "extend": _mix_in,
    "alias_method": _alias_method,
    "define_method": _define_method,
    "module_function": _module_function,
    **dict.fromkeys(ATTRIBUTES, _attributes),
}


def _lower_identifier(walk: Lowering, node: Node) -> Expression:
    """A local variable in sight, else a call without arguments."""
    name = walk.text(node)
    walk.scope.read.add(name)
    if name in walk.scope.bound or holder(walk, name, through=SEES_OUT) is not None:
        return name
    if name == "module_function" and walk.scope.kind in BODIES:
        walk.notes[f"functions {walk.scope.definition}"] = True
        return None
    if name in SILENT:
        return None
    walk.mentions.add(name)
    return walk.call(name, (), (), line_of(node))


SILENT = names(
    "private public protected private_constant raise block_given? __method__ __dir__ binding"
)


# Values


def _lower_body(walk: Lowering, node: Node) -> Expression:
    """Statements: the value of the last one, or of a `rescue`."""
    last: Expression = None
    others: list[Expression] = []
    for child in named_parts(node):
        if child.type in ("comment", "heredoc_body"):
            walk.values(child)
        elif child.type in ("rescue", "else"):
            others.append(walk.value(child))
        elif child.type == "ensure":
            walk.value(child)
        else:
            last = walk.value(child)
    return either(last, *others)


def _lower_branches(walk: Lowering, node: Node) -> Expression:
    """The value of `if`, `unless`, `case` and `?:` is that of a branch."""
    values: list[Expression] = []
    for position, child in enumerate(node.children):
        if not child.is_named:
            continue
        value = walk.value(child)
        field = node.field_name_for_child(position)
        if field in ("consequence", "alternative", "body") or child.type in (
            "when",
            "else",
            "in_clause",
            "elsif",
        ):
            values.append(value)
    return either(*values)


def _lower_rescue(
    walk: Lowering, node: Node, exceptions: OptionalNode, variable: OptionalNode, body: OptionalNode
) -> Expression:
    types = walk.values(exceptions)
    if variable is not None:
        for target in named_parts(variable):
            _bind(walk, target, either(*[(TYPED, type_) for type_ in types if type_ is not None]))
    return walk.value(body)


def _lower_return(walk: Lowering, node: Node) -> None:
    for child in named_parts(node):
        values = walk.values(child)
        value = (
            values[0]
            if len(values) == 1
            else (SEQUENCE, tuple(values), walk.next_serial())
            if values
            else None
        )
        if value is not None and node.type == "return":
            walk.scope.returns.append(value)


def _lower_for(
    walk: Lowering, node: Node, pattern: OptionalNode, value: OptionalNode, body: OptionalNode
) -> None:
    iterable = either(*walk.values(value)) if value is not None else None
    if pattern is not None:
        _bind(walk, pattern, iterable and (ELEMENT, iterable))
    walk.value(body)


def _lower_binary(
    walk: Lowering, node: Node, left: OptionalNode, right: OptionalNode, operator: OptionalNode
) -> Expression:
    sign = operator.type if operator is not None else ""
    first, second = walk.value(left), walk.value(right)
    if sign in ("||", "or"):
        return either(first, second)
    if sign in ("&&", "and"):
        return second
    if sign == "<<" and first is not None:
        walk.scope.binds.append(((ITEM, first, None), second))
    if sign in OPERATORS and first is not None and not is_tagged(first, LITERAL, CONST):
        walk.mentions.add(sign)
        return walk.call((MEMBER, first, sign), (second,), (), line_of(node))
    return None


def _lower_item(walk: Lowering, node: Node) -> Expression:
    """`container[key]`."""
    container = walk.field_value(node, "object")
    keys = tuple(
        walk.value(child)
        for child in named_parts(node)[1:]
        if child.type not in ("block", "do_block")
    )
    if container is None:
        return None
    called = walk.call((MEMBER, container, "[]"), keys, (), line_of(node))
    return (EITHER, ((ITEM, container, keys[0] if len(keys) == 1 else None), called))


def _key(walk: Lowering, node: Node) -> Expression:
    if node.type == "hash_key_symbol":
        return (CONST, walk.text(node))
    return walk.value(node)


def _lower_hash(walk: Lowering, node: Node) -> Expression:
    pairs: list[tuple[Expression, Expression]] = []
    for child in named_parts(node):
        if child.type == "pair":
            key, value = children_in(child, "key", "value")
            pairs.append((_key(walk, key) if key is not None else None, walk.value(value)))
        elif child.type == "hash_splat_argument":
            pairs.append(((SPREAD, None), walk.value(first_part(child))))
    return (MAPPING, tuple(pairs), walk.next_serial())


def _lower_symbol(walk: Lowering, node: Node) -> Expression:
    name = _symbol(walk, node)
    return (CONST, name) if name else (LITERAL, "Symbol")


def _lower_scope(walk: Lowering, node: Node, scope: OptionalNode, name: OptionalNode) -> Expression:
    """`A::B`, `::B`."""
    if name is None:
        return walk.value(scope)
    text = walk.text(name)
    walk.mentions.add(text)
    if scope is None:
        walk.scope.read.add(text)
        return text
    return (MEMBER, walk.value(scope), text)


def _lower_own_variable(walk: Lowering, node: Node) -> Expression:
    walk.mentions.add(walk.text(node))
    return (MEMBER, "self", walk.text(node))


def _lower_pattern_name(walk: Lowering, node: Node) -> None:
    """`in {name:}` binds `name`; `in [a, b]` and `in Type => x` bind the names in them."""
    for child in named_parts(node):
        if child.type == "identifier":
            _bind(walk, child, None)
        elif child.type in ("keyword_pattern", "pair"):
            key, value = children_in(child, "key", "value")
            if value is None and key is not None:
                walk.bind_name(walk.text(key).rstrip(":"), None)
            else:
                walk.value(value)
        else:
            walk.value(child)


RULES: dict[str, model.Rule] = rules_of("ruby", globals())

COMMON = names(
    "each map select reject find first last push pop shift unshift size length empty? nil? to_s to_a to_h to_i to_sym "
    "keys values merge merge! dup clone freeze inspect hash is_a? kind_of? respond_to? send include? join split gsub "
    "sub strip chomp start_with? end_with? match match? upcase downcase capitalize puts print format any? all? none? "
    "sort sort_by min max sum count uniq flatten compact reverse concat delete delete_if fetch dig key? has_key? "
    "tap then class call new name == != < > <= >= <=> === + - * / % ** << >> & | ^ =~ [] []= ! eql? equal? "
    "instance_of? object_id method methods extend read write close open exist? each_with_index group_by partition "
    "reduce inject zip take drop index find_index replace clear update insert instance_variable_get message"
)

RUBY = Language(
    name="ruby",
    checks_types=False,
    grammar=wheel("tree_sitter_ruby"),
    rules=RULES,
    control="ruby",
    resolution=Resolution(
        **resolution_facts("ruby"),
        modules=module_files,
        function_combinators=(COMMON - {"call"})
        | names("arity parameters source_location bind curry receiver"),
        summaries=summaries("ruby", "functions"),
        common_members=COMMON,
    ),
)
