"""The command `hook`: what an agent runs when a session begins, on a prompt, or when it is about to
read a file.

An agent waits for it, so it answers within a bound, and whatever goes wrong it prints nothing, ends
with 0, and says why in a log.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from shlex import quote
from typing import Any

from tersely.cli.daemon_client import request
from tersely.foundation.clock import Stopwatch
from tersely.foundation.errors import TerselyError
from tersely.foundation.settings import SESSION_VARIABLE
from tersely.foundation.storage.roots import enclosing_root, find_root
from tersely.integrations import adoption, state
from tersely.integrations.adoption import AdoptionNote
from tersely.integrations.declaration import KnownAgent
from tersely.integrations.hooks import (
    LEAST_OUTLINED_BYTES,
    LEAST_OUTLINED_LINES,
    HookCall,
    prompt_answer,
    read_answer,
    read_call,
    session_name,
)
from tersely.integrations.table import AGENTS

HOOK_SECONDS = 8.0  # for an answer, after which the hook ends without one
MAX_HOOK_BYTES = 4_000_000  # of a call
PACKET_WORDS = ("packet", "--task-file", "-")
OUTLINED_SYMBOLS = 200
STARTUP = "startup"  # the source of a session that begins with nothing
_ANSWERED = (0, 1)  # statuses of an answer: something was found, or nothing was
# names a file: what is exported there holds for the commands that the agent runs
VARIABLES_FILE = "CLAUDE_ENV_FILE"
LEAST_SECONDS = 0.5  # for a process, when a daemon has taken all the time there was


def run_hook(kind: str, agent_name: str) -> str:
    """The text that is to be printed for a call on standard input."""
    try:
        text = sys.stdin.buffer.read(MAX_HOOK_BYTES + 1)
        if len(text) > MAX_HOOK_BYTES:
            raise ValueError(f"the call is longer than {MAX_HOOK_BYTES:,} bytes")
        agent = AGENTS[agent_name]
        call = read_call(agent, text.decode("utf-8", "replace"))
        return _KINDS[kind](agent, call)
    except Exception as error:  # noqa: BLE001 - an agent must never be kept from its work
        _log(f"{kind} {agent_name}: {type(error).__name__}: {error}")
        return ""


def _session(agent: KnownAgent, call: HookCall) -> str:
    """Have what follows be told anew where the session goes on without what it was shown."""
    root = enclosing_root(_directory(call))
    if call.source != STARTUP:
        state.begin_context(root)
    variables = os.environ.get(VARIABLES_FILE, "")
    session = session_name(agent, call, state.context_of(root))
    if variables and session:
        with open(variables, "a", encoding="utf-8") as file:
            file.write(f"export {SESSION_VARIABLE}={quote(session)}\n")
    return ""


def _directory(call: HookCall) -> str:
    return os.path.realpath(call.directory or os.getcwd())


def _prompt(agent: KnownAgent, call: HookCall) -> str:
    if not call.prompt.strip() or call.prompt.lstrip().startswith("/"):  # a command of the agent
        return ""
    root = str(find_root(Path(_directory(call))))
    session = session_name(agent, call, state.context_of(root))
    try:
        found = _asked(
            [*PACKET_WORDS, *(["--session", session] if session else [])], root, call.prompt
        )
    except Exception:
        state.begin_context(root)  # what counts as sent by now has not arrived
        raise
    if not found["speaks"]:
        _log(f"prompt {agent.name}: {found['silence']}")
    return prompt_answer(agent, found["text"])


def _read(agent: KnownAgent, call: HookCall) -> str:
    if call.tool not in agent.read_tools or not call.path or call.is_part:
        return ""
    directory = _directory(call)
    path = Path(os.path.realpath(os.path.join(directory, call.path)))
    root = str(find_root(Path(directory)))
    if not path.is_relative_to(root) or path.stat().st_size < LEAST_OUTLINED_BYTES:
        return ""
    relative = path.relative_to(root).as_posix()
    with path.open("rb") as file:
        lines = sum(1 for _ in file)
    if lines < LEAST_OUTLINED_LINES:
        return ""
    words = ["extract", "--limit", str(OUTLINED_SYMBOLS), "--", relative]
    outline = _outline(words, root)
    reader = f"{call.session or directory} {state.context_of(root)}"
    if not outline:
        return ""
    adoption.note(AdoptionNote.READ)
    if not state.is_first_outline(reader, str(path)):
        return ""
    adoption.note(AdoptionNote.OUTLINED)
    return read_answer(agent, relative, lines, outline)


def _outline(words: Sequence[str], root: str) -> str:
    """The text of `extract`; nothing for what is no code."""
    try:
        return _text_of(words, root, "")
    except TerselyError:
        return ""


def _asked(words: Sequence[str], root: str, task: str) -> Any:
    answer = json.loads(_text_of([*words, "--json"], root, task))
    return answer["result"]


def _text_of(words: Sequence[str], root: str, given: str) -> str:
    """The output of a command: of a daemon that answers, else of a process of ours that is given up
    after a time.
    """
    watch = Stopwatch()
    answer = _of_daemon(words, root, given)
    return answer or _of_process(
        words, root, given, max(LEAST_SECONDS, HOOK_SECONDS - watch.seconds())
    )


def _of_daemon(words: Sequence[str], root: str, given: str) -> str:
    from tersely.daemon.client import Client
    from tersely.daemon.place import Place

    if os.environ.get("TERSELY_DAEMON") == "off":
        return ""
    spoken = [f"{given}\n" if word == "-" else word for word in _rooted(words, root)]
    try:
        with Client(Place.of(root)) as client:
            reply = client.ask(
                request("tersely", spoken, root, root), awaits_receipt=True, seconds=HOOK_SECONDS
            )
        said = "".join(text for number, text in reply["parts"] if number == 1)
        return said if reply["exit_status"] in _ANSWERED else ""
    except (OSError, ValueError, KeyError):
        return ""


def _of_process(words: Sequence[str], root: str, given: str, seconds: float) -> str:
    command = [sys.executable, "-m", "tersely", *_rooted(words, root)]
    environment = {**os.environ, "TERSELY_DAEMON": "off"}
    done = subprocess.run(
        command,
        input=given,
        capture_output=True,
        text=True,
        timeout=seconds,
        check=False,
        env=environment,
    )
    if done.returncode not in _ANSWERED or not done.stdout:
        raise TerselyError(
            "daemon_unavailable", done.stderr.strip() or f"it ended with {done.returncode}"
        )
    return done.stdout


_KINDS: Mapping[str, Callable[[KnownAgent, HookCall], str]] = {
    "session": _session,
    "prompt": _prompt,
    "read": _read,
}


def _rooted(words: Sequence[str], root: str) -> list[str]:
    return [words[0], "--root", root, "--quiet", *words[1:]]


def _log(line: str) -> None:
    try:
        state.log(line)
    except OSError:
        return
