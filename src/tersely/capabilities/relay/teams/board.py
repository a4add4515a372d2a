"""The work of a project: what there is to do, who does it, and what can be begun."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from tersely.capabilities.answers.text import Style, aligned
from tersely.capabilities.declaration.declaration import (
    Effect,
    Role,
    group,
    option,
    positional,
    relay_capability,
)
from tersely.capabilities.relay.context import RelayContext
from tersely.capabilities.relay.teams.claims import Where
from tersely.foundation.errors import TerselyError
from tersely.foundation.git.project import project_name

if TYPE_CHECKING:
    from tersely.relay.teams.board import Board, Item

MAX_STEP_CHARACTERS = 500
MAX_NEEDED_ITEMS = 50


@dataclass(frozen=True, slots=True)
class BoardParameters:
    """The board: that of a thread, or that of the project."""

    thread: str = option("", "the board of this thread (default: that of the project)", maximum=200)
    where: Where = group(Where)


@dataclass(frozen=True, slots=True)
class AddParameters:
    """A new item."""

    step: str = positional(
        "what is to be done", metavar="TEXT", minimum=1, maximum=MAX_STEP_CHARACTERS
    )
    needs: tuple[str, ...] = option(
        (), "an item that comes first", metavar="ITEM", maximum=MAX_NEEDED_ITEMS, role=Role.TEXT
    )
    board: BoardParameters = group(BoardParameters)


@dataclass(frozen=True, slots=True)
class TakeParameters:
    """The item, or the first that can be taken."""

    item: str = positional(
        "its id, as board shows it (default: the first that is ready)", default=""
    )
    board: BoardParameters = group(BoardParameters)


@dataclass(frozen=True, slots=True)
class ItemParameters:
    """The item."""

    item: str = positional("its id, as board shows it")
    board: BoardParameters = group(BoardParameters)


@dataclass(frozen=True, slots=True)
class BlockParameters:
    """The item, and why it cannot go on."""

    item: str = positional("its id, as board shows it")
    why: str = option("", "what it waits for", maximum=MAX_STEP_CHARACTERS)
    board: BoardParameters = group(BoardParameters)


@dataclass(frozen=True, slots=True)
class BoardItem:
    """One item: pending, taken, done or blocked; `until` is ISO 8601 in UTC."""

    id: str
    step: str
    status: str
    needs: list[str]
    by: str
    until: str
    why: str


@dataclass(frozen=True, slots=True)
class BoardItems:
    """Items of a board, in its order."""

    thread: str
    items: list[BoardItem]


def show(context: RelayContext, parameters: BoardParameters) -> BoardItems:
    """All items."""
    board = _board(context, parameters)
    return _shown(context, parameters, board.items())


def ready(context: RelayContext, parameters: BoardParameters) -> BoardItems:
    """The items that can be taken."""
    return _shown(context, parameters, _board(context, parameters).ready())


def add(context: RelayContext, parameters: AddParameters) -> BoardItems:
    """One item more."""
    made = _board(context, parameters.board).add(parameters.step, parameters.needs)
    return _shown(context, parameters.board, [made])


def take(context: RelayContext, parameters: TakeParameters) -> BoardItems:
    """An item for who asks."""
    taken = _board(context, parameters.board).take(parameters.item)
    return _shown(context, parameters.board, [taken])


def done(context: RelayContext, parameters: ItemParameters) -> BoardItems:
    """An item that is done."""
    settled = _board(context, parameters.board).settle(parameters.item, "done")
    return _shown(context, parameters.board, [settled])


def block(context: RelayContext, parameters: BlockParameters) -> BoardItems:
    """An item that cannot go on."""
    settled = _board(context, parameters.board).settle(parameters.item, "blocked", parameters.why)
    return _shown(context, parameters.board, [settled])


def reopen(context: RelayContext, parameters: ItemParameters) -> BoardItems:
    """An item that can be taken again."""
    settled = _board(context, parameters.board).settle(parameters.item, "pending")
    return _shown(context, parameters.board, [settled])


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


def _shown(context: RelayContext, parameters: BoardParameters, items: list[Item]) -> BoardItems:
    lines = [
        BoardItem(one.id, one.step, one.status, list(one.needs), one.by, one.until, one.why)
        for one in items
    ]
    return BoardItems(_thread_of(context, parameters), lines)


def _text(found: BoardItems, style: Style) -> str:
    rows = [(one.id, one.status, one.by, one.step + _more(one)) for one in found.items]
    return "\n".join(aligned(rows, [style.symbol])) if rows else "nothing is on the board"


def _ready_text(found: BoardItems, style: Style) -> str:
    return _text(found, style) if found.items else "nothing is ready"


def _more(item: BoardItem) -> str:
    needs = f"  after {', '.join(item.needs)}" if item.needs and item.status != "done" else ""
    why = f"  waits: {item.why}" if item.why else ""
    return needs + why


_reading = partial(
    relay_capability,
    description="The board is the plan in the state of a thread; a project has one of its own.",
    fails=("item_not_found", "not_ready", "already_claimed", "thread_not_found", "busy"),
)
_writing = partial(_reading, effect=Effect.WRITE)

SHOW = _reading(
    "board.show", "The work board: all items, and who has them", BoardParameters, show, _text, "board",
)  # fmt: skip
READY = _reading(
    "board.ready", "The items that can be taken now", BoardParameters, ready, _ready_text, "board ready",
)  # fmt: skip
ADD = _writing(
    "board.add", "Add an item to the work board", AddParameters, add, _text,
    'board add "parse dates"', 'board add "format dates" --needs b1',
)  # fmt: skip
TAKE = _writing(
    "board.take", "Take an item, the first that is ready without a name", TakeParameters, take, _text,
    "board take", "board take b2",
)  # fmt: skip
DONE = _writing(
    "board.done", "Say that an item is done", ItemParameters, done, _text, "board done b1"
)
BLOCK = _writing(
    "board.block", "Say that an item cannot go on, and why", BlockParameters, block, _text,
    'board block b2 --why "needs a decision"',
)  # fmt: skip
REOPEN = _writing(
    "board.reopen", "Give an item back, to be taken again", ItemParameters, reopen, _text, "board reopen b2",
)  # fmt: skip
