"""The store through its verbs: batches whole or not at all, numbers without gaps, nothing lost that
was answered.
"""

from __future__ import annotations

import hashlib
import sqlite3
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.depth import examples
from tests.relay.conftest import Clock, Opening

from tersely.foundation.errors import TerselyError
from tersely.foundation.limits import RECEIPT_SECONDS
from tersely.relay.store.commands import (
    Append,
    Attach,
    Cache,
    Command,
    Count,
    Detach,
    DocumentEdit,
    StoreBatch,
    Write,
)
from tersely.relay.store.store import INLINE_BLOB_BYTES, Store, check


def commit(
    store: Store, *commands: Command, key: str = "", fingerprint: bytes = b""
) -> tuple[int, ...]:
    return store.commit(StoreBatch(commands, key, fingerprint)).given


def grow(word: bytes) -> Write:
    return Write("text", lambda body: DocumentEdit((body or b"") + word, word), "ann")


def replay(body: bytes, change: bytes) -> bytes:
    return body + change


def code_of(store: Store, *commands: Command, key: str = "", fingerprint: bytes = b"") -> str:
    with pytest.raises(TerselyError) as caught:
        commit(store, *commands, key=key, fingerprint=fingerprint)
    return caught.value.code


def test_numbers_of_a_stream_have_no_gaps_whatever_is_refused_between(store: Store) -> None:
    for _ in range(3):
        commit(store, Append("s", "k", b"x"))
        assert (
            code_of(
                store,
                Append("s", "k", b"lost"),
                Write("d", lambda _: DocumentEdit(b"", b""), expected=7),
            )
            == "version_conflict"
        )
    assert [(entry.number, entry.body) for entry in store.entries("s")] == [
        (1, b"x"),
        (2, b"x"),
        (3, b"x"),
    ]
    assert [entry.number for entry in store.entries("s", after=1, limit=1)] == [2]
    assert store.last("s") == 3
    assert store.last("none") == 0


def test_an_entry_can_tell_what_the_batch_gave_before_it(store: Store) -> None:
    commit(store, grow(b"a"), Append("s", "k", lambda given: b"version %d" % given[0]))
    assert store.entries("s")[0].body == b"version 1"


def test_writers_at_once_lose_nothing(store: Store) -> None:
    with ThreadPoolExecutor(8) as pool:
        versions = list(
            pool.map(lambda _: commit(store, grow(b"x"), Append("s", "k", b"")), range(200))
        )
    assert sorted(versions) == [(number, number) for number in range(1, 201)]
    assert store.document("text") == (200, b"x" * 200)


@settings(
    max_examples=examples(fast=10),
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(st.lists(st.binary(max_size=4), min_size=1, max_size=80), st.data())
def test_every_version_can_be_read_again(
    opening: Opening,
    tmp_path_factory: pytest.TempPathFactory,
    words: list[bytes],
    data: st.DataObject,
) -> None:
    with opening(tmp_path_factory.mktemp("home"), durable=False) as store:
        for word in words:
            commit(store, grow(word))
        number = data.draw(st.integers(1, len(words)))
        version = store.version("text", number, replay)
        assert version is not None
        assert (version.body, version.change, version.author) == (
            b"".join(words[:number]),
            words[number - 1],
            "ann",
        )
        assert store.version("text", len(words) + 1, replay) is None
        assert [one.change for one in store.versions("text")] == words[::-1]


def test_a_repeated_batch_happens_once(store: Store, clock: Clock) -> None:
    first = store.commit(
        StoreBatch((Append("s", "k", b"x"), Count("c", "n", 5)), "ann:1", b"print")
    )
    again = store.commit(
        StoreBatch((Append("s", "k", b"x"), Count("c", "n", 5)), "ann:1", b"print")
    )
    assert (first.given, first.is_repetition) == ((1, 5), False)
    assert (again.given, again.is_repetition) == ((1, 5), True)
    assert code_of(store, Append("s", "k", b"y"), key="ann:1", fingerprint=b"other") == "key_reused"
    assert store.last("s") == 1
    clock.seconds += RECEIPT_SECONDS + 1
    assert commit(store, Append("s", "k", b"x"), key="ann:1", fingerprint=b"other") == (2,)


def test_a_refused_batch_may_be_sent_again_under_its_key(store: Store) -> None:
    assert (
        code_of(store, Write("d", lambda _: DocumentEdit(b"", b""), expected=1), key="k")
        == "version_conflict"
    )
    assert commit(store, Write("d", lambda _: DocumentEdit(b"", b""), expected=0), key="k") == (1,)


@pytest.mark.parametrize("size", [0, 10, INLINE_BLOB_BYTES + 1, 1_000_000])
def test_blobs_come_back_as_they_were_whatever_their_size(store: Store, size: int) -> None:
    content = b"ab" * (size // 2) + b"c" * (size % 2)
    for name in ("first", "second"):
        kept = store.take_in(iter([content[: size // 3], content[size // 3 :]]))
        assert kept.digest == hashlib.sha256(content).hexdigest()
        commit(store, kept, Attach("thread", name, kept.digest, b"about"))
    assert b"".join(store.blob(kept.digest)) == content
    assert [(one.name, one.size_bytes) for one in store.attachments("thread")] == [
        ("first", size),
        ("second", size),
    ]
    assert store.digests(kept.digest[:8], 2) == [kept.digest]
    assert not list((store.home / "incoming").iterdir())


def test_a_blob_that_is_too_large_leaves_nothing_behind(store: Store) -> None:
    with pytest.raises(TerselyError, match="payload_too_large"):
        store.take_in(iter([b"x" * 50_000] * 3), most_bytes=100_000)
    assert not list((store.home / "incoming").iterdir())


@pytest.mark.parametrize("opening", ["sqlite"], indirect=True)
def test_a_changed_blob_is_found_out(store: Store) -> None:
    kept = store.take_in([b"x" * 100_000])
    commit(store, kept)
    path = store.home / "blobs" / kept.digest[:2] / kept.digest
    path.write_bytes(b"y" + b"x" * 99_999)
    with pytest.raises(TerselyError, match="artifact_damaged"):
        list(store.blob(kept.digest))
    path.unlink()
    with pytest.raises(TerselyError, match="artifact_damaged"):
        list(store.blob(kept.digest))


def test_what_nobody_has_attached_is_swept_away(store: Store, clock: Clock) -> None:
    large, small, used = (
        store.take_in([byte * size]) for byte, size in ((b"l", 99_999), (b"s", 9), (b"u", 99_999))
    )
    commit(store, large, small, used, Attach("thread", "used", used.digest, b""))
    assert store.sweep(store.now_ms()) == 0
    clock.seconds += 10
    assert store.sweep(store.now_ms()) == 2
    assert store.size(large.digest) is None
    assert b"".join(store.blob(used.digest)) == b"u" * 99_999
    assert commit(store, Detach("thread", "used")) == (1,)
    assert commit(store, Detach("thread", "used")) == (0,)
    assert store.sweep(store.now_ms()) == 1
    assert files(store) == []


def files(store: Store) -> list[str]:
    return [
        path.name
        for folder in ("blobs", "incoming")
        for path in (store.home / folder).rglob("*")
        if path.is_file()
    ]


@pytest.mark.parametrize("opening", ["sqlite"], indirect=True)
def test_a_refused_batch_leaves_no_file(store: Store) -> None:
    conflict = Write("d", lambda _: DocumentEdit(b"", b""), expected=9)
    for at in (0, 1):
        commands: list[Command] = [conflict]
        commands.insert(at, store.take_in([b"x" * 100_000]))
        assert code_of(store, *commands) == "version_conflict"
        assert files(store) == []
    commit(store, store.take_in([b"x" * 100_000]))
    assert code_of(store, store.take_in([b"x" * 100_000]), conflict) == "version_conflict"
    assert len(files(store)) == 1
    store.let_go(store.take_in([b"y" * 100_000]))
    assert len(files(store)) == 1


@pytest.mark.parametrize("opening", ["sqlite"], indirect=True)
def test_a_repeated_batch_leaves_no_file_but_the_first(store: Store) -> None:
    for _ in range(2):
        commit(store, store.take_in([b"x" * 100_000]), key="one", fingerprint=b"f")
    assert files(store) == [hashlib.sha256(b"x" * 100_000).hexdigest()]


@pytest.mark.parametrize("opening", ["sqlite"], indirect=True)
def test_a_file_that_a_crash_has_left_is_swept_away(store: Store, clock: Clock) -> None:
    digest = hashlib.sha256(b"lost").hexdigest()
    (store.home / "blobs" / digest[:2]).mkdir()
    (store.home / "blobs" / digest[:2] / digest).write_bytes(b"lost")
    clock.seconds = time.time() + 10
    assert store.sweep(store.now_ms()) == 1
    assert files(store) == []


def test_a_damaged_store_is_not_to_be_deleted(tmp_path: Path) -> None:
    home = tmp_path / "home"
    with Store.open(home) as store:
        commit(store, Append("s", "k", b"x"))
    for name in ("relay.db", "relay.db-wal"):
        (home / name).write_bytes(b"\0" * 8_192)
    with pytest.raises(TerselyError) as caught:
        Store.open(home)
    assert caught.value.code == "database_corrupt"
    assert "Nothing else holds it" in caught.value.hint


def test_a_clock_that_fails_refuses_what_is_written_and_ends_nothing(tmp_path: Path) -> None:
    seen: list[float | None] = []

    def clock() -> float:
        if seen and seen[-1] is None:
            raise OSError("no time can be told")
        return 1.0

    with Store.open(tmp_path / "home", clock=clock) as store:
        seen.append(None)
        refused = [store.submit(StoreBatch((Append("s", "k", b"{}"),))) for _ in range(3)]
        for future in refused:
            with pytest.raises(OSError, match="no time"):
                future.result(60)
        seen.append(1.0)
        assert store.commit(StoreBatch((Append("s", "k", b"{}"),))) is not None
        assert store.last("s") == 1


def test_a_store_that_is_found_to_be_damaged_takes_nothing_more(tmp_path: Path) -> None:
    home = tmp_path / "home"
    with Store.open(home) as store:
        for number in range(500):
            commit(store, Append("s", "k", b"%d" % number * 100))
        store.check()
    with closing(sqlite3.connect(home / "relay.db")) as whole:
        whole.execute("pragma wal_checkpoint(truncate)")
    check(home)
    with (home / "relay.db").open("r+b") as file:
        size = file.seek(0, 2)
        for page in range(size - 10 * 4_096, size, 4_096):
            file.seek(page)
            file.write(b"\xff" * 64)
    with pytest.raises(TerselyError, match="database_corrupt"):
        check(home)
    with Store.open(home) as store:
        store.write(lambda tables: None).result()  # nobody has looked since it was opened
        with pytest.raises(TerselyError, match="database_corrupt"):
            check(home)  # as `doctor` does, in another process
        assert code_of(store, Append("other", "k", b"x")) == "database_corrupt"
    with Store.open(home) as store:
        with pytest.raises(TerselyError, match="database_corrupt"):
            store.check()
        assert code_of(store, Append("other", "k", b"x")) == "database_corrupt"
        with pytest.raises(TerselyError, match="database_corrupt"):
            store.write(lambda tables: None)


def test_time_stands_still_where_the_clock_is_set_back_a_little(
    opening: Opening, tmp_path: Path, clock: Clock
) -> None:
    home = tmp_path / "home"
    with opening(home, clock=clock) as store:
        commit(store, Append("s", "k", b"x"))
        before = store.now_ms()
        clock.seconds -= 30
        assert store.now_ms() == before
    with opening(home, clock=clock) as store:
        assert store.now_ms() == before
        clock.seconds += 35
        commit(store, Append("s", "k", b"x"))
        assert [one.at_ms - before for one in store.entries("s")] == [0, 5_000]


@pytest.mark.parametrize("restarts", [True, False])
def test_once_a_clock_that_was_ahead_is_right_stamps_are_and_order_is_that_of_numbers(
    opening: Opening,
    tmp_path: Path,
    clock: Clock,
    restarts: bool,
    caplog: pytest.LogCaptureFixture,
) -> None:
    home, days = tmp_path / "home", 40 * 86_400
    truth_ms = int(clock.seconds * 1000)
    clock.seconds += days
    store = opening(home, clock=clock)
    first = Cache("key", b"answer", store.now_ms() + 1_000)
    commit(
        store, Append("s", "k", b"1"), Write("a/z", lambda _: DocumentEdit(b"", b""), "me"), first
    )
    if restarts:
        store.close()
    clock.seconds -= days
    if restarts:
        store = opening(home, clock=clock)
    with store:
        commit(store, Append("s", "k", b"2"), Write("a/a", lambda _: DocumentEdit(b"", b""), "me"))
        assert [one.body for one in store.entries("s")] == [b"1", b"2"]
        assert [one.at_ms - truth_ms for one in store.entries("s")] == [days * 1_000, 0]
        assert store.names("a/") == ["a/a", "a/z"]
        assert store.names("a/", before="a/a") == ["a/z"]
        assert store.last_before("s", truth_ms + 1) == 2
        assert store.cached("key") is None
        assert caplog.text.count("stamps lie up to 40.0 days ahead") == 1


def test_text_is_found_where_it_belongs(store: Store) -> None:
    for owner, text in (("one", "the token is validated in auth.py"), ("two", "a token of thanks")):
        kept = store.take_in([text.encode()])
        commit(store, kept, Attach(owner, "note", kept.digest, b"", text))
    found = store.search("one", ["token", "validated"], 10, all_words=False)
    assert [(match.name, match.snippet) for match in found] == [
        ("note", "the «token» is «validated» in auth.py")
    ]
    assert [
        match.name for match in store.search("two", ["token", "validated"], 10, all_words=False)
    ] == ["note"]
    assert store.search("one", ['"', "AND", "owner:"], 10, all_words=False) == []
    assert store.search("one", [], 10, all_words=False) == []


def test_remembered_answers_expire(store: Store, clock: Clock) -> None:
    commit(store, Cache("key", b"answer", store.now_ms() + 1_000))
    assert store.cached("key") == b"answer"
    clock.seconds += 2
    assert store.cached("key") is None


def test_the_longest_unused_answers_make_room(
    store: Store, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tersely.relay.store.tables.MAX_CACHE_BYTES", 1_000)
    monkeypatch.setattr("tersely.relay.store.tables.MAX_EVICTED_ANSWERS", 1)
    for number in range(20):
        clock.seconds += 1
        commit(store, Cache(str(number), b"x" * 100, store.now_ms() + 99_000))
    assert [number for number in range(20) if store.cached(str(number))] == list(range(10, 20))


def test_watchers_hear_of_what_has_grown(store: Store) -> None:
    heard: list[frozenset[str]] = []
    end = store.watch(heard.append)
    commit(store, Append("s", "k", b""))
    end()
    commit(store, Append("t", "k", b""))
    assert frozenset().union(*heard) == {"s"}


def test_a_store_is_there_again_after_closing(opening: Opening, tmp_path: Path) -> None:
    with opening(tmp_path) as store:
        commit(store, grow(b"x"), Append("s", "k", b"body"), Count("c", "n", 2))
    with opening(tmp_path) as store:
        assert store.document("text") == (1, b"x")
        assert [entry.body for entry in store.entries("s")] == [b"body"]
        assert store.counts("c") == {"n": 2}


def test_a_closed_store_says_so(opening: Opening, tmp_path: Path) -> None:
    store = opening(tmp_path)
    store.close()
    store.close()
    with pytest.raises(TerselyError, match="the store is closed"):
        commit(store, Append("s", "k", b""))


def test_a_defect_in_one_batch_leaves_the_others_alone(store: Store) -> None:
    def broken(body: bytes | None) -> DocumentEdit:
        raise RuntimeError("a defect")

    futures = [
        store.submit(StoreBatch((Append("s", "k", b""), *extra)))
        for extra in ((), (Write("d", broken),), ())
    ]
    assert futures[0].result().given == (1,)
    with pytest.raises(RuntimeError, match="a defect"):
        futures[1].result()
    assert futures[2].result().given == (2,)


def test_text_comes_back_as_it_was_written(store: Store) -> None:
    for text in ("", "\0", "\1", "a\0b\1c\1a", "ü 👩‍🚀", "%s ? $1 on conflict (x)"):
        commit(store, Append("s " + text, text, b"\0\xff"), Count("c", text))
        assert [(one.kind, one.body) for one in store.entries("s " + text)] == [(text, b"\0\xff")]
        assert store.counts("c")[text] == 1


def test_tenants_see_nothing_of_each_other(opening: Opening, tmp_path: Path) -> None:
    with opening(tmp_path / "one") as one, opening(tmp_path / "two") as two:
        for number, store in enumerate((one, two, two), 1):
            kept = store.take_in([b"x" * 100_000])
            commit(store, Append("s", "k", b"%d" % number), grow(b"x"), Count("c", "n"), kept,
                   Attach("owner", str(number), kept.digest, b"", "some words"), key=str(number))  # fmt: skip
        assert [entry.body for entry in one.entries("s")] == [b"1"]
        assert [entry.body for entry in two.entries("s")] == [b"2", b"3"]
        assert (one.document("text"), two.document("text")) == ((1, b"x"), (2, b"xx"))
        assert (one.counts("c"), two.counts("c")) == ({"n": 1}, {"n": 2})
        assert [match.name for match in one.search("", ["words"], 9, all_words=True)] == ["1"]
        assert [match.name for match in two.search("", ["words"], 9, all_words=True)] == ["2", "3"]
        commit(one, Detach("owner", "1"))
        assert one.sweep(one.now_ms() + 1) == 1
        assert b"".join(two.blob(kept.digest)) == b"x" * 100_000
