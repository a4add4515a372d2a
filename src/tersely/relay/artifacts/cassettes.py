"""Cassettes: artifacts that are referred to as `cass://<hash>` wherever they are. Those of no
thread have one of their own, which the first of them makes.
"""

from __future__ import annotations

from tersely.foundation.errors import TerselyError
from tersely.relay.artifacts import artifacts
from tersely.relay.artifacts.artifacts import Artifact
from tersely.relay.store.store import Store
from tersely.relay.store.streams import THREAD
from tersely.relay.threads import threads

THREAD_ID = "cassettes"


def own_thread(store: Store, actor: str) -> str:
    """The thread of the artifacts that belong to none, made where there is none yet."""
    if store.document(THREAD + THREAD_ID) is None:
        try:
            threads.create(store, "artifacts of no thread", actor, THREAD_ID)
        except TerselyError as error:
            if error.code != "version_conflict":  # somebody else has just made it
                raise
    return THREAD_ID


def get(store: Store, ref: str) -> Artifact:
    """The artifact that a reference means, of whatever thread; raises `artifact_not_found`,
    `ambiguous_artifact`.
    """
    digest = artifacts.resolve(store, ref)
    owner = next((name for name in store.owners(digest) if name.startswith(THREAD)), "")
    if not owner:
        raise TerselyError(
            "artifact_not_found",
            f"no thread has the artifact {ref[:80]}",
            "it may be swept away soon",
        )
    return artifacts.get(store, owner.removeprefix(THREAD), digest)
