"""The work of a project: what there is to do, who does it, and what can be begun."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from tersely.capabilities.answers.text import Style, aligned
from tersely.capabilities.declaration.declaration import (
    Effect,
    Role,
    frozen,
    group,
    option,
    positional,
    relay_capability,
)
from tersely.capabilities.relay.context import RelayContext
from tersely.capabilities.relay.teams.claims import Where
from tersely.foundation.errors import TerselyError
from tersely.foundation.git.project import project_name
from tersely.foundation.types import Strings

if TYPE_CHECKING:
    from tersely.relay.teams.board import Board, BoardEntry

MAX_STEP_CHARACTERS = 500
MAX_NEEDED_ITEMS = 50


@frozen
class BoardParameters:
    """The board: that of a thread, or that of the project."""

    thread: str = option("", "the board of this thread (default: that of the project)", maximum=200)
    where: Where = group(Where)


@frozen
class BoardItem:
    """One item: pending, taken, done or blocked; `until` is ISO 8601 in UTC."""

    id: str
    step: str
    status: str
    needs: list[str]
    by: str
    until: str
    why: str


@frozen
class BoardItems:
    """Items of a board, in its order."""

    thread: str
    items: list[BoardItem]


_reading = partial(
    relay_capability,
    description="The board is the plan in the state of a thread; a project has one of its own.",
    fails=("item_not_found", "not_ready", "already_claimed", "thread_not_found", "busy"),
)


_writing = partial(_reading, effect=Effect.WRITE)


def _text(found: BoardItems, style: Style) -> str:
    rows = [(one.id, one.status, one.by, one.step + _more(one)) for one in found.items]
    return "\n".join(aligned(rows, [style.symbol])) if rows else "nothing is on the board"


@_reading("board.show", _text, "board")
def show(
    context: RelayContext,
    *,
    board: BoardParameters = group(BoardParameters),
) -> BoardItems:
    """The work board: all items, and who has them."""
    return _shown(context, board, _board(context, board).items())


def _ready_text(found: BoardItems, style: Style) -> str:
    return _text(found, style) if found.items else "nothing is ready"


@_reading("board.ready", _ready_text, "board ready")
def ready(
    context: RelayContext,
    *,
    board: BoardParameters = group(BoardParameters),
) -> BoardItems:
    """The items that can be taken now."""
    return _shown(context, board, _board(context, board).ready())


@_writing("board.add", _text, 'board add "parse dates"', 'board add "format dates" --needs b1')
def add(
    context: RelayContext,
    *,
    step: str = positional(
        "what is to be done", metavar="TEXT", minimum=1, maximum=MAX_STEP_CHARACTERS
    ),
    needs: Strings = option(
        (), "an item that comes first", metavar="ITEM", maximum=MAX_NEEDED_ITEMS, role=Role.TEXT
    ),
    board: BoardParameters = group(BoardParameters),
) -> BoardItems:
    """Add an item to the work board."""
    made = _board(context, board).add(step, needs)
    return _shown(context, board, [made])


@_writing("board.take", _text, "board take", "board take b2")
def take(
    context: RelayContext,
    *,
    item: str = positional(
        "its id, as board shows it (default: the first that is ready)", default=""
    ),
    board: BoardParameters = group(BoardParameters),
) -> BoardItems:
    """Take an item, the first that is ready without a name."""
    taken = _board(context, board).take(item)
    return _shown(context, board, [taken])


@_writing("board.done", _text, "board done b1")
def done(
    context: RelayContext,
    *,
    item: str = positional("its id, as board shows it"),
    board: BoardParameters = group(BoardParameters),
) -> BoardItems:
    """Say that an item is done."""
    settled = _board(context, board).settle(item, "done")
    return _shown(context, board, [settled])


@_writing("board.block", _text, 'board block b2 --why "needs a decision"')
def block(
    context: RelayContext,
    *,
    item: str = positional("its id, as board shows it"),
    why: str = option("", "what it waits for", maximum=MAX_STEP_CHARACTERS),
    board: BoardParameters = group(BoardParameters),
) -> BoardItems:
    """Say that an item cannot go on, and why."""
    settled = _board(context, board).settle(item, "blocked", why)
    return _shown(context, board, [settled])


@_writing("board.reopen", _text, "board reopen b2")
def reopen(
    context: RelayContext,
    *,
    item: str = positional("its id, as board shows it"),
    board: BoardParameters = group(BoardParameters),
) -> BoardItems:
    """Give an item back, to be taken again."""
    settled = _board(context, board).settle(item, "pending")
    return _shown(context, board, [settled])


def _thread_of(context: RelayContext, parameters: BoardParameters) -> str:
    from tersely.relay.teams.board import PROJECT_THREAD

    return parameters.thread or f"{PROJECT_THREAD}{parameters.where.project_in(context.relay)}"


def _board(context: RelayContext, parameters: BoardParameters) -> Board:
    from tersely.relay.teams.board import Board
    from tersely.relay.threads import threads

    relay, thread_id = context.relay, _thread_of(context, parameters)
    if not parameters.thread:
        try:
            threads.get(relay.store, thread_id)
        except TerselyError:
            _make(context, thread_id, parameters.where)
    return Board(relay.store, thread_id, context.agent, relay.is_working, context.key)


def _make(context: RelayContext, thread_id: str, where: Where) -> None:
    from tersely.relay.threads import threads

    name = project_name(where.root) if where.root else where.project
    try:
        threads.create(context.relay.store, name, context.agent, thread_id)
    except TerselyError as error:
        if error.code != "version_conflict":  # somebody else has just made it
            raise


def _shown(
    context: RelayContext, parameters: BoardParameters, items: list[BoardEntry]
) -> BoardItems:
    lines = [
        BoardItem(one.id, one.step, one.status, list(one.needs), one.by, one.until, one.why)
        for one in items
    ]
    return BoardItems(_thread_of(context, parameters), lines)


def _more(item: BoardItem) -> str:
    needs = f"  after {', '.join(item.needs)}" if item.needs and item.status != "done" else ""
    why = f"  waits: {item.why}" if item.why else ""
    return needs + why
