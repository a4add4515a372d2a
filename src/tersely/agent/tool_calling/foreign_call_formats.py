"""Calls as models write them that were trained on other forms: one table of markers and of what
stands behind them.

A row is a mechanism, not a model: a marker that begins a call, and the grammar of its payload.
`FORMATS` names the specifications of each. A call in a code span is an example, and so are those in
a fence with words around it, unless they are the only ones and can be made as they stand.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import islice
from typing import NamedTuple

from tersely.agent.tool_calling.call import ToolCall
from tersely.agent.tool_calling.payloads import (
    END,
    OPEN,
    SPACE,
    Read,
    arguments_in,
    as_calls,
    braced_call,
    json_calls,
    loads,
    named_json,
    names_parameters,
    pairs_call,
    python_calls,
    xml_call,
)
from tersely.agent.tool_calling.text_call_format import WrittenCall
from tersely.agent.tool_calling.validation import checked
from tersely.agent.tools.declaration import AgentTool, by_names
from tersely.foundation.limits import MAX_MODEL_CALLS
from tersely.foundation.types import Strings

# of what may be calls of one format, each of which may be read to the end of the answer
MAX_BEGINNINGS_TRIED = 64

REPAIR = "read a call in another form"

_BAR = r"[|\uff5c]"
_NO_RESULT = r"(?!/)(?![^<>]{0,80}(?:respon[sc]e|result|output))"
_ABOUT = r"(?:tool|function|action|plugin)"
# A tag or special token that is about a tool: `<tool_call>`, `<|tool_call|>`,
# `<｜tool▁calls▁begin｜>`, `<TOOLCALL>`; also with blanks between bars, and DeepSeek's `<｜DSML｜
# calls>`.
_TAG = (
    rf"(?:<{_NO_RESULT}[\w:▁｜|-]{{0,40}}{_ABOUT}[\w:▁｜|-]{{0,40}}>"
    rf"|<{_NO_RESULT}{_BAR}[\w ▁:-]{{0,40}}{_ABOUT}[\w ▁:-]{{0,40}}{_BAR}>"
    rf"|<{_BAR}\w{{1,16}}{_BAR} ?calls>|<\|open\|>tools<\|sep\|>)"
)
_TOKEN = rf"<{_BAR}[^<>\n]{{1,48}}{_BAR}>"  # any special token
_PYTHON_TAG = r"<\|python_(?:tag|start)\|>"
_NAME = r"(?P<name>[A-Za-z_][\w.-]{0,64})(?::\d+)?"
_FENCE = r"```[ \t]{0,8}\w{0,40}[ \t]{0,8}\n"
_GAP = r"\s{0,16}"
_MARGIN = r"^[ \t]{0,40}"
_LABEL = r"(?:Action:[ \t]{0,8}|✿FUNCTION✿:[ \t]{0,8})"
_BRACKET = r"\[\w{1,32}\]"  # `[TOOL_CALLS]`, `[unused11]`
_FUNCTION = r"<[\w:｜|]{0,40} ?(?:function|invoke)(?:\s?=\s?|\s{1,8}name\s?=\s?)[\"']?"
# Between a name and its arguments.
_BEFORE_ARGUMENTS = rf"(?:\s|{_TOKEN}|\[CALL_ID\]\w{{1,40}}|\[ARGS\]|```\w{{0,16}}|Action Input:|✿\w{{1,16}}✿:){{0,40}}"
# Between two calls of one answer, and behind the last.
_END_TOKEN = (
    rf"<{_BAR}(?:/[^<>]{{0,80}}|[^<>]{{0,80}}(?:end|suffix|eom|eot|stop)[^<>]{{0,80}}|call){_BAR}>"
)
_BETWEEN = re.compile(
    rf"(?:\s|[,;\]]|`+|</[\w:｜| ]+>|{_END_TOKEN}|<end_\w+>|<\w+\|>|<\|close\|>\w+<\|sep\|>|\[END_TOOL_REQUEST\])*",
    re.IGNORECASE,
)
_RESULT = re.compile(
    r"<[|｜]?[\w▁:-]{0,40}(?:respon[sc]e|result|output)[\w▁:-]{0,40}[|｜]?>|\[TOOL_RESULTS\]|<\|im_start\|>"
)
# What means nothing but a call, also where nobody can read what follows: at the start of a line, or
# before a payload.
_CALL_TAG = rf"<[|｜]?{_NO_RESULT}[\w:▁-]{{0,40}}tool[▁_ ]?calls?(?:[▁_ ]\w{{1,16}}){{0,4}}[|｜]?>"
_BEGINS = rf"(?:{_CALL_TAG}|\[TOOL_CALLS\]|<function=|{_PYTHON_TAG})"
_CERTAIN = re.compile(
    rf"^[ \t]{{0,40}}{_BEGINS}|{_BEGINS}(?=\s{{0,16}}(?:[\[{{<]|\Z))", re.MULTILINE | re.IGNORECASE
)


class FoundCalls(NamedTuple):
    """The calls of a text, in order, and the index where the first begins; `problem` says why one
    cannot be read.
    """

    calls: tuple[WrittenCall, ...]
    start: int
    problem: str = ""


class ForeignFormat(NamedTuple):
    """One way to write calls: what begins it, how its payload is read, and where it is specified."""

    name: str
    marker: re.Pattern[str]
    read: Callable[[str, re.Match[str], Mapping[str, AgentTool]], Read | None]
    sources: Strings


def find(text: str, tools: Sequence[AgentTool]) -> FoundCalls | None:
    """The calls in a text that are written in one of the formats, at most MAX_MODEL_CALLS; None
    where none is begun.
    """
    by_name = by_names(tools)
    calls: list[WrittenCall] = []
    start, at = -1, 0
    has_examples = False
    while len(calls) < MAX_MODEL_CALLS:
        first = _next(text, at, by_name) if calls else _first(text, at, by_name)
        if first is None or (calls and _RESULT.search(text, at, first.start)):
            break
        at = first.end
        if not calls and _is_example(text, first, by_name, is_first=not has_examples):
            has_examples = True
            continue
        start = first.start if start < 0 else start
        calls += first.calls
    if calls:
        marked = tuple(call._replace(repairs=(REPAIR,)) for call in calls[:MAX_MODEL_CALLS])
        return FoundCalls(marked, start)
    begun = _certain(text, by_name)
    if begun is None:
        return _whole_answer(text)
    return FoundCalls(
        (), begun, "what was written as a call cannot be read: it may have been cut off"
    )


def _whole_answer(text: str) -> FoundCalls | None:
    """The calls that an answer as a whole is, whatever they name: it says nothing else."""
    opened = _OPENED_FENCE.match(text)
    inside = text[opened.end() :].rstrip().removesuffix("```") if opened else text
    value = loads(inside) if inside.lstrip()[:1] in {"{", "["} else None
    listed = value if isinstance(value, list) else [value]
    has_arguments = all(
        isinstance(each, Mapping) and isinstance(arguments_in(each), Mapping) for each in listed
    )
    calls = as_calls(value, {}) if has_arguments else []
    return FoundCalls(tuple(calls), len(text) - len(text.lstrip())) if calls else None


class _Placed(NamedTuple):
    start: int
    calls: list[WrittenCall]
    end: int


def _next(text: str, at: int, tools: Mapping[str, AgentTool]) -> _Placed | None:
    """The calls of the next payload: behind a call another may begin as at the start of a line."""
    placed = _first(text[at:], 0, tools)
    return placed and _Placed(placed.start + at, placed.calls, placed.end + at)


def _first(text: str, at: int, tools: Mapping[str, AgentTool]) -> _Placed | None:
    """The calls of the earliest payload from an index on; of formats that begin together, the first
    in the table.
    """
    best: _Placed | None = None
    for form in FORMATS:
        placed = _first_of(form, text, at, tools, len(text) if best is None else best.start)
        if placed is not None and (best is None or placed.start < best.start):
            best = placed
    return best


def _first_of(
    form: ForeignFormat, text: str, at: int, tools: Mapping[str, AgentTool], before: int
) -> _Placed | None:
    for begun in islice(form.marker.finditer(text, at), MAX_BEGINNINGS_TRIED):
        if begun.start() >= before:
            return None
        read = form.read(text, begun, tools)
        if read is None or not read.calls:
            continue
        behind = _BETWEEN.match(text, read.end)
        end = behind.end() if behind else read.end
        placed = _Placed(begun.start(), read.calls, end)
        if _is_marked(begun.group()) or _is_of_tools(form, text, placed, tools):
            return placed
    return None


_MARKED = re.compile(
    rf"{_TAG}|{_PYTHON_TAG}|{_FUNCTION}|^\s*functools|\[TOOL_|\bto=|call:|<\|open\|>", re.IGNORECASE
)


def _is_marked(marker: str) -> bool:
    """True if a marker means a call, whatever is called; any other may stand before any JSON or
    code.
    """
    return _MARKED.search(marker) is not None


def _is_of_tools(
    form: ForeignFormat, text: str, placed: _Placed, tools: Mapping[str, AgentTool]
) -> bool:
    """True if calls without a mark are calls of known tools. An expression has to end the answer
    too, unless it is a list of calls, or all that stands in a fence, with valid arguments.
    """
    if form.read is python_calls and placed.end < len(text):
        begun = text[placed.start : placed.end].lstrip()
        is_apart = begun.startswith("[") or (begun.startswith("```") and "```" in begun[3:])
        return is_apart and _can_be_made(placed.calls, tools)
    return all(
        call.tool in tools
        and (form.read is not named_json or names_parameters(call.values, tools[call.tool]))
        for call in placed.calls
    )


def _can_be_made(calls: Iterable[WrittenCall], tools: Mapping[str, AgentTool]) -> bool:
    """True if calls are of known tools, with arguments that fit their parameters."""
    offered = [*tools.values()]
    return all(
        call.tool in tools and isinstance(checked(call, offered), ToolCall) for call in calls
    )


# Examples: what stands in code spans and fences

_OPENED_FENCE = re.compile(r"\s*```\w{0,40}[ \t]*\n")
# words beside a fence that say that it shows how something is written
_SAYS_EXAMPLE = re.compile(
    r"\b(?:example|instance|e\.g|such as|like this|looks?|forms?|formats?|syntax|declar\w+"
    r"|could|would|might|writes?|written)\b",
    re.IGNORECASE,
)
_FENCE_LINE = re.compile(r"^[ \t]*(?:```|~~~)[^\n`]*$", re.MULTILINE)
_CODE = re.compile(
    r"^[ \t]*(```|~~~)[^\n]*\n.*?^[ \t]*\1[ \t]*$|(?<!`)`[^`\n]+`(?!`)", re.MULTILINE | re.DOTALL
)


def _is_example(
    text: str, placed: _Placed, tools: Mapping[str, AgentTool], *, is_first: bool
) -> bool:
    """True if calls are shown, not made: in a code span, or in a fence with words around it.

    A fence that begins with the marker may follow words: models without a form of their own write
    calls so. Words may stand around the only fenced calls of an answer too, where these can be made
    and the words do not say that they are an example.
    """
    before = text[: placed.start]
    fences = list(_FENCE_LINE.finditer(before))
    behind = _behind_fences(text, placed.end)
    if len(fences) % 2:
        before = before[: fences[-1].start()]
        has_words = bool(before.strip() or behind)
    elif before.rpartition("\n")[2].count("`") % 2:
        return True
    else:
        marker = re.split(r"[\[{(]", text[placed.start : placed.end], maxsplit=1)[0]
        has_words = ("```" in marker or "~~~" in marker) and bool(behind)
    return has_words and not (
        is_first
        and _can_be_made(placed.calls, tools)
        and _first(text, placed.end, tools) is None
        and not _SAYS_EXAMPLE.search(before.rstrip().rpartition("\n")[2])
        and not _SAYS_EXAMPLE.search(behind.lstrip().partition("\n")[0])
    )


def _behind_fences(text: str, at: int) -> str:
    """The text behind the last fence of a text, from an index on."""
    last = max(text.rfind("```"), text.rfind("~~~"))
    behind = text[max(at, last + 3) :]
    ended = _BETWEEN.match(behind)
    return behind[ended.end() :] if ended else behind


def _certain(text: str, tools: Mapping[str, AgentTool]) -> int | None:
    """The place where something begins that can be nothing but a call, outside of examples; None
    where nothing does.
    """
    plain = _CODE.sub(lambda code: " " * len(code.group()), text)
    names = "|".join(map(re.escape, tools))
    of_tool = re.search(rf"{_TOKEN}\s*(?:functions\.)?(?:{names})\b", plain) if names else None
    found = [each.start() for each in (_CERTAIN.search(plain), of_tool) if each is not None]
    return min(found, default=None)


_VLLM = "https://github.com/vllm-project/vllm/blob/main/vllm/tool_parsers/"
_HUB = "https://huggingface.co/"


def _marker(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.MULTILINE | re.IGNORECASE)


FORMATS: tuple[ForeignFormat, ...] = (
    # Hermes, Qwen 2.5 and 3, Granite, Phi-4, Mistral's old list, Llama's JSON, Command R, Jamba,
    # InternLM
    ForeignFormat(
        "JSON behind a tag",
        _marker(rf"(?:{_TAG}|{_PYTHON_TAG}|\[TOOL_CALLS\]|\[TOOL_REQUEST\]|functools)"
                rf"(?:{_GAP}(?:{_TAG}|```\w{{0,40}}\n)){{0,3}}{_GAP}(?=[\[{{])"),
        json_calls,
        (f"{_VLLM}hermes_tool_parser.py", f"{_VLLM}granite_tool_parser.py", f"{_VLLM}phi4mini_tool_parser.py"),
    ),
    # before it a tag, `[TOOL_CALLS]`, `<function=`, `>>>`, `Action:`, any special token, or a
    # line's start
    ForeignFormat(
        "a name, then JSON: Mistral, DeepSeek, Kimi, Llama, Functionary, GLM 4",
        _marker(rf"(?:(?:{_TAG}{_GAP}(?:[\w.:-]{{1,64}}{_GAP})?){{0,3}}(?:{_TAG}|{_BRACKET}|{_FUNCTION}){_GAP}"
                rf"|{_TOKEN}{_GAP}|>>>|{_MARGIN}{_LABEL}?){_NAME}[\"']?[ \t]{{0,8}}>?{_BEFORE_ARGUMENTS}(?=\{{)"),
        named_json,
        ("https://docs.mistral.ai/cookbooks/concept-deep-dive-tokenization-tool_calling",
         f"{_HUB}deepseek-ai/DeepSeek-V3.1/blob/main/README.md",
         f"{_HUB}moonshotai/Kimi-K2-Instruct/blob/main/docs/tool_call_guidance.md",
         "https://www.llama.com/docs/model-cards-and-prompt-formats/llama3_1/"),
    ),
    ForeignFormat(
        "a channel: gpt-oss",
        _marker(rf"(?:<\|end\|>)?(?:<\|start\|>assistant)?(?:<\|channel\|>\w{{1,16}})?[ \t]{{0,8}}\bto={_NAME}"
                rf"(?:[ \t]{{0,8}}(?:<\|(?:channel|constrain)\|>)?[ \t]{{0,8}}\w{{1,40}}){{0,4}}"
                rf"[ \t]{{0,8}}<\|message\|>{_GAP}(?=\{{)"),
        named_json,
        ("https://cookbook.openai.com/articles/openai-harmony",),
    ),
    ForeignFormat(
        "parameters as XML: Qwen3-Coder, MiniMax, Seed, DeepSeek 3.2, Step 3",
        _marker(rf"(?:{SPACE}{_TAG}{SPACE}(?:\w{{1,40}}(?=<))?){{0,3}}(?:\]<\]\w+\[>\[)?{OPEN}"
                rf"(?P<kind>[\w:｜| ]{{0,40}}(?:function|invoke|call)"
                rf"(?:{_GAP}={_GAP}|\s{{1,8}}(?:name|tool){_GAP}={_GAP})[\"']?)?{_NAME}[\"']?[^<>\n]{{0,80}}?{END}"),
        xml_call,
        (f"{_VLLM}qwen3coder_tool_parser.py", f"{_VLLM}minimax_m2_tool_parser.py"),
    ),
    ForeignFormat(
        "pairs of keys and values: GLM, Hunyuan",
        _marker(rf"(?:{_TAG}{_GAP}){{1,3}}{_NAME}{_GAP}(?:{_TAG}{_GAP})?(?=<[\w|:｜]{{0,40}}key>|</)"),
        pairs_call,
        (f"{_VLLM}glm4_moe_tool_parser.py",),
    ),
    ForeignFormat(
        "an object in braces: Gemma",
        _marker(rf"(?:<[|｜]?\w{{0,40}}(?:tool|function)\w{{0,40}}[|｜]?>{_GAP}|{_MARGIN})call:{_NAME}{_GAP}\{{"),
        braced_call,
        ("https://ai.google.dev/gemma/docs/functiongemma/formatting-and-best-practices",),
    ),
    ForeignFormat(
        "calls of Python: Llama 4, Gemma 3, LFM2, Olmo 3",
        _marker(rf"(?P<before>(?:(?:{_TAG}|{_PYTHON_TAG}){_GAP}(?:{_FENCE})?|{_MARGIN}{_FENCE}|{_MARGIN}`?"
                rf"|(?<=[\s:])(?=\[)){_GAP})"
                rf"(?=\[?{_GAP}[A-Za-z_][\w.]{{0,64}}\()"),
        python_calls,
        (f"{_VLLM}pythonic_tool_parser.py", f"{_VLLM}llama4_pythonic_tool_parser.py"),
    ),
    ForeignFormat(
        "bare JSON, or in a fence: Llama 3, Command R, models without a form",
        _marker(rf"(?:{_MARGIN}(?:Action:{_GAP})?{_FENCE}|{_MARGIN}`?|{_TOKEN}{_GAP}|{_BRACKET}{_GAP})(?=[\[{{])"),
        json_calls,
        (f"{_VLLM}llama_tool_parser.py",),
    ),
)  # fmt: skip


def may_begin(line: str, names: frozenset[str]) -> bool | None:
    """True if a call may begin at the start of a line without its margin; None where more has to
    come in to tell.
    """
    begun = tag_begins(line, names)
    return _line_begins(line, names) if begun is False else begun


_TAG_CHARACTERS = 64  # that a marker has at most
_TAG_START = re.compile(r"<(?![ \t\d=<-])[^<>\n]*")
_ANY_TAG = re.compile(
    rf"{_TAG}|{_TOKEN}|{_PYTHON_TAG}|<[\w:｜| ]*(?:function|invoke)\b[\w:=\"' .-]*>", re.IGNORECASE
)
_ANY_BRACKET = re.compile(rf"\[TOOL_(?:CALLS|REQUEST)\]|{_BRACKET}\s*[\[{{]")
_CALL_LIST = re.compile(r"\[\s*([A-Za-z_]\w*)\(")
_BEGUN_BRACKET = re.compile(r"\[\s*\w*|\[\w+\]\s*")
_OPENINGS = ("print(", "call:", "functools", "to=functions", ">>>", "Action:", "✿FUNCTION✿", "]<]")


def tag_begins(text: str, names: frozenset[str]) -> bool | None:
    """True if a tag or token that begins a call, or a list of calls, stands at the start of a text;
    None where more has to come in.
    """
    if text.startswith("["):
        listed = _CALL_LIST.match(text)
        if _ANY_BRACKET.match(text) or (listed and listed[1] in names):
            return True
        return None if _BEGUN_BRACKET.fullmatch(text) else False
    started = _TAG_START.match(text)
    if started is None:
        return None if text == "<" else False
    if started.end() == len(text) and len(text) <= _TAG_CHARACTERS:
        return None
    return _ANY_TAG.match(text) is not None


def _spelled(text: str, wholes: Sequence[str]) -> bool | None:
    """True if a text begins with one of these; None where it may, once more of it is there."""
    if text.startswith(tuple(wholes)):
        return True
    return None if any(whole.startswith(text) for whole in wholes) else False


def _line_begins(line: str, names: frozenset[str]) -> bool | None:
    """True if a line begins JSON, a fence around it, the element of a tool, or an expression that
    calls one.
    """
    is_fence = line.lstrip().startswith("```")
    plain = _within_fence(line) if is_fence else line.lstrip(" \t`[")
    if plain is None or plain == "":
        return None
    if is_fence and plain.startswith("<"):
        return tag_begins(plain, names)
    plain = plain.lstrip("[ \n")
    words = [
        *(f"{name}{behind}" for name in names for behind in "(\n {<"),
        *(f"<{name}>" for name in names),
    ]
    return True if plain.startswith("{") else _spelled(plain, [*words, *_OPENINGS])


def _within_fence(text: str) -> str | None:
    """The content of a fence, None where that is not there yet."""
    _, end, inside = text.partition("\n")
    return inside.lstrip() if end and inside.strip() else None
