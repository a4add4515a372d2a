"""The part of an answer that an identity is shown which may not see all: the rows of lists that are
for it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from tersely.foundation.types import replace

if TYPE_CHECKING:
    from tersely.relay.access.access import Access
    from tersely.relay.access.principals import Principal

Sees = Callable[["Access", "Principal", Any], bool]


class _Rows(NamedTuple):
    """The rows of an answer, by the name of the member that has them, and who sees one."""

    member: str
    sees: Sees


def shown_to(access: Access, principal: Principal, capability: str, result: Any) -> Any:
    """The answer with those rows alone that an identity may see."""
    rows = _ROWS.get(capability)
    if rows is None:
        return result
    from msgspec import Struct, structs

    kept = [one for one in getattr(result, rows.member) if rows.sees(access, principal, one)]
    replaced = structs.replace if isinstance(result, Struct) else replace
    return replaced(result, **{rows.member: kept})


def _sees_thread(access: Access, principal: Principal, row: Any) -> bool:
    return access.is_member(principal, row.thread_id)


_ROWS: Mapping[str, _Rows] = {
    "thread.list": _Rows("threads", _sees_thread),
    "artifact.search": _Rows("results", _sees_thread),
    "mail.search": _Rows(
        "messages",
        lambda access, who, row: access.may_see_message(who, (row.sender, *row.recipients)),
    ),
    "mail.dead": _Rows(
        "messages", lambda access, who, row: access.may_see_message(who, (row.sender, row.mailbox))
    ),
    "agent.list": _Rows("permissions", lambda access, who, row: access.owns(who, row.agent)),
    "channel.list": _Rows("channels", lambda access, who, row: access.may_enter(who, row.name)),
}
