"""The cost of sessions: tokens and time, of each session and of each tool."""

from __future__ import annotations

from typing import Any, NamedTuple

from tersely.agent.sessions.store import SessionStore
from tersely.foundation.types import Strings


class Spent(NamedTuple):
    """The cost of the requests of one session; `cached_tokens` of those whose server told."""

    id: str
    name: str
    requests: int
    prompt_tokens: int
    cached_tokens: int
    told_tokens: int  # of the prompts of which the server said how much was cached
    completion_tokens: int
    seconds: float

    @property
    def cached_percent(self) -> float | None:
        """The share of the prompts that was not evaluated again, None where no server told."""
        return 100 * self.cached_tokens / self.told_tokens if self.told_tokens else None


class ToolUse(NamedTuple):
    """The use of one tool."""

    tool: str
    tier: int
    calls: int
    completed: int
    denied: int
    tokens: int  # of what it gave
    mean_ms: float


class Analytics(NamedTuple):
    """Figures of some sessions, the latest first, and of their tools, the most used first."""

    sessions: tuple[Spent, ...]
    tools: tuple[ToolUse, ...]


def analytics(store: SessionStore, sessions: Strings) -> Analytics:
    """The figures of these sessions. What a fork shares with its origin is counted there, where it
    was spent.
    """
    marks = ", ".join("?" * len(sessions))
    spent = store.database.rows(
        "select sessions.id, sessions.name, count(prompt_tokens), coalesce(sum(prompt_tokens), 0), "
        "coalesce(sum(cached_tokens), 0), coalesce(sum(iif(cached_tokens is null, 0, prompt_tokens)), 0), "
        "coalesce(sum(completion_tokens), 0), coalesce(sum(duration_ms), 0) / 1000.0 from sessions "
        f"left join requests on requests.session_id = sessions.id where sessions.id in ({marks}) "
        "group by sessions.id order by updated_at desc",
        sessions,
    )
    used: list[Any] = store.database.rows(
        "select tool_name, tier, count(*), sum(status = 'completed'), sum(status = 'denied'), sum(tool_calls.tokens), "
        "avg(duration_ms) from tool_calls join messages on messages.id = tool_calls.message_id "
        f"where session_id in ({marks}) group by tool_name order by count(*) desc, tool_name",
        sessions,
    )
    return Analytics(tuple(Spent(*row) for row in spent), tuple(ToolUse(*row) for row in used))


def tiers_used(store: SessionStore, repository: str, besides: str, sessions: int) -> list[int]:
    """The highest tier that was called with success in each of the latest sessions of a repository
    that called any.
    """
    rows = store.database.rows(
        "select max(iif(status = 'completed', tier, 0)) from tool_calls "
        "join messages on messages.id = tool_calls.message_id join sessions on sessions.id = messages.session_id "
        "where repo_path = ? and sessions.id <> ? group by sessions.id order by max(updated_at) desc limit ?",
        (repository, besides, sessions),
    )
    return [tier for (tier,) in rows]
