"""Artifacts by their words: the beginnings from an index, the rest of long ones by reading them."""

from __future__ import annotations

import re
from collections.abc import Sequence

from tersely.foundation.errors import TerselyError
from tersely.foundation.types import frozen
from tersely.relay.artifacts.artifacts import SEARCHED_BYTES, searched_in
from tersely.relay.artifacts.reading import first_mention
from tersely.relay.encoding import decode
from tersely.relay.store.store import Store
from tersely.relay.store.streams import THREAD
from tersely.relay.threads import threads

MAX_QUERY_WORDS = 32
MAX_SCANNED_BYTES = 200_000_000  # of long artifacts that one question reads beyond their beginning
MAX_LONG_ARTIFACTS = 1_000  # that one question looks at


@frozen
class FoundArtifact:
    """An artifact with the words that were looked for, which stand between « and »."""

    ref: str
    thread_id: str
    name: str
    type: str
    snippet: str


@frozen
class ArtifactSearch:
    """The hits of a search, the best first. `unread` long artifacts were searched in their
    beginning alone.
    """

    results: list[FoundArtifact]
    unread: int = 0


def search(store: Store, thread_id: str, query: str, limit: int) -> ArtifactSearch:
    """The artifacts of a thread, of all threads without one, whose text has the words of a query:
    all of them, or, where none has, any.
    """
    if thread_id:
        threads.get(store, thread_id)
    owner = THREAD + thread_id if thread_id else ""
    words = re.findall(r"\w+", query)[:MAX_QUERY_WORDS]
    if not words:
        return ArtifactSearch([])
    results = _in_index(store, owner, words, limit, all_words=True)
    if len(results) == limit:
        return ArtifactSearch(results)
    seen = {(one.thread_id, one.ref) for one in results}
    more, unread = _in_long(store, owner, words, seen, limit - len(results))
    found = [*results, *more] or _in_index(store, owner, words, limit, all_words=False)
    return ArtifactSearch(found, unread)


def searched_version(store: Store, thread_id: str) -> int:
    """Another number whenever a search in a thread may find something else."""
    return store.counts(searched_in(thread_id)).get("artifacts", 0)


def _in_index(
    store: Store, owner: str, words: Sequence[str], limit: int, *, all_words: bool
) -> list[FoundArtifact]:
    """The matches in the index of words, which has the beginnings of artifacts."""
    matches = store.search(owner, words, limit, all_words=all_words)
    return [_found(match.owner, match.digest, match.body, match.snippet) for match in matches]


def _in_long(
    store: Store, owner: str, words: Sequence[str], seen: set[tuple[str, str]], limit: int
) -> tuple[list[FoundArtifact], int]:
    """The matches in long artifacts, found by reading them, and the number of those that were not
    read.
    """
    results: list[FoundArtifact] = []
    long, unread = store.long_texts(owner, SEARCHED_BYTES, MAX_LONG_ARTIFACTS)
    left_bytes = MAX_SCANNED_BYTES
    for place, one in long:
        is_known = (place.removeprefix(THREAD), one.digest) in seen
        if is_known or len(results) == limit:
            continue
        if one.size_bytes > left_bytes:
            unread += 1
            continue
        left_bytes -= one.size_bytes
        try:
            snippet = first_mention(store, one.digest, words)
        except TerselyError:  # damaged, or just removed: whoever gets it is told
            unread += 1
            continue
        if snippet:
            results.append(_found(place, one.digest, one.body, snippet))
    return results, unread


def _found(owner: str, digest: str, body: bytes, snippet: str) -> FoundArtifact:
    about = decode(body)
    return FoundArtifact(digest, owner.removeprefix(THREAD), about["name"], about["type"], snippet)
