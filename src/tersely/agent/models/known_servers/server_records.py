"""The records of servers, kept for the next start: `model-servers.json`, which only the user can
read.
"""

from __future__ import annotations

import json
import time
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from tersely.agent.models.dialects.answers import table
from tersely.agent.models.protocol import Abilities
from tersely.agent.models.served import KnownModel
from tersely.foundation.storage.files import write_private
from tersely.foundation.storage.private import (
    READING,
    make_state,
    read_bounded,
    state_directory,
)
from tersely.foundation.types import Environment, JsonObject

FILE = "model-servers.json"
VERSION = 3  # of the file; another one is not read
MAX_SERVERS = 50  # that are remembered, the newest
MAX_SERVER_MODELS = 50  # of each
MAX_RECORDS_BYTES = 1_000_000
MAX_MODEL_NAME_CHARACTERS = 300  # a longer name is not remembered
RECORD_SECONDS = 30 * 86_400  # after which a server is tried again


class Interface(NamedTuple):
    """The interface of a server: its kind, and the base of its paths."""

    kind: str
    prefix: str


class ServerRecords:
    """Servers by the URL and the kind that they were asked for with. A file that cannot be used is
    as none.
    """

    def __init__(self, path: Path | None, servers: JsonObject) -> None:
        self._path = path
        self._servers = servers

    @classmethod
    def load(cls, environment: Environment) -> ServerRecords:
        """The records in the user's state directory."""
        directory = state_directory(environment)
        path = Path(directory) / FILE if directory else None
        return cls(path, _servers_in(path))

    def interface(self, server: str) -> Interface | None:
        """The interface by which a server was spoken to, None where that is not known any more."""
        found = self._servers.get(server, {})
        try:
            is_new = 0 <= time.time() - found["at"] < RECORD_SECONDS
            return Interface(str(found["kind"]), str(found["prefix"])) if is_new else None
        except (KeyError, TypeError):
            return None

    def known(self, server: str, model: str) -> KnownModel | None:
        """The record of a model of a server."""
        try:
            kept = self._servers[server]["models"][model]
            refused = frozenset(map(str, kept["refused"]))
            return KnownModel(Abilities(**kept["abilities"]), refused, str(kept["fingerprint"]))
        except (KeyError, TypeError, AttributeError):
            return None

    def keep(self, server: str, interface: Interface, known: KnownModel) -> None:
        """Remember a model of a server. Where nothing can be kept, it is found out again the next
        time.
        """
        if len(known.abilities.model) > MAX_MODEL_NAME_CHARACTERS:
            return
        servers = _servers_in(self._path)  # another process may have added one
        models = dict(table(table(servers.pop(server, None)).get("models")))
        models.pop(known.abilities.model, None)
        models[known.abilities.model] = {
            "abilities": known.abilities._asdict(), "refused": sorted(known.refused), "fingerprint": known.fingerprint,
        }  # fmt: skip
        servers[server] = {
            "at": time.time(), "kind": interface.kind, "prefix": interface.prefix,
            "models": _newest(models, MAX_SERVER_MODELS),
        }  # fmt: skip
        self._servers = _newest(servers, MAX_SERVERS)
        if self._path is None:
            return
        with suppress(OSError):
            kept = {"version": VERSION, "servers": self._servers}
            make_state(str(self._path.parent))
            write_private(self._path, json.dumps(kept).encode())


def _newest(entries: JsonObject, most: int) -> JsonObject:
    return dict(list(entries.items())[-most:])


def _servers_in(path: Path | None) -> JsonObject:
    if path is None:
        return {}
    try:
        kept = json.loads(read_bounded(path, MAX_RECORDS_BYTES, READING))
        servers = kept["servers"] if kept["version"] == VERSION else {}
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return {}
    return servers if isinstance(servers, dict) else {}
