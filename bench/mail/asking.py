"""An agent that asks relays by HTTP, however often they are away."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tersely.client import Client
from tersely.foundation.errors import TerselyError

AWAY_SECONDS = 60  # relays that do not come back within it fail the run
_AWAY = frozenset(
    {
        "daemon_unavailable",
        "daemon_not_running",
        "timed_out",
        "busy",
        "database_unavailable",
        "database_locked",
    }
)
_RETRY_SECONDS = 0.02
_ANSWER_SECONDS = 10


class Asker:
    """One name. Whenever one relay does not answer it goes to the next."""

    def __init__(self, name: str, homes: Sequence[Path], at: int = 0) -> None:
        self._name = name
        self._homes = homes
        self._at = at % len(homes)
        self._client: Client | None = None
        self._asked = 0

    def ask(self, capability: str, **arguments: Any) -> Any:
        """What is answered, to the same question under the same key until it is; raises what
        refuses it.
        """
        self._asked += 1
        gives_up = time.monotonic() + AWAY_SECONDS
        while True:
            try:
                self._client = self._client or Client.local(
                    self._name, self._homes[self._at], seconds=_ANSWER_SECONDS
                )
                return self._client.ask(capability, idempotency_key=f"{self._asked}", **arguments)
            except TerselyError as error:
                if error.code not in _AWAY or time.monotonic() > gives_up:
                    raise
            self.close()
            self._at = (self._at + 1) % len(self._homes)
            time.sleep(_RETRY_SECONDS)

    def close(self) -> None:
        """Hang up."""
        if self._client is not None:
            self._client.close()
            self._client = None
