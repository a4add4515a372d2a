"""Commands that keep what the relay has somewhere else, and put it back."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tersely.capabilities.declaration.declaration import option, positional
from tersely.cli.own_command import CommandCall, command
from tersely.foundation.errors import TerselyError
from tersely.foundation.types import JsonObject
from tersely.relay.wire.home import LOCK, home_directory


@command("backup")
def _backup(
    asked: CommandCall,
    *,
    file: str = positional(
        "where to write it; in a directory, a new file each time", metavar="FILE"
    ),
    keep: int = option(
        0, "in a directory, remove all but this many (default: none)", minimum=0, maximum=10_000
    ),
) -> JsonObject:
    """Write all that the relay keeps to a file, while it runs."""
    from tersely.relay.relay import backup

    path = backup.write(home_directory(), Path(file), keep, _database())
    size = path.stat().st_size
    return {"path": str(path), "size": size, "text": f"{path}  {size:,} bytes\n"}


@command("restore")
def _restore(
    asked: CommandCall,
    *,
    file: str = positional("what backup has written", metavar="FILE"),
) -> JsonObject:
    """Put a backup into a home without a store, or into the empty database of TERSELY_STORE."""
    from tersely.relay.relay import backup

    with _own_home() as home:
        backup.restore(Path(file), home, _database())
    return {"home": str(home), "text": f"{home} is as it was; tersely up starts its relay\n"}


def _database() -> str:
    """The address of the database that has the store; empty where the home has it itself."""
    from tersely.foundation import settings

    url = settings.load(home_directory()).store
    return "" if url == "none" else url


@contextmanager
def _own_home() -> Iterator[Path]:
    """The home, which no relay serves meanwhile; raises `name_taken` where one does."""
    from tersely.foundation.process.lockfile import held
    from tersely.relay.relay import make_home

    home = home_directory()
    make_home(home)
    try:
        with held(str(home / LOCK)):
            yield home
    except BlockingIOError:
        raise TerselyError(
            "name_taken", f"a relay serves {home}", "tersely down, then again"
        ) from None
