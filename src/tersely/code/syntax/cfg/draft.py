"""A routine while it is being read."""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from tersely.code.languages.nodes import all_parts, last_line_of
from tersely.code.languages.roles import Leap
from tersely.code.routines import (
    ENTRY,
    EXIT,
    AccessPath,
    CfgCall,
    CfgEdge,
    CfgNode,
    EdgeKind,
    Routine,
    Statement,
)
from tersely.foundation.types import Strings, by_name, entity, field

if TYPE_CHECKING:
    from tree_sitter import Node

# Edges that begin at a point and have no end as yet.
Ends = list[tuple[int, EdgeKind]]

MAX_PATH_NAMES = 4  # of a variable; a deeper path counts as all paths with this prefix
# functions that call functions that call functions … whose names one routine knows
MAX_CAPTURE_ROUNDS = 8


@entity
class StatementDraft:
    """A statement of which some inner ones are not read yet."""

    kind: str
    start: int
    end: int
    line: int
    head_end_line: int
    end_line: int
    owner: int
    tails: list[int] = field(default_factory=list)


@entity
class CfgNodeDraft:
    """A `CfgNode` whose statement is being read. Dictionaries are ordered sets."""

    statement: int
    start: int
    end: int
    reads: dict[AccessPath, None] = field(default_factory=dict)
    writes: dict[AccessPath, None] = field(default_factory=dict)
    mutates: dict[AccessPath, None] = field(default_factory=dict)
    fails: bool = False
    tests: bool = False


@entity
class Frame:
    """A statement that a jump may aim at, or has to pass.

    `kind` is "loop", "switch", "cases", "block", "handlers" or "finally". `passing` holds jumps
    that go on after a `finally`.
    """

    kind: str
    label: str = ""
    result: str | None = None  # the variable that takes the value of the body
    breaks: Ends = field(default_factory=list)
    continues: Ends = field(default_factory=list)
    raised: Ends = field(default_factory=list)
    passing: dict[tuple[Leap, str, EdgeKind], None] = field(default_factory=dict)


def exit_variable(depth: int) -> str:
    """The variable that stands for the way out of the `try` whose frame is at this depth."""
    return f"<left {depth}>"


class Draft:
    """A routine, point by point. `here` are the ends that the next point continues."""

    def __init__(
        self, name: str, kind: str, parent: int, line: int, end_line: int, place: int
    ) -> None:
        self.name = name
        self.kind = kind
        self.parent = parent
        self.line = line
        self.end_line = end_line
        self.place = place  # among the routines of the file
        self.statements: list[StatementDraft] = []
        self.points: list[CfgNodeDraft] = []
        self.edges: dict[CfgEdge, None] = {}
        self.calls: list[CfgCall] = []
        self.frames: list[Frame] = []
        self.here: Ends = []
        self.open: CfgNodeDraft | None = None
        self.statement = -1
        # of names as written, innermost first: their variables
        self.scopes: ChainMap[str, str] = ChainMap()
        self.shadows: dict[str, int] = {}
        self.own: set[str] = set()  # all variables that were declared
        self.outer: set[str] = set()  # declared to be of a routine around
        self.free: dict[str, None] = {}
        self.outward: dict[str, None] = {}
        self.parameters: list[str] = []
        self.receivers: frozenset[str] = frozenset()  # names of the object of the method around
        self.captures: dict[str, tuple[Strings, Strings]] = {}
        self.shares: dict[tuple[str, str], None] = {}
        self.labels: dict[str, list[int]] = {}  # the points before which a name stands
        self.gotos: list[tuple[int, str]] = []
        self.deferred: list[int] = []  # statements that run again when the routine is left
        self.around: Draft | None = None  # the routine whose variables this one assigns as its own
        self.decisions = 0
        self.unnamed = 0

    @property
    def current(self) -> StatementDraft:
        """The statement being filled."""
        return self.statements[self.statement]

    # Points

    def point(self, start: int = 0, end: int = 0) -> CfgNodeDraft:
        """The point being filled; a new one continues the paths in `here`."""
        if self.open is None:
            number = len(self.points)
            self.open = CfgNodeDraft(self.statement, start, end)
            self.points.append(self.open)
            for source, kind in self.here:
                self.edge(source, number, kind)
            self.here = [(number, EdgeKind.NEXT)]
        elif end > self.open.end and start >= self.open.start:
            self.open.end = end
        return self.open

    def at(self, node: Node) -> CfgNodeDraft:
        """The point being filled, which is of a node too."""
        return self.point(node.start_byte, node.end_byte)

    def head(self) -> CfgNodeDraft:
        """The point being filled, which is of all that the head of its statement has."""
        return self.point(self.current.start, self.current.end)

    def last(self) -> int:
        """The number of the point being filled, which is made if there is none."""
        self.point()
        return self.here[0][0]

    def close(self) -> None:
        """End the point being filled: the next step is another point."""
        self.open = None

    def finish(self) -> int:
        """The number of the point being filled, which nothing is added to any more."""
        number = self.last()
        self.close()
        return number

    def edge(self, source: int, target: int, kind: EdgeKind) -> None:
        """Control may go from one point to another."""
        self.edges[CfgEdge(source, target, kind)] = None

    def fail(self) -> None:
        """Mark the point being filled as one that may raise: it leads to the handlers around it, if
        any.
        """
        point = self.point()
        if point.fails:
            return
        point.fails = True
        self.escape([(self.last(), EdgeKind.NEXT)])

    def escape(self, ends: Ends) -> None:
        """Lead ends that raise to the handlers around, if any."""
        if ends and any(frame.kind == "handlers" for frame in self.frames):
            self.route([(source, EdgeKind.EXCEPTION) for source, _ in ends], Leap.RAISE, "")

    # Jumps

    def jump(self, leap: Leap, label: str, kind: EdgeKind) -> None:
        """Leave the point being filled for the target of `leap`; the code behind it is not reached."""
        number = self.finish()
        self.here = [(number, EdgeKind.NEVER)]
        self.route([(number, kind)], leap, label)

    def route(self, ends: Ends, leap: Leap, label: str) -> None:
        """Hand ends over to the target frame of a jump, or to a `finally` on the way."""
        for at, frame in reversed([*enumerate(self.frames)]):
            if frame.kind == "finally":
                for source, kind in ends:
                    if kind is not EdgeKind.EXCEPTION:
                        self.points[source].writes[exit_variable(at),] = None
                frame.raised += ends
                frame.passing.update(dict.fromkeys((leap, label, kind) for _, kind in ends))
                return
            taken = self._leap_ends(frame, leap, label)
            if taken is not None:
                taken += ends
                return
        if leap not in (Leap.GOTO, Leap.FALLTHROUGH):
            for source, kind in ends:
                self.edge(source, EXIT, kind)

    def _leap_ends(self, frame: Frame, leap: Leap, label: str) -> Ends | None:
        if leap is Leap.RAISE:
            return frame.raised if frame.kind == "handlers" else None
        if leap is Leap.CONTINUE:
            return frame.continues if frame.kind == "loop" and label in ("", frame.label) else None
        if leap is Leap.BREAK:
            aims = frame.label == label if label else frame.kind in ("loop", "switch")
            return frame.breaks if aims else None
        return None

    # Names

    @contextmanager
    def scope(self) -> Iterator[None]:
        """Names that are declared within are forgotten behind it."""
        self.scopes = self.scopes.new_child()
        yield
        self.scopes = self.scopes.parents

    def shares_variable(self, name: str) -> bool:
        """True if a name is a variable of an enclosing routine, which this one may assign."""
        return name not in self.scopes and self.knows(name)

    def knows(self, name: str) -> bool:
        """True if a name is a variable of this routine, or one of an enclosing routine that it may
        assign.
        """
        return name in self.scopes or (self.around is not None and self.around.knows(name))

    def declare(self, name: str) -> str:
        """A new variable of the innermost scope."""
        scope = self.scopes.maps[0]
        if name not in scope:
            hidden = name in self.scopes
            if hidden:
                self.shadows[name] = self.shadows.get(name, 1) + 1
            scope[name] = f"{name}'{self.shadows[name]}" if hidden else name
            self.own.add(scope[name])
        return scope[name]

    def variable(self, name: str) -> str:
        """The variable of a name; one without a declaration belongs to an enclosing routine."""
        if name in self.scopes:
            return self.scopes[name]
        self.free[name] = None
        return name

    # The end

    def freeze(self) -> Routine:
        """The routine as a value."""
        self._run_deferred()
        for source, kind in self.here:
            self.edge(source, EXIT, kind)
        for source, label in self.gotos:
            if label in self.labels:
                self.edge(source, _nearest(source, self.labels[label]), EdgeKind.GOTO)
        self._expand_captures()
        own = self.own
        statements = [
            Statement(**by_name(one) | {"tails": tuple(sorted({*one.tails}))})
            for one in self.statements
        ]
        points = [
            CfgNode._make(
                tuple(fact) if type(fact) is dict else fact for fact in by_name(one).values()
            )
            for one in self.points
        ]
        edges = sorted(self.edges, key=lambda edge: (edge.source, edge.target, edge.kind))
        return Routine(
            self.name, self.kind, self.parent, self.line, self.end_line, tuple(statements), tuple(points), tuple(edges),
            tuple(self.calls), tuple(self.shares), tuple(name for name in self.free if name not in own),
            tuple(name for name in self.outward if name not in own),
            tuple((name, reads) for name, (reads, _) in self.captures.items() if reads),
            tuple(self.parameters), 1 + self.decisions,
        )  # fmt: skip

    def _run_deferred(self) -> None:
        """Deferred calls run when the routine is left, the last one first; each only if it was
        reached.
        """
        if not self.deferred:
            return
        self.close()
        leaving = [edge for edge in self.edges if edge.target == EXIT]
        for edge in leaving:
            del self.edges[edge]
        self.here += [(edge.source, edge.kind) for edge in leaving]
        for statement in reversed(self.deferred):
            before = list(self.here)
            origin = next(point for point in self.points if point.statement == statement)
            self.statement = statement
            point = self.point(origin.start, origin.end)
            point.reads.update(origin.reads)
            point.mutates.update(origin.mutates)
            self.close()
            self.here += [end for end in before if end not in self.here]

    def _expand_captures(self) -> None:
        """Add to each point that names a local function the variables that this function reads and
        changes.
        """
        known = self.captures
        for _ in range(MAX_CAPTURE_ROUNDS):
            grown = {name: self._transitive_captures(name) for name in known}
            if grown == known:
                break
            known = grown
        for point in self.points if known else ():
            for root, *_ in tuple(point.reads):
                reads, writes = known.get(root, ((), ()))
                point.reads.update(dict.fromkeys((name,) for name in reads if name != root))
                point.mutates.update(dict.fromkeys((name,) for name in writes))
        self.captures = known

    def _transitive_captures(self, name: str) -> tuple[Strings, Strings]:
        reads, writes = (dict.fromkeys(names) for names in self.captures[name])
        for other in list(reads):
            if other in self.captures and other != name:
                reads.update(dict.fromkeys(self.captures[other][0]))
                writes.update(dict.fromkeys(self.captures[other][1]))
        return tuple(reads), tuple(writes)


def _nearest(source: int, labels: list[int]) -> int:
    """The target of a jump among several labels of one name: the next one after it, else the last
    before.
    """
    return min((label for label in labels if label > source), default=max(labels))


def closing_line(node: Node) -> list[int]:
    """The line of the closing bracket or `end` of a node of several lines, if it has one."""
    last = next(reversed(all_parts(node)), None)  # of comments alone there are no parts
    if (
        last is None
        or last.is_named
        or last.type in (";", ")")
        or last.end_point[0] <= node.start_point[0]
    ):
        return []
    return [last_line_of(last)]


def begin(draft: Draft) -> None:
    """Make the points where the routine begins and ends."""
    draft.points += [CfgNodeDraft(0, 0, 0), CfgNodeDraft(0, 0, 0)]
    draft.here = [(ENTRY, EdgeKind.NEXT)]
