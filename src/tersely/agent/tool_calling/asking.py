"""The request for calls and the reading of the answer: one format for each kind of server."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from tersely.agent.models.protocol import Abilities, Constraint, RawCall
from tersely.agent.tool_calling import foreign_call_formats, payloads, text_call_format
from tersely.agent.tool_calling.call import MalformedCall, ToolCall
from tersely.agent.tool_calling.call_format import CallFormat
from tersely.agent.tool_calling.grammar import grammar_for
from tersely.agent.tool_calling.path_trie import PathTrie
from tersely.agent.tool_calling.schema import CALL, SAY, TOOL, envelope, functions
from tersely.agent.tool_calling.text_call_format import WrittenCall
from tersely.agent.tool_calling.validation import checked
from tersely.agent.tools.declaration import AgentTool

AUTO = "auto"
MAX_CALL_CHARACTERS = 400_000  # of an answer that is searched for a call
_SHOWN = "<call list>\npath: .\n</call>"  # which every repository has
_INSTRUCTIONS = {
    CallFormat.GRAMMAR: f"To use a tool, end your message with one call, each argument on a line:\n{_SHOWN}\n"
    "Lines of code follow a line such as `--- body`, as they are.",
    CallFormat.SCHEMA: 'Answer in JSON: {"say": "…", "call": {"tool": "list", "path": "."}}, '
    'or with "call": null.',
    CallFormat.NATIVE: "",
}
_INSTRUCTIONS[CallFormat.TEXT] = _INSTRUCTIONS[CallFormat.GRAMMAR]


class Reading(NamedTuple):
    """The calls of an answer, in order, and the index of its text where the first begins, its
    length without one.
    """

    calls: tuple[ToolCall | MalformedCall, ...]
    start: int


def call_format_of(abilities: Abilities, wanted: str = AUTO) -> CallFormat:
    """The format that a model knows best, if its server has it: its own functions, else the surest
    of ours.

    `wanted` is another one that is taken if the server has it; templates without functions have
    some form of theirs.
    """
    has = {
        CallFormat.NATIVE: abilities.tools or (wanted == CallFormat.NATIVE and abilities.grammar),
        CallFormat.GRAMMAR: abilities.grammar,
        CallFormat.SCHEMA: abilities.schema,
        CallFormat.TEXT: True,
    }
    formats = [each for each in CallFormat if has[each]]
    return next((each for each in formats if each == wanted), formats[0])


def call_instructions(call_format: CallFormat) -> str:
    """The instructions for calls in the prompt; "" where the server's template says them."""
    return _INSTRUCTIONS[call_format]


def constraint_for(
    tools: Sequence[AgentTool],
    call_format: CallFormat,
    paths: PathTrie | None = None,
) -> Constraint | None:
    """The constraint that holds the next answer to prose and calls of these tools, as far as the
    format can; None if it cannot.

    Only a grammar lists the paths there are: as functions or a schema they would stand in every
    prompt.
    """
    if not tools or call_format is CallFormat.TEXT:
        return None
    if call_format is CallFormat.GRAMMAR:
        return Constraint(grammar=grammar_for(tools, paths))
    if call_format is CallFormat.SCHEMA:
        return Constraint(schema=envelope(tools))
    return Constraint(tools=functions(tools))


def read_calls(
    answer: str,
    tools: Sequence[AgentTool],
    paths: PathTrie | None = None,
    call_format: CallFormat = CallFormat.TEXT,
) -> Reading:
    """The calls in the text of an answer, checked.

    With a grammar our own form counts only as it is written there, so that prose about it is none.
    """
    answer = answer[:MAX_CALL_CHARACTERS].replace("\r\n", "\n")
    if (
        call_format is CallFormat.SCHEMA
        and (enveloped := _from_envelope(answer, tools, paths)) is not None
    ):
        return enveloped
    is_strict = call_format is CallFormat.GRAMMAR
    start = text_call_format.start_of(answer, is_strict)
    if start >= 0:
        written = text_call_format.read(answer, tools, is_strict)
        return Reading(tuple(checked(each, tools, paths) for each in written), start)
    found = foreign_call_formats.find(answer, tools)
    if found is None and call_format is CallFormat.SCHEMA and answer.lstrip().startswith("{"):
        return Reading(
            (MalformedCall("the answer is no whole JSON object; say less in it, or call again"),), 0
        )
    if found is None:
        return Reading((), len(answer))
    if found.problem:
        return Reading((MalformedCall(found.problem),), found.start)
    return Reading(tuple(checked(each, tools, paths) for each in found.calls), found.start)


def read_raw_call(
    raw: RawCall, tools: Sequence[AgentTool], paths: PathTrie | None = None
) -> ToolCall | MalformedCall:
    """A call that the server has read from the answer itself, checked."""
    arguments = payloads.loads(raw.arguments or "{}")
    if not isinstance(arguments, dict):
        return MalformedCall(f"{raw.name}: its arguments are no JSON object", raw.name, raw.id)
    return checked(WrittenCall(raw.name, arguments), tools, paths, raw.id)


def _from_envelope(
    answer: str, tools: Sequence[AgentTool], paths: PathTrie | None
) -> Reading | None:
    """The content of an envelope; None for an answer that is none, by a server that does not keep
    to its schema.
    """
    whole = payloads.loads(answer)
    if not isinstance(whole, dict) or not {SAY, CALL} & set(whole):
        return None
    call = whole.get(CALL)
    if call is None:
        return Reading((), len(answer))
    if not isinstance(call, dict) or not isinstance(call.get(TOOL), str):
        return Reading((MalformedCall(f'"{CALL}" is to be null or an object with a "{TOOL}"'),), 0)
    written = WrittenCall(call[TOOL], {key: value for key, value in call.items() if key != TOOL})
    return Reading((checked(written, tools, paths),), 0)
