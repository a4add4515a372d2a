"""Other tools on the same tree. Each lives in a folder of its own below --peers, and is skipped with a reason if absent.

`<peers>/<name>/bin/<executable>` is a Python tool's virtual environment, `<peers>/<name>/node_modules/.bin/<executable>`
an npm package's. How to make them stands in `README.md`.
"""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from bench.speed.child import Command, Run, run


@dataclass(frozen=True, slots=True)
class Peer:
    """One tool: what builds its index, where it keeps it, and what asks for callers of a function."""

    name: str
    executable: str
    index: tuple[str, ...]
    callers: tuple[str, ...] = ()  # `{name}` is the function
    leaves: tuple[str, ...] = ()  # what it writes into the tree

    def find(self, peers: Path) -> Path | None:
        """The executable, if it is installed."""
        places = (peers / self.name / "bin", peers / self.name / "node_modules" / ".bin")
        return next((place / self.executable for place in places if (place / self.executable).exists()), None)

    def forget(self, tree: Path) -> None:
        """Delete what it has left."""
        for left in self.leaves:
            shutil.rmtree(tree / left, ignore_errors=True)


PEERS: tuple[Peer, ...] = (
    Peer("llm-tldr", "tldr", ("warm", "."), ("impact", "{name}", "."), (".tldr", ".tldrignore")),
    Peer("tldr-swinton", "tldr-swinton", ("index", "."), ("impact", "{name}"), (".tldrs", ".tldr")),
    Peer(
        "aider-chat",
        "aider",
        ("--show-repo-map", "--yes-always", "--no-git", "--no-analytics"),
        (),
        (".aider.tags.cache.v4",),
    ),
    Peer("optave-codegraph", "codegraph", ("build", "."), ("query", "{name}"), (".codegraph",)),
    Peer("codegraph", "codegraph", ("init", "-i"), ("callers", "{name}"), (".codegraph",)),
)


@dataclass(frozen=True, slots=True)
class PeerResult:
    """What one peer took, or why it was not measured."""

    peer: str
    cold: Run | None = None
    callers: Run | None = None
    skipped: str = ""


def measure(tree: Path, peers: Path | None, function: str) -> Iterator[PeerResult]:
    """Each peer once: they take long, and differ by more than runs do."""
    for peer in PEERS:
        executable = peer.find(peers) if peers else None
        if executable is None:
            yield PeerResult(peer.name, skipped="not installed")
            continue
        yield _one(peer, executable, tree, function)
        peer.forget(tree)


def _one(peer: Peer, executable: Path, tree: Path, function: str) -> PeerResult:
    peer.forget(tree)

    def ask(words: tuple[str, ...]) -> Run:
        return run(Command([str(executable), *(word.format(name=function) for word in words)], tree))

    try:
        cold = ask(peer.index)
    except (subprocess.CalledProcessError, TimeoutError, OSError) as error:
        return PeerResult(peer.name, skipped=_reason(error))
    try:
        return PeerResult(peer.name, cold, ask(peer.callers) if peer.callers else None)
    except (subprocess.CalledProcessError, TimeoutError, OSError) as error:
        return PeerResult(peer.name, cold, None, _reason(error))


def _reason(error: Exception) -> str:
    if isinstance(error, subprocess.CalledProcessError):
        said = (error.stderr or b"").decode(errors="replace").strip().splitlines()
        return f"ended with {error.returncode}: {said[-1] if said else ''}"
    return str(error)
