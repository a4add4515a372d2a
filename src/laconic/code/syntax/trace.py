"""A walk that also remembers places: where names are bound, and what stands at one position."""

from __future__ import annotations

from collections import defaultdict
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from laconic.code.expressions import MEMBER, Expression
from laconic.code.languages import model
from laconic.code.languages.model import Language
from laconic.code.syntax.extract import readable, tools_for
from laconic.code.syntax.lowering import Lowering, field
from laconic.foundation.recursion import allow_deep_nesting

if TYPE_CHECKING:
    from tree_sitter import Node


class Trace(Lowering):
    """`bound`: name -> [(byte, line)] of every place that binds it. `hit`: what stands at the position asked for."""

    def __init__(self, source: bytes, language: Language, handlers: list[Any], rules: list[Any], offset: int) -> None:
        self.offset = offset
        self.bound: dict[str, list[tuple[int, int]]] = defaultdict(list)
        self.hit: tuple[int, Expression] | None = None  # (scope, expression) of the name or member at the position
        self.token = ""  # the identifier at the position, when it is none of both
        super().__init__(source, language, handlers, rules)

    def written(self, name: str, node: Node) -> None:
        """Remember where a name is bound."""
        if name:
            self.bound[name].append((node.start_byte, node.start_point[0] + 1))
            if self._covers(node):
                self.token = name

    def text(self, node: Node) -> str:
        """Notice identifiers that no expression stands for: names of definitions, imports, parameters."""
        result = super().text(node)
        if not self.token and self._covers(node):
            self.token = result
        return result

    def value(self, node: Node | None) -> Expression:
        """Notice the expression at the position."""
        result = super().value(node)
        if node is not None:
            self._notice(node, result)
        return result

    def callee(self, node: Node) -> Expression:
        """Callees are members that nobody reads."""
        result = super().callee(node)
        self._notice(node, result)
        return result

    def _notice(self, node: Node, result: Expression) -> None:
        if self.hit is not None or not self._covers(node):
            return
        rule = self.rules[node.kind_id]
        if type(rule) is model.Name:
            self.hit = (self.scope.definition, result)
        elif type(rule) is model.Member and type(result) is tuple and result[0] == MEMBER:
            member = field(rule.member)(node)
            if member is not None and self._covers(member):
                self.hit = (self.scope.definition, result)

    def _covers(self, node: Node) -> bool:
        return node.start_byte <= self.offset < node.end_byte


def trace(source: bytes, language: Language, line: int = 0, column: int = 0) -> Trace:
    """Walk a file again, remembering places. Lines count from 1, columns from 0 in characters; line 0 asks for none."""
    offset = -1
    if line > 0:
        rows = source.split(b"\n")
        if line <= len(rows):
            before = rows[line - 1].decode("utf-8", "replace")[:column].encode("utf-8", "replace")
            offset = sum(len(row) + 1 for row in rows[: line - 1]) + len(before)
    parser, handlers, rules = tools_for(language)
    walk = Trace(source, language, handlers, rules, offset)
    allow_deep_nesting()
    with suppress(RecursionError):  # what was met until then is what can be said
        walk.value(parser.parse(readable(source, language)).root_node)
    return walk
