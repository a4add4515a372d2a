"""`retrieval.search`: the artifacts of a thread by their words."""

from __future__ import annotations

from dataclasses import asdict

from tersely.foundation.errors import TerselyError
from tersely.relay.artifacts import finding
from tersely.relay.encoding import encode
from tersely.relay.services.calls import Call, Given, Offer, Scope
from tersely.relay.store.store import Store

DEFAULT_FOUND_ARTIFACTS = 10
MAX_FOUND_ARTIFACTS = 100
NAME = "retrieval.search"


def offer(store: Store) -> Offer:
    """The capability over the threads of a store. An answer holds until something happens in its
    thread.
    """

    def run(call: Call) -> Given:
        query = call.arguments.get("query")
        limit = call.arguments.get("limit", DEFAULT_FOUND_ARTIFACTS)
        if not isinstance(query, str) or not query.strip():
            raise TerselyError(
                "invalid_argument", "query: words to look for", 'as {"query": "token budget"}'
            )
        if type(limit) is not int or not 1 <= limit <= MAX_FOUND_ARTIFACTS:
            raise TerselyError(
                "invalid_argument", f"limit: a whole number from 1 to {MAX_FOUND_ARTIFACTS}"
            )
        found = finding.search(store, call.thread_id, query, limit)
        told = {"count": len(found.results), **asdict(found)}
        return Given([encode(told)], "json", NAME, is_searched=False)

    def scope(call: Call) -> Scope:
        return Scope(call.thread_id, str(finding.searched_version(store, call.thread_id)))

    return Offer(
        NAME,
        "Full-text search over the artifacts of the thread, with snippets",
        {
            "type": "object",
            "properties": {
                "query": {"type": "string", "description": "words to look for"},
                "limit": {"type": "integer", "minimum": 1, "maximum": MAX_FOUND_ARTIFACTS},
            },
            "required": ["query"],
        },
        run,
        scope=scope,
    )
