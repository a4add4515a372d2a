"""Calls as models write them that were trained on other forms: one table of markers and of what stands behind them.

A row is a mechanism, not a model: a marker that begins a call, and the grammar of its payload. `FORMATS` names the
specifications of each. A payload ends where its grammar does, so code may hold what ends calls elsewhere.
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from tersely.agent.tool_calling.text_call_format import Written
from tersely.agent.tools.declaration import Tool
from tersely.foundation.limits import MAX_MODEL_CALLS

MAX_EXPRESSION_CHARACTERS = 20_000  # of calls written in Python
REPAIR = "read a call in another form"
_NAMES = ("name", "tool", "function", "tool_name")
_ARGUMENTS = ("arguments", "parameters", "args", "input")
_WRAPPERS = ("tool_call", "tool_calls", "function_call", "function")
_TRAILING_COMMA = re.compile(r",(\s*[}\]])")
_DECODER = json.JSONDecoder(strict=False)

# A tag or special token that is about a tool: `<tool_call>`, `<|tool_call|>`, `<｜tool▁calls▁begin｜>`, `<TOOLCALL>`.
_NO_RESULT = r"(?!/)(?![^<>]*(?:respon[sc]e|result|output))"
_TAG = rf"<{_NO_RESULT}[\w:▁｜|-]*(?:tool|function|action|plugin)[\w:▁｜|-]*>"
_PYTHON_TAG = r"<\|python_(?:tag|start)\|>"
_NAME = r"(?P<name>[A-Za-z_][\w.-]*)(?::\d+)?"
_FENCE = r"```[ \t]*(?:json|tool_code|tool_call|tool|python|py)?[ \t]*\n"
_BAR = r"[|\uff5c]"
# Between two calls of one answer, and behind the last.
_END_TOKEN = rf"<{_BAR}(?:/[^<>]*|[^<>]*(?:end|suffix|eom|eot)[^<>]*|call){_BAR}>|<end_\w+>|<\w+\|>"
_BETWEEN = re.compile(rf"(?:\s|[,;\]]|`+|</[\w:｜|-]+>|{_END_TOKEN})*", re.IGNORECASE)
_RESULT = re.compile(r"<[|｜]?[\w▁:-]*(?:respon[sc]e|result|output)[\w▁:-]*[|｜]?>|\[TOOL_RESULTS\]|<\|im_start\|>")
# What means nothing but a call, also where nobody can read what follows.
_CALL_TAG = rf"<[|｜]?{_NO_RESULT}[\w:▁-]*tool[▁_]?calls?(?:[▁_]\w+)*[|｜]?>"
_CERTAIN = re.compile(
    rf"^[ \t]*(?:{_CALL_TAG}|\[TOOL_CALLS\]|<function=|{_PYTHON_TAG})",
    re.MULTILINE | re.IGNORECASE,
)


class Read(NamedTuple):
    """The calls of one payload, and the index behind it."""

    calls: list[Written]
    end: int


class Found(NamedTuple):
    """The calls of a text, in order, and the index where the first begins; `problem` says why one cannot be read."""

    calls: tuple[Written, ...]
    start: int
    problem: str = ""


class Format(NamedTuple):
    """One way to write calls: what begins it, how its payload is read, and where it is specified.

    Only a name of a known tool makes a call of one that is not `marked`: it may be any JSON or code.
    """

    name: str
    marker: re.Pattern[str]
    read: Callable[[str, re.Match[str], Mapping[str, Tool]], Read | None]
    sources: tuple[str, ...]
    is_marked: bool = True


def find(text: str, tools: Sequence[Tool]) -> Found | None:
    """The calls in a text that are written in one of the formats, at most MAX_MODEL_CALLS; None where none is begun."""
    by_name = {tool.name: tool for tool in tools}
    calls: list[Written] = []
    start, at = -1, 0
    while len(calls) < MAX_MODEL_CALLS:
        first = _first(text, at, by_name)
        if first is None or (calls and _RESULT.search(text, at, first.start)):
            break
        start = first.start if start < 0 else start
        calls += first.calls
        at = first.end
    if calls:
        marked = tuple(call._replace(repairs=(REPAIR,)) for call in calls[:MAX_MODEL_CALLS])
        return Found(marked, start)
    begun = _CERTAIN.search(text)
    if begun is None:
        return None
    return Found((), begun.start(), "what was written as a call cannot be read: it may have been cut off")


class _Placed(NamedTuple):
    start: int
    calls: list[Written]
    end: int


def _first(text: str, at: int, tools: Mapping[str, Tool]) -> _Placed | None:
    """The calls of the earliest payload from an index on; of formats that begin together, the first in the table."""
    best: _Placed | None = None
    for form in FORMATS:
        placed = _first_of(form, text, at, tools, len(text) if best is None else best.start)
        if placed is not None and (best is None or placed.start < best.start):
            best = placed
    return best


def _first_of(form: Format, text: str, at: int, tools: Mapping[str, Tool], before: int) -> _Placed | None:
    for begun in form.marker.finditer(text, at):
        if begun.start() >= before:
            return None
        read = form.read(text, begun, tools)
        if read is None or not read.calls:
            continue
        if form.is_marked or all(call.tool in tools for call in read.calls):
            behind = _BETWEEN.match(text, read.end)
            return _Placed(begun.start(), read.calls, behind.end() if behind else read.end)
    return None


# JSON: an object or a list, several of them one after the other, with the name inside or before it


def _json_calls(text: str, begun: re.Match[str], tools: Mapping[str, Tool]) -> Read | None:
    calls: list[Written] = []
    at = begun.end()
    while at < len(text) and text[at] in "[{":
        value, end = decoded(text, at)
        found = as_calls(value, tools)
        if not found:
            break
        calls += found
        between = re.compile(r"[\s,;]*").match(text, end)
        at = between.end() if between else end
    return Read(calls, at) if calls else None


def _named_json(text: str, begun: re.Match[str], tools: Mapping[str, Tool]) -> Read | None:
    value, end = decoded(text, begun.end())
    if not isinstance(value, dict):
        return None
    return Read([Written(_plain_name(begun.group("name")), value)], end)


def _plain_name(name: str) -> str:
    """A tool's name without the namespace that templates put before it."""
    for namespace in ("functions.", "tools.", "default_api."):
        name = name.removeprefix(namespace)
    return name


def decoded(text: str, at: int) -> tuple[Any, int]:
    """The value of JSON that begins at an index, and the index behind it; None where none does.

    Commas before brackets, line breaks in texts and Python's literals are read as well.
    """
    try:
        value, end = _DECODER.raw_decode(text, at)
        return value, end
    except (ValueError, RecursionError):
        end = _closed(text, at)
        return loads(text[at:end]), end


def loads(text: str) -> Any:
    """JSON, also with commas before brackets, line breaks in texts, or Python's literals; None for anything else."""
    plain = text.strip()
    for attempt in (plain, _TRAILING_COMMA.sub(r"\1", plain)):
        try:
            return json.loads(attempt, strict=False)
        except (ValueError, RecursionError):
            continue
    try:
        return ast.literal_eval(plain)
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return None


def _closed(text: str, at: int) -> int:
    """The index behind the bracket that closes the one at an index; the text's end where none does."""
    depth, quote = 0, ""
    place = at
    while place < len(text):
        character = text[place]
        if quote:
            if character == "\\":
                place += 1
            elif text.startswith(quote, place):
                place += len(quote) - 1
                quote = ""
        elif character in "\"'":
            quote = character * 3 if text.startswith(character * 3, place) else character
            place += len(quote) - 1
        elif character in "([{":
            depth += 1
        elif character in ")]}":
            depth -= 1
            if depth == 0:
                return place + 1
        place += 1
    return len(text)


def as_calls(value: Any, tools: Mapping[str, Tool]) -> list[Written]:
    """The calls that a value of JSON is: an object, a list of them, or either wrapped; none where one is no call."""
    if isinstance(value, list):
        found = [as_calls(each, tools) for each in value[:MAX_MODEL_CALLS]]
        return [call for calls in found for call in calls] if all(found) else []
    if not isinstance(value, Mapping):
        return []
    for key in _WRAPPERS:
        if isinstance(value.get(key), (Mapping, list)):
            return as_calls(value[key], tools)
    if len(value) == 1:
        ((name, inside),) = value.items()
        if name in tools and isinstance(inside, Mapping):
            return [Written(name, inside)]
    call = _as_call(value)
    return [] if call is None else [call]


def _as_call(value: Mapping[str, Any]) -> Written | None:
    name = next((value[key] for key in _NAMES if isinstance(value.get(key), str)), None)
    if name is None:
        return None
    arguments = next((value[key] for key in _ARGUMENTS if key in value), None)
    if isinstance(arguments, str):
        arguments = loads(arguments or "{}")
    if arguments is None:
        arguments = {key: each for key, each in value.items() if key not in _NAMES}
    return Written(_plain_name(name), arguments) if isinstance(arguments, Mapping) else None


# Parameters as XML, and pairs of keys and values

_PARAMETER = re.compile(
    r"\s*<(?P<tag>[\w:｜|]*(?:parameter|param|arg))(?:\s*=\s*|\s+name\s*=\s*)[\"']?(?P<key>[\w.-]+)[\"']?[^<>\n]*>"
    r"\n?(?P<value>.*?)\n?(?:</(?P=tag)>|\Z)(?=\s*(?:<|\Z))",
    re.DOTALL,
)
_PAIR = re.compile(
    r"\s*<(?P<tag>\w*key)>\s*(?P<key>[\w.-]+)\s*</(?P=tag)>\s*<(?P<of>\w*value)>\n?(?P<value>.*?)\n?</(?P=of)>"
    r"(?=\s*(?:<\w*key>|</|\Z))",
    re.DOTALL,
)
_CLOSED_TAG = re.compile(r"\s*</[\w:｜|]+>")


def _xml_call(text: str, begun: re.Match[str], tools: Mapping[str, Tool]) -> Read | None:
    return _fields(text, begun, _PARAMETER)


def _pairs_call(text: str, begun: re.Match[str], tools: Mapping[str, Tool]) -> Read | None:
    read = _fields(text, begun, _PAIR)
    is_known = begun.group("name") in tools  # any word between two tags would be a call without arguments
    return read if read is not None and (read.calls[0].values or is_known) else None


def _fields(text: str, begun: re.Match[str], field: re.Pattern[str]) -> Read | None:
    """A call whose arguments are fields in tags, up to a closing tag."""
    values: dict[str, Any] = {}
    at = begun.end()
    while (found := field.match(text, at)) is not None:
        values[found.group("key")] = found.group("value")
        at = found.end()
    if not values and _CLOSED_TAG.match(text, at) is None:
        return None
    return Read([Written(_plain_name(begun.group("name")), values)], at)


# Gemma's objects, whose texts stand between tokens of their own

_GEMMA_FIELD = re.compile(
    r"\s*,?\s*(?P<key>\w+)\s*:\s*(?:(?P<quote><escape>|<\|\"\|>|\")(?P<text>.*?)(?P=quote)|(?P<plain>[^,{}]*))"
    r"(?=\s*[,}])",
    re.DOTALL,
)


def _braced_call(text: str, begun: re.Match[str], tools: Mapping[str, Tool]) -> Read | None:
    values: dict[str, Any] = {}
    at = begun.end()
    while (found := _GEMMA_FIELD.match(text, at)) is not None:
        values[found.group("key")] = found.group("text") if found.group("quote") else found.group("plain").strip()
        at = found.end()
    close = re.compile(r"\s*\}").match(text, at)
    return None if close is None else Read([Written(_plain_name(begun.group("name")), values)], close.end())


# Calls of Python, by themselves or in a list


def _python_calls(text: str, begun: re.Match[str], tools: Mapping[str, Tool]) -> Read | None:
    at = begun.end("before")
    end = _closed(text, at) if text[at] == "[" else _closed(text, text.index("(", at))
    source = text[at:end].strip()
    behind = _BETWEEN.match(text, end)
    is_last = behind is not None and behind.end() == len(text)
    is_alone = "<" in begun.group() or "tool" in begun.group() or is_last
    if len(source) > MAX_EXPRESSION_CHARACTERS or not is_alone:
        return None
    try:
        node = ast.parse(source, mode="eval").body
        nodes = node.elts if isinstance(node, ast.List) else [node]
        calls = [_python_call(each, tools) for each in nodes]
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return None
    known = [call for call in calls if call is not None]
    return Read(known, end) if known and len(known) == len(calls) else None


def _python_call(node: ast.expr, tools: Mapping[str, Tool]) -> Written | None:
    """One expression as a call; None where it is none of a known tool. Raises ValueError for values that are none."""
    if not isinstance(node, ast.Call):
        return None
    name = _plain_name(ast.unparse(node.func))
    if name == "print" and len(node.args) == 1:
        return _python_call(node.args[0], tools)
    tool = tools.get(name)
    if tool is None or len(node.args) > len(tool.parameters):
        return None
    values: dict[str, Any] = {
        parameter.name: ast.literal_eval(value) for parameter, value in zip(tool.parameters, node.args, strict=False)
    }
    for keyword in node.keywords:
        if keyword.arg:
            values[keyword.arg] = ast.literal_eval(keyword.value)
    return Written(name, values)


_VLLM = "https://github.com/vllm-project/vllm/blob/main/vllm/tool_parsers/"
_HUB = "https://huggingface.co/"
_HARMONY = "https://cookbook.openai.com/articles/openai-harmony"


def _marker(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.MULTILINE | re.IGNORECASE)


FORMATS: tuple[Format, ...] = (
    Format(  # Hermes, Qwen 2.5 and 3, Granite, Phi-4, Mistral's old list, Llama's JSON, Command R, Jamba, InternLM
        "JSON behind a tag",
        _marker(rf"(?:{_TAG}|{_PYTHON_TAG}|\[TOOL_CALLS\]|\[TOOL_REQUEST\]|functools)"
                rf"(?:\s*(?:{_TAG}|```(?:json)?\n))*\s*(?=[\[{{])"),
        _json_calls,
        (f"{_VLLM}hermes_tool_parser.py", f"{_VLLM}granite_tool_parser.py", f"{_VLLM}phi4mini_tool_parser.py"),
    ),
    Format(
        "a name, then JSON: Mistral",
        _marker(rf"\[TOOL_CALLS\]\s*{_NAME}(?:\[CALL_ID\]\w+)?(?:\[ARGS\])?\s*(?=\{{)"),
        _named_json,
        ("https://docs.mistral.ai/cookbooks/concept-deep-dive-tokenization-tool_calling",),
    ),
    Format(
        "a name, then JSON: DeepSeek, Kimi",
        _marker(rf"(?:<[|｜]tool[▁_]calls[▁_]\w*begin[|｜]>\s*)?<[|｜]tool[▁_]call[▁_]begin[|｜]>\s*(?:function<[|｜]tool[▁_]sep[|｜]>)?{_NAME}"
                rf"\s*(?:<[|｜]tool[▁_][^<>]*[|｜]>)?\s*(?:```(?:json)?\s*)?(?=\{{)"),
        _named_json,
        (f"{_HUB}deepseek-ai/DeepSeek-V3.1/blob/main/README.md",
         f"{_HUB}moonshotai/Kimi-K2-Instruct/blob/main/docs/tool_call_guidance.md"),
    ),
    Format(
        "a channel: gpt-oss",
        _marker(rf"(?:<\|start\|>assistant)?(?:<\|channel\|>\w+)?[ \t]*\bto={_NAME}"
                r"(?:[ \t]*(?:<\|(?:channel|constrain)\|>)?[ \t]*\w+)*[ \t]*<\|message\|>\s*(?=\{)"),
        _named_json,
        (_HARMONY,),
    ),
    Format(
        "a function tag, then JSON: Llama, Functionary",
        _marker(rf"(?:<function(?:=|\s+name\s*=\s*)[\"']?|^>>>){_NAME}[\"']?>?\s*(?=\{{)"),
        _named_json,
        ("https://www.llama.com/docs/model-cards-and-prompt-formats/llama3_1/",),
    ),
    Format(
        "parameters as XML: Qwen3-Coder, MiniMax, Seed",
        _marker(rf"(?:{_TAG}\s*)*<[\w:｜|]*(?:function|invoke)(?:\s*=\s*|\s+name\s*=\s*)[\"']?{_NAME}[\"']?\s*>"),
        _xml_call,
        (f"{_VLLM}qwen3coder_tool_parser.py", f"{_VLLM}minimax_m2_tool_parser.py"),
    ),
    Format(
        "pairs of keys and values: GLM",
        _marker(rf"{_TAG}\s*{_NAME}\s*(?=<\w*key>|</)"),
        _pairs_call,
        (f"{_VLLM}glm4_moe_tool_parser.py",),
    ),
    Format(
        "an object in braces: Gemma",
        _marker(rf"(?:<[|｜]?[\w]*(?:tool|function)\w*[|｜]?>\s*|^[ \t]*)call:{_NAME}\s*\{{"),
        _braced_call,
        ("https://ai.google.dev/gemma/docs/functiongemma/formatting-and-best-practices",),
    ),
    Format(
        "calls of Python: Llama 4, Gemma 3, LFM2, Olmo 3",
        _marker(rf"(?P<before>(?:{_TAG}|{_PYTHON_TAG}|^[ \t]*{_FENCE}|^[ \t]*`?)\s*)(?=\[?\s*[A-Za-z_][\w.]*\()"),
        _python_calls,
        (f"{_VLLM}pythonic_tool_parser.py", f"{_VLLM}llama4_pythonic_tool_parser.py"),
        is_marked=False,
    ),
    Format(
        "bare JSON, or in a fence: Llama 3, models without a form",
        _marker(rf"(?:^[ \t]*{_FENCE}|^[ \t]*`?)(?=[\[{{])"),
        _json_calls,
        (f"{_VLLM}llama_tool_parser.py",),
        is_marked=False,
    ),
)  # fmt: skip


def may_begin(line: str, names: frozenset[str]) -> bool | None:
    """Whether a call may begin at the start of a line without its margin; None where more has to come in to tell."""
    begun = tag_begins(line)
    return _line_begins(line, names) if begun is False else begun


_TAG_CHARACTERS = 64  # that a marker has at most
_TAG_START = re.compile(r"<(?![ \t\d=<-])[^<>\n]*")
_ANY_TAG = re.compile(
    rf"{_TAG}|{_PYTHON_TAG}|<[\w:｜|]*(?:function|invoke)\b[\w:=\"' .-]*>|<\|(?:channel|start)\|>", re.IGNORECASE
)
_BRACKETS = ("[TOOL_CALLS]", "[TOOL_REQUEST]")


def tag_begins(text: str) -> bool | None:
    """Whether a tag or token that begins a call stands at the start of a text; None where more has to come in."""
    if text.startswith("["):
        return _spelled(text, _BRACKETS)
    started = _TAG_START.match(text)
    if started is None:
        return None if text == "<" else False
    if started.end() == len(text) and len(text) <= _TAG_CHARACTERS:
        return None
    return _ANY_TAG.match(text) is not None


def _spelled(text: str, wholes: Sequence[str]) -> bool | None:
    """Whether a text begins with one of these; None where it may, once more of it is there."""
    if text.startswith(tuple(wholes)):
        return True
    return None if any(whole.startswith(text) for whole in wholes) else False


def _line_begins(text: str, names: frozenset[str]) -> bool | None:
    """Whether a line begins JSON, a fence around it, or an expression that calls a tool."""
    plain = text.lstrip(" \t`[") if not text.lstrip().startswith("```") else _within_fence(text)
    if plain is None or plain == "":
        return None
    if plain.startswith("{"):
        return True
    plain = plain.lstrip("[ \n")
    words = [*(f"{name}(" for name in names), "print(", "call:", ">>>", "functools", "to=functions"]
    return True if plain.startswith("{") else _spelled(plain, words)


def _within_fence(text: str) -> str | None:
    """What stands in a fence, None where that is not there yet."""
    _, end, inside = text.partition("\n")
    return inside.lstrip() if end and inside.strip() else None
