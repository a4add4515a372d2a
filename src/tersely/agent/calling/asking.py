"""How a model is asked for calls, and how its answer is read: one way for each kind of server."""

from __future__ import annotations

from collections.abc import Sequence

from tersely.agent.calling import foreign, form
from tersely.agent.calling.call import Call, Malformed
from tersely.agent.calling.form import Written
from tersely.agent.calling.grammar import grammar_for
from tersely.agent.calling.paths import Paths
from tersely.agent.calling.schema import CALL, TOOL, envelope, functions
from tersely.agent.calling.validation import checked
from tersely.agent.calling.way import Way
from tersely.agent.models.protocol import Abilities, Constraint, RawCall
from tersely.agent.tools.declaration import Tool

MAX_CALL_CHARACTERS = 400_000  # of an answer that is searched for a call
_SHOWN = "<call read>\npath: src/app.py\n</call>"
_FORMATS = {
    Way.GRAMMAR: f"To use a tool, end your message with one call, each argument on a line:\n{_SHOWN}\n"
    "Lines of code follow a line such as `--- body`, as they are.",
    Way.SCHEMA: 'Answer in JSON: {"say": "…", "call": {"tool": "read", "path": "src/app.py"}}, or with "call": null.',
    Way.NATIVE: "Call one function at a time.",
}
_FORMATS[Way.TEXT] = _FORMATS[Way.GRAMMAR]


def way_of(abilities: Abilities) -> Way:
    """The surest way that a server offers."""
    if abilities.grammar:
        return Way.GRAMMAR
    if abilities.schema:
        return Way.SCHEMA
    return Way.NATIVE if abilities.tools else Way.TEXT


def call_format(way: Way) -> str:
    """What the model is told of how to call, for the prompt."""
    return _FORMATS[way]


def constraint_for(tools: Sequence[Tool], abilities: Abilities, paths: Paths | None = None) -> Constraint | None:
    """What holds the next answer to prose and one call of these tools, as far as the server can; None if it cannot."""
    way = way_of(abilities)
    if not tools or way is Way.TEXT:
        return None
    if way is Way.GRAMMAR:
        return Constraint(grammar=grammar_for(tools, paths))
    if way is Way.SCHEMA:
        return Constraint(schema=envelope(tools, paths))
    return Constraint(tools=functions(tools, paths))


def read_call(
    answer: str | RawCall, tools: Sequence[Tool], paths: Paths | None = None, way: Way = Way.TEXT
) -> Call | Malformed | None:
    """The call that an answer makes, checked; None where it makes none.

    With a grammar only the exact form counts, so that prose about calls is none. Of several calls the first is read.
    """
    if isinstance(answer, RawCall):
        arguments = foreign.loads(answer.arguments or "{}")
        if not isinstance(arguments, dict):
            return Malformed(f"{answer.name}: its arguments are no JSON object", answer.name, answer.id)
        return checked(Written(answer.name, arguments), tools, paths, answer.id)
    answer = answer[:MAX_CALL_CHARACTERS].replace("\r\n", "\n")
    if way is Way.SCHEMA:
        return _from_envelope(answer, tools, paths)
    written = form.read(answer, tools, is_strict=way is Way.GRAMMAR)
    if written is None and way in {Way.TEXT, Way.NATIVE}:
        written = foreign.read(answer, tools)
    return None if written is None else checked(written, tools, paths)


def _from_envelope(answer: str, tools: Sequence[Tool], paths: Paths | None) -> Call | Malformed | None:
    whole = foreign.loads(answer)
    if not isinstance(whole, dict):
        return Malformed("the answer is no whole JSON object; say less in it, or call again")
    call = whole.get(CALL)
    if call is None:
        return None
    if not isinstance(call, dict) or not isinstance(call.get(TOOL), str):
        return Malformed(f'"{CALL}" is to be null or an object with a "{TOOL}"')
    return checked(Written(call[TOOL], {key: value for key, value in call.items() if key != TOOL}), tools, paths)
