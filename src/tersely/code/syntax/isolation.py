"""Walks that lose no more than a node: where a rule fails, the walk begins again without the rule
there.

A walk that failed has left scopes open and names half bound. It is thrown away, so that all other
nodes have the same facts as in a file without that node.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

from tersely.code.languages.nodes import line_of
from tersely.code.symbols import Problem
from tersely.code.syntax.rule_compiler import Handler, visited
from tersely.foundation.recursion import MAX_NESTING_FRAMES, allow_deep_nesting

if TYPE_CHECKING:
    from tree_sitter import Node

    from tersely.code.expressions import Expression

# nodes of a file that are read without their rules one by one; then all of the kinds that fail
MAX_NODES_WITHOUT_RULE = 20
# of the levels that a walk could not go down, those that the next one does: three quarters
KEPT_LEVELS = (3, 4)
TOO_DEEP = "nested too deeply to be read whole"

_children_only: Handler = partial(visited, None)


class UnreadableNodeError(Exception):
    """A rule failed at a node; the cause is the error of the rule."""

    def __init__(self, node: Node) -> None:
        super().__init__(node)
        self.node = node


class Spared:
    """The nodes of one tree that are read without their rules, and the problems that report them."""

    def __init__(self) -> None:
        self.problems: list[Problem] = []
        self.nodes: dict[int, bool] = {}  # by id; false for those whose children are left out too
        self._kinds: set[int] = set()  # of those nodes
        self._levels = MAX_NESTING_FRAMES // 2  # of the tree: each takes two frames and more

    def handlers(self, handlers: list[Any]) -> list[Any]:
        """Handlers by numeric node kind, as they are to be for these nodes."""
        if not self.nodes:
            return handlers
        found = list(handlers)
        for kind in self._kinds:
            found[kind] = partial(_lower, self.nodes, found[kind] or _children_only)
        return found

    def add(self, root: Node, error: UnreadableNodeError) -> None:
        """Spare the node at which a walk failed, or the levels that are too deep for it."""
        node, cause = error.node, error.__cause__
        if isinstance(cause, RecursionError):
            kept, of = KEPT_LEVELS
            self.cut(root, self._levels * kept // of)
            return
        self.problems.append(Problem(line_of(node), f"{type(cause).__name__}: {cause}"))
        if len(self.nodes) < MAX_NODES_WITHOUT_RULE:
            self._spare(iter([node]), children=True)
        else:
            alike = (one for one, _ in _nodes(root) if one.kind_id == node.kind_id)
            self._spare(alike, children=True)

    def cut(self, root: Node, last: int) -> None:
        """Leave out all nodes below a level of the tree."""
        self._levels = last
        deep = [node for node, depth in _nodes(root, last) if depth == last]
        if deep and all(one.message != TOO_DEEP for one in self.problems):
            self.problems.append(Problem(line_of(deep[0]), TOO_DEEP))
        self._spare(iter(deep), children=False)

    def _spare(self, nodes: Iterator[Node], *, children: bool) -> None:
        for node in nodes:
            self.nodes[node.id] = children and self.nodes.get(node.id, True)
            self._kinds.add(node.kind_id)


AnyWalk = TypeVar("AnyWalk")


def isolated_walk(
    root: Node, walk: Callable[[Spared], AnyWalk], levels: int | None = None
) -> tuple[AnyWalk, list[Problem]]:
    """The walk over a tree, and the problems of the nodes that it could not read.

    A node whose rule fails has no value, and its children are visited. Nodes that are nested more
    deeply than a walk can go, or than `levels`, are left out.
    """
    allow_deep_nesting()
    spared = Spared()
    if levels is not None:
        spared.cut(root, levels)
    while True:
        try:
            return walk(spared), spared.problems
        except UnreadableNodeError as error:
            spared.add(root, error)


def _lower(spared: Mapping[int, bool], lower: Handler, walk: Any, node: Node) -> Expression:
    has_children = spared.get(node.id)
    if has_children is None:
        return lower(walk, node)
    walk.naming = walk.wrapped = None  # they were for the definition that the rule would have made
    return _children_only(walk, node) if has_children else None


def _nodes(root: Node, last_depth: float = float("inf")) -> Iterator[tuple[Node, int]]:
    """The nodes of a tree down to some depth, each with its own."""
    cursor = root.walk()
    while True:
        if cursor.node is not None:
            yield cursor.node, cursor.depth
        if cursor.depth < last_depth and cursor.goto_first_child():
            continue
        while not cursor.goto_next_sibling():
            if not cursor.goto_parent():
                return
