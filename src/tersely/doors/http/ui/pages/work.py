"""The page of work: the boards of the projects, and what is claimed in them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from tersely.doors.http.ui.rendering import ShownPage, Visit
from tersely.foundation.limits import UI_PAGE_ROWS
from tersely.relay.relay import Relay
from tersely.relay.store.streams import THREAD
from tersely.relay.teams.board import DONE, PROJECT_THREAD, Board, BoardEntry
from tersely.relay.teams.claims import Claim

MAX_UI_BOARDS = 50


class ProjectBoard(NamedTuple):
    """The board of one project."""

    project: str
    thread_id: str
    items: list[BoardEntry]

    @property
    def shown(self) -> list[BoardEntry]:
        """Those that have a place on a page."""
        return self.items[:UI_PAGE_ROWS]

    @property
    def open(self) -> list[BoardEntry]:
        """Those that are not done, as far as they have a place on a page."""
        return [one for one in self.items if one.status != DONE][:UI_PAGE_ROWS]

    @property
    def done(self) -> int:
        """The number of items that are done."""
        return sum(one.status == DONE for one in self.items)


class HeldClaim(NamedTuple):
    """A claim in its project."""

    project: str
    claim: Claim


def work_page(visit: Visit) -> ShownPage:
    """The boards, the newest first, and all claims."""
    values = {"boards": list(boards(visit.relay)), "held": list(held(visit.relay))[:UI_PAGE_ROWS]}
    return ShownPage("Work", "relay/work.html", values)


def boards(relay: Relay) -> Iterator[ProjectBoard]:
    """The boards of the projects."""
    for name in relay.store.names(THREAD + PROJECT_THREAD, "", MAX_UI_BOARDS):
        thread_id = name.removeprefix(THREAD)
        items = Board(relay.store, thread_id, "", relay.is_working).items()
        yield ProjectBoard(thread_id.removeprefix(PROJECT_THREAD) or "no project", thread_id, items)


def held(relay: Relay) -> Iterator[HeldClaim]:
    """The claims, by project."""
    for project, claims in relay.claims.by_project():
        for claim in claims:
            yield HeldClaim(project, claim)
