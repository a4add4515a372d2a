"""The one place that decides whether an identity may ask something, for every door of one relay."""

from __future__ import annotations

from collections.abc import Iterable
from threading import Lock
from typing import TYPE_CHECKING

from tersely.foundation.errors import TerselyError
from tersely.foundation.types import JsonMapping
from tersely.relay.access.audit import refusal_of
from tersely.relay.access.principals import Level, Principal, is_meant
from tersely.relay.access.rules import RULES
from tersely.relay.artifacts import artifacts
from tersely.relay.artifacts.cassettes import THREAD_ID as CASSETTES
from tersely.relay.mail.identities import IDENTITY, NameClaim
from tersely.relay.store.mailboxes import Sought
from tersely.relay.store.streams import THREAD
from tersely.relay.teams.board import PROJECT_THREAD
from tersely.relay.threads import threads

if TYPE_CHECKING:
    from tersely.relay.relay import Relay

MAX_KNOWN_MEMBERS = 100_000  # of threads, that are remembered
MAX_IDENTITY_NAMES = 1_000  # of agents, that one identity acts under
MAX_SOUGHT_MESSAGES = 100  # of one name in one thread, among which one that shares it is looked for
_HASH_CHARACTERS = 64
_ROOT = "root"  # the argument by which a capability reads a directory of the relay's machine


class Access:
    """The decisions of one relay. May be used from any thread."""

    def __init__(self, relay: Relay) -> None:
        self._relay = relay
        # identities and threads of which they are members
        self._members: set[tuple[str, str]] = set()
        self._changing = Lock()

    def check(
        self,
        principal: Principal,
        asked: str,
        arguments: JsonMapping,
        *,
        door: str = "capability",
    ) -> JsonMapping:
        """The arguments with which a question may be asked; raises what refuses it, which the audit
        log has then.
        """
        if principal.is_owner:
            return arguments
        try:
            return self._checked(principal, asked, arguments)
        except TerselyError as error:
            self.refused(principal, asked, error, door)
            raise

    def refused(self, principal: Principal, asked: str, error: TerselyError, door: str) -> None:
        """Have the audit log know of a question that was refused."""
        self._relay.audit.refused(refusal_of(error, principal, asked=asked, door=door))

    def act_as(self, principal: Principal, name: str) -> None:
        """Let an identity act under a name, which is its own from then on; raises `denied` where it
        is another's, and where whoever may only read takes more than its own, `busy`.
        """
        if principal.is_owner or self.owns(principal, name):
            return
        if name != principal.name and not principal.may(Level.WRITE):
            message = f"a token with the scope {principal.scopes.level} takes no name"
            raise TerselyError("denied", message, f"ask as {principal.name}")
        mail = self._relay.mail
        with self._changing:
            known = mail.identities.get(name)
            if known is None:
                self._check_room(principal)
                claim = NameClaim(name, "user", details={IDENTITY: principal.name})
                _, write = mail.identities.open(claim, is_live=False)
                mail.write(write)
        if known is None:
            mail.flush()
        elif known.details.get(IDENTITY) != principal.name:
            raise TerselyError("denied", f"the name {name[:80]} is another's", "take another name")

    # What rules ask

    def owns(self, principal: Principal, name: str) -> bool:
        """True if a name of an agent is this identity's."""
        known = self._relay.mail.identities.get(name)
        return principal.is_owner or (
            known is not None and known.details.get(IDENTITY) == principal.name
        )

    def is_member(self, principal: Principal, thread_id: str) -> bool:
        """True if an identity may look into a thread: its own, and those in which a member has
        written to it.
        """
        if principal.may(Level.ADMIN) or is_meant(principal.scopes.threads, thread_id):
            return True
        if thread_id.startswith(PROJECT_THREAD):
            return is_meant(principal.scopes.projects, thread_id.removeprefix(PROJECT_THREAD))
        if (principal.name, thread_id) in self._members:
            return True
        is_one = thread_id != CASSETTES and self._has_come_to(principal, thread_id)
        if is_one:
            if len(self._members) >= MAX_KNOWN_MEMBERS:
                self._members.clear()
            self._members.add((principal.name, thread_id))
        return is_one

    def thread_of(self, principal: Principal, ref: str) -> str:
        """A thread that has an artifact and into which an identity may look; raises
        `artifact_not_found`.

        What belongs to no thread is found by who stored it, and by who knows its whole hash.
        """
        store = self._relay.store
        named = ref.removeprefix("cass://").partition(":")[0]
        digest = artifacts.resolve(store, named)
        owners = [
            owner.removeprefix(THREAD) for owner in store.owners(digest) if owner.startswith(THREAD)
        ]
        for thread_id in owners:
            if self.is_member(principal, thread_id):
                return thread_id
        if CASSETTES in owners:
            found = artifacts.get(store, CASSETTES, digest)
            if len(named) == _HASH_CHARACTERS or self.owns(principal, found.origin.actor):
                return CASSETTES
        raise TerselyError(
            "artifact_not_found", f"there is no artifact {ref[:80]}", "it may have been swept away"
        )

    def reads_machine(self, capability: str) -> bool:
        """True if a capability that is called reads the disk of the relay's machine."""
        offer = self._relay.calls.offered(capability)
        return offer is not None and _ROOT in offer.arguments.get("properties", {})

    def is_of_machine(self, service: str) -> bool:
        """True if a service is one of the relay's machine, which reads its disk."""
        return any(service == one["name"] for one in self._relay.services.settings)

    def waits_for_permission(self, principal: Principal, permission: str) -> bool:
        """True if an agent of an identity waits for a permission."""
        waiting = self._relay.permissions.listed()
        return any(permission == one.id and self.owns(principal, one.agent) for one in waiting)

    # What is shown

    def may_see_message(self, principal: Principal, names: Iterable[str]) -> bool:
        """True if an identity is among those whom a message is from or for."""
        return any(self.owns(principal, name) for name in names)

    def may_enter(self, principal: Principal, channel: str) -> bool:
        """True if a channel is one of those that the token is for."""
        return is_meant(principal.scopes.channels, channel)

    def _check_room(self, principal: Principal) -> None:
        """Raise `busy` for an identity that has all the names that one may have."""
        everybody = self._relay.mail.identities.all()
        count = sum(one.details.get(IDENTITY) == principal.name for one in everybody)
        if count >= MAX_IDENTITY_NAMES:
            message = f"{principal.name} has {MAX_IDENTITY_NAMES:,} names"
            raise TerselyError("busy", message, "retire some: tersely agents retire NAME")

    def _checked(self, principal: Principal, asked: str, arguments: JsonMapping) -> JsonMapping:
        rule = RULES.get(asked)
        if rule is None:
            hint = "it is asked where the relay runs"
            raise TerselyError(
                "denied", f"{asked[:80]} is for the user that the relay belongs to", hint
            )
        if not principal.may(rule.level):
            message = (
                f"{asked[:80]} needs the scope {rule.level}, the token has {principal.scopes.level}"
            )
            raise TerselyError("denied", message, "ask whoever runs the relay")
        return rule.check(self, principal, arguments)

    def _has_come_to(self, principal: Principal, thread_id: str) -> bool:
        try:
            thread = threads.get(self._relay.store, thread_id)
        except TerselyError:
            return False
        return self.owns(principal, thread.created_by) or self._was_told(principal, thread_id)

    def _was_told(self, principal: Principal, thread_id: str) -> bool:
        """True if somebody else, who had to be a member, has sent a message of a thread to a name
        of an identity.
        """
        mail = self._relay.mail
        mine = [
            one.name for one in mail.identities.all() if one.details.get(IDENTITY) == principal.name
        ]
        for name in mine:
            for told in mail.history(Sought(name, thread_id), 0, MAX_SOUGHT_MESSAGES):
                came = any(recipient == name for recipient, _ in told.deliveries)
                if came and not self.owns(principal, told.sender):
                    return True
        return False
