"""The board of a project: what there is to do, in the plan of a thread's state.

Every change is a JSON Patch at a version, tried again where somebody else was faster: no two take
one item.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Sequence
from typing import Any, NamedTuple

from tersely.foundation.errors import TerselyError
from tersely.foundation.types import JsonObject, field, frozen, replace
from tersely.relay.encoding import timestamp
from tersely.relay.store.store import MAX_CLOCK_STEP_MS, Store
from tersely.relay.store.streams import THREAD
from tersely.relay.threads import threads

BOARD_TRIES = 50  # to change a board that others change at the same time
TAKEN_SECONDS = 3_600  # after which an item whose holder does not work is ready again
MAX_BOARD_ITEMS = 1_000
MAX_BOARDS = 1_000  # that are looked through for what an agent has taken
PROJECT_THREAD = "project-"  # how the id of the thread begins in which a project has its board
PENDING, TAKEN, DONE, BLOCKED = "pending", "taken", "done", "blocked"
_ID = re.compile(r"b[1-9][0-9]{0,5}")


@frozen
class BoardEntry:
    """One thing to do. `needs` are items that come first; `by` has taken it, until `until` at
    least.
    """

    id: str
    step: str
    status: str = PENDING
    needs: list[str] = field(default_factory=list)
    by: str = ""
    until: str = ""
    why: str = ""  # it is blocked
    keys: list[str] = field(
        default_factory=list
    )  # of the questions by which it was added and taken, where they had one


class _Changed(NamedTuple):
    """The items after a change, and the one that it is about."""

    items: list[BoardEntry]
    item_id: str


class Board:
    """The board in one thread, asked by `actor`. `is_working` says of an agent whether it is at
    work.

    What is asked again under the same `key` happens once: whoever got no answer asks again.
    """

    def __init__(
        self,
        store: Store,
        thread_id: str,
        actor: str,
        is_working: Callable[[str], bool],
        key: str = "",
    ) -> None:
        self._store, self._thread, self._actor, self._is_working = (
            store,
            thread_id,
            actor,
            is_working,
        )
        self._key = f"{actor}/{key}" if key else ""

    def items(self) -> list[BoardEntry]:
        """All items, in their order; raises `thread_not_found`."""
        return self._read(threads.state(self._store, self._thread))

    def ready(self) -> list[BoardEntry]:
        """The items that can be taken now."""
        return ready(self.items())

    def add(self, step: str, needs: Sequence[str]) -> BoardEntry:
        """A new item; raises `item_not_found` for one of `needs` that there is not."""

        def change(items: list[BoardEntry]) -> _Changed:
            for needed in needs:
                find(items, needed)
            if len(items) >= MAX_BOARD_ITEMS:
                raise TerselyError(
                    "busy", f"the board has {MAX_BOARD_ITEMS:,} items", "use another thread"
                )
            added = f"b{1 + max((int(one.id[1:]) for one in items), default=0)}"
            return _Changed(
                [*items, BoardEntry(added, step, needs=list(needs), keys=[self._key])], added
            )

        return self._once(change)

    def take(self, item_id: str = "") -> BoardEntry:
        """Have an item, the first that is ready where none is named; raises `item_not_found`,
        `not_ready`.
        """

        def change(items: list[BoardEntry]) -> _Changed:
            free = ready(items)
            if item_id:
                free = [one for one in [find(items, item_id)] if one in free]
            if not free:
                raise TerselyError(
                    "not_ready", _why_not(items, item_id), "`tersely board` shows all items"
                )
            until = timestamp(self._store.now_ms() + TAKEN_SECONDS * 1_000)
            keys = [*free[0].keys[:1], self._key]
            return _with(
                items, free[0].id, status=TAKEN, by=self._actor, until=until, why="", keys=keys
            )

        return self._once(change)

    def settle(self, item_id: str, status: str, why: str = "") -> BoardEntry:
        """Say that an item is done, blocked or pending again; raises `item_not_found`,
        `already_claimed`.
        """

        def change(items: list[BoardEntry]) -> _Changed:
            holder = find(items, item_id).by
            if holder not in {"", self._actor}:
                message = f"{item_id} is taken by {holder}"
                raise TerselyError("already_claimed", message, f"ask: tersely send {holder} TEXT")
            by = "" if status == PENDING else self._actor
            return _with(items, item_id, status=status, by=by, until="", why=why)

        return self._change(change)

    def _once(self, change: Callable[[list[BoardEntry]], _Changed]) -> BoardEntry:
        """The item of a change, or the one by which the same question was answered before."""

        def change_once(items: list[BoardEntry]) -> _Changed:
            known = (one.id for one in items if self._key and self._key in one.keys)
            answered = next(known, None)
            return change(items) if answered is None else _Changed(items, answered)

        return self._change(change_once)

    def _change(self, change: Callable[[list[BoardEntry]], _Changed]) -> BoardEntry:
        """Write down a change of the items, and give its item; raises `busy`."""
        for _ in range(BOARD_TRIES):
            state = threads.state(self._store, self._thread)
            after = change(self._read(state))
            others = [one for one in state["plan"] if not _is_item(one)]
            plan = [*others, *map(_plan_entry, after.items)]
            patch = [{"op": "replace", "path": "/plan", "value": plan}]
            try:
                threads.patch_state(
                    self._store, self._thread, patch, self._actor, expected=state["version"]
                )
            except TerselyError as error:
                if error.code != "version_conflict":
                    raise
            else:
                return find(after.items, after.item_id)
        raise TerselyError("busy", "the board is changed by many at this moment", "try again")

    def _read(self, state: JsonObject) -> list[BoardEntry]:
        now_ms = self._store.now_ms()
        now = timestamp(now_ms)
        # an end beyond that was written by a clock that was ahead
        latest = timestamp(now_ms + TAKEN_SECONDS * 1_000 + MAX_CLOCK_STEP_MS)
        items = [BoardEntry(**one) for one in state["plan"] if _is_item(one)]
        return [self._returned(one, now, latest) for one in items]

    def _returned(self, item: BoardEntry, now: str, latest: str) -> BoardEntry:
        """An item that is ready again where whoever took it is gone."""
        is_held = now <= item.until <= latest or self._is_working(item.by)
        is_left = item.status == TAKEN and not is_held
        return (
            BoardEntry(item.id, item.step, needs=item.needs, keys=item.keys[:1])
            if is_left
            else item
        )


def give_back(store: Store, holder: str) -> list[BoardEntry]:
    """Have what somebody has taken be ready again, on the boards of all projects."""
    given_back: list[BoardEntry] = []
    for name in store.names(THREAD + PROJECT_THREAD, "", MAX_BOARDS):
        board = Board(store, name.removeprefix(THREAD), holder, lambda agent: False)
        taken = [one.id for one in board.items() if one.status == TAKEN and one.by == holder]
        given_back += [board.settle(one, PENDING) for one in taken]
    return given_back


def ready(items: Collection[BoardEntry]) -> list[BoardEntry]:
    """The items that wait for no other."""
    done = {one.id for one in items if one.status == DONE}
    return [one for one in items if one.status == PENDING and done.issuperset(one.needs)]


def find(items: Iterable[BoardEntry], item_id: str) -> BoardEntry:
    """An item by its id; raises `item_not_found`."""
    for one in items:
        if one.id == item_id:
            return one
    raise TerselyError(
        "item_not_found",
        f"the board has no item {item_id[:40]!r}",
        "`tersely board` shows all items",
    )


def _why_not(items: Collection[BoardEntry], item_id: str) -> str:
    if not item_id:
        return "nothing is ready"
    one = find(items, item_id)
    done = {other.id for other in items if other.status == DONE}
    missing = [needed for needed in one.needs if needed not in done]
    if one.status == PENDING:
        return f"{one.id} waits for {', '.join(missing)}"
    return f"{one.id} is {one.status}" + (f" by {one.by}" if one.by else "")


def _with(items: Iterable[BoardEntry], item_id: str, **changed: Any) -> _Changed:
    changed_items = [replace(one, **changed) if one.id == item_id else one for one in items]
    return _Changed(changed_items, item_id)


def _is_item(entry: JsonObject) -> bool:
    """True if an entry of a plan is of the board: others may stand beside."""
    known = {"id", "step", "status", "needs", "by", "until", "why", "keys"}
    return (
        bool(_ID.fullmatch(str(entry.get("id", "")))) and "step" in entry and entry.keys() <= known
    )


def _plan_entry(item: BoardEntry) -> JsonObject:
    keys = item.keys if any(item.keys) else []
    values = {
        "needs": item.needs,
        "by": item.by,
        "until": item.until,
        "why": item.why,
        "keys": keys,
    }
    return {
        "id": item.id,
        "step": item.step,
        "status": item.status,
        **{k: v for k, v in values.items() if v},
    }
