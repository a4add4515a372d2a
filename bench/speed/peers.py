"""Other tools on the same tree, in the same run. Each lives in a folder of its own and is skipped if it is absent.

`PEERS/<name>` is the virtual environment of a Python tool or the folder in which an npm package was installed.
"""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from bench.speed.child import Command, Run, run
from bench.speed.measures import Bench, Row


@dataclass(frozen=True, slots=True)
class Peer:
    """One tool: the words that build its index, and what it writes into the tree."""

    name: str
    executable: str
    index: tuple[str, ...]
    leaves: tuple[str, ...]

    def find(self, peers: Path) -> Path | None:
        """The executable, if it is installed."""
        places = (peers / self.name / "bin", peers / self.name / "node_modules" / ".bin")
        return next((place / self.executable for place in places if (place / self.executable).exists()), None)

    def forget(self, tree: Path) -> None:
        """Delete what it has left."""
        for left in self.leaves:
            shutil.rmtree(tree / left, ignore_errors=True)


PEERS: tuple[Peer, ...] = (
    Peer("llm-tldr", "tldr", ("warm", "."), (".tldr",)),
    Peer("tldr-swinton", "tldr-swinton", ("index", "."), (".tldrs", ".tldr")),
    Peer(
        "aider-chat",
        "aider",
        ("--show-repo-map", "--yes-always", "--no-git", "--no-check-update", "--analytics-disable", "--model", "none"),
        (".aider.tags.cache.v4", ".aider.tags.cache.v3"),
    ),
    Peer("optave-codegraph", "codegraph", ("build", "."), (".codegraph",)),
    Peer("codegraph", "codegraph", ("init", "-i"), (".codegraph",)),
)


def measure(bench: Bench, peers: Path | None) -> Iterator[Row]:
    """A first index by us and by each peer, once: they take long, and differ by more than runs do."""
    ours = ("laconic index", _ours(bench))
    yield Row("peers", "laconic index", "python -m laconic index", *_figures(ours[1]))
    for peer in PEERS:
        executable = peer.find(peers) if peers else None
        if executable is None:
            yield Row("peers", peer.name, "", 0.0, 0.0, 0.0, note="skipped: not installed")
            continue
        peer.forget(bench.tree)
        yield _one(peer, executable, bench.tree, ours)
        peer.forget(bench.tree)


def _ours(bench: Bench) -> Run:
    bench.forget()
    return run(bench.laconic("index", "--quiet"))


def _one(peer: Peer, executable: Path, tree: Path, ours: tuple[str, Run]) -> Row:
    words = " ".join((peer.executable, *peer.index))
    try:
        taken = run(Command([str(executable), *peer.index], tree))
    except (subprocess.CalledProcessError, TimeoutError, OSError) as error:
        return Row("peers", peer.name, words, 0.0, 0.0, 0.0, note=f"skipped: {_reason(error)}")
    return Row("peers", peer.name, words, *_figures(taken), ours[0], taken.cpu_seconds / ours[1].cpu_seconds)


def _figures(taken: Run) -> tuple[float, float, float]:
    return taken.wall_seconds, taken.cpu_seconds, taken.peak_mb


def _reason(error: Exception) -> str:
    if not isinstance(error, subprocess.CalledProcessError):
        return str(error)
    said = (error.stderr or b"").decode(errors="replace").strip().splitlines()
    return f"it ended with {error.returncode}: {said[-1] if said else ''}"
