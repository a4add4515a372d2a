"""The words and calls of a session so far, as the screen shows them."""

from __future__ import annotations

from collections.abc import Sequence

from tersely.agent.events import CallEnded, CallStarted
from tersely.agent.sessions.store import CallRow, SessionHistory
from tersely.doors.screen.shown import ShownWords

_STATUS_OF_KEPT = {"completed": "ok", "error": "failed", "pending": "interrupted"}


def transcript(history: SessionHistory) -> Sequence[ShownWords | CallStarted | CallEnded]:
    """Messages in their order, each with the calls that it asked for."""
    calls: dict[str, list[CallRow]] = {}
    for call in history.calls:
        calls.setdefault(call.message_id, []).append(call)
    shown: list[ShownWords | CallStarted | CallEnded] = []
    for each in history.messages:
        if each.role in {"user", "assistant"} and each.text.strip():
            shown.append(ShownWords(each.role, each.text))
        for call in calls.get(each.id, ()):
            status = _STATUS_OF_KEPT.get(call.status, call.status)
            shown.append(CallStarted(each.turn, call.id, call.tool, call.arguments))
            shown.append(CallEnded(each.turn, call.id, status, call.output, call.duration_ms))
    return shown
