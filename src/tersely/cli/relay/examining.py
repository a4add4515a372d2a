"""The checks of `doctor` on a relay that other machines use, or that this one has joined."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from tersely.cli.relay.addresses import TLS_FOLDER
from tersely.foundation.clock import wall_seconds
from tersely.foundation.errors import TerselyError
from tersely.foundation.network import certificates

LEAST_CERTIFICATE_DAYS = 14  # that are left when doctor says that there should be a new one
_DAY_SECONDS = 86_400

Finding = tuple[bool, str]


def examined_remote(home: Path) -> Iterator[Finding]:
    """Its certificate, what this machine has joined, and the last backup; nothing where none of
    them is there.
    """
    if (home / TLS_FOLDER / certificates.SERVER_FILE).exists():
        yield _examined_certificate(home / TLS_FOLDER / certificates.SERVER_FILE)
    yield from _examined_joined(home)
    yield from _examined_backup(home)


def _examined_certificate(path: Path) -> Finding:
    try:
        left = (certificates.valid_until(path).timestamp() - wall_seconds()) / _DAY_SECONDS
    except TerselyError as error:
        return False, f"{error}; {error.hint}"
    what = f"certificate {path} holds for {left:.0f} days"
    return (
        (True, what)
        if left > LEAST_CERTIFICATE_DAYS
        else (False, f"{what}; `tersely relay ca` makes a new one")
    )


def _examined_joined(home: Path) -> Iterator[Finding]:
    from tersely.client import ask
    from tersely.client.gateway import joining
    from tersely.client.gateway.requests import waiting

    try:
        membership = joining.load(home)
        if membership is None:
            return
        joining.once(membership, ask.version())
    except TerselyError as error:
        yield False, f"{error}; {error.hint}"
    else:
        yield True, f"{membership.url} answers {membership.identity}"
    count = waiting(home)
    if count:
        yield False, f"{count:,} messages wait for the relay; they are sent when it is there"


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
