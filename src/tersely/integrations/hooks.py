"""The calls of the hooks of agents, and the answers: JSON on standard input, JSON or a text on
standard output.
"""

from __future__ import annotations

import json
import posixpath
import re
from collections.abc import Iterator, Mapping
from importlib.resources import files
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

from tersely.foundation.storage.hashing import content_hash
from tersely.integrations.declaration import KnownAgent

if TYPE_CHECKING:
    from tersely.foundation.types import JsonObject

LEAST_OUTLINED_LINES = 300  # a shorter file is read whole
LEAST_OUTLINED_BYTES = 12_000
SESSION_BYTES = 8  # of the hash of what an agent calls its session


MAX_RESULT_LINES = 2_000  # of what a search printed, that are read
# A command that searches files for text; what it and the tools of agents print: `path:12:text`, or
# a line for the file and below it `12:text`, `L12: text`, `Line 12: text`.
_SEARCHER = re.compile(r"[gG]rep|^search_file_content$")
_SEARCHES = re.compile(r"(?:^|[|;&(`'\"]\s*|\s-\w*c\s+|\bgit\s+)(?:[ef]?grep|rg|ag)\s")
_MOVED = re.compile(r"\s*cd\s+([^\s;&|]+)\s*(?:&&|;)")
# One search of one file, in the shell of an agent or not.
_OF_ONE_FILE = re.compile(
    r"(?:\S+\s+-\w*c\s+)?(?:\s*cd\s+[^\s;&|]+\s*(?:&&|;))?\s*(?:[ef]?grep|rg|ag)(?:\s+-[\w-]+)*"
    r"\s+(?:\"[^\"]*\"|'[^']*'|[^\s\"'|;&]+)\s+[\"']?(?P<path>[^\s\"'|;&]+)[\"']?\s*"
)
_HIT = re.compile(r"(?P<path>[^\s:][^:]*):(?P<line>\d+):")
_IN_FILE = re.compile(r"\s*(?:L|Line )?(?P<line>\d+):")
_FILE = re.compile(r"[^\s:]+\.\w+")
_HEADING = re.compile(r"File: (?P<path>.+)|(?P<file>[^\s:][^:]*):")


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
    arguments: Mapping[str, Any] = MappingProxyType({})  # of the tool
    result: Any = None  # of a tool that was called
    event: str = ""


def read_call(agent: KnownAgent, text: str) -> HookCall:
    """The call that an agent sent; raises `ValueError` for what is no call."""
    sent = json.loads(text)
    if not isinstance(sent, dict):
        raise ValueError("a call is a JSON object")
    given = sent.get("tool_input")
    arguments: JsonObject = given if isinstance(given, dict) else {}
    paths = [arguments[name] for name in agent.path_names if isinstance(arguments.get(name), str)]
    roots = sent.get("workspace_roots")
    return HookCall(
        _text(sent, "cwd") or next(_texts(roots), ""),
        _text(sent, "session_id") or _text(sent, "conversation_id"),
        _text(sent, "prompt"),
        _text(sent, "tool_name"),
        paths[0] if paths else "",
        any(arguments.get(name) is not None for name in agent.range_names),
        _text(sent, "source"),
        arguments,
        sent.get("tool_response") or sent.get("tool_output"),
        _text(sent, "hook_event_name"),
    )


def session_name(agent: KnownAgent, call: HookCall, context: str) -> str:
    """By which a reader is known to packs: the agent's session, anew in each `context`; "" where it
    says none.
    """
    own = content_hash(call.session.encode("utf-8", "surrogatepass"))[:SESSION_BYTES].hex()
    return f"{agent.name}-{own}-{context}" if call.session else ""


def beside_answer(agent: KnownAgent, event: str, text: str) -> str:
    """What is printed to have a text put beside a prompt, the result of a tool, or the task of a
    sub-agent; nothing for no text, and where the agent has no such event.
    """
    return printed(agent.answer_beside(event, text)) if text and event else ""


def subagent_answer(agent: KnownAgent, call: HookCall) -> str:
    """The text that is printed to have a sub-agent told of us that reads no file which does."""
    if call.event != agent.untold_event:
        return ""
    text = (files("tersely.integrations") / "files" / "AGENTS.md").read_text("utf-8")
    return beside_answer(agent, call.event, text.partition("\n\nOther agents")[0])


def hits(call: HookCall) -> list[tuple[str, int]]:
    """The files and lines in the result of a search for text, as they are written there, 0 for a
    file without a line; none for any other tool.
    """
    words = call.arguments.get("command", "")
    command = " ".join(map(str, words)) if isinstance(words, list) else str(words)
    if not (_SEARCHES.search(command) if command else _SEARCHER.search(call.tool)):
        return []
    found: list[tuple[str, int]] = []
    folder = moved[1] if (moved := _MOVED.match(command)) else ""
    searched = _OF_ONE_FILE.fullmatch(command)
    path = str(call.arguments.get("path") or (searched["path"] if searched else ""))
    for line in "\n".join(_texts(call.result)).split("\n", MAX_RESULT_LINES)[:MAX_RESULT_LINES]:
        if hit := _HIT.match(line):
            found.append((hit["path"], int(hit["line"])))
        elif inside := _IN_FILE.match(line):
            found.append((path, int(inside["line"])))
        elif heading := _HEADING.fullmatch(line):
            path = heading["path"] or heading["file"]
        elif _FILE.fullmatch(line):
            found.append((line, 0))
    return [(posixpath.join(folder, path), line) for path, line in found if path]


def _texts(result: Any) -> Iterator[str]:
    """The texts in a result, whatever is around them."""
    if isinstance(result, str):
        yield result
    elif isinstance(result, (dict, list)):
        for one in result.values() if isinstance(result, dict) else result:
            yield from _texts(one)


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
