"""Bundles: the same thread the same bytes, read in as it was, and refused whole where anything is
amiss.
"""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec import structs
from tests.depth import examples

from tersely.foundation.errors import TerselyError
from tersely.relay.artifacts import artifacts
from tersely.relay.artifacts.artifacts import Origin
from tersely.relay.store.store import Store
from tersely.relay.threads import threads
from tersely.relay.threads.bundles import reading, writing


def words(text: str) -> int:
    return len(text.split())


@pytest.fixture
def thread(store: Store) -> str:
    made = threads.create(store, "first", "ann").thread_id
    for number in range(40):
        fact = {"op": "add", "path": "/facts/-", "value": {"id": str(number)}}
        threads.patch_state(store, made, [fact], "bob")
    for content, name in ((b"# Notes", "notes.md"), (b"\0" * 100_000, "zeros")):
        artifacts.put(store, made, [content], words, name=name, origin=Origin("ann"))
    return made


def packed(store: Store, thread: str) -> bytes:
    file = io.BytesIO()
    writing.write(store, thread, file)
    return file.getvalue()


def read_in(store: Store, bundle: bytes, actor: str = "eve") -> str:
    return reading.read(store, io.BytesIO(bundle), actor, words).thread_id


def named_by_bundle(value: Any) -> Any:
    """What was told, with authors as those are called whom a bundle alone names."""
    if isinstance(value, list):
        return [named_by_bundle(one) for one in value]
    if not isinstance(value, dict):
        return value
    return {
        key: f"@{one}" if key in {"by", "created_by"} else named_by_bundle(one)
        for key, one in value.items()
    }


def told(store: Store, thread: str) -> list[Any]:
    state = threads.state(store, thread)
    return [
        threads.get(store, thread).name,
        {**state, "thread_id": ""},
        [*map(structs.asdict, threads.history(store, thread))],
        [
            {**structs.asdict(event.told()), "thread_id": ""}
            for event in threads.events(store, thread)
        ],
        [
            (one.ref, one.name, one.preview, one.created_at)
            for one in artifacts.listed(store, thread)
        ],
        [
            b"".join(artifacts.content(store, thread, one.ref))
            for one in artifacts.listed(store, thread)
        ],
    ]


def test_a_thread_comes_back_as_it_was(store: Store, thread: str, tmp_path: Path) -> None:
    bundle = packed(store, thread)
    with Store.open(
        tmp_path / "other", durable=False, clock=lambda: store.now_ms() / 1000
    ) as other:
        assert read_in(other, bundle) == thread
        before, after = told(store, thread), told(other, thread)
        imported = after[3].pop()
        assert (imported["type"], imported["payload"]["by"]) == ("thread.imported", "eve")
        assert after[:2] == before[:2]
        assert after[2:4] == named_by_bundle(before[2:4])
        assert after[4:] == before[4:]
        for version in (1, 2, 20, 41):
            assert (
                threads.state(other, thread, version)["facts"]
                == threads.state(store, thread, version)["facts"]
            )


def test_a_bundle_speaks_for_nobody_but_who_reads_it_in(
    store: Store, thread: str, tmp_path: Path
) -> None:
    bundle = packed(store, thread)
    with Store.open(tmp_path / "other", durable=False) as other:
        for actor, authors in (("eve", {"@ann", "@bob"}), ("ann", {"ann", "@bob"})):
            made = read_in(other, bundle, actor)
            assert threads.get(other, made).created_by == actor
            events = [one.payload["by"] for one in threads.events(other, made)]
            assert set(events[:-1]) == authors
            assert {one.by for one in threads.history(other, made)} == authors
            kept = {one.origin.actor for one in artifacts.listed(other, made)}
            assert kept == {"@ann" if actor == "eve" else "ann"}
        again = packed(other, read_in(other, packed(other, made), "eve"))
        assert b"@@" not in again


def test_the_same_thread_is_the_same_bytes(store: Store, thread: str, clock: Any) -> None:
    first = packed(store, thread)
    clock.seconds += 100
    assert packed(store, thread) == first


def test_a_thread_that_is_there_is_not_overwritten(store: Store, thread: str) -> None:
    copy = read_in(store, packed(store, thread))
    assert copy != thread
    assert threads.state(store, copy)["thread_id"] == copy
    assert threads.state(store, copy)["facts"] == threads.state(store, thread)["facts"]


Change = Callable[[dict[str, bytes]], None]


def rebuilt(bundle: bytes, change: Change, *, mends_manifest: bool = True) -> bytes:
    """The bundle with its files changed and, so that it is found out by more than a hash, its
    manifest to match.
    """
    from hashlib import sha256

    with zipfile.ZipFile(io.BytesIO(bundle)) as archive:
        files = {name: archive.read(name) for name in archive.namelist()}
    change(files)
    if mends_manifest and "manifest.json" in files:
        manifest = json.loads(files["manifest.json"])
        listed = {
            name: [len(text), sha256(text).hexdigest()]
            for name, text in files.items()
            if name != "manifest.json"
        }
        files["manifest.json"] = json.dumps({**manifest, "files": listed}).encode()
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in files.items():
            archive.writestr(name, text)
    return out.getvalue()


def setting(name: str, text: bytes) -> Change:
    return lambda files: files.__setitem__(name, text)


def blob(text: bytes) -> Change:
    def change(files: dict[str, bytes]) -> None:
        files[next(name for name in files if name.startswith("blobs/"))] = text

    return change


def line(name: str, old: bytes, new: bytes) -> Change:
    return lambda files: files.__setitem__(name, files[name].replace(old, new, 1))


@pytest.mark.parametrize(
    ("change", "mends_manifest"),
    [
        (setting("events.jsonl", b""), False),
        (setting("../../evil", b"x"), True),
        (setting("/etc/passwd", b"x"), True),
        (setting("blobs/../x", b"x"), True),
        (setting("blobs/" + "0" * 64, b"x"), True),
        (lambda files: files.pop("versions.jsonl"), True),
        (lambda files: files.pop("manifest.json"), True),
        (setting("manifest.json", b"{}"), False),
        (setting("manifest.json", b"[" * 100_000), False),
        (blob(b"something else"), True),
        (blob(b"\0" * 50_000_000), False),
        (setting("versions.jsonl", b""), True),
        (setting("versions.jsonl", b'{"at_ms":1,"by":"x","body":{"facts":7}}\n'), True),
        (line("versions.jsonl", b'"op":"add"', b'"op":"remove"'), True),
        (line("versions.jsonl", b'"change"', b'"chance"'), True),
        (setting("events.jsonl", b"{}\n"), True),
        (line("artifacts.jsonl", b'"size":', b'"size":-'), True),
        (line("artifacts.jsonl", b'"type":"', b'"type":"evil'), True),
        (line("artifacts.jsonl", b'"name":"', b'"name":"' + b"x" * 300), True),
    ],
)
def test_what_is_amiss_is_refused_whole(
    store: Store, thread: str, change: Change, mends_manifest: bool
) -> None:
    bundle = rebuilt(packed(store, thread), change, mends_manifest=mends_manifest)
    before = len(threads.recent(store))
    with pytest.raises(TerselyError) as caught:
        read_in(store, bundle)
    assert caught.value.code == "invalid_bundle"
    assert len(threads.recent(store)) == before
    assert not list((store.home / "incoming").iterdir())


SHARES = st.integers(0, 10_000)


@settings(max_examples=examples(60), deadline=None)
@given(st.data())
def test_damage_is_refused_or_harmless(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    with Store.open(tmp_path_factory.mktemp("home"), durable=False) as store:
        made = threads.create(store, "first", "ann").thread_id
        artifacts.put(store, made, [b"tea " * 100], words, origin=Origin("ann"))
        bundle = bytearray(packed(store, made))
        # Places are drawn as shares of the length, which differs a little from run to run.
        for share, value in data.draw(
            st.lists(st.tuples(SHARES, st.integers(0, 255)), min_size=1, max_size=4)
        ):
            bundle[share * (len(bundle) - 1) // 10_000] = value
        del bundle[data.draw(SHARES | st.just(10_000)) * len(bundle) // 10_000 :]
        try:
            copy = read_in(store, bytes(bundle))
        except TerselyError as error:
            assert error.code == "invalid_bundle"
        else:
            assert told(store, copy)[4:] == told(store, made)[4:]


@pytest.mark.parametrize("content", [b"", b"PK", b"no archive", b"PK\x05\x06" + b"\0" * 18])
def test_what_is_no_archive_is_refused(store: Store, content: bytes) -> None:
    with pytest.raises(TerselyError, match="invalid_bundle"):
        read_in(store, content)


def repeated(name: str, count: int) -> Change:
    def change(files: dict[str, bytes]) -> None:
        *before, last = files[name].splitlines(keepends=True)
        files[name] = b"".join(before) + last * count

    return change


@pytest.mark.parametrize("name", ["events.jsonl", "versions.jsonl"])
def test_lines_are_bounded(
    store: Store, thread: str, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.setattr(reading, "MAX_BUNDLE_LINES", 1_000)
    bundle = rebuilt(packed(store, thread), repeated(name, 1_000))
    with pytest.raises(TerselyError, match="more than 1,000 lines"):
        read_in(store, bundle)
    monkeypatch.setattr(writing, "MAX_BUNDLE_LINES", 30)
    with pytest.raises(TerselyError, match="payload_too_large"):
        packed(store, thread)


def test_the_bytes_of_all_versions_are_bounded(
    store: Store, thread: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    bundle = packed(store, thread)
    monkeypatch.setattr(reading, "MAX_BUNDLE_STATE_BYTES", 10_000)
    with pytest.raises(TerselyError, match="more than 20,000 bytes"):
        read_in(store, bundle)
    monkeypatch.setattr(writing, "MAX_BUNDLE_STATE_BYTES", 10_000)
    with pytest.raises(TerselyError, match="payload_too_large"):
        packed(store, thread)


def test_others_write_between_the_slices_of_a_bundle(
    store: Store, thread: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reading, "BUNDLE_SLICE_COMMANDS", 5)
    bundle = packed(store, thread)
    transactions: list[frozenset[str]] = []
    done = store.watch(transactions.append)
    copy = read_in(store, bundle)
    done()
    assert len(transactions) > 15
    assert told(store, copy)[0] == "first"


def test_a_bundle_that_is_refused_or_killed_in_the_middle_leaves_nothing(
    store: Store, thread: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reading, "BUNDLE_SLICE_COMMANDS", 5)
    bundle = packed(store, thread)

    def last_operation(files: dict[str, bytes]) -> None:
        head, _, tail = files["versions.jsonl"].rpartition(b'"op":"add"')
        files["versions.jsonl"] = head + b'"op":"remove"' + tail

    with Store.open(tmp_path / "other", durable=False) as other:
        with pytest.raises(TerselyError, match="does not follow"):
            read_in(other, rebuilt(bundle, last_operation))
        assert (other.last(f"thread/{thread}"), other.document(f"state/{thread}")) == (0, None)
        with monkeypatch.context() as patched:
            patched.setattr(reading, "_made", lambda *_: 1 / 0)  # a kill: what is written stays
            patched.setattr(Store, "discard", lambda *_: None)
            with pytest.raises(ZeroDivisionError):
                read_in(other, bundle)
        assert threads.recent(other) == []
        assert read_in(other, bundle) == thread
        assert told(other, thread)[3][:-1] == named_by_bundle(told(store, thread)[3])
