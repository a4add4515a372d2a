"""Where in a file comments, documentation and imports stand, and which names mean nothing but identifiers in it."""

from __future__ import annotations

import re
from codecs import BOM_UTF8
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, NamedTuple

from tersely.code.languages import model
from tersely.code.languages.model import Language
from tersely.code.symbols import FileFacts, Import
from tersely.code.syntax.extract import extract, readable, tools_for

if TYPE_CHECKING:
    from tree_sitter import Node

_WORD = re.compile(r"[^\W\d]\w*")
# Grammars agree on this part of the names of their nodes for identifiers; a `Name` rule marks the others.
_IDENTIFIER = "identifier"
# Words of an import statement that the facts of it do not say: `require`.
MAX_STATEMENT_WORDS = 1


class ImportStatement(NamedTuple):
    """Lines that do nothing but import: with what words (`from`, `import`), and what."""

    first_line: int
    last_line: int
    words: tuple[str, ...]
    imports: tuple[Import, ...]
    says_all: bool  # whether `*` is written where all names of a module are imported


def comment_spans(source: bytes, language: Language) -> list[tuple[int, int]]:
    """The bytes of each comment, in order."""
    _, _, rules = tools_for(language)
    found = [node for node in _leaves(_root(source, language), rules) if type(rules[node.kind_id]) is model.Comment]
    return [(node.start_byte, node.end_byte) for node in found]


def doc_spans(source: bytes, language: Language) -> list[tuple[int, int]]:
    """The bytes of each text that documents a definition, comments among them."""
    definitions = extract(source, language).definitions
    return sorted({(one.doc_start_byte, one.doc_end_byte) for one in definitions if one.doc_end_byte})


def plain_names(source: bytes, language: Language, left_out: Iterable[tuple[int, int]] = ()) -> frozenset[str]:
    """The identifiers that nowhere in the file stand for anything else: not as words of a text, not as keywords.

    What they say in comments does not matter, nor what they say in the bytes that are `left_out`.
    """
    _, _, rules = tools_for(language)
    rest = bytearray(source)
    names: set[str] = set()
    for node in _leaves(_root(source, language), rules):
        rule = type(rules[node.kind_id])
        is_name = rule is model.Name or _IDENTIFIER in node.type
        if is_name or rule is model.Comment:
            rest[node.start_byte : node.end_byte] = b" " * (node.end_byte - node.start_byte)
        if is_name:
            names.add((node.text or b"").decode("utf-8", "replace"))
    for start, end in left_out:
        rest[start:end] = b" " * (end - start)
    return frozenset(names.difference(_words(bytes(rest))))


def import_statements(source: bytes, language: Language) -> list[ImportStatement]:
    """The statements that import and do nothing else, in order.

    A statement is taken if what it names is what the facts of its lines say, but for one word: that of the statement
    itself where the language imports by a call.
    """
    facts = extract(source, language)
    _, _, rules = tools_for(language)
    found: list[ImportStatement] = []
    pending = list(reversed(_root(source, language).children))
    while pending:
        node = pending.pop()
        imports = _imports_in(node, facts)
        if not imports or type(rules[node.kind_id]) is model.Comment:
            continue
        statement = _statement(node, imports, rules) if _has_its_lines(node, source) else None
        if statement is None or _holds_statement(node, source, facts, rules):
            pending.extend(reversed(node.children))
        else:
            found.append(statement)
    return found


def _holds_statement(node: Node, source: bytes, facts: FileFacts, rules: list[object]) -> bool:
    """Whether something in a node imports by itself: then the node around it says more, such as a condition."""
    pending = list(node.children)
    while pending:
        inner = pending.pop()
        imports = _imports_in(inner, facts) if inner.child_count else ()
        if imports:
            if _has_its_lines(inner, source) and _statement(inner, imports, rules) is not None:
                return True
            pending.extend(inner.children)
    return False


def _root(source: bytes, language: Language) -> Node:
    parser, _, _ = tools_for(language)
    return parser.parse(readable(source, language)).root_node


def _leaves(root: Node, rules: list[object]) -> Iterator[Node]:
    """Nodes without children, and comments, which in some grammars have parts."""
    pending = [root]
    while pending:
        node = pending.pop()
        if node.child_count and type(rules[node.kind_id]) is not model.Comment:
            pending.extend(reversed(node.children))
        else:
            yield node


def _last_line(node: Node) -> int:
    """The last line of a node, from 1; some grammars let a statement end where the next line begins."""
    row, column = node.end_point
    return max(node.start_point[0], row if column else row - 1) + 1


def _imports_in(node: Node, facts: FileFacts) -> tuple[Import, ...]:
    first, last = node.start_point[0] + 1, _last_line(node)
    return tuple(one for one in facts.imports if first <= one.line <= last)


def _has_its_lines(node: Node, source: bytes) -> bool:
    """Whether nothing else stands on the lines of a node, but for what ends a statement."""
    before = source[source.rfind(b"\n", 0, node.start_byte) + 1 : node.start_byte].removeprefix(BOM_UTF8)
    end = node.start_byte + len(source[node.start_byte : node.end_byte].rstrip())
    after = source[end : source.find(b"\n", end)] if source.find(b"\n", end) != -1 else source[end:]
    return not before.strip() and not after.strip(b"; \t\r")


def _statement(node: Node, imports: tuple[Import, ...], rules: list[object]) -> ImportStatement | None:
    said = _said(imports)
    words: list[tuple[str, bool]] = []  # each with whether it is a name
    for leaf in _leaves(node, rules):
        if type(rules[leaf.kind_id]) is model.Comment:
            return None
        words += [(word, leaf.is_named) for word in _words(leaf.text or b"")]
    own = [word for word, _ in words if word not in said]
    if len([word for word, is_named in words if is_named and word not in said]) > MAX_STATEMENT_WORDS or not own:
        return None
    between = _before_aliases([word for word, _ in words], imports, said)
    kept = tuple(dict.fromkeys(word for word in own if word not in between))
    return ImportStatement(node.start_point[0] + 1, _last_line(node), kept, imports, b"*" in (node.text or b""))


def _before_aliases(words: list[str], imports: tuple[Import, ...], said: frozenset[str]) -> set[str]:
    """The words that stand between a name and what it is bound to: `as`."""
    aliases = {one.alias for one in imports if one.alias not in {"", one.name}}
    return {
        word
        for before, word, after in zip(words, words[1:], words[2:], strict=False)
        if before in said and word not in said and after in aliases
    }


def _said(imports: tuple[Import, ...]) -> frozenset[str]:
    texts = (text for one in imports for text in (one.module, one.name, one.alias))
    return frozenset(word for text in texts for word in _words(text.encode()))


def _words(text: bytes) -> list[str]:
    return _WORD.findall(text.decode("utf-8", "replace"))
