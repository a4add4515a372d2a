"""Other tools on the same tree, in the same run. Each lives in a folder of its own and is skipped if it is absent.

`PEERS/<name>` is the virtual environment of a Python tool or the folder in which an npm package was installed.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

from bench.speed.child import Command, Run, run
from bench.speed.measures import Bench, Row, edited, sampled
from laconic.code.symbols import Symbol
from laconic.workspace import Workspace

MAX_PEER_SECONDS = 400.0  # one command of a peer
VERSION_SECONDS = 60.0
NAME = "NAME"  # in the words of a question: the function that is asked about
STAGES = ("cold", "one file changed", "callers of one function")


@dataclass(frozen=True, slots=True)
class Peer:
    """One tool: the words that build its index, bring it up to date and ask it, and what it writes into the tree."""

    name: str
    executable: str
    index: tuple[str, ...]
    refresh: tuple[str, ...]
    question: tuple[str, ...]
    leaves: tuple[str, ...]
    wants_git: bool = False  # it reads files that are committed
    environment: Mapping[str, str] = field(default_factory=dict)
    note: str = ""

    def find(self, peers: Path) -> Path | None:
        """The executable, if it is installed."""
        places = (peers / self.name / "bin", peers / self.name / "node_modules" / ".bin")
        return next((place / self.executable for place in places if (place / self.executable).exists()), None)

    def forget(self, tree: Path) -> None:
        """Delete what it has left."""
        for left in self.leaves:
            shutil.rmtree(tree / left, ignore_errors=True)
            (tree / left).unlink(missing_ok=True)


_MAP = (
    *("--show-repo-map", "--yes-always", "--no-check-update", "--analytics-disable", "--no-gitignore"),
    *("--no-show-model-warnings", "--model", "gpt-4o"),  # for its token counter; no model is asked
)

PEERS: tuple[Peer, ...] = (
    Peer("optave-codegraph", "codegraph", ("build", "."), ("build", "."), ("fn-impact", NAME), (".codegraph",)),
    Peer(
        "codegraph", "codegraph", ("init", "--yes"), ("sync",), ("callers", NAME), (".codegraph",),
        environment={"CODEGRAPH_TELEMETRY": "0"},
    ),
    Peer(
        "aider-chat", "aider", _MAP, _MAP, _MAP,
        (".aider.tags.cache.v4", ".aider.chat.history.md", ".aider.input.history"), wants_git=True,
        note="a map of the repository is all that it answers",
    ),
    Peer("tldr-swinton", "tldrs", ("warm", "."), ("warm", "."), ("impact", NAME, "."), (".tldrs", ".tldrsignore")),
    Peer("llm-tldr", "tldr", ("warm", "."), ("warm", "."), ("impact", NAME, "."), (".tldr", ".tldrignore")),
)  # fmt: skip


def measure(bench: Bench, peers: Path | None) -> Iterator[Row]:
    """A first index, a refresh and a question by us and by each peer, once: they differ by more than runs do."""
    bench.forget()
    ours: list[Run] = []
    for row, taken in _ours(bench):
        ours.append(taken)
        yield row
    asked = _asked(bench.tree)
    for peer in PEERS:
        executable = peer.find(peers) if peers else None
        if executable is None:
            yield _skipped(f"{peer.name}, {STAGES[0]}", "", "not installed")
        else:
            yield from _stages(peer, executable, bench.tree, asked, ours)
    bench.forget()


def _ours(bench: Bench) -> Iterator[tuple[Row, Run]]:
    index = bench.laconic("index", "--quiet")
    yield _measured(f"laconic, {STAGES[0]}", index)
    edited(bench.tree / _asked(bench.tree).path)()
    yield _measured(f"laconic, {STAGES[1]}", index)
    yield _measured(f"laconic, {STAGES[2]}", bench.laconic("symbol", "callers", _asked(bench.tree).id, "--json"))


def _measured(name: str, command: Command) -> tuple[Row, Run]:
    taken = run(command)
    words = " ".join(("python", *command.words[1:]))
    return Row("peers", name, words, taken.wall_seconds, taken.cpu_seconds, taken.peak_mb), taken


def _asked(tree: Path) -> Symbol:
    """A function of the sample that has callers, and its name for itself: peers are asked by name."""
    every = sampled(tree)
    with Workspace.open(tree) as workspace:
        engine = workspace.engine
        alone = (symbol for symbol in every if len(engine.lookup(symbol.name, limit=2)) == 1)
        return next((symbol for symbol in alone if engine.graph.callers(symbol.id)), every[0])


def _stages(peer: Peer, executable: Path, tree: Path, asked: Symbol, ours: list[Run]) -> Iterator[Row]:
    """The three stages of one peer; the first that fails ends them."""
    before: tuple[Callable[[], object], ...] = (lambda: None, edited(tree / asked.path), lambda: None)
    words = (peer.index, peer.refresh, peer.question)
    with _stage(peer, tree) as home:
        environment = {**peer.environment, "HOME": str(home)}
        version = _version(executable, environment)
        for stage, prepare, parts, beside in zip(STAGES, before, words, ours, strict=True):
            prepare()
            spoken = [asked.name if part == NAME else part for part in parts]
            command = Command([str(executable), *spoken], tree, environment, MAX_PEER_SECONDS)
            row = _one(f"{peer.name} {version}, {stage}", " ".join((peer.executable, *spoken)), command, stage, beside)
            yield replace(row, note=row.note or peer.note)
            if not row.beside:
                return


@contextmanager
def _stage(peer: Peer, tree: Path) -> Iterator[Path]:
    """A home for what a peer keeps outside of the tree, and a tree without anything of its own, before and after."""
    peer.forget(tree)
    if peer.wants_git:
        identity = ("-c", "user.name=bench", "-c", "user.email=bench@localhost")
        for words in (("init", "--quiet"), ("add", "--all"), (*identity, "commit", "--quiet", "--message=all")):
            subprocess.run(["git", *words], cwd=tree, check=True)
    try:
        with tempfile.TemporaryDirectory(prefix="laconic-peer-", ignore_cleanup_errors=True) as home:
            yield Path(home)
    finally:
        peer.forget(tree)
        if peer.wants_git:
            shutil.rmtree(tree / ".git")


def _one(name: str, words: str, command: Command, stage: str, beside: Run) -> Row:
    try:
        taken = run(command)
    except (subprocess.CalledProcessError, TimeoutError, OSError) as error:
        return _skipped(name, words, _reason(error))
    ratio = taken.cpu_seconds / beside.cpu_seconds
    return Row(
        "peers", name, words, taken.wall_seconds, taken.cpu_seconds, taken.peak_mb, f"laconic, {stage}", ratio
    )  # fmt: skip


def _skipped(name: str, words: str, reason: str) -> Row:
    return Row("peers", name, words, 0.0, 0.0, 0.0, note=f"skipped: {reason}")


def _version(executable: Path, environment: Mapping[str, str]) -> str:
    """The last word of what it says of its version."""
    said = subprocess.run(
        [str(executable), "--version"], env={**os.environ, **environment}, capture_output=True, text=True, check=False,
        timeout=VERSION_SECONDS,
    )  # fmt: skip
    return (said.stdout.split() or ["?"])[-1]


def _reason(error: Exception) -> str:
    if not isinstance(error, subprocess.CalledProcessError):
        return str(error)
    said = (error.stderr or b"").decode(errors="replace").strip().splitlines()
    return f"it ended with {error.returncode}: {said[-1] if said else ''}"
