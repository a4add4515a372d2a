"""A backup of a populated home put into a database of PostgreSQL, and one of that put back: nothing
is another afterwards.
"""

from __future__ import annotations

import secrets
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import psycopg
import pytest
from tests.cli.relay_home import Home
from tests.own_postgres import Server

from tersely.relay.access.audit import AuditedRefusal
from tersely.relay.access.tokens import Grant, Tokens
from tersely.relay.artifacts import artifacts
from tersely.relay.relay import Relay
from tersely.relay.store.mailboxes import Mark, Post, Sought, Stage
from tersely.relay.store.moving import MOVED_ROWS
from tersely.relay.teams.claims import ClaimWish
from tersely.relay.threads import threads

MANY = MOVED_ROWS + 5  # rows than are moved at one go
LARGE = b"large " * 30_000
SMALL = b"the parser reads \xc3\xbcmlauts"


@pytest.fixture(scope="module")
def postgres() -> Iterator[Server]:
    server = Server()
    yield server
    server.close()


@pytest.fixture
def url(postgres: Server) -> str:
    """A database of the test's own."""
    name = f"m{secrets.token_hex(8)}"
    with psycopg.connect(postgres.url, autocommit=True) as other:
        other.execute(f"create database {name}")
    return postgres.url.replace("/postgres?", f"/{name}?")


@pytest.fixture
def full(tmp_path: Path) -> Home:
    """A home whose relay keeps something of everything, for two tenants."""
    home = Home(tmp_path / "home", tmp_path)
    with Relay.open(home.home, len, durable=False) as relay:
        _fill(relay)
        with closing(Tokens(relay.store)) as tokens:
            tokens.issue(Grant("ann"))
            tokens.issue(Grant("eve", tenant="red"))
            tokens.issue(Grant("joe", tenant="never-came"))
    with Relay.open(home.home, len, tenant="red", durable=False) as red:
        threads.create(red.store, "crimson", "eve")
    return home


def _fill(relay: Relay) -> None:
    store, mail = relay.store, relay.mail
    thread = threads.create(store, "shop", "ann").thread_id
    for number in range(MANY):
        fact = {"id": f"f{number}", "key": "k", "value": number}
        step = [{"op": "add", "path": "/facts/0", "value": fact}]
        step += [{"op": "remove", "path": "/facts/1"}] if number else []
        threads.patch_state(store, thread, step, "ann", key=f"{number}")
    for name, content in (("large", LARGE), ("small", SMALL), ("again", SMALL)):
        artifacts.put(
            store, thread, [content], len, name=name, origin=artifacts.Origin("ann", "", ())
        )
    sent = [
        mail.send(mail.compose(Post("ann", "agent", f"id {n}", store.now_ms(), "ben", "t" * (n % 2),
                                    thread, "message", b'{"body": "word"}', b""), is_queued=True))
        for n in range(MANY)
    ]  # fmt: skip
    mail.settle(Mark("ben", sent[0].seq, Stage.SEEN, store.now_ms()))
    mail.settle(Mark("ben", sent[1].seq, Stage.DEAD, store.now_ms(), note="FORBIDDEN"))
    mail.history(Sought(words=["word"]), 1 << 40, 1, backward=True)
    relay.claims.take("shop", ClaimWish("ann", ["src/a.py"], 600_000))
    relay.audit.refused(AuditedRefusal("forbidden", "no", "GET /", "remote", "eve"))


def _seen(home: Path, url: str = "") -> dict[str, Any]:
    """What the relay answers."""
    with Relay.open(home, len, url=url, durable=False) as relay:
        store, mail = relay.store, relay.mail
        (thread,) = threads.recent(store)
        told: dict[str, Any] = {
            "thread": thread,
            "states": [threads.state(store, thread.thread_id, n) for n in (1, 50, 120, MANY + 1)],
            "history": threads.history(store, thread.thread_id, limit=MANY),
            "events": threads.events(store, thread.thread_id),
            "artifacts": artifacts.listed(store, thread.thread_id),
            "contents": [
                b"".join(artifacts.content(store, thread.thread_id, one.ref))
                for one in artifacts.listed(store, thread.thread_id)
            ],
            "found": store.search("", ["ümlauts"], 9, all_words=True)[:1],
            "waiting": mail.waiting("ben", 0, 999),
            "load": mail.load("ben"),
            "dead": mail.dead(0, 9),
            "ids": [mail.message_id(one.number) for one in mail.box("ben", 0, 999)],
            "history of messages": mail.history(Sought(words=["word"]), 1 << 40, 9, backward=True),
            "names": mail.identities.all(),
            "claims": relay.claims.listed("shop"),
            "refused": relay.audit.latest(9),
        }
        told["found"] = [(one.owner, one.name, one.digest, one.snippet) for one in told["found"]]
        with closing(Tokens(store)) as tokens:
            told["tokens"] = tokens.known()
        again = threads.patch_state(store, thread.thread_id, *_REPEATED, key="0")
        told["repetition"] = (again.version, again.is_repetition)
    with Relay.open(home, len, url=url, tenant="red", durable=False) as red:
        told["red"] = threads.recent(red.store)
    return told


_REPEATED = ([{"op": "add", "path": "/facts/0", "value": {"id": "f0", "key": "k", "value": 0}}], "ann")  # fmt: skip


def _rows(path: Path) -> dict[str, list[Any]]:
    """All rows of all tables that hold what is kept."""
    with closing(sqlite3.connect(path)) as database:
        names = [
            row[0]
            for row in database.execute("select name from sqlite_schema where type = 'table'")
            if not row[0].startswith(("words_", "message_words", "sqlite_"))
        ]
        found = {
            name: sorted(database.execute(f"select * from {name}"), key=repr) for name in names
        }
    found["total"] = [row for row in found["total"] if row[0] != "last written"]
    return found


@pytest.mark.slow
def test_a_home_comes_back_from_a_database_as_it_went(full: Home, url: str, tmp_path: Path) -> None:
    before = _seen(full.home)
    kept = [_rows(full.home / name) for name in ("relay.db", "tenants/red/relay.db")]
    full.ok("relay", "backup", str(tmp_path / "one.tar"))
    full.environment["TERSELY_STORE"] = url
    full.ok("relay", "restore", str(tmp_path / "one.tar"))
    assert _seen(full.home, url) == before
    full.ok("relay", "backup", str(tmp_path / "other.tar"))
    (tmp_path / "home").rename(tmp_path / "old")
    del full.environment["TERSELY_STORE"]
    full.ok("relay", "restore", str(tmp_path / "other.tar"))
    assert _seen(full.home) == before
    assert [_rows(full.home / name) for name in ("relay.db", "tenants/red/relay.db")] == kept
    left = (".backup", ".restore", ".drafts")
    assert [path.name for path in full.home.iterdir() if path.name.startswith(left)] == []


@pytest.mark.slow
def test_what_cannot_be_moved_leaves_both_as_they_are(
    full: Home, url: str, postgres: Server, tmp_path: Path
) -> None:
    file = str(tmp_path / "one.tar")
    full.ok("relay", "backup", file)
    full.environment["TERSELY_STORE"] = url
    assert full.refused("relay", "backup", file) == "path_not_found"
    with Relay.open(tmp_path / "other", len, url=url):
        assert "relays use the database" in full.run("relay", "restore", file).err
        assert "relays use the database" in full.run("relay", "backup", file).err
    # the other one keeps something there
    assert full.refused("relay", "restore", file) == "name_taken"
