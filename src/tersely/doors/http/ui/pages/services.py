"""The services of the relay: who can be asked what, how often they were, how long it took, what went wrong."""

from __future__ import annotations

from tersely.doors.http.ui.layout import Column, Shown, Visit, badge, by_agents, section, table, value_text
from tersely.doors.http.ui.markup import Child, e
from tersely.foundation.limits import UI_PAGE_ROWS
from tersely.relay.services.declared import Declared, capability
from tersely.relay.services.figures import Series
from tersely.relay.services.services import Services

_SERVICES = (
    Column("Service"),
    Column("Version"),
    Column("How"),
    Column("Methods", True),
    Column("Where", is_wide=True),
)
_FIGURES = (
    Column("Method"), Column("Questions", True), Column("Half within", True), Column("95 % within", True),
    Column("Failures", True), Column("As a capability", True, True), Column("From memory", True, True),
)  # fmt: skip
_MS = 1000


def services_page(visit: Visit) -> Shown:
    """Who there is, and the figures since the relay was started."""
    services = visit.relay.services
    found = services.listed()
    listed = table("Services, by name", _SERVICES, map(_row, found), "There are no services.")
    asked = services.figures.series()
    rows = [_figures(services, service, method, one) for service, method, one in asked[:UI_PAGE_ROWS]]
    nothing = "Nobody has asked a service since the relay was started. `tersely services call` does."
    figures = table("Questions, by service and method", _FIGURES, rows, nothing)
    note = f"since the relay was started; {len(asked):,} methods. GET /metrics has more."
    told = by_agents("what services say of themselves")
    return Shown(
        "Services", e("div", section("Who can be asked", listed, note=told), section("Figures", figures, note=note))
    )


def _row(service: Declared) -> list[Child]:
    return [
        e("bdi", service.name),
        e("bdi", value_text(service.version)),
        badge(service.how, "good"),
        f"{len(service.methods):,}",
        e("bdi", service.place),
    ]


def _figures(services: Services, service: str, method: str, series: Series) -> list[Child]:
    calls, hits = services.hits(capability(service, method))
    failures = ", ".join(f"{code} {count:,}" for code, count in series.failures.most_common())
    return [
        e("bdi", f"{service} {method}"),
        f"{series.total:,}",
        _within(series.quantile(0.5)),
        _within(series.quantile(0.95)),
        e("bdi", failures or "none"),
        f"{calls:,}",
        f"{hits:,}",
    ]


def _within(seconds: float | None) -> str:
    return "longer" if seconds is None else f"{seconds * _MS:g} ms"
