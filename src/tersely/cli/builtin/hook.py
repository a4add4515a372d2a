"""The command `hook`: what an agent runs when a session begins, on a prompt, or when it is about to
read a file.

An agent waits for it, so it answers within a bound, and whatever goes wrong it prints nothing, ends
with 0, and says why in a log.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from shlex import quote
from typing import Any

from tersely.cli.daemon_client import request
from tersely.foundation.clock import Stopwatch
from tersely.foundation.errors import TerselyError
from tersely.foundation.process.deadline import patience
from tersely.foundation.settings import SESSION_VARIABLE
from tersely.foundation.storage.roots import enclosing_root, find_root
from tersely.integrations import adoption, state
from tersely.integrations.adoption import AdoptionNote
from tersely.integrations.declaration import KnownAgent
from tersely.integrations.hooks import (
    LEAST_OUTLINED_BYTES,
    LEAST_OUTLINED_LINES,
    HookCall,
    beside_answer,
    hits,
    read_answer,
    read_call,
    session_name,
    subagent_answer,
)
from tersely.integrations.mail_hook import edited
from tersely.integrations.table import AGENTS
from tersely.integrations.wrapped import EDITORS

HOOK_SECONDS = 8.0  # for an answer, after which the hook ends without one
MAX_HOOK_BYTES = 4_000_000  # of a call
PACKET_WORDS = ("packet", "--task-file", "-")
OUTLINED_SYMBOLS = 200
BESIDE_TOKENS = "150"  # that stand beside the hits of a search
MAX_SEARCHED_LINES = 20_000  # of a file that a search names without lines
MAX_PLACES = 100  # of a search, that are asked about
_BESIDE = "tersely: "
_EDITING = frozenset(EDITORS.split("|"))
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
        with patience(HOOK_SECONDS + LEAST_SECONDS):
            return _KINDS[kind](agent, call)
    except Exception as error:  # noqa: BLE001 - an agent must never be kept from its work
        _log(f"{kind} {agent_name}: {type(error).__name__}: {error}")
        return ""


def _session(agent: KnownAgent, call: HookCall) -> str:
    """Have what follows be told anew where the session goes on without what it was shown, and tell
    a sub-agent of us.
    """
    root = enclosing_root(_directory(call))
    if call.source != STARTUP:
        state.begin_context(root)
    variables = os.environ.get(VARIABLES_FILE, "")
    session = session_name(agent, call, state.context_of(root))
    if variables and session:
        with open(variables, "a", encoding="utf-8") as file:
            file.write(f"export {SESSION_VARIABLE}={quote(session)}\n")
    return subagent_answer(agent, call)


def _directory(call: HookCall) -> str:
    return os.path.realpath(call.directory or os.getcwd())


def _prompt(agent: KnownAgent, call: HookCall) -> str:
    if not call.prompt.strip() or call.prompt.lstrip().startswith("/"):  # a command of the agent
        return ""
    root = str(find_root(Path(_directory(call))))
    session = session_name(agent, call, state.context_of(root))
    try:
        words = [*PACKET_WORDS, *(["--session", session] if session else [])]
        found = _asked(words, root, call.prompt.replace("\0", " "))
    except Exception:
        state.begin_context(root)  # what counts as sent by now has not arrived
        raise
    if not found["speaks"]:
        _log(f"prompt {agent.name}: {found['silence']}")
    return beside_answer(agent, agent.prompt_event, found["text"])


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
    reader = _reader(call, root)
    if not outline:
        return ""
    adoption.note(AdoptionNote.READ)
    if not state.is_first(reader, str(path)):
        return ""
    adoption.note(AdoptionNote.OUTLINED)
    return read_answer(agent, relative, lines, outline)


def _reader(call: HookCall, root: str) -> str:
    return f"{call.session or _directory(call)} {state.context_of(root)}"


def _after(agent: KnownAgent, call: HookCall) -> str:
    """After an edit what still uses what it has changed, after a search for text the definitions
    around its hits; each text once.
    """
    found = hits(call)
    if not found and call.tool not in _EDITING:
        return ""
    directory = _directory(call)
    paths = [path for path, _ in found] or edited(dict(call.arguments), directory)
    root = str(find_root(Path(directory)))
    from tersely.workspace import is_indexed

    if not is_indexed(root):  # to make one takes longer than an agent waits
        return ""
    code = {path: _code_in(root, directory, path) for path in dict.fromkeys(paths)}
    hit_lines = (
        (code[path], line)
        for path, number in found
        if code[path]
        for line in ([number] if number else _matching(Path(root, code[path]), call))
    )
    places = dict.fromkeys(f"{path}:{line}" for path, line in islice(hit_lines, MAX_PLACES))
    files = [one for one in code.values() if one]
    text = ""
    if places:
        words = ["enclosing", "--budget", BESIDE_TOKENS, *places]
        text = "" if not _asked(words, root)["definitions"] else _text_of(words, root, "")
    elif files and not found:
        text = _asked(["breaks", *files], root)["line"]
    text = text.rstrip()
    is_new = text and state.is_first(_reader(call, root), text)
    return beside_answer(agent, agent.after_event, f"{_BESIDE}{text}") if is_new else ""


def _matching(file: Path, call: HookCall) -> Iterator[int]:
    """The lines of a file that the pattern of a search is in, where its result names files alone."""
    pattern = re.compile(str(call.arguments["pattern"]))
    with file.open(encoding="utf-8", errors="replace") as lines:
        for number, line in enumerate(islice(lines, MAX_SEARCHED_LINES), 1):
            if pattern.search(line):
                yield number


def _code_in(root: str, directory: str, path: str) -> str:
    """A file of code as it is written from the root, "" for what is none, or outside."""
    from tersely.code.languages.registry import language_of_path

    whole = Path(os.path.realpath(os.path.join(directory, path)))
    is_code = whole.is_relative_to(root) and language_of_path(path)
    return whole.relative_to(root).as_posix() if is_code else ""


def _outline(words: Sequence[str], root: str) -> str:
    """The text of `extract`; nothing for what is no code."""
    try:
        return _text_of(words, root, "")
    except TerselyError:
        return ""


def _asked(words: Sequence[str], root: str, task: str = "") -> Any:
    """The result of a command; of lines as they are now, `busy` while another process indexes."""
    from tersely.workspace import IS_BEHIND

    answer = json.loads(_text_of([*words, "--json"], root, task))
    if not task and IS_BEHIND in answer.get("notes", ()):
        raise TerselyError("busy", IS_BEHIND)
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
    "after": _after,
}


def _rooted(words: Sequence[str], root: str) -> list[str]:
    return [words[0], "--root", root, "--quiet", *words[1:]]


def _log(line: str) -> None:
    try:
        state.log(line)
    except OSError:
        return
