"""Declarations in the form of calls: `require`, `include`, `attr_reader`, `alias_method`."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from tersely.code.expressions import (
    CLASS_METHOD,
    DEFINED,
    EITHER,
    MEMBER,
    STATIC,
    TYPED,
    Expression,
    is_tagged,
)
from tersely.code.languages.model import names
from tersely.code.languages.nodes import (
    OptionalNode,
    child_in,
    line_of,
)
from tersely.code.languages.parts.ruby_classes import define, define_attribute, is_of_class
from tersely.code.languages.parts.ruby_names import BODIES, arguments_in, symbol_in
from tersely.code.symbols import Import, Kind

if TYPE_CHECKING:
    from tree_sitter import Node

    from tersely.code.syntax.lowering import Lowering


ATTRIBUTES = {"attr_reader": "r", "attr_writer": "w", "attr_accessor": "rw", "attr": "r", "cattr_accessor": "rw",
              "mattr_accessor": "rw", "class_attribute": "rw", "thread_mattr_accessor": "rw"}  # fmt: skip


CLASS_ATTRIBUTES = names("cattr_accessor mattr_accessor class_attribute thread_mattr_accessor")


def _require(walk: Lowering, node: Node, name: str) -> bool:
    arguments = arguments_in(node)
    module = symbol_in(walk, arguments[0]) if arguments and arguments[0].type == "string" else ""
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
    arguments = arguments_in(node)
    if len(arguments) != 2 or not symbol_in(walk, arguments[1]):
        return False
    walk.imports.append(
        Import(symbol_in(walk, arguments[1]), symbol_in(walk, arguments[0]), "", line_of(node))
    )
    return True


def _mix_in(walk: Lowering, node: Node, name: str) -> bool:
    """`include M`, `prepend M`, `extend M`."""
    if walk.scope.kind not in BODIES:
        return False
    for argument in arguments_in(node):
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
    of_class = name in CLASS_ATTRIBUTES or is_of_class(walk, node)
    for argument in arguments_in(node):
        define_attribute(walk, node, argument, ATTRIBUTES[name], CLASS_METHOD if of_class else 0)
    return True


def _alias_method(walk: Lowering, node: Node, name: str) -> bool:
    arguments = arguments_in(node)
    if len(arguments) != 2 or walk.scope.kind not in BODIES:
        return False
    _alias(walk, node, arguments[0], symbol_in(walk, arguments[0]), symbol_in(walk, arguments[1]))
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
    arguments = arguments_in(node)
    method = symbol_in(walk, arguments[0]) if arguments else ""
    block = node.child_by_field_name("block")
    if not method or name == "define_singleton_method":
        return False
    listed = child_in(block, "parameters")
    body = child_in(block, "body")
    for argument in arguments[1:]:
        walk.value(argument)
    define(walk, node, Kind.METHOD, method, arguments[0], listed, body)
    return True


def _module_function(walk: Lowering, node: Node, name: str) -> bool:
    """`module_function :a, :b` or before a definition: methods of the module and of classes that
    include it.
    """
    for argument in arguments_in(node):
        value = walk.value(argument)
        wanted = symbol_in(walk, argument)
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
