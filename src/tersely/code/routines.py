"""The control flow of routines, and the reads and writes of each step, as plain values.

A *routine* has control flow of its own: a function, a class body, a module. `syntax` makes routines
from source text; `flow` answers questions about them. All offsets are bytes, all lines count from
1.
"""

from __future__ import annotations

from enum import StrEnum
from typing import NamedTuple

from tersely.foundation.types import Numbers, Strings

# A variable and the members read from it: `("self", ".cache")`. A prefix stands for all paths that
# begin with it.
AccessPath = Strings

ENTRY, EXIT = 0, 1  # positions of the points where every routine begins and ends
RESULT = "<result>"  # the variable for the value of a body that gives its last expression
OBJECT = "&"  # as the last name of a path that is read: the object itself, not its content


class EdgeKind(StrEnum):
    """The reasons kind control goes from one point to another."""

    NEXT = "next"
    TRUE = "true"
    FALSE = "false"
    CASE = "case"
    BREAK = "break"
    CONTINUE = "continue"
    RETURN = "return"
    RAISE = "raise"  # written down
    EXCEPTION = "exception"  # any statement that may fail
    GOTO = "goto"
    NEVER = "never"  # where it would go if the jump were not there; no path of any run


class Statement(NamedTuple):
    """One statement: its kind, its lines without those of statements inside it, and its owner.

    `kind` is `entry`, `simple`, `definition`, `if`, `loop`, `try`, `handler`, `with`, `switch`,
    `case`, or that of a jump: `return`, `raise`, `break`, `continue`, `goto`, `fallthrough`.
    `start` and `end` are the bytes of its head; `end_line` is the last line of all of it.
    """

    kind: str
    start: int
    end: int
    line: int
    head_end_line: int
    end_line: int
    owner: int  # the statement around it, -1 for none
    tails: Numbers  # further lines that belong to it: `else:`, `finally:`


class CfgNode(NamedTuple):
    """One step of a statement: the paths it reads, the paths it replaces, the paths it changes in
    place.

    A step without bytes stands for the end of a `with`, or of a `try` that is left by jumps.
    """

    statement: int
    start: int
    end: int
    reads: tuple[AccessPath, ...]
    writes: tuple[AccessPath, ...]
    mutates: tuple[AccessPath, ...]
    fails: bool  # whether it may raise
    # its writes are sure only where its test holds: a loop's target, a pattern's names
    tests: bool


class CfgEdge(NamedTuple):
    """Control goes from one point to another."""

    source: int
    target: int
    kind: EdgeKind


class CfgCall(NamedTuple):
    """A call of a plain name or member at a point, with the variables that are its arguments as
    they stand.

    `arguments`: (position or keyword, path), where an argument is a variable or a part of one.
    `blind`: its result is unused, it is no method of an object, and it may change its arguments.
    `on_own`: it may be of a method of the object that the method around was called on.
    `comes_back`: the callee may run the routine around once more.
    """

    point: int
    callee: str
    line: int
    receiver: AccessPath
    arguments: tuple[tuple[int | str, AccessPath], ...]
    blind: bool
    on_own: bool = False
    comes_back: bool = False


class Routine(NamedTuple):
    """A function, class body or module. `statements[0]` is its head, which writes the parameters."""

    name: str  # qualified, as symbols are; "" for a module
    kind: str  # "function", "class", "module"
    parent: int  # position of the routine around it in the file, -1 for a module
    line: int
    end_line: int
    statements: tuple[Statement, ...]
    points: tuple[CfgNode, ...]
    edges: tuple[CfgEdge, ...]
    calls: tuple[CfgCall, ...]
    shares: tuple[tuple[str, str], ...]  # names that may stand for parts of one object
    free: Strings  # names that it reads of routines around it
    outward: Strings  # names of routines around it that it writes or changes
    # names of functions that are defined here, each with the names of here that it reads
    captures: tuple[tuple[str, Strings], ...]
    parameters: Strings
    complexity: int  # cyclomatic, after McCabe


def line_count(source: bytes) -> int:
    """The number of lines of a text; an empty one has one, which is empty."""
    return max(1, source.count(b"\n") + (not source.endswith(b"\n")))


class Routines(NamedTuple):
    """All routines of a file, outermost first."""

    routines: tuple[Routine, ...]
