"""The events of a turn as updates of a session: calls of tools with their diffs and locations, and
the plan.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from acp.helpers import (
    ToolCallContentVariant,
    plan_entry,
    start_tool_call,
    text_block,
    tool_content,
    tool_diff_content,
    tool_terminal_ref,
    update_plan,
    update_tool_call,
)
from acp.schema import (
    AgentPlanUpdate,
    ToolCallLocation,
    ToolCallProgress,
    ToolCallStart,
    ToolCallStatus,
    ToolKind,
)

from tersely.agent.events import ApprovalAsked, CallEnded, CallProgress, CallStarted
from tersely.doors.acp.places import EditorPlaces
from tersely.foundation.text.shortening import one_line
from tersely.foundation.types import JsonMapping, JsonObject

MAX_PLAN_ENTRIES = 50  # of one answer that are told as a plan
MAX_TITLE_CHARACTERS = 120
_HUNK = re.compile(r"@@ -(\d+)(?:,\d+)? \+(\d+)(?:,\d+)? @@")
_HEADER_LINES = 2  # the names of the file in a diff
_KINDS: Mapping[str, ToolKind] = {
    "read": "read", "search": "search", "list": "search", "outline": "search", "edit": "edit", "write": "edit",
    "create": "edit", "bash": "execute", "git": "execute", "fetch": "fetch", "browser": "fetch",
    "editor_open": "read", "editor_diagnostics": "read", "editor_edit": "edit", "editor_terminal": "execute",
}  # fmt: skip
_SUBJECTS = (
    "path",
    "symbol",
    "query",
    "text",
    "command",
    "arguments",
    "url",
    "server",
    "ref",
    "tier",
)
_STEP = re.compile(r"(?:\d{1,3}[.)]|[-*] \[(?P<mark>[ xX])\])\s+(?P<text>\S.*)")


def started(event: CallStarted, places: EditorPlaces) -> ToolCallStart:
    """A call that is about to be made."""
    given = _given(event.arguments)
    return start_tool_call(
        event.call_id, _title(event.tool, given), kind=_KINDS.get(event.tool, "other"), status="pending",
        content=_shown(event.preview, given, places) if event.preview else None,
        locations=_locations(given, event.preview, places), raw_input=given,
    )  # fmt: skip


def asked(event: ApprovalAsked, call: CallStarted, places: EditorPlaces) -> Any:
    """The call that somebody is asked about."""
    given = _given(call.arguments)
    return update_tool_call(
        event.call_id, title=_title(event.tool, given), kind=_KINDS.get(event.tool, "other"), status="pending",
        content=_shown(event.detail or event.what, given, places),
        locations=_locations(given, event.detail, places), raw_input=given,
    )  # fmt: skip


def progressed(event: CallProgress) -> ToolCallProgress:
    """The output of the command of a call so far, or the terminal that shows it."""
    return update_tool_call(event.call_id, status="in_progress", content=[_running(event)])


def _running(event: CallProgress) -> ToolCallContentVariant:
    return tool_terminal_ref(event.terminal) if event.terminal else _text(event.tail)


def ended(
    event: CallEnded, call: CallStarted | None, places: EditorPlaces, terminal: str = ""
) -> ToolCallProgress:
    """The outcome of a call; the terminal that has shown it stays."""
    given = _given(call.arguments) if call else {}
    diff = event.change.diff if event.change else ""
    content = _shown(diff, given | {"path": event.change.path}, places) if event.change else []
    content = [tool_terminal_ref(terminal)] if terminal else content
    status: ToolCallStatus = "completed" if event.status == "ok" else "failed"
    return update_tool_call(
        event.call_id, status=status, content=content or [_text(event.observation)],
        locations=_locations(given, diff, places), raw_output={"status": event.status, "text": event.observation},
    )  # fmt: skip


def plan_of(answer: str) -> AgentPlanUpdate | None:
    """The steps that an answer numbers or ticks off, None where it does neither."""
    steps = [step for line in answer.splitlines() if (step := _STEP.fullmatch(line.rstrip()))][
        :MAX_PLAN_ENTRIES
    ]
    entries = [
        plan_entry(step["text"], status="completed" if step["mark"] in {"x", "X"} else "pending")
        for step in steps
    ]
    return update_plan(entries) if entries else None


def _shown(detail: str, given: JsonMapping, places: EditorPlaces) -> list[ToolCallContentVariant]:
    """A diff for each hunk, where there are any; what is no diff as text."""
    path = places.absolute(str(given.get("path", "")))
    diffs: list[ToolCallContentVariant] = [
        tool_diff_content(path, hunk.after, hunk.before) for hunk in hunks(detail)
    ]
    return diffs if diffs and path else [_text(detail)]


def _locations(
    given: JsonMapping, diff: str, places: EditorPlaces
) -> Sequence[ToolCallLocation] | None:
    path = places.absolute(str(given["path"])) if given.get("path") else ""
    if not path:
        return None
    start = given.get("start")
    lines: list[int | None] = [hunk.line for hunk in hunks(diff)]
    return [
        ToolCallLocation(path=path, line=line)
        for line in lines or [start if isinstance(start, int) else None]
    ]


def _title(tool: str, given: JsonMapping) -> str:
    subject = next((str(given[name]) for name in _SUBJECTS if given.get(name)), "")
    return one_line(f"{tool} {subject}", MAX_TITLE_CHARACTERS)


def _given(arguments: str) -> JsonObject:
    found = json.loads(arguments)
    return dict(found) if isinstance(found, dict) else {}


def _text(text: str) -> ToolCallContentVariant:
    return tool_content(text_block(text))


class EditorHunk(NamedTuple):
    """Lines that change, with those around them; `before` is None where there was no file. `line`
    is in the new one.
    """

    line: int
    before: str | None
    after: str


def hunks(diff: str) -> list[EditorHunk]:
    """The hunks of a diff, none for a text that is no diff. What follows it is passed over."""
    lines = diff.split("\n")
    if len(lines) <= _HEADER_LINES or not lines[0].startswith("--- "):
        return []
    return list(_hunks(lines[_HEADER_LINES:]))


def _hunks(lines: list[str]) -> Iterator[EditorHunk]:
    at = 0
    while at < len(lines) and (header := _HUNK.match(lines[at])):
        start = at = at + 1
        while at < len(lines) and lines[at][:1] in {" ", "+", "-"}:
            at += 1
        body = lines[start:at]
        before = [line[1:] for line in body if line[0] != "+"]
        after = [line[1:] for line in body if line[0] != "-"]
        is_new = header[1] in {"0", "1"} and not before
        yield EditorHunk(int(header[2]), None if is_new else "\n".join(before), "\n".join(after))
