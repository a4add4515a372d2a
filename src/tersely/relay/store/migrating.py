"""The stores of a home on SQLite, of all its tenants, written into a database of PostgreSQL or out
of one. What they were written from stays.
"""

from __future__ import annotations

import tempfile
from contextlib import ExitStack, closing
from pathlib import Path

from tersely.foundation.errors import TerselyError
from tersely.relay.access.tokens import tenants
from tersely.relay.store import moving
from tersely.relay.store.engines.engine import StoreEngine
from tersely.relay.store.engines.sqlite import SqliteEngine
from tersely.relay.store.store import BLOBS, DATABASE, DEFAULT_TENANT, TENANTS, Store, check_url


def move(home: Path, url: str, *, out: bool) -> None:
    """Write all that the home keeps into the database, which is empty, or `out` of it into the home,
    which has no store. A failure leaves a database as it was, and a home half written.

    Raises `name_taken` where the database has a store or relays use it, `path_not_found` where
    there is nothing to write, `artifact_damaged`, `invalid_setting`, `database_unavailable`.
    """
    _check_unused(url)
    with Store.open(home, url=url if out else "") as store:
        names = tenants(store)
    with tempfile.TemporaryDirectory(dir=home, prefix=".drafts-") as drafts, ExitStack() as stack:
        for name in (DEFAULT_TENANT, *sorted(names)):
            place = home if name == DEFAULT_TENANT else home / TENANTS / name
            if not out and not (place / DATABASE).exists():
                continue  # a tenant that never came
            place.mkdir(mode=0o700, parents=True, exist_ok=True)
            own, shared = _entered(stack, _own(place)), _entered(stack, _shared(url, name))
            is_empty = moving.is_empty(shared.database)
            if out and is_empty and name == DEFAULT_TENANT:
                raise TerselyError("path_not_found", "the database has no store")
            if not out and not is_empty:
                raise _taken(f"the database has a store of {name} already")
            source, target = (shared, own) if out else (own, shared)
            moving.move(source, target, Path(drafts))


def _entered(stack: ExitStack, engine: StoreEngine) -> moving.OpenedStore:
    """A store in a transaction, which no other process writes meanwhile."""
    database = stack.enter_context(closing(engine.writer()))
    stack.enter_context(database.transaction())
    return moving.OpenedStore(engine, database)


def _own(place: Path) -> StoreEngine:
    def damaged(error: TerselyError) -> None:
        raise error

    return SqliteEngine(place / DATABASE, place / BLOBS, durable=True, on_damage=damaged)


def _shared(url: str, tenant: str) -> StoreEngine:
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
