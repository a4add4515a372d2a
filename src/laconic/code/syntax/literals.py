"""Which lines of a file begin inside a literal of text, where indentation is part of a value."""

from __future__ import annotations

from laconic.code.languages import model
from laconic.code.languages.model import Language
from laconic.code.syntax.extract import readable, tools_for


def lines_within_text(source: bytes, language: Language, start: int, end: int) -> frozenset[int]:
    """The numbers, from 1, of the lines between two bytes that begin within text, and so not with indentation.

    A node counts as text if a rule says so, and any leaf that reaches over several lines but for comments.
    """
    parser, _, rules = tools_for(language)
    found: set[int] = set()
    pending = [parser.parse(readable(source, language)).root_node]
    while pending:
        node = pending.pop()
        first, last = node.start_point[0], node.end_point[0]
        if first == last or node.end_byte <= start or node.start_byte >= end:
            continue
        rule = type(rules[node.kind_id])
        if rule is model.Text or not (node.child_count or rule is model.Comment):
            found.update(range(first + 2, last + 2))
        else:
            pending.extend(node.children)
    return frozenset(found)
