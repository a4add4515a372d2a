"""Modules of Rust: their files, and the names that paths and `use` reach in them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from tersely.code.expressions import IMPORTED, MEMBER, Expression
from tersely.code.languages.model import Attribute, Comment, Files, directories_above, joined_path
from tersely.code.languages.nodes import OptionalNode, line_of, named_parts
from tersely.code.places import directory_of, file_name_of
from tersely.code.symbols import Import, Kind

if TYPE_CHECKING:
    from tree_sitter import Node

    from tersely.code.syntax.lowering import Lowering

SEPARATOR = "::"
FILE_ATTRIBUTE = re.compile(r'\bpath\s*=\s*"([^"]+\.rs)"')
PATH_WORDS = ("crate", "self", "super")


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
    place, below = _start(files, importer, parts)
    return _submodule_file(files, place, below) if place else []


def _start(files: Files, importer: str, parts: list[str]) -> tuple[str, list[str]]:
    """The file in which a path begins, "" for none, and the names of the path below it."""
    if parts[0] == "crate":
        return _crate_root(files, importer), parts[1:]
    if parts[0] in ("self", "super"):
        place = importer
        while place and parts and parts[0] in ("self", "super"):
            place = _parent(files, place) if parts[0] == "super" else place
            parts = parts[1:]
        return place, parts
    roots = [path for name, path in files.once(_crates) if name == parts[0]]
    return (roots[0], parts[1:]) if roots else (importer, parts)


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
    for directory in directories_above(files, ".rs"):
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


def _inline_modules(walk: Lowering) -> list[str]:
    """The modules written inside the file that surround the current scope, outermost first."""
    found: list[str] = []
    position = walk.scope.definition
    while position > 0:
        row = walk.definitions[position]
        if row.kind is Kind.NAMESPACE:
            found.insert(0, row.name)
        position = row.parent
    return found


def from_file(walk: Lowering, segments: list[str]) -> list[str]:
    """A path as seen from the file: modules written inside the file are left by `super` first."""
    inline, rest = _inline_modules(walk), list(segments)
    if not inline or segments[0] not in ("self", "super"):
        return segments
    while rest and (rest[0] == "self" or (rest[0] == "super" and inline)):
        if rest.pop(0) == "super":
            inline.pop()
    return ["self", *inline, *rest] if not rest or rest[0] != "super" else rest


def lower_path(walk: Lowering, node: Node, path: OptionalNode, name: OptionalNode) -> Expression:
    """`a::b`: a member of a, or of a module for paths that start at one."""
    segments = _segments(walk, node)
    if segments and segments[0] in PATH_WORDS and len(segments) > 1:
        segments = from_file(walk, segments)
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
        segments = from_file(walk, [*module, name] if name and name != "*" else module or [""])
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
        segments = from_file(walk, ["self", walk.text(name)])
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
