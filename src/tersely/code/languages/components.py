"""Files of components: Vue, Svelte, Astro. Their scripts are TypeScript, and a component calls the
functions that its markup uses.

The grammar is given the scripts where they stand, and of the markup each piece of code, as a block:
of `<Child :of="item"/>` it sees `{Child}     {item} `. Code that runs for every instance (`<script
setup>` of Vue, scripts of Svelte, the code between `---` of Astro) is the body of a function that
has the name of the file and is the default export; the module has the rest.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import partial
from typing import TYPE_CHECKING

from tersely.code.expressions import CALL, CONST, DEFINED, MAPPING, MEMBER, Expression, is_tagged
from tersely.code.languages.model import Custom, Language, Statement
from tersely.code.languages.nodes import line_of, named_parts
from tersely.code.languages.typescript import TSX, TYPESCRIPT
from tersely.code.places import file_name_of
from tersely.code.symbols import Kind
from tersely.foundation.types import replace

if TYPE_CHECKING:
    from tree_sitter import Node

    from tersely.code.syntax.lowering import Lowering

Place = tuple[int, int]  # the first byte of something and the one behind it
WATCHING = ((CONST, "computed"), (CONST, "watch"))  # options that hold functions that Vue calls
MAX_EXPRESSION_BYTES = 20_000  # in which the end of an expression in markup is looked for

_LINE_ENDS = b"\r\n"
_FLAGS = re.DOTALL | re.IGNORECASE
_SCRIPT = re.compile(rb"<script\b([^>]*)>(.*?)</script\s*>", _FLAGS)
_FENCED = re.compile(rb"\A\s*---[^\n]*(\n.*?)^---", re.DOTALL | re.MULTILINE)
_NO_MARKUP = re.compile(rb"<!--.*?-->|<(style|script)\b.*?</\1\s*>", _FLAGS)
_IS_DATA = re.compile(rb"""\btype\s*=\s*["'](?!module|text/(?:java|type)script)""")
_TEMPLATE = re.compile(rb"<template\b[^>]*>(.*)</template\s*>", _FLAGS)
_ELEMENT = re.compile(rb"<([A-Z][\w.]*|[a-z]\w*(?:-\w+)+)(?=[\s/>])")
_DIRECTIVE = re.compile(
    rb"""\s(?:v-(?!slot|pre|once|cloak)|[:@])[^\s=>"'<]*\s*=\s*(?:"([^"]*)"|'([^']*)')|\{\{(.*?)\}\}""",
    re.DOTALL,
)
_LOOP = re.compile(rb"\s*(?:\([^()]*\)|[\w$]+|\{[^{}]*\})\s+(?:in|of)\s")
_IS_VALUE = re.compile(rb"\s*(?:\{|(?:async\s+)?function\b)")
_TOKEN = re.compile(
    rb"""[{}]|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'|`(?:\\.|[^`\\])*`|//[^\n]*|/\*.*?\*/""",
    re.DOTALL,
)
_SIGIL = re.compile(rb"\{\s*(?:[#:]\w+(?:\s+if\b)?|@\w+|\.\.\.)?")
_NO_CODE = re.compile(rb"\{\s*(?:/(?![/*])|:(?:then|catch)\b|#snippet\b)")
_BINDING = re.compile(rb"\{\s*#(?:each|await)\b.*?(?=\s(?:as|then)\s)", re.DOTALL)
_VOID = re.compile(
    rb"<(?:area|br|col|hr|img|input|link|meta|source|wbr)\b[^>]*(?<!/)>|<!--.*?-->", _FLAGS
)
_WORDS = re.compile(r"[^\W_]+")


def _blank(text: bytes) -> bytes:
    return re.sub(rb"\S", b" ", text)


class _Draft:
    """The source for the grammar: blanks, with code at its place."""

    def __init__(self, source: bytes) -> None:
        self.source = source
        self.markup = _NO_MARKUP.sub(lambda found: _blank(found[0]), source)
        self.text = bytearray(_blank(source))

    def keep(self, place: Place, before: bytes = b"", behind: bytes = b"") -> None:
        """Keep code at its place, between `before` and `behind`, which replace neighbouring
        characters other than ends of lines.
        """
        start, end = place
        self.text[start:end] = self.source[start:end]
        for mark in reversed(before):
            start -= 1
            while self.text[start] in _LINE_ENDS:
                start -= 1
            self.text[start] = mark
        for mark in behind:
            while self.text[end : end + 1] and self.text[end] in _LINE_ENDS:
                end += 1
            self.text[end : end + 1] = bytes([mark])
            end += 1

    def keep_elements(self, place: Place) -> None:
        """Have the names of components for their elements."""
        for found in _ELEMENT.finditer(self.markup, *place):
            self.keep(found.span(1), b"{", b"}")
            start, end = found.span(1)
            self.text[start:end] = found[1].replace(b"-", b"_")


def _vue(draft: _Draft) -> None:
    template = _TEMPLATE.search(draft.markup)
    if template is None:
        return
    draft.keep_elements(template.span(1))
    for found in _DIRECTIVE.finditer(draft.markup, *template.span(1)):
        start, end = found.span(found.lastindex or 0)
        loop = _LOOP.match(draft.markup, start, end) if b"v-for" in found[0] else None
        start = loop.end() if loop else start
        if _IS_VALUE.match(draft.markup, start, end):
            draft.keep((start, end), b"{(", b")}")
        else:
            draft.keep((start, end), b"{", b"}")


def _svelte(draft: _Draft) -> None:
    draft.keep_elements((0, len(draft.source)))
    for start, end in _in_braces(draft.markup):
        if not _NO_CODE.match(draft.markup, start, end):
            first = _SIGIL.match(draft.markup, start, end)
            bound = _BINDING.match(draft.markup, start, end)
            place = first.end() if first else start + 1, bound.end() if bound else end - 1
            draft.keep(place, b"{", b"}")


def _astro(draft: _Draft) -> None:
    head = _FENCED.match(draft.source)
    if head is not None:
        draft.keep(head.span(1))
    start = head.end() if head else 0
    draft.markup = _blank(draft.markup[:start]) + draft.markup[start:]
    draft.keep_elements((start, len(draft.source)))
    for start, end in _in_braces(draft.markup):
        first = _SIGIL.match(draft.markup, start, end)
        draft.keep((first.end() if first else start + 1, end - 1), b"{", b"}")
        for void in _VOID.finditer(draft.source, start, end):
            draft.text[void.start() : void.end()] = _blank(void[0])


def _in_braces(markup: bytes) -> Iterator[Place]:
    """The places of expressions in markup, with their braces."""
    at = markup.find(b"{")
    while at >= 0:
        depth, end = 0, at + 1
        for token in _TOKEN.finditer(markup, at, at + MAX_EXPRESSION_BYTES):
            depth += (token[0] == b"{") - (token[0] == b"}")
            if not depth:
                end = token.end()
                yield at, end
                break
        at = markup.find(b"{", end)


def _is_setup(attributes: bytes) -> bool:
    return re.search(rb"\bsetup\b", attributes) is not None


def _is_of_instance(attributes: bytes) -> bool:
    return re.search(rb"\bmodule\b", attributes) is None


def _is_none(attributes: bytes) -> bool:
    return False


def _readable(markup: Callable[[_Draft], None], source: bytes) -> bytes:
    """The code of a file of components, all else blank."""
    draft = _Draft(source)
    markup(draft)
    for found in _SCRIPT.finditer(source):
        if not _IS_DATA.search(found[1]):
            draft.keep(found.span(2))
    return bytes(draft.text)


def _walk(is_own: Callable[[bytes], bool], walk: Lowering, root: Node) -> None:
    """Read the scripts of the module, then the component."""
    shared = [found.span(2) for found in _SCRIPT.finditer(walk.source) if not is_own(found[1])]

    def is_shared(node: Node) -> bool:
        return any(start <= node.start_byte < end for start, end in shared)

    nodes = root.named_children
    walk.visit([node for node in nodes if is_shared(node)])
    module, own = walk.scope, [node for node in nodes if not is_shared(node)]
    stem = file_name_of(walk.path).partition(".")[0]
    draft = walk.enter(root, Kind.FUNCTION, _component(stem), None, root)
    row = walk.definitions[draft.definition]
    walk.definitions[draft.definition] = row._replace(
        start_line=1, name_line=1, start_byte=0, signature_end_byte=0, end_byte=len(walk.source)
    )
    walk.scope, draft.body = draft, root.id
    walk.visit(sorted(own, key=_is_piece))
    options = next((value for name, value in module.binds if name == "default"), None)
    options = options[2][0] if is_tagged(options, CALL) and options[2] else options
    inside = f"{draft.qualname}."
    bound: set[Expression] = {row.qualname.removeprefix(inside) for row in walk.definitions}
    bound.update(name for name, _ in (*module.binds, *draft.binds))
    calls = [_markup_call(call, bound, options) for call in draft.calls]
    draft.calls = [call for call in calls if call is not None]
    for called in _run_by_vue(options):
        walk.call(called, (), (), walk.definitions[called[1]].name_line)
    walk.bind_name("default", walk.leave(draft))


def _markup_call(call: Expression, bound: set[Expression], options: Expression) -> Expression:
    """A call in markup. A name that the file does not bind is a method in the options of the
    component, or a global component. None for a call of a value.
    """
    callee = call[1]
    if not isinstance(callee, str) or callee in bound:
        return call
    if callee[:1].isupper():
        return (call[0], (MEMBER, None, callee), *call[2:])
    methods = (MEMBER, options, "methods")
    return (call[0], (MEMBER, methods, callee), *call[2:]) if options is not None else None


def _run_by_vue(options: Expression) -> Iterator[tuple[int, int]]:
    """The functions in the options of a component that are called without being named."""
    for key, value in options[1] if is_tagged(options, MAPPING) else ():
        if is_tagged(value, DEFINED):
            yield value
        elif key in WATCHING:
            yield from _run_by_vue(value)


def _is_piece(node: Node) -> bool:
    """True if a node is a piece of markup, not a statement of a script."""
    return node.type == "statement_block"


def _component(stem: str) -> str:
    """The name of the component of a file or element: `nav-bar` is `NavBar`."""
    return "".join(word[0].upper() + word[1:] for word in _WORDS.findall(stem))


def _lower_statement(walk: Lowering, node: Node) -> Expression:
    """A name alone in markup is that of an element or a handler: it is called."""
    parts, around = named_parts(node), node.parent
    piece = around if around is not None and _is_piece(around) else node
    is_piece = piece.parent is not None and piece.parent.type == "program"
    is_name = len(parts) == 1 and parts[0].type in ("identifier", "member_expression")
    if piece is node or not is_piece or not is_name:
        return walk.as_rule(Statement(), node)
    name = walk.text(parts[0])
    if "-" in name:
        name = _component(name)
        walk.scope.read.add(name)
        return walk.call(name, (), (), line_of(node))
    return walk.call(walk.callee(parts[0]), (), (), line_of(node))


def _component_language(
    base: Language, name: str, markup: Callable[[_Draft], None], is_own: Callable[[bytes], bool]
) -> Language:
    return replace(
        base,
        name=name,
        readable=partial(_readable, markup),
        walk=partial(_walk, is_own),
        rules={**base.rules, "expression_statement": Custom(_lower_statement)},
    )


VUE = _component_language(TYPESCRIPT, "vue", _vue, _is_setup)
SVELTE = _component_language(TYPESCRIPT, "svelte", _svelte, _is_of_instance)
ASTRO = _component_language(TSX, "astro", _astro, _is_none)
