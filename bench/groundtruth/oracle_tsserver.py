"""TypeScript's own call hierarchy. $TSSERVER names `typescript/lib/tsserver.js`, from the npm package `typescript`."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, cast

from bench.groundtruth.oracle import Ask, Place, Target
from tersely.code.symbols import Symbol

FILES = {"module", "script"}  # kinds of item that stand for a whole file
FUNCTIONS = {"function", "local function", "method", "getter", "const", "let", "arrow function"}
MAX_HEAP_MB = 3000
UNREAD = ("__tests__", "__tests_dts__", "fixtures")  # what Vite's projects leave out
NOT_SOURCE = ("__tests__", "__tests_dts__", "node_modules", ".d.ts", "fixtures")


def script() -> str:
    """Where the server is; empty when it is not said."""
    return os.environ.get("TSSERVER", "")


def available() -> bool:
    """Whether the server and Node are there."""
    return Path(script()).is_file() and shutil.which("node") is not None


class Server:
    """tsserver's protocol: a request a line, answers behind `Content-Length` headers."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self._out = cast("IO[bytes]", process.stdin)
        self._in = cast("IO[bytes]", process.stdout)
        self._serial = 0
        self._opened: set[str] = set()

    def request(self, command: str, arguments: dict[str, Any]) -> Any:
        """Ask and wait; None when there is nothing to say."""
        self._serial += 1
        self._send(command, arguments)
        while True:
            message = self._receive()
            if message.get("type") == "response" and message.get("request_seq") == self._serial:
                return message.get("body") if message.get("success") else None

    def open(self, file: str) -> None:
        """Tell of a file, once."""
        if file not in self._opened:
            self._opened.add(file)
            self._serial += 1
            self._send("open", {"file": file})

    def _send(self, command: str, arguments: dict[str, Any]) -> None:
        message = {"seq": self._serial, "type": "request", "command": command, "arguments": arguments}
        self._out.write(json.dumps(message).encode() + b"\n")
        self._out.flush()

    def _receive(self) -> dict[str, Any]:
        length = 0
        while (line := self._in.readline()).strip() or not length:
            if not line:
                raise RuntimeError("tsserver has ended")
            if line.lower().startswith(b"content-length:"):
                length = int(line.partition(b":")[2])
        return cast("dict[str, Any]", json.loads(self._in.read(length)))


@contextmanager
def _started(root: Path) -> Iterator[Server]:
    command = ["node", f"--max-old-space-size={MAX_HEAP_MB}", script(), "--disableAutomaticTypingAcquisition"]
    with subprocess.Popen(
        command, cwd=root, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    ) as process:
        try:
            yield Server(process)
        finally:
            process.kill()


def targets(root: Path, scope: str) -> Iterator[Target]:
    """Every named function and method below the scope, by the server's own outline."""
    real = root.resolve()
    with _started(real) as server:
        for path in sorted((real / scope).rglob("*.ts")):
            relative = path.relative_to(real).as_posix()
            if not any(part in relative for part in NOT_SOURCE):
                server.open(str(path))
                tree = server.request("navtree", {"file": str(path)})
                yield from _functions(relative, path.read_text(encoding="utf-8").splitlines(), tree or {})


def _functions(relative: str, lines: list[str], tree: dict[str, Any]) -> Iterator[Target]:
    for child in tree.get("childItems", ()):
        start = child.get("nameSpan", {}).get("start")
        if start and child["kind"] in FUNCTIONS and _is_function(child, lines):
            yield Target(relative, start["line"], start["offset"] - 1, child["text"])
        yield from _functions(relative, lines, child)


def _is_function(item: dict[str, Any], lines: list[str]) -> bool:
    """Variables count when an arrow function is all their value."""
    if item["kind"] not in {"const", "let"}:
        return True
    return "=>" in lines[item["nameSpan"]["start"]["line"] - 1]


def has_item(symbol: Symbol, line: str) -> bool:
    """Whether the call hierarchy has an item for a function: constructors and functions in properties have none."""
    if symbol.name == "constructor":
        return False
    name = re.escape(symbol.name)
    is_assigned = re.search(rf"(?<![\w$]){name}[!?]?\s*(=(?![=>])|:)", line)
    return not is_assigned or bool(re.search(rf"\b(const|let|var)\s+{name}(?![\w$])", line))


@contextmanager
def asking(root: Path) -> Iterator[Ask]:
    """A running server that answers who calls a function."""
    real = root.resolve()
    with _started(real) as server:
        yield lambda target: _callers(server, real, target)


def _callers(server: Server, root: Path, target: Target) -> Iterator[Place]:
    file = str(root / target.path)
    server.open(file)
    where = {"file": file, "line": target.line, "offset": target.column + 1}
    for call in server.request("provideCallHierarchyIncomingCalls", where) or []:
        item = call["from"]
        if not any(_is_ours(server, root, item["file"], span["start"]) for span in call["fromSpans"]):
            continue
        path = Path(item["file"])
        relative = path.relative_to(root).as_posix() if path.is_relative_to(root) else path.as_posix()
        if item["kind"] in FILES:
            yield Place(relative, 0, named=False)
        else:
            yield Place(relative, item["selectionSpan"]["start"]["line"], item["kind"] != "class")


def _is_ours(server: Server, root: Path, file: str, start: dict[str, int]) -> bool:
    """The server follows a member to the platform's types and back; a call of `Map.has` does not call our `has`."""
    server.open(file)
    defined = server.request("definition", {"file": file, **start}) or []
    return any(Path(each["file"]).is_relative_to(root) and not each["file"].endswith(".d.ts") for each in defined)
