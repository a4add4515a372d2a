"""A home's store on SQLite moved into a database of PostgreSQL, or back, with all its tenants."""

from __future__ import annotations

import tempfile
from collections import Counter
from collections.abc import Iterable
from contextlib import ExitStack, closing
from pathlib import Path

from tersely.foundation.errors import TerselyError
from tersely.relay.access.tokens import tenants
from tersely.relay.store import moving
from tersely.relay.store.engines.engine import Engine
from tersely.relay.store.engines.sqlite import SqliteEngine
from tersely.relay.store.store import (
    BLOBS,
    DATABASE,
    DEFAULT_TENANT,
    TENANTS,
    Store,
    check,
    check_url,
)

NOT_MOVED = moving.NOT_MOVED
_DRAFTS = "drafts"


def to_database(home: Path, url: str) -> Counter[str]:
    """Write all that a home keeps into a database of PostgreSQL, all of it or nothing; how many rows
    of each table. What the home has stays. The caller holds the lock of the home.

    Raises `path_not_found`, `name_taken` where the database has a store or relays use it,
    `artifact_damaged`, `invalid_setting`, `database_unavailable`.
    """
    if not (home / DATABASE).exists():
        raise TerselyError("path_not_found", f"{home} has no database of its own")
    check(home)
    with Store.open(home) as store:
        names = tenants(store)
    _check_unused(url)
    moved: Counter[str] = Counter()
    with _folder(home) as folder, ExitStack() as stack:
        for name in _in_order(names):
            place = _home_of(home, name)
            if (place / DATABASE).exists():
                source = _entered(stack, _own(place))
                target = _entered(stack, _shared(url, name))
                if not moving.is_empty(target.database):
                    raise _taken(f"the database has a store of {name} already")
                moved += moving.move(source, target, Path(folder))
    return moved


def to_home(home: Path, url: str) -> Counter[str]:
    """Write all that a database of PostgreSQL keeps into a home without a store, all of it or
    nothing; how many rows of each table. What the database has stays. The caller holds the lock of
    the home.

    Raises what `to_database` raises, `name_taken` where the home has a store.
    """
    taken = [str(home / name) for name in (DATABASE, BLOBS, TENANTS) if (home / name).exists()]
    if taken:
        raise _taken(f"{home} has a store already", f"move {', '.join(taken)} away first")
    _check_unused(url)
    with Store.open(home, url=url) as store:
        names = tenants(store)
    moved: Counter[str] = Counter()
    with _folder(home) as name_of_folder:
        folder = Path(name_of_folder)
        (folder / _DRAFTS).mkdir()
        with ExitStack() as stack:
            for name in _in_order(names):
                source = _entered(stack, _shared(url, name))
                if name == DEFAULT_TENANT and moving.is_empty(source.database):
                    raise TerselyError("path_not_found", "the database has no store")
                place = _home_of(folder, name)
                place.mkdir(mode=0o700, parents=True, exist_ok=True)
                target = _entered(stack, _own(place))
                moved += moving.move(source, target, folder / _DRAFTS)
        (folder / _DRAFTS).rmdir()
        for made in sorted(folder.iterdir(), key=lambda one: one.name == DATABASE):
            made.replace(home / made.name)  # the last makes it a store
    return moved


def _folder(home: Path) -> tempfile.TemporaryDirectory[str]:
    return tempfile.TemporaryDirectory(dir=home, prefix=".migrate-")


def _in_order(names: Iterable[str]) -> list[str]:
    """The owner of the relay, then its tenants."""
    return [DEFAULT_TENANT, *sorted(names)]


def _home_of(home: Path, tenant: str) -> Path:
    return home if tenant == DEFAULT_TENANT else home / TENANTS / tenant


def _entered(stack: ExitStack, engine: Engine) -> moving.Place:
    """A store in a transaction, which no other process writes meanwhile."""
    database = stack.enter_context(closing(engine.writer()))
    stack.enter_context(database.transaction())
    return moving.Place(engine, database)


def _own(place: Path) -> Engine:
    def damaged(error: TerselyError) -> None:
        raise error

    return SqliteEngine(place / DATABASE, place / BLOBS, durable=True, on_damage=damaged)


def _shared(url: str, tenant: str) -> Engine:
    check_url(url)
    from tersely.relay.store.engines.postgresql import PostgresEngine

    return PostgresEngine(url, tenant, durable=True, idle_seconds=0)


def _check_unused(url: str) -> None:
    """Raise `name_taken` where relays are connected to the database."""
    engine = _shared(url, DEFAULT_TENANT)
    with closing(engine.writer()) as database:
        if engine.sharing is not None and engine.sharing.is_used(database):
            raise _taken("relays use the database", "tersely down where they run, then again")


def _taken(message: str, hint: str = "name an empty database") -> TerselyError:
    return TerselyError("name_taken", message, hint)
