"""Calls in the forms of the families in use, a sample of each as its specification writes it."""

from __future__ import annotations

import json
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.agent.tool_calling.tools import PATHS, TOOLS

from tersely.agent.models.protocol import RawCall
from tersely.agent.tool_calling import (
    CallFormat,
    MalformedCall,
    PathTrie,
    ToolCall,
    prose_reader,
    read_calls,
    read_raw_call,
)
from tersely.agent.tool_calling.foreign_call_formats import FORMATS
from tersely.agent.tools.table import TOOLS as TABLE
from tersely.foundation.limits import MAX_MODEL_CALLS

KNOWN = PathTrie(PATHS)
READ, SEARCH = ("read", {"path": "src/app.py"}), ("search", {"query": "x"})
CODE = 'def f(x):\n    return {"a": [1, "</tool_call>"]}  # </parameter> ✓\n'
R, S = (
    '{"name": "read", "arguments": {"path": "src/app.py"}}',
    '{"name": "search", "arguments": {"query": "x"}}',
)
PATH = "<parameter=path>\nsrc/app.py\n</parameter>"
SAMPLES = {  # by the number of the format in the table
    0: [
        f"<tool_call>\n{R}\n</tool_call>\n<tool_call>\n{S}\n</tool_call>",
        f"<tool_calls>\n{R}\n{S}\n</tool_calls>",
        f"<|tool_call|>[{R}, {S}]<|/tool_call|>",
        f"[TOOL_CALLS] [{R}, {S}]",
        f"functools[{R}, {S}]",
        f"<TOOLCALL>[{R}, {S}]</TOOLCALL>",
        '<|tools_prefix|>[{"read": {"path": "src/app.py"}}, {"search": {"query": "x"}}]<|tools_suffix|>',
        (
            '<|START_ACTION|>[{"tool_call_id": "0", "tool_name": "read", "parameters": {"path": "src/app.py"}},'
            ' {"tool_call_id": "1", "tool_name": "search", "parameters": {"query": "x"}}]<|END_ACTION|>'
        ),
        f"<|action_start|><|plugin|>\n{R}<|action_end|><|action_start|><|plugin|>\n{S}<|action_end|>",
        f"<|python_tag|>{R}; {S}",
    ],
    1: [
        '[TOOL_CALLS]read[ARGS]{"path": "src/app.py"}[TOOL_CALLS]search[CALL_ID]a1b2c3d4e[ARGS]{"query": "x"}',
        '[TOOL_CALLS]read{"path": "src/app.py"}[TOOL_CALLS]search{"query": "x"}',
        (
            "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>read\n"
            '```json\n{"path": "src/app.py"}\n```'
            "<｜tool▁call▁end｜>\n<｜tool▁call▁begin｜>function<｜tool▁sep｜>search\n"
            '```json\n{"query": "x"}\n```<｜tool▁call▁end｜><｜tool▁calls▁end｜>'
        ),
        (
            '<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>read<｜tool▁sep｜>{"path": "src/app.py"}<｜tool▁call▁end｜>'
            '<｜tool▁call▁begin｜>search<｜tool▁sep｜>{"query": "x"}<｜tool▁call▁end｜><｜tool▁calls▁end｜>'
        ),
        (
            "<|tool_calls_section_begin|><|tool_call_begin|>functions.read:0<|tool_call_argument_begin|>"
            '{"path": "src/app.py"}<|tool_call_end|><|tool_call_begin|>functions.search:1<|tool_call_argument_begin|>'
            '{"query": "x"}<|tool_call_end|><|tool_calls_section_end|>'
        ),
        '<function=read>{"path": "src/app.py"}</function><function=search>{"query": "x"}</function>',
        '>>>read\n{"path": "src/app.py"}\n>>>search\n{"query": "x"}',
        (
            '<|recipient|>read\n<|content|>{"path": "src/app.py"}<|stop|>\n'
            '<|recipient|>search\n<|content|>{"query": "x"}<|stop|>'
        ),
        'read\n{"path": "src/app.py"}\n>>>search\n{"query": "x"}',
        'Action: read\nAction Input: {"path": "src/app.py"}\nAction: search\nAction Input: {"query": "x"}',
        (
            '<|tool_call:begin|>a1<|tool_call:name|>read<|tool_call:args|>{"path": "src/app.py"}<|tool_call:end|>'
            '<|tool_call:begin|>b2<|tool_call:name|>search<|tool_call:args|>{"query": "x"}<|tool_call:end|>'
        ),
        (
            '<｜DSML｜function_calls>\n<｜DSML｜invoke name="read">\n{"path": "src/app.py"}\n</｜DSML｜invoke>\n'
            '<｜DSML｜invoke name="search">\n{"query": "x"}\n</｜DSML｜invoke>\n</｜DSML｜function_calls>'
        ),
    ],
    2: [
        (
            '<|channel|>commentary to=functions.read <|constrain|>json<|message|>{"path": "src/app.py"}<|call|>'
            '<|start|>assistant<|channel|>commentary to=functions.search<|message|>{"query": "x"}<|call|>'
        ),
        (
            '<|start|>assistant to=functions.read<|channel|>commentary json<|message|>{"path": "src/app.py"}<|call|>'
            '<|start|>assistant to=functions.search<|channel|>commentary json<|message|>{"query": "x"}<|call|>'
        ),
    ],
    3: [
        (
            f"<tool_call>\n<function=read>\n{PATH}\n</function>\n</tool_call>\n"
            "<tool_call>\n<function=search>\n<parameter=query>\nx\n</parameter>\n</function>\n</tool_call>"
        ),
        (
            '<minimax:tool_call>\n<invoke name="read">\n<parameter name="path">src/app.py</parameter>\n</invoke>\n'
            '<invoke name="search">\n<parameter name="query">x</parameter>\n</invoke>\n</minimax:tool_call>'
        ),
        (
            '<｜DSML｜function_calls>\n<｜DSML｜invoke name="read">\n<｜DSML｜parameter name="path" string="true">'
            'src/app.py</｜DSML｜parameter>\n</｜DSML｜invoke>\n<｜DSML｜invoke name="search">\n'
            '<｜DSML｜parameter name="query" string="true">x</｜DSML｜parameter>\n'
            "</｜DSML｜invoke>\n</｜DSML｜function_calls>"
        ),
        (
            "<tool_call>\n<function=read>\n<parameter=path>\nsrc/app.py\n</function>\n</tool_call>\n"
            "<tool_call>\n<function=search>\n<parameter=query>\nx\n</function>\n</tool_call>"
        ),
        (
            '<function name="read"><param name="path"><![CDATA[src/app.py]]></param></function>\n'
            '<function name="search"><param name="query">x</param></function>'
        ),
        "<read>\n<path>src/app.py</path>\n</read>\n<search>\n<query>x</query>\n</search>",
        (
            '<｜tool_calls_begin｜>\n<｜tool_call_begin｜>function<｜tool_sep｜><steptml:invoke name="read">\n'
            '<steptml:parameter name="path">src/app.py</steptml:parameter>\n</steptml:invoke><｜tool_call_end｜>\n'
            '<｜tool_call_begin｜>function<｜tool_sep｜><steptml:invoke name="search">\n'
            '<steptml:parameter name="query">x</steptml:parameter>\n</steptml:invoke><｜tool_call_end｜>'
        ),
        (
            ']<]minimax[>[<tool_call>]<]minimax[>[<invoke name="read">]<]minimax[>[<path>src/app.py]<]minimax[>[</path>'
            ']<]minimax[>[</invoke>]<]minimax[>[<invoke name="search">]<]minimax[>[<query>x]<]minimax[>[</query>'
            "]<]minimax[>[</invoke>]<]minimax[>[</tool_call>"
        ),
    ],
    4: [
        (
            "<tool_call>read\n<arg_key>path</arg_key>\n<arg_value>src/app.py</arg_value>\n</tool_call>\n"
            "<tool_call>search\n<arg_key>query</arg_key>\n<arg_value>x</arg_value>\n</tool_call>"
        ),
        (
            "<tool_call>read<arg_key>path</arg_key><arg_value>src/app.py</arg_value></tool_call>"
            "<tool_call>search<arg_key>query</arg_key><arg_value>x</arg_value></tool_call>"
        ),
        (
            "<tool_calls>\n<tool_call>read<tool_sep>\n<arg_key>path</arg_key>\n<arg_value>src/app.py</arg_value>\n</tool_call>"
            "\n<tool_call>search<tool_sep>\n<arg_key>query</arg_key>\n<arg_value>x</arg_value>\n</tool_call>\n</tool_calls>"
        ),
    ],
    5: [
        (
            "<start_function_call>call:read{path:<escape>src/app.py<escape>}<end_function_call>"
            "<start_function_call>call:search{query:<escape>x<escape>}<end_function_call>"
        ),
        (
            '<|tool_call>call:read{path:<|"|>src/app.py<|"|>}<tool_call|>'
            '<|tool_call>call:search{query:<|"|>x<|"|>}<tool_call|>'
        ),
    ],
    6: [
        '[read(path="src/app.py"), search(query="x")]',
        '<|python_start|>[read(path="src/app.py"), search(query="x")]<|python_end|>',
        '<|tool_call_start|>[read(path="src/app.py"), search(query="x")]<|tool_call_end|>',
        '<function_calls>read(path="src/app.py")\nsearch(query="x")</function_calls>',
        'read(path="src/app.py")\nsearch(query="x")',
        '```tool_code\nprint(default_api.read(path="src/app.py"))\nprint(default_api.search(query="x"))\n```',
        '<|python_tag|>read.call(path="src/app.py")\nsearch.call(query="x")<|eom_id|>',
    ],
    7: [
        f"```json\n[{R}, {S}]\n```",
        '{"name": "read", "parameters": {"path": "src/app.py"}}; {"name": "search", "parameters": {"query": "x"}}',
        f'{{"tool_calls": [{R}, {S}]}}',
    ],
}
EVERY = [sample for samples in SAMPLES.values() for sample in samples]


def called(answer: str, way: CallFormat = CallFormat.NATIVE) -> list[tuple[str, object]]:
    calls = read_calls(answer, TOOLS, KNOWN, way).calls
    assert all(isinstance(call, ToolCall) for call in calls), calls
    return [(call.tool, dict(call.arguments)) for call in calls if isinstance(call, ToolCall)]


def test_every_format_has_samples_and_a_specification() -> None:
    assert sorted(SAMPLES) == list(range(len(FORMATS)))
    assert len(FORMATS) <= 10
    assert all(source.startswith("https://") for form in FORMATS for source in form.sources)


@pytest.mark.parametrize(
    "way", [CallFormat.NATIVE, CallFormat.TEXT, CallFormat.GRAMMAR, CallFormat.SCHEMA]
)
@pytest.mark.parametrize("answer", EVERY)
def test_all_calls_of_an_answer_are_read_in_order(answer: str, way: CallFormat) -> None:
    assert called(answer, way) == [READ, SEARCH]
    if answer not in SAMPLES[7][1:]:
        assert called(f"I look.\n{answer}", way)[0] == READ


def shown(answer: str, cuts: Sequence[int]) -> str:
    """What is shown of an answer that comes in parts."""
    reader = prose_reader(CallFormat.NATIVE, TOOLS)
    ends = sorted({min(cut, len(answer)) for cut in cuts} | {len(answer)})
    parts = [answer[start:end] for start, end in zip([0, *ends], ends, strict=False)]
    return "".join([*map(reader.feed, parts), reader.rest()])


@pytest.mark.parametrize("answer", EVERY)
def test_nothing_of_a_call_is_shown_character_by_character(answer: str) -> None:
    said = f"I look.\n{answer}"
    assert shown(said, range(len(said))) == "I look.\n"


@given(st.sampled_from(EVERY), st.lists(st.integers(0, 400)))
def test_nothing_of_a_call_is_shown_however_it_comes_in(answer: str, cuts: list[int]) -> None:
    assert shown(answer, cuts) == ""
    assert shown(f"I look.\n{answer}", cuts) == "I look.\n"


SEPARATORS = [", ", ",\n", "; ", "\n", "\n\n"]
LISTED = {
    "python": ['read(path="src/app.py")', 'search(query="x")', 'search(query="x")'],
    "json": [R, S, S],
    "a name, then json": ['read {"path": "src/app.py"}', *['search {"query": "x"}'] * 2],
    "xml": [
        f"<function=read>{PATH}</function>",
        *["<function=search><parameter=query>x</parameter></function>"] * 2,
    ],
    "ours": [
        "<call read>\npath: src/app.py\n</call>",
        '<call search query="x"/>',
        "<call search>\nquery: x\n</call>",
    ],
}


@pytest.mark.parametrize("separator", SEPARATORS, ids=repr)
@pytest.mark.parametrize("form", LISTED)
def test_none_of_several_calls_is_lost_however_they_are_separated(
    form: str, separator: str
) -> None:
    answer = separator.join(LISTED[form])
    assert called(answer) == [READ, SEARCH, SEARCH]
    assert called(f"I look.\n{answer}") == [READ, SEARCH, SEARCH]


AMONG_WORDS = [
    f"I read it first.\n\n```json\n{R}\n```\n\nThen I can answer.",
    f"```json\n{R}\n```\nThis shows the lines.",
    "I read it:\n```python\nread(path='src/app.py')\n```\nand go on from there.",
    'First [read(path="src/app.py")] and then I answer.',
    '[read(path="src/app.py")]\nThat should be enough.',
]


@pytest.mark.parametrize("answer", AMONG_WORDS)
def test_a_call_that_stands_apart_counts_among_words(answer: str) -> None:
    assert called(answer) == [READ]
    before, _, _ = answer.partition("```" if "```" in answer else "[")
    assert shown(answer, range(len(answer))).rstrip() == before.rstrip()


DECLARATION = json.dumps({
    "name": "read",
    "description": "shows lines",
    "parameters": {"type": "object", "properties": {"path": {"type": "string"}}},
})  # fmt: skip
QUOTED = [
    DECLARATION,
    f"[{DECLARATION}]",
    f"```json\n{DECLARATION}\n```",
    f'{{"type": "function", "function": {DECLARATION}}}',
    f"I have this one:\n```json\n{DECLARATION}\n```\nIt shows lines.",
    f"I have this one:\n{DECLARATION}\nIt shows lines.",
    "read(path, start?, end?)",
    "I have:\n```\nread(path, start?, end?)\nsearch(query, kind?)\n```\nWhat shall I do?",
    f"I can call one of:\n```json\n{R}\n```\nor\n```json\n{S}\n```\nWhich?",
    f"A call looks so:\n```json\n{R}\n```\nIt needs a path.",
]


@pytest.mark.parametrize("answer", QUOTED)
def test_a_quoted_declaration_is_no_call(answer: str) -> None:
    assert read_calls(answer, TOOLS, KNOWN, CallFormat.NATIVE).calls == ()
    assert shown(answer, range(len(answer))) == answer


@pytest.mark.parametrize(
    "answer",
    [
        '{"name": "python", "arguments": {"code": "print(1)"}}',
        '```json\n{"name": "python", "arguments": {"code": "print(1)"}}\n```',
        '[{"name": "python", "arguments": {}}]',
    ],
)
def test_an_answer_that_is_a_call_of_an_unknown_tool_is_told_those_that_there_are(
    answer: str,
) -> None:
    (call,) = read_calls(answer, TOOLS, KNOWN, CallFormat.NATIVE).calls
    assert isinstance(call, MalformedCall)
    assert "there is no tool 'python'; there are read, search" in call.reason
    assert shown(answer, range(len(answer))) == ""


@pytest.mark.parametrize(
    ("arguments", "command"),
    [({"argv": "status"}, "git status"), ({}, "git"), ({"a": "x", "b": "y"}, ""), ({"n": 3}, "")],
)
def test_a_program_that_is_called_as_a_tool_is_a_command(
    arguments: dict[str, object], command: str
) -> None:
    tools = [tool for tool in TABLE if tool.name != "git"]
    answer = json.dumps({"name": "git", "arguments": arguments})
    (call,) = read_calls(answer, tools, KNOWN, CallFormat.NATIVE).calls
    if command:
        assert isinstance(call, ToolCall)
        assert (call.tool, call.arguments) == ("bash", {"command": command})
    else:
        assert isinstance(call, MalformedCall)
        assert "there is no tool 'git'; there are read" in call.reason


def test_code_with_bare_quotation_marks_is_read_where_it_ends_the_answer() -> None:
    body = 'def f(x):\\n    """Say "x", or: nothing."""\\n    return x or "none"\\n'
    said = f'{{\n  "name": "create",\n  "arguments": {{\n    "path": "new.py",\n    "body": "{body}"\n  }}\n}}'
    for answer in (said, f"```json\n{said}\n```"):
        (call,) = read_calls(answer, TABLE, KNOWN, CallFormat.NATIVE).calls
        assert isinstance(call, ToolCall)
        assert call.arguments["body"] == body.replace("\\n", "\n")
    for cut in (said[:-30], f"{said} more", f'{said}\n{{"x"'):
        found = read_calls(cut, TABLE, KNOWN, CallFormat.NATIVE).calls
        assert not any(isinstance(call, ToolCall) for call in found)


VALUES = st.recursive(
    st.sampled_from(
        ["1", "'a'", '"b"', "None", "null", "()", "b'x'", "...", "1j", "-1", "NaN", "x"]
    ),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3).map(lambda parts: f"[{', '.join(parts)}]"),
        st.lists(inner, max_size=3).map(lambda parts: f"{{{', '.join(parts)}}}"),
        st.tuples(inner, inner).map(lambda pair: f"{{{pair[0]}: {pair[1]}}}"),
    ),
    max_leaves=6,
)


@given(VALUES, st.sampled_from(list(CallFormat)))
def test_no_literal_breaks_the_reader(value: str, way: CallFormat) -> None:
    for answer in (
        value,
        f'{{{{"name": "read", "value": {value}}}}}',
        f"{{'name': 'read', 'arguments': {{'path': {value}}}}}",
        f"read(path={value})",
        f"[read({value})]",
        f"<tool_call>{{'name': 'read', 'arguments': {value}}}</tool_call>",
    ):
        for call in read_calls(answer, TOOLS, KNOWN, way).calls:
            json.dumps(dict(call.arguments))
        assert isinstance(shown(answer, range(len(answer))), str)
        assert read_raw_call(RawCall("read", answer), TOOLS, KNOWN)


def code_in(form: str, body: str) -> str:
    """An edit with this body, in one of the forms."""
    arguments = {"path": "src/app.py", "start": 3, "end": 4, "body": body}
    fields = [*arguments.items()]
    if form == "json":
        return f"<tool_call>\n{json.dumps({'name': 'edit_lines', 'arguments': arguments})}\n</tool_call>"
    if form == "python":
        return f"[edit_lines({', '.join(f'{name}={value!r}' for name, value in fields)})]"
    if form == "xml":
        inside = "".join(f"<parameter={name}>\n{value}\n</parameter>\n" for name, value in fields)
        return f"<tool_call>\n<function=edit_lines>\n{inside}</function>\n</tool_call>"
    if form == "pairs":
        inside = "".join(
            f"<arg_key>{name}</arg_key>\n<arg_value>{value}</arg_value>\n" for name, value in fields
        )
        return f"<tool_call>edit_lines\n{inside}</tool_call>"
    texts = "".join(f',{name}:<|"|>{value}<|"|>' for name, value in fields)
    return f"<|tool_call>call:edit_lines{{{texts[1:]}}}<tool_call|>"


@pytest.mark.parametrize("form", ["json", "python", "xml", "pairs", "braces"])
def test_code_survives_to_the_byte(form: str) -> None:
    ((_, arguments),) = called(code_in(form, CODE))
    assert arguments == {"path": "src/app.py", "start": 3, "end": 4, "body": CODE}


@pytest.mark.parametrize("form", ["json", "python"])
@given(st.lists(st.text(st.characters(exclude_categories=["C"]), max_size=20), max_size=6))
def test_any_code_survives_where_it_is_escaped(form: str, lines: list[str]) -> None:
    body = "".join(f"{line}\n" for line in lines if not line.strip().startswith(("```", "~~~")))
    ((_, arguments),) = called(code_in(form, body))
    assert arguments == {"path": "src/app.py", "start": 3, "end": 4, "body": body}


EXAMPLES = [
    '```json\n{"name": "x", "version": "1"}\n```',
    '```json\n{"name": "search", "version": "1"}\n```',
    "Models write `<tool_call>` before a call.",
    "Models write <tool_call> before a call, and </tool_call> behind it.",
    "Mistral puts [TOOL_CALLS] before a list of calls.",
    "```python\nread('src/app.py')\nprint(1)\n```\nThat reads it.",
    "<div>\n<function>x</function>\n</div>",
    "<div>\n<read>x</read>\n</div>",
    "if a < b:\n    [read]",
    f"Hermes models write:\n```\n<tool_call>\n{R}\n</tool_call>\n```",
    f"```xml\n<tool_call>\n{R}\n</tool_call>\n```\nis what Hermes models write.",
    f"Write `<tool_call>{R}</tool_call>` for it.",
    f"For example,\n```json\n{R}\n```\nreads a file.",
    f"~~~\n<function=read>\n{PATH}\n</function>\n~~~\nis the form of Qwen3-Coder.",
    "The template ends a turn with <|im_end|> and begins one with <|im_start|>user.",
    'You can call `read(path="src/app.py")` or search(query="x") for it.',
    "search {\n  color: red\n}",
    "[read](src/app.py) is the file, see [1] (src/app.py).",
    "Action: we should write tests.",
]


@pytest.mark.parametrize("answer", EXAMPLES)
def test_what_only_looks_like_a_call_is_shown_as_it_is(answer: str) -> None:
    assert read_calls(answer, TOOLS, KNOWN, CallFormat.NATIVE).calls == ()
    assert shown(answer, range(len(answer))) == answer


@pytest.mark.parametrize(
    "unit", ["<", "<tool_call>", "<tooltool", " ", "\n", "[a]", "read.", "<read>\n", "<|a|>read"]
)
def test_no_answer_takes_long_to_read(unit: str) -> None:
    answer = (unit * 20_000)[:20_000]  # with expressions that go back and forth these took minutes
    assert not any(
        isinstance(call, ToolCall)
        for call in read_calls(answer, TOOLS, KNOWN, CallFormat.NATIVE).calls
    )


def test_a_call_of_an_unknown_form_is_no_answer() -> None:
    (call,) = read_calls(
        "<|do|>read the file src/app.py<|done|>", TOOLS, KNOWN, CallFormat.NATIVE
    ).calls
    assert isinstance(call, MalformedCall)


@pytest.mark.parametrize(
    "answer",
    ['<tool_call>\n{"name": "read", "arguments": {"pa', "[TOOL_CALLS]rea", "<function=read>\n<p"],
)
def test_a_call_that_was_cut_off_is_no_answer(answer: str) -> None:
    (call,) = read_calls(answer, TOOLS, KNOWN, CallFormat.NATIVE).calls
    assert isinstance(call, MalformedCall)
    reader = prose_reader(CallFormat.NATIVE, TOOLS)
    assert reader.feed(answer) + reader.rest() == ""


def test_calls_behind_a_result_that_the_model_made_up_are_not_made() -> None:
    made_up = "<tool_response>\nnothing\n</tool_response>"
    answer = f"<tool_call>\n{R}\n</tool_call>\n{made_up}\n<tool_call>\n{S}\n</tool_call>"
    assert called(answer) == [READ]


def test_no_answer_makes_more_calls_than_there_may_be() -> None:
    assert len(called("\n".join([f"<tool_call>{R}</tool_call>"] * 40))) == MAX_MODEL_CALLS
    assert len(called(f"[TOOL_CALLS][{', '.join([R] * 40)}]")) == MAX_MODEL_CALLS


def test_calls_in_our_own_form_are_all_taken_too() -> None:
    answer = "<call read>\npath: src/app.py\n</call>\n\n<call search>\nquery: x\n</call>"
    assert called(answer, CallFormat.TEXT) == [READ, SEARCH]
    assert called(answer, CallFormat.GRAMMAR) == [READ]
