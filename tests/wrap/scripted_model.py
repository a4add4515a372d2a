"""A model that knows nothing by itself, for tests with real agents: it acts on what it finds in its
requests alone.

It serves Anthropic Messages, OpenAI Responses and Chat Completions, streamed. What it does with the
newest text:

    please run `COMMAND`      it calls the shell tool, once for each prompt
    please write `PATH`       it makes a file by the tool for that, or a patch where there is none
    please note `PATH`        it calls the tool `note`, which makes the file
    please tell NAME WORD     it writes the command that sends WORD to NAME, with the marker that it
    was told
    anything else             it says that it has read each word-… in it
"""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, NamedTuple

_RUN = re.compile(r"please run `([^`]+)`")
_WRITE = re.compile(r"please write `([^`]+)`")
_NOTE = re.compile(r"please note `([^`]+)`")
_TELL = re.compile(r"please tell (\w+) (word-\w+)")
_MARKER = re.compile(r"with the marker ([0-9a-f]{8}) in the place of MARKER")
# that of a tool of Codex: beside its schema, and beside the arguments of a call
NAMESPACE = "x-namespace"
_WORD = re.compile(r"word-[0-9a-f]+")
_SHELLS = ("Bash", "bash", "exec_command", "run_shell_command")
_WRITERS = ("Write", "write", "write_file")
_PATCH = (
    "apply_patch <<'END'\n*** Begin Patch\n*** Add File: {path}\n+written\n*** End Patch\nEND\n"
)


class Turn(NamedTuple):
    role: str  # user, tool, system or assistant; call for a tool that the assistant has called
    text: str


class Asked(NamedTuple):
    """A request, in the same words for every protocol."""

    turns: Sequence[Turn]
    tools: Mapping[str, Mapping[str, Any]]  # their schemas by name


class Reply(NamedTuple):
    """What is said, or a tool that is called with arguments."""

    text: str = ""
    tool: str = ""
    arguments: Mapping[str, Any] | None = None


def reply_to(asked: Asked) -> Reply:
    last = max(
        (n for n, turn in enumerate(asked.turns) if turn.role in {"assistant", "call"}), default=-1
    )
    new = asked.turns[last + 1 :]
    prompt = "\n".join(turn.text for turn in new if turn.role != "tool")
    has_result = any(turn.role == "tool" for turn in new)
    shell = next((name for name in _SHELLS if name in asked.tools), "")
    if asked.tools and not has_result and (acts := _acts(asked.tools, prompt, shell)):
        return acts
    run, tell = _RUN.search(prompt), _TELL.search("\n".join(turn.text for turn in new))
    if run and shell and not has_result:
        return Reply(tool=shell, arguments=_arguments(asked.tools[shell], run[1]))
    marker = _MARKER.search("\n".join(turn.text for turn in asked.turns))
    if tell and marker:
        return Reply(f"->relay-{marker[1]}:{tell[1]} {tell[2]}")
    words = sorted(set(_WORD.findall("\n".join(turn.text for turn in new))))
    return Reply(f"I have read {', '.join(words)}." if words else "Good.")


def _acts(tools: Mapping[str, Mapping[str, Any]], prompt: str, shell: str) -> Reply | None:
    """The call of a tool that changes a file; None where nobody asks for one."""
    if (noted := _NOTE.search(prompt)) and "note" in tools:
        space = {NAMESPACE: tools["note"].get(NAMESPACE, "")}
        return Reply(tool="note", arguments={"path": noted[1], **space})
    written = _WRITE.search(prompt)
    writer = next((name for name in _WRITERS if name in tools), "")
    if written is None:
        return None
    if writer:
        known = tools[writer].get("properties", {})
        paths = {"file_path": written[1], "filePath": written[1], "content": "written\n"}
        return Reply(tool=writer, arguments={name: paths[name] for name in paths if name in known})
    return Reply(tool=shell, arguments={"cmd": _PATCH.format(path=written[1])}) if shell else None


def _arguments(schema: Mapping[str, Any], command: str) -> dict[str, Any]:
    """The command under the tool's own names; Codex asks a person only where the model wants that."""
    known = schema.get("properties", {})
    wanted = {"command": command, "cmd": command, "sandbox_permissions": "require_escalated", "justification": "May I?",
              "description": "run it"}  # fmt: skip
    return {name: value for name, value in wanted.items() if name in known}


def _text(content: Any) -> str:
    if isinstance(content, list):
        return "\n".join(filter(None, map(_text, content)))
    if isinstance(content, dict):
        inner = next((content[key] for key in ("text", "content", "output") if key in content), "")
        return _text(inner)
    return str(content or "")


def _read(path: str, body: Mapping[str, Any]) -> Asked:
    turns: list[Turn] = []
    if path.endswith("/messages"):
        turns.append(Turn("system", _text(body.get("system"))))
        for message in body["messages"]:
            content = message["content"]
            for block in [content] if isinstance(content, str) else content:
                kind = block.get("type") if isinstance(block, dict) else ""
                if kind == "tool_use":
                    turns.append(_call(block["name"], block["input"]))
                else:
                    turns.append(
                        Turn("tool" if kind == "tool_result" else message["role"], _text(block))
                    )
        return Asked(
            turns, {tool["name"]: tool.get("input_schema", {}) for tool in body.get("tools", [])}
        )
    if path.endswith("/completions"):
        for one in body["messages"]:
            turns.append(Turn(one["role"], _text(one.get("content"))))
            called = [call["function"] for call in one.get("tool_calls") or []]
            turns += [_call(function["name"], function["arguments"]) for function in called]
        tools = [tool["function"] for tool in body.get("tools", [])]
        return Asked(turns, {tool["name"]: tool.get("parameters", {}) for tool in tools})
    turns.append(Turn("system", _text(body.get("instructions"))))
    for item in body["input"]:
        kind = item.get("type", "message")
        if kind == "function_call":
            turns.append(_call(item["name"], item["arguments"]))
            continue
        role = (
            "tool"
            if kind.endswith("_output")
            else item["role"]
            if kind == "message"
            else "assistant"
        )
        turns.append(Turn("system" if role == "developer" else role, _text(item)))
    tools: dict[str, Mapping[str, Any]] = {}
    for tool in body.get("tools", []):
        if "tools" in tool:  # Codex says there what a server tells its clients
            turns.insert(0, Turn("system", tool.get("description", "")))
        for one in tool.get("tools", [tool]):
            space = tool["name"] if "tools" in tool else ""
            tools[one.get("name", "")] = {**(one.get("parameters") or {}), NAMESPACE: space}
    return Asked(turns, tools)


def _call(name: str, arguments: Any) -> Turn:
    return Turn(
        "call", f"{name} {arguments if isinstance(arguments, str) else json.dumps(arguments)}"
    )


def _events(path: str, reply: Reply, number: int) -> Iterator[dict[str, Any]]:
    given = dict(reply.arguments or {})
    namespace = given.pop(NAMESPACE, "")
    arguments, call = json.dumps(given), f"call_{number}"
    if path.endswith("/completions"):
        function = {
            "index": 0,
            "id": call,
            "type": "function",
            "function": {"name": reply.tool, "arguments": arguments},
        }
        delta = {"tool_calls": [function]} if reply.tool else {"content": reply.text}
        for part, reason in ((delta, None), ({}, "tool_calls" if reply.tool else "stop")):
            choice = {"index": 0, "delta": {"role": "assistant", **part}, "finish_reason": reason}
            usage = {"prompt_tokens": 10, "completion_tokens": 10, "total_tokens": 20}
            yield {
                "id": call,
                "object": "chat.completion.chunk",
                "created": 1,
                "model": "m",
                "choices": [choice],
                "usage": usage if reason else None,
            }
        return
    if path.endswith("/messages"):
        usage = {"input_tokens": 10, "output_tokens": 10}
        message = {"id": call, "type": "message", "role": "assistant", "model": "m", "content": [], "usage": usage,
                   "stop_reason": None, "stop_sequence": None}  # fmt: skip
        block = (
            {"type": "tool_use", "id": call, "name": reply.tool, "input": {}}
            if reply.tool
            else {"type": "text", "text": ""}
        )
        delta = (
            {"type": "input_json_delta", "partial_json": arguments}
            if reply.tool
            else {"type": "text_delta", "text": reply.text}
        )
        reason = {"stop_reason": "tool_use" if reply.tool else "end_turn", "stop_sequence": None}
        yield {"type": "message_start", "message": message}
        yield {"type": "content_block_start", "index": 0, "content_block": block}
        yield {"type": "content_block_delta", "index": 0, "delta": delta}
        yield {"type": "content_block_stop", "index": 0}
        yield {"type": "message_delta", "delta": reason, "usage": usage}
        yield {"type": "message_stop"}
        return
    part = {"type": "output_text", "text": reply.text, "annotations": []}
    said = {
        "type": "message",
        "id": f"m_{number}",
        "role": "assistant",
        "status": "completed",
        "content": [part],
    }
    called = {"type": "function_call", "id": f"f_{number}", "call_id": call, "name": reply.tool, "arguments": arguments,
              "status": "completed"}  # fmt: skip
    called |= {"namespace": namespace} if namespace else {}
    item = called if reply.tool else said
    usage = {"input_tokens": 10, "output_tokens": 10, "total_tokens": 20}
    answer = {
        "id": f"r_{number}",
        "object": "response",
        "status": "completed",
        "output": [item],
        "usage": usage,
    }
    yield {
        "type": "response.created",
        "response": {**answer, "status": "in_progress", "output": []},
    }
    yield {"type": "response.output_item.added", "output_index": 0, "item": item}
    if not reply.tool:
        place = {"item_id": said["id"], "output_index": 0, "content_index": 0}
        yield {"type": "response.output_text.delta", "delta": reply.text, **place}
    yield {"type": "response.output_item.done", "output_index": 0, "item": item}
    yield {"type": "response.completed", "response": answer}


class ScriptedModel:
    """The server; `texts` are what it was sent, one a request. `answer` decides what it says."""

    def __init__(self, answer: Callable[[Asked], Reply] = reply_to) -> None:
        self.texts: list[str] = []
        model = self

        class Answering(BaseHTTPRequestHandler):
            def log_message(self, *_: object) -> None:
                pass

            def do_GET(self) -> None:
                self._send("application/json", [b'{"object": "list", "data": [], "models": []}'])

            do_HEAD = do_GET  # noqa: N815 - as the server calls it

            def do_POST(self) -> None:
                body = json.loads(
                    self.rfile.read(int(self.headers.get("Content-Length") or 0)) or b"{}"
                )
                path = self.path.partition("?")[0]
                if not path.endswith(("/messages", "/completions", "/responses")):
                    self._send("application/json", [b'{"input_tokens": 10}'])
                    return
                asked = _read(path, body)
                model.texts.append("\n".join(turn.text for turn in asked.turns))
                self._stream(path, answer(asked), len(model.texts))

            def _stream(self, path: str, reply: Reply, number: int) -> None:
                events = [
                    (f"event: {event['type']}\n" if "type" in event else "")
                    + f"data: {json.dumps(event)}\n\n"
                    for event in _events(path, reply, number)
                ]
                self._send(
                    "text/event-stream", [one.encode() for one in [*events, "data: [DONE]\n\n"]]
                )

            def _send(self, kind: str, parts: Sequence[bytes]) -> None:
                self.send_response(200)
                self.send_header("Content-Type", kind)
                self.send_header("Connection", "close")
                self.end_headers()
                self.wfile.write(b"".join(parts))

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Answering)
        self._server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._server.server_port}"
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def has_read(self, text: str) -> bool:
        return any(text in one for one in list(self.texts))

    def markers(self) -> set[str]:
        """The markers that it was told of."""
        return {marker for text in list(self.texts) for marker in _MARKER.findall(text)}

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()
