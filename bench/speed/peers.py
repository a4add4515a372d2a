"""Other tools on the same tree, in the same run. Each lives in a folder of its own and is skipped
if it is absent.

`PEERS/<name>` is the virtual environment of a Python tool or the folder in which an npm package was
installed.
"""

from __future__ import annotations

import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import NamedTuple

from bench.speed.child import Command, Run, run
from bench.speed.measures import INDEX_FOLDER, Bench, Row, edited, sampled
from tersely.code.symbols import Grade
from tersely.workspace import Workspace

MAX_PEER_SECONDS = 400.0  # one command of a peer
VERSION_SECONDS = 60.0
NAME = "NAME"  # in the words of a question: the function that is asked about
STAGES = COLD, CHANGED, CALLERS = ("cold", "one file changed", "callers")
ASKED_FUNCTIONS = 5
SKIPPED = "skipped: "
NO_QUESTION = f"{SKIPPED}it has no such question"

Words = tuple[str, ...]
MakeCommand = Callable[[Words], Command]


@dataclass(frozen=True, slots=True)
class Peer:
    """One tool: the words that build its index, bring it up to date and ask it, and what it writes
    into the tree.
    """

    name: str
    executable: str
    index: tuple[str, ...]
    refresh: tuple[str, ...]
    question: tuple[str, ...]  # empty if it cannot be asked who calls a function
    leaves: tuple[str, ...]
    wants_git: bool = False  # it reads files that are committed
    environment: Mapping[str, str] = field(default_factory=dict)
    note: str = ""

    def find(self, peers: Path) -> Path | None:
        """The executable, if it is installed."""
        places = (peers / self.name / "bin", peers / self.name / "node_modules" / ".bin")
        return next(
            (place / self.executable for place in places if (place / self.executable).exists()),
            None,
        )

    def forget(self, tree: Path) -> None:
        """Delete what it has left."""
        for left in self.leaves:
            shutil.rmtree(tree / left, ignore_errors=True)
            (tree / left).unlink(missing_ok=True)


_MAP = (
    *(
        "--show-repo-map",
        "--yes-always",
        "--no-check-update",
        "--analytics-disable",
        "--no-gitignore",
    ),
    *("--no-show-model-warnings", "--model", "gpt-4o"),  # for its token counter; no model is asked
)

OURSELVES = Peer(
    "tersely",
    "tersely",
    ("index", "--quiet"),
    ("index", "--quiet"),
    ("symbol", "callers", NAME),
    (INDEX_FOLDER,),
)
PEERS: tuple[Peer, ...] = (
    Peer("optave-codegraph", "codegraph", ("build", "."), ("build", "."), ("fn-impact", NAME), (".codegraph",)),
    Peer(
        "codegraph", "codegraph", ("init", "--yes"), ("sync",), ("callers", "--limit", "1000", NAME), (".codegraph",),
        environment={"CODEGRAPH_TELEMETRY": "0"},
    ),
    Peer(
        "aider-chat", "aider", _MAP, _MAP, (),
        (".aider.tags.cache.v4", ".aider.chat.history.md", ".aider.input.history"), wants_git=True,
        note="builds and prints its map of the repository, all that it answers",
    ),
    Peer("tldr-swinton", "tldrs", ("warm", "."), ("warm", "."), ("impact", NAME, "."), (".tldrs", ".tldrsignore")),
    Peer("llm-tldr", "tldr", ("warm", "."), ("warm", "."), ("impact", NAME, "."), (".tldr", ".tldrignore")),
)  # fmt: skip


class Asked(NamedTuple):
    """A function that peers are asked about by its name, and the names of its callers, as far as
    they are certain.
    """

    name: str
    callers: frozenset[str]


def measure(bench: Bench, peers: Path | None) -> Iterator[Row]:
    """A first index, a refresh and some questions by us and by each peer, once: they differ by more
    than runs do.
    """
    asked, changed = _subjects(bench.tree)
    bench.forget()
    ours: dict[str, Run] = {}
    yield from _stages(
        OURSELVES, [sys.executable, "-m", "tersely"], bench.tree, asked, changed, ours
    )
    for peer in PEERS:
        found = peer.find(peers) if peers else None
        if found is None:
            yield Row(f"{peer.name}, {COLD}", "", note=f"{SKIPPED}not installed")
        else:
            yield from _stages(peer, [str(found)], bench.tree, asked, changed, ours)


def _subjects(tree: Path) -> tuple[list[Asked], Path]:
    """Functions of the sample that have certain callers and their name for themselves, and a file
    to change.
    """
    asked: list[Asked] = []
    sample = sampled(tree)
    with Workspace.open(tree) as workspace:
        engine = workspace.engine
        for symbol in sample:
            edges = (
                engine.graph.callers(symbol.id)
                if len(engine.lookup(symbol.name, limit=2)) == 1
                else []
            )
            certain = {
                edge.caller for edge in edges if edge.grade is Grade.EXACT and ":" in edge.caller
            }
            if certain and len(asked) < ASKED_FUNCTIONS:
                asked.append(
                    Asked(symbol.name, frozenset(_last_name(caller) for caller in certain))
                )
    return asked, tree / sample[0].path


def _last_name(symbol_id: str) -> str:
    return symbol_id.rpartition(":")[2].rpartition(".")[2].partition("#")[0]


def _stages(
    peer: Peer,
    executable: list[str],
    tree: Path,
    asked: list[Asked],
    changed: Path,
    ours: dict[str, Run],
) -> Iterator[Row]:
    """The stages of one peer beside ours, which come first; the first that fails ends them."""
    with _stage(peer, tree) as home:
        environment = {**peer.environment, "HOME": str(home)}
        title = f"{peer.name} {_version(executable, environment)}"

        def command(words: Words) -> Command:
            return Command(
                [*executable, *words], tree, environment, MAX_PEER_SECONDS, home / "answer"
            )

        for stage, words in zip(STAGES, (peer.index, peer.refresh, peer.question), strict=True):
            name, spoken = f"{title}, {stage}", " ".join((peer.executable, *words))
            if not words:
                yield Row(name, spoken, note=NO_QUESTION)
                continue
            try:
                taken, note = _measured(stage, words, command, asked, changed)
            except (subprocess.CalledProcessError, TimeoutError, OSError) as error:
                yield Row(name, spoken, note=f"{SKIPPED}{_reason(error)}")
                return
            row = Row(name, spoken, taken, note=note or peer.note)
            ratio = taken.cpu_seconds / ours.setdefault(stage, taken).cpu_seconds
            yield (
                row if peer is OURSELVES else replace(row, beside=f"tersely, {stage}", ratio=ratio)
            )


def _measured(
    stage: str, words: Words, command: MakeCommand, asked: list[Asked], changed: Path
) -> tuple[Run, str]:
    """What one stage takes, and what is to be said of it."""
    if stage == CALLERS:
        return _questions(words, command, asked)
    if stage == CHANGED:
        edited(changed)()
    return run(command(words)), ""


def _questions(words: Words, command: MakeCommand, asked: list[Asked]) -> tuple[Run, str]:
    """The mean of the questions, and how many of the callers the answers name."""
    runs, named = [], 0
    for name, callers in asked:
        question = command(tuple(name if word == NAME else word for word in words))
        runs.append(run(question))
        said = set(
            re.findall(
                r"\w+", question.output.read_text("utf-8", "replace") if question.output else ""
            )
        )
        named += len(callers & said)
    total = sum(len(callers) for _, callers in asked)
    mean = Run(
        statistics.fmean(taken.wall_seconds for taken in runs),
        statistics.fmean(taken.cpu_seconds for taken in runs),
        max(taken.peak_mb for taken in runs),
    )
    return mean, f"mean of {len(asked)} functions; the answers name {named} of {total} callers"


@contextmanager
def _stage(peer: Peer, tree: Path) -> Iterator[Path]:
    """A home for what a peer keeps outside of the tree, and a tree without anything of its own,
    before and after.
    """
    peer.forget(tree)
    if peer.wants_git:
        identity = ("-c", "user.name=bench", "-c", "user.email=bench@localhost")
        for words in (
            ("init", "--quiet"),
            ("add", "--all"),
            (*identity, "commit", "--quiet", "--message=all"),
        ):
            subprocess.run(["git", *words], cwd=tree, check=True)
    try:
        with tempfile.TemporaryDirectory(
            prefix="tersely-peer-", ignore_cleanup_errors=True
        ) as home:
            yield Path(home)
    finally:
        peer.forget(tree)
        if peer.wants_git:
            shutil.rmtree(tree / ".git")


def _version(executable: list[str], environment: Mapping[str, str]) -> str:
    """The last word of what it says of its version."""
    said = subprocess.run(
        [*executable, "--version"], env={**os.environ, **environment}, capture_output=True, text=True, check=False,
        timeout=VERSION_SECONDS,
    )  # fmt: skip
    return (said.stdout.split() or ["?"])[-1]


def _reason(error: Exception) -> str:
    if not isinstance(error, subprocess.CalledProcessError):
        return str(error)
    said = (error.stderr or b"").decode(errors="replace").strip().splitlines()
    return f"it ended with {error.returncode}: {said[-1] if said else ''}"
