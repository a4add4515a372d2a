"""What hooks of an agent execute that was not started by `run`: what others write is put before its model.

It is started at every event, so it imports the standard library alone and asks the relay by one request. Where no
relay runs, or anything goes wrong, it says nothing: an agent is never kept from its work.
"""

from __future__ import annotations

import json
import os
import socket
import sys
from time import monotonic
from typing import Any

# It is run as a file, without its package.
sys.path.append(os.path.dirname(__file__))
sys.path.append(os.path.join(os.path.dirname(__file__), "..", "foundation", "process"))

from ancestry import agent_name  # type: ignore[import-not-found]
from run_hook import SOCKET_VARIABLE  # type: ignore[import-not-found]

MAIL_HOOK_SECONDS = 2.0  # for an answer
MAX_MAIL_CALL_BYTES = 4_000_000  # of a call, and of an answer
MAIL_BUDGET_TOKENS = 600  # of what is put before a model at a time
_SOCKET = "http.sock"
_PATH_BYTES = 100
_START, _STOP, _EDIT, _PERMISSION = "start", "stop", "edit", "permission"
_BESIDE_RUN = frozenset({_EDIT, _PERMISSION})  # what `run` does not do by itself
PERMISSION_HOOK_SECONDS = 3_600.0  # for which the person may answer from elsewhere
PERMISSION_ASK_SECONDS = 5  # that one question to the relay waits
_MAX_WHAT_CHARACTERS = 2_000
_ENTRY, _TERMINAL = "CLAUDE_CODE_ENTRYPOINT", "cli"  # how Claude Code was started: elsewhere nobody sees a dialog


def main(kind: str) -> int:
    """Answer one call on standard input; always 0."""
    try:
        if kind in _BESIDE_RUN or not os.environ.get(SOCKET_VARIABLE):  # `run` hands over mail itself
            text = _answer(kind, json.loads(sys.stdin.buffer.read(MAX_MAIL_CALL_BYTES)))
            sys.stdout.write(text)
    except (OSError, ValueError, KeyError, TypeError):
        return 0
    return 0


def _answer(kind: str, call: dict[str, Any]) -> str:
    name = agent_name(os.environ, os.getppid())
    if not name:
        return ""
    event = str(call.get("hook_event_name", ""))
    root = str(call.get("cwd") or os.getcwd())
    if kind == _EDIT:
        return _of_edit(name, event, root, call)
    if kind == _PERMISSION:
        return _of_permission(name, event, call)
    if kind == _START:
        return _context(event, _asked(name, "agent.introduction", {"root": root})["text"])
    if kind == _STOP and call.get("stop_hook_active"):
        return ""  # it goes on once for each time that it would stop
    told = _asked(name, "mail.inbox", {"waiting": True})
    if not told["result"]["messages"]:
        return ""
    text = f"Messages of other agents, not of your user:\n{told['text']}"
    return json.dumps({"decision": "block", "reason": text}) if kind == _STOP else _context(event, text)


def _of_edit(name: str, event: str, root: str, call: dict[str, Any]) -> str:
    """No, where another agent holds the file for itself; a warning, where it holds a symbol in it or shares it."""
    given = call.get("tool_input") or {}
    path = given.get("file_path") or given.get("absolute_path") or given.get("filePath")
    if not path:
        return ""
    held = _asked(name, "claim.list", {"target": str(path), "root": root})["result"]["claims"]
    others = [one for one in held if one["holder"] != name]
    if not others:
        return ""
    of_all = next((one for one in others if not one["shared"] and not _is_of_symbol(one["target"])), None)
    one = of_all or others[0]
    holder, what = one["holder"], one["target"] if _is_of_symbol(one["target"]) else path
    since = f"since {one['since']}, until {one['until']}"
    why = f"{what} is claimed by {holder} {since}: ask with `tersely send {holder} TEXT`"
    if of_all is None:
        return _context(event, f"{why}. Leave that alone.")
    decision = {"permissionDecision": "deny", "permissionDecisionReason": why}
    return json.dumps({"hookSpecificOutput": {"hookEventName": event, **decision}})


def _is_of_symbol(target: str) -> bool:
    return ":" in target


def _of_permission(name: str, event: str, call: dict[str, Any]) -> str:
    """What the person says elsewhere, while the agent shows its dialog; the agent ends the hook when it has closed."""
    if os.environ.get(_ENTRY, _TERMINAL) != _TERMINAL:
        return ""
    given = call.get("tool_input") or {}
    what = given.get("command") or given.get("file_path") or json.dumps(given, ensure_ascii=False)
    question = {"tool": str(call["tool_name"]), "what": str(what)[:_MAX_WHAT_CHARACTERS], "id": ""}
    until = monotonic() + PERMISSION_HOOK_SECONDS
    wait = {"seconds": PERMISSION_ASK_SECONDS}
    decision = ""
    while not decision and monotonic() < until:
        told = _asked(name, "permission.ask", {**question, **(wait if question["id"] else {})})["result"]
        question["id"], decision = told["id"], told["decision"]
    if not decision:
        return ""
    reason = {"message": "The user has denied it."} if decision == "deny" else {}
    return json.dumps({"hookSpecificOutput": {"hookEventName": event, "decision": {"behavior": decision, **reason}}})


def _context(event: str, text: str) -> str:
    if not text:
        return ""
    return json.dumps({"hookSpecificOutput": {"hookEventName": event, "additionalContext": text}})


def _asked(agent: str, capability: str, arguments: dict[str, Any]) -> Any:
    body = json.dumps({"capability": capability, "arguments": arguments, "budget": MAIL_BUDGET_TOKENS}).encode()
    head = (
        f"POST /ask HTTP/1.1\r\nHost: relay\r\nX-Relay-Agent: {agent}\r\nContent-Type: application/json\r\n"
        f"Content-Length: {len(body)}\r\nConnection: close\r\n\r\n"
    )
    with socket.socket(socket.AF_UNIX) as wire:
        wire.settimeout(MAIL_HOOK_SECONDS + arguments.get("seconds", 0))
        path = _socket_path()
        if os.lstat(path).st_uid != os.geteuid():
            raise ValueError("somebody else has made it")
        wire.connect(path)
        wire.sendall(head.encode() + body)
        with wire.makefile("rb") as reply:
            status, _, content = reply.read(MAX_MAIL_CALL_BYTES).partition(b"\r\n\r\n")
    if b" 200 " not in status.partition(b"\r\n")[0]:
        raise ValueError("the relay refuses it")
    return json.loads(content)


def _socket_path() -> str:
    """As `doors.socket.socket_paths` has it."""
    home = os.path.realpath(os.path.expanduser(os.environ.get("TERSELY_HOME") or "~/.tersely"))
    path = os.fsencode(os.path.join(home, _SOCKET))
    if len(path) <= _PATH_BYTES:
        return os.fsdecode(path)
    from hashlib import blake2b

    return f"/tmp/tersely-{os.geteuid()}/relay-{blake2b(path, digest_size=12).hexdigest()}.sock"  # noqa: S108


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
