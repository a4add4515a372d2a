"""JavaScript, and the parts of TypeScript that it shares."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from tersely.code.expressions import (
    CALL,
    CONST,
    DEFINED,
    IMPORTED,
    ITEM,
    MAPPING,
    MEMBER,
    SEQUENCE,
    SPREAD,
    TYPED,
    Expression,
    Expressions,
    either,
    is_tagged,
)  # fmt: skip
from tersely.code.languages.children import every
from tersely.code.languages.model import (  # fmt: skip
    Language,
    Resolution,
    Rule,
    names,
    wheel,
)
from tersely.code.languages.nodes import (
    TYPE_OF,
    OptionalNode,
    TextOf,
    all_parts,
    child_in,
    child_of,
    children_in,
    first_part,
    has_token,
    line_of,
    named_parts,
)
from tersely.code.languages.parts import ecmascript_narrowing
from tersely.code.languages.parts.ecmascript_modules import (
    ELEMENT_MODULE,
    entry_words,
    module_files,
    module_keys,
)
from tersely.code.languages.parts.ecmascript_scripts import namespace_of, sharing_scripts
from tersely.code.languages.summaries import resolution_facts, summaries
from tersely.code.languages.tables import rules_of
from tersely.code.symbols import Import

if TYPE_CHECKING:
    from tree_sitter import Node

    from tersely.code.syntax.lowering import Lowering

QUOTES = "\"'`"
ELEMENTS = "JSX"  # the namespace that says which elements there are
ELEMENTS_OF = re.compile(rb"@jsxImportSource\s+([^\s*]+)")
MAX_HEAD_BYTES = 4_000  # of a file, in which it names the package of its elements


# Imports and exports


def _source(node: Node, text: TextOf) -> str:
    return text(node.child_by_field_name("source")).strip(QUOTES)


def _specifiers(clause: Node, module: str, text: TextOf) -> list[Import]:
    """`{a, b as c}` of an import or a re-export."""
    found = []
    for child in named_parts(clause):
        name, alias = children_in(child, "name", "alias")
        if name is None and child.children:  # `default`, which is a keyword
            name = all_parts(child)[0]
        if name is not None and child.type in ("import_specifier", "export_specifier"):
            bound = text(alias or name).strip(QUOTES)
            found.append(Import(module, text(name).strip(QUOTES), bound, line_of(name)))
    return found


def read_import(node: Node, text: TextOf) -> list[Import]:
    """`import d, {a as b}, * as n from "m"`, `import "m"`, `import n = require("m")`."""
    line, module = line_of(node), _source(node, text)
    found: list[Import] = []
    for clause in named_parts(node):
        if clause.type == "import_require_clause":
            name = child_of(clause, "identifier")
            found.append(Import(_source(clause, text), "", text(name), line))
        for child in named_parts(clause) if clause.type == "import_clause" else ():
            if child.type == "identifier":
                found.append(Import(module, "default", text(child), line))
            elif child.type == "namespace_import":
                found.extend(
                    Import(module, "", text(name), line) for name in named_parts(child)[:1]
                )
            elif child.type == "named_imports":
                found.extend(_specifiers(child, module, text))
    return found or ([Import(module, "", "", line)] if module else [])


def read_call(node: Node, text: TextOf) -> Import | None:
    """`require("m")` and `import("m")`."""
    function = node.child_by_field_name("function")
    listed = node.child_by_field_name("arguments")
    passed = named_parts(listed) if listed is not None else []
    if function is None or len(passed) != 1 or passed[0].type not in ("string", "template_string"):
        return None
    if has_token(passed[0], "template_substitution"):
        return None
    if function.type != "import" and text(function) not in ("require", "require.resolve"):
        return None
    return Import(text(passed[0]).strip(QUOTES), "", "", line_of(node))


def lower_export(walk: Lowering, node: Node, declared: OptionalNode, value: OptionalNode) -> None:
    """Every form of `export`."""
    module, line = _source(node, walk.text), line_of(node)
    wrapped, walk.wrapped = walk.wrapped, None
    if module:
        _export_from(walk, node, module, line)
        return
    wrapped, tokens = wrapped or (node, 0), set(map(TYPE_OF, node.children))
    for clause in every(node, ":export_clause"):
        _export_names(walk, clause)
    walk.visit(every(node, ":decorator"))
    if declared is not None:
        walk.wrapped = wrapped
        result = walk.value(declared)
        walk.wrapped = None
        if "default" in tokens:
            name = walk.text(declared.child_by_field_name("name"))
            walk.bind_name("default", name or result, declared)
    elif value is not None:
        walk.bind_name("default", walk.value_assigned_to("default", value, wrapped), node)
    elif "=" in tokens:
        for child in named_parts(node):
            walk.bind_name("exports", walk.value(child), child)


def _export_names(walk: Lowering, clause: Node) -> None:
    """`export {a, b as c}`."""
    for fact in _specifiers(clause, "", walk.text):
        walk.scope.read.add(fact.name)
        if fact.alias != fact.name:
            walk.bind_name(fact.alias, fact.name, clause)


def _export_from(walk: Lowering, node: Node, module: str, line: int) -> None:
    found: list[Import] = []
    for child in named_parts(node):
        if child.type == "export_clause":
            found.extend(_specifiers(child, module, walk.text))
        elif child.type == "namespace_export":
            found.extend(
                Import(module, "", walk.text(name).strip(QUOTES), line)
                for name in named_parts(child)[:1]
            )
    for fact in found or [Import(module, "*", "", line)]:
        walk.add_import(fact)


# Quirks


CLASS_NODES = names("class_declaration abstract_class_declaration")
CLASS_NAMES = names("identifier type_identifier")  # follow decorators inside a class


def lower_decorator(walk: Lowering, node: Node) -> None:
    """`@decorator` calls it; `@decorator(…)` calls its result."""
    decorated = node.next_named_sibling
    while decorated is not None and decorated.type in ("decorator", "comment"):
        decorated = decorated.next_named_sibling
    name, kind = walk.text(child_in(decorated, "name")), decorated.type if decorated else ""
    arguments: Expressions = ()
    if kind in CLASS_NAMES:
        arguments = (walk.text(decorated),)
    elif name and kind in CLASS_NODES:
        arguments = (name,)
    elif name and kind == "method_definition":
        owner = walk.definitions[walk.scope.definition].name
        arguments = (None, None, (MEMBER, owner, name))
    for child in named_parts(node):
        walk.call(walk.callee(child), arguments, (), line_of(node))


def lower_element(walk: Lowering, node: Node, name: OptionalNode) -> Expression:
    """`<Component a={b}/>` calls `Component({a: b})`; `<element a={b}/>` in lower case has members
    of a type.
    """
    if name is not None and _is_element(walk, name):
        return _lower_own_element(walk, node, name)
    pairs: list[tuple[Any, Any]] = []
    serial = walk.next_serial()
    for child in named_parts(node):
        parts = named_parts(child)
        if child.type == "jsx_attribute" and parts:
            key = (CONST, walk.text(parts[0]))
            walk.note_key(serial, key, parts[0])
            pairs.append((key, walk.value(parts[1] if len(parts) > 1 else None)))
        elif (
            child.type == "jsx_expression" and name is not None and child.start_byte > name.end_byte
        ):
            for inner in parts:
                spread = first_part(inner) if inner.type == "spread_element" else None
                pairs.append(((SPREAD, None), walk.value(spread or inner)))
    if name is None or name.type == "jsx_namespace_name":
        return None
    props = (MAPPING, tuple(pairs), serial)
    return walk.call(walk.callee(name), (props,), (), line_of(name))


def _is_element(walk: Lowering, name: Node) -> bool:
    """True if a name is that of an element of the page, not of a component."""
    return name.type == "identifier" and walk.text(name)[:1].islower()


def _lower_own_element(walk: Lowering, node: Node, name: Node) -> None:
    element = _own_element(walk, name)
    walk.note_pattern_member(element, name)
    for child in named_parts(node):
        parts = named_parts(child) if child.type == "jsx_attribute" else []
        if parts:
            walk.note_pattern_member((MEMBER, element, walk.text(parts[0])), parts[0])
            walk.visit(parts[1:])
        elif child.id != name.id:
            walk.value(child)


def lower_closing(walk: Lowering, node: Node, name: OptionalNode) -> None:
    """`</element>`."""
    if name is not None and _is_element(walk, name):
        walk.note_pattern_member(_own_element(walk, name), name)
    else:
        walk.value(name)


def _own_element(walk: Lowering, name: Node) -> Expression:
    """An element as a member of `JSX.IntrinsicElements`, which is a namespace of the module that the
    file or the configuration names, or one for all files.
    """
    if ELEMENTS not in walk.notes:
        named = ELEMENTS_OF.search(walk.source[:MAX_HEAD_BYTES])
        source = named[1].decode("utf-8", "replace").rstrip("/") if named else ""
        module = f"{source}/{ELEMENT_MODULE}" if source else ELEMENT_MODULE
        walk.notes[ELEMENTS] = either((IMPORTED, module, ELEMENTS), ELEMENTS)
    owner = (MEMBER, walk.notes[ELEMENTS], "IntrinsicElements")
    return (MEMBER, (TYPED, owner), walk.text(name))


def lower_catch(walk: Lowering, node: Node, parameter: OptionalNode, body: OptionalNode) -> None:
    """`catch (error) {…}`."""
    if parameter is not None:
        walk.bind(parameter, None)
    walk.value(body)


def note_call(walk: Lowering, callee: Expression, arguments: tuple[Any, ...]) -> None:
    """Record what a call does beyond its result: it mixes members into an object, makes one inherit
    from another, describes a member, or exports a module.
    """
    if callee == "define":
        _note_export(walk, arguments)
    if len(arguments) < 2:
        return
    name = callee if type(callee) is str else callee[2] if is_tagged(callee, MEMBER) else ""
    target, base = arguments[:2]
    if name in walk.resolution.mixing_functions:
        walk.scope.binds.extend(((ITEM, target, (SPREAD, added)), None) for added in arguments[1:])
    elif name in ("inherits", "setPrototypeOf"):
        walk.store(_prototype_of(walk, target), _prototype_of(walk, base))
    elif name == "defineProperty" and len(arguments) > 2:
        _describe(walk, (ITEM, target, base), target, arguments[2])


def _prototype_of(walk: Lowering, value: Expression) -> Expression:
    """The object from which the instances of a function inherit; a prototype is one itself."""
    is_prototype = is_tagged(value, MEMBER) and value[2] == walk.resolution.prototype
    return value if is_prototype else (MEMBER, value, walk.resolution.prototype)


def _describe(
    walk: Lowering, member: Expression, owner: Expression, description: Expression
) -> None:
    """Record `Object.defineProperty(owner, name, {get() {…}})`: the value of the member is the
    result of `get`, or `value`.
    """
    pairs = description[1] if is_tagged(description, MAPPING) else ()
    for key, value in pairs:
        draft = walk.drafts[value[1]] if is_tagged(value, DEFINED) else None
        if draft is not None:
            draft.holder = owner
        if key == (CONST, "value"):
            walk.store(member, value)
        elif key == (CONST, "get"):
            walk.store(member, (CALL, value, (), (), 0))


def _note_export(walk: Lowering, arguments: tuple[Any, ...]) -> None:
    """Record `define(["a"], function (a) {…})`: the result of the function is the module, and its
    parameters are the imports.
    """
    factory, listed = arguments[-1], arguments[-2] if len(arguments) > 1 else None
    if not is_tagged(factory, DEFINED) or walk.scope.definition:
        return
    line = walk.definitions[factory[1]].start_line
    names = listed[1] if is_tagged(listed, SEQUENCE) else ()
    facts = [Import(name[1], "", "", line) for name in names if is_tagged(name, CONST)]
    given = tuple(walk.imported_value(fact) for fact in facts) if len(facts) == len(names) else ()
    for fact in facts:
        walk.add_import(fact)
    draft = walk.drafts[factory[1]]
    if draft is not None:
        for place, (parameter, imported) in enumerate(zip(draft.parameters, given, strict=False)):
            draft.parameters[place] = parameter._replace(
                default=either(parameter.default, imported)
            )
    walk.store(walk.resolution.module_object, (CALL, factory, given, (), line))


RULES: dict[str, Rule] = rules_of("ecmascript", vars(ecmascript_narrowing) | globals())


RESOLUTION = Resolution(
    **resolution_facts("ecmascript"),
    modules=module_files,
    sharing=sharing_scripts,
    module_keys=module_keys,
    entry_words=entry_words,
    note_call=note_call,
    methods=summaries("ecmascript", "methods"),
    properties=summaries("ecmascript", "properties"),
    summaries=summaries("ecmascript", "functions"),
)

BLOCKS = names(
    "statement_block switch_body for_statement for_in_statement catch_clause while_statement do_statement if_statement "
    "else_clause with_statement class_static_block"
)


def outlives(node: Node) -> bool:
    """True if a name is declared with `var`, which blocks do not end."""
    around: Node | None = node
    while around is not None and around.type not in ("variable_declaration", "for_in_statement"):
        if around.type.endswith(
            ("_statement", "_block", "_body", "_clause", "_declaration", "parameters")
        ):
            return False
        around = around.parent
    return around is not None and has_token(around, "var")


JAVASCRIPT = Language(
    name="javascript",
    checks_types=False,
    grammar=wheel("tree_sitter_javascript"),
    namespace_of=namespace_of,
    rules=RULES,
    blocks=BLOCKS,
    hoists=True,
    outlives=outlives,
    control="ecmascript",
    resolution=RESOLUTION,
)
