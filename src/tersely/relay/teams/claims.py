"""Claims: what an agent is about to change, so that no other changes it at the same time.

A claim has a lease. It is renewed whenever its holder asks the relay anything, lasts while the
holder says that it is working, and ends by itself otherwise: an agent that is gone holds nothing
for long. All claims of a project are one document of the store, which is changed as a whole: what
was granted is on the disk.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from typing import NamedTuple

import msgspec

from tersely.foundation.errors import TerselyError
from tersely.relay.encoding import encode, timestamp
from tersely.relay.store.commands import DocumentEdit, StoreBatch, Write
from tersely.relay.store.news import News
from tersely.relay.store.store import Store
from tersely.relay.teams.targets import overlap

MAX_CLAIMS = 1_000  # of one project
MAX_CLAIMED_PROJECTS = 10_000  # that are looked through when the relay starts
_CLAIMS = "claims/"


class Claim(NamedTuple):
    """Something that is held, for itself or with others."""

    target: str
    holder: str
    is_shared: bool
    since_ms: int
    until_ms: int
    lease_ms: int
    why: str
    root: str  # the directory in which its holder works

    def conflicts_with(self, other: Claim) -> bool:
        """True if the two cannot be held at the same time."""
        is_shared_by_both = self.is_shared and other.is_shared
        return (
            self.holder != other.holder
            and not is_shared_by_both
            and overlap(self.target, other.target)
        )


class ClaimWish(NamedTuple):
    """A claim that somebody wants to have."""

    holder: str
    targets: Sequence[str]
    lease_ms: int
    is_shared: bool = False
    why: str = ""
    root: str = ""


class Claims:
    """The claims of all projects. May be used from any thread."""

    def __init__(self, store: Store, is_working: Callable[[str], bool]) -> None:
        """`is_working` says of an agent whether it is at work now, by what it says of itself."""
        self._store = store
        self._is_working = is_working
        # by holder and project: when its leases are half over
        self._renewals: dict[str, dict[str, int]] = {}
        for name in store.names(_CLAIMS, "", MAX_CLAIMED_PROJECTS):
            project = name.removeprefix(_CLAIMS)
            self._note(project, self._stored(project))
        store.attend(self._hear)

    def take(self, project: str, wish: ClaimWish) -> list[Claim]:
        """Hold all targets or none; raises `already_claimed` where another agent holds one.

        What is held already is held anew.
        """
        now_ms = self._store.now_ms()
        wanted = [
            Claim(target, wish.holder, wish.is_shared, now_ms, now_ms + wish.lease_ms, wish.lease_ms, wish.why,
                  wish.root)
            for target in dict.fromkeys(wish.targets)
        ]  # fmt: skip

        def granted(held: list[Claim]) -> list[Claim]:
            for claim in wanted:
                _check(claim, held)
            names = set(wish.targets)
            others = [one for one in held if one.holder != wish.holder or one.target not in names]
            if len(others) + len(wanted) > MAX_CLAIMS:
                raise TerselyError(
                    "busy", f"{MAX_CLAIMS:,} claims are held in this project", "release some"
                )
            return [*others, *wanted]

        self._change(project, granted, wish.holder)
        return wanted

    def release(self, project: str, holder: str, targets: Collection[str] = ()) -> list[Claim]:
        """Give back what somebody holds, these targets or all of it; what was given back."""
        given_back: list[Claim] = []

        def without(held: list[Claim]) -> list[Claim]:
            given_back[:] = [
                one
                for one in held
                if one.holder == holder and (not targets or one.target in targets)
            ]
            return [one for one in held if one not in given_back]

        self._change(project, without, holder)
        return list(given_back)

    def is_holder(self, name: str) -> bool:
        """True if somebody holds anything in any project."""
        return any(one.holder == name for _, claims in self.by_project() for one in claims)

    def release_all(self, holder: str) -> list[Claim]:
        """Give back what somebody holds in all projects."""
        held = [
            project
            for project, claims in self.by_project()
            if any(one.holder == holder for one in claims)
        ]
        return [claim for project in held for claim in self.release(project, holder)]

    def listed(self, project: str, target: str = "") -> list[Claim]:
        """The claims of a project, the oldest first; with a target, those about it."""
        held = self._live(self._stored(project))
        return [one for one in held if not target or overlap(one.target, target)]

    def by_project(self) -> Iterator[tuple[str, list[Claim]]]:
        """The claims, project by project; those in which nothing is are left out."""
        for name in self._store.names(_CLAIMS, "", MAX_CLAIMED_PROJECTS):
            project = name.removeprefix(_CLAIMS)
            held = self.listed(project)
            if held:
                yield project, held

    def touch(self, holder: str) -> None:
        """Renew what somebody holds who has just asked something, where its lease is half over."""
        now_ms = self._store.now_ms()
        for project, due_ms in list(self._renewals.get(holder, {}).items()):
            if now_ms >= due_ms:
                self._change(
                    project, lambda held: [_renewed(one, holder, now_ms) for one in held], holder
                )

    def _change(
        self, project: str, change: Callable[[list[Claim]], list[Claim]], author: str
    ) -> None:
        """Change the claims of a project; what `change` raises refuses it."""

        def edit(body: bytes | None) -> DocumentEdit:
            return DocumentEdit(encode(change(self._live(_read(body)))), b"")

        self._store.commit(StoreBatch((Write(_CLAIMS + project, edit, author),)))
        self._note(project, self._stored(project))

    def _hear(self, news: News | None) -> None:
        """Know of claims that other processes have granted."""
        names = (
            self._store.names(_CLAIMS, "", MAX_CLAIMED_PROJECTS) if news is None else news.streams
        )
        for project in [name.removeprefix(_CLAIMS) for name in names if name.startswith(_CLAIMS)]:
            self._note(project, self._stored(project))

    def _stored(self, project: str) -> list[Claim]:
        found = self._store.document(_CLAIMS + project)
        return _read(found[1] if found else None)

    def _live(self, held: Iterable[Claim]) -> list[Claim]:
        return [
            one
            for one in held
            if self._store.is_in_force(one.until_ms - one.lease_ms, one.until_ms)
            or self._is_working(one.holder)
        ]

    def _note(self, project: str, held: Iterable[Claim]) -> None:
        for dues in list(self._renewals.values()):
            dues.pop(project, None)
        for one in held:
            dues = self._renewals.setdefault(one.holder, {})
            due_ms = one.until_ms - one.lease_ms // 2
            dues[project] = min(due_ms, dues.get(project, due_ms))


def _read(body: bytes | None) -> list[Claim]:
    return [] if body is None else msgspec.json.decode(body, type=list[Claim])


def _renewed(claim: Claim, holder: str, now_ms: int) -> Claim:
    return claim._replace(until_ms=now_ms + claim.lease_ms) if claim.holder == holder else claim


def _check(wanted: Claim, held: Iterable[Claim]) -> None:
    other = next((one for one in held if one.conflicts_with(wanted)), None)
    if other is None:
        return
    why = f": {other.why}" if other.why else ""
    message = f"{wanted.target} is held by {other.holder} since {timestamp(other.since_ms)} as {other.target}{why}"
    hint = f"until {timestamp(other.until_ms)}, or as long as it works; ask: tersely send {other.holder} TEXT"
    raise TerselyError("already_claimed", message, hint)
