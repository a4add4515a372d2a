"""Claims on what is about to be changed."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import TYPE_CHECKING

from tersely.capabilities.answers.text import Style, aligned
from tersely.capabilities.declaration.declaration import (
    Effect,
    Role,
    frozen,
    group,
    option,
    positional,
    relay_capability,
)
from tersely.capabilities.relay.context import RelayContext
from tersely.foundation.storage.roots import enclosing_root
from tersely.foundation.types import Strings, field

if TYPE_CHECKING:
    from tersely.relay.relay import Relay
    from tersely.relay.teams import claims

MAX_CLAIM_TARGETS = 100  # of one question
LEASE_MINUTES = 10
MAX_LEASE_MINUTES = 24 * 60
_TARGETS = (
    "paths, globs such as src/**/*.py, symbols such as path.py:Class.method, or name:ANYTHING"
)


@frozen
class Where:
    """The project, or the directory in which who asks works, which is of one; doors that know it
    say it.
    """

    project: str = option("", "the project", hidden=True, maximum=100)
    root: str = option("", "where who asks works", hidden=True)

    def project_in(self, relay: Relay) -> str:
        """The id of the project that is meant, "" for none."""
        if self.project:
            return relay.projects.named(self.project)
        return relay.projects.project_of(self.root) if self.root else ""

    def from_root(self, target: str) -> str:
        """A target that is written as an absolute path below the directory, as it is from the root
        of the project.
        """
        if not (self.root and target.startswith("/")):
            return target
        return os.path.relpath(target, enclosing_root(self.root))


@frozen
class ClaimLine:
    """One claim. Times are ISO 8601 in UTC."""

    target: str
    holder: str
    shared: bool
    since: str
    until: str
    why: str
    root: str


@frozen
class ClaimList:
    """Claims of one project, the oldest first."""

    claims: list[ClaimLine]
    # why who asks may not write to the file that was named: it is outside of its own worktree
    elsewhere: str = ""
    # those about a target that was to be given back, where who asks holds none of that name
    kept: list[ClaimLine] = field(default_factory=list)


def _taken_text(found: ClaimList, style: Style) -> str:
    return "\n".join(f"yours until {one.until}: {style.symbol(one.target)}" for one in found.claims)


@relay_capability(
    "claim.take",
    _taken_text,
    'claim src/parser.py --why "new grammar"',
    "claim 'src/**/*.py' --shared",
    "claim name:release",
    effect=Effect.WRITE,
    fails=("already_claimed", "invalid_argument", "busy"),
)
def take(
    context: RelayContext,
    *,
    targets: Strings = positional(
        _TARGETS, role=Role.PATH, metavar="TARGET", minimum=1, maximum=MAX_CLAIM_TARGETS
    ),
    shared: bool = option(False, "others may hold it too, who say so as well"),
    minutes: int = option(
        LEASE_MINUTES,
        "how long, from whatever its holder last asks",
        minimum=1,
        maximum=MAX_LEASE_MINUTES,
    ),
    why: str = option("", "what for", maximum=200),
    where: Where = group(Where),
) -> ClaimList:
    """Claim what you are about to change, so that no other agent changes it meanwhile.

    All of it is claimed, or none where another agent holds a part. A claim lasts as long as its
    holder works or asks the relay something, and ends by itself when that stops. It holds in all
    worktrees and clones of a project.
    """
    from tersely.relay.teams.claims import ClaimWish

    wish = ClaimWish(
        context.agent,
        targets,
        minutes * 60_000,
        shared,
        why,
        where.root,
    )
    return _listed(context.relay.claims.take(where.project_in(context.relay), wish))


def _released_text(found: ClaimList, style: Style) -> str:
    lines = [f"released: {style.symbol(one.target)}" for one in found.claims]
    lines += [
        f"not released: {style.symbol(one.target)} is held by {one.holder} until {one.until}"
        for one in found.kept
    ]
    return "\n".join(lines) or "nothing was held"


@relay_capability(
    "claim.release", _released_text, "release src/parser.py", "release", effect=Effect.WRITE
)
def release(
    context: RelayContext,
    *,
    targets: Strings = positional(
        "what to give back (default: all)",
        default=(),
        role=Role.PATH,
        metavar="TARGET",
        maximum=MAX_CLAIM_TARGETS,
    ),
    where: Where = group(Where),
) -> ClaimList:
    """Give back what you have claimed."""
    project, held = where.project_in(context.relay), context.relay.claims
    given_back = held.release(project, context.agent, targets)
    others = set(targets) - {one.target for one in given_back}
    kept = dict.fromkeys(
        claim for target in sorted(others) for claim in held.listed(project, target)
    )
    return ClaimList(_lines(given_back), kept=_lines(kept))


def _list_text(found: ClaimList, style: Style) -> str:
    rows: list[Strings] = [("target", "holder", "", "since", "until", "why")]
    for one in found.claims:
        mode = "shared" if one.shared else ""
        rows.append((one.target, one.holder, mode, one.since, one.until, one.why))
    return "\n".join(aligned(rows, [style.symbol])) if found.claims else "nothing is claimed"


@relay_capability(
    "claim.list",
    _list_text,
    "claims",
    "claims src/parser.py",
    found=lambda result: bool(result.claims),
)
def claims_of(
    context: RelayContext,
    *,
    target: str = positional("those about this path, symbol or name", default="", role=Role.PATH),
    where: Where = group(Where),
) -> ClaimList:
    """What is claimed in this project, and by whom."""
    held = context.relay.claims.listed(where.project_in(context.relay), where.from_root(target))
    return _listed(held, context.relay.trees.why_not(context.agent, target))


def _listed(found: list[claims.Claim], elsewhere: str = "") -> ClaimList:
    return ClaimList(_lines(found), elsewhere)


def _lines(found: Iterable[claims.Claim]) -> list[ClaimLine]:
    from tersely.relay.encoding import timestamp

    return [
        ClaimLine(
            one.target,
            one.holder,
            one.is_shared,
            timestamp(one.since_ms),
            timestamp(one.until_ms),
            one.why,
            one.root,
        )
        for one in found
    ]
