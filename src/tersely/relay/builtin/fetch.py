"""`http.fetch`: a page of the internet as an artifact."""

from __future__ import annotations

from tersely.foundation.errors import TerselyError
from tersely.foundation.network.fetch import fetch
from tersely.relay.policy import CapabilityReach, Policy
from tersely.relay.services.calls import Call, Given, Offer, Scope

NAME = "http.fetch"
_KIND_OF_MIME = {"text/html": "html", "application/json": "json", "text/markdown": "markdown"}


def offer(policy: Policy) -> Offer:
    """The capability under a policy. Pages are remembered for a while."""

    def run(call: Call) -> Given:
        url = call.arguments.get("url")
        if not isinstance(url, str):
            raise TerselyError(
                "invalid_argument", "url: where to fetch from", 'as {"url": "https://example.org/"}'
            )
        page = fetch(url, policy.private_hosts)
        return Given([page.body], _KIND_OF_MIME.get(page.mime, ""), page.url[-200:], page.mime)

    return Offer(
        NAME,
        "Fetch a page of the public internet; its body becomes an artifact",
        {
            "type": "object",
            "properties": {"url": {"type": "string", "format": "uri"}},
            "required": ["url"],
        },
        run,
        reach=CapabilityReach.NETWORK,
        scope=lambda call: Scope("internet", ""),
        remembered_seconds=300,
    )
