"""Rust."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from tersely.code.expressions import (
    AS_TRAIT,
    CONST,
    DECLARED,
    EITHER,
    ELEMENT,
    IMPORTED,
    ITEM,
    LITERAL,
    MEMBER,
    SEQUENCE,
    TYPED,
    Expression,
    either,
    is_tagged,
)  # fmt: skip
from tersely.code.expressions import Parameter as Positional
from tersely.code.languages import classes
from tersely.code.languages.model import (
    Attribute,
    Comment,
    Files,
    Language,
    Resolution,
    joined_path,
    names,
    wheel,
)
from tersely.code.languages.nodes import (
    OptionalNode,
    all_parts,
    child_of,
    has_token,
    last_line_of,
    line_of,
    named_parts,
    parts_in,
    parts_of,
)
from tersely.code.languages.summaries import resolution_facts, summaries
from tersely.code.languages.tables import rules_of
from tersely.code.places import directory_of, file_name_of
from tersely.code.symbols import Import, Kind

if TYPE_CHECKING:
    from tree_sitter import Node

    from tersely.code.syntax.lowering import Lowering

TUPLE = "()"  # a generic type that the grammar spells with symbols
SEPARATOR = "::"
OWN_MACROS = "macros"  # a note of the macros that the file has defined so far
FILE_ATTRIBUTE = re.compile(r'\bpath\s*=\s*"([^"]+\.rs)"')
PATH_WORDS = ("crate", "self", "super")


# Modules


def module_files(files: Files, importer: str, module: str) -> list[str]:
    """The file of a module path: `crate::a::b`, `self::a`, `super::a`, `a::b` (a child, else a
    crate); or the one at a path, in the folder of the file's child modules after `self/`.
    """
    if module.endswith(".rs"):
        is_below = module.startswith("self/")
        home = _child_directory(importer, files) if is_below else directory_of(importer)
        return [joined_path(home.rstrip("/"), module.removeprefix("self/"))]
    parts = module.replace(".", SEPARATOR).split(SEPARATOR)
    if not importer:
        roots = [path for name, path in files.once(_crates) if name == parts[0]]
        return [found for root in roots for found in _submodule_file(files, root, parts[1:])]
    first = parts[0]
    if first == "crate":
        root = _crate_root(files, importer)
        return _submodule_file(files, root, parts[1:]) if root else []
    if first in ("self", "super"):
        place = importer
        while parts and parts[0] in ("self", "super"):
            if parts.pop(0) == "super":
                place = _parent(files, place)
                if not place:
                    return []
        return _submodule_file(files, place, parts)
    for name, path in files.once(_crates):
        if name == first:
            return _submodule_file(files, path, parts[1:])
    return _submodule_file(files, importer, parts)


def _submodule_file(files: Files, path: str, parts: list[str]) -> list[str]:
    """The file of a module below the module that a file is. One written inside a file has a
    directory all the same.
    """
    directory, found = _child_directory(path, files), path
    for part in parts:
        forms = (f"{directory}{part}.rs", f"{directory}{part}/mod.rs")
        found = next((form for form in forms if form != path and files.exists(form)), "")
        directory = _child_directory(found, files) if found else f"{directory}{part}/"
    return [found] if found else []


def _child_directory(path: str, files: Files) -> str:
    """The folder of the files of child modules, with a slash at its end unless it is the root."""
    directory, _, name = path.rpartition("/")
    home = f"{directory}/" if directory else ""
    return (
        home if name == "mod.rs" or _is_root(files, path) else f"{home}{name.removesuffix('.rs')}/"
    )


def _is_root(files: Files, path: str) -> bool:
    """True if a file is the root module of a crate."""
    directory, _, name = path.rpartition("/")
    if name in ("lib.rs", "main.rs", "build.rs"):
        return True
    if file_name_of(directory) in ("bin", "tests", "examples", "benches"):
        return not files.exists(f"{directory}/mod.rs")
    return any(root == path for _, root in files.once(_crates))


def _parent(files: Files, path: str) -> str:
    """The file of the parent module of a file, "" for a crate's root."""
    if _is_root(files, path):
        return ""
    directory, _, name = path.rpartition("/")
    if name == "mod.rs":
        directory = directory_of(directory)
    roots = {directory_of(root): root for _, root in files.once(_crates)}
    while True:
        home = f"{directory}/" if directory else ""
        forms = (
            f"{home}mod.rs",
            f"{directory}.rs" if directory else "",
            f"{home}lib.rs",
            f"{home}main.rs",
        )
        found = next((form for form in forms if form and form != path and files.exists(form)), "")
        if found or directory in roots or not directory:
            return found or roots.get(directory, "")
        # a module written inside the file of the one around it
        directory = directory_of(directory)


def _crate_root(files: Files, path: str) -> str:
    """The root module of the crate that a file belongs to."""
    seen = set()
    while path and path not in seen:
        seen.add(path)
        above = _parent(files, path)
        if not above:
            return path
        path = above
    return path


def _crates(files: Files) -> list[tuple[str, str]]:
    """(name, root file) of every library crate of the repository."""
    found = []
    manifests: set[str] = set()
    for path in files.under(""):
        directory = directory_of(path) if path.endswith(".rs") else None
        while directory is not None and directory not in manifests:
            manifests.add(directory)
            directory = directory_of(directory) if directory else None
    for directory in sorted(manifests):
        prefix = f"{directory}/" if directory else ""
        text = files.text(f"{prefix}Cargo.toml")
        package, library = _section(text, "package"), _section(text, "lib")
        name = _setting(library, "name") or _setting(package, "name")
        root = prefix + (_setting(library, "path") or "src/lib.rs")
        if name and files.exists(root):
            found.append((name.replace("-", "_"), root))
        for binary in re.findall(r"^\[\[bin\]\](.*?)(?=^\[|\Z)", text, re.MULTILINE | re.DOTALL):
            path = prefix + _setting(binary, "path")
            if files.exists(path):
                found.append(("", path))
    return found


def _section(text: str, name: str) -> str:
    found = re.search(rf"^\[{name}\](.*?)(?=^\[|\Z)", text, re.MULTILINE | re.DOTALL)
    return found[1] if found else ""


def _setting(section: str, name: str) -> str:
    found = re.search(rf'^[ \t]*{name}[ \t]*=[ \t]*"([^"]*)"', section, re.MULTILINE)
    return found[1] if found else ""


# Paths, and the names that `use` brings in


def _segments(walk: Lowering, node: OptionalNode) -> list[str]:
    """The names of a path; empty when it is not one of plain names."""
    if node is None:
        return []
    if node.type in ("scoped_identifier", "scoped_type_identifier"):
        path, name = node.child_by_field_name("path"), node.child_by_field_name("name")
        before = _segments(walk, path)
        return [*before, walk.text(name)] if name is not None and (before or path is None) else []
    return [walk.text(node)] if not len(named_parts(node)) else []


def _inline_depth(walk: Lowering) -> int:
    """The number of modules written inside the file that surround the current scope."""
    depth, scope = 0, walk.scope
    position = scope.definition
    while position > 0:
        depth += walk.definitions[position].kind == Kind.NAMESPACE
        position = walk.definitions[position].parent
    return depth


def _from_file(walk: Lowering, segments: list[str]) -> list[str]:
    """A path as seen from the file: modules written inside the file are left by `super` first."""
    depth = _inline_depth(walk)
    if not depth or segments[0] not in ("self", "super"):
        return segments
    inline: list[str] = []
    position = walk.scope.definition
    while position > 0:
        if walk.definitions[position].kind == Kind.NAMESPACE:
            inline.insert(0, walk.definitions[position].name)
        position = walk.definitions[position].parent
    rest = list(segments)
    while rest and (rest[0] == "self" or (rest[0] == "super" and inline)):
        if rest.pop(0) == "super":
            inline.pop()
    return ["self", *inline, *rest] if not rest or rest[0] != "super" else rest


def lower_path(walk: Lowering, node: Node, path: OptionalNode, name: OptionalNode) -> Expression:
    """`a::b`: a member of a, or of a module for paths that start at one."""
    segments = _segments(walk, node)
    if segments and segments[0] in PATH_WORDS and len(segments) > 1:
        segments = _from_file(walk, segments)
        walk.mentions.update(segments)
        return (IMPORTED, SEPARATOR.join(segments[:-1]), segments[-1])
    if name is None or path is None:
        return walk.text(name) if name is not None else None
    text = walk.text(name)
    walk.mentions.add(text)
    return (MEMBER, walk.value(path), text)


def lower_use(walk: Lowering, node: Node) -> None:
    """`use a::{b as c, d::*, self};`: binds names, also for other modules where it is `pub`."""
    line = line_of(node)
    for module, name, alias in _use_bindings(walk, node.child_by_field_name("argument"), []):
        segments = _from_file(walk, [*module, name] if name and name != "*" else module or [""])
        if name == "*":
            walk.add_import(Import(SEPARATOR.join(segments), "*", "", line))
        elif len(segments) > 1:
            walk.add_import(
                Import(
                    SEPARATOR.join(segments[:-1]), segments[-1], "" if alias == "_" else alias, line
                )
            )
        else:
            walk.add_import(Import(segments[0], "", alias, line))


def _use_bindings(
    walk: Lowering, node: OptionalNode, before: list[str]
) -> Iterator[tuple[list[str], str, str]]:
    """(module, name, alias) of everything that a use tree brings in."""
    if node is None:
        return
    if node.type == "use_list":
        for child in named_parts(node):
            yield from _use_bindings(walk, child, before)
    elif node.type == "scoped_use_list":
        path = _segments(walk, node.child_by_field_name("path"))
        yield from _use_bindings(walk, node.child_by_field_name("list"), before + path)
    elif node.type == "use_wildcard":
        yield before + (_segments(walk, named_parts(node)[0]) if named_parts(node) else []), "*", ""
    elif node.type == "use_as_clause":
        path = before + _segments(walk, node.child_by_field_name("path"))
        alias = node.child_by_field_name("alias")
        if path[-1:] == ["self"] and len(path) > 1:
            path.pop()
        if path and alias is not None:
            yield path[:-1], path[-1], walk.text(alias)
    elif node.type == "self" and before:
        yield before[:-1], before[-1], before[-1]
    elif not node.type.endswith("_comment"):
        path = before + _segments(walk, node)
        if path:
            yield path[:-1], path[-1], path[-1]


def lower_extern_crate(walk: Lowering, node: Node, name: OptionalNode, alias: OptionalNode) -> None:
    """`extern crate a as b;`."""
    if name is not None:
        walk.add_import(Import(walk.text(name), "", walk.text(alias or name), line_of(node)))


def lower_module(walk: Lowering, node: Node, name: OptionalNode, body: OptionalNode) -> Expression:
    """`mod name;` declares a file, `mod name { … }` is a module by itself."""
    if name is None:
        return None
    if body is None:
        segments = _from_file(walk, ["self", walk.text(name)])
        around = segments[:-1] if len(segments) > len(("self", "name")) else []
        written = ["/".join([*around, path]) for path in _paths_before(walk, node)]
        for module in written or [SEPARATOR.join(segments)]:
            walk.add_import(Import(module, "", walk.text(name), line_of(node)))
        return None
    draft = walk.enter(node, Kind.NAMESPACE, walk.text(name), name, body)
    walk.scope = draft
    walk.value(body)
    return walk.leave(draft)


def _paths_before(walk: Lowering, node: Node) -> list[str]:
    """The files of a module by its attributes: `#[path = "unix.rs"]`, also for some targets alone."""
    found: list[str] = []
    before = node.prev_named_sibling
    while before is not None and type(walk.rule(before)) in (Attribute, Comment):
        if before.type == "attribute_item":
            found += FILE_ATTRIBUTE.findall(walk.text(before))
        before = before.prev_named_sibling
    return found


# Types


def lower_qualified_type(walk: Lowering, node: Node) -> Expression:
    """`<T as Trait>`."""
    made = walk.field_value(node, "type")
    trait = walk.field_value(node, "alias")
    return (AS_TRAIT, made, trait) if trait is not None else made


def lower_bounds(walk: Lowering, node: Node, left: OptionalNode, bounds: OptionalNode) -> None:
    """`T: A + B` in a where clause bounds a type parameter once more."""
    bound = walk.value(bounds)
    if left is not None and walk.text(left) in walk.type_parameters:
        name = walk.text(left)
        walk.type_parameters[name] = either(walk.type_parameters[name], bound)


def lower_field(walk: Lowering, node: Node, name: OptionalNode, type_node: OptionalNode) -> None:
    """`name: Type` of a struct."""
    annotation = walk.value(type_node)
    if name is not None:
        walk.bind_node(name, annotation and (TYPED, annotation))
        walk.define_node(node, name, Kind.FIELD)


def lower_ordered_fields(walk: Lowering, node: Node) -> None:
    """`(A, B)` of a struct: fields 0 and 1."""
    for position, child in enumerate(parts_in(node, "type")):
        annotation = walk.value(child)
        walk.bind_name(str(position), annotation and (TYPED, annotation))


def lower_variant(
    walk: Lowering, node: Node, name: OptionalNode, body: OptionalNode, value: OptionalNode
) -> None:
    """A variant of an enum is the enum's instance; its fields are members `Variant.field` of the
    enum.
    """
    if name is None:
        return
    text, own = walk.text(name), walk.scope.qualname.rpartition(".")[2]
    walk.bind_name(text, (TYPED, own), name)
    walk.define_value(node, text, name, Kind.FIELD)
    walk.value(value)
    if body is not None and body.type == "ordered_field_declaration_list":
        for position, child in enumerate(parts_in(body, "type")):
            annotation = walk.value(child)
            walk.bind_name(f"{text}.{position}", annotation and (TYPED, annotation))
    for field in parts_of(body):
        inner = field.child_by_field_name("name")
        if inner is not None:
            annotation = walk.field_value(field, "type")
            walk.bind_name(f"{text}.{walk.text(inner)}", annotation and (TYPED, annotation))
            walk.define_node(field, inner, Kind.FIELD)


def lower_alias(
    walk: Lowering, node: Node, name: OptionalNode, type_parameters: OptionalNode
) -> None:
    """`type A<T> = B<T>;`: another name for the type; in traits and impls an associated type."""
    parameters = walk.type_parameters
    walk.type_parameters = dict(parameters)
    walk.value(type_parameters)
    made = walk.value(node.child_by_field_name("type") or node.child_by_field_name("bounds"))
    walk.type_parameters = parameters
    if name is not None:
        walk.bind_node(name, made)
        walk.define_node(node, name, Kind.TYPE)


# Patterns and values


def bind_pattern(walk: Lowering, node: OptionalNode, value: Expression) -> None:
    """Bind the names of a pattern to parts of a value."""
    if node is None:
        return
    kind = node.type
    if kind in ("identifier", "shorthand_field_identifier"):
        name = walk.text(node)
        if not name[:1].isupper():
            walk.bind_anew(name, value, node)
    elif kind in ("tuple_pattern", "slice_pattern"):
        known = value[1] if is_tagged(value, SEQUENCE) else ()
        for position, child in enumerate(_patterns(node)):
            inside = value and (ITEM, value, (CONST, position))
            bind_pattern(walk, child, known[position] if position < len(known) else inside)
    elif kind == "tuple_struct_pattern":
        _bind_tuple_struct(walk, node, value)
    elif kind == "struct_pattern":
        _bind_struct(walk, node)
    elif kind in ("or_pattern", "captured_pattern"):
        for child in named_parts(node):
            bind_pattern(walk, child, value)
    elif kind in (
        "scoped_identifier",
        "integer_literal",
        "string_literal",
        "range_pattern",
        "macro_invocation",
    ):
        walk.value(node)
    else:  # references, `mut`, `ref`, parentheses, guards
        condition = node.child_by_field_name("condition")
        for child in named_parts(node):
            if condition is None or child.id != condition.id:
                bind_pattern(walk, child, value)
        walk.value(condition)


def _patterns(node: OptionalNode) -> list[Node]:
    """The patterns of a list, those of which nothing is kept among them; none of None."""
    return [
        child
        for child in (node.children if node is not None else ())
        if child.type == "_" or (child.is_named and "comment" not in child.type)
    ]


def _bind_struct(walk: Lowering, node: Node) -> None:
    made = node.child_by_field_name("type")
    for child in named_parts(node):
        name, inner = child.child_by_field_name("name"), child.child_by_field_name("pattern")
        if child.type == "field_pattern" and name is not None:
            part = _part(walk, made, walk.text(name))
            member = part[1][-1] if is_tagged(part, EITHER) else part  # of a struct
            if member is not None:
                walk.mentions.add(walk.text(name))
                walk.note_pattern_member(member, name)
            bind_pattern(walk, inner or name, part)


def _bind_tuple_struct(walk: Lowering, node: Node, value: Expression) -> None:
    made = node.child_by_field_name("type")
    name = walk.text(made)
    inner = [child for child in _patterns(node) if made is None or child.id != made.id]
    for position, child in enumerate(inner):
        if name in ("Some", "Ok"):
            bind_pattern(walk, child, value)
        elif name == "Err":
            bind_pattern(walk, child, None)
        else:
            bind_pattern(walk, child, _part(walk, made, str(position)))


def _part(walk: Lowering, made: OptionalNode, field: str) -> Expression:
    """A field of the type that a pattern names: of a variant or of a struct."""
    return _part_of(walk.value(made), field)


def _part_of(typed: Expression, field: str) -> Expression:
    if typed is None:
        return None
    struct = (MEMBER, (TYPED, typed), field)
    if is_tagged(typed, MEMBER):
        return (EITHER, ((MEMBER, typed[1], f"{typed[2]}.{field}"), struct))
    if is_tagged(typed, IMPORTED) and SEPARATOR in typed[1]:
        owner, _, name = typed[1].rpartition(SEPARATOR)
        return (EITHER, ((MEMBER, (IMPORTED, owner, name), f"{typed[2]}.{field}"), struct))
    if type(typed) is str:  # a variant by its own name is an instance of its enum
        return (EITHER, ((MEMBER, typed, f"{typed}.{field}"), struct))
    return struct


def lower_let(walk: Lowering, node: Node) -> None:
    """`let pattern: Type = value else { … };` and the `let` of a condition."""
    annotation = walk.field_value(node, "type")
    value = walk.field_value(node, "value")
    walk.field_value(node, "alternative")
    if annotation is not None:
        value = (DECLARED, value, annotation) if value is not None else (TYPED, annotation)
    bind_pattern(walk, node.child_by_field_name("pattern"), value)


def lower_for(walk: Lowering, node: Node) -> None:
    """`for pattern in value { … }`."""
    value = walk.field_value(node, "value")
    bind_pattern(walk, node.child_by_field_name("pattern"), value and (ELEMENT, value))
    walk.field_value(node, "body")


def lower_match(walk: Lowering, node: Node, body: OptionalNode, value: OptionalNode) -> Expression:
    """The value is that of one of the arms; each arm takes the matched value apart."""
    matched = walk.value(value)
    values = []
    for arm in parts_of(body):
        if arm.type == "match_arm":
            with walk.in_block():
                bind_pattern(walk, arm.child_by_field_name("pattern"), matched)
                values.append(walk.field_value(arm, "value"))
    return either(*values)


def lower_if(walk: Lowering, node: Node) -> Expression:
    """The value is that of one of the branches."""
    with walk.in_block():
        walk.field_value(node, "condition")
        values = [walk.field_value(node, "consequence")]
    values.append(walk.field_value(node, "alternative"))
    return either(*values)


def lower_block(walk: Lowering, node: Node) -> Expression:
    """The value is that of the last expression, unless a semicolon ends it."""
    value: Expression = None
    for child in named_parts(node):
        value = walk.value(child)
        if child.type == "expression_statement" and has_token(child, ";"):
            value = None
    return value


def lower_closure(
    walk: Lowering, node: Node, body: OptionalNode, listed: OptionalNode, return_type: OptionalNode
) -> Expression:
    """`|a, b: T| body`."""
    draft = walk.enter_lambda(node, body)
    returned = walk.value(return_type)
    patterns = []
    for position, child in enumerate(_patterns(listed)):
        pattern = child.child_by_field_name("pattern") if child.type == "parameter" else child
        annotation = walk.field_value(child, "type") if child.type == "parameter" else None
        plain = pattern is not None and pattern.type == "identifier"
        name = walk.parameter_name(pattern if plain else None, position)
        draft.parameters.append(Positional(name, annotation, None, 0))
        draft.bound.add(name)
        if not plain and pattern is not None:
            patterns.append((name, pattern))
    walk.scope = draft
    draft.returned_type = returned
    for name, pattern in patterns:
        bind_pattern(walk, pattern, name)
    value = walk.value(body)
    if value is not None:
        draft.returns.append(value)
    return walk.leave(draft)


def lower_call(
    walk: Lowering, node: Node, function: OptionalNode, listed: OptionalNode
) -> Expression:
    """`callee(arguments)`; naming a variant with arguments makes a value of its enum."""
    if function is None:
        return None
    callee = walk.callee(function)
    arguments = tuple(map(walk.value, _patterns(listed)))
    names = walk.text(function).split(SEPARATOR)
    if names[-1] in ("Some", "Ok") and len(names) == 1:
        return arguments[0] if arguments else None
    if names[-1] == "Err" and len(names) == 1:
        return None
    if (
        len(names) > 1
        and names[-1][:1].isupper()
        and names[-2][:1].isupper()
        and "(" not in names[-1]
    ):
        return callee
    return walk.call(callee, arguments, (), last_line_of(function))


def lower_struct_literal(
    walk: Lowering, node: Node, body: OptionalNode, name_node: OptionalNode
) -> Expression:
    """`T { field: value, other, ..base }`."""
    made = walk.value(name_node)
    typed = made and (TYPED, made)
    for child in parts_of(body):
        field = child.child_by_field_name("field")
        if child.type == "shorthand_field_initializer" and named_parts(child):
            name = named_parts(child)[-1]
            walk.store((MEMBER, typed, walk.text(name)), walk.value(name))
            walk.note_pattern_member((MEMBER, typed, walk.text(name)), name)
        elif field is not None:
            value = walk.field_value(child, "value")
            walk.fill(typed, field, value)
        else:
            walk.value(child)
    return typed


def lower_range(walk: Lowering, node: Node) -> Expression:
    """Ranges are of numbers."""
    walk.values(node)
    return (LITERAL, "Range")


# Macros: their arguments are tokens, read as far as they look like expressions


def lower_macro_call(walk: Lowering, node: Node, name: OptionalNode) -> Expression:
    """`name!(tokens)`: calls the macro, and the functions that the tokens call."""
    tree = child_of(node, "token_tree")
    line = line_of(node)
    callee = walk.callee(name)
    return _macro_value(walk, callee, tree, line)


def _macro_value(
    walk: Lowering, callee: Expression, tree: OptionalNode, line: int = 0
) -> Expression:
    """The result of a macro that is called with a token tree."""
    if callee == "matches" and tree is not None:
        _match_tokens(walk, all_parts(tree)[1:-1])
        return (LITERAL, "bool")
    values = _token_values(walk, all_parts(tree)[1:-1]) if tree is not None else []
    if callee == "vec":
        return (SEQUENCE, tuple(values), walk.next_serial())
    if type(callee) is str:
        walk.scope.read.add(callee)
        is_standard = callee in STANDARD_MACROS and callee not in walk.notes.get(OWN_MACROS, ())
        callee = f"{callee}!" if is_standard else callee
    if callee is not None:
        walk.call(callee, tuple(values), (), line or (line_of(tree) if tree is not None else 0))
    return None


def _match_tokens(walk: Lowering, tokens: list[Node]) -> None:
    """`value, pattern if guard`: the guard sees the names of the pattern."""
    kinds = [token.type for token in tokens]
    comma = kinds.index(",") if "," in kinds else len(tokens)
    guard = kinds.index("if", comma) if "if" in kinds[comma:] else len(tokens)
    before = dict(walk.scope.versions)
    values = _token_values(walk, tokens[:comma])
    _bind_tokens(walk, tokens[comma + 1 : guard], values[0] if len(values) == 1 else None)
    _token_values(walk, tokens[guard + 1 :])
    walk.scope.versions = before


def _bind_tokens(walk: Lowering, tokens: list[Node], value: Expression) -> None:
    """Bind the names of a pattern that is written as tokens."""
    position = 0
    while position < len(tokens):
        token = tokens[position]
        text = walk.text(token)
        if token.type == "token_tree":
            for place, part in enumerate(_comma_separated(token)):
                _bind_tokens(walk, part, value and (ITEM, value, (CONST, place)))
        elif token.type == "identifier" and (
            text[:1].isupper() or _is_followed_by(tokens, position, "::")
        ):
            made, position = _token_path(walk, tokens, position)
            if position < len(tokens) and tokens[position].type == "token_tree":
                _bind_variant(walk, tokens[position], made, value)
                position += 1
            continue
        elif token.type == "identifier":
            walk.bind_anew(text, value, token)
        position += 1


def _is_followed_by(tokens: list[Node], position: int, kind: str) -> bool:
    return position + 1 < len(tokens) and tokens[position + 1].type == kind


def _comma_separated(tree: Node) -> list[list[Node]]:
    """The tokens between the delimiters of a tree, as commas separate them."""
    found: list[list[Node]] = [[]]
    for token in all_parts(tree)[1:-1]:
        if token.type == ",":
            found.append([])
        else:
            found[-1].append(token)
    return found


def _bind_variant(walk: Lowering, tree: Node, made: Expression, value: Expression) -> None:
    """`Variant(a, b)`, `Variant { a, b: c }` as tokens."""
    by_name = all_parts(tree)[0].type == "{"
    for place, part in enumerate(_comma_separated(tree)):
        field = walk.text(part[0]) if by_name and part else str(place)
        inside = part[2:] if by_name and _is_followed_by(part, 0, ":") else part
        wraps = made in ("Some", "Ok")
        _bind_tokens(
            walk, inside, value if wraps else None if made == "Err" else _part_of(made, field)
        )


def _token_values(walk: Lowering, tokens: list[Node]) -> list[Expression]:
    """The values of the expressions that tokens may be read as."""
    values: list[Expression] = []
    position = 0
    while position < len(tokens):
        value, position = _token_expression(walk, tokens, position)
        if value is not None:
            values.append(value)
    return values


def _token_expression(walk: Lowering, tokens: list[Node], position: int) -> tuple[Expression, int]:
    """A path with its members and calls, from one token on; returns the position behind it too."""
    token = tokens[position]
    position += 1
    if token.type == "token_tree":
        values = _token_values(walk, all_parts(token)[1:-1])
        value: Expression = values[0] if len(values) == 1 else None
    elif token.type in ("identifier", "self", "crate", "super", "metavariable"):
        if (
            position + 1 < len(tokens)
            and tokens[position].type == "!"
            and tokens[position + 1].type == "token_tree"
        ):
            return _macro_value(walk, walk.text(token), tokens[position + 1]), position + 2
        value, position = _token_path(walk, tokens, position - 1)
    elif token.type.endswith("_literal"):
        return (LITERAL, "str"), position
    else:
        return None, position
    return _token_postfix(walk, tokens, position, value)


def _token_path(walk: Lowering, tokens: list[Node], position: int) -> tuple[Expression, int]:
    names = [walk.text(tokens[position])]
    position += 1
    while (
        position + 1 < len(tokens)
        and tokens[position].type == "::"
        and not len(named_parts(tokens[position + 1]))
    ):
        names.append(walk.text(tokens[position + 1]))
        position += 2
    if names[0] in PATH_WORDS and len(names) > 1:
        names = _from_file(walk, names)
        walk.mentions.update(names)
        return (IMPORTED, SEPARATOR.join(names[:-1]), names[-1]), position
    walk.scope.read.add(names[0])
    walk.mentions.update(names[1:])
    value: Expression = walk.current_variable(names[0])
    for name in names[1:]:
        value = (MEMBER, value, name)
    return value, position


def _token_postfix(
    walk: Lowering, tokens: list[Node], position: int, value: Expression
) -> tuple[Expression, int]:
    while position < len(tokens):
        token = tokens[position]
        if token.type == "token_tree" and all_parts(token)[0].type == "(":
            arguments = tuple(_token_values(walk, all_parts(token)[1:-1]))
            value = walk.call(value, arguments, (), line_of(token)) if value is not None else None
            position += 1
        elif token.type == "token_tree" and all_parts(token)[0].type == "[":
            _token_values(walk, all_parts(token)[1:-1])
            value = value and (ITEM, value, None)
            position += 1
        elif token.type == "." and position + 1 < len(tokens):
            value = walk.member(value, walk.text(tokens[position + 1]))
            position += 2
        elif token.type == "?":
            position += 1
        else:
            break
    return value, position


def lower_macro(walk: Lowering, node: Node, name: OptionalNode) -> Expression:
    """`macro_rules! name { … }`: its bodies call the functions that they name."""
    text = walk.text(name) if name is not None else walk.anonymous("macro")
    draft = walk.enter(node, Kind.MACRO, text, name, None)
    walk.notes.setdefault(OWN_MACROS, set()).add(text)
    walk.scope = draft
    for rule in named_parts(node):
        body = rule.child_by_field_name("right")
        if body is not None and len(body.children) > 1:
            _token_values(walk, all_parts(body)[1:-1])
    return walk.leave(draft)


STANDARD_MACROS = names(
    "assert assert_eq assert_ne cfg column compile_error concat dbg debug_assert debug_assert_eq debug_assert_ne env "
    "eprint eprintln file format format_args include include_bytes include_str line matches module_path option_env "
    "panic print println stringify thread_local todo unimplemented unreachable vec write writeln"
)


METHODS = summaries("rust", "methods")

RUST = Language(
    name="rust",
    grammar=wheel("tree_sitter_rust"),
    rules=rules_of("rust", vars(classes) | globals()),
    blocks=names("block match_arm for_expression while_expression if_expression"),
    control="rust",
    resolution=Resolution(
        **resolution_facts("rust"),
        modules=module_files,
        separator=SEPARATOR,
        tuples=frozenset((TUPLE,)),
        methods=METHODS,
        universal_methods=frozenset(METHODS),
        summaries=summaries("rust", "functions"),
    ),
)
