"""What capabilities of the relay are handed: the relay, and who asks it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tersely.relay.relay import Relay


@dataclass(frozen=True, slots=True)
class RelayContext:
    """One question to a relay: the agent that asks, and the key under which a repetition happens once."""

    relay: Relay
    agent: str
    key: str = ""
    expected: str = ""  # the version of a state that a change is for, "" for any
