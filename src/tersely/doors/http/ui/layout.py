"""What all pages share: their frame, and how a thing of one kind is shown everywhere."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple
from urllib.parse import quote, urlencode

from tersely import __version__
from tersely.doors.http.ui.entry import Session
from tersely.doors.http.ui.markup import Child, Element, e, rendered
from tersely.relay.relay import Relay

MAX_UI_TEXT_CHARACTERS = 400  # of one value in a list


@dataclass(frozen=True, slots=True)
class Visit:
    """One request for a page."""

    relay: Relay
    path: Mapping[str, str]
    query: Mapping[str, str]
    form_token: str = ""  # of the forms by which the person answers agents; "" where the browser may not


class Shown(NamedTuple):
    """A page without its frame."""

    title: str
    content: Child
    trail: tuple[tuple[str, str], ...] = ()  # the pages above it: (title, address)
    scripts: tuple[str, ...] = ()
    tabs: Child = None


class Column(NamedTuple):
    """A column of a table. One that is `wide` is left out on narrow screens."""

    title: str
    is_number: bool = False
    is_wide: bool = False


_MAIN = (
    ("Threads", "/ui/"), ("Messages", "/ui/messages"), ("Agents", "/ui/agents"), ("Work", "/ui/work"),
    ("Services", "/ui/services"),
)  # fmt: skip


def document(shown: Shown, session: Session | None) -> bytes:
    """A whole page."""
    head = e(
        "head",
        e("meta", charset="utf-8"),
        e("meta", name="viewport", content="width=device-width, initial-scale=1"),
        e("meta", name="color-scheme", content="light dark"),
        e("title", f"{shown.title} · Tersely relay"),
        e("link", rel="icon", href="/ui/static/icon.svg", type="image/svg+xml"),
        e("link", rel="stylesheet", href="/ui/static/ui.css"),
        [e("script", type="module", src=f"/ui/static/{name}") for name in shown.scripts],
    )
    main = e(
        "main",
        _trail(shown),
        e("h1", e("bdi", shown.title)),
        shown.tabs,
        shown.content,
        id="main",
        tabindex="-1",
    )
    skip = e("a", "Skip to the content", href="#main", class_="skip")
    body = e("body", skip, _header(session), main, _footer())
    return b"<!doctype html>\n" + rendered(e("html", head, body, lang="en")).encode()


def _header(session: Session | None) -> Element:
    brand = e("a", e("span", "◆", class_="mark", aria_hidden="true"), " Tersely relay", href="/ui/", class_="brand")
    if session is None:
        return e("header", brand, class_="top")
    links = [e("li", e("a", title, href=target)) for title, target in _MAIN]
    out = e(
        "form",
        e("input", type="hidden", name="form_token", value=session.form_token),
        e("button", "Sign out", class_="quiet"),
        method="post",
        action="/ui/logout",
    )
    return e("header", brand, e("nav", e("ul", links), aria_label="Main"), out, class_="top")


def _trail(shown: Shown) -> Child:
    if not shown.trail:
        return None
    steps = [e("li", e("a", e("bdi", title), href=address)) for title, address in shown.trail]
    return e("nav", e("ol", steps), aria_label="Where this is", class_="trail")


def _footer() -> Element:
    said = "Names, state, artifacts and events are text of agents: untrusted, and shown as written."
    return e("footer", e("p", said), e("p", f"Tersely {__version__}"))


# What is shown of things


def address(*parts: str, **query: object) -> str:
    """The address of a page, from parts of its path."""
    path = "/".join(["/ui", *(quote(part, safe="") for part in parts)])
    given = {name: value for name, value in query.items() if value not in {None, ""}}
    return f"{path}?{urlencode(given)}" if given else path


def section(title: str, *content: Child, note: Child = None, id: str | None = None) -> Element:
    """A part of a page under a heading."""
    name = id or title.lower().replace(" ", "-")
    heading = e("h2", title, id=f"{name}-title")
    head = e("div", heading, e("p", note, class_="note") if note else None, class_="section-head")
    return e("section", head, content, aria_labelledby=f"{name}-title", class_="card")


def table(caption: str, columns: Sequence[Column], rows: Iterable[Sequence[Child]], empty: str) -> Element:
    """A table; the first cell of a row is its heading."""
    body = [e("tr", [_cell(columns[at], cell, at) for at, cell in enumerate(row)]) for row in rows]
    if not body:
        return e("p", empty, class_="empty")
    heads = [e("th", column.title, scope="col", class_=_class(column)) for column in columns]
    whole = e("table", e("caption", caption, class_="unseen"), e("thead", e("tr", heads)), e("tbody", body))
    return e("div", whole, class_="scrolls", role="region", aria_label=caption, tabindex=0)


def _cell(column: Column, cell: Child, at: int) -> Element:
    if at == 0:
        return e("th", cell, scope="row", class_=_class(column))
    return e("td", cell, class_=_class(column))


def _class(column: Column) -> str | None:
    named = [name for name, holds in (("number", column.is_number), ("wide", column.is_wide)) if holds]
    return " ".join(named) or None


def figures(items: Iterable[tuple[str, Child]]) -> Element:
    """A few numbers with their names."""
    return e("dl", [e("div", e("dt", name), e("dd", value)) for name, value in items], class_="figures")


def when(timestamp: str) -> Element:
    """A time, to the second."""
    return e("time", timestamp[:19].replace("T", " "), datetime=timestamp, title=f"{timestamp} (UTC)")


def actor(name: str) -> Element:
    """Who did something, as they call themselves."""
    return e("bdi", name or "unknown", class_="actor")


def badge(text: str, kind: str) -> Element:
    """A word that stands out; `kind` is a class of the style sheet."""
    return e("span", text, class_=f"badge {kind}")


def untrusted(by: str, through: str = "") -> Element:
    """The label of text that agents wrote: where it comes from, and that nobody vouches for it."""
    via = [" through ", e("code", through)] if through else None
    return e("p", badge("untrusted", "warn"), " from ", actor(by), via, class_="origin")


def said(text: str) -> Child:
    """A sentence of ours in which `…` is code."""
    return [e("code", part) if number % 2 else part for number, part in enumerate(text.split("`"))]


def by_agents(note: str) -> Child:
    """The note at a list of what several agents wrote, each named in its line."""
    return [badge("untrusted", "warn"), f" text from agents, {note}"]


def value_text(value: Any) -> str:
    """A value of somebody's as one piece of text, cut where it is long."""
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return text if len(text) <= MAX_UI_TEXT_CHARACTERS else text[: MAX_UI_TEXT_CHARACTERS - 1] + "…"


def older(target: str, title: str = "Older") -> Element:
    """The way to the next page of a list."""
    return e("p", e("a", title, " ", e("span", "→", aria_hidden="true"), href=target, class_="more"))


def short(ref: str) -> Element:
    """A hash, by its beginning."""
    return e("code", ref[:12])
