"""`python -m bench.mcp_server REPOSITORY [--conformance NODE_MODULES] [--record]`: what `tersely
mcp` costs and keeps.

Tokens of the list of tools, as it goes to a client and so to the model with every request; times of
a server over the standard streams; processor time and memory of one, and of fifty in one repository
with their daemon; and the official conformance suite over HTTP, from a folder with `npm install
@modelcontextprotocol/conformance node@22`. Its scenarios are written for a server made for them:
what they want that is of that server, or is not offered by Tersely, is said beside them.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import anyio
from mcp.client.client import Client
from mcp.client.stdio import StdioServerParameters

from bench import results
from bench.results import Row, Table
from tersely.daemon import lifecycle
from tersely.foundation.clock import Stopwatch
from tersely.foundation.text.tokens import count

SERVER = [sys.executable, "-m", "tersely", "mcp"]
STARTS = 5
CALLS = 30
SERVERS = 50  # that share a daemon
SCENARIO_SECONDS = 120
MEGABYTE = 1_000_000
MILLISECONDS = 1000

COMMAND = "python -m bench.mcp_server REPOSITORY --conformance NODE_MODULES --record"
COSTS = Table("The server of the Model Context Protocol", COMMAND, "what|tokens:,|median_ms:,.0f")
PROCESSES = Table(
    "The server of the Model Context Protocol: processor time and memory",
    COMMAND,
    "what|cpu_seconds:.2f|resident_mb:,.1f|proportional_mb:,.1f",
    "Processor time until the list of tools is answered, median of starts, all children counted. Proportional memory "
    "divides what processes share among them, so it can be summed.",
)
SCENARIOS = Table(
    "The server of the Model Context Protocol: conformance",
    COMMAND,
    "name|revisions|passed:,|failed:,|told:,|why_not",
)

# The first part of a scenario's name that fits says why it is not asked to pass.
NOT_OURS = {
    "prompts-": "prompts are not offered",
    "completion-": "completion is not offered",
    "logging-": "logging is not offered",
    "elicitation-": "needs a tool of the suite's own server",
    "server-sse-polling": "calls a tool of the suite's own server, over a revision without resumption",
    "tools-call-": "needs a tool of the suite's own server",
    "json-schema-": "needs a tool of the suite's own server",
    "resources-subscribe": "subscriptions are not offered",
    "resources-unsubscribe": "subscriptions are not offered",
    "resources-read-": "needs a resource of the suite's own server",
    "resources-templates-read": "needs a resource of the suite's own server",
}


def main(arguments: list[str]) -> int:
    """Measure, print, and keep the figures if that is wanted."""
    parser = argparse.ArgumentParser(prog="python -m bench.mcp_server", description=__doc__)
    parser.add_argument("repository", type=Path, help="a source tree, copied")
    parser.add_argument(
        "--conformance", type=Path, help="a node_modules with the suite and a Node of 22 or later"
    )
    parser.add_argument("--record", action="store_true", help="keep the figures in bench/results/")
    options = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory(prefix="tersely-mcp-") as scratch:
        # no daemon of somebody answers
        os.environ["XDG_RUNTIME_DIR"] = os.environ["TMPDIR"] = scratch
        root = Path(scratch) / options.repository.name
        shutil.copytree(
            options.repository,
            root,
            ignore=shutil.ignore_patterns(".tersely", ".git"),
            symlinks=True,
        )
        subprocess.run(
            [sys.executable, "-m", "tersely", "index", "--root", str(root)],
            check=True,
            capture_output=True,
        )
        record: dict[str, Any] = {"repository": options.repository.name, "tokens": _tokens(root)}
        try:
            record["milliseconds"] = anyio.run(_times, root)
            processes = [*_one_server(root), *_many_servers(root)]
            record["scenarios"] = (
                _scenarios(root, options.conformance.resolve()) if options.conformance else []
            )
        finally:
            lifecycle.stop(str(root))
    about = f"On {record['repository']}."
    tables = [COSTS.filled(_cost_rows(record), about), PROCESSES.filled(processes, about)]
    if record["scenarios"]:
        tables.append(SCENARIOS.filled(record["scenarios"]))
    results.report("mcp_server", tables, options.record)
    return int(any(one["failed"] for one in record["scenarios"] if not one["why_not"]))


def _cost_rows(record: dict[str, Any]) -> list[Row]:
    tokens, times = record["tokens"], dict(record["milliseconds"])
    lists = [
        {
            "what": "the list of tools, after a start",
            "tokens": tokens["core"],
            "median_ms": times.pop("start"),
        },
        {"what": "the list of tools with `--all-tools`", "tokens": tokens["all"]},
    ]
    return [*lists, *({"what": f"`{name}`", "median_ms": value} for name, value in times.items())]


def _tokens(root: Path) -> dict[str, int]:
    """Tokens of the JSON of `tools/list`."""
    return {
        "core": anyio.run(_listed, root, []),
        "all": anyio.run(_listed, root, ["--all-tools"]),
    }


async def _listed(root: Path, words: list[str]) -> int:
    async with Client(_server(root, words), mode="legacy") as client:
        listed = await client.list_tools()
    tools = [tool.model_dump(by_alias=True, exclude_none=True) for tool in listed.tools]
    return count(json.dumps({"tools": tools}, ensure_ascii=False, separators=(",", ":")))


async def _times(root: Path) -> dict[str, float]:
    """Medians of a start up to the list of tools, and of questions to a server that has answered
    before.
    """
    starts = []
    for _ in range(STARTS):
        watch = Stopwatch()
        async with Client(_server(root, []), mode="legacy") as client:
            await client.list_tools()
            starts.append(watch.seconds())
    found = {"start": statistics.median(starts) * MILLISECONDS}
    symbols = _symbols(root)
    async with Client(_server(root, []), mode="legacy") as client:
        for tool, parameter in (
            ("symbol_get", "symbol"),
            ("calls", "symbol"),
            ("context", "symbols"),
        ):
            await client.call_tool(tool, {parameter: symbols[0]})
            taken = []
            for symbol in symbols[1:]:
                watch = Stopwatch()
                await client.call_tool(tool, {parameter: symbol})
                taken.append(watch.seconds())
            found[tool] = statistics.median(taken) * MILLISECONDS
    return {name: round(value, 1) for name, value in found.items()}


@contextmanager
def _asked(root: Path, symbol: str) -> Iterator[subprocess.Popen[bytes]]:
    """A server that was asked for its tools, and with a `symbol` for that one; the answers are not
    read yet.
    """
    hello = {
        "protocolVersion": "2025-11-25",
        "capabilities": {},
        "clientInfo": {"name": "bench", "version": "1"},
    }
    asked: list[tuple[str, Any]] = [("initialize", hello), ("tools/list", {})]
    if symbol:
        asked.append(("tools/call", {"name": "symbol_get", "arguments": {"symbol": symbol}}))
    messages = [
        {"jsonrpc": "2.0", "id": number, "method": method, "params": params}
        for number, (method, params) in enumerate(asked)
    ]
    command = [*SERVER, "--root", str(root)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdin is not None
        process.stdin.write(b"".join(json.dumps(message).encode() + b"\n" for message in messages))
        process.stdin.flush()
        yield process
        process.stdin.close()


def _read_answers(process: subprocess.Popen[bytes], count: int) -> None:
    assert process.stdout is not None
    for _ in range(count):
        answer = json.loads(process.stdout.readline())
        if "error" in answer or answer["result"].get("isError"):
            raise ValueError(f"a server answers {answer}")


def _one_server(root: Path) -> Iterator[Row]:
    """Processor time and memory of a server that has listed its tools."""
    seconds, memories = [], []
    for _ in range(STARTS):
        with _asked(root, "") as process:
            _read_answers(process, 2)
            fields = Path(f"/proc/{process.pid}/stat").read_text().rpartition(")")[2].split()
            seconds.append(sum(map(int, fields[11:15])) / os.sysconf("SC_CLK_TCK"))
            memories.append(_memory([process.pid]))
    memory = memories[0]
    yield {
        "what": "one server, which has listed its tools",
        "cpu_seconds": statistics.median(seconds),
        **memory,
    }


def _many_servers(root: Path) -> Iterator[Row]:
    """Memory of servers that were all asked at once, and of what they share."""
    lifecycle.stop(str(root))
    symbol = _symbols(root)[0]
    with ExitStack() as stack:
        servers = [stack.enter_context(_asked(root, symbol)) for _ in range(SERVERS)]
        for server in servers:
            _read_answers(server, 3)
        pids = [server.pid for server in servers]
        daemons = [one["pid"] for one in lifecycle.running()]
        status = lifecycle.status(str(root))
        assert status is not None
        shared = [*daemons, *(process["pid"] for process in status["processes"])]
        largest = max(_memory([pid])["resident_mb"] for pid in pids)
        yield {
            "what": f"the largest of {SERVERS} servers, each of which has answered",
            "resident_mb": largest,
        }
        yield {"what": f"all {SERVERS}", **_memory(pids)}
        yield {
            "what": f"{len(daemons)} daemon with {len(status['processes'])} analysis processes",
            **_memory(shared),
        }
        yield {"what": "all together", **_memory([*pids, *shared])}


def _memory(pids: Sequence[int]) -> Row:
    """The memory of some processes, in sum."""
    found = {"Rss": 0, "Pss": 0}
    for pid in pids:
        for line in Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines():
            name, _, rest = line.partition(":")
            if name in found:
                found[name] += int(rest.split()[0]) * 1024
    return {"resident_mb": found["Rss"] / MEGABYTE, "proportional_mb": found["Pss"] / MEGABYTE}


def _symbols(root: Path) -> list[str]:
    """Functions of the repository, evenly chosen."""
    command = [
        sys.executable,
        "-m",
        "tersely",
        "symbol",
        "find",
        "*",
        "--kind",
        "function",
        "--limit",
        "5000",
        "--json",
    ]
    told = subprocess.run(
        [*command, "--root", str(root)], check=True, capture_output=True, text=True
    ).stdout
    ids = [item["id"] for item in json.loads(told)["result"]["symbols"]["items"]]
    return [str(one) for one in ids[:: max(1, len(ids) // CALLS)][: CALLS + 1]]


def _server(root: Path, words: list[str]) -> StdioServerParameters:
    return StdioServerParameters(
        command=SERVER[0], args=[*SERVER[1:], "--root", str(root), *words], env=dict(os.environ)
    )


def _scenarios(root: Path, modules: Path) -> list[dict[str, Any]]:
    """Every scenario of the suite for servers, with its checks that passed and failed."""
    program = [str(modules / ".bin" / "node"), str(modules / ".bin" / "conformance")]
    listing = subprocess.run(
        [*program, "list", "--server"], check=True, capture_output=True, text=True
    ).stdout
    lines = [
        line.split(maxsplit=2) for line in listing.splitlines() if line.strip().startswith("- ")
    ]
    with _serving(root) as url:
        return [
            {**_scenario(program, name, url), "revisions": revisions.strip("[]").replace(",", ", ")}
            for _, name, revisions in lines
        ]


def _scenario(program: list[str], name: str, url: str) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as directory:
        command = [*program, "server", "--url", url, "--scenario", name, "--output-dir", directory]
        subprocess.run(command, check=False, capture_output=True, timeout=SCENARIO_SECONDS)
        statuses = [
            check["status"]
            for path in Path(directory).rglob("checks.json")
            for check in json.loads(path.read_text())
        ]
    why_not = next((why for start, why in NOT_OURS.items() if name.startswith(start)), "")
    return {
        "name": name,
        "passed": statuses.count("SUCCESS"),
        "failed": statuses.count("FAILURE") + (not statuses),
        "told": len(statuses) - statuses.count("SUCCESS") - statuses.count("FAILURE"),
        "why_not": why_not,
    }


@contextmanager
def _serving(root: Path) -> Iterator[str]:
    command = [sys.executable, "-m", "bench.mcp_http", "--root", str(root)]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        try:
            yield process.stderr.readline().split()[-1]
        finally:
            process.terminate()


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
