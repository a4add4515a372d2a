"""Calls of capabilities on behalf of a thread: checked, answered from memory or by the handler,
kept, and told.

    policy → hop limit → cache → handler → artifact → cache → event → preview and reference

What a call gives is an artifact of its thread. Artifact, remembered answer, event and figures are
one batch of the store. The same call made by several at once is made once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from concurrent.futures import Future
from functools import cache
from hashlib import sha256
from itertools import islice
from threading import Lock
from typing import NamedTuple

from msgspec import UNSET

from tersely.foundation.clock import Stopwatch
from tersely.foundation.errors import TerselyError
from tersely.foundation.limits import MAX_REFS, RECEIPT_SECONDS
from tersely.foundation.types import JsonMapping, JsonObject, Strings, frozen, replace
from tersely.relay.artifacts import artifacts
from tersely.relay.artifacts.artifacts import Artifact, CountTokens, Origin
from tersely.relay.encoding import canonical, decode, encode
from tersely.relay.policy import CapabilityReach, HeldBack, Policy, Rates
from tersely.relay.store.commands import Cache, Command, Count, StoreBatch
from tersely.relay.store.store import Store
from tersely.relay.store.streams import CAPABILITY_INVOKED, happened
from tersely.relay.threads import threads
from tersely.relay.threads.accounting import Size, scopes, spent
from tersely.relay.wire.documents import CapabilityTold

CALL_SECONDS = 120  # for a call that somebody else makes already
INLINE_ANSWER_BYTES = 16_384  # of a call, that are sent with its answer
MAX_TRIED_CHUNKS = 1_000  # of an answer
TENANT = "local"


@frozen
class Call:
    """A question of somebody to a capability."""

    thread_id: str
    capability: str
    arguments: JsonMapping
    actor: str
    hops: int = 0  # calls that led to this one
    source_refs: Strings = ()  # artifacts that the arguments were made from
    key: str = ""  # of idempotency


class Given(NamedTuple):
    """The result of a handler: an artifact's content, and what the agent would have had to read
    without it.
    """

    chunks: Iterable[bytes]
    kind: str = ""  # of the artifact, as its content looks if empty
    name: str = ""
    mime: str = ""
    replaced: Size | None = None  # None: the content itself
    is_searched: bool = True  # whether it is found by its words
    # artifacts, by their hashes, that the handler read beside those of the call
    made_from: Strings = ()


class Scope(NamedTuple):
    """For whom an answer holds, and until when: it is another where either is."""

    name: str
    version: str


@frozen
class Offer:
    """A capability that can be called. `run` may wait; it is given the call and raises what went
    wrong.

    `scope` says for which state of the world the answer to a call holds; without it nothing is
    remembered, nor where it says None.
    """

    name: str
    description: str
    arguments: JsonMapping  # a JSON Schema
    run: Callable[[Call], Given]
    reach: CapabilityReach = CapabilityReach.READ
    scope: Callable[[Call], Scope | None] | None = None
    remembered_seconds: int = 3_600
    # refuses calls whose arguments come from artifacts that are not trusted
    trusts_nobody: bool = False

    def told(self, held_back: int = 0) -> CapabilityTold:
        """The offer as doors list it, and the calls of it that were held back."""
        return CapabilityTold(
            self.name,
            self.description,
            dict(self.arguments),
            self.scope is not None,
            str(self.reach),
            self.remembered_seconds if self.scope else UNSET,
            held_back,
        )


@frozen
class InvocationResult:
    """The result of a call: its artifact, and how it came to be."""

    capability: str
    artifact: Artifact
    is_hit: bool
    cache_key: str
    duration_ms: int
    text: str | None  # all of the content, where it is short text

    def told(self) -> JsonObject:
        """The answer as doors send it."""
        told = {
            "capability": self.capability,
            "preview": self.artifact.preview.told(),
            "artifact_ref": self.artifact.ref,
            "artifact": {
                "type": self.artifact.type,
                "name": self.artifact.name,
                "size": self.artifact.size_bytes,
            },
            "cache_hit": self.is_hit,
            "cache_key": self.cache_key,
            "duration_ms": self.duration_ms,
            "trust": "untrusted",
        }
        return told if self.text is None else {**told, "text": self.text}


class Invocations:
    """The calls of all threads of one store."""

    def __init__(self, store: Store, policy: Policy, count_tokens: CountTokens) -> None:
        self._store = store
        self._policy = policy
        self._count_tokens = count_tokens
        self._rates = Rates(policy.calls_per_minute)
        self._declared: dict[str, Callable[[], Offer]] = {}
        self._running: dict[str, Future[Artifact]] = {}
        self._changing = Lock()
        self.held = HeldBack()  # calls, by their capabilities
        # how many calls have led to those that an actor makes now
        self.hops_of: Callable[[str], int] = lambda actor: 0

    def offer(self, offer: Offer) -> None:
        """Have a capability called from now on; raises `name_taken` where another has the name."""
        self.offer_later(offer.name, lambda: offer)

    def offer_later(self, name: str, declare: Callable[[], Offer]) -> None:
        """Have a capability called from now on which is declared when it is first asked for; raises
        `name_taken` where another has the name.
        """
        with self._changing:
            if name in self._declared:
                raise TerselyError(
                    "name_taken", f"there is a capability {name} already", "choose another name"
                )
            self._declared[name] = cache(declare)

    def withdraw(self, name: str) -> None:
        """Have it called no more."""
        with self._changing:
            self._declared.pop(name, None)

    def names(self) -> list[str]:
        """The names of all capabilities, sorted."""
        with self._changing:
            return sorted(self._declared)

    def offers(self) -> list[Offer]:
        """List capabilities, by name."""
        found = map(self.offered, self.names())
        return [offer for offer in found if offer is not None]

    def offered(self, name: str) -> Offer | None:
        """The capability of a name, None where there is none."""
        declare = self._declared.get(name)
        return None if declare is None else declare()

    def invoke(self, call: Call) -> InvocationResult:
        """Answer a call; raises what the pipeline refuses and what the handler could not do."""
        watch = Stopwatch()
        offer = self.offered(call.capability)
        if offer is None:
            hint = "`tersely relay cap list` lists what there is"
            raise TerselyError(
                "unknown_command", f"there is no capability {call.capability[:80]!r}", hint
            )
        call = replace(call, hops=max(call.hops, self.hops_of(call.actor)))
        self._check(offer, call)
        key = self._key(offer, call)
        remembered = self._repeated(call) or self._remembered(call, key)
        artifact = remembered or self._once(offer, call, key)
        is_hit = remembered is not None
        if is_hit:
            self._tell_hit(call, artifact, key)
        duration_ms = int(watch.seconds() * 1000)
        return InvocationResult(
            call.capability, artifact, is_hit, key, duration_ms, self._short_text(artifact)
        )

    def try_out(self, call: Call) -> bytes:
        """The content that a call would give that only reads, without a trace of it; raises what
        the pipeline refuses.
        """
        offer = self.offered(call.capability)
        if offer is None or offer.reach is not CapabilityReach.READ:
            raise TerselyError(
                "unknown_command", f"there is no {call.capability[:80]} that only reads"
            )
        self._check(offer, call)
        return b"".join(islice(offer.run(call).chunks, MAX_TRIED_CHUNKS))

    def _check(self, offer: Offer, call: Call) -> None:
        threads.get(self._store, call.thread_id)
        self._policy.check_payload(len(encode(call.arguments)))
        self._policy.check_call(offer.name, offer.reach, call.actor)
        try:
            self._policy.check_hops(call.hops)
            self._rates.take(call.actor)
        except TerselyError as error:
            self.held.note(error, [offer.name])
            raise
        if len(call.source_refs) > MAX_REFS:
            raise TerselyError(
                "invalid_argument", f"a call names at most {MAX_REFS} artifacts it was made from"
            )
        for ref in call.source_refs:
            artifacts.get(self._store, call.thread_id, ref)
        if offer.trusts_nobody and call.source_refs:
            hint = "let a person read them and make the call without them"
            raise TerselyError(
                "untrusted_ancestry",
                f"{offer.name} takes nothing that was made from artifacts",
                hint,
            )

    def _key(self, offer: Offer, call: Call) -> str:
        """The address of the answer, empty where none is remembered."""
        scope = offer.scope(call) if offer.scope else None
        return cache_key(offer.name, call.arguments, scope) if scope else ""

    def _repeated(self, call: Call) -> Artifact | None:
        """The artifact that the same request was answered with before."""
        kept = self._store.cached(_receipt(call)) if call.key else None
        if kept is None:
            return None
        fingerprint, digest = decode(kept)
        if fingerprint != _fingerprint(call):
            message = f"{call.key!r} was used before, for something else"
            raise TerselyError("key_reused", message, "use a new idempotency key for a new request")
        return artifacts.get(self._store, call.thread_id, digest)

    def _remembered(self, call: Call, key: str) -> Artifact | None:
        kept = self._store.cached(key) if key else None
        if kept is None:
            return None
        owner, digest = decode(kept)
        try:
            found = artifacts.get(self._store, owner, digest)
        except TerselyError:
            # it was removed from the thread that it was made for: made again, it is there again
            return None
        return (
            found
            if owner == call.thread_id
            else artifacts.shared(self._store, found, call.thread_id, call.actor)
        )

    def _once(self, offer: Offer, call: Call, key: str) -> Artifact:
        """Have the handler run, or wait for the same call of somebody else."""
        if not key:
            return self._run(offer, call, key)
        mine: Future[Artifact] = Future()
        with self._changing:
            theirs = self._running.setdefault(key, mine)
        if theirs is not mine:
            made = theirs.result(timeout=CALL_SECONDS)
            is_same = made.thread_id == call.thread_id
            return (
                made if is_same else artifacts.shared(self._store, made, call.thread_id, call.actor)
            )
        try:
            # whoever made it may have ended since this call looked for what is remembered
            made = self._remembered(call, key) or self._run(offer, call, key)
        except BaseException as error:
            mine.set_exception(error)
            raise
        else:
            mine.set_result(made)
            return made
        finally:
            with self._changing:
                del self._running[key]

    def _run(self, offer: Offer, call: Call, key: str) -> Artifact:
        given = offer.run(call)
        call = replace(
            call, source_refs=tuple(dict.fromkeys((*call.source_refs, *given.made_from)))
        )
        prepared = artifacts.prepare(
            self._store, call.thread_id, given.chunks, self._count_tokens,
            name=given.name or offer.name, kind=given.kind, mime=given.mime, replaced=given.replaced,
            is_searched=given.is_searched, origin=Origin(call.actor, call.capability, call.source_refs),
            most_bytes=self._policy.artifact_bytes, inline_bytes=INLINE_ANSWER_BYTES,
        )  # fmt: skip
        made = prepared.artifact
        commands: list[Command] = [*prepared.commands, self._invoked(call, made, key, is_hit=False)]
        if key:
            seconds = min(offer.remembered_seconds, self._policy.cache_seconds)
            until_ms = self._store.now_ms() + seconds * 1000
            commands.append(Cache(key, encode([call.thread_id, made.digest]), until_ms))
        where = scopes(call.thread_id, call.actor, call.capability, self._store.now_ms())
        counted = ("invocations", "cache_misses", "hops") if key else ("invocations", "hops")
        commands.extend(Count(scope, name) for scope in where for name in counted)
        if call.key:
            until_ms = self._store.now_ms() + RECEIPT_SECONDS * 1000
            commands.append(
                Cache(_receipt(call), encode([_fingerprint(call), made.digest]), until_ms)
            )
        self._store.commit(StoreBatch(tuple(commands)))
        return artifacts.get(self._store, call.thread_id, made.digest)

    def _tell_hit(self, call: Call, artifact: Artifact, key: str) -> None:
        """A call that was spared: what it stands for would have been read again, what is sent has
        been.
        """
        where = scopes(call.thread_id, call.actor, call.capability, self._store.now_ms())
        spared = spent(where, *artifact.sizes, invocations=1, cache_hits=1, hops=1)
        self._store.commit(StoreBatch((self._invoked(call, artifact, key, is_hit=True), *spared)))

    def _invoked(self, call: Call, artifact: Artifact, key: str, *, is_hit: bool) -> Command:
        told = {
            "capability": call.capability,
            "by": call.actor,
            "arguments": dict(call.arguments),
            "artifact_ref": artifact.ref,
            "cache_hit": is_hit,
            "cache_key": key,
            "hops": call.hops,
            "source_refs": list(call.source_refs),
        }
        return happened(call.thread_id, CAPABILITY_INVOKED, told)

    def _short_text(self, artifact: Artifact) -> str | None:
        if artifact.type == "binary" or artifact.size_bytes > INLINE_ANSWER_BYTES:
            return None
        content = b"".join(self._store.blob(artifact.digest))
        return content.decode("utf-8", "replace")


def _receipt(call: Call) -> str:
    return f"call/{call.actor}/{call.key}"


def _fingerprint(call: Call) -> str:
    return sha256(canonical([call.thread_id, call.capability, dict(call.arguments)])).hexdigest()


def cache_key(capability: str, arguments: JsonMapping, scope: Scope) -> str:
    """SHA-256 of everything that an answer depends on."""
    return sha256(
        canonical([TENANT, capability, dict(arguments), scope.name, scope.version])
    ).hexdigest()
