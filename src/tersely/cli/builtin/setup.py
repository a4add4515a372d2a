"""`install` and `uninstall` without the name of an agent: all agents of this machine at once.

`install` writes the user's own settings, never a file of the repository; `uninstall` undoes what has
been written in either.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from tersely.cli.builtin.daemon import default_workspace
from tersely.cli.builtin.install import Plan, is_agreed, planned_install, planned_removal, unseen
from tersely.cli.printing.output import Output
from tersely.cli.printing.terminal import Terminal
from tersely.daemon import lifecycle
from tersely.foundation.errors import TerselyError
from tersely.foundation.storage.private import index_places
from tersely.foundation.storage.roots import INDEX_DIRECTORY, MARK, holds_home, is_repository
from tersely.foundation.text.escape import visible
from tersely.foundation.types import replace
from tersely.integrations.declaration import KnownAgent
from tersely.integrations.state import read_record
from tersely.integrations.table import AGENTS

if TYPE_CHECKING:
    from tersely.cli.builtin.installing import InstallParameters
    from tersely.cli.own_command import CommandCall
    from tersely.foundation.types import JsonObject
    from tersely.workspace import Workspace

NO_AGENT = (
    "no coding agent found; `tersely help install` lists the known ones, any other can start `tersely mcp`, and"
    " `tersely tour` shows what to ask by hand"
)
QUESTION_BUDGET_TOKENS = 2_000  # of the map that the symbol of the first question is taken from


def install_everywhere(asked: CommandCall, given: InstallParameters) -> JsonObject:
    """Add Tersely to every agent that is found, index the repository and suggest a question; the
    result with its `text`. Raises `unwritable_output` where a failure leaves nothing written.
    """
    agents = [agent for agent in AGENTS.values() if agent.is_present(Path.home())]
    if not agents:
        return _result([], [NO_AGENT])
    everyone = [replace(given, agent=agent.name, user=True) for agent in agents]
    plans, problems = _plans(partial(planned_install, ""), everyone)
    offer = _offer(plans)
    if plans and not is_agreed(given, offer, "write"):
        return _result([], [unseen(given, offer), *problems, "not written; --yes writes it"])
    done = _carried_out(plans, problems)
    if problems and not done:
        raise _failure("nothing was written", problems)
    problems += [f"{_titles([plan])}: {plan.step.problem}" for plan in done if plan.step.problem]
    news = "written" if done else "nothing new to write"
    lines = [
        unseen(given, offer) if plans else "",
        *problems,
        f"{news}; `tersely uninstall` removes it",
    ]
    return _result(done, [*lines, *_first_question(asked, agents[0])])


def uninstall_everywhere(asked: CommandCall, given: InstallParameters) -> JsonObject:
    """Take Tersely out of the settings of every agent, those of the user and of the repository, and
    delete the index of the repository; the result with its `text`. Raises `unwritable_output` where
    no settings could be changed.
    """
    root = default_workspace(asked.options.root)
    plans, problems = _removals(given, Path.home(), is_users=True)
    if root and not holds_home(root):
        more, others = _removals(given, Path(root), is_users=False)
        plans, problems = [*plans, *more], [*problems, *others]
    indexes = _indexes(root)
    cleaned = [f"takes Tersely out of {one.path}\n" for plan in plans for one in plan.changes]
    offer = "".join([*cleaned, *(f"deletes the index {path}\n" for path in indexes)])
    if offer and not is_agreed(given, offer, "remove"):
        untouched = "not removed; --yes removes it"
        return _result([], [unseen(given, offer), *problems, untouched])
    done = _carried_out(plans, problems)
    if problems and not done:
        raise _failure("nothing was removed", problems)
    if indexes:
        _delete_indexes(root, indexes)
    return _result(
        done, [unseen(given, offer), *problems, "removed" if offer else "nothing to remove"]
    )


def _failure(outcome: str, problems: Iterable[str]) -> TerselyError:
    """The failure that says why nothing was done."""
    message = f"{outcome}: {'; '.join(problems)}"
    return TerselyError("unwritable_output", message, "correct what is named, then try again")


def _removals(
    given: InstallParameters, base: Path, *, is_users: bool
) -> tuple[list[Plan], list[str]]:
    """The plans to take out what has been written below a directory, the last of the agents first:
    folders that several use were made by the first.
    """
    leaving = [name for name in reversed(list(AGENTS)) if read_record(base, name).files]
    requests = [replace(given, agent=name, user=is_users) for name in leaving]
    return _plans(partial(planned_removal, str(base), leaving=leaving), requests)


def _plans(
    make: Callable[[InstallParameters], Plan], requests: Iterable[InstallParameters]
) -> tuple[list[Plan], list[str]]:
    """The plans that change something, and why others could not be made."""
    plans, problems = [], []
    for request in requests:
        try:
            plan = make(request)
        except TerselyError as error:
            problems.append(f"{AGENTS[request.agent].title}: {error.message}")
            continue
        plans += [] if plan.is_empty else [plan]
    return plans, problems


def _carried_out(plans: Iterable[Plan], problems: list[str]) -> list[Plan]:
    """Those of the plans that could be carried out; `problems` takes why others could not."""
    done = []
    for plan in plans:
        try:
            plan.carry_out()
            done.append(plan)
        except TerselyError as error:
            problems.append(f"{plan.request.agent.title}: {error.message}")
    return done


def _offer(plans: Sequence[Plan]) -> str:
    """What would be added, a line for each kind of it with its files in the home directory, and the
    commands of editors.
    """
    places: dict[str, list[str]] = {
        "tools that answer about code": [],
        "hooks: code beside each prompt, outlines of large files, messages of other agents, no edits of files that "
        "another agent has claimed, answers from elsewhere to questions for permission": [],
        "instructions when to ask": [],
    }
    tools, hooks, texts = places.values()
    for target in (one for plan in plans for one in plan.request.targets()):
        paths = hooks if target.is_hook else texts if target.is_text else tools
        paths.append(f"~/{target.user}")
    lines = [
        f"{kind}: {', '.join(dict.fromkeys(paths))}" for kind, paths in places.items() if paths
    ]
    steps = [plan.step.told for plan in plans]
    return "".join([*(f"{line}\n" for line in [f"found: {_titles(plans)}", *lines]), *steps])


def _first_question(asked: CommandCall, agent: KnownAgent) -> list[str]:
    """Index the repository in which this is typed; a line about that, and a question to try."""
    root = repository(asked.options.root)
    if not root:
        return ["in a repository, `tersely index` reads it; then ask your agent about its code"]
    from tersely.capabilities.answers.text import counted
    from tersely.capabilities.invoke import ask

    try:
        with opened(asked, root) as workspace:
            report = ask(workspace, "code.index")
            symbol = central_symbol(workspace)
    except TerselyError as error:
        return [f"no index: {error.message}"]
    question = f"What would a change of {symbol} affect?" if symbol else "What does this code do?"
    files = counted(sum(report.files.values()), "file")
    return [f"{files} indexed", f'try it: ask {agent.title} "{question}"']


def repository(root: str) -> str:
    """The resolved directory that is named, else the repository around the current directory; ""
    where there is none.
    """
    found = default_workspace(root)
    return found if root or (found and is_repository(found)) else ""


def opened(asked: CommandCall, root: str) -> Workspace:
    """A repository, opened; a bar on the terminal shows how far its first index has come."""
    from tersely.workspace import Workspace

    progress = Output(asked.program, asked.options, Terminal.own()).progress()
    return Workspace.open(root, progress=progress)


def central_symbol(workspace: Workspace) -> str:
    """The id of the symbol that matters most in the map of a repository, "" for none."""
    from tersely.capabilities.invoke import ask

    entries = ask(workspace, "code.map", budget=QUESTION_BUDGET_TOKENS).entries
    symbols = [entry for entry in entries if ":" in entry.id]
    return max(symbols, key=lambda entry: entry.weight).id if symbols else ""


def _indexes(root: str) -> list[Path]:
    """The directories of this user's index of a repository, as far as there are any."""
    if not root:
        return []
    places = index_places(root)
    paths = (Path(places.in_repository), Path(places.elsewhere))
    return [path for path in paths if path.is_dir()]


def _delete_indexes(root: str, indexes: Iterable[Path]) -> None:
    """Delete them, and the directory in the repository where nothing else lies in it."""
    lifecycle.stop(root)
    for path in indexes:
        shutil.rmtree(path)
    around = Path(root) / INDEX_DIRECTORY
    if around.is_dir() and {path.name for path in around.iterdir()} <= {MARK}:
        shutil.rmtree(around)


def _titles(plans: Iterable[Plan]) -> str:
    return ", ".join(plan.request.agent.title for plan in plans)


def _result(done: Sequence[Plan], lines: Iterable[str]) -> JsonObject:
    shown = [line.removesuffix("\n") for line in lines if line]
    return {
        "agents": [plan.request.agent.name for plan in done],
        "files": [str(change.path) for plan in done for change in plan.changes],
        "text": visible("\n".join(shown)) + "\n",
    }
