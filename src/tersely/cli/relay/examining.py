"""The checks of `doctor` on a relay that other machines use, or that this one has joined."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from tersely.foundation.clock import wall_seconds
from tersely.foundation.errors import TerselyError

_DAY_SECONDS = 86_400

Finding = tuple[bool, str]


def examined_remote(home: Path) -> Iterator[Finding]:
    """What this machine has joined, and the last backup; nothing where neither is there."""
    yield from _examined_joined(home)
    yield from _examined_backup(home)
    yield from _examined_stamps(home)


def _examined_joined(home: Path) -> Iterator[Finding]:
    from tersely.client import ask, joining
    from tersely.doors.gateway.requests import waiting

    try:
        membership = joining.load(home)
        if membership is None:
            return
        joining.once(membership, ask("version"))
    except TerselyError as error:
        yield False, f"{error}; {error.hint}"
    else:
        yield True, f"{membership.url} answers {membership.identity}"
    count = waiting(home)
    if count:
        yield False, f"{count:,} messages wait for the relay; they are sent when it is there"


def _examined_stamps(home: Path) -> Iterator[Finding]:
    from tersely.relay.relay import ahead_ms

    try:
        days = ahead_ms(home) / 1000 / _DAY_SECONDS
    except TerselyError:  # the check of the database says why
        return
    if days:
        yield (
            True,
            f"stamps lie {days:.1f} days ahead, from when the clock was wrong; new ones do not",
        )


def _examined_backup(home: Path) -> Iterator[Finding]:
    from tersely.relay.relay import backup

    found = backup.last(home)
    if found is None:
        return
    at, path = found
    days = (wall_seconds() - at) / _DAY_SECONDS
    is_there = path.exists()
    yield (
        is_there,
        f"backup of {days:.0f} days ago in {path}"
        if is_there
        else f"the last backup is not at {path}",
    )
