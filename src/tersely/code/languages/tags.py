"""Languages that are read by queries: a grammar, and a file of queries in `tags/`.

The queries follow tree-sitter's convention for tags. `@definition.KIND` and `@reference.call` take
all of a definition or call, `@name` its name, `@qualifier` the text written before that; where it
is no field, `@body` is its body, which may stand behind it, or `@signature` its header.
`@definition.clause` goes on with the function of its name directly before it. `@reference.import`
takes all names from the module of `@name`, or all behind its first word; its `@qualifier` is the
name that the file has for that. A `@doc` documents the definition behind it, a `@doc.inside` that
around it. `@comment`, `@string` and `@label` tell, once, which node types are comments and texts,
and which begin with a name that means nothing. Comments give the words of two fields of
`Resolution`. A callee is known by its name and qualifier alone, and nothing else is known of the
effects of bodies.
"""

from __future__ import annotations

import ctypes
import re
from collections import Counter
from collections.abc import Callable
from ctypes import c_char_p, c_void_p
from functools import cache, partial
from importlib import import_module
from operator import itemgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from tersely.code.expressions import CONST, EXTENSION, MEMBER
from tersely.code.languages.model import (
    Comment,
    Files,
    Label,
    Language,
    Resolution,
    Rule,
    Text,
    joined_path,
    nearest_first,
)
from tersely.code.languages.nodes import OptionalNode, last_line_of, line_of
from tersely.code.symbols import CALLABLE_KINDS, CLASS_KINDS, MEMBER_OWNERS, Import, Kind
from tersely.foundation.types import Strings

if TYPE_CHECKING:
    from tree_sitter import Node, Query

    from tersely.code.languages.registry import Known
    from tersely.code.syntax.drafts import ScopeDraft
    from tersely.code.syntax.lowering import Lowering

DEFINITION, CALL, IMPORT = "definition.", "reference.call", "reference.import"
DOC, DOC_INSIDE, COMMENT = "doc", "doc.inside", "comment"
CLAUSE = "clause"  # in place of a kind
SCOPED_KINDS = CALLABLE_KINDS | MEMBER_OWNERS

_KINDS_OF_NODES = re.compile(r"^\[?((?:\s*\(\w+\))+)\]?\s+@(comment|string|label)$", re.MULTILINE)
_FIELD = re.compile(r"^; (called_by_runtime|reaching_marks): (.+)$", re.MULTILINE)
_QUOTES = "\"'`<>:@&$ "  # around names that are written as texts or marked as keys
_PARTS = re.compile(r"[\w-]+")
_WORD = re.compile(rb"[\w\x80-\xff]+")
_BEFORE_CAPITAL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")


class Tag(NamedTuple):
    """A match of a query; `capture` is the name under which the query takes all of it."""

    node: Node
    capture: str
    name: OptionalNode
    qualifier: OptionalNode
    signature: OptionalNode
    body: OptionalNode


def query_language(name: str, known: Known) -> Language:
    """A language by the queries of its name; its value is the function that returns the grammar."""

    def pointer() -> object:
        return _capsule(getattr(import_module(known.module), known.value)())

    text = (Path(__file__).with_name("tags") / f"{name}.scm").read_text("utf-8")
    words: dict[str, list[str]] = {"called_by_runtime": [], "reaching_marks": []}
    for field, some in _FIELD.findall(text):
        words[field] += some.split()
    label = Label("#0")
    rules: dict[str, Rule] = {"comment": Comment(), "string": Text(), "label": label}
    return Language(
        name=name,
        grammar=pointer,
        rules={
            node_type: rules[capture]
            for listed, capture in _KINDS_OF_NODES.findall(text)
            for node_type in _PARTS.findall(listed)
        },
        walk=partial(_walk, cache(partial(_compile_query, pointer, text))),
        control=name if known.has_control_flow else "",
        resolution=Resolution(
            modules=partial(module_files, known.suffixes),
            by_name=True,
            called_by_runtime=" ".join(words["called_by_runtime"]),
            reaching_marks=tuple(words["reaching_marks"]),
        ),
    )


def _capsule(grammar: object) -> object:
    """A grammar as a capsule for tree-sitter; older wheels return its address as a number."""
    make = ctypes.pythonapi.PyCapsule_New
    make.restype, make.argtypes = ctypes.py_object, (c_void_p, c_char_p, c_void_p)
    return make(grammar, b"tree_sitter.Language", None) if isinstance(grammar, int) else grammar


def _compile_query(pointer: Callable[[], object], text: str) -> Query:
    from tree_sitter import Language as Grammar
    from tree_sitter import Query

    return Query(Grammar(pointer()), text)


def module_files(suffixes: Strings, files: Files, importer: str, module: str) -> list[str]:
    """The files of a module, nearest first: by its path, by its parts as one, or all in the
    directory of that name.
    """
    parts = "/".join(_PARTS.findall(module))
    snake = _BEFORE_CAPITAL.sub("_", parts).lower()
    directory = importer.rpartition("/")[0]
    for tail in dict.fromkeys((module, parts, snake)):
        paths = [tail, *(tail + ending for ending in suffixes)]
        beside = [joined_path(directory, path) for path in paths]
        found = [path for path in beside if files.exists(path)]
        found = found or [each for path in paths for each in files.ending(path)]
        if found:
            return nearest_first(found, importer)
    named = [each for each in files.directories() if f"/{each}".endswith(f"/{parts}")]
    return [path for each in named for path in files.under(each)] if parts else []


def _walk(query: Callable[[], Query], walk: Lowering, root: Node) -> None:
    """Read the matches of the queries below a root."""
    tags = _tags(query(), root)
    _Reader(walk).read(tags)
    code = bytearray(walk.source)
    for tag in tags:
        if tag.capture in (COMMENT, DOC, DOC_INSIDE):
            code[tag.node.start_byte : tag.node.end_byte] = bytes(len(tag.node.text or b""))
    used = Counter(_WORD.findall(code))
    used.subtract([row.name.encode() for row in walk.definitions])
    walk.mentions.update([word.decode("utf-8", "replace") for word in +used])


def _tags(query: Query, root: Node) -> list[Tag]:
    """The matches in the order of the text, the outer first; of those of one name the first query's."""
    from tree_sitter import QueryCursor

    found: dict[int, tuple[int, int, int, Tag]] = {}
    for _, captures in sorted(QueryCursor(query).matches(root), key=itemgetter(0)):
        parts = [captures.get(part, [None])[0] for part in Tag._fields[2:]]
        for capture, nodes in captures.items():
            if capture.startswith((DEFINITION, CALL, IMPORT, DOC, COMMENT)):
                node, place = nodes[0], (parts[0] or nodes[0]).start_byte
                if place not in found:
                    order = node.start_byte, -node.end_byte, len(found)
                    found[place] = (*order, Tag(node, capture, *parts))
    return [each[-1] for each in sorted(found.values())]


class _Reader:
    """Turns tags into the facts that the walk of a file would find."""

    def __init__(self, walk: Lowering) -> None:
        self._walk = walk
        # the definitions around, by where they end
        self._open: list[tuple[int, ScopeDraft]] = []
        self._doc: OptionalNode = None  # of the next definition
        self._imported: dict[str, str] = {}  # modules by the names that the file has for them
        self._left: ScopeDraft | None = None  # the definition that ended last

    def read(self, tags: list[Tag]) -> None:
        """Read all tags of a file."""
        walk = self._walk
        for tag in tags:
            while self._open and self._open[-1][0] <= tag.node.start_byte:
                self._leave()
            if tag.capture.startswith(DEFINITION):
                self._define(tag, tag.capture.removeprefix(DEFINITION))
            elif tag.capture == CALL:
                name_node = tag.name or tag.node
                name = self._text(name_node).rpartition("::")[2]
                walk.callee(name_node)
                walk.mentions.add(name)
                before = self._text(tag.qualifier) if tag.qualifier else ""
                callee = (MEMBER, (CONST, self._imported.get(before, before)), name)
                walk.call(callee, (), (), line_of(name_node))
            elif tag.capture == IMPORT:
                module = self._text(tag.name) if tag.name else self._behind_keyword(tag.node)
                walk.add_import(Import(module, "*", "", line_of(tag.node)), tag.node)
                if tag.qualifier:
                    self._imported[self._text(tag.qualifier)] = module
            elif tag.capture == DOC:
                self._doc = tag.node
            elif tag.capture == DOC_INSIDE:
                self._document(walk.scope, tag.node)
        while self._open:
            self._leave()

    def _text(self, node: Node) -> str:
        text = self._walk.text(node)
        return text.strip(_QUOTES) if node.is_named else text  # or an operator

    def _behind_keyword(self, node: Node) -> str:
        parts = [each for each in node.children[1:] if type(self._walk.rule(each)) is not Comment]
        return "".join(map(self._walk.text, parts))

    def _leave(self) -> None:
        _, self._left = self._open.pop()
        self._walk.leave(self._left)

    def _define(self, tag: Tag, kind: str) -> None:
        walk, name_node = self._walk, tag.name or tag.node
        name, doc, self._doc = self._text(name_node), self._doc, None
        draft = self._left
        if kind == CLAUSE and draft is not None and self._goes_on(draft, name):
            self._stretch(draft, tag.node)
        elif kind != CLAUSE and kind not in SCOPED_KINDS:
            walk.bind_name(name, None, name_node)
            if walk.scope.holds_symbols:
                walk.define_value(tag.node, name, name_node, Kind(kind))
            return
        else:
            kind = Kind.FUNCTION if kind == CLAUSE else Kind(kind)
            draft = self._enter(tag, name, kind, doc)
        self._open.append((walk.definitions[draft.definition].end_byte, draft))
        walk.scope = draft

    def _enter(self, tag: Tag, name: str, kind: Kind, doc: OptionalNode) -> ScopeDraft:
        walk, scope = self._walk, self._walk.scope
        if kind is Kind.FUNCTION and scope.kind in CLASS_KINDS | {Kind.EXTENSION}:
            kind = Kind.METHOD
        body = tag.body or tag.node.child_by_field_name("body")
        qualifier = self._text(tag.qualifier) if tag.qualifier else ""
        draft = walk.enter(tag.node, kind, name, tag.name or tag.node, body, qualifier)
        draft.flags |= EXTENSION if kind is Kind.EXTENSION else 0
        if tag.signature:
            self._replace(draft, signature_end_byte=tag.signature.end_byte)
        if tag.body and tag.body.end_byte > tag.node.end_byte:
            self._stretch(draft, tag.body)
        if doc:
            self._document(draft, doc)
        return draft

    def _goes_on(self, draft: ScopeDraft, name: str) -> bool:
        """True if a clause of a function goes on with the definition that ended last."""
        row = self._walk.definitions[draft.definition]
        return row.name == name and row.parent == self._walk.scope.definition

    def _stretch(self, draft: ScopeDraft, node: Node) -> None:
        self._replace(draft, end_byte=node.end_byte, end_line=last_line_of(node))

    def _document(self, draft: ScopeDraft, node: Node) -> None:
        self._replace(draft, doc_start_byte=node.start_byte, doc_end_byte=node.end_byte)

    def _replace(self, draft: ScopeDraft, **fields: Any) -> None:
        rows = self._walk.definitions
        rows[draft.definition] = rows[draft.definition]._replace(**fields)
