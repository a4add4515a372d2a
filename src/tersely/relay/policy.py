"""The policy for agents: bounds, who may call what, and how often. Read from one file,
`config.toml` in the relay's home.

Bounds answer and never drop: whoever goes beyond one is told which, by how much, and when to come
back.
"""

from __future__ import annotations

import tomllib
from collections import Counter, OrderedDict
from collections.abc import Callable, Iterable, Mapping
from enum import StrEnum
from fnmatch import fnmatchcase
from pathlib import Path
from threading import Lock
from typing import Annotated

import msgspec

from tersely.foundation.clock import elapsed_seconds
from tersely.foundation.errors import TerselyError
from tersely.foundation.limits import DEFAULT_NOTE_CHARACTERS, MAX_SETTINGS_BYTES
from tersely.foundation.storage.private import read_bounded
from tersely.foundation.types import JsonObject, Strings, field, fields, frozen

DEFAULT_PAYLOAD_BYTES = 16_384
DEFAULT_HOPS = 50
MAX_RATED_ACTORS = 10_000  # whose calls are counted; the longest silent are forgotten
CONFIG = "config.toml"
HELD_CODES = frozenset({"turn_limit", "rate_limited", "hop_limit"})
_EVERYBODY = "*"
_GONE = frozenset({"thread_turns", "thread_tokens"})  # settings that bound nothing any more
_Positive = Annotated[int, msgspec.Meta(ge=1)]


class CapabilityReach(StrEnum):
    """The things that a capability touches beside what it answers."""

    READ = "read"
    WRITE = "write"
    NETWORK = "network"
    EXECUTE = "execute"


# Who may call what nobody has said anything about.
_DEFAULT_ALLOWED = {
    CapabilityReach.READ: True,
    CapabilityReach.WRITE: True,
    CapabilityReach.NETWORK: False,
    CapabilityReach.EXECUTE: False,
}


@frozen
class Policy:
    """The decisions, all made. A rule of `allow` or `deny` is a pattern of capabilities and the
    agents it is about.
    """

    payload_bytes: _Positive = DEFAULT_PAYLOAD_BYTES  # of one request but an artifact's
    note_characters: _Positive = DEFAULT_NOTE_CHARACTERS
    hops: _Positive = DEFAULT_HOPS  # calls that may lead from one to the next
    turns: _Positive = 100  # answers between two agents without a person
    thread_programs: _Positive = 64  # that agents start in one thread and day (UTC)
    calls_per_minute: _Positive = 600  # of one agent
    # of one agent, in one channel; its questions to the relay, to each service
    messages_per_minute: _Positive = 6_000
    artifact_bytes: _Positive = 4_000_000_000
    cache_seconds: _Positive = 86_400  # the longest that any answer is remembered
    trusted_hosts: Strings = ()  # names by which `up --listen` may be asked; any without
    trusted_proxies: Strings = ()  # addresses whose `X-Forwarded-For` is believed
    # that `http.fetch` may reach though they are not of the public internet
    private_hosts: Strings = ()
    allow: Mapping[str, Strings] = field(default_factory=dict)
    deny: Mapping[str, Strings] = field(default_factory=dict)

    def check_call(self, capability: str, reach: CapabilityReach, actor: str) -> None:
        """Raise `denied` unless the agent may call the capability. What is denied is denied,
        whatever allows it.
        """
        if _applies(self.deny, capability, actor):
            raise TerselyError(
                "denied", f"{capability} is denied to {actor}", f"{CONFIG} says so under [deny]"
            )
        if not _DEFAULT_ALLOWED[reach] and not _applies(self.allow, capability, actor):
            hint = f'the owner may add to {CONFIG}: [allow] "{capability}" = ["{actor}"]'
            raise TerselyError(
                "denied", f"{capability} reaches beyond this machine's answers ({reach})", hint
            )

    def check_payload(self, size_bytes: int) -> None:
        """Raise `payload_too_large` for a request that ought to refer to an artifact instead."""
        if size_bytes > self.payload_bytes:
            message = f"a request has at most {self.payload_bytes:,} bytes, this one {size_bytes:,}"
            raise TerselyError(
                "payload_too_large", message, "store it as an artifact and send its reference"
            )

    def check_notes(self, notes: str) -> None:
        """Raise `invalid_envelope` for notes that ought to be an artifact instead."""
        if len(notes) > self.note_characters:
            message = f"notes have at most {self.note_characters} characters"
            raise TerselyError("invalid_envelope", message, "put more into an artifact")

    def check_hops(self, hops: int) -> None:
        """Raise `hop_limit` for a call that too many calls have led to: agents that call each other
        in a circle.
        """
        if hops > self.hops:
            raise TerselyError(
                "hop_limit",
                f"{hops} calls led to this one, {self.hops} may",
                "end the circle of calls",
            )

    def told(self) -> JsonObject:
        """The policy as it is shown."""
        told: JsonObject = msgspec.to_builtins(self)
        return told


def load(home: Path) -> Policy:
    """The policy of a home directory; the defaults where it says nothing; raises `invalid_setting`."""
    path = home / CONFIG
    try:
        content = read_bounded(path, MAX_SETTINGS_BYTES)
    except FileNotFoundError:
        return Policy()
    except OSError as error:
        raise TerselyError("unreadable_file", f"{path}: {error.strerror}") from error
    try:
        given = tomllib.loads(content.decode())
    except (ValueError, RecursionError) as error:
        raise TerselyError("invalid_setting", f"{path} is not TOML: {error}") from error
    known = [one.name for one in fields(Policy)]
    for name in given.keys() - _GONE:
        if name not in known:
            raise TerselyError(
                "invalid_setting",
                f"{path}: there is no setting {name!r}",
                f"known: {', '.join(known)}",
            )
    try:
        return msgspec.convert(given, Policy)
    except msgspec.ValidationError as error:
        raise TerselyError(
            "invalid_setting", f"{path}: {error}", 'as hops = 50, or [allow] "http.fetch" = ["*"]'
        ) from error


class HeldBack(Counter[str]):
    """The counts of what was held back, by the name that it was for."""

    def __init__(self) -> None:
        super().__init__()
        self.reasons: Counter[str] = Counter()  # the same, by the code that says why

    def note(self, why: TerselyError, names: Iterable[str]) -> None:
        """Count what was for some, where it was held back for its number rather than refused for
        what it is.
        """
        if why.code in HELD_CODES:
            self.update(names)
            self.reasons[why.code] += 1


class Rates:
    """The calls that each agent has left: a bucket that fills up over a minute, for as many agents
    as fit.
    """

    def __init__(self, calls_per_minute: int, clock: Callable[[], float] = elapsed_seconds) -> None:
        self._most = calls_per_minute
        self._clock = clock
        self._left: OrderedDict[str, tuple[float, float]] = OrderedDict()
        self._changing = Lock()

    def take(self, actor: str) -> None:
        """Use one call of an agent's; raises `rate_limited` with the seconds to wait."""
        with self._changing:
            now = self._clock()
            left, since = self._left.pop(actor, (float(self._most), now))
            left = min(float(self._most), left + (now - since) * self._most / 60)
            self._left[actor] = (left - 1 if left >= 1 else left, now)
            if len(self._left) > MAX_RATED_ACTORS:
                self._left.popitem(last=False)
        if left < 1:
            wait = (1 - left) * 60 / self._most
            message = f"{actor} asks or writes more than {self._most:,} times a minute"
            raise TerselyError("rate_limited", message, f"try again in {wait:.1f} s")


def _applies(rules: Mapping[str, Strings], capability: str, actor: str) -> bool:
    return any(
        fnmatchcase(capability, pattern) and (_EVERYBODY in who or actor in who)
        for pattern, who in rules.items()
    )
