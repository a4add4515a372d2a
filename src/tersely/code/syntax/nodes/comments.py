"""The documentation of a definition, from the comments before it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tersely.code.languages import model
from tersely.code.languages.nodes import first_part

if TYPE_CHECKING:
    from tree_sitter import Node

    from tersely.code.syntax.scopes import Scopes


# begins a comment for documentation in all languages that know it (JSDoc, Javadoc, Doxygen, …)
_DOCUMENTATION = b"/**"


def comment_above(walk: Scopes, node: Node) -> tuple[int, int]:
    """Byte span of the comments that end on the line above a definition, (0, 0) without any.

    A comment that is meant for documentation belongs to the definition behind it, even behind empty
    lines.
    """
    start = end = 0
    line = node.start_point[0]
    previous, around = node.prev_sibling, node.parent
    while previous is None and around is not None and around.start_byte == node.start_byte:
        previous, around = around.prev_sibling, around.parent  # the first statement of a block
    while previous is not None and type(walk.rules[previous.kind_id]) is model.Comment:
        last = previous.end_point
        if last[0] > line or (
            _last_line(previous) < line - 1 and (end or not _is_documentation(previous))
        ):
            break
        # a comment at the end of other code's line does not document this
        before = previous.prev_sibling
        if before is not None and before.end_point[0] == previous.start_point[0]:
            break
        start, end = previous.start_byte, end or previous.end_byte
        line = previous.start_point[0]
        previous = before
    return start, end


def _last_line(comment: Node) -> int:
    """Some grammars let a comment end where the next line begins."""
    row, column = comment.end_point
    return row if column else row - 1


def _is_documentation(comment: Node) -> bool:
    text = comment.text or b""
    return text.startswith(_DOCUMENTATION) and not text.startswith(b"/**/")


def doc_string(walk: Scopes, body: Node | None) -> tuple[int, int]:
    """Byte span of the string that opens a body, (0, 0) without one."""
    wanted = walk.language.doc_string
    first = first_part(body) if wanted else None
    if first is not None and first.type != wanted:
        first = next(iter(first.named_children), None)
    is_text = first is not None and first.type == wanted
    return (first.start_byte, first.end_byte) if first is not None and is_text else (0, 0)


def first_attribute(walk: Scopes, node: Node) -> Node:
    """The first of the attributes directly before a node, else the node."""
    first, previous = node, node.prev_sibling
    while previous is not None and type(walk.rules[previous.kind_id]) in (
        model.Attribute,
        model.Comment,
    ):
        if type(walk.rules[previous.kind_id]) is model.Attribute:
            first = previous
        previous = previous.prev_sibling
    return first
