"""Who works on what: the boards of the projects, and what is claimed in them."""

from __future__ import annotations

from collections.abc import Iterator

from tersely.doors.http.ui.layout import (
    Column,
    Shown,
    Visit,
    actor,
    address,
    badge,
    by_agents,
    section,
    table,
    value_text,
    when,
)
from tersely.doors.http.ui.markup import Child, Element, e
from tersely.foundation.limits import UI_PAGE_ROWS
from tersely.relay.encoding import timestamp
from tersely.relay.streams import THREAD
from tersely.relay.teams.board import BLOCKED, DONE, PROJECT_THREAD, TAKEN, Board, Item
from tersely.relay.teams.claims import Claim

MAX_UI_BOARDS = 50
_ITEMS = (Column("Item"), Column("What"), Column("Is"), Column("Who"), Column("After", is_wide=True))
_CLAIMS = (
    Column("Claimed"), Column("Who"), Column("What for"), Column("Since", is_wide=True), Column("Until", is_wide=True),
)  # fmt: skip
_KIND = {DONE: "good", BLOCKED: "warn", TAKEN: "good"}


def work_page(visit: Visit) -> Shown:
    """The boards, the newest first, and all claims."""
    boards = list(_boards(visit))
    nothing = e("p", "There are no boards. ", e("code", "tersely board add TEXT"), " makes one.", class_="empty")
    return Shown("Work", e("div", boards or section("Boards", nothing), _claimed(visit)))


def _boards(visit: Visit) -> Iterator[Element]:
    relay = visit.relay
    for name in relay.store.names(THREAD + PROJECT_THREAD, "", MAX_UI_BOARDS):
        thread_id = name.removeprefix(THREAD)
        items = Board(relay.store, thread_id, "", relay.is_working).items()
        project = thread_id.removeprefix(PROJECT_THREAD) or "no project"
        rows = [_item(one) for one in items[:UI_PAGE_ROWS]]
        listed = table(f"Items of {project}", _ITEMS, rows, "Nothing is on the board.")
        done = sum(one.status == DONE for one in items)
        thread = e("a", "thread", href=address("threads", thread_id))
        note = [f"{done:,} of {len(items):,} done · ", thread, " · ", by_agents("each named in its line")]
        yield section(f"Board of {project}", listed, note=note, id=thread_id)


def _item(one: Item) -> list[Child]:
    what: Child = e("bdi", value_text(one.step))
    if one.why:
        what = [what, e("small", "waits: ", e("bdi", value_text(one.why)), class_="id")]
    who = actor(one.by) if one.by else None
    return [one.id, what, badge(one.status, _KIND.get(one.status, "muted")), who, ", ".join(one.needs)]


def _claimed(visit: Visit) -> Element:
    rows: list[list[Child]] = []
    for project, held in visit.relay.claims.by_project():
        rows += [_claim(project, one) for one in held]
    listed = table("Claims, by project", _CLAIMS, rows[:UI_PAGE_ROWS], "Nothing is claimed.")
    return section("Claims", listed, note=by_agents("each named in its line"))


def _claim(project: str, one: Claim) -> list[Child]:
    place = e("small", e("bdi", project or "no project"), class_="id")
    return [
        [e("bdi", value_text(one.target)), place],
        [actor(one.holder), " (shared)" if one.is_shared else None],
        e("bdi", value_text(one.why)),
        when(timestamp(one.since_ms)),
        when(timestamp(one.until_ms)),
    ]
