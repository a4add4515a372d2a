"""What PostgreSQL alone can do to the store: other tenants, other processes, connections that end."""

from __future__ import annotations

import secrets
import time
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from queue import SimpleQueue
from typing import Any

import psycopg
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.depth import examples
from tests.link import Link
from tests.own_postgres import Server

from tersely.foundation.errors import TerselyError
from tersely.foundation.storage import postgresql
from tersely.relay.store import mailboxes
from tersely.relay.store.commands import Append, Attach, Count, DocumentEdit, StoreBatch, Write
from tersely.relay.store.engines import lexemes
from tersely.relay.store.mailboxes import Post
from tersely.relay.store.news import News, OwnNews
from tersely.relay.store.store import Store
from tersely.relay.store.tables import Tables

WAIT_SECONDS = 60
MESSAGES = 3_000
TAKES = 20
_BEN = (("ben", 0),)


@pytest.fixture
def tenant() -> str:
    return f"t{secrets.token_hex(8)}"


@pytest.fixture
def shared(postgres: Server, tenant: str, tmp_path: Path) -> Iterator[list[Store]]:
    """Stores of two processes, as it were, on one database."""
    with ExitStack() as stack:
        homes = [tmp_path / "one", tmp_path / "two"]
        yield [
            stack.enter_context(Store.open(home, url=postgres.url, tenant=tenant)) for home in homes
        ]


@pytest.mark.slow
def test_processes_that_share_a_database_lose_nothing(shared: list[Store]) -> None:
    def grow(number: int) -> tuple[int, ...]:
        commands = (
            Append("s", "k", b"%d" % number),
            Write("d", lambda body: DocumentEdit((body or b"") + b"x", b"")),
            Count("c", "n"),
        )
        return shared[number % 2].commit(StoreBatch(commands)).given

    with ThreadPoolExecutor(8) as pool:
        numbers = list(pool.map(grow, range(100)))
    assert sorted(numbers) == [(number, number, number) for number in range(1, 101)]
    for store in shared:
        assert store.document("d") == (100, b"x" * 100)
        assert sorted(int(entry.body) for entry in store.entries("s")) == list(range(100))


@pytest.mark.slow
def test_a_batch_happens_once_whichever_process_it_is_sent_to(shared: list[Store]) -> None:
    first = shared[0].commit(StoreBatch((Append("s", "k", b"x"),), "key", b"print"))
    again = shared[1].commit(StoreBatch((Append("s", "k", b"x"),), "key", b"print"))
    assert (first.given, again.given, again.is_repetition) == ((1,), (1,), True)


@pytest.mark.slow
def test_a_large_blob_is_read_by_every_process(shared: list[Store]) -> None:
    kept = shared[0].take_in([bytes(range(256)) * 4_000])
    shared[0].commit(StoreBatch((kept, Attach("o", "n", kept.digest, b""))))
    assert b"".join(shared[1].blob(kept.digest)) == bytes(range(256)) * 4_000


@pytest.mark.slow
def test_a_changed_chunk_is_found_out(shared: list[Store], postgres: Server) -> None:
    kept = shared[0].take_in([b"x" * 1_000_000])
    shared[0].commit(StoreBatch((kept,)))
    with psycopg.connect(postgres.url) as other:
        other.execute(
            "delete from tersely_base.chunk where digest = %s and number = 1", (kept.digest,)
        )
    with pytest.raises(TerselyError, match="artifact_damaged"):
        list(shared[0].blob(kept.digest))


@pytest.mark.slow
def test_connections_that_are_ended_are_made_again(shared: list[Store], postgres: Server) -> None:
    store = shared[0]
    store.commit(StoreBatch((Append("s", "k", b"1"),)))
    end = "select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'tersely relay'"
    for body in (b"2", b"3"):
        with psycopg.connect(postgres.url) as other:
            other.execute(end)
        assert store.last("s") == int(body) - 1
        store.commit(StoreBatch((Append("s", "k", body),)))
    assert [entry.body for entry in shared[1].entries("s")] == [b"1", b"2", b"3"]


@pytest.fixture
def link(postgres: Server) -> Iterator[Link]:
    made = Link(postgres.socket)
    yield made
    made.close()


@pytest.mark.slow
def test_a_write_whose_packets_are_swallowed_has_an_end(
    link: Link, tenant: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(postgresql, "POSTGRES_SILENCE_SECONDS", 0.2)
    monkeypatch.setattr(postgresql, "POSTGRES_CONNECT_SECONDS", 2)  # the least that there is
    url = f"postgresql://postgres@127.0.0.1:{link.port}/postgres"
    with Store.open(tmp_path, url=url, tenant=tenant) as store:
        store.commit(StoreBatch((Append("s", "k", b"1"),)))
        link.swallow()
        with pytest.raises(TerselyError) as caught:
            store.commit(StoreBatch((Append("s", "k", b"2"),)))
        assert caught.value.code == "database_unavailable"
        with pytest.raises(TerselyError, match="database_unavailable"):
            store.last("s")

        link.mend()
        store.commit(StoreBatch((Append("s", "k", b"2"),)))
        assert store.sharing is not None
        with monkeypatch.context() as patched:  # the last that is done before the commit
            patched.setattr(store.sharing, "tell", lambda *_: link.swallow())
            with pytest.raises(TerselyError, match="is written is not known"):
                store.commit(StoreBatch((Append("s", "k", b"3"),)))
        link.mend()
        assert store.last("s") in {2, 3}


@pytest.mark.slow
@pytest.mark.parametrize("seconds", [0, 1], ids=["at work", "done meanwhile"])
def test_a_server_that_works_is_waited_for(
    link: Link, postgres: Server, monkeypatch: pytest.MonkeyPatch, seconds: int
) -> None:
    usual, is_at_work = postgresql.POSTGRES_SILENCE_SECONDS, postgresql._Connection._is_at_work
    told = []

    def asked(connection: Any) -> bool:
        with psycopg.connect(postgres.url) as other, monkeypatch.context() as patched:
            other.execute(f"select pg_sleep({seconds})")
            # on a busy machine an answer takes its time
            patched.setattr(postgresql, "POSTGRES_SILENCE_SECONDS", 10 * usual)
            told.append(is_at_work(connection))
        return told[-1]

    monkeypatch.setattr(postgresql, "POSTGRES_SILENCE_SECONDS", 0.2)
    monkeypatch.setattr(postgresql._Connection, "_is_at_work", asked)
    url = f"postgresql://postgres@127.0.0.1:{link.port}/postgres"
    with postgresql.PostgresDatabase(postgresql.DatabaseSession(url, {})) as database:
        assert database.value("select 7 from pg_sleep(1)") == 7
    assert told


@pytest.mark.slow
def test_a_transaction_whose_connection_is_ended_is_refused_whole(
    shared: list[Store], postgres: Server
) -> None:
    def ended(body: bytes | None) -> DocumentEdit:
        with psycopg.connect(postgres.url) as other:
            other.execute(
                "select pg_terminate_backend(pid) from pg_stat_activity "
                "where application_name = 'tersely relay' and state = 'idle in transaction'"
            )
        return DocumentEdit(b"", b"")

    with pytest.raises(TerselyError) as caught:
        shared[0].commit(StoreBatch((Append("s", "k", b"1"), Write("d", ended))))
    assert caught.value.code == "database_unavailable"
    assert shared[1].last("s") == 0
    assert shared[0].commit(StoreBatch((Append("s", "k", b"1"),))).given == (1,)


@pytest.mark.slow
def test_a_commit_whose_answer_was_lost_is_told_to_watchers(
    shared: list[Store], postgres: Server
) -> None:
    """Nobody stands by, so a commit is on the disk and waits; then its connection is ended."""
    with psycopg.connect(postgres.url, autocommit=True) as other:
        _stand_by(other, "nobody")
        try:
            heard: SimpleQueue[frozenset[str]] = SimpleQueue()
            shared[0].watch(heard.put)
            code, count = "", 0
            until = time.monotonic() + WAIT_SECONDS
            while not code:  # the first may be written before all have read the setting
                assert time.monotonic() < until
                count += 1
                code = _ended(
                    other, shared[0].submit(StoreBatch((Append(f"s{count}", "k", b"1"),)))
                )
        finally:
            _stand_by(other, "")
    assert code == "database_unavailable"
    while f"s{count}" not in heard.get(timeout=WAIT_SECONDS):
        pass
    assert shared[1].last(f"s{count}") == 1


def _ended(other: psycopg.Connection[Any], begun: Future[Any]) -> str:
    """The code of the error by which a commit has failed, whose connection is ended where it waits."""
    while not begun.done():
        other.execute(_END_WAITING)
    error = begun.exception()
    return error.code if isinstance(error, TerselyError) else ""


_END_WAITING = "select pg_terminate_backend(pid) from pg_stat_activity where wait_event = 'SyncRep'"


def _stand_by(other: psycopg.Connection[Any], name: str) -> None:
    other.execute(f"alter system set synchronous_standby_names = '{name}'")
    other.execute("select pg_reload_conf()")


def test_what_is_told_before_a_transaction_has_failed_is_news_once_it_has() -> None:
    own, news = OwnNews(), News({"s"})
    assert not own.is_news(1, news)
    assert own.settle(1, has_failed=False) == []
    assert not own.is_news(1, news)
    assert not own.is_news(2, news)
    assert own.settle(2, has_failed=True) == [news]
    assert own.is_news(2, news)


@pytest.mark.slow
def test_what_was_planned_for_empty_tables_is_planned_again_for_full_ones(
    shared: list[Store],
) -> None:
    def fetched(tables: Tables) -> int:
        sql = "select idx_tup_fetch from pg_stat_xact_all_tables where relname = 'message'"
        found: int = tables.database.value(sql)
        return found

    def post_and_take(tables: Tables) -> tuple[int, int]:
        empty = Post("ann", "agent", "", 0, "ben", "", "", "message", b"{}", b"", _BEN)
        (first, *_) = mailboxes.post(tables, [empty._replace(id=f"{n}") for n in range(TAKES)])
        for _ in range(TAKES):  # so often that a plan would be kept
            mailboxes.take(tables, "ben", first.number, 1)
        mailboxes.post(tables, [empty._replace(id=f"more {n}") for n in range(MESSAGES)])
        before = fetched(tables)
        for number in range(TAKES):
            assert len(mailboxes.take(tables, "ben", MESSAGES - number, 1)) == 1
        return before, fetched(tables)

    before, after = shared[0].write(post_and_take).result()
    assert after - before <= 2 * TAKES


@pytest.mark.slow
def test_a_group_of_messages_is_accepted_as_one_after_the_other_would_be(
    shared: list[Store],
) -> None:
    first = Post("ann", "agent", "1", 0, "ben", "", "", "message", b"{}", b"", _BEN)
    other, both = (
        first._replace(payload=b"[]"),
        first._replace(id="2", mailboxes=(*_BEN, ("cid", 0))),
    )
    given = (
        shared[0].write(lambda tables: mailboxes.post(tables, [first, first, other, both])).result()
    )
    assert [(one.number, one.deliveries, one.is_repetition) for one in given] == [
        (1, (("ben", 1),), False),
        (1, (("ben", 1),), True),
        (0, (), False),
        (2, (("ben", 2), ("cid", 1)), False),
    ]


@pytest.mark.slow
def test_row_level_security_hides_what_the_views_would_not(
    shared: list[Store], postgres: Server, tenant: str
) -> None:
    shared[0].commit(StoreBatch((Append("s", "k", b"secret"),)))
    with psycopg.connect(postgres.url, autocommit=True) as other:
        if not other.execute("select 1 from pg_roles where rolname = 'plain'").fetchone():
            other.execute("create role plain")
        other.execute("grant usage on schema tersely_base, tersely to plain")
        other.execute("grant all on all tables in schema tersely_base, tersely to plain")
        other.execute("set role plain")
        count = "select count(*) from tersely_base.entry"
        for name, found in ((tenant, 1), ("somebody-else", 0)):
            other.execute("select set_config('tersely.tenant', %s, false)", (name,))
            assert other.execute(count).fetchone() == (found,)
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            other.execute("insert into tersely_base.total values ('x', 1, %s)", (tenant,))
        guarded = (
            "select relname from pg_class where relnamespace = 'tersely_base'::regnamespace and relkind = 'r' "
            "and not (relrowsecurity and relforcerowsecurity)"
        )
        assert {row[0] for row in other.execute(guarded)} == {
            "migration",
            "word_lexemes",
            "message_words",
        }


@pytest.mark.parametrize(
    ("url", "code"),
    [
        ("mysql://somewhere", "invalid_setting"),
        ("postgresql://nobody:secret@127.0.0.1:1/none", "database_unavailable"),
    ],
)
def test_an_address_without_a_database_is_told_without_its_password(
    tmp_path: Path, url: str, code: str
) -> None:
    with pytest.raises(TerselyError) as caught:
        Store.open(tmp_path / "home", url=url)
    assert caught.value.code == code
    assert "secret" not in str(caught.value)


def test_a_missing_driver_says_how_it_is_installed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tersely.relay.store.store.find_spec", lambda name: None)
    with pytest.raises(TerselyError) as caught:
        Store.open(tmp_path / "home", url="postgresql://somewhere/none")
    assert "the extra `postgresql`" in caught.value.hint


@pytest.mark.parametrize("name", ["", "../up", "Big", "-", "x" * 64, "a b", "ü"])
def test_a_tenant_is_called_by_letters_and_digits(tmp_path: Path, name: str) -> None:
    with pytest.raises(TerselyError, match="invalid_argument"):
        Store.open(tmp_path / "home", tenant=name)


@settings(max_examples=examples(60))
@given(st.text(max_size=60), st.lists(st.text(max_size=8), max_size=3))
def test_a_snippet_is_of_the_text_and_a_query_has_no_quotes_of_its_own(
    text: str, wanted: list[str]
) -> None:
    shown = lexemes.snippet(text, wanted)
    bare = shown.replace("«", "").replace("»", "").replace(" … ", "")
    assert bare in text.replace("«", "").replace("»", "").replace(" … ", "")
    query = lexemes.query(wanted, all_of=False, joins_underscore=True)
    assert query.count("'") % 2 == 0
    assert "\\" not in query
