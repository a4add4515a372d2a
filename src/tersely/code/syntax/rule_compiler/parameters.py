"""Parameters of functions and of types."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from tersely.code.expressions import (
    KEYWORD_REST,
    POSITIONAL,
    REST,
    SIGNATURE,
    TYPE_PARAMETER,
    UNFOLLOWED,
    Expression,
    Parameter,
)
from tersely.code.languages import model
from tersely.code.languages.children import field
from tersely.code.languages.nodes import OptionalNode, named_parts, parts_in
from tersely.code.symbols import CLASS_KINDS
from tersely.code.syntax.rule_compiler import Lowerings

if TYPE_CHECKING:
    from tree_sitter import Node

    from tersely.code.syntax.lowering import Lowering


def parameters_of(
    walk: Lowering, node: OptionalNode
) -> tuple[list[Parameter], list[tuple[str, Node]]]:
    """The parameters of a list, and the patterns that the body must take apart: (synthetic name,
    pattern).

    Types and defaults are lowered here, in the enclosing scope, where their calls happen.
    """
    parameters: list[Parameter] = []
    patterns: list[tuple[str, Node]] = []
    if node is None:
        return parameters, patterns
    is_name = type(walk.rules[node.kind_id]) is model.Name
    behind = POSITIONAL
    for child in [node] if is_name else named_parts(node):
        rule = walk.rules[child.kind_id]
        if type(rule) is model.Name:
            name = walk.text(child)
            walk.note_binding(name, child)
            parameters.append(Parameter(name, None, None, behind))
            continue
        if type(rule) is model.Skip:
            behind = rule.behind
            if rule.before:
                parameters = [one._replace(mode=rule.before) for one in parameters]
            continue
        written = _read_parameter(walk, child, rule)
        if written is None:
            continue
        name, mode = f"#{len(parameters)}", written.mode or behind
        if written.name is not None:
            name_node, spread = _without_spread(walk, written.name)
            if spread is not None:
                mode, behind = KEYWORD_REST if spread.keyed else REST, spread.behind
            if type(walk.rules[name_node.kind_id]) in (model.Sequence, model.Dictionary):
                patterns.append((name, name_node))
            else:
                name = walk.text(name_node)
                walk.note_binding(name, name_node)
        parameters.append(Parameter(name, written.type, written.default, mode))
        may_have_more_names = (
            written.name is not None
            and type(rule) is model.Parameter
            and rule.name[:1] not in ("", "#", ":")
        )
        for further in parts_in(child, rule.name)[1:] if may_have_more_names else ():
            walk.note_binding(walk.text(further), further)
            parameters.append(Parameter(walk.text(further), written.type, written.default, mode))
    return parameters, patterns


class _ParameterParts(NamedTuple):
    """The parts of a parameter in a list: the node of its name, its type and its default."""

    name: OptionalNode
    type: Expression = None
    default: Expression = None
    mode: int = POSITIONAL


def _read_parameter(walk: Lowering, child: Node, rule: Any) -> _ParameterParts | None:
    """The parameter that a child of a list declares, None if it declares none."""
    if type(rule) is model.Comment:
        return None
    if type(rule) is model.Assign:  # a pattern with a default
        default = walk.value(field(rule.right)(child)) or UNFOLLOWED
        return _ParameterParts(field(rule.left)(child) or child, default=default)
    if type(rule) is not model.Parameter:
        return _ParameterParts(child)
    name = field(rule.name)(child)
    if name is not None and name.type == rule.ignored:
        return None
    annotation = walk.value(field(rule.type)(child))
    given = field(rule.default)(child)
    is_optional = given is not None or rule.is_optional
    default = walk.value(given) or (UNFOLLOWED if is_optional else None)
    return _ParameterParts(name, annotation, default, rule.mode)


def _without_spread(walk: Lowering, name: Node) -> tuple[Node, model.Spread | None]:
    """The name in `*name` or `**name`, and the rule of what is around it."""
    rule = walk.rules[name.kind_id]
    if type(rule) is not model.Spread:
        return name, None
    inside = named_parts(name)
    return inside[0] if inside else name, rule


def _parameter(rule: model.Parameter, walk: Lowering, node: Node) -> None:
    """A parameter outside a parameter list binds its name in the current scope."""

    annotation = walk.value(field(rule.type)(node))
    value = walk.with_type(walk.value(field(rule.default)(node)), annotation)
    name = field(rule.name)(node)
    if name is not None:
        walk.bind(name, value)
        if rule.has_accessor and annotation is not None and walk.scope.kind in CLASS_KINDS:
            walk.store(walk.text(name), (SIGNATURE, annotation, ()))
        if rule.defines is not None and walk.scope.kind in CLASS_KINDS:
            walk.define_node(node, name, rule.defines)


def _type_parameter(rule: model.TypeParameter, walk: Lowering, node: Node) -> None:
    name, bound = field(rule.name)(node), walk.value(field(rule.bound)(node))
    if name is not None:
        stands_for = bound if walk.resolution.traits else (TYPE_PARAMETER, bound, walk.text(name))
        walk.type_parameters[walk.text(name)] = stands_for
        walk.note_binding(walk.text(name), name)


PARAMETERS: Lowerings = {
    model.Parameter: _parameter,
    model.TypeParameter: _type_parameter,
}
