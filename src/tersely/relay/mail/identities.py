"""The users of names. A name is exclusive while it is in use; one that is bound to a token needs it
ever after.

All names are in memory, the store has what survives: only the process that holds the relay's lock
writes them.
"""

from __future__ import annotations

import hmac
import secrets
from collections.abc import Callable, Iterable, Mapping
from hashlib import sha256
from typing import NamedTuple

from tersely.foundation.activity import GONE, IDLE, WORKING
from tersely.foundation.errors import TerselyError
from tersely.foundation.text.agent_names import looks
from tersely.foundation.types import JsonMapping, field, frozen
from tersely.relay.store import mailboxes as boxes
from tersely.relay.store.mailboxes import Identity
from tersely.relay.store.store import Store
from tersely.relay.store.tables import Tables

MAX_IDENTITIES = 100_000
DIRECTORY = "workingDirectory"  # among the details of somebody: where they work
THREAD = "thread"  # likewise: the thread in which they work, as long as they are connected
SEEN_SECONDS = 60  # after which it is noted again that somebody without a connection uses a name
# the detail of a name that says whose it is, where that is not the relay's own user
IDENTITY = "identity"
QUIET_SECONDS = 900  # after its last hook or request, from which on an agent is taken for idle
GONE_SECONDS = 3_600  # likewise, for gone
_SECRET_BYTES = 24
# names with a meaning, and the kind of those who may have them
_MEANT: Mapping[str, str] = {"relay": "", "tldr": "service", "local": "user"}


class _Heard(NamedTuple):
    """The state of an agent without a connection, as its last hook or request shows it."""

    state: str
    at_ms: int


@frozen
class NameClaim:
    """The credentials of a client when it comes: the token of a name, or the one to resume with,
    and what it says of itself.
    """

    name: str
    kind: str | None = None
    project: str = ""
    details: JsonMapping = field(default_factory=dict)
    token: str = ""
    binds: bool = False
    resume: str = ""


@frozen
class NameSession:
    """The tokens that a client is given. `token` is there where the name has just been bound."""

    identity: Identity
    resume: str
    token: str = ""
    is_resumed: bool = False


class Identities:
    """The names of one relay."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._known: dict[str, Identity] = {}
        self._looks: dict[str, str] = {}  # the name that looks like this
        self._heard: dict[str, _Heard] = {}  # of names that are known
        self.reload()
        # who had said where they work before the relay started, and has not connected since
        self._before = {one.name for one in self.all() if DIRECTORY in one.details}

    def reload(self, names: Iterable[str] | None = None) -> None:
        """Read again who uses some names, or all."""
        if names is None:
            self._known.clear()
            self._looks.clear()
            for one in boxes.identities(self._store.reader):
                self._know(one)
            return
        for name in names:
            found = boxes.identities(self._store.reader, name)
            if found:
                self._know(found[0])
            else:
                self.forget(name)

    def get(self, name: str) -> Identity | None:
        """The identity that uses a name, or has; None where nobody did."""
        return self._known.get(name)

    def all(self) -> list[Identity]:
        """Everybody, by name."""
        return [self._known[name] for name in sorted(self._known)]

    def resolve(self, address: str) -> str | None:
        """The name that an address means: a name, or `project:name`."""
        if address in self._known:
            return address
        project, _, name = address.partition(":")
        found = self._known.get(name)
        return name if found is not None and found.project == project else None

    def by_resume(self, secret: str) -> str | None:
        """The name of the one whose resume token it is."""
        hashed = _hashed(secret)
        for name, one in list(self._known.items()):
            if one.resume is not None and hmac.compare_digest(one.resume, hashed):
                return name
        return None

    def open(
        self, claim: NameClaim, *, is_live: bool
    ) -> tuple[NameSession, Callable[[Tables], None]]:
        """A session for a name, and how it is written down; raises `name_taken`, `unauthorized` or
        `busy`.

        `is_live` says that somebody is connected under the name: then only whoever shows one of its
        tokens is let in.
        """
        before = self._known.get(claim.name)
        is_resumed = before is not None and _matches(before.resume, claim.resume)
        shows_token = before is not None and _matches(before.token, claim.token)
        if before is not None and before.token is not None and not (shows_token or is_resumed):
            hint = "show the token that it was given when the name was bound"
            raise TerselyError("unauthorized", f"the name {claim.name} is bound to a token", hint)
        if is_live and not (shows_token or is_resumed):
            raise TerselyError(
                "name_taken",
                f"{claim.name} is connected",
                "take another name, or wait until it is gone",
            )
        if before is None:
            self._check_new(claim)
        self._before.discard(claim.name)
        return self._opened(claim, before, is_resumed=is_resumed)

    def _check_new(self, claim: NameClaim) -> None:
        """Raise `name_taken` for a name that would be taken for another, `busy` where there are too
        many.
        """
        name, take_other = claim.name, "take another name"
        if (meant := self.resolve(name)) is not None:
            message = f"{name} is how {meant} is addressed, who is of that project"
            raise TerselyError("name_taken", message, take_other)
        check_misleading(name, claim.kind or "", is_from_elsewhere=IDENTITY in claim.details)
        for look in looks(name):
            if look in self._looks:
                message = f"{name} looks like {self._looks[look]}, who is somebody else"
                raise TerselyError("name_taken", message, take_other)
        if len(self._known) >= MAX_IDENTITIES:
            raise TerselyError("busy", f"{MAX_IDENTITIES:,} names are known")

    def _know(self, one: Identity) -> None:
        self._known[one.name] = one
        self._looks |= dict.fromkeys(looks(one.name), one.name)

    def check_shown(self, name: str, token: str) -> None:
        """Raise `unauthorized` where a name is bound and `token` is neither its token nor the id of
        its session.
        """
        known = self._known.get(name)
        is_bound = known is not None and known.token is not None
        if is_bound and not _is_shown(known, token):
            hint = "show it, in X-Relay-Token or the environment's TERSELY_TOKEN"
            raise TerselyError("unauthorized", f"the name {name[:80]} is bound to a token", hint)

    def meet(
        self, name: str, kind: str, token: str, *, is_live: bool
    ) -> Callable[[Tables], None] | None:
        """Somebody who sends without a connection: how a new name is written down; raises as `open`
        does.

        `token` is that of the name, or the id of its session, which the programs know that an agent
        runs.
        """
        self.check_shown(name, token)
        before = self._known.get(name)
        if is_live and not _is_shown(before, token):
            raise TerselyError(
                "name_taken", f"{name} is connected", "send through its own connection"
            )
        if before is not None:
            return self._seen(before)
        _, write = self.open(NameClaim(name, kind), is_live=False)
        return write

    def place(self, name: str, project: str, directory: str) -> Callable[[Tables], None] | None:
        """Note where somebody works who is known: how that is written down, None where it was
        known.
        """
        if self._known[name].details.get(DIRECTORY) == directory:
            return None
        known = self._known[name]
        details = {**known.details, DIRECTORY: directory}
        changed = self._known[name] = known._replace(project=project, details=details)
        return lambda tables: boxes.introduce(tables, changed)

    def hear(self, name: str, state: str = "") -> None:
        """Note that an agent without a connection does something: what a hook of it says, or that
        one which has said where it works has asked something, be it before the relay has started.
        """
        if name in self._known and (state or name in self._heard or name in self._before):
            self._heard[name] = _Heard(state or WORKING, self._store.now_ms())

    def heard(self, name: str) -> str:
        """The state of an agent without a connection; "" for who is none, or is gone."""
        state, at_ms = self._heard.get(name, (GONE, 0))
        seconds = (self._store.now_ms() - at_ms) / 1_000
        if state == GONE or seconds >= GONE_SECONDS:
            return ""
        return state if seconds < QUIET_SECONDS else IDLE

    def all_heard(self) -> list[str]:
        """The names of the agents without a connection that are there."""
        return [name for name in list(self._heard) if self.heard(name)]

    def works_in(self, name: str, thread_id: str) -> bool:
        """True if a thread is the one in which somebody works: the first that the session under a
        name has said.
        """
        known = self._known.get(name)
        if known is None:
            return False
        if THREAD not in known.details:
            details = {**known.details, THREAD: thread_id}
            self._known[name] = known._replace(details=details)
        return bool(self._known[name].details[THREAD] == thread_id)

    def _seen(self, known: Identity) -> Callable[[Tables], None] | None:
        """Note that somebody has used a name now: how that is written down, None where it was not
        long ago.
        """
        now_ms = self._store.now_ms()
        if abs(now_ms - known.last_ms) < SEEN_SECONDS * 1000:
            return None
        seen = self._known[known.name] = known._replace(last_ms=now_ms)
        return lambda tables: boxes.introduce(tables, seen)

    def check_retired(self, name: str, token: str, *, is_live: bool) -> None:
        """Raise `recipient_not_found`, `name_taken` or `unauthorized` for a name that cannot be
        retired.
        """
        known = self._known.get(name)
        if known is None:
            hint = "`tersely agents` lists them"
            raise TerselyError("recipient_not_found", f"no agent is called {name[:80]!r}", hint)
        if is_live:
            raise TerselyError("name_taken", f"{name} is connected", "end its program first")
        self.check_shown(name, token)

    def forget(self, name: str) -> None:
        """Have nobody use a name any more; the store has forgotten it."""
        self._known.pop(name, None)
        self._heard.pop(name, None)
        for look in looks(name):
            if self._looks.get(look) == name:
                del self._looks[look]

    def silent_since(self, before_ms: int) -> list[str]:
        """The names that nobody has used since a time, of those that are bound to no token and of
        no identity.
        """
        free = [one for one in self.all() if one.token is None and IDENTITY not in one.details]
        return [one.name for one in free if one.last_ms < before_ms]

    def _opened(
        self, claim: NameClaim, before: Identity | None, *, is_resumed: bool
    ) -> tuple[NameSession, Callable[[Tables], None]]:
        now_ms = self._store.now_ms()
        was = before or Identity(claim.name, first_ms=now_ms)
        details = {**was.details, **claim.details}
        if not is_resumed:
            details.pop(THREAD, None)
        resume = secrets.token_urlsafe(_SECRET_BYTES)
        token = secrets.token_urlsafe(_SECRET_BYTES) if claim.binds and was.token is None else ""
        made = was._replace(
            kind=claim.kind or was.kind,
            project=claim.project or was.project,
            details=details,
            token=_hashed(token) if token else was.token,
            session=was.session if is_resumed else secrets.token_hex(16),
            resume=_hashed(resume),
            last_ms=now_ms,
        )
        self._know(made)
        self._heard.pop(made.name, None)
        return NameSession(made, resume, token, is_resumed), lambda tables: boxes.introduce(
            tables, made
        )


def check_misleading(name: str, kind: str = "", *, is_from_elsewhere: bool = False) -> None:
    """Raise `name_taken` for a name that says to be the relay, its code service, or whoever asks at
    its own machine without a name, or that looks like one of these. What is such a service may be
    called so.
    """
    for meant in _MEANT.keys() & looks(name):
        is_own = name == meant and kind == _MEANT[meant] and not is_from_elsewhere
        if not is_own:
            hint = "take another name"
            raise TerselyError(
                "name_taken", f"{name} would be taken for the {meant} of the relay", hint
            )


def _hashed(secret: str) -> bytes:
    return sha256(secret.encode("utf-8", "surrogatepass")).digest()


def _is_shown(known: Identity | None, token: str) -> bool:
    """True if a token is that of a name or the id of its session."""
    if known is None or not token:
        return False
    is_session = hmac.compare_digest(known.session.encode(), token.encode("utf-8", "replace"))
    return is_session or _matches(known.token, token)


def _matches(hashed: bytes | None, secret: str) -> bool:
    return hashed is not None and bool(secret) and hmac.compare_digest(hashed, _hashed(secret))
