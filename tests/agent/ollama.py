"""A server that shows a llama.cpp server as Ollama would: its paths, its lines of JSON, and its
silent cuts.

What is Ollama's is written after its documentation, and checked with its official client; Ollama
itself is not run. A window is what `num_ctx` says, 4,096 where it is left out. A prompt that does
not fit loses its oldest messages without a word, as far as `truncate` does not forbid it to a
version that knows the word.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, Self
from urllib.request import Request, urlopen

from bench.modelserver.server import Server
from tests.agent.asking import asked

DEFAULT_WINDOW_TOKENS = 4_096
VERSION = "0.32.9"
MOMENT = "2026-01-01T00:00:00.000000Z"
ANSWER_SECONDS = 120


class Front:
    """A running front: `url` is where it listens; `asked` has the bodies of the chats that it was
    sent.
    """

    def __init__(
        self, server: Server, model: str = "scripted:latest", knows_truncate: bool = True
    ) -> None:
        self.asked: list[dict[str, Any]] = []
        self.model = model
        self.server = server
        self.knows_truncate = knows_truncate
        self._http = ThreadingHTTPServer(("127.0.0.1", 0), _answering(self))
        self._http.daemon_threads = True
        self._thread = threading.Thread(
            target=self._http.serve_forever, kwargs={"poll_interval": 0.01}
        )
        self._thread.start()
        self.url = f"http://127.0.0.1:{self._http.server_address[1]}"

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._http.shutdown()
        self._http.server_close()
        self._thread.join()

    def told(self, path: str, body: dict[str, Any]) -> dict[str, Any] | None:
        """What is answered at once, None for a path that there is not."""
        entry = {
            "name": self.model,
            "model": self.model,
            "modified_at": MOMENT,
            "size": 1,
            "digest": "0" * 64,
        }
        details = {
            "format": "gguf",
            "family": "llama",
            "families": ["llama"],
            "parameter_size": "5M",
        }
        if path == "/v1/embeddings":
            return asked(self.server, path, body)
        if path == "/api/version":
            return {"version": VERSION}
        if path == "/api/tags":
            return {"models": [{**entry, "details": details}]}
        if path == "/api/show" and body.get("model") == self.model:
            known = {"general.architecture": "llama", "llama.context_length": 32_768}
            return {
                "details": details,
                "model_info": known,
                "capabilities": ["completion"],
                "modified_at": MOMENT,
            }
        return None

    def chat(self, body: dict[str, Any]) -> Iterator[dict[str, Any]]:
        """The lines of an answer; ValueError for what is refused before the first."""
        self.asked.append(body)
        if body.get("tools"):
            raise ValueError(f"{self.model} does not support tools")
        window = body.get("options", {}).get("num_ctx", DEFAULT_WINDOW_TOKENS)
        messages = [{key: each[key] for key in ("role", "content")} for each in body["messages"]]
        if (
            self._tokens(messages) >= window
            and body.get("truncate") is False
            and self.knows_truncate
        ):
            raise ValueError("the input length exceeds the context length")
        while self._tokens(messages) >= window and len(messages) > 1:
            del messages[1 if messages[0]["role"] == "system" and len(messages) > 2 else 0]
        return self._lines(body, messages)

    def _tokens(self, messages: list[dict[str, str]]) -> int:
        prompt = asked(self.server, "/apply-template", {"messages": messages})["prompt"]
        return len(
            asked(self.server, "/tokenize", {"content": prompt, "parse_special": True})["tokens"]
        )

    def _lines(
        self, body: dict[str, Any], messages: list[dict[str, str]]
    ) -> Iterator[dict[str, Any]]:
        options = body.get("options", {})
        request: dict[str, Any] = {
            "messages": messages,
            "stream": True,
            "stream_options": {"include_usage": True},
        }
        request |= {"max_tokens": options["num_predict"]} if "num_predict" in options else {}
        if isinstance(body.get("format"), dict):
            schema = {"name": "answer", "schema": body["format"]}
            request["response_format"] = {"type": "json_schema", "json_schema": schema}
        shared = {"model": body["model"], "created_at": MOMENT}
        stop = "stop"
        for event in _events(self.server, request):
            for choice in event["choices"]:
                stop = choice["finish_reason"] or stop
                if choice["delta"].get("content"):
                    message = {"role": "assistant", "content": choice["delta"]["content"]}
                    yield {**shared, "message": message, "done": False}
            if "usage" in event:
                usage = event["usage"]
                counts = {
                    "prompt_eval_count": usage["prompt_tokens"],
                    "eval_count": usage["completion_tokens"],
                }
                times = dict.fromkeys(
                    ("total_duration", "load_duration", "prompt_eval_duration", "eval_duration"), 1
                )
                empty = {"role": "assistant", "content": ""}
                yield {
                    **shared,
                    "message": empty,
                    "done": True,
                    "done_reason": stop,
                    **times,
                    **counts,
                }


def _events(server: Server, body: dict[str, Any]) -> Iterator[dict[str, Any]]:
    request = Request(
        f"{server.url}/v1/chat/completions",
        json.dumps(body).encode(),
        {"Content-Type": "application/json"},
    )
    with urlopen(request, timeout=ANSWER_SECONDS) as answer:
        for line in answer:
            if line.startswith(b"data: {"):
                yield json.loads(line.removeprefix(b"data: "))


def _answering(front: Front) -> type[BaseHTTPRequestHandler]:
    """What the HTTP server makes for each connection."""

    class Answering(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self._answer({})

        def do_POST(self) -> None:
            self._answer(json.loads(self.rfile.read(int(self.headers.get("Content-Length", 0)))))

        def _answer(self, body: dict[str, Any]) -> None:
            if self.path == "/api/chat":
                self._chat(body)
                return
            told = front.told(self.path, body)
            self._send(200 if told else 404, told or {"error": "not found"})

        def _chat(self, body: dict[str, Any]) -> None:
            try:
                lines = front.chat(body)
            except ValueError as error:
                self._send(400, {"error": str(error)})
                return
            if body.get("stream") is False:
                parts = list(lines)
                said = "".join(part["message"]["content"] for part in parts)
                self._send(200, {**parts[-1], "message": {"role": "assistant", "content": said}})
                return
            self._head(200, "application/x-ndjson")
            for line in lines:
                self.wfile.write(json.dumps(line).encode() + b"\n")

        def _send(self, status: int, body: dict[str, Any]) -> None:
            self._head(status, "application/json")
            self.wfile.write(json.dumps(body).encode())

        def _head(self, status: int, kind: str) -> None:
            self.send_response(status)
            self.send_header("Content-Type", kind)
            self.end_headers()

        def log_message(self, format: str, *arguments: object) -> None:
            """Say nothing."""

    return Answering
