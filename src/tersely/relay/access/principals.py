"""Those who ask: the user that a relay belongs to, or an identity that a token stands for."""

from __future__ import annotations

from enum import StrEnum
from fnmatch import fnmatchcase

from tersely.foundation.types import Strings, frozen
from tersely.relay.store.store import DEFAULT_TENANT

LOCAL = DEFAULT_TENANT  # the tenant that the user's own programs belong to
EVERYTHING = ("*",)


class PrincipalKind(StrEnum):
    """The kinds of identities."""

    PERSON = "person"
    AGENT = "agent"


class Level(StrEnum):
    """The levels of what an identity may do; each includes those before it."""

    READ = "read"
    WRITE = "write"
    ADMIN = "admin"

    def includes(self, other: Level) -> bool:
        """True if this one may do what the other may."""
        order = list(Level)
        return order.index(self) >= order.index(other)


@frozen
class Scopes:
    """The reach of a token: a level, and patterns of names in the manner of file names.

    `threads` come beside those that the identity is a member of.
    """

    level: Level = Level.WRITE
    threads: Strings = ()
    channels: Strings = EVERYTHING
    projects: Strings = EVERYTHING


WRITER = Scopes()  # what a token is good for where nobody says otherwise


@frozen
class Principal:
    """An identity as one of its tokens shows it."""

    name: str
    kind: PrincipalKind = PrincipalKind.PERSON
    tenant: str = LOCAL
    scopes: Scopes = WRITER
    token_id: str = ""
    expires_ms: int | None = None

    @property
    def is_owner(self) -> bool:
        """True if it is the user that the relay belongs to, who needs no token."""
        return not self.name

    def may(self, level: Level) -> bool:
        """True if the token goes that far."""
        return self.scopes.level.includes(level)


OWNER = Principal("", scopes=Scopes(Level.ADMIN, EVERYTHING))


def is_meant(patterns: Strings, name: str) -> bool:
    """True if a name is one of those that the patterns mean."""
    return any(fnmatchcase(name, pattern) for pattern in patterns)
