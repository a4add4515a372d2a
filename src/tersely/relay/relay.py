"""One relay: its home directory, opened."""

from __future__ import annotations

import os
import secrets
from collections.abc import Callable
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any, Self

from tersely.foundation.clock import wall_seconds
from tersely.foundation.errors import TerselyError
from tersely.relay import policy as policies
from tersely.relay.builtin import fetch, retrieval
from tersely.relay.calls import Calls, Offer
from tersely.relay.mail.mail import Mail
from tersely.relay.policy import Policy
from tersely.relay.services.services import Services
from tersely.relay.store.store import Store

PLUGINS = "tersely.capabilities"  # the group of entry points whose functions give an `Offer`
_TOKEN = "token"  # noqa: S105 - the name of the file
_TOKEN_BYTES = 32


class Relay:
    """The store, the policy and the calls of one home directory. May be used from any thread; close it."""

    def __init__(self, home: Path, store: Store, policy: Policy, count_tokens: Callable[[str], int]) -> None:
        self.home = home
        self.store = store
        self.policy = policy
        self.count_tokens = count_tokens
        self.calls = Calls(store, policy, count_tokens)
        self.mail = Mail(store)
        self.services = Services(store, self.calls, policy)
        self.complaints: list[str] = []  # of capabilities of others that could not be loaded
        self.calls.offer(retrieval.offer(store))
        self.calls.offer(fetch.offer(policy))

    @classmethod
    def open(
        cls,
        home: Path,
        count_tokens: Callable[[str], int],
        *,
        durable: bool = True,
        clock: Callable[[], float] = wall_seconds,
    ) -> Self:
        """Open the relay of a home directory, which is made for this user alone where there is none."""
        policy = policies.load(home)
        return cls(home, Store.open(home, durable=durable, clock=clock), policy, count_tokens)

    def load_plugins(self) -> None:
        """Offer what installed packages bring as entry points; one that fails is a complaint and harms no other."""
        for point in entry_points(group=PLUGINS):
            try:
                offer: Any = point.load()()
                if not isinstance(offer, Offer):
                    raise TypeError(f"gives {type(offer).__name__}, not an Offer")
                self.calls.offer(offer)
            except Exception as error:  # noqa: BLE001 - whatever somebody else's code does, the relay starts
                self.complaints.append(f"{point.name} of {point.value}: {type(error).__name__}: {error}")

    def close(self) -> None:
        """Write what waits, and let go of all files."""
        self.mail.close()
        self.store.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def token(home: Path) -> str:
    """The secret that clients of a home's relay show, made with the first question for it."""
    home.mkdir(mode=0o700, parents=True, exist_ok=True)
    path = home / _TOKEN
    try:
        with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
            file.write(secrets.token_urlsafe(_TOKEN_BYTES))
    except FileExistsError:
        pass
    except OSError as error:
        raise TerselyError("unwritable_output", f"{path}: {error.strerror}") from error
    found = path.read_text().strip()
    if not found:
        raise TerselyError("unreadable_file", f"{path} is empty", "delete it, and a new one is made")
    return found
