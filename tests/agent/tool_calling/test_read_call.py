"""Calls as models write them: read where there is no doubt, else answered with one line that says
what is wrong.
"""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.agent.tool_calling.tools import PATHS, TOOLS, first_call

from tersely.agent.models.protocol import RawCall
from tersely.agent.tool_calling import (
    CallFormat,
    MalformedCall,
    PathTrie,
    ToolCall,
    call_instructions,
    read_calls,
    read_raw_call,
)
from tersely.agent.tools.table import TOOLS as TABLE

KNOWN = PathTrie(PATHS)
READ = {"path": "src/app.py"}
EDIT = {"path": "src/app.py", "start": 3, "end": 4, "body": "def f():\n    return 1\n"}


def read_call(
    answer: str | RawCall, paths: PathTrie = KNOWN, way: CallFormat = CallFormat.TEXT
) -> ToolCall | MalformedCall | None:
    """The first call of an answer."""
    if isinstance(answer, RawCall):
        return read_raw_call(answer, TOOLS, paths)
    return first_call(answer, paths, way)


def called(answer: str | RawCall, way: CallFormat = CallFormat.TEXT) -> tuple[str, dict[str, Any]]:
    call = read_call(answer, KNOWN, way)
    assert isinstance(call, ToolCall), call
    return call.tool, dict(call.arguments)


@pytest.mark.parametrize(
    "answer",
    [
        "<call read>\npath: src/app.py\n</call>",
        "I look.\n\n<call read>\npath: src/app.py\n</call>\n",
        "<call read>\npath: src/app.py",
        "<call read>\npath = 'src/app.py'\n</call>",
        "  <call read>\n  path: `src/app.py`\n  </call>",
        '<call read path="src/app.py">\n</call>',
        '<call read path="src/app.py"/>',
        '<call name="read">\npath: src/app.py\n</call>',
        "```\n<call read>\npath: src/app.py\n</call>\n```",
        "```\n<call read>\npath: src/app.py\n```",
        "<call Read>\nfile: ./src/app.py\n</call>",
        "<call read>\npath: /srv/project/src/app.py\n</call>",
        "<call read>\npath: app.py\n</call>",
        "<call read>\npath: src\\app.py\n</call>",
        "<call read>\npath: src/app.py\nend:\n</call>",
        "<call read>\npath: src/app.py\n</call>\n<call read>\npath: README.md\n</call>",
        '<tool_call>\n{"name": "read", "arguments": {"path": "src/app.py"}}\n</tool_call>',
        '<tool_call>{"name": "read", "arguments": {"path": "src/app.py",}}',
        '<function=read>{"path": "src/app.py"}</function>',
        "<function=read>\n<parameter=path>\nsrc/app.py\n</parameter>\n</function>",
        '[TOOL_CALLS][{"name": "read", "arguments": {"path": "src/app.py"}}]',
        'Reading.\n```json\n{"tool": "read", "args": {"path": "src/app.py"}}\n```',
        'Reading.\n{"name": "read", "parameters": {"path": "src/app.py"}}',
        "{'tool': 'read', 'path': 'src/app.py'}",
        'First I read it.\nread("src/app.py")',
        "`read(path='src/app.py')`",
    ],
)
def test_a_call_is_read_in_the_forms_that_models_write(answer: str) -> None:
    assert called(answer) == ("read", READ)


@pytest.mark.parametrize(
    "answer",
    [
        "<call edit_lines>\npath: src/app.py\nstart: 3\nend: 4\n--- body\ndef f():\n    return 1\n</call>",
        "<call edit_lines>\npath: src/app.py\nstart: 3\nend: 4\n---\ndef f():\n    return 1\n</call>",
        "<call edit_lines>\npath: src/app.py\nstart: 3.0\nend: '4'\nbody:\ndef f():\n    return 1\n</call>",
        "<call edit_lines>\npath: src/app.py\nstart: 3\nend: 4\n--- body\n```py\ndef f():\n    return 1\n```\n</call>",
        "<call edit_lines>\npath: src/app.py\nstart: 3\nend: 4\ndef f():\n    return 1\n</call>",
        "<tool_call>" + json.dumps({"name": "edit_lines", "arguments": EDIT}) + "</tool_call>",
    ],
)
def test_code_needs_no_escapes(answer: str) -> None:
    assert called(answer) == ("edit_lines", EDIT)


def test_code_may_hold_what_ends_calls_elsewhere() -> None:
    body = "<html>\n</call> is the end\n  text\n<call me>\n--- search\n"
    answer = f"<call swap>\npath: README.md\n--- search\nold\n--- replace\n{body}</call>"
    assert called(answer) == ("swap", {"path": "README.md", "search": "old\n", "replace": body})


def test_a_fence_in_markdown_stays() -> None:
    answer = "<call create>\npath: notes.md\n--- body\n```\ncode\n```\n</call>"
    assert called(answer)[1]["body"] == "```\ncode\n```\n"


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (
            "<call remove>\npath: src/app.py\n</call>",
            "there is no tool 'remove'; there are read, search",
        ),
        ("<call read>\n</call>", "path is missing; read(path, start?, end?)"),
        ("<call read>\npath: src/ap.py\n</call>", "there is no 'src/ap.py', maybe src/app.py"),
        (
            "<call read>\npath: src/app.py\nstart: soon\n</call>",
            "start must be of type integer",
        ),
        (
            "<call tidy>\ncolour: red\n</call>",
            "there is no parameter 'colour'",
        ),
        (
            "<call read>\npath: src/app.py\nplease read it\n</call>",
            "'please read it' is no `name: value`",
        ),
        (
            "<call search>\nquery: x\nkind: regex\n</call>",
            "kind: 'regex' is not one of text, symbol, Meaning",
        ),
        (f"<call search>\nquery: x\nkind: {'y' * 9_000}\n</call>", "y' is not one of text"),
        (
            f"<call tidy>\n{'y' * 9_000}: x\n</call>",
            "there is no parameter 'yyy",
        ),
        (f"<call search>\nquery: {'x' * 41}\n</call>", "query is longer than 40 characters"),
        (
            "<call edit_lines>\npath: src/app.py\nstart: 1\nend: 2\n--- body\ndef f():",
            "does not end with </call>",
        ),
        ("<call", "there is no tool ''"),
        (
            "<call create>\npath: \x1b[2Ja\u202e.py\n--- body\n</call>",
            r"nobody sees: '\\x1b[2Ja\\u202e.py'",
        ),
        (
            '<tool_call>{"name": "read", "arguments": {"path": ["src/app.py"]}}</tool_call>',
            "path must be of type string",
        ),
    ],
)
def test_what_cannot_be_understood_is_said_in_one_line(answer: str, reason: str) -> None:
    call = read_call(answer)
    assert isinstance(call, MalformedCall), call
    assert reason in call.reason
    assert "\n" not in call.reason
    assert len(call.reason) < 500


@pytest.mark.parametrize(
    "answer",
    [
        "",
        "The function `read(path)` reads.",
        "{}",
        "Use <call> tags.",
        "<callback>\n</callback>",
        "a = read(1",
        "[1]",
    ],
)
def test_prose_is_no_call(answer: str) -> None:
    assert read_call(answer) is None


def test_repairs_are_told() -> None:
    call = read_call("<call Reed>\nfile: app.py\n</call>")
    assert isinstance(call, ToolCall)
    assert call.repairs == (
        "took 'Reed' for 'read'",
        "took 'file' for 'path'",
        "took 'app.py' for 'src/app.py'",
    )


def test_what_a_tool_that_only_looks_does_not_know_is_left_out() -> None:
    answer = f"<call search>\nquery: total\nrequired: query\n{'y' * 9_000}: x\n</call>"
    (call,) = read_calls(answer, TOOLS, KNOWN).calls
    assert isinstance(call, ToolCall)
    assert call.arguments == {"query": "total"}
    assert call.repairs[0] == "left out 'required'"
    assert len(call.repairs[1]) < 300


def test_what_may_mean_two_things_is_not_guessed() -> None:
    paths = PathTrie(["a/models.py", "b/models.py"])
    call = read_call("<call read>\npath: models.py\n</call>", paths)
    assert isinstance(call, MalformedCall)
    assert "maybe a/models.py or b/models.py" in call.reason


def test_a_native_call_is_checked_like_any_other() -> None:
    assert called(RawCall("read", '{"path": "src/app.py", "start": null}', "c1")) == ("read", READ)
    call = read_call(RawCall("read", '{"path": "src/app', "c1"))
    assert isinstance(call, MalformedCall)
    assert (call.tool, call.id) == ("read", "c1")


def test_half_a_character_is_none_that_can_be_kept() -> None:
    arguments = r'{"path": "a.py", "body": "x = \ud83d\n"}'
    assert called(RawCall("create", arguments)) == (
        "create",
        {"path": "a.py", "body": "x = \ufffd\n"},
    )


def test_an_envelope_holds_a_call_or_none() -> None:
    said = {"say": "I look.", "call": {"tool": "read", "path": "src/app.py"}}
    assert called(json.dumps(said), CallFormat.SCHEMA) == ("read", READ)
    assert read_call(json.dumps({"say": "Done.", "call": None}), KNOWN, CallFormat.SCHEMA) is None
    assert isinstance(read_call('{"say": "I was cut', KNOWN, CallFormat.SCHEMA), MalformedCall)


@given(
    st.text() | st.text("<>call/ \nread:path`{}[]\"'-=(),", max_size=120),
    st.sampled_from(list(CallFormat)),
)
def test_nothing_that_is_said_breaks_the_reader(answer: str, way: CallFormat) -> None:
    for said in (
        answer,
        f"<call {answer}",
        f"<call edit_lines>\n{answer}",
        RawCall("read", answer),
    ):
        call = read_call(said, KNOWN, way)
        assert call is None or isinstance(call, ToolCall | MalformedCall)


def test_a_file_elsewhere_is_not_taken_for_one_of_the_same_name() -> None:
    call = read_call("<call read>\npath: docs/README.md\n</call>")
    assert isinstance(call, MalformedCall)
    assert "maybe README.md" in call.reason


def test_quotes_of_a_text_stay() -> None:
    assert called('<call search>\nquery: "exact words"\n</call>') == (
        "search",
        {"query": '"exact words"'},
    )


SCRIPT = "python3 - <<'E'\nprint(1)\nE"


@pytest.mark.parametrize(
    ("answer", "command"),
    [
        (RawCall("bash", json.dumps({"command": SCRIPT})), SCRIPT),
        (f"<call bash>\n--- command\n{SCRIPT}\n</call>", SCRIPT),
        (f"<call bash>\ncommand:\n{SCRIPT}\n</call>", SCRIPT),
        ("<call bash>\ncommand: git log -1\n</call>", "git log -1"),
        (RawCall("bash", '{"command": "git log -1\\n"}'), "git log -1"),
    ],
)
def test_a_command_has_as_many_lines_as_it_needs(answer: str | RawCall, command: str) -> None:
    """And no more: the user is asked about what it is, by patterns that know no line breaks."""
    call = (
        read_raw_call(answer, TABLE, KNOWN)
        if isinstance(answer, RawCall)
        else read_calls(answer, TABLE, KNOWN, CallFormat.GRAMMAR).calls[0]
    )
    assert isinstance(call, ToolCall), call
    assert call.arguments == {"command": command}


@pytest.mark.parametrize("way", [CallFormat.GRAMMAR, CallFormat.TEXT, CallFormat.SCHEMA])
def test_the_example_of_a_call_can_be_made_in_every_repository(way: CallFormat) -> None:
    shown = call_instructions(way)
    example = shown[shown.index("{" if way is CallFormat.SCHEMA else "<call") :]
    example = example.partition(", or with")[0].partition("</call>")
    (call,) = read_calls("".join(example[:2]), TABLE, PathTrie([]), way).calls
    assert isinstance(call, ToolCall), call
