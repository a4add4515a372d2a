"""The state of a thread at any version, what each version changed, and who changed it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from tersely.doors.http.ui.layout import (
    Column,
    Shown,
    Visit,
    actor,
    address,
    badge,
    older,
    section,
    table,
    value_text,
    when,
)
from tersely.doors.http.ui.markup import Child, Element, e
from tersely.doors.http.ui.pages.frame import framed
from tersely.foundation.limits import UI_PAGE_ROWS
from tersely.relay import threads
from tersely.relay.state import LISTS
from tersely.relay.threads import read_state_ref

_SHOWN_OPERATIONS = 100


def state_page(visit: Visit) -> Shown:
    """One version, what it changed, and the list of all."""
    store, thread_id = visit.relay.store, visit.path["thread_id"]
    wanted = visit.query.get("version", "")
    state = threads.state(store, thread_id, read_state_ref(wanted) if wanted else None)
    version = state["version"]
    (made,) = threads.history(store, thread_id, version + 1, 1)
    parts = [part for name in LISTS if (part := _list(name, state[name])) is not None]
    held: Child = parts or e("p", "It is empty.", class_="empty")
    content = e(
        "div",
        section(
            f"Version {version}",
            e(
                "p",
                badge("untrusted", "warn"),
                " text from agents, changed last by ",
                actor(made["by"]),
                class_="origin",
            ),
            held,
            note=["changed ", when(made["at"])],
            id="version",
        ),
        _change(version, made) if version > 1 else None,
        _history(visit, thread_id, version),
    )
    return framed(visit, "State", content)


def _list(name: str, items: list[dict[str, Any]]) -> Child:
    """One list of the state, as a table of the members that its items have."""
    if not items:
        return None
    members = list(dict.fromkeys([*(m for m in LISTS[name] if any(m in item for item in items)),
                                  *(member for item in items for member in item)]))  # fmt: skip
    shown = members[:8]
    columns = [Column(member) for member in shown]
    rows = [[e("bdi", value_text(item.get(member, ""))) for member in shown] for item in items[-UI_PAGE_ROWS:]]
    left = len(items) - len(rows)
    title = name.replace("_", " ").capitalize()
    cut = e("p", f"{left:,} older ones are not shown.", class_="note") if left else None
    return e("div", e("h3", title, " ", e("small", f"{len(items):,}")), table(title, columns, rows, ""), cut)


def _change(version: int, made: dict[str, Any]) -> Element:
    operations = [one for one in made["operations"] if isinstance(one, Mapping)]
    rows = [_operation(one) for one in operations[:_SHOWN_OPERATIONS]]
    rest = len(operations) - len(rows)
    left = e("p", f"{rest:,} more operations are not shown.", class_="note") if rest else None
    return section(
        f"What version {version} changed",
        e("ul", rows, class_="operations", aria_label="Operations of the patch"),
        left,
        note=["a patch by ", actor(made["by"])],
        id="change",
    )


def _operation(one: Mapping[str, Any]) -> Element:
    source = [" from ", e("code", e("bdi", str(one["from"])))] if "from" in one else None
    value = e("code", e("bdi", value_text(one["value"])), class_="value") if "value" in one else None
    name = str(one.get("op"))
    return e("li", badge(name, f"op-{name}" if name.isalpha() else ""), " ",
             e("code", e("bdi", str(one.get("path")))), source, value)  # fmt: skip


def _history(visit: Visit, thread_id: str, shown: int) -> Element:
    text = visit.query.get("before", "")
    before = read_state_ref(text) if text else None
    found = threads.history(visit.relay.store, thread_id, before, UI_PAGE_ROWS)
    columns = (Column("Version"), Column("When", is_wide=True), Column("By"), Column("Changes"))
    rows = list(_versions(thread_id, found, shown))
    target = address("threads", thread_id, "state", version=shown, before=found[-1]["version"]) if found else ""
    more = older(target) if len(found) == UI_PAGE_ROWS else None
    return section("History", table("Versions of the state, the newest first", columns, rows, "There is none."), more)


def _versions(thread_id: str, found: list[dict[str, Any]], shown: int) -> Iterator[list[Child]]:
    for one in found:
        version = one["version"]
        target = address("threads", thread_id, "state", version=version)
        mark = [" ", badge("shown", "good")] if version == shown else None
        link = [e("a", one["state_ref"], href=target, aria_current="true" if mark else None), mark]
        paths = [f"{item.get('op')} {item.get('path')}" for item in one["operations"] if isinstance(item, Mapping)]
        said = value_text(", ".join(paths[:6]) + (" …" if len(paths) > 6 else "")) if paths else "the thread was made"
        yield [link, when(one["at"]), actor(one["by"]), e("bdi", said)]
