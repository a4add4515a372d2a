"""Whatever is asked of a store, in whatever order and over restarts, it answers as a few
dictionaries would.
"""

from __future__ import annotations

import shutil
import tempfile
from hashlib import sha256
from pathlib import Path

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    rule,
    run_state_machine_as_test,
)
from tests.depth import examples
from tests.own_postgres import Server
from tests.relay.conftest import Clock
from tests.relay.store.model import Model, RefusedError

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
from tersely.relay.store.store import INLINE_BLOB_BYTES, Store

NAMES = st.sampled_from(["a", "b/ü"])
WORDS = st.binary(max_size=3)
SMALL = st.integers(0, 3)
MOMENTS = st.integers(0, 20_000)  # ms from when the clock stood first
CONTENTS = (b"small", b"l" * (INLINE_BLOB_BYTES + 1), b"m" * 70_000)
DIGESTS = [sha256(content).hexdigest() for content in CONTENTS]
START_MS = int(Clock().seconds * 1000)


def growing(word: bytes) -> Command:
    return Append("a", "told", lambda given: word + b"%d" % sum(given))


def writing(name: str, word: bytes, expected: int | None) -> Command:
    return Write(name, lambda body: DocumentEdit((body or b"") + word, word), "ann", expected)


COMMANDS = st.one_of(
    st.builds(Append, NAMES, NAMES, WORDS),
    st.builds(growing, WORDS),
    st.builds(writing, NAMES, WORDS, st.none() | SMALL),
    st.sampled_from(range(len(CONTENTS))),  # to be taken in
    st.builds(Attach, NAMES, NAMES, st.sampled_from(DIGESTS), WORDS),
    st.builds(Detach, NAMES, NAMES),
    st.builds(Cache, NAMES, WORDS, MOMENTS.map(START_MS.__add__)),
    st.builds(Count, NAMES, NAMES, st.integers(-5, 5)),
)


class StoreAndModel(RuleBasedStateMachine):
    """Both are asked the same."""

    @initialize()
    def open(self) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="tersely-store-"))
        self.clock = Clock()
        self.model = Model()
        self.store = self.opened()

    def opened(self) -> Store:
        """The store, opened once more."""
        return Store.open(self.folder / "home", durable=False, clock=self.clock)

    @rule(drawn=st.lists(COMMANDS, max_size=5), key=st.sampled_from(["", "", "k", "l"]))
    def commit(self, drawn: list[Command | int], key: str) -> None:
        commands = tuple(
            one if not isinstance(one, int) else self.store.take_in([CONTENTS[one]])
            for one in drawn
        )
        batch = StoreBatch(
            commands, key, repr([type(one).__name__ for one in commands]).encode() if key else b""
        )
        try:
            self.model, expected = self.model.commit(batch, self.store.now_ms())
        except RefusedError as refused:
            with pytest.raises(TerselyError) as caught:
                self.store.commit(batch)
            assert caught.value.code == str(refused)
        else:
            assert self.store.commit(batch).given == expected

    @rule(key=NAMES)
    def remembered(self, key: str) -> None:
        assert self.store.cached(key) == self.model.remembered(key, self.store.now_ms())

    @rule(ago_ms=st.sampled_from([0, 3_000]))
    def sweep(self, ago_ms: int) -> None:
        older_than_ms = self.store.now_ms() - ago_ms
        assert self.store.sweep(older_than_ms) == self.model.sweep(older_than_ms)

    @rule(seconds=st.sampled_from([0.5, 2.0, 2.0, RECEIPT_SECONDS + 1.0]))
    def wait(self, seconds: float) -> None:
        self.clock.seconds += seconds

    @rule()
    def restart(self) -> None:
        self.store.close()
        self.store = self.opened()

    @invariant()
    def streams_and_documents_agree(self) -> None:
        for name in ("a", "b/ü"):
            entries = self.store.entries(name)
            assert [(one.kind, one.body) for one in entries] == self.model.streams.get(name, [])
            assert [one.number for one in entries] == list(range(1, self.store.last(name) + 1))
            bodies = self.model.documents.get(name, [])
            assert self.store.document(name) == ((len(bodies), bodies[-1]) if bodies else None)
            for number, body in list(enumerate(bodies, 1))[:2]:
                version = self.store.version(name, number, lambda before, change: before + change)
                assert version is not None
                assert version.body == body
            assert len(self.store.versions(name)) == len(bodies)
        assert self.store.names("b/") == [
            name for name in self.model.documents if name.startswith("b/")
        ]

    @invariant()
    def blobs_and_attachments_agree(self) -> None:
        for owner in ("a", "b/ü"):
            mine = {
                name: one for (whose, name), one in self.model.attachments.items() if whose == owner
            }
            told = [
                (one.name, (one.number, one.digest, one.body))
                for one in self.store.attachments(owner)
            ]
            assert told == sorted(mine.items(), key=lambda item: item[1])
        kept = {digest for digest in DIGESTS if self.store.size(digest) is not None}
        assert kept == set(self.model.blobs)
        for content, digest in zip(CONTENTS, DIGESTS, strict=True):
            if digest in kept:
                assert b"".join(self.store.blob(digest)) == content
        # no bytes without a row, and none apart for what is small
        assert self.large() == kept - {DIGESTS[0]}
        assert list((self.store.home / "incoming").iterdir()) == []

    def large(self) -> set[str]:
        """The blobs whose bytes lie apart from their rows."""
        return {path.name for path in (self.store.home / "blobs").rglob("*") if path.is_file()}

    @invariant()
    def counters_agree(self) -> None:
        for scope in ("a", "b/ü"):
            counted = {
                name: total
                for (where, name), total in self.model.counters.items()
                if where == scope
            }
            assert self.store.counts(scope) == counted

    def teardown(self) -> None:
        if hasattr(self, "store"):
            self.store.close()
            shutil.rmtree(self.folder)


class SharedStoreAndModel(StoreAndModel):
    """Likewise, of one tenant in PostgreSQL."""

    server: Server

    def opened(self) -> Store:
        tenant = self.folder.name.lower().replace("_", "-")
        return Store.open(
            self.folder / "home",
            url=self.server.url,
            tenant=tenant,
            durable=False,
            clock=self.clock,
        )

    def large(self) -> set[str]:
        return {row[0] for row in self.store.reader.rows("select digest from chunk")}


@pytest.mark.hypothesis
def test_a_store_is_what_its_model_says() -> None:
    run_state_machine_as_test(
        StoreAndModel,
        settings=settings(max_examples=examples(), stateful_step_count=25, deadline=None),
    )


@pytest.mark.slow
@pytest.mark.hypothesis
def test_a_store_in_postgresql_is_what_its_model_says(postgres: Server) -> None:
    SharedStoreAndModel.server = postgres
    few = settings(max_examples=examples(fast=8), stateful_step_count=25, deadline=None)
    run_state_machine_as_test(SharedStoreAndModel, settings=few)
