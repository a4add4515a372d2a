"""The agent that runs a process: the nearest of its ancestors that is one, by a name that all its
processes find.

Hooks are started at every event, so this imports the standard library alone. Without `/proc` nobody
is found.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

NAME_VARIABLE = "TERSELY_AGENT"  # the name of the agent that runs a process, where it was given one
TOKEN_VARIABLE = "TERSELY_TOKEN"  # noqa: S105 - the name of a variable, by which it shows that the name is its own
MAX_ANCESTORS = 16
MAX_PERSON_ANCESTORS = 64
MAX_ENVIRONMENT_BYTES = 2_000_000  # of a process, that are looked through
MAX_PROGRAM_CHARACTERS = 32  # of the name of a program in that of an agent
AGENT_PROGRAMS = frozenset(
    {"claude", "codex", "opencode", "gemini", "qwen", "cursor-agent", "cursor"}
)
_INTERPRETERS = frozenset({"node", "bun", "deno", "python", "python3"})
_SUFFIXES = (".js", ".mjs", ".cjs", ".py", ".exe")
_NAME_BYTES = 5
# what our own agent starts commands by, and where that is named
_SUPERVISOR, _SUPERVISOR_WORDS = "sandbox_supervisor.py", 8
_WRAPPER = ("tersely", "run")  # the words of what runs agents, of whom orphans are children


class _Process(NamedTuple):
    parent: int
    started: str  # since the machine has, in ticks
    words: tuple[str, ...]
    has_terminal: bool


class _Ancestor(NamedTuple):
    id: int
    process: _Process


def agent_name(environment: Mapping[str, str], process_id: int) -> str:
    """The name of the agent that runs a process: the one that it was given, else one of its own; ""
    for no agent.
    """
    given = environment.get(NAME_VARIABLE, "")
    if given:
        return given
    for _ in range(MAX_ANCESTORS):
        process = _process(process_id)
        if process is None:
            return ""
        program = _program(process.words)
        if program in AGENT_PROGRAMS:
            return f"{program}-{_letters(f'{process_id} {process.started}')}"
        process_id = process.parent
    return ""


def own_name(environment: Mapping[str, str], program: str) -> str:
    """The name of an agent that is this process: the one that it was given, else one of its own."""
    process = _process(os.getpid())
    started = process.started if process is not None else ""
    return environment.get(NAME_VARIABLE, "") or f"{program}-{_letters(f'{os.getpid()} {started}')}"


def client_name(environment: Mapping[str, str], process_id: int) -> str:
    """The name of whatever has started a server for tools: an agent that is known, else one named
    after its program.

    It is never the person: what comes by tools was written by a model.
    """
    known = agent_name(environment, process_id)
    if known:
        return known
    process = _process(process_id) or _Process(0, str(process_id), (), False)
    program = re.sub(r"[^a-z0-9]+", "-", _program(process.words).lower()).strip("-")[
        :MAX_PROGRAM_CHARACTERS
    ]
    return f"{program or 'client'}-{_letters(f'{process_id} {process.started}')}"


def _process(process_id: int) -> _Process | None:
    try:
        with open(f"/proc/{process_id}/stat", encoding="utf-8", errors="replace") as file:
            fields = file.read().rpartition(")")[2].split()
        with open(f"/proc/{process_id}/cmdline", "rb") as file:
            words = file.read(4_096).decode("utf-8", "replace").split("\0")
    except OSError:
        return None
    return _Process(int(fields[1]), fields[19], tuple(words), fields[4] != "0")


def _program(words: tuple[str, ...]) -> str:
    """The program that runs, by its name: that of the script where an interpreter runs one."""
    names = [os.path.basename(word) for word in words if word and not word.startswith("-")]
    if len(names) > 1 and names[0] in _INTERPRETERS:
        names = names[1:]
    name = names[0] if names else ""
    for suffix in _SUFFIXES:
        name = name.removesuffix(suffix)
    return name


def _letters(text: str) -> str:
    from base64 import b32encode
    from hashlib import blake2b

    return b32encode(blake2b(text.encode(), digest_size=_NAME_BYTES).digest()).decode().lower()[:4]


def is_of_person(process_id: int) -> bool:
    """True if a process was started at a terminal, and by no agent that can be seen.

    It is a fence, not a wall: who runs as the user can start a process that looks like the user's
    own.
    """
    lineage = list(_lineage(process_id))
    if not lineage or not lineage[0].process.has_terminal:
        return False
    is_whole = lineage[-1].process.parent <= 1
    return is_whole and not _has_agent(lineage)


def is_of_agent(process_id: int) -> bool:
    """True if an agent that can be seen has started a process."""
    return _has_agent(list(_lineage(process_id)))


def _has_agent(lineage: Sequence[_Ancestor]) -> bool:
    """True if an agent is among a process and its ancestors, or has left it to `tersely run`."""
    return any(map(_is_agent, lineage)) or any(map(_is_wrapper, lineage[1:]))


def _is_wrapper(one: _Ancestor) -> bool:
    program, command = _WRAPPER
    names = [os.path.basename(word) for word in one.process.words if not word.startswith("-")]
    own = names[1:] if names and names[0].startswith("python") else names
    return own[:1] == [program] and command in own


def _lineage(process_id: int) -> Iterator[_Ancestor]:
    """A process and its ancestors, as far as they can be seen."""
    for _ in range(MAX_PERSON_ANCESTORS):
        process = _process(process_id)
        if process is None:
            return
        yield _Ancestor(process_id, process)
        process_id = process.parent
        if process_id <= 1:
            return


def _is_agent(one: _Ancestor) -> bool:
    return _program(one.process.words) in AGENT_PROGRAMS or _is_of_ours(one.id, one.process)


def _is_of_ours(process_id: int, process: _Process) -> bool:
    """True if it is run by our own agent, or below `tersely run`."""
    try:
        with open(f"/proc/{process_id}/environ", "rb") as file:
            variables = file.read(MAX_ENVIRONMENT_BYTES).split(b"\0")
    except OSError:  # of another user, as the first processes of a login are
        variables = []
    is_named = any(one.startswith(NAME_VARIABLE.encode() + b"=") for one in variables)
    return is_named or any(
        os.path.basename(word) == _SUPERVISOR for word in process.words[:_SUPERVISOR_WORDS]
    )
