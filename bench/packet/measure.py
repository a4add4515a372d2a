"""Tasks whose files are known, and what packets say of them."""

from __future__ import annotations

import random
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bench.retrieval.queries import MAX_WORDS, MIN_WORDS, ROUTINE
from bench.scratch import git
from tersely.capabilities.packs.packet import DEFAULT_CONFIDENCE
from tersely.code.index.subjects import subjects
from tersely.code.lenses.owners.look import Look
from tersely.code.lenses.owners.task import read_task
from tersely.code.places import is_test
from tersely.code.symbols import CALLABLE_KINDS
from tersely.workspace import Workspace

SEED = 20
WINDOW_COMMITS = 600  # the newest ones along first parents, whose messages ask; what was before them is searched
MAX_TASKS = 100  # of one repository
MAX_CHANGED_FILES = 5
BODY_CHARACTERS = 60  # of the body of a message, from which on it is part of the task
_REFERENCE = re.compile(r"\s*\(?(?:closes |fixes |refs )?#\d+\)?", re.IGNORECASE)
_TRAILER = re.compile(r"^(?:signed-off|co-authored|change-id|reviewed|\W*-{3,})", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Task:
    """A text, and what was changed for it: files that are there already, and functions where they are known."""

    text: str
    files: frozenset[str]
    functions: frozenset[str] = frozenset()  # symbol ids


@dataclass(frozen=True, slots=True)
class Outcome:
    """What one packet was worth. Shares are of the files that were changed, from 0 to 1."""

    speaks: bool
    confidence: float
    share: float  # found among those that are listed
    first: bool  # the first file is one of them
    five: bool  # one of the first five is
    looked_at: int  # files there were to choose from
    functions: tuple[bool, bool]  # one of the first five, and ten, functions is


def outcome(workspace: Workspace, task: Task) -> Outcome:
    """Look for the owners of a task, all that a packet chooses from, and judge them."""
    engine = workspace.engine
    look = Look(engine.store, engine.search.searcher(), engine.source, subjects(workspace.root))
    found = look.owners(read_task(task.text))
    hits = [owner.path in task.files for owner in found.files]
    owned = sorted((one for owner in found.files for one in owner.symbols), key=lambda one: (-one.worth, one.symbol.id))
    functions = [one.symbol.id in task.functions for one in owned if one.symbol.kind in CALLABLE_KINDS]
    return Outcome(
        round(found.confidence, 3) >= DEFAULT_CONFIDENCE, found.confidence, sum(hits) / len(task.files),
        any(hits[:1]), any(hits[:5]), found.looked_at, (any(functions[:5]), any(functions[:10])),
    )  # fmt: skip


def summary(outcomes: Sequence[Outcome], has_functions: bool) -> dict[str, Any]:
    """The figures of some tasks; `recall` and `any` are of the tasks with a packet, all others of all tasks."""
    spoken = [one for one in outcomes if one.speaks]

    figures: dict[str, Any] = {
        "files": max((one.looked_at for one in outcomes), default=0),
        "asked": len(outcomes),
        "spoken": len(spoken),
        "recall": _mean(one.share for one in spoken),
        "any": _mean(one.share > 0 for one in spoken),
        "recall_of_all": _mean(one.share for one in outcomes),
        "file@1": _mean(one.first for one in outcomes),
        "file@5": _mean(one.five for one in outcomes),
    }
    if has_functions:
        five, ten = zip(*(one.functions for one in outcomes), strict=True)
        figures |= {"function@5": _mean(five), "function@10": _mean(ten)}
    return figures


def _mean(values: Iterable[float]) -> float:
    listed = list(values)
    return sum(listed) / len(listed) if listed else 0.0


def checked_out(repository: Path, commit: str, place: Path) -> None:
    """A working tree of a commit with its history, beside the clone."""
    if not place.exists():
        place.parent.mkdir(parents=True, exist_ok=True)
        git(repository, "clone", "-q", "--no-checkout", str(repository.resolve()), str(place))
    git(place, "-c", "core.autocrlf=false", "checkout", "-q", "--force", "--detach", commit)


def commit_tasks(repository: Path, known: frozenset[str]) -> list[Task]:
    """A sample of the newest commits that change one to five source files of those known; the message is the task."""
    base = first_of_window(repository)
    text = git(repository, "log", "--no-merges", "--no-renames", "--format=%x01%B%x02", "--name-only", f"{base}..HEAD")
    tasks = [task for part in text.decode("utf-8", "replace").split("\1")[1:] if (task := _task(part, known))]
    random.Random(SEED).shuffle(tasks)
    return tasks[:MAX_TASKS]


def first_of_window(repository: Path) -> str:
    """The commit before those that ask."""
    listed = git(repository, "rev-list", "--first-parent", "HEAD", f"--max-count={WINDOW_COMMITS}")
    return listed.decode().split()[-1]


def _task(part: str, known: frozenset[str]) -> Task | None:
    message, _, names = part.partition("\2")
    subject, _, body = message.strip().partition("\n")
    subject = _REFERENCE.sub("", subject).strip()
    files = frozenset(name for name in names.split("\n") if name in known and not is_test(name))
    fits = MIN_WORDS <= len(subject.split()) <= MAX_WORDS and 1 <= len(files) <= MAX_CHANGED_FILES
    if not fits or ROUTINE.search(subject):
        return None
    kept = "\n".join(line for line in body.split("\n") if not _TRAILER.match(line)).strip()
    return Task(f"{subject}\n\n{kept}" if len(kept) >= BODY_CHARACTERS else subject, files)
