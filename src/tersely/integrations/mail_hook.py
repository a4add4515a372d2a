"""The hooks of an agent that was not started by `run`: what others write is put before its model.

It is started at every event, so it imports the standard library alone and asks the relay by one
request. Where no relay runs, or anything goes wrong, it says nothing: an agent is never kept from
its work.
"""

from __future__ import annotations

import json
import os
import re
import signal
import socket
import sys
from time import monotonic
from typing import TYPE_CHECKING, Any, NoReturn

# It is run as a file, without its package.
sys.path.append(os.path.dirname(__file__))
sys.path.append(os.path.join(os.path.dirname(__file__), "..", "foundation", "process"))

from ancestry import TOKEN_VARIABLE, agent_name  # type: ignore[import-not-found]
from run_hook import SOCKET_VARIABLE  # type: ignore[import-not-found]

if TYPE_CHECKING:
    from tersely.foundation.types import JsonObject

MAIL_HOOK_SECONDS = 2.0  # for all that one call asks of the relay
MAX_MAIL_CALL_BYTES = 4_000_000  # of a call, and of an answer
MAIL_BUDGET_TOKENS = 600  # of what is put before a model at a time
# of the messages that are put there together, where there is more than one
MAX_MAIL_CHARACTERS = 1_500
MAX_MAIL_MESSAGES = 20  # that one call looks at
# in a row: an agent ends after it has gone on so often for questions of others
MAX_CONTINUED_STOPS = 3
_SOCKET = "http.sock"
_STOPS = "stops"  # a folder of the relay's home: how often in a row each agent has gone on
_PATH_BYTES = 100
_START, _STOP, _END, _EDIT, _PERMISSION = "start", "stop", "end", "edit", "permission"
_STATES = {_STOP: "idle", _END: "gone"}  # that begin; else the agent works
_BESIDE_RUN = frozenset({_EDIT, _PERMISSION})  # what `run` does not do by itself
PERMISSION_HOOK_SECONDS = 3_600.0  # for which the person may answer from elsewhere
PERMISSION_ASK_SECONDS = 5  # that one question to the relay waits
# a longer call is not shown in part: it is allowed where the agent runs
_MAX_WHAT_CHARACTERS = 2_000
# how Claude Code was started: elsewhere nobody sees a dialog
_ENTRY, _TERMINAL = "CLAUDE_CODE_ENTRYPOINT", "cli"
MAX_EDITED_FILES = 20  # of one call that are looked up
_PATCH = "*** Begin Patch"
_PATCHED = re.compile(
    r"^\*\*\* (?:Add File|Update File|Delete File|Move to): (.+?)\s*$", re.MULTILINE
)
_DENIES = '"deny"'
_FROM_OTHERS = "Not from your user:"
# What Cursor calls events, which it answers in a form of its own; and Gemini CLI what comes before
# a tool.
_OF_CURSOR = frozenset({"sessionStart", "postToolUse", "preToolUse", "stop"})
_BEFORE_TOOL = "BeforeTool"
# Marks in which agents put what is not said by their user: what others write must not end or begin
# one.
_WRAPPER = re.compile(
    r"<(?=/?(?:hook_|system|qwen:|untrusted|user-prompt|task-|instructions|environment))",
    re.IGNORECASE,
)


def main(kind: str) -> int:
    """Answer one call on standard input; always 0."""
    try:
        if kind in _BESIDE_RUN or not os.environ.get(SOCKET_VARIABLE):
            # `run` hands over mail itself
            text = _answer(kind, json.loads(sys.stdin.buffer.read(MAX_MAIL_CALL_BYTES)))
            sys.stdout.write(text)
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return 0
    return 0


def _answer(kind: str, call: JsonObject) -> str:
    name = agent_name(os.environ, os.getppid())
    if not name:
        return ""
    relay = _Relay(name)
    event = str(call.get("hook_event_name", ""))
    root = str(call.get("cwd") or (call.get("workspace_roots") or [""])[0] or os.getcwd())
    if kind == _EDIT:
        return _of_edit(relay, event, root, call)
    if kind == _PERMISSION:
        return _of_permission(name, event, call)
    if kind == _START:
        return _context(event, relay.ask("agent.introduction", {"root": root})["text"])
    if call.get("agent_id"):
        return ""  # a part of the agent, which would keep the message from the rest of it
    asked = {"waiting": True, "limit": MAX_MAIL_MESSAGES, "state": _STATES.get(kind, "working")}
    waiting = relay.ask("mail.box", asked)["result"]["messages"]
    if kind == _END:
        return ""
    if kind == _STOP:
        goes_on = any(one["is_question"] for one in waiting) and _may_go_on(name, call)
        return _kept_going(event, _take_oldest(relay, waiting)) if goes_on else ""
    return _context(event, _take_oldest(relay, waiting)) if waiting else ""


def _take_oldest(relay: _Relay, waiting: list[JsonObject]) -> str:
    """The oldest messages that have room; the rest is not read, and is there the next time."""
    room, taken = MAX_MAIL_CHARACTERS, 0
    for one in waiting:
        room -= len(one["body"])
        if taken and room < 0:
            break
        taken += 1
    text = relay.ask("mail.inbox", {"waiting": True, "limit": taken})["text"]
    return f"{_FROM_OTHERS}\n{_WRAPPER.sub('< ', text)}"


def _may_go_on(name: str, call: JsonObject) -> bool:
    """True if an agent has not gone on too often since somebody last told it what to do."""
    from hashlib import blake2b

    folder = os.path.join(_home(), _STOPS)
    os.makedirs(folder, 0o700, exist_ok=True)
    path = os.path.join(
        folder, blake2b(name.encode("utf-8", "replace"), digest_size=12).hexdigest()
    )
    is_again = bool(call.get("stop_hook_active") or call.get("loop_count"))
    try:
        with open(path, encoding="ascii") as file:
            before = int(file.read(8)) if is_again else 0
    except FileNotFoundError:
        before = 0
    if before >= MAX_CONTINUED_STOPS:
        return False
    with open(path, "w", encoding="ascii") as file:
        file.write(str(before + 1))
    return True


def _of_edit(relay: _Relay, event: str, root: str, call: JsonObject) -> str:
    """No, where another agent holds a file for itself, or it is outside of the working tree that
    this one registered.

    A warning, where another holds a symbol in it or shares it.
    """
    answers = [
        _of_file(relay, event, root, path) for path in edited(call.get("tool_input") or {}, root)
    ]
    return max(answers, key=lambda answer: (_DENIES in answer, bool(answer)), default="")


def edited(given: JsonObject, root: str) -> list[str]:
    """The files that a call changes: that which it names, or those of a patch of Codex."""
    names = ("file_path", "absolute_path", "filePath", "path", "notebook_path")
    named = [str(given[name]) for name in names if given.get(name)][:1]
    patches = [text for text in given.values() if isinstance(text, str) and _PATCH in text]
    found = named or [path for text in patches for path in _PATCHED.findall(text)]
    return [os.path.join(root, path) for path in found[:MAX_EDITED_FILES]]


def _of_file(relay: _Relay, event: str, root: str, path: str) -> str:
    told = relay.ask("claim.list", {"target": path, "root": root})["result"]
    if told["elsewhere"]:
        return _denied(event, told["elsewhere"])
    others = [one for one in told["claims"] if one["holder"] != relay.agent]
    if not others:
        return ""
    of_all = next(
        (one for one in others if not one["shared"] and not _is_of_symbol(one["target"])), None
    )
    one = of_all or others[0]
    holder, what = one["holder"], one["target"] if _is_of_symbol(one["target"]) else path
    since = f"since {one['since']}, until {one['until']}"
    why = f"{what} is claimed by {holder} {since}: ask with `tersely send {holder} TEXT`"
    return _denied(event, why) if of_all else _context(event, f"{why}. Leave that alone.")


def _denied(event: str, why: str) -> str:
    if event in _OF_CURSOR:
        return json.dumps({"permission": "deny", "agent_message": why, "user_message": why})
    if event == _BEFORE_TOOL:
        return json.dumps({"decision": "deny", "reason": why})
    decision = {"permissionDecision": "deny", "permissionDecisionReason": why}
    return json.dumps({"hookSpecificOutput": {"hookEventName": event, **decision}})


def _is_of_symbol(target: str) -> bool:
    return ":" in target


def _of_permission(name: str, event: str, call: JsonObject) -> str:
    """The person's answer from elsewhere, while the agent shows its dialog; the agent ends the hook
    by SIGTERM when it has closed.
    """
    if os.environ.get(_ENTRY, _TERMINAL) != _TERMINAL:
        return ""
    given = call.get("tool_input") or {}
    what = given.get("command") or given.get("file_path") or json.dumps(given, ensure_ascii=False)
    if len(str(what)) > _MAX_WHAT_CHARACTERS:
        return ""
    question = {"tool": str(call["tool_name"]), "what": str(what), "id": ""}
    signal.signal(signal.SIGTERM, _interrupt)
    try:
        decision = _decision(name, question)
    except InterruptedError:
        if question["id"]:
            _Relay(name).ask("permission.ask", {**question, "over": True})
        return ""
    if not decision:
        return ""
    reason = {"message": "The user has denied it."} if decision == "deny" else {}
    return json.dumps(
        {
            "hookSpecificOutput": {
                "hookEventName": event,
                "decision": {"behavior": decision, **reason},
            }
        }
    )


def _decision(name: str, question: JsonObject) -> str:
    """The person's answer to a question, which is given its `id`; "" where none comes."""
    until = monotonic() + PERMISSION_HOOK_SECONDS
    decision = _put(name, question)
    while not decision and monotonic() < until:
        relay = _Relay(name, MAIL_HOOK_SECONDS + PERMISSION_ASK_SECONDS)
        waiting = {**question, "seconds": PERMISSION_ASK_SECONDS}
        decision = relay.ask("permission.ask", waiting)["result"]["decision"]
    return decision


def _put(name: str, question: JsonObject) -> str:
    """Put a question before the person; the answer, "" if there is none yet.

    Signals wait until the `id` is known: without it, nobody could take the question back.
    """
    if sys.platform == "win32":
        return ""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM})
    try:
        told = _Relay(name).ask("permission.ask", question)["result"]
        question["id"], decision = told["id"], str(told["decision"])
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
    return decision


def _interrupt(number: int, frame: object) -> NoReturn:
    raise InterruptedError


def _context(event: str, text: str) -> str:
    if not text:
        return ""
    if event in _OF_CURSOR:
        return json.dumps({"additional_context": text})
    return json.dumps({"hookSpecificOutput": {"hookEventName": event, "additionalContext": text}})


def _kept_going(event: str, text: str) -> str:
    if event in _OF_CURSOR:
        return json.dumps({"followup_message": text})
    return json.dumps({"decision": "block", "reason": text})


class _Relay:
    """The relay of this user, as one agent asks it. All that is asked has one bound in time."""

    def __init__(self, agent: str, seconds: float = MAIL_HOOK_SECONDS) -> None:
        self.agent = agent
        self._ends = monotonic() + seconds

    def ask(self, capability: str, arguments: JsonObject) -> Any:
        """The answer; raises `OSError` or `ValueError` where there is none in time."""
        body = json.dumps(
            {"capability": capability, "arguments": arguments, "budget": MAIL_BUDGET_TOKENS}
        ).encode()
        head = (
            f"POST /ask HTTP/1.1\r\nHost: relay\r\nX-Relay-Agent: {_header(self.agent)}\r\n{_token()}"
            f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\nConnection: close\r\n\r\n"
        )
        if sys.platform == "win32":
            raise OSError("Windows has no Unix sockets")
        path = _socket_path()
        if os.lstat(path).st_uid != os.geteuid():
            raise ValueError("somebody else has made it")
        with socket.socket(socket.AF_UNIX) as wire:
            self._wait(wire)
            wire.connect(path)
            wire.sendall(head.encode() + body)
            status, _, content = self._reply(wire).partition(b"\r\n\r\n")
        if b" 200 " not in status.partition(b"\r\n")[0]:
            raise ValueError("the relay refuses it")
        return json.loads(content)

    def _reply(self, wire: socket.socket) -> bytes:
        reply = bytearray()
        while len(reply) <= MAX_MAIL_CALL_BYTES:
            self._wait(wire)
            piece = wire.recv(65_536)
            if not piece:
                return bytes(reply)
            reply += piece
        raise ValueError("the answer is too long")

    def _wait(self, wire: socket.socket) -> None:
        """Let the next step take what time is left: a relay that sends a byte now and then must not
        hold us up.
        """
        left = self._ends - monotonic()
        if left <= 0:
            raise TimeoutError
        wire.settimeout(left)


def _token() -> str:
    """The line of a request that shows that the name is this agent's own; "" without a token."""
    token = os.environ.get(TOKEN_VARIABLE, "")
    return f"X-Relay-Token: {_header(token)}\r\n" if token else ""


def _header(name: str) -> str:
    """A name as it may stand in a line of a request; raises `ValueError` for one that would begin
    another line.
    """
    if not name.isprintable():
        raise ValueError("no agent has such a name")
    return name


def _home() -> str:
    return os.path.realpath(os.path.expanduser(os.environ.get("TERSELY_HOME") or "~/.tersely"))


def _socket_path() -> str:
    """As `doors.socket.socket_paths` has it."""
    if sys.platform == "win32":
        return ""
    path = os.fsencode(os.path.join(_home(), _SOCKET))
    if len(path) <= _PATH_BYTES:
        return os.fsdecode(path)
    from hashlib import blake2b

    return f"/tmp/tersely-{os.geteuid()}/relay-{blake2b(path, digest_size=12).hexdigest()}.sock"  # noqa: S108


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
