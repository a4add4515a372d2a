"""`python -m bench.seen TASKS… --repositories DIR`: tokens until an agent has seen what a task
changes.

TASKS are files of JSON lines (`instance_id`, `repo`, `base_commit`, `problem_statement`,
`golden_patch`), and `--history CLONE` takes the tasks from the history of a repository of one's
own. Each task is checked out at its base and given to scripted agents that know its text alone;
what they print is counted until all needed lines were in it.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections import defaultdict
from collections.abc import Iterable, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from pathlib import Path
from typing import Any, NamedTuple

from bench import results
from bench.results import Table
from bench.scratch import clone_of, git
from bench.seen import answers
from bench.seen.curve import Costs, curve, row
from bench.seen.grep import VARIANTS, grep
from bench.seen.ours import POLICIES, Desk
from bench.seen.reading import Reading, SeenError
from bench.seen.tasks import Need, Task, history_tasks, need_of, read_tasks
from tersely.foundation.errors import TerselyError
from tersely.foundation.limits import MAX_FILE_BYTES
from tersely.workspace import Workspace

# by agent its cost, None for never; the figures of `ANSWERS`; by agent what is `RESIDENT`
Measured = dict[str, Any]
RESIDENT = "resident after ten calls"
SMALL_FILES = 50  # of code, in a repository that is small
ANSWERS = "packet and plan by themselves"
TOLD = "grep, told the right files"
TABLE = Table(
    "Tokens until seen",
    "python -m bench.seen TASKS… --repositories DIR --record",
    "group|agent|tasks:,|1k:.2f|2k:.2f|4k:.2f|8k:.2f|16k:.2f|32k:.2f|median:,.0f|p75:,.0f|resident:,.0f|to_grep:.2f|95%"
    "|to_best:.2f|wins:,|losses:,|ties:,",
    "The share of tasks of which everything needed was printed within so many tokens; *resident* are the tokens that "
    "the first ten calls leave in the context, or all until it was seen.",
    names=2,
)


class Job(NamedTuple):
    """A task, and what is measured of it."""

    task: Task
    agents: list[str]


class Work(NamedTuple):
    """The tasks of one repository, which are checked out one after the other."""

    clone: Path
    place: Path
    jobs: list[Job]


def main(arguments: list[str]) -> int:
    """Measure, print the curve of each group, and keep it if that is wanted."""
    parser = argparse.ArgumentParser(prog="python -m bench.seen", description=__doc__)
    parser.add_argument("tasks", type=Path, nargs="*", help="files of tasks, a line each")
    parser.add_argument(
        "--use", default="", help="only tasks that are marked for this: fit or measure"
    )
    parser.add_argument(
        "--repositories",
        type=Path,
        help="clones, named owner+repository (default: where the first history is)",
    )
    parser.add_argument(
        "--history", type=Path, nargs="*", default=[], help="clones whose newest commits are tasks"
    )
    parser.add_argument("--most", type=int, default=40, help="tasks of one history")
    parser.add_argument(
        "--trees", type=Path, help="where repositories are checked out and stay for the next run"
    )
    parser.add_argument(
        "--costs", type=Path, help="a file that keeps what was paid; agents in it are not run again"
    )
    parser.add_argument(
        "--again",
        nargs="*",
        default=[],
        help="agents to run again, by the beginning of their names",
    )
    parser.add_argument(
        "--agents", nargs="*", default=[""], help="only these, by the beginning of their names"
    )
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--record", action="store_true", help="keep the figures in bench/results/")
    options = parser.parse_args(arguments)
    if options.repositories is None:
        options.repositories = options.history[0].parent if options.history else Path()
    tasks = [task for path in options.tasks for task in read_tasks(path, options.use)]
    for clone in options.history:
        tasks += history_tasks(clone, options.most, "history")
    known: dict[str, Measured] = defaultdict(dict)
    if options.costs and options.costs.exists():
        known.update(json.loads(options.costs.read_text("utf-8")))
    with tempfile.TemporaryDirectory(prefix="tersely-seen-") as scratch:
        # its key names indexes
        os.environ["TERSELY_HOME"] = str(options.trees / "home" if options.trees else scratch)
        # from which checked out trees borrow
        os.environ["TERSELY_GIT_ELSEWHERE"] = str(options.repositories.resolve())
        trees = options.trees or Path(scratch) / "trees"
        wanted = [one for one in (*AGENTS, ANSWERS) if one.startswith(tuple(options.agents))]
        jobs: dict[str, list[Job]] = defaultdict(list)
        for task in tasks:
            agents = [
                one
                for one in wanted
                if task.name not in known[one] or one.startswith(tuple(options.again))
            ]
            if agents:
                jobs[task.repository].append(Job(task, agents))
        work = [
            Work(_clone(options.repositories, name), trees / name.replace("/", "+"), jobs[name])
            for name in jobs
        ]
        for name, paid in _each(work, options.jobs):
            resident = known[RESIDENT].setdefault(name, {})
            resident.update(paid.pop(RESIDENT, {}))
            for agent, cost in paid.items():
                known[agent][name] = cost
            print(name, paid, file=sys.stderr, flush=True)
            if options.costs:
                options.costs.write_text(json.dumps(known), "utf-8")
    _report(tasks, known, options.record)
    return 0


def _clone(repositories: Path, name: str) -> Path:
    found = clone_of(repositories, name) or Path(name)
    return found / "repo" if (found / "repo").exists() else found


def _each(work: Sequence[Work], workers: int) -> Iterable[tuple[str, Measured]]:
    if workers == 1:
        for one in work:
            yield from measured(one)
        return
    with ProcessPoolExecutor(workers) as pool:
        for done in as_completed([pool.submit(_all_measured, one) for one in work]):
            yield from done.result()


def _all_measured(work: Work) -> list[tuple[str, Measured]]:
    return list(measured(work))


AGENTS = (*(style.name for style in VARIANTS), TOLD, *POLICIES)


def measured(work: Work) -> Iterable[tuple[str, Measured]]:
    """What some agents pay for the tasks of a repository, the oldest first: the index takes over
    what is the same.
    """
    _clone_to(work.clone, work.place)
    for job in sorted(work.jobs, key=lambda job: _date(work.clone, job.task.base)):
        if _is_checked_out(work.place, job.task):
            yield job.task.name, _measured(job, work.place)


def _measured(job: Job, place: Path) -> Measured:
    """Nothing for a task of which nothing is needed in files that are there."""
    paid: Measured = {RESIDENT: {}}
    with Workspace.open(place) as workspace:
        workspace.refresh()
        workspace.refreshes = False
        texts = _texts(place)
        need = need_of(job.task, workspace.engine.store, texts)
        wholes: dict[str, str] = {}
        for agent in job.agents if need.lines else ():
            desk = Desk(Reading(need, texts, wholes=wholes), job.task.text, workspace)
            if agent == ANSWERS:
                paid[agent] = answers.figures(desk)
                continue
            try:
                _run(agent, desk, need)
            except SeenError:
                pass
            except TerselyError as error:
                print(f"{job.task.name}: {agent}: {error}", file=sys.stderr)
            paid[agent] = desk.reading.cost
            paid[RESIDENT][agent] = desk.reading.resident
    return paid


def _run(agent: str, desk: Desk, need: Need) -> None:
    if agent in POLICIES:
        POLICIES[agent](desk)
        return
    styles = {style.name: style for style in VARIANTS}
    if agent == TOLD:
        grep(desk.reading, desk.task, VARIANTS[2], list(need.lines))
        for path in need.lines:
            desk.reading.pay(
                "\n".join(desk.reading.texts[path]),
                {path: range(1, len(desk.reading.texts[path]) + 1)},
            )
        return
    grep(desk.reading, desk.task, styles[agent])


def _clone_to(clone: Path, place: Path) -> None:
    if not place.exists():
        place.parent.mkdir(parents=True, exist_ok=True)
        git(clone, "clone", "-q", "--shared", "--no-checkout", str(clone.resolve()), str(place))


def _is_checked_out(place: Path, task: Task) -> bool:
    """Check out the base of a task; clones without all of their history or files do not have it."""
    try:
        git(place, "-c", "core.autocrlf=false", "checkout", "-q", "--force", "--detach", task.base)
    except subprocess.CalledProcessError:
        print(f"{task.name}: left out, its base cannot be checked out", file=sys.stderr)
        return False
    return True


def _date(clone: Path, commit: str) -> int:
    """When a commit was made, in seconds; 0 for one that is not there."""
    try:
        return int(git(clone, "show", "-s", "--format=%ct", commit))
    except subprocess.CalledProcessError:
        return 0


def _texts(place: Path) -> dict[str, list[str]]:
    """The lines of all files that git tracks and that are text."""
    found = {}
    for name in git(place, "ls-files", "-z").decode("utf-8", "replace").split("\0"):
        path = place / name
        if (
            not name
            or path.is_symlink()
            or not path.is_file()
            or path.stat().st_size > MAX_FILE_BYTES
        ):
            continue
        data = path.read_bytes()
        if b"\0" not in data[:8_000]:
            found[name] = data.decode("utf-8", "replace").replace("\r\n", "\n").split("\n")
    return found


def _report(tasks: Iterable[Task], known: dict[str, Measured], keep: bool) -> None:
    groups: dict[str, list[str]] = defaultdict(list)
    for task in tasks:
        groups["all"].append(task.name)
        groups[task.language].append(task.name)
        if task.language != "python":
            groups["others than python"].append(task.name)
        alone = known[ANSWERS].get(task.name, {})
        if alone and alone[answers.CODE_FILES] <= SMALL_FILES:
            groups[f"at most {SMALL_FILES} files of code"].append(task.name)
    rows: list[dict[str, Any]] = []
    by_themselves: list[dict[str, Any]] = []
    for group, names in groups.items():
        figures = [known[ANSWERS][name] for name in names if name in known[ANSWERS]]
        if figures:
            by_themselves.append(answers.row(group, figures))
        costs: dict[str, Costs] = {}
        for agent, paid in known.items():
            if agent in AGENTS and any(name in paid for name in names):
                costs[agent] = {name: paid[name] for name in names if name in paid}
        plain = costs.get(VARIANTS[0].name)
        if not plain:
            continue
        whole = [
            costs[style.name] for style in VARIANTS if len(costs.get(style.name, ())) == len(plain)
        ]
        best = min(whole, key=_order)
        for agent, cost in costs.items():
            resident = {name: known[RESIDENT].get(name, {}) for name in cost}
            carried = {name: one[agent] for name, one in resident.items() if agent in one}
            rows.append({"group": group, **row(agent, cost, carried, plain, best)})
    results.report("seen", [TABLE.filled(rows), answers.TABLE.filled(by_themselves)], keep)


def _order(costs: Costs) -> tuple[float, float]:
    figures = curve(costs)
    return figures["median"], -figures["4k"]


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
