"""Functions, classes and variables, with their modifiers and decorators."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from tersely.code.expressions import (
    ABSTRACT,
    CONST,
    DEFINED,
    DETACHED,
    EXTENSION,
    MEMBER,
    METACLASS,
    OWN_RECEIVER,
    PROPERTY,
    TYPE_PARAMETER,
    TYPED,
    Expression,
    is_tagged,
    last_name,
    named_parameters,
)
from tersely.code.languages import model
from tersely.code.languages.children import field
from tersely.code.languages.nodes import OptionalNode, line_of, named_parts, next_part, parts_of
from tersely.code.symbols import CLASS_KINDS, Kind
from tersely.code.syntax.drafts import SCOPE_OWNERS, Naming, ScopeDraft
from tersely.code.syntax.rule_compiler import Lowerings
from tersely.code.syntax.rule_compiler.parameters import parameters_of
from tersely.foundation.types import Strings

if TYPE_CHECKING:
    from tree_sitter import Node

    from tersely.code.syntax.lowering import Lowering


def _function(rule: model.Function, walk: Lowering, node: Node) -> Expression:
    """Define the function, and read its body in a scope of its own."""
    naming, walk.naming = walk.naming, None
    if rule.repeats is not None and rule.repeats(node):
        walk.wrapped = None
        return None
    parent, type_parameters = walk.scope, walk.type_parameters
    body, listed = field(rule.body)(node), field(rule.parameters)(node)
    draft, patterns = _open_function(rule, walk, node, naming, listed, body)
    walk.scope = draft
    for synthetic, pattern in patterns:
        walk.bind(pattern, synthetic)
    _bind_names(rule, walk, node, draft)
    _bind_fields(walk, listed, draft, parent)
    value = walk.value(body)
    if rule.body_is_value and value is not None:
        draft.returns.append(value)
    walk.type_parameters = type_parameters
    return walk.leave(draft)


def _open_function(
    rule: model.Function,
    walk: Lowering,
    node: Node,
    naming: Naming | None,
    listed: OptionalNode,
    body: OptionalNode,
) -> tuple[ScopeDraft, list[tuple[str, Node]]]:
    """The scope with the facts of the heading, and the patterns among the parameters, as
    `parameters_of` returns them.
    """
    own_name = field(rule.name)(node)
    wrapped, walk.wrapped = walk.wrapped, None  # definitions in the heading are not decorated
    name = _name_of(walk, naming, own_name, "lambda")
    declared = _declare_type_parameters(walk, node, rule.generics)
    parameters, patterns = (
        parameters_of(walk, listed) if rule.read is None else (rule.read(walk, node), [])
    )
    returned = walk.value(field(rule.returns)(node))
    receivers, _ = parameters_of(walk, field(rule.receiver)(node))
    receiver = receivers[0].annotation if receivers else None
    flags = _flags_of(rule, node, naming)
    walk.wrapped = wrapped
    kind = _kind_of(walk, rule, naming, own_name, receiver, flags)
    if naming is not None:
        draft = walk.enter(node, kind, name, naming.node, body, naming.prefix)
        draft.holder = naming.holder
    else:
        draft = walk.enter(node, kind, name, own_name, body, last_name(receiver))
    draft.flags |= flags | (ABSTRACT if body is None and walk.resolution.virtual else 0)
    if walk.scope.kind in CLASS_KINDS:
        draft.flags |= walk.resolution.named_flags.get(name, 0)
    draft.receiver_type = receiver
    draft.returned_type = returned
    draft.type_parameters = declared
    if walk.loose_type_parameters:
        annotations = [parameter.annotation for parameter in (*receivers, *parameters)]
        draft.type_parameters += _loose_parameters(walk, draft, (*annotations, returned))
    draft.take(receivers + parameters)
    draft.body = body.id if body is not None else 0
    return draft, patterns


def _bind_names(rule: model.Function, walk: Lowering, node: Node, draft: ScopeDraft) -> None:
    """Bind the names in the heading beside the parameters: results, and the function itself."""
    results = field(rule.returns)(node) if rule.results_are_variables else None
    if results is not None:
        walk.visit(
            [part for part in named_parts(results) if type(walk.rule(part)) is model.Parameter]
        )
    own_name = field(rule.name)(node)
    if rule.is_value and own_name is not None:
        draft.binds.append((walk.text(own_name), (DEFINED, draft.definition)))
        walk.note_binding(walk.text(own_name), own_name)


def _name_of(walk: Lowering, naming: Naming | None, own_name: OptionalNode, what: str) -> str:
    """The name of a definition: from its assignment, else its own, else one for its kind."""
    if naming is not None:
        return naming.name or walk.text(own_name or naming.node)
    return walk.text(own_name) if own_name is not None else walk.anonymous(what)


def _declare_type_parameters(walk: Lowering, node: Node, places: Strings) -> Strings:
    """Bring the type parameters of a definition into scope, and return their names.

    The caller restores those that were in scope before.
    """
    if not places:
        return ()
    outer = walk.type_parameters
    walk.type_parameters = dict(outer)
    for place in places:
        walk.value(field(place)(node))
    return tuple(
        name for name, type_ in walk.type_parameters.items() if type_ is not outer.get(name)
    )


def _loose_parameters(walk: Lowering, draft: ScopeDraft, types: Iterable[Expression]) -> Strings:
    """The type parameters that types name and neither this definition nor an enclosing one
    declares.
    """
    if not walk.loose_type_parameters:
        return ()
    lists = walk.resolution.parameter_lists
    listing = sorted(types, key=lambda type_: last_name(type_) not in lists)
    named = dict.fromkeys(name for type_ in listing for name in named_parameters(type_))
    around = walk.definitions[draft.definition].parent
    while around >= 0:
        outer = walk.drafts[around]
        for name in outer.type_parameters if outer is not None else ():
            named.pop(name, None)
        around = walk.definitions[around].parent
    return tuple(name for name in named if name in walk.loose_type_parameters)


def _flags_of(rule: model.Function, node: Node, naming: Naming | None) -> int:
    flags = rule.flags
    if naming is not None or rule.is_value:
        flags |= DETACHED
    if naming is not None and rule.kind is Kind.METHOD:
        flags |= OWN_RECEIVER
    if rule.modifiers:
        flags |= sum(
            {rule.modifiers[child.type] for child in node.children if child.type in rule.modifiers}
        )
    return flags


def _kind_of(
    walk: Lowering,
    rule: model.Function,
    naming: Naming | None,
    own_name: OptionalNode,
    receiver: Expression,
    flags: int,
) -> Kind:
    """The kind of a function: by its rule, its assignment and the scope around it."""
    if naming is not None:
        kind, belongs = naming.kind or rule.kind, False
    else:
        kind = rule.kind if own_name is not None else Kind.LAMBDA
        belongs = bool(last_name(receiver))
    if kind is Kind.FUNCTION and (belongs or walk.scope.kind in SCOPE_OWNERS - {Kind.NAMESPACE}):
        kind = Kind.METHOD
    if kind is Kind.METHOD and (flags | (walk.wrapped[1] if walk.wrapped else 0)) & PROPERTY:
        kind = Kind.PROPERTY
    return kind


def _bind_fields(walk: Lowering, node: OptionalNode, draft: ScopeDraft, owner: ScopeDraft) -> None:
    """Parameters that are fields of the class too."""
    for child in parts_of(node):
        rule = walk.rules[child.kind_id]
        if type(rule) is not model.Parameter or not rule.fields:
            continue
        name_node = field(rule.name)(child)
        if name_node is None or not any(part.type in rule.fields for part in child.children):
            continue
        name = walk.text(name_node)
        draft.binds.extend(
            ((MEMBER, receiver, name), name) for receiver in walk.resolution.receiver_names
        )
        annotation = next(
            (parameter.annotation for parameter in draft.parameters if parameter.name == name), None
        )
        walk.scope = owner
        if annotation is not None:
            walk.bind_name(name, (TYPED, annotation))
        walk.define_value(child, name, name_node, Kind.FIELD)
        walk.scope = draft


def _class(rule: model.Class, walk: Lowering, node: Node) -> Expression:
    naming, walk.naming = walk.naming, None
    own_name, body = field(rule.name)(node), field(rule.body)(node)
    type_parameters = walk.type_parameters
    declared = _declare_type_parameters(walk, node, rule.generics)
    if rule.alias and body is None:
        value = walk.value(field(rule.alias)(node))
        walk.type_parameters = type_parameters
        typed = value and (TYPED, value, *([tuple(declared)] if declared else ()))
        return _type_alias(walk, node, own_name, typed, rule.kind)
    skipped = {child.id for child in (own_name, body) if child is not None}
    bases = _all_bases(rule, walk, node, skipped)
    metaclasses = list(_metaclasses(rule, walk, node))
    _note_subclass(walk, bases, line_of(node))
    draft = _enter_class(walk, rule, node, body, naming, own_name)
    draft.bases = bases
    draft.binds.extend((METACLASS, value) for value in metaclasses)
    draft.type_parameters = declared + _loose_parameters(walk, draft, bases)
    _declare_own_type(walk)
    walk.scope = draft
    walk.visit([child for child in named_parts(node) if child.id not in skipped])
    walk.value(body)
    walk.type_parameters = type_parameters
    return walk.leave(draft)


def _note_subclass(walk: Lowering, bases: list[Expression], line: int) -> None:
    """Note the calls of the method that each base has called for a class below it."""
    method = walk.resolution.subclass_method
    for base in bases if method else ():
        walk.implicit(base, method, (), line)


def _declare_own_type(walk: Lowering) -> None:
    """Declare the type parameter for the enclosing class: `Self`."""
    own = walk.resolution.own_type
    if own:
        walk.type_parameters = {**walk.type_parameters, own: (TYPE_PARAMETER, None, own)}


def _enter_class(
    walk: Lowering,
    rule: model.Class,
    node: Node,
    body: OptionalNode,
    naming: Naming | None,
    own_name: OptionalNode,
) -> ScopeDraft:
    """The scope of a class, named by its assignment or itself; of an extension, by its type."""
    name_node = naming.node if naming is not None else own_name
    prefix = naming.prefix if naming is not None else ""
    kind = Kind.EXTENSION if rule.extends else rule.kind
    if rule.extends and name_node is not None:
        name = last_name(walk.value(name_node)) or walk.text(name_node)
    else:
        name = _name_of(walk, naming, own_name, "class")
    draft = walk.enter(node, kind, name, name_node, body, prefix)
    draft.body = body.id if body is not None else 0
    if naming is not None or rule.is_value:
        draft.flags |= DETACHED
    if rule.extends:
        draft.flags |= EXTENSION
        draft.receiver_type = walk.value(name_node)
    return draft


def _all_bases(
    rule: model.Class, walk: Lowering, node: Node, skipped: set[int]
) -> list[Expression]:
    """The base types of a class; the nodes that list them are added to `skipped`."""
    bases: list[Expression] = []
    for place in rule.bases:
        listed = field(place)(node)
        while listed is not None:
            skipped.add(listed.id)
            bases.extend(_bases(walk, listed))
            following = next_part(listed)  # a grammar may have a node for each base
            if following is None or following.type != listed.type or following.id in skipped:
                break
            listed = following
    return bases if rule.base is None else [rule.base(walk, base) for base in bases]


def _metaclasses(rule: model.Class, walk: Lowering, node: Node) -> Iterator[Expression]:
    """The classes that the header of a class names as its metaclasses, by a keyword."""
    for place in rule.bases if rule.metaclass else ():
        for child in parts_of(field(place)(node)):
            inner = walk.rules[child.kind_id]
            if type(inner) is not model.KeywordArgument:
                continue
            name, value = field(inner.name)(child), field(inner.value)(child)
            if name is not None and value is not None and walk.text(name) == rule.metaclass:
                walk.mentions.add(METACLASS)
                yield walk.callee(value)


def _type_alias(
    walk: Lowering, node: Node, name_node: OptionalNode, typed: Expression, kind: Kind
) -> None:
    """Bind a name for another type: a variable declared with it is an instance of that type."""
    wrapped, walk.wrapped = walk.wrapped, None
    if name_node is not None:
        name = walk.text(name_node)
        walk.bind_name(name, typed, name_node)
        walk.define_value(wrapped[0] if wrapped else node, name, name_node, kind)


def _bases(walk: Lowering, node: Node) -> list[Expression]:
    """The base types that a node lists; keyword arguments (`metaclass=`) are visited only."""
    if (
        walk.rules[node.kind_id] is not None
        and type(walk.rules[node.kind_id]) is not model.Sequence
    ):
        return [walk.value(node)]
    found: list[Expression] = []
    for child in named_parts(node):
        if type(walk.rules[child.kind_id]) is model.KeywordArgument:
            walk.value(child)
        elif walk.rules[child.kind_id] is None:
            found.extend(_bases(walk, child))
        else:
            value = walk.value(child)
            if value is not None:
                found.append(value)
    return found


def _variable(rule: model.Variable, walk: Lowering, node: Node) -> None:
    name, typed, value_node = (
        field(rule.name)(node),
        field(rule.type)(node),
        field(rule.value)(node),
    )
    annotation = walk.value(typed)
    wrapped, walk.wrapped = walk.wrapped, None
    if rule.names and name is not None and value_node is not None:
        if type(walk.rules[value_node.kind_id]) in (model.Function, model.Class):
            walk.wrapped = wrapped or (node, 0)
        value = walk.named_value(value_node, Naming(walk.text(name), name))
    else:
        value = walk.value(value_node)
    is_definition = name is not None and walk.is_definition(value, walk.text(name))
    value = walk.with_type(value, annotation)
    walk.visit_others(node, name, typed, value_node)
    if name is not None:
        text = _unquoted(walk, name)
        walk.bind_name(text, value, name)
        if not is_definition and walk.scope.holds_symbols:
            walk.define_value(wrapped[0] if wrapped else node, text, name, rule.kind)


def _unquoted(walk: Lowering, name: Node) -> str:
    """A name that may be written as a text: `"a-b": string`."""
    if type(walk.rules[name.kind_id]) is not model.Text:
        return walk.text(name)
    constant = walk.value(name)
    return (is_tagged(constant, CONST) and str(constant[1])) or walk.text(name)


def _variables(rule: model.Variables, walk: Lowering, node: Node) -> None:
    typed = field(rule.type)(node)
    annotation = walk.value(typed)
    scope = walk.scope
    symbol = scope.holds_symbols
    wrapped, walk.wrapped = walk.wrapped, None
    outermost = wrapped[0] if wrapped else node
    for child in named_parts(node):
        if child.type != rule.each:
            if typed is None or child.id != typed.id:
                walk.value(child)
            continue
        name, value = field(rule.name)(child), walk.value(field(rule.value)(child))
        if name is None:
            continue
        text = walk.text(name)
        walk.note_binding(text, name)
        walk.rebinds = text in scope.bound and walk.is_straight(node)
        if symbol or value is not None:
            walk.bind_name(text, walk.with_type(value, annotation), name)
        else:  # a local variable holds a value that is assigned later
            walk.bind_name(text, None, name)
        walk.rebinds = False
        if annotation is not None and not symbol:
            scope.types[text] = annotation
        if symbol:
            walk.define_value(outermost, text, name, rule.kind)


def _wrapper(rule: model.Wrapper, walk: Lowering, node: Node) -> Expression:
    inner = field(rule.definition)(node)
    if inner is None:
        walk.values(node)
        return None
    decorators, flags = _decorators(walk, node, rule)
    if type(walk.rules[inner.kind_id]) in (model.Function, model.Class, model.Variables):
        walk.wrapped = (walk.wrapped[0] if walk.wrapped else node, flags)
    result = walk.value(inner)
    if not is_tagged(result, DEFINED):
        return result
    draft = walk.drafts[result[1]]
    for expression, line in decorators:
        result = walk.call(expression, (result,), (), line)
    if draft is not None and decorators:
        draft.decorated = result
    return result


def _decorators(
    walk: Lowering, node: Node, rule: model.Wrapper
) -> tuple[list[tuple[Expression, int]], int]:
    """Decorator expressions with their lines, innermost first, and the flags that stand for some of
    them.
    """
    found: list[tuple[Expression, int]] = []
    flags = 0
    meanings = walk.resolution.value_decorators
    for child in named_parts(node):
        if not rule.decorators or child.type != rule.decorators or not named_parts(child):
            continue
        inner = named_parts(child)[0]
        text = walk.text(inner).partition("(")[0]
        meaning = meanings.get(text) or meanings.get(text.rpartition(".")[2])
        expression = walk.value(inner)
        if meaning:
            flags |= meaning
        elif expression is not None:
            found.append((expression, line_of(child)))
    return found[::-1], flags


DEFINITIONS: Lowerings = {
    model.Function: _function,
    model.Class: _class,
    model.Variable: _variable,
    model.Variables: _variables,
    model.Wrapper: _wrapper,
}
