"""A language server as a child process: requests out, answers back, one at a time."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, cast

METHOD_NOT_FOUND = -32601
Message = dict[str, Any]


class LanguageServer:
    """Speaks JSON-RPC with `Content-Length` headers over the child's pipes."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self._process = process
        self._out = cast("IO[bytes]", process.stdin)
        self._in = cast("IO[bytes]", process.stdout)
        self._serial = 0

    def request(self, method: str, parameters: Any) -> Any:
        """Ask and wait for the answer; requests of the server in between are declined."""
        self._serial += 1
        self._send({"id": self._serial, "method": method, "params": parameters})
        while True:
            message = self._receive()
            if "method" in message and "id" in message:
                self._answer(message)
            elif message.get("id") == self._serial:
                if "error" in message:
                    raise RuntimeError(f"{method}: {message['error']}")
                return message.get("result")

    def notify(self, method: str, parameters: Any) -> None:
        """Tell without waiting."""
        self._send({"method": method, "params": parameters})

    def _answer(self, message: Message) -> None:
        if message["method"] == "workspace/configuration":
            self._send({"id": message["id"], "result": [None for _ in message["params"]["items"]]})
        elif message["method"] in {"client/registerCapability", "window/workDoneProgress/create"}:
            self._send({"id": message["id"], "result": None})
        else:
            self._send({"id": message["id"], "error": {"code": METHOD_NOT_FOUND, "message": "not offered"}})

    def _send(self, message: Message) -> None:
        body = json.dumps({"jsonrpc": "2.0", **message}).encode()
        self._out.write(b"Content-Length: %d\r\n\r\n" % len(body) + body)
        self._out.flush()

    def _receive(self) -> Message:
        length = 0
        while (header := self._in.readline().strip()) or not length:
            if not header and self._process.poll() is not None:
                raise RuntimeError("the language server has ended")
            name, _, value = header.partition(b":")
            if name.lower() == b"content-length":
                length = int(value)
        return cast("Message", json.loads(self._in.read(length)))


@contextmanager
def started(command: list[str], root: Path) -> Iterator[LanguageServer]:
    """A server that has been initialised for one folder and is ended afterwards."""
    with subprocess.Popen(
        command, cwd=root, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    ) as process:
        server = LanguageServer(process)
        try:
            folder = {"uri": root.as_uri(), "name": root.name}
            capabilities = {"textDocument": {"callHierarchy": {}}, "workspace": {"workspaceFolders": True}}
            server.request(
                "initialize",
                {
                    "processId": None,
                    "rootUri": root.as_uri(),
                    "workspaceFolders": [folder],
                    "capabilities": capabilities,
                },
            )
            server.notify("initialized", {})
            yield server
        finally:
            process.kill()
