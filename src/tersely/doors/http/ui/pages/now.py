"""The first page: what goes on now, and what waits for somebody, above all for the person."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import NamedTuple

from tersely.capabilities.relay.context import PERSON
from tersely.doors.http.ui.pages.agents import listed
from tersely.doors.http.ui.pages.messages import NEWEST, row
from tersely.doors.http.ui.pages.picture import Talk, picture
from tersely.doors.http.ui.pages.work import HeldClaim, ProjectBoard, boards, held
from tersely.doors.http.ui.rendering import ShownPage, Visit
from tersely.foundation.activity import PERMISSION, WORKING
from tersely.foundation.limits import UI_PAGE_ROWS
from tersely.foundation.types import JsonObject
from tersely.relay.mail.questions import OPEN_QUESTION_SECONDS, unanswered
from tersely.relay.relay import Relay
from tersely.relay.store.mailboxes import HistoryMessage, Sought
from tersely.relay.teams.board import TAKEN
from tersely.relay.threads.accounting import day_scope, savings

# the latest, of which the first page shows questions and who talks to whom
MAX_UI_COUNTED_MESSAGES = 500
_SHOWN_TARGETS = 4  # of what one agent holds


class _Work(NamedTuple):
    """The work that is claimed and on boards."""

    held: list[HeldClaim]
    boards: list[ProjectBoard]


def now_page(visit: Visit) -> ShownPage:
    """The page of what goes on now."""
    relay = visit.relay
    work = _Work(list(held(relay)), list(boards(relay)))
    waiting = relay.permissions.listed()
    messages = _recent(relay)
    questions = unanswered(messages)
    working = _working(relay, work, questions)
    talk = _talk(messages)
    figures = [
        ("Agents here", f"{len(working):,}"),
        ("At work", f"{sum(one['state'] == WORKING for one in working):,}"),
        ("Wait for permission", f"{len(waiting):,}"),
        ("Open questions", f"{len(questions):,}"),
        ("Claims", f"{len(work.held):,}"),
        ("Tokens avoided today (UTC)", f"{_avoided_today(relay):,}"),
    ]
    values = {
        "figures": figures,
        "waiting": waiting[:UI_PAGE_ROWS],
        "questions": [
            {**row(one), "message_id": relay.mail.message_id(one.number)} for one in questions
        ],
        "person": PERSON,
        "agents": working[:UI_PAGE_ROWS],
        "agents_left": max(0, len(working) - UI_PAGE_ROWS),
        "talk": talk,
        "picture": picture(talk, frozenset(one.name for one in relay.here())),
        "is_cut": len(messages) == MAX_UI_COUNTED_MESSAGES,
        "most": MAX_UI_COUNTED_MESSAGES,
        "boards": [one for one in work.boards if one.open],
        "held": work.held[:UI_PAGE_ROWS],
    }
    return ShownPage("Now", "relay/now.html", values)


def _recent(relay: Relay) -> list[HistoryMessage]:
    """The messages of the last hour, the oldest first, no more than are counted."""
    since_ms = relay.store.now_ms() - OPEN_QUESTION_SECONDS * 1000
    found = relay.mail.history(Sought(), NEWEST, MAX_UI_COUNTED_MESSAGES, backward=True)
    return [one for one in reversed(found) if one.at_ms >= since_ms]


def _working(relay: Relay, work: _Work, questions: Iterable[HistoryMessage]) -> list[JsonObject]:
    """The agents that are here, with what they hold and for whom they wait."""
    rows = listed(relay, relay.here())
    taken = [item for board in work.boards for item in board.items if item.status == TAKEN]
    for one in rows:
        targets = [
            claimed.claim.target for claimed in work.held if claimed.claim.holder == one["name"]
        ]
        one["held"], one["held_more"] = (
            targets[:_SHOWN_TARGETS],
            max(0, len(targets) - _SHOWN_TARGETS),
        )
        one["board_items"] = [item for item in taken if item.by == one["name"]]
        one["waits_for"] = sorted(
            {asked.addressed for asked in questions if asked.sender == one["name"]}
        )
        one["is_blocked"] = one["state"] == PERMISSION
    return rows


def _talk(messages: Iterable[HistoryMessage]) -> list[Talk]:
    """The numbers of messages from one to another, most at first."""
    counts = Counter((one.sender, mailbox) for one in messages for mailbox, _ in one.deliveries)
    return [Talk(*pair, count) for pair, count in counts.most_common()]


def _avoided_today(relay: Relay) -> int:
    return savings(relay.store, day_scope(relay.store.now_ms())).avoided_tokens
