"""Short answers that show what a server can do: a refusal is a finding, a server that is gone an
error.
"""

from __future__ import annotations

from contextlib import aclosing
from typing import NamedTuple

from tersely.agent.models.dialects.anthropic import ANTHROPIC
from tersely.agent.models.dialects.ollama import OLLAMA
from tersely.agent.models.protocol import (
    Abilities,
    Chunk,
    Constraint,
    ModelMessage,
    RawCall,
    RequestUsage,
)
from tersely.agent.models.served import ServedModel
from tersely.agent.models.wire import parse_json
from tersely.foundation.errors import TerselyError
from tersely.foundation.types import JsonMapping

MODEL_PROBE_TOKENS = 160  # of an answer that shows what a server can do

_WITHOUT_GRAMMAR = {OLLAMA, ANTHROPIC}  # by what they document
_CODE_WORD = "tersely"
_READY: JsonMapping = {
    "name": "ready",
    "description": "Says that you are ready.",
    "parameters": {
        "type": "object",
        "properties": {"ok": {"type": "boolean"}},
        "required": ["ok"],
        "additionalProperties": False,
    },
}


class Finding(NamedTuple):
    """One thing that was tried: whether it works, and what was seen."""

    what: str
    works: bool
    detail: str = ""


class _Answer(NamedTuple):
    text: str
    calls: tuple[RawCall, ...]
    parts: int  # chunks that it came in
    usage: RequestUsage | None


async def try_call_formats(model: ServedModel) -> tuple[Finding, ...]:
    """The findings of asking a server for each form of calls."""
    server = model.abilities.server
    findings = [] if server in _WITHOUT_GRAMMAR else [await _try_grammar(model)]
    if server != ANTHROPIC:
        findings.append(await _try_schema(model))
    findings.append(await _try_tools(model))
    return tuple(findings)


def correct_abilities(abilities: Abilities, findings: tuple[Finding, ...]) -> Abilities:
    """The abilities with what was found out."""
    works = {finding.what: finding.works for finding in findings}
    return abilities._replace(
        grammar=works.get("grammar", False), schema=works.get("schema", False), tools=works["tools"]
    )


async def try_streaming(model: ServedModel) -> Finding:
    """The finding of whether an answer comes, and whether the server reports what it had cached."""
    answer = await _ask(model, "Say hello.", None)
    if isinstance(answer, Finding):
        return answer._replace(what="streaming")
    reports = answer.usage is not None and answer.usage.cached_tokens is not None
    cached = (
        ""
        if answer.usage is None
        else f", {'tells' if reports else 'does not tell'} what is cached"
    )
    return Finding("streaming", works=True, detail=f"{answer.parts} parts{cached}")


async def _ask(model: ServedModel, words: str, constraint: Constraint | None) -> _Answer | Finding:
    """One short answer, or what was refused; raises `model_unavailable`."""
    chunks: list[Chunk] = []
    try:
        stream = model.stream((ModelMessage("user", words),), constraint, MODEL_PROBE_TOKENS)
        async with aclosing(stream):
            async for chunk in stream:
                if chunk.restarts:
                    chunks.clear()
                chunks.append(chunk)
    except TerselyError as error:
        if error.code == "model_unavailable":
            raise
        return Finding("", works=False, detail=error.message)
    calls = tuple(call for chunk in chunks for call in chunk.calls)
    return _Answer("".join(chunk.text for chunk in chunks), calls, len(chunks), chunks[-1].usage)


async def _try_grammar(model: ServedModel) -> Finding:
    answer = await _ask(model, "Say hello.", Constraint(grammar=f'root ::= "{_CODE_WORD}"'))
    if isinstance(answer, Finding):
        return answer._replace(what="grammar")
    is_kept = answer.text == _CODE_WORD
    return Finding("grammar", is_kept, "kept" if is_kept else "accepted, not kept")


async def _try_schema(model: ServedModel) -> Finding:
    answer = await _ask(model, "Are you ready?", Constraint(schema=_READY["parameters"]))
    if isinstance(answer, Finding):
        return answer._replace(what="schema")
    value = parse_json(answer.text)
    is_kept = isinstance(value, dict) and isinstance(value.get("ok"), bool)
    return Finding("schema", is_kept, "kept" if is_kept else "accepted, not kept")


async def _try_tools(model: ServedModel) -> Finding:
    answer = await _ask(
        model, "Call the function `ready` with ok = true.", Constraint(tools=(_READY,))
    )
    if isinstance(answer, Finding):
        return answer._replace(what="tools")
    is_called = any(call.name == "ready" for call in answer.calls)
    return Finding("tools", is_called, "called" if is_called else "accepted, not called")
