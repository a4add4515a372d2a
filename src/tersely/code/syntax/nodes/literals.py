"""The lines of a definition that begin inside a literal of text, where indentation is part of a
value.
"""

from __future__ import annotations

from tersely.code.languages import model
from tersely.code.languages.model import Language
from tersely.code.syntax.extract import readable, tools_for


def lines_within_text(part: bytes, language: Language) -> frozenset[int]:
    """The numbers, from 1, of the lines of a part of a file that begin within text, and so not with
    indentation.

    The part is parsed by itself: that is quick, and does not depend on the rest of the file. A node
    is text by its rule, and any leaf of several lines is, but for comments.
    """
    parser, _, rules = tools_for(language)
    found: set[int] = set()
    pending = [parser.parse(language.prologue + readable(part, language)).root_node]
    while pending:
        node = pending.pop()
        first, last = node.start_point[0], node.end_point[0]
        if first == last:
            continue
        rule = type(rules[node.kind_id])
        if rule is model.Text or not (node.child_count or rule is model.Comment):
            found.update(range(first + 2, last + 2))
        else:
            pending.extend(node.children)
    return frozenset(found)
