"""A repository as an indented outline within a token budget: directories, files, classes,
functions.

Each part of the tree weighs what all in it weighs, directories and files a tenth of that beside
symbols. The heaviest are shown first, and what is around them with them. A line says how much of
what is below it is not shown.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from tersely.code.places import directory_of
from tersely.code.symbols import CALLABLE_KINDS, CLASS_KINDS, Kind, Symbol
from tersely.context.pack.model import Count
from tersely.foundation.text.escape import visible_line
from tersely.foundation.text.tokens import filled, too_small
from tersely.foundation.types import field, frozen, record

MAX_OUTLINE_TRIES = 40  # lines that a map tries to add when the next heaviest does not fit
INDENT = " "
OUTLINED_KINDS = (CLASS_KINDS | CALLABLE_KINDS | {Kind.NAMESPACE, Kind.EXTENSION}) - {Kind.LAMBDA}
# of a directory or file beside its symbols: its line says little but that it is there
COARSE_WEIGHT = 0.1


@record
class Node:
    """A directory, a file or a symbol: `id` is a path that ends in a slash, a path, or the id of a
    symbol.
    """

    id: str
    symbol: Symbol | None = None
    weight: float = 0.0  # of all in it
    children: list[Node] = field(default_factory=list)

    @property
    def is_directory(self) -> bool:
        """True if it holds files."""
        return self.symbol is None and self.id[-1:] in {"/", ""}


class OutlineRow(NamedTuple):
    """One line of an outline: what it says of a node, and of what is below it and not shown."""

    depth: int
    node: Node
    name: str
    left: str

    @property
    def text(self) -> str:
        """The line."""
        return f"{INDENT * self.depth}{self.name}{self.left}\n"


@frozen
class Outline:
    """The text, its tokens, its lines but for the last where that is a note, and the tree that it
    is an outline of.
    """

    text: str
    used: int
    rows: tuple[OutlineRow, ...]
    root: Node

    @property
    def nodes(self) -> tuple[Node, ...]:
        """The nodes that it shows, top to bottom."""
        return tuple(row.node for row in self.rows)


def named(outline: Outline) -> dict[str, str]:
    """The text of the lines of an outline on their nodes, by id on one line."""
    return {visible_line(row.node.id): row.name for row in outline.rows}


def lost(outline: Outline, known: Mapping[str, str]) -> list[str]:
    """The ids of nodes that there are no more, shown or not."""
    here = {visible_line(node.id) for node, _ in walk(outline.root)}
    return [one for one in known if one not in here]


def without_known(outline: Outline, known: Mapping[str, str]) -> str:
    """The text of an outline beyond the names of nodes that are `known`, by id; and which of these
    there are no more.

    What is around a line that is shown has a line with its name alone.
    """
    told: set[int] = set()
    lines: list[str] = []
    around: list[OutlineRow] = []
    for row in outline.rows:
        around = [*around[: row.depth], row]
        if known.get(visible_line(row.node.id)) != row.name:
            heads = [one._replace(left="") for one in around[:-1] if id(one.node) not in told]
            told.update(id(one.node) for one in around)
            lines += [one.text for one in (*heads, row)]
    before = sum(known.get(one) == name for one, name in named(outline).items())
    gone = lost(outline, known)
    note = ", ".join([f"{before} as before", *([f"gone: {' '.join(gone)}"] if gone else [])])
    return "".join([*lines, f"=== {note}\n"])


def outermost(symbols: Iterable[Symbol]) -> list[Symbol]:
    """The classes, functions and what holds them, but for those inside of functions."""
    symbols = list(symbols)
    functions = {symbol.id for symbol in symbols if symbol.kind in CALLABLE_KINDS}
    return [
        symbol
        for symbol in symbols
        if symbol.kind in OUTLINED_KINDS and symbol.parent not in functions
    ]


def file_tree(
    path: str, symbols: Sequence[Symbol], weight_of: Callable[[str], float] = lambda one: 0.0
) -> Node:
    """A file with its symbols in the order of its lines, each in its parent; those without parent
    are left out.
    """
    file = Node(path, weight=weight_of(path))
    nodes = {symbol.id: Node(symbol.id, symbol, weight_of(symbol.id)) for symbol in symbols}
    for symbol in symbols:
        parent = nodes.get(symbol.parent)
        if parent is not None or symbol.parent == path:
            (parent or file).children.append(nodes[symbol.id])
    return file


def walk(node: Node) -> Iterator[tuple[Node, int]]:
    """A node and all in it, top to bottom, with how deep each lies."""
    pending = [(node, 0)]
    while pending:
        one, depth = pending.pop()
        yield one, depth
        pending += [(child, depth + 1) for child in reversed(one.children)]


def tree(
    paths: Iterable[str],
    symbols_of: Mapping[str, Sequence[Symbol]],
    weight_of: Callable[[str], float],
) -> Node:
    """The whole tree, children by weight within directories, in the order of their lines within
    files.
    """
    root = Node("")
    directories = {"": root}
    for path in sorted(paths):
        parent = _directory(directory_of(path), directories)
        parent.children.append(file_tree(path, symbols_of.get(path, ()), weight_of))
    _weigh(root)
    _sort(root)
    return _joined(root)


def fit(root: Node, label: Callable[[Symbol], str], budget: int, count: Count) -> Outline:
    """The heaviest nodes that `budget` tokens pay for. Raises `budget_too_small` when not even one
    does.
    """
    depth = {id(node): depth for node, depth in walk(root)}
    order = [node for node, _ in walk(root) if node is not root]
    place = {id(node): index for index, node in enumerate(order)}
    urgency: dict[int, float] = {}
    _rank(root, urgency)
    order.sort(key=lambda node: (-urgency[id(node)], depth[id(node)], place[id(node)]))

    def measured(chosen: Sequence[Node]) -> Outline:
        rows, text = _printed(root, {id(node) for node in chosen}, label)
        return Outline(text, count(text), rows, root)

    # the first alone decides: several nodes can take less than one with the note on the others
    if order and (least := measured(order[:1]).used) > budget:
        raise too_small(budget, least)
    return measured(filled(order, lambda nodes: measured(nodes).used, budget, MAX_OUTLINE_TRIES))


def _printed(
    root: Node, chosen: set[int], label: Callable[[Symbol], str]
) -> tuple[tuple[OutlineRow, ...], str]:
    rows: list[OutlineRow] = []
    pending = [(child, 0, root.id) for child in reversed(root.children) if id(child) in chosen]
    hidden = [child for child in root.children if id(child) not in chosen]
    while pending:
        node, depth, around = pending.pop()
        shown = [child for child in node.children if id(child) in chosen]
        rows.append(OutlineRow(depth, node, _name(node, around, label), _left(node, len(shown))))
        pending += [(child, depth + 1, node.id) for child in reversed(shown)]
    note = f"… {_counted(hidden)}\n" if hidden else ""
    return tuple(rows), "".join(row.text for row in rows) + note


def _name(node: Node, around: str, label: Callable[[Symbol], str]) -> str:
    return visible_line(node.id.removeprefix(around)) if node.symbol is None else label(node.symbol)


def _left(node: Node, shown: int) -> str:
    """The remark on how many children are not shown, "" when all are."""
    hidden = len(node.children) - shown
    if not hidden:
        return ""
    return f" …{_counted(node.children)}" if not shown else f" …{hidden} more"


def _counted(nodes: Sequence[Node]) -> str:
    directories = sum(node.is_directory for node in nodes)
    files = sum(not node.is_directory and node.symbol is None for node in nodes)
    symbols = len(nodes) - directories - files
    parts = [
        (directories, "director" + ("y" if directories == 1 else "ies")),
        (files, "file" + "s" * (files != 1)),
    ]
    return ", ".join(
        [
            *(f"{number} {noun}" for number, noun in parts if number),
            *([str(symbols)] if symbols else []),
        ]
    )


def _directory(path: str, known: dict[str, Node]) -> Node:
    if path not in known:
        known[path] = Node(f"{path}/")
        _directory(directory_of(path), known).children.append(known[path])
    return known[path]


def _weigh(node: Node) -> float:
    node.weight += sum(map(_weigh, node.children))
    return node.weight


def _rank(node: Node, urgency: dict[int, float]) -> float:
    """The rank by which each node is shown: by its weight, and in time for what is in it."""
    inner = max((_rank(child, urgency) for child in node.children), default=0.0)
    own = node.weight if node.symbol is not None else node.weight * COARSE_WEIGHT
    urgency[id(node)] = max(own, inner)
    return urgency[id(node)]


def _sort(node: Node) -> None:
    if node.is_directory:
        node.children.sort(key=lambda child: (-child.weight, child.id))
        for child in node.children:
            _sort(child)


def _joined(node: Node) -> Node:
    """The tree with each directory that holds nothing but another directory joined with it."""
    node.children = [_joined(child) for child in node.children]
    only = node.children[0] if len(node.children) == 1 else None
    return only if node.id and only is not None and only.is_directory else node
