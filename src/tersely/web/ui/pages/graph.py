"""The calls around a symbol of a repository, as a picture and as a list."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from tersely.foundation.errors import TerselyError
from tersely.foundation.limits import MAX_DRAWN_EDGES
from tersely.web.ui.layout import AskCode, Column, Shown, Visit, address, badge, field, said, section, table
from tersely.web.ui.markup import Child, Element, e
from tersely.web.ui.pictures.callgraph import Edge, callgraph

_VIEWS = (("calls", "Callers and callees"), ("impact", "What a change reaches"))
_DEPTHS = ("1", "2", "3")
_GRADES = {"exact": "good", "inferred": "muted", "by-name": "warn"}


def graph_page(visit: Visit) -> Shown:
    """The form, and what it asks for."""
    root = visit.query.get("root", "") or visit.workspace
    symbol = visit.query.get("symbol", "").strip()
    view = visit.query.get("view") if visit.query.get("view") in dict(_VIEWS) else "calls"
    depth = visit.query.get("depth") if visit.query.get("depth") in _DEPTHS else "1"
    assert view is not None
    assert depth is not None
    form = section("Which symbol", _form(root, symbol, view, depth), id="ask")
    if not (root and symbol):
        return Shown("Call graph", form)
    assert visit.ask_code is not None
    try:
        found = _asked(visit.ask_code, root, symbol, view, int(depth))
    except TerselyError as error:
        return Shown("Call graph", e("div", form, _failed(error, root, view, depth)))
    return Shown("Call graph", e("div", form, _drawn(found, root, view, depth)), scripts=("graph.js",))


def _asked(ask: AskCode, root: str, symbol: str, view: str, depth: int) -> Mapping[str, Any]:
    arguments: dict[str, Any] = {"symbol": symbol, "depth": depth, "limit": MAX_DRAWN_EDGES}
    if view == "calls":
        arguments["external"] = False
    return ask(root, f"code.{view}", arguments)


def _form(root: str, symbol: str, view: str, depth: str) -> Element:
    views = [e("option", title, value=name, selected=name == view) for name, title in _VIEWS]
    depths = [e("option", one, value=one, selected=one == depth) for one in _DEPTHS]
    return e(
        "form",
        field("symbol", "Symbol", e("input", id="symbol", name="symbol", value=symbol, required=True, maxlength=500,
                                     placeholder="Session.validate", autocomplete="off", spellcheck="false")),
        field("root", "Repository", e("input", id="root", name="root", value=root, required=True, maxlength=1000,
                                       autocomplete="off", spellcheck="false")),
        field("view", "Show", e("select", views, id="view", name="view")),
        field("depth", "Calls to follow", e("select", depths, id="depth", name="depth")),
        e("button", "Draw"),
        method="get",
        action="/ui/graph",
        class_="fields",
    )  # fmt: skip


def _failed(error: TerselyError, root: str, view: str, depth: str) -> Element:
    """Why there is no picture; where a name means several symbols, each is a link."""
    before: list[Child] = []
    candidates: list[Child] = []
    after: list[Child] = []
    for line in error.hint.split("\n"):
        name, is_candidate, _ = line.strip().rpartition(" (")
        if line.startswith("  ") and is_candidate and ":" in name:
            target = address("graph", symbol=name, root=root, view=view, depth=depth)
            candidates.append(e("li", e("a", e("bdi", line.strip()), href=target)))
        else:
            (after if candidates else before).append(e("p", said(line.strip()), class_="note"))
    listed = e("ul", candidates, class_="plain") if candidates else None
    return section("No picture", e("p", error.message), before, listed, after, id="failed")


def _drawn(found: Mapping[str, Any], root: str, view: str, depth: str) -> Element:
    center = str(found["symbol"])
    edges = list(_edges(found))
    if not edges:
        return section(
            "The picture", e("p", "Nothing calls it, and it calls nothing here.", class_="empty"), id="drawn"
        )

    def target(symbol: str) -> str:
        return address("graph", symbol=symbol, root=root, view=view, depth=depth)

    picture, left_out = callgraph(center, edges, target)
    legend = e("ul", [e("li", e("span", class_=f"swatch edge-{grade}", aria_hidden="true"), said) for grade, said in (
        ("exact", "exact"), ("inferred", "inferred from types and values"), ("by-name", "by name alone"))],
        class_="legend")  # fmt: skip
    cut = e("p", f"{left_out:,} symbols have no room in the picture; the list below has them.", class_="note")
    columns = (Column("Caller"), Column("Callee"), Column("Found"), Column("Lines", is_wide=True))
    rows = [_row(edge, target) for edge in edges]
    listed = e("details", e("summary", f"The same as a list: {len(edges):,} calls"), table("Calls", columns, rows, ""))
    return section("The picture", legend, picture, cut if left_out else None, listed,
                   note=e("code", e("bdi", center)), id="drawn")  # fmt: skip


def _row(edge: Edge, target: Any) -> list[Child]:
    lines = ", ".join(map(str, edge.lines[:8])) + (" …" if len(edge.lines) > 8 else "")
    ends = [e("a", e("bdi", end), href=target(end)) for end in (edge.caller, edge.callee)]
    return [*ends, badge(edge.grade.replace("-", " "), _GRADES.get(edge.grade, "muted")), lines]


def _edges(found: Mapping[str, Any]) -> Iterator[Edge]:
    for side, sign in (("callers", -1), ("callees", 1)):
        for one in (found[side] or {}).get("items", ()):
            grade = str(one["grade"]).replace("_", "-")
            yield Edge(one["caller"], one["callee"], grade, tuple(one["lines"]), sign * int(one["depth"]))
