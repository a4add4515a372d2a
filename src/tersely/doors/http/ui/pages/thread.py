"""One thread at a glance: its figures, what it knows, the tokens that it saved, and what happens in it now."""

from __future__ import annotations

from typing import Any

from tersely.doors.http.ui.layout import Shown, Visit, actor, address, by_agents, figures, section, value_text, when
from tersely.doors.http.ui.markup import Child, Element, e
from tersely.doors.http.ui.pages.events import events_list, latest
from tersely.doors.http.ui.pages.frame import framed
from tersely.doors.http.ui.pages.tokens import tokens_section
from tersely.relay import threads
from tersely.relay.accounting import savings

_LATEST_EVENTS = 12
# (member of the header, title, what stands first, what is said)
_SECTIONS = (
    ("top_facts", "Facts", "key", "value"),
    ("top_constraints", "Constraints", "severity", "description"),
    ("open_questions", "Open questions", "status", "question"),
    ("next_steps", "Next steps", "status", "step"),
    ("last_actions", "Last actions", "at", "description"),
)


def thread_page(visit: Visit) -> Shown:
    """The overview of a thread."""
    thread = threads.get(visit.relay.store, visit.path["thread_id"])
    told = savings(visit.relay.store, f"thread/{thread.thread_id}").told()
    header = threads.header(visit.relay.store, thread.thread_id)
    state = address("threads", thread.thread_id, "state")
    numbers = figures(
        [
            ("State", e("a", f"v{header['version']}", href=state)),
            ("Artifacts", f"{told['artifacts']:,}"),
            ("Calls", f"{told['invocations']:,}"),
            ("From memory", f"{told['cache_hits']:,}"),
            ("Tokens avoided", f"{told['avoided_tokens']:,}"),
        ]
    )
    made = e("p", "Made by ", actor(thread.created_by), " on ", when(thread.created_at), e("code", thread.thread_id),
             class_="made")  # fmt: skip
    found = latest(visit.relay.store, thread.thread_id, _LATEST_EVENTS)
    all_events = e("p", e("a", "All events", href=address("threads", thread.thread_id, "events"), class_="more"))
    events = section(
        "Latest events",
        events_list(thread.thread_id, found, is_live=True),
        all_events,
        note=by_agents("as they happen"),
    )
    content = e("div", made, numbers, tokens_section(visit, thread.thread_id, told), _known(header, state), events)
    return framed(visit, "Overview", content, scripts=("events.js",))


def _known(header: dict[str, Any], state: str) -> Element:
    """The header of the state: what agents are given of it."""
    parts = [part for member, *rest in _SECTIONS if (part := _listed(header[member], *rest)) is not None]
    shown: Child = e("div", parts, class_="columns") if parts else e("p", "Nothing has been noted yet.", class_="empty")
    cut = (
        e("p", "Not all of the state is here: ", e("a", "see the whole", href=state)) if "truncated" in header else None
    )
    return section("What agents are told", shown, cut, note=by_agents("the header of the state"), id="known")


def _listed(items: list[dict[str, Any]], title: str, first: str, said: str) -> Child:
    if not items:
        return None
    rows = [e("li", _lead(item.get(first)), " ", e("bdi", value_text(item.get(said, "")))) for item in items]
    return e("div", e("h3", title), e("ul", rows, class_="plain"))


def _lead(value: Any) -> Child:
    return e("strong", e("bdi", value_text(value))) if value else None
