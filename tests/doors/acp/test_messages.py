"""Messages as editors and agents exchange them: what comes out of the SDK's types is what went in;
our own updates.
"""

from __future__ import annotations

import json
from typing import Any

import pytest
from acp import schema
from hypothesis import given
from hypothesis import strategies as st
from pydantic import TypeAdapter

from tersely.agent.tools.files.diffs import difference
from tersely.doors.acp.places import EditorPlaces
from tersely.doors.acp.updates import hunks, plan_of

UPDATE = schema.SessionNotification.model_fields["update"].annotation
MESSAGES: list[tuple[Any, dict[str, Any]]] = [
    (schema.CancelNotification, {"sessionId": "s"}),
    (schema.NewSessionRequest, {"cwd": "/r", "mcpServers": [
        {"name": "n", "command": "c", "args": ["a"], "env": [{"name": "K", "value": "v"}]}]}),
    (schema.PromptRequest, {"sessionId": "s", "prompt": [
        {"type": "text", "text": "t"}, {"type": "resource_link", "name": "a.py", "uri": "file:///r/a.py"}]}),
    (schema.RequestPermissionRequest, {"sessionId": "s", "toolCall": {"toolCallId": "c"}, "options": [
        {"optionId": "o", "name": "O", "kind": "allow_once"}]}),
    (schema.RequestPermissionResponse, {"outcome": {"outcome": "selected", "optionId": "o"}}),
    (UPDATE, {"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": "t"}}),
    (UPDATE, {"sessionUpdate": "agent_thought_chunk", "content": {"type": "text", "text": "t"}}),
    (UPDATE, {"sessionUpdate": "plan", "entries": [{"content": "c", "priority": "high", "status": "pending"}]}),
    (UPDATE, {"sessionUpdate": "tool_call", "toolCallId": "c", "title": "t", "kind": "edit", "status": "pending",
              "locations": [{"path": "/r/a.py", "line": 3}], "rawInput": {"path": "a.py"}}),
    (UPDATE, {"sessionUpdate": "tool_call_update", "toolCallId": "c", "status": "completed", "content": [
        {"type": "diff", "path": "/r/a.py", "newText": "n"}, {"type": "terminal", "terminalId": "t"}]}),
]  # fmt: skip


@pytest.mark.parametrize(("kind", "message"), MESSAGES)
def test_messages_come_out_as_they_went_in(kind: Any, message: dict[str, Any]) -> None:
    adapter = TypeAdapter(kind)
    read = adapter.validate_python(message)
    assert json.loads(adapter.dump_json(read, by_alias=True, exclude_unset=True)) == message


LINES = st.lists(st.text("abc @+-", max_size=6), max_size=30)


@given(LINES, LINES)
def test_the_hunks_of_a_diff_lead_from_one_text_to_the_other(
    before: list[str], after: list[str]
) -> None:
    rest = "\n".join(before)
    for hunk in hunks(difference("a.py", before, after).text):
        assert hunk.before is None or hunk.before in rest
        assert hunk.after in "\n".join(after)
        rest = rest.replace(hunk.before, hunk.after, 1) if hunk.before else rest
    if len(list(hunks(difference("a.py", before, after).text))) == 1 and before and after:
        (only,) = hunks(difference("a.py", before, after).text)
        assert only.after == "\n".join(after[only.line - 1 :][: only.after.count("\n") + 1])


def test_a_text_that_is_no_diff_has_no_hunks() -> None:
    assert hunks("") == hunks("one\ntwo\nthree") == hunks("--- a\n+++ a\nnothing") == []


def test_a_plan_is_what_an_answer_numbers() -> None:
    told = plan_of("So:\n1. Read **it**.\n2) Change it.\n  3. not this\n- [x] Done.\n- nor this")
    assert told is not None
    assert [(entry.content, entry.status) for entry in told.entries] == [
        ("Read **it**.", "pending"), ("Change it.", "pending"), ("Done.", "completed"),
    ]  # fmt: skip
    assert plan_of("Nothing to do.") is None


def test_paths_are_those_of_the_editor() -> None:
    places = EditorPlaces("/seen/link", "/real/shop")
    assert places.absolute("a/b.py") == "/seen/link/a/b.py"
    assert places.absolute("../b.py") == places.absolute("/etc/passwd") == ""
    assert places.inside("file:///real/shop/a%20b.py#L3") == "@a b.py (L3)"
    assert places.inside("file:///seen/link/a.py") == "@a.py"
    assert places.inside("file:///etc/passwd") == "/etc/passwd"
    assert places.inside("https://a.b/c") == "https://a.b/c"
