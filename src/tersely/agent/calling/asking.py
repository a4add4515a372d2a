"""How a model is asked for calls, and how its answer is read: one way for each kind of server."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from tersely.agent.calling import foreign, form
from tersely.agent.calling.call import Call, Malformed
from tersely.agent.calling.form import Written
from tersely.agent.calling.grammar import grammar_for
from tersely.agent.calling.paths import Paths
from tersely.agent.calling.schema import CALL, SAY, TOOL, envelope, functions
from tersely.agent.calling.validation import checked
from tersely.agent.calling.way import HELD_BY_GRAMMAR, Way
from tersely.agent.models.protocol import Abilities, Constraint, RawCall
from tersely.agent.tools.declaration import Tool

AUTO = "auto"
MAX_CALL_CHARACTERS = 400_000  # of an answer that is searched for a call
_SHOWN = "<call read>\npath: src/app.py\n</call>"
_FORMATS = {
    Way.GRAMMAR: f"To use a tool, end your message with one call, each argument on a line:\n{_SHOWN}\n"
    "Lines of code follow a line such as `--- body`, as they are.",
    Way.SCHEMA: 'Answer in JSON: {"say": "…", "call": {"tool": "read", "path": "src/app.py"}}, or with "call": null.',
    Way.NATIVE: "",
    Way.CALL: f"""Every message of yours is one call, each argument on a line, as in:
“Read src/app.py.”
{_SHOWN}
“List the files in src.”
<call list>\npath: src\n</call>
“Outline src/app.py.”
<call outline>\npath: src/app.py\n</call>
“Find the code of parse.”
<call search>\nquery: parse\n</call>
“Thanks!”
<call respond>\n--- text\nYou are welcome.\n</call>""",
}
_FORMATS[Way.TEXT] = _FORMATS[Way.GRAMMAR]


class Reading(NamedTuple):
    """The calls of an answer, in order, and the index of its text where the first begins, its length without one."""

    calls: tuple[Call | Malformed, ...]
    start: int


def way_of(abilities: Abilities, wanted: str = AUTO) -> Way:
    """The way that a model knows best, if its server has it: its own functions, else the surest of ours.

    `wanted` is another one that is taken if the server has it; templates without functions have some form of theirs.
    """
    has = {
        Way.NATIVE: abilities.tools or (wanted == Way.NATIVE and abilities.grammar),
        Way.GRAMMAR: abilities.grammar,
        Way.CALL: abilities.grammar,
        Way.SCHEMA: abilities.schema,
        Way.TEXT: True,
    }
    ways = [way for way in Way if has[way]]
    return next((way for way in ways if way == wanted), ways[0])


def call_format(way: Way) -> str:
    """What the model is told of how to call, for the prompt; "" where the server's template says it."""
    return _FORMATS[way]


def constraint_for(
    tools: Sequence[Tool], way: Way, paths: Paths | None = None, allowed: Sequence[str] = ()
) -> Constraint | None:
    """What holds the next answer to prose and calls of these tools, as far as the way can; None if it cannot.

    Only a grammar lists the paths there are: as functions or a schema they would stand in every prompt. `allowed` are
    the names of the tools that may be called now, where a server restricts a list.
    """
    if not tools or way is Way.TEXT:
        return None
    if way in HELD_BY_GRAMMAR:
        return Constraint(grammar=grammar_for(tools, paths, has_prose=way is Way.GRAMMAR))
    if way is Way.SCHEMA:
        return Constraint(schema=envelope(tools))
    return Constraint(tools=functions(tools), allowed=tuple(allowed))


def read_calls(answer: str, tools: Sequence[Tool], paths: Paths | None = None, way: Way = Way.TEXT) -> Reading:
    """The calls in the text of an answer, checked.

    With a grammar our own form counts only as it is written there, so that prose about it is none.
    """
    answer = answer[:MAX_CALL_CHARACTERS].replace("\r\n", "\n")
    if way is Way.SCHEMA and (enveloped := _from_envelope(answer, tools, paths)) is not None:
        return enveloped
    start = form.start_of(answer, is_strict=way in HELD_BY_GRAMMAR)
    if start >= 0:
        written = form.read(answer, tools, is_strict=way in HELD_BY_GRAMMAR)
        return Reading(tuple(checked(each, tools, paths) for each in written), start)
    found = foreign.find(answer, tools)
    if found is None and way is Way.SCHEMA and answer.lstrip().startswith("{"):
        return Reading((Malformed("the answer is no whole JSON object; say less in it, or call again"),), 0)
    if found is None:
        return Reading((), len(answer))
    if found.problem:
        return Reading((Malformed(found.problem),), found.start)
    return Reading(tuple(checked(each, tools, paths) for each in found.calls), found.start)


def read_raw_call(raw: RawCall, tools: Sequence[Tool], paths: Paths | None = None) -> Call | Malformed:
    """A call that the server has read from the answer itself, checked."""
    arguments = foreign.loads(raw.arguments or "{}")
    if not isinstance(arguments, dict):
        return Malformed(f"{raw.name}: its arguments are no JSON object", raw.name, raw.id)
    return checked(Written(raw.name, arguments), tools, paths, raw.id)


def _from_envelope(answer: str, tools: Sequence[Tool], paths: Paths | None) -> Reading | None:
    """What an envelope holds; None for an answer that is none, by a server that does not keep to its schema."""
    whole = foreign.loads(answer)
    if not isinstance(whole, dict) or not {SAY, CALL} & set(whole):
        return None
    call = whole.get(CALL)
    if call is None:
        return Reading((), len(answer))
    if not isinstance(call, dict) or not isinstance(call.get(TOOL), str):
        return Reading((Malformed(f'"{CALL}" is to be null or an object with a "{TOOL}"'),), 0)
    written = Written(call[TOOL], {key: value for key, value in call.items() if key != TOOL})
    return Reading((checked(written, tools, paths),), 0)
