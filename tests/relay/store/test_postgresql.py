"""What PostgreSQL alone can do to the store: other tenants, other processes, connections that end."""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path

import psycopg
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.own_postgres import Server

from tersely.foundation.errors import TerselyError
from tersely.relay.store.commands import Append, Attach, Batch, Count, Edit, Write
from tersely.relay.store.engines import lexemes
from tersely.relay.store.store import Store


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


def test_processes_that_share_a_database_lose_nothing(shared: list[Store]) -> None:
    def grow(number: int) -> tuple[int, ...]:
        commands = (
            Append("s", "k", b"%d" % number),
            Write("d", lambda body: Edit((body or b"") + b"x", b"")),
            Count("c", "n"),
        )
        return shared[number % 2].commit(Batch(commands)).given

    with ThreadPoolExecutor(8) as pool:
        numbers = list(pool.map(grow, range(100)))
    assert sorted(numbers) == [(number, number, number) for number in range(1, 101)]
    for store in shared:
        assert store.document("d") == (100, b"x" * 100)
        assert sorted(int(entry.body) for entry in store.entries("s")) == list(range(100))


def test_a_batch_happens_once_whichever_process_it_is_sent_to(shared: list[Store]) -> None:
    first = shared[0].commit(Batch((Append("s", "k", b"x"),), "key", b"print"))
    again = shared[1].commit(Batch((Append("s", "k", b"x"),), "key", b"print"))
    assert (first.given, again.given, again.is_repetition) == ((1,), (1,), True)


def test_a_large_blob_is_read_by_every_process(shared: list[Store]) -> None:
    kept = shared[0].take_in([bytes(range(256)) * 4_000])
    shared[0].commit(Batch((kept, Attach("o", "n", kept.digest, b""))))
    assert b"".join(shared[1].blob(kept.digest)) == bytes(range(256)) * 4_000


def test_a_changed_chunk_is_found_out(shared: list[Store], postgres: Server) -> None:
    kept = shared[0].take_in([b"x" * 1_000_000])
    shared[0].commit(Batch((kept,)))
    with psycopg.connect(postgres.url) as other:
        other.execute(
            "delete from tersely_base.chunk where digest = %s and number = 1", (kept.digest,)
        )
    with pytest.raises(TerselyError, match="artifact_damaged"):
        list(shared[0].blob(kept.digest))


def test_connections_that_are_ended_are_made_again(shared: list[Store], postgres: Server) -> None:
    store = shared[0]
    store.commit(Batch((Append("s", "k", b"1"),)))
    end = "select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'tersely relay'"
    for body in (b"2", b"3"):
        with psycopg.connect(postgres.url) as other:
            other.execute(end)
        assert store.last("s") == int(body) - 1
        store.commit(Batch((Append("s", "k", body),)))
    assert [entry.body for entry in shared[1].entries("s")] == [b"1", b"2", b"3"]


def test_a_transaction_whose_connection_is_ended_is_refused_whole(
    shared: list[Store], postgres: Server
) -> None:
    def ended(body: bytes | None) -> Edit:
        with psycopg.connect(postgres.url) as other:
            other.execute(
                "select pg_terminate_backend(pid) from pg_stat_activity "
                "where application_name = 'tersely relay' and state = 'idle in transaction'"
            )
        return Edit(b"", b"")

    with pytest.raises(TerselyError) as caught:
        shared[0].commit(Batch((Append("s", "k", b"1"), Write("d", ended))))
    assert caught.value.code == "database_unavailable"
    assert shared[1].last("s") == 0
    assert shared[0].commit(Batch((Append("s", "k", b"1"),))).given == (1,)


def test_row_level_security_hides_what_the_views_would_not(
    shared: list[Store], postgres: Server, tenant: str
) -> None:
    shared[0].commit(Batch((Append("s", "k", b"secret"),)))
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
    assert "pip install 'tersely[postgresql]'" in caught.value.hint


@pytest.mark.parametrize("name", ["", "../up", "Big", "-", "x" * 64, "a b", "ü"])
def test_a_tenant_is_called_by_letters_and_digits(tmp_path: Path, name: str) -> None:
    with pytest.raises(TerselyError, match="invalid_argument"):
        Store.open(tmp_path / "home", tenant=name)


@settings(max_examples=60)
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
