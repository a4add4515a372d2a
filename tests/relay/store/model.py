"""What a store should remember, as plain dictionaries: the simplest thing that could be right."""

from __future__ import annotations

from collections.abc import Sequence
from copy import deepcopy
from dataclasses import dataclass, field

from tersely.foundation.limits import RECEIPT_SECONDS
from tersely.relay.store.commands import (
    Append,
    Attach,
    Cache,
    Command,
    Count,
    Detach,
    KeptBlob,
    StoreBatch,
    Write,
)


class RefusedError(Exception):
    """The code with which the store should refuse."""


@dataclass
class Model:
    """Everything that the verbs of a store can tell."""

    streams: dict[str, list[tuple[str, bytes]]] = field(default_factory=dict)
    documents: dict[str, list[bytes]] = field(default_factory=dict)
    blobs: dict[str, int] = field(default_factory=dict)  # when each was last wanted
    numbers: dict[str, int] = field(default_factory=dict)  # of attachments, by owner
    attachments: dict[tuple[str, str], tuple[int, str, bytes]] = field(default_factory=dict)
    cached: dict[str, tuple[bytes, int]] = field(default_factory=dict)
    counters: dict[tuple[str, str], int] = field(default_factory=dict)
    receipts: dict[str, tuple[int, bytes, tuple[int, ...]]] = field(default_factory=dict)

    def commit(self, batch: StoreBatch, now_ms: int) -> tuple[Model, tuple[int, ...]]:
        """The model after a batch, and what its commands give; raises `RefusedError`."""
        at_ms, fingerprint, given = self.receipts.get(batch.key, (0, b"", ()))
        if batch.key in self.receipts and now_ms - at_ms <= RECEIPT_SECONDS * 1000:
            if fingerprint != batch.fingerprint:
                raise RefusedError("key_reused")
            return self, given
        after, told = deepcopy(self), []
        for command in batch.commands:
            told.append(after.do(command, told, now_ms))
        if batch.key:
            after.receipts[batch.key] = (now_ms, batch.fingerprint, tuple(told))
        return after, tuple(told)

    def do(self, command: Command, given: Sequence[int], now_ms: int) -> int:
        """One command, in place."""
        match command:
            case Append(stream, kind, body):
                entries = self.streams.setdefault(stream, [])
                entries.append((kind, body if isinstance(body, bytes) else body(given)))
                return len(entries)
            case Write(document, edit, _, expected):
                bodies = self.documents.get(document, [])
                if expected is not None and expected != len(bodies):
                    raise RefusedError("version_conflict")
                self.documents[document] = [*bodies, edit(bodies[-1] if bodies else None).body]
                return len(bodies) + 1
            case KeptBlob(digest, size_bytes):
                self.blobs[digest] = now_ms
                return size_bytes
            case Attach() | Detach():
                return self._attachment(command)
            case Cache(key, body, expires_ms):
                self.cached[key] = (body, expires_ms)
                return len(body)
            case Count(scope, name, amount):
                self.counters[scope, name] = self.counters.get((scope, name), 0) + amount
                return self.counters[scope, name]

    def sweep(self, older_than_ms: int) -> int:
        """How many blobs go that nobody has."""
        used = {digest for _, digest, _ in self.attachments.values()}
        unused = [
            digest
            for digest, at_ms in self.blobs.items()
            if at_ms < older_than_ms and digest not in used
        ]
        for digest in unused:
            del self.blobs[digest]
        return len(unused)

    def remembered(self, key: str, now_ms: int) -> bytes | None:
        """An answer that has not expired."""
        body, expires_ms = self.cached.get(key, (b"", 0))
        return body if expires_ms > now_ms else None

    def _attachment(self, command: Attach | Detach) -> int:
        place = (command.owner, command.name)
        if isinstance(command, Detach):
            return int(self.attachments.pop(place, None) is not None)
        if command.digest not in self.blobs:
            raise RefusedError("artifact_not_found")
        if place not in self.attachments:
            number = self.numbers[command.owner] = self.numbers.get(command.owner, 0) + 1
            self.attachments[place] = (number, command.digest, command.body)
        return self.attachments[place][0]
