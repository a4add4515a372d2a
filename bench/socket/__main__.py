"""`python -m bench.socket [--agent-relay PACKAGE] [--record]`: routed round trips beside an echo,
in one run.

What is measured takes turns, so that all see the same machine; the figures are medians.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import NamedTuple

from bench import results
from bench.process import cpu_seconds, memory_mb
from bench.results import Row, Table
from tersely.relay.wire.home import socket_path

IN_FLIGHT = (1, 64)
TABLE = Table(
    "The socket",
    "python -m bench.socket --agent-relay PACKAGE --record",
    "what|in_flight:,|a_second:,.0f|of_the_echo:.3f|p50_ms:.2f|p99_ms:.2f|cpu_us:.0f|lost:,.0f|mb:.0f",
    "A message goes in and out once, as a frame of the echo; with its answer, or a question to a service, it is twice "
    "that. *of the echo*: of the one of envelopes.",
)
_PEER = "agent-relay 1.6.0"
_HERE = Path(__file__).parent


class _Server(NamedTuple):
    pid: int
    path: str


def main(arguments: list[str]) -> int:
    """Measure, print, and keep the figures if that is wanted."""
    parser = argparse.ArgumentParser(prog="python -m bench.socket", description=__doc__)
    parser.add_argument(
        "--agent-relay", type=Path, help="where the package agent-relay is unpacked"
    )
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=2.0, help="of each measurement")
    parser.add_argument("--record", action="store_true", help="keep the figures in bench/results/")
    options = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory(prefix="tersely-socket-") as scratch, ExitStack() as servers:
        rows = _measured(_servers(Path(scratch), options.agent_relay, servers), options)
    results.report(
        "socket", [TABLE.filled(rows, f"Medians of {options.rounds} rounds.")], options.record
    )
    return 0


def _servers(
    scratch: Path, package: Path | None, servers: ExitStack
) -> dict[str, tuple[_Server, str]]:
    """What is measured: where it listens, and which load it is given."""
    home, peer = scratch / "home", str(scratch / "peer.sock")
    home.mkdir(mode=0o700)
    echoes = []
    for how in ("envelopes", "bytes"):
        path = str(scratch / f"{how}.sock")
        echoes.append(
            servers.enter_context(
                _started([sys.executable, "-m", "bench.socket.echo", path, how], path)
            )
        )
    relay_path = str(socket_path(home))
    relay = servers.enter_context(
        _started([sys.executable, "-m", "bench.socket.relay", str(home)], relay_path)
    )
    found = {
        "echo of envelopes": (echoes[0], "echo"), "echo of bytes": (echoes[1], "echo"),
        "message": (relay, "delivered"), "message, durable to the process": (relay, "kept_delivered"),
        "message and answer": (relay, "memory"), "message and answer, durable to the process": (relay, "kept"),
        "question to a service": (relay, "service"),
    }  # fmt: skip
    if package is not None:
        command = ["node", str(_HERE / "agent_relay.mjs"), str(package.absolute()), peer]
        other = servers.enter_context(_started(command, peer))
        found |= {
            f"message, {_PEER}": (other, "kept_delivered"),
            f"message and answer, {_PEER}": (other, "kept"),
        }
    return found


@contextmanager
def _started(command: list[str], path: str) -> Iterator[_Server]:
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as process:
        try:
            assert process.stdout is not None
            while process.stdout.readline().strip() != "ready":
                if process.poll() is not None:
                    raise RuntimeError(f"{command} has ended")
            yield _Server(process.pid, path)
        finally:
            process.kill()


def _measured(servers: dict[str, tuple[_Server, str]], options: argparse.Namespace) -> list[Row]:
    rows = []
    for in_flight in IN_FLIGHT:
        found: dict[str, list[dict[str, float]]] = {name: [] for name in servers}
        for _ in range(options.rounds):
            for name, (server, load) in servers.items():
                found[name].append(_load(server, load, in_flight, options.seconds))
        middle = {name: _middle(measured) for name, measured in found.items()}
        for name, row in middle.items():
            ratio = row["a_second"] / middle["echo of envelopes"]["a_second"]
            mb = memory_mb(servers[name][0].pid)
            rows.append(
                {"what": name, "in_flight": in_flight, **row, "of_the_echo": ratio, "mb": mb}
            )
    return rows


def _load(server: _Server, load: str, in_flight: int, seconds: float) -> dict[str, float]:
    command = [
        sys.executable,
        "-m",
        "bench.socket.load",
        server.path,
        load,
        str(in_flight),
        str(seconds),
    ]
    before = cpu_seconds(server.pid)
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    told: dict[str, float] = json.loads(done.stdout)
    return {**told, "cpu_us": (cpu_seconds(server.pid) - before) / max(told["trips"], 1) * 1e6}


def _middle(measured: list[dict[str, float]]) -> dict[str, float]:
    figures = {name: statistics.median(one[name] for one in measured) for name in measured[0]}
    return {**figures, "lost": sum(one["lost"] for one in measured)}


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
