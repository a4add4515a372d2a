"""A revision depends on which files there are, and on nothing else."""

from __future__ import annotations

from random import Random

from hypothesis import given
from hypothesis import strategies as st

from tersely.foundation.storage.hashing import HASH_BYTES, Revision, content_hash

contents = st.dictionaries(st.text(), st.binary(), max_size=8)


def pairs(files: dict[str, bytes]) -> list[tuple[str, bytes]]:
    return [(path, content_hash(content)) for path, content in files.items()]


def revision_of(files: list[tuple[str, bytes]]) -> str:
    revision = Revision()
    for path, digest in files:
        revision.add(path, digest)
    return str(revision)


def test_the_hash_of_some_bytes_never_changes() -> None:
    assert content_hash(b"tersely").hex() == "d3e187131a8b86c73c535b618027eeb1"
    assert len(content_hash(b"")) == HASH_BYTES


@given(contents, st.randoms(use_true_random=False))
def test_order_does_not_matter(files: dict[str, bytes], random: Random) -> None:
    shuffled = pairs(files)
    random.shuffle(shuffled)
    assert revision_of(shuffled) == revision_of(pairs(files))


@given(contents, contents)
def test_history_does_not_matter(before: dict[str, bytes], after: dict[str, bytes]) -> None:
    revision = Revision(revision_of(pairs(before)))
    for path, digest in pairs(before):
        if after.get(path) != before[path]:
            revision.remove(path, digest)
    for path, digest in pairs(after):
        if after[path] != before.get(path):
            revision.add(path, digest)
    assert str(revision) == revision_of(pairs(after))


@given(contents, contents)
def test_other_files_are_another_revision(some: dict[str, bytes], others: dict[str, bytes]) -> None:
    assert (revision_of(pairs(some)) == revision_of(pairs(others))) == (some == others)


def test_swapped_contents_are_another_revision() -> None:
    one, two = content_hash(b"1"), content_hash(b"2")
    assert revision_of([("a", one), ("b", two)]) != revision_of([("a", two), ("b", one)])


def test_the_revision_of_no_files_is_zero() -> None:
    assert revision_of([]) == "0" * (2 * HASH_BYTES) == str(Revision())


def test_paths_that_are_not_utf8_have_a_revision_too() -> None:
    assert revision_of([("caf\udce9.py", content_hash(b""))]) != revision_of(
        [("café.py", content_hash(b""))]
    )
