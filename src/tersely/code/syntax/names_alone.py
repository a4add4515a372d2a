"""The text of a file with blanks in place of words that mean no value or type.

Comments, the text of string literals (not interpolated expressions), names of keyword arguments and
of keys, members of objects, symbols and labels are blanked; the rest has every name that may need a
definition, at its place.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from tersely.code.languages import model
from tersely.code.languages.children import field
from tersely.code.languages.model import Language
from tersely.code.syntax.extract import parse, tools_for

if TYPE_CHECKING:
    from tree_sitter import Node, Tree

# Tokens that grammars set apart from identifiers: names of members, keys and labels, and literals
# that look like names.
APART = frozenset({
    "field_identifier", "property_identifier", "private_property_identifier", "hash_key_symbol", "simple_symbol",
    "instance_variable", "class_variable", "global_variable", "statement_identifier", "lifetime", "atom", "keyword",
    "value_argument_label", "heredoc_content", "regex_pattern", "character", "char_literal", "character_literal",
})  # fmt: skip

# The nodes between a type and a text in it: the name of a type that is written before it is known.
TYPE_NODES = frozenset(
    {"type", "generic_type", "type_parameter", "union_type", "subscript", "binary_operator"}
)
MAX_CACHED_TREES = 8  # of files whose symbols are read one after the other
_LINKS = (b".", b":", b">")  # a member behind one of them belongs to the names before it


def names_alone(source: bytes, language: Language, start: int, end: int) -> bytes:
    """The source with blanks between two bytes for all but names; each line and name stays at its
    place.
    """
    text = bytearray(source)
    for first, last in _blanks(_tree(source, language).root_node, source, language, (start, end)):
        text[first:last] = b"\n".join(b" " * len(line) for line in source[first:last].split(b"\n"))
    return bytes(text)


@lru_cache(MAX_CACHED_TREES)
def _tree(source: bytes, language: Language) -> Tree:
    return parse(source, language)


def _blanks(
    root: Node, source: bytes, language: Language, within: tuple[int, int]
) -> Iterator[tuple[int, int]]:
    rules = tools_for(language)[2]
    pending = [root]
    while pending:
        node = pending.pop()
        if node.end_byte <= within[0] or node.start_byte >= within[1]:
            continue
        rule, children = rules[node.kind_id], node.children
        nameless = _nameless_child(node, rule, language)
        is_text = type(rule) is model.Text and not is_type(node)
        is_apart = (
            node.type in APART and source[node.start_byte - 1 : node.start_byte] not in _LINKS
        )
        if type(rule) is model.Comment or is_apart or (is_text and not children):
            yield node.start_byte, node.end_byte
        elif is_text:
            yield from (
                (child.start_byte, child.end_byte) for child in children if not child.child_count
            )
            pending.extend(child for child in children if child.child_count)
        elif nameless is not None:
            yield nameless.start_byte, nameless.end_byte
            pending.extend(child for child in children if child.id != nameless.id)
        else:
            pending.extend(children)


def is_type(node: Node) -> bool:
    """True if a text is a type that is written as a string."""
    around = node.parent
    while around is not None and around.type in TYPE_NODES:
        if around.type == "type":
            return True
        around = around.parent
    return False


def _nameless_child(node: Node, rule: Any, language: Language) -> Node | None:
    """The name of a keyword argument or the bare key of a pair."""
    if type(rule) is model.KeywordArgument:
        return field(rule.name)(node)
    if type(rule) is model.Pair and rule.names_are_keys:
        key = field(rule.key)(node)
        return key if key is not None and not key.child_count else None
    return language.label_of(node) if language.label_of is not None else None
