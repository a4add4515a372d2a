"""The services of the relay: who can be asked what, how often they were, how long it took, what
went wrong.
"""

from __future__ import annotations

from tersely.doors.http.ui.rendering import ShownPage, Visit
from tersely.foundation.limits import UI_PAGE_ROWS
from tersely.foundation.types import JsonObject
from tersely.relay.services.declared import capability
from tersely.relay.services.figures import Series
from tersely.relay.services.services import KnownServices

_MS = 1000


def services_page(visit: Visit) -> ShownPage:
    """The page of the services, with the figures since the relay was started."""
    services = visit.relay.services
    asked = services.figures.series()
    values = {
        "found": services.listed(),
        "rows": [
            _row(services, service, method, one) for service, method, one in asked[:UI_PAGE_ROWS]
        ],
        "note": f"since the relay was started; {len(asked):,} methods. GET /metrics has more.",
    }
    return ShownPage("Services", "relay/services.html", values)


def _row(services: KnownServices, service: str, method: str, series: Series) -> JsonObject:
    calls, hits = services.hits(capability(service, method))
    return {
        "name": f"{service} {method}",
        "total": series.total,
        "half": _within(series.quantile(0.5)),
        "most": _within(series.quantile(0.95)),
        "failures": ", ".join(f"{code} {count:,}" for code, count in series.failures.most_common()),
        "calls": calls,
        "hits": hits,
    }


def _within(seconds: float | None) -> str:
    return "longer" if seconds is None else f"{seconds * _MS:g} ms"
