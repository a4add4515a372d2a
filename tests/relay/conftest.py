"""A relay's store of the test's own, on each engine, and a clock that the test moves."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any
from zlib import crc32

import pytest
from tests.own_postgres import Server

from tersely.relay.store.store import Store

ENGINES = ("sqlite", pytest.param("postgresql", marks=pytest.mark.slow))
Opening = Callable[..., Store]  # of a home, again for the same and anew for another


class Clock:
    """Seconds since 1970, as the test says."""

    def __init__(self) -> None:
        self.seconds = 1_700_000_000.0

    def __call__(self) -> float:
        return self.seconds


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture(scope="session")
def postgres() -> Iterator[Server]:
    """A server for all tests of this process, started for the first that wants it."""
    server = Server()
    yield server
    server.close()


@pytest.fixture(params=ENGINES)
def opening(request: pytest.FixtureRequest) -> Opening:
    """How a store of a home is opened: on SQLite, and in a tenant of PostgreSQL that no other test
    has.
    """
    if request.param == "sqlite":
        return Store.open
    server: Server = request.getfixturevalue("postgres")
    return partial(_open_shared, server.url, f"t{secrets.token_hex(8)}")


def _open_shared(url: str, tenant: str, home: Path, **given: Any) -> Store:
    """Two homes are two tenants, as two files would be."""
    return Store.open(home, url=url, tenant=f"{tenant}-{crc32(str(home).encode())}", **given)


@pytest.fixture
def store(opening: Opening, tmp_path: Path, clock: Clock) -> Iterator[Store]:
    with opening(tmp_path / "home", durable=False, clock=clock) as opened:
        yield opened
