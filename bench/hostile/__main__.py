"""Makes the hostile repository, asks every command and every MCP tool about it, and prints a line
for each.

    python -m bench.hostile FOLDER [--files 100000] [--timeout 600] [--record]

A FOLDER of an earlier run is asked once more. Each line says how the question ended (answered,
refused with a code, defect, too slow), the seconds it took, and the words. The exit status is 1 if
something ended as a defect or too slowly, if anything printed holds a control character or a text
from outside, or if a program was run that the repository names.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import anyio
from mcp.client.client import Client
from mcp.client.stdio import StdioServerParameters
from mcp_types import TextContent

from bench.hostile.questions import ODD, QUESTIONS
from bench.hostile.repository import MARK, OUTSIDE, SECRET, make
from bench.results import Row, Table, report
from tersely.capabilities.declaration.toolset import tool_name
from tersely.cli.commands import COMMANDS
from tersely.daemon import lifecycle
from tersely.foundation.clock import Stopwatch

CONTROLS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
SLOWEST = 4  # questions that a record names
TABLE = Table(
    "A hostile repository",
    "python -m bench.hostile FOLDER --record",
    "asked|questions:,|answered:,|refused:,|too_long:,|badly_ended|slowest",
    "What is refused says why; a question that took too long does by `timed_out`.",
)
REFUSED = re.compile(r"([a-z]+_[a-z_]+|usage): ")


class Ending(NamedTuple):
    """How one question ended."""

    words: str
    how: str
    seconds: float
    is_bad: bool


def main(arguments: list[str] | None = None) -> int:
    """Ask, and say how it went."""
    parser = argparse.ArgumentParser(prog="python -m bench.hostile", description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--files", type=int, default=100_000)
    parser.add_argument("--timeout", type=float, default=600.0, help="seconds for one question")
    parser.add_argument(
        "--record", action="store_true", help="keep the figures in bench/RESULTS.md"
    )
    options = parser.parse_args(arguments)
    folder = options.folder.resolve()
    root = folder / "root" if folder.exists() else make(folder, options.files)
    _of_ones_own(folder)
    endings: list[Ending] = []
    for ending in (
        *_by_command(root, options.timeout),
        *anyio.run(_by_tool, root, options.timeout),
    ):
        print(f"{ending.how:<28} {ending.seconds:8.2f} s  {ending.words}", flush=True)
        endings.append(ending)
    was_run = (folder / OUTSIDE / MARK).exists()
    bad = sum(one.is_bad for one in endings)
    print(
        f"{len(endings)} questions, {bad} badly ended; programs run: {'yes' if was_run else 'none'}"
    )
    files = sum(len(names) for _, _, names in os.walk(root / "many"))
    run = "some were run" if was_run else "none was run"
    about = f"{files:,} small files beside all that is odd. Of the programs that the repository names {run}."
    report("hostile", [TABLE.filled(_rows(endings), about)], options.record)
    return int(bool(bad) or was_run)


def _rows(endings: list[Ending]) -> list[Row]:
    """What is kept of the questions of commands and of those of tools."""
    parts: dict[str, list[Ending]] = {"commands": [], "tools": []}
    for ending in endings:
        parts["tools" if ending.words.startswith("tool ") else "commands"].append(ending)
    return [
        {
            "asked": name,
            "questions": len(part),
            "answered": sum(one.how == "answered" for one in part),
            "refused": sum(one.how.startswith("refused") for one in part),
            "too_long": sum(one.how == "refused: timed_out" for one in part),
            "badly_ended": [f"{one.words}: {one.how}" for one in part if one.is_bad] or "0",
            "slowest": [
                f"{one.words.removeprefix('tool ')} {one.seconds:.0f} s"
                for one in sorted(part, key=lambda one: -one.seconds)[:SLOWEST]
            ],
        }
        for name, part in parts.items()
    ]


def _of_ones_own(folder: Path) -> None:
    """No daemon, key or settings of the user's take part."""
    for name in ("run", "home"):
        (folder / name).mkdir(mode=0o700, exist_ok=True)
    os.environ |= {
        "XDG_RUNTIME_DIR": str(folder / "run"),
        "TERSELY_HOME": str(folder / "home"),
        "TERSELY_DAEMON": "off",
    }


def command_lines() -> Iterator[tuple[str, ...]]:
    """The words of every command of the catalogue, and the odd ones."""
    for command in COMMANDS:
        words = QUESTIONS[command.capability_name][0]
        yield (
            *command.words,
            *(word for word in words if word != "--callers" or not command.preset),
        )
    yield from ODD


def _by_command(root: Path, timeout: float) -> Iterator[Ending]:
    for words in command_lines():
        shown, watch = " ".join(map(ascii, words)), Stopwatch()
        try:
            done = subprocess.run(
                [sys.executable, "-m", "tersely", *words], cwd=root, capture_output=True, stdin=subprocess.DEVNULL,
                timeout=timeout, check=False,
            )  # fmt: skip
        except subprocess.TimeoutExpired:
            yield Ending(shown, "too slow", watch.seconds(), True)
            continue
        printed = done.stdout.decode("utf-8", "replace"), done.stderr.decode("utf-8", "replace")
        yield judged(shown, done.returncode, *printed, watch.seconds())


def judged(words: str, status: int, out: str, errors: str, seconds: float) -> Ending:
    """What to think of an answer."""
    complaint = next(
        (line for line in errors.splitlines() if not line.startswith(("note: ", "hint: "))), ""
    )
    refusal = REFUSED.match(complaint)
    if CONTROLS.search(out + errors):
        return Ending(words, "control character", seconds, True)
    if SECRET in out + errors:
        return Ending(words, "read from outside", seconds, True)
    if status == 0 or (status == 1 and not complaint):  # nothing was found
        return Ending(words, "answered", seconds, False)
    if refusal is None or refusal[1] == "internal_error" or "Traceback" in errors:
        return Ending(words, f"defect, status {status}", seconds, True)
    return Ending(words, f"refused: {refusal[1]}", seconds, False)


async def _by_tool(root: Path, timeout: float) -> list[Ending]:
    """Every capability as a tool of one server, whose daemon is ended."""
    server = StdioServerParameters(
        command=sys.executable,
        args=["-m", "tersely", "mcp", "--all-tools"],
        env=dict(os.environ),
        cwd=str(root),
    )
    endings = []
    try:
        async with Client(server, mode="legacy") as client:
            for name, (_, given) in QUESTIONS.items():
                endings.append(await _asked(client, tool_name(name), given, timeout))
    finally:
        lifecycle.stop(str(root.resolve()))
    return endings


async def _asked(client: Client, tool: str, given: dict[str, Any], timeout: float) -> Ending:
    """How a call of a tool ends."""
    watch = Stopwatch()
    try:
        with anyio.fail_after(timeout):
            result = await client.call_tool(tool, given)
    except TimeoutError:
        return Ending(f"tool {tool}", "too slow", watch.seconds(), True)
    text = "\n".join(part.text for part in result.content if isinstance(part, TextContent))
    said = ("", text) if result.is_error else (text, "")
    return judged(f"tool {tool}", int(bool(result.is_error)), *said, watch.seconds())


if __name__ == "__main__":
    raise SystemExit(main())
