"""The relay's part in a question about code: artifacts that it refers to, and answers that are
kept.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tersely.capabilities.declaration.references import Referred
from tersely.foundation.types import JsonObject

if TYPE_CHECKING:
    from tersely.client import Client

OUTPUT = "output"
HYBRID = "hybrid"  # what it says where only large pieces are kept
_AGENT = "cli"


def fetch(ref: str) -> Referred:
    """The artifact that a reference means; raises `daemon_not_running`, `artifact_not_found`,
    `ambiguous_artifact`.
    """
    with _connected(_AGENT) as relay:
        from tersely.client.cassettes import referred

        return referred(relay, ref)


def keep(text: str, name: str, tokens: int, agent: str = _AGENT) -> JsonObject:
    """Keep an answer in the relay; raises `daemon_not_running`."""
    with _connected(agent) as relay:
        from tersely.client.cassettes import kept

        return kept(relay, text, name, tokens)


def _connected(agent: str) -> Client:
    from tersely.client import Client

    return Client.local(agent)
