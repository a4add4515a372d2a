"""`code.cfg`: the basic blocks of a function and where control goes between them."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from tersely.capabilities.answers.text import Style, clipped
from tersely.capabilities.declaration.declaration import (
    capability,
    frozen,
)
from tersely.capabilities.declaration.values import lines_text
from tersely.capabilities.flow.places import FUNCTION, ONE_KIND, flow_note, routine_of
from tersely.code.symbols import Kind
from tersely.foundation.types import Numbers

if TYPE_CHECKING:
    from tersely.code.flow.blocks import BasicBlock
    from tersely.code.routines import Routine
    from tersely.workspace import Workspace


@frozen
class Step:
    """A statement, or the part of one that runs by itself, such as one side of `and`."""

    line: int
    end_line: int
    text: str


@frozen
class Exit:
    """A block to which control goes after another, and the reason: next, true, false, case, break,
    continue, return, raise, goto.
    """

    to: int
    why: str


@frozen
class Block:
    """Steps that run one after the other. `raises` are the blocks that catch what they raise."""

    number: int
    kind: str  # entry, exit or body
    steps: tuple[Step, ...]
    exits: tuple[Exit, ...]
    raises: Numbers
    reachable: bool


@frozen
class ControlFlow:
    """The control flow graph of a routine: block 0 is the entry, block 1 the exit."""

    symbol: str
    line: int
    end_line: int
    blocks: tuple[Block, ...]
    edges: int
    complexity: int
    note: str


def text(flow: ControlFlow, style: Style) -> str:
    """A paragraph a block: its steps, then where control goes."""
    about = f"{lines_text(flow.line, flow.end_line)}, {len(flow.blocks)} blocks, {flow.edges} edges"
    lines = [
        f"{style.symbol(flow.symbol)}  {style.faint(f'{about}, complexity {flow.complexity}')}"
    ]
    lines += [style.doubtful(flow.note)] if flow.note else []
    for block in flow.blocks:
        head = f"block {block.number}" + (f" ({block.kind})" if block.kind != "body" else "")
        lines.append(
            style.heading(head) + ("" if block.reachable else style.doubtful("  never reached"))
        )
        lines += [f"  {style.faint(f'{step.line:>5}')}  {step.text}" for step in block.steps]
        ways = [f"{way.why} → {way.to}" for way in block.exits]
        ways += [f"if it raises → {', '.join(map(str, block.raises))}"] if block.raises else []
        lines += [f"         {style.faint(', '.join(ways))}"] if ways else []
    return "\n".join(lines)


@capability("code.cfg", text, "cfg Session.validate", "cfg src/app.py")
def run(
    workspace: Workspace,
    *,
    symbol: str = FUNCTION,
    kind: Kind | None = ONE_KIND,
) -> ControlFlow:
    """Basic blocks of a function and the control flow between them.

    Block 0 is the entry, block 1 the exit. Conditions that are joined by `and` and `or` are steps
    of their own. A step that may raise does not end its block: its handlers are listed beside the
    exits.
    """
    from tersely.code.flow.blocks import basic_blocks

    meant, routines, at = routine_of(workspace, symbol, kind)
    routine = routines.routines[at]
    lines = workspace.engine.source(meant.path)
    found = basic_blocks(routine)
    blocks = tuple(_block(number, block, routine, lines) for number, block in enumerate(found))
    edges = sum(len(block.exits) + len(block.raises) for block in blocks)
    return ControlFlow(
        meant.id,
        routine.line,
        routine.end_line,
        blocks,
        edges,
        routine.complexity,
        flow_note(routines, at),
    )


def _block(number: int, block: BasicBlock, routine: Routine, source: bytes) -> Block:
    steps: list[Step] = []
    several = Counter(point.statement for point in routine.points)
    for at in block.points if number > 1 else ():
        point = routine.points[at]
        statement = routine.statements[point.statement]
        part = several[point.statement] > 1 and point.end > point.start
        start, end = (point.start, point.end) if part else (statement.start, statement.end)
        text = source[start:end].decode("utf-8", "replace").strip()
        first = source.count(b"\n", 0, start) + 1
        steps.append(Step(first, first + text.count("\n"), clipped(text)))
    kind = ("entry", "exit")[number] if number < 2 else "body"
    exits = tuple(Exit(to, why.value) for to, why in block.exits)
    return Block(number, kind, tuple(steps), exits, block.raises, block.reachable)
