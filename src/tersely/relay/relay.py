"""One relay: its home directory, opened."""

from __future__ import annotations

import os
import secrets
from collections import Counter
from collections.abc import Callable, Iterator
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any, Self

from tersely.foundation.activity import GONE, PERMISSION, WORKING
from tersely.foundation.clock import wall_seconds
from tersely.foundation.errors import TerselyError, failing_as
from tersely.foundation.storage.files import write_private
from tersely.foundation.storage.private import is_private, make_state
from tersely.foundation.types import Closing
from tersely.relay import policy as policies
from tersely.relay.access.access import Access
from tersely.relay.access.audit import Audit
from tersely.relay.builtin import fetch, retrieval
from tersely.relay.mail.brakes import Brakes
from tersely.relay.mail.mail import Mail
from tersely.relay.policy import Policy, Rates
from tersely.relay.services.calls import Invocations, Offer
from tersely.relay.services.figures import family
from tersely.relay.services.services import KnownServices
from tersely.relay.store import backup
from tersely.relay.store.mailboxes import Identity
from tersely.relay.store.store import DEFAULT_TENANT, Store, ahead_ms, check, is_made
from tersely.relay.teams.claims import Claims
from tersely.relay.teams.permissions import Permissions
from tersely.relay.teams.projects import KnownProjects
from tersely.relay.teams.trees import WorkingTrees

__all__ = [
    "PLUGINS",
    "HomeToken",
    "Relay",
    "ahead_ms",
    "backup",
    "check",
    "have_token",
    "make_home",
    "rotate_token",
]

# the group of entry points whose functions give an `Offer`
PLUGINS = "tersely.capabilities"
_TOKEN = "token"  # noqa: S105 - the name of the file
_TOKEN_BYTES = 32
_NEW_TOKEN = "`tersely relay token rotate` makes a new one"  # noqa: S105 - a hint


class Relay(Closing):
    """The store, the policy and the calls of one home directory. May be used from any thread; close
    it.
    """

    def __init__(
        self, home: Path, store: Store, policy: Policy, count_tokens: Callable[[str], int]
    ) -> None:
        self.home = home
        self.store = store
        self.policy = policy
        self.count_tokens = count_tokens
        self.calls = Invocations(store, policy, count_tokens)
        self.mail = Mail(store, Brakes(policy.turns, policy.messages_per_minute))
        self.services = KnownServices(store, self.calls, policy)
        self.claims = Claims(store, self.is_working)
        self.permissions = Permissions(store.now_ms)
        self.audit = Audit(store)
        self.access = Access(self)
        self.projects = KnownProjects(store)
        self.trees = WorkingTrees(self.mail.identities, self.projects)
        self.rates = Rates(policy.messages_per_minute)  # of questions
        self.about: Any = None  # what the process that serves it says of itself
        self.complaints: list[str] = []  # of capabilities of others that could not be loaded
        self.calls.offer(retrieval.offer(store))
        self.calls.offer(fetch.offer(policy))

    @classmethod
    def open(
        cls,
        home: Path,
        count_tokens: Callable[[str], int],
        *,
        url: str = "",
        tenant: str = DEFAULT_TENANT,
        durable: bool = True,
        clock: Callable[[], float] = wall_seconds,
        policy: Policy | None = None,
    ) -> Self:
        """Open the relay of a home directory, which is made for this user alone where there is
        none.

        `url` is the database of PostgreSQL that it keeps all in, and `tenant` whose: see
        `Store.open`. Without a `policy` it is that of the home.
        """
        policy = policy or policies.load(home)
        store = Store.open(home, url=url, tenant=tenant, durable=durable, clock=clock)
        return cls(store.home, store, policy, count_tokens)

    def is_working(self, agent: str) -> bool:
        """True if an agent says of itself that it is at work now."""
        return self.mail.presence.activity(agent) == WORKING

    def state_of(self, name: str) -> str:
        """The state of somebody: what they say of themselves, "connected" where that is nothing, and
        of who has no connection what hooks and requests show; "gone" where they are not here.
        """
        if name in self.mail.presence.connected():
            return self.mail.presence.activity(name) or "connected"
        heard = self.mail.identities.heard(name)
        if heard and any(one.agent == name for one in self.permissions.listed()):
            return PERMISSION
        return heard or GONE

    def here(self) -> list[Identity]:
        """The agents and users that are connected, or have lately shown without a connection that
        they are there, by name; no services.
        """
        identities = self.mail.identities
        names = {*self.mail.presence.connected(), *identities.all_heard()}
        known = (identities.get(name) for name in sorted(names))
        return [one for one in known if one is not None and one.kind != "service"]

    def figures(self) -> Iterator[str]:
        """The figures of services, calls and mail, for Prometheus."""
        yield from self.services.text()
        held = self.mail.brakes.held.reasons
        yield from _held_text("tersely_messages_held_back_total", "Messages of agents", held)
        held = self.services.held.reasons + self.calls.held.reasons
        yield from _held_text(
            "tersely_calls_held_back_total", "Questions to services, calls of capabilities", held
        )

    def load_plugins(self) -> None:
        """Offer what installed packages bring as entry points; one that fails is a complaint and
        harms no other.
        """
        for point in entry_points(group=PLUGINS):
            try:
                offer: Any = point.load()()
                if not isinstance(offer, Offer):
                    raise TypeError(f"gives {type(offer).__name__}, not an Offer")
                self.calls.offer(offer)
            except Exception as error:  # noqa: BLE001 - whatever somebody else's code does, the relay starts
                self.complaints.append(
                    f"{point.name} of {point.value}: {type(error).__name__}: {error}"
                )

    def close(self) -> None:
        """Write what waits, and let go of all files."""
        self.mail.close()
        self.store.close()


def _held_text(name: str, what: str, held: Counter[str]) -> Iterator[str]:
    samples = [("", {"code": code}, count) for code, count in sorted(held.items())]
    yield from family(name, "counter", f"{what} that were held back", samples)


def make_home(home: Path) -> None:
    """Make a home directory for this user alone.

    Raises `home_not_private` where others may look into it, `unwritable_output` where it cannot be
    made.
    """
    with failing_as("unwritable_output", home, "have TERSELY_HOME name a directory of this user"):
        make_state(str(home))
    if is_private(str(home)):
        return
    if home.stat().st_uid != os.geteuid():
        message = f"{home} belongs to another user"
        hint = "have TERSELY_HOME name a directory of this user"
    else:
        message, hint = f"others may look into {home}", f"chmod 700 {home}"
    raise TerselyError("home_not_private", message, hint)


class HomeToken:
    """The secret of a home, which whoever asks over TCP has to show; read again when its file is
    another.
    """

    def __init__(self, home: Path) -> None:
        """Raises `unreadable_file` where the home has none."""
        self._path = home / _TOKEN
        self._read_from: tuple[int, int] | None = None
        self._text = ""
        self.text()

    def text(self) -> str:
        """The secret in force. What is unreadable while the relay runs leaves the one before in
        force.
        """
        try:
            status = self._path.stat()
            file = (status.st_ino, status.st_mtime_ns)
            if file != self._read_from:
                self._text, self._read_from = self._path.read_text().strip(), file
        except OSError as error:
            if not self._text:
                raise TerselyError(
                    "unreadable_file", f"{self._path}: {error.strerror}", _NEW_TOKEN
                ) from error
        if not self._text:
            raise TerselyError("unreadable_file", f"{self._path} is empty", _NEW_TOKEN)
        return self._text


def have_token(home: Path) -> HomeToken:
    """The secret of a home. One without a database is new: whoever knew the secret of an earlier
    one is a stranger.
    """
    if not (is_made(home) and (home / _TOKEN).exists()):
        rotate_token(home)
    return HomeToken(home)


def rotate_token(home: Path) -> Path:
    """Give a home a new secret, which is in force at once; its file. Raises `unwritable_output`."""
    path = home / _TOKEN
    with failing_as("unwritable_output", path, "see what is there, and its disk"):
        write_private(path, secrets.token_urlsafe(_TOKEN_BYTES).encode())
    return path
