"""`python -m bench.small_model MODEL REPOSITORY`: 30 tasks for a trained model, through `tersely
-p`, in each way.

The tasks are made of what the repository has: a file to read, a folder to list, a file to outline,
a name to search for. One is done when the call that it asks for was made with that argument, and
gave a result. What a model of 135M parameters can do is recorded; that nothing of ours failed is
what the tests assert.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from bench import results
from bench.modelserver.server import Server
from bench.results import Row, Table

TASKS = 30
# of all requests of one task, about three of them: the load of the machine changes nothing
TASK_TOKENS = "1600"
TASK_SECONDS = 120  # of one task, after which it is interrupted; what was called until then counts
END_SECONDS = 60  # until an interrupted one has ended
REPLY_TOKENS = "48"
HERE = Path(__file__).parent
ROOT = HERE.parents[1]
HERMES = HERE / "hermes.jinja"
TABLE = Table(
    "Ways of asking a small model for calls",
    "python -m bench.small_model MODEL REPOSITORY --record",
    "way|model|tasks:,|made_calls:,|done:,|answered:,|calls:,|malformed:,|failed:,",
    "SmolLM2-135M-Instruct (Q4_1) behind llama.cpp, tasks that ask for one look. `made_calls`: tasks in which a call "
    "was made; `done`: with the tool and the argument that the task names.",
)


class WayOfAsking(NamedTuple):
    """One way that is tried: the setting `chat_calls`, and another chat template than the model's."""

    calls: str
    template: Path | None = None


WAYS = {
    "own form, calls only": WayOfAsking("auto"),  # by the size that the server reports
    "the template's": WayOfAsking("native", HERMES),
    "schema": WayOfAsking("schema"),
    "own form": WayOfAsking("grammar"),
    "native": WayOfAsking("native"),
}


class Task(NamedTuple):
    """A message, and the call that does what it asks for."""

    message: str
    tool: str
    argument: str


class Outcome(NamedTuple):
    """What came of one task; `code` of an error that is ours, "" for none."""

    calls: int
    is_done: bool
    is_answered: bool
    malformed: int
    code: str


def tasks_of(root: Path, count: int) -> list[Task]:
    """Tasks about the largest Python files of a repository, their folders and their first
    definitions.
    """
    listed = subprocess.run(
        ["git", "-C", root, "ls-files", "*.py"], capture_output=True, text=True, check=True
    )
    files = sorted(listed.stdout.split(), key=lambda path: (-(root / path).stat().st_size, path))
    made: list[Task] = []
    for path in files:
        folder = path.rpartition("/")[0] or "."
        name = next(iter(_defined(root / path)), "main")
        made += [
            Task(f"Read the file {path}.", "read", path),
            Task(f"List the files in {folder}.", "list", folder),
            Task(f"Show an outline of {path}.", "outline", path),
            Task(f"Search the code for {name}.", "search", name),
        ]
    return list(dict.fromkeys(made))[:count]


def _defined(place: Path) -> Iterator[str]:
    for line in place.read_text("utf-8", "replace").splitlines():
        if line.startswith(("def ", "class ")):
            yield line.split(None, 1)[1].partition("(")[0].partition(":")[0]


@contextmanager
def served(model: Path, way: WayOfAsking, folder: Path) -> Iterator[str]:
    """The URL of a server for one way."""
    with Server(model, template=way.template, is_trained=True, log=folder / "server.log") as server:
        yield server.url


def run_task(task: Task, way: WayOfAsking, root: Path, url: str, folder: Path) -> Outcome:
    """One task in a process of its own, as a user starts it."""
    own = {
        "TERSELY_HOME": str(folder / "home"), "TERSELY_DAEMON": "off", "TERSELY_CHAT_CALLS": way.calls,
        "TERSELY_CHAT_REPLY_TOKENS": REPLY_TOKENS, "PYTHONPATH": os.pathsep.join([str(ROOT / "src"), str(ROOT)]),
    }  # fmt: skip
    words = [sys.executable, "-m", "tersely", "-p", task.message, "--url", url, "--no-retrieval"]
    words += ["--session-tokens", TASK_TOKENS]
    with subprocess.Popen(
        [*words, "--output-format", "json"], cwd=root, env={**os.environ, **own}, stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
    ) as process:  # fmt: skip
        try:
            printed, _ = process.communicate(timeout=TASK_SECONDS)
        except subprocess.TimeoutExpired:
            # SIGINT may be ignored: shells have it so for what they start behind a `&`
            process.terminate()
            printed, _ = process.communicate(timeout=END_SECONDS)
    told: dict[str, Any] = json.loads(printed.splitlines()[-1])
    calls = [call for call in told["calls"] if call["tool"] != "respond"]
    is_done = any(_does(call, task) for call in calls)
    malformed = sum("cannot be made" in notice for notice in told["notices"])
    code = told["code"] if told["reason"] == "failed" else ""
    return Outcome(len(calls), is_done, told["reason"] == "answered", malformed, code)


def _does(call: dict[str, Any], task: Task) -> bool:
    return (
        call["tool"] == task.tool
        and call["status"] == "ok"
        and task.argument in call["arguments"].values()
    )


def run_way(name: str, model: Path, root: Path, count: int = TASKS) -> Row:
    """All tasks in one way; what came of them."""
    way = WAYS[name]
    with tempfile.TemporaryDirectory() as made, served(model, way, Path(made)) as url:
        outcomes = []
        for number, task in enumerate(tasks_of(root, count), 1):
            outcomes.append(run_task(task, way, root, url, Path(made)))
            print(f"{name} {number}: {task.message} {outcomes[-1]}", file=sys.stderr)
    return row_of(name, model.stem, outcomes)


def row_of(name: str, model: str, outcomes: Sequence[Outcome]) -> Row:
    """The figures of one way."""
    return {
        "way": name,
        "model": model,
        "tasks": len(outcomes),
        "made_calls": sum(outcome.calls > 0 for outcome in outcomes),
        "done": sum(outcome.is_done for outcome in outcomes),
        "answered": sum(outcome.is_answered for outcome in outcomes),
        "calls": sum(outcome.calls for outcome in outcomes),
        "malformed": sum(outcome.malformed for outcome in outcomes),
        "failed": sum(bool(outcome.code) for outcome in outcomes),
    }


def main() -> None:
    """Measure, print, and record where that is asked for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("model", type=Path)
    parser.add_argument("repository", type=Path)
    parser.add_argument("--way", action="append", choices=list(WAYS))
    parser.add_argument("--tasks", type=int, default=TASKS)
    parser.add_argument("--record", action="store_true")
    wanted = parser.parse_args()
    about = f"About {wanted.repository.name}."
    for name in wanted.way or list(WAYS):
        rows = TABLE.merged(
            "small_model", [run_way(name, wanted.model, wanted.repository, wanted.tasks)]
        )
        results.report("small_model", [TABLE.filled(rows, about)], wanted.record)


if __name__ == "__main__":
    main()
