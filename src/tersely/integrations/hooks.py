"""The calls of the hooks of agents, and the answers: JSON on standard input, JSON or a text on
standard output.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, NamedTuple

from tersely.foundation.storage.hashing import content_hash
from tersely.integrations.declaration import KnownAgent

if TYPE_CHECKING:
    from tersely.foundation.types import JsonObject

LEAST_OUTLINED_LINES = 300  # a shorter file is read whole
LEAST_OUTLINED_BYTES = 12_000
SESSION_BYTES = 8  # of the hash of what an agent calls its session


class HookCall(NamedTuple):
    """A call of a hook. `path` is as the agent wrote it; `is_part` says that it asks for some lines
    alone.

    `source` is why a session begins: `startup`, or one that goes on without what it was shown.
    """

    directory: str
    session: str
    prompt: str
    tool: str
    path: str
    is_part: bool
    source: str = ""


def read_call(agent: KnownAgent, text: str) -> HookCall:
    """The call that an agent sent; raises `ValueError` for what is no call."""
    sent = json.loads(text)
    if not isinstance(sent, dict):
        raise ValueError("a call is a JSON object")
    given = sent.get("tool_input")
    arguments: JsonObject = given if isinstance(given, dict) else {}
    paths = [arguments[name] for name in agent.path_names if isinstance(arguments.get(name), str)]
    roots = sent.get("workspace_roots")
    first_root = (
        next((one for one in roots if isinstance(one, str)), "") if isinstance(roots, list) else ""
    )
    return HookCall(
        _text(sent, "cwd") or first_root,
        _text(sent, "session_id") or _text(sent, "conversation_id"),
        _text(sent, "prompt"),
        _text(sent, "tool_name"),
        paths[0] if paths else "",
        any(arguments.get(name) is not None for name in agent.range_names),
        _text(sent, "source"),
    )


def session_name(agent: KnownAgent, call: HookCall, context: str) -> str:
    """By which a reader is known to packs: the agent's session, anew in each `context`; "" where it
    says none.
    """
    own = content_hash(call.session.encode("utf-8", "surrogatepass"))[:SESSION_BYTES].hex()
    return f"{agent.name}-{own}-{context}" if call.session else ""


def prompt_answer(agent: KnownAgent, packet: str) -> str:
    """The text that is printed to have a packet put beside a prompt; nothing for no packet."""
    return (
        printed(agent.answer_prompt(agent.prompt_event, packet))
        if packet and agent.prompt_event
        else ""
    )


def read_answer(agent: KnownAgent, path: str, lines: int, outline: str) -> str:
    """The text that is printed to have an outline read in the place of a file."""
    if not outline or not agent.read_event:
        return ""
    head = (
        f"{path} has {lines:,} lines, so here is its outline with line numbers. Read the lines you need with a range; "
        "to read all of it, ask for the whole file again."
    )
    return printed(agent.answer_read(agent.read_event, f"{head}\n\n{outline}"))


def printed(answer: Any) -> str:
    """The text that a hook prints for an answer: a text as it stands, all else as JSON."""
    return answer if isinstance(answer, str) else json.dumps(answer, ensure_ascii=False)


def _text(sent: JsonObject, name: str) -> str:
    value = sent.get(name)
    return value if isinstance(value, str) else ""
