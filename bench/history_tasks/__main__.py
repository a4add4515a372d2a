"""`python -m bench.history_tasks REPOSITORY`: agents on tasks from the history of a repository."""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from shlex import quote
from typing import Any

from bench.history_tasks.commands import Commands
from bench.history_tasks.figures import comparison, figures
from bench.history_tasks.measuring import Contestant, Measurement, Result
from bench.history_tasks.picture import picture
from bench.history_tasks.report import report
from bench.history_tasks.tasks import Cut, Cutter, none_found
from tersely.agent.models.connecting import key_for
from tersely.capabilities.answers.text import Style, counted
from tersely.cli.agent.chat import NOTHING, server_of, shared
from tersely.cli.agent.command_spec import ChatParameters, ServerKind
from tersely.cli.agent.interruption import Interruption
from tersely.cli.agent.servers import Server, connected
from tersely.foundation.errors import TerselyError
from tersely.foundation.git.repository import work_tree
from tersely.foundation.settings import Settings, load

OURS = "tersely"
WITHOUT_CONTEXT = "tersely, no context"
_ALLOWED_TIER = 2
_AGENT_HELP = (
    "a command that takes a prompt as its last word, or where {prompt} stands; `tersely` is ours, "
    "with and without its context (default: ours alone)"
)
_TEST_HELP = (
    "the command that runs tests, {tests} in it being their files (default: found by itself)"
)


@dataclass(frozen=True, slots=True)
class _Wanted:
    """The agents that are measured, the number of tasks, and the way in which the tests of these
    are run.
    """

    repository: Path
    agent: Sequence[str]
    tasks: int
    test: str
    task_seconds: int
    test_seconds: int
    picture: str
    json: bool
    url: str
    model: str
    kind: ServerKind
    window: int


def main(words: Sequence[str] | None = None) -> int:
    """Print what came of it; exit status 1, with a line that says why, where nothing could."""
    parser = argparse.ArgumentParser(prog="python -m bench.history_tasks", description=__doc__)
    add = parser.add_argument
    add("repository", type=Path)
    add("--agent", action="append", default=[], metavar="COMMAND", help=_AGENT_HELP)
    add("--tasks", type=int, default=10, help="how many tasks are cut from the history")
    add("--test", default="", metavar="COMMAND", help=_TEST_HELP)
    add("--task-seconds", type=int, default=900, help="how long an agent may work on a task")
    add("--test-seconds", type=int, default=300, help="how long the tests of a task may take")
    add("--picture", default="", metavar="FILE", help="draw the results into this SVG file")
    add("--json", action="store_true", help="print all of it as JSON")
    add("--url", default="", help="where the model of `tersely` is served, as for chat")
    add("--model", default="", help="which of its models")
    add("--kind", type=ServerKind, default=ServerKind.AUTO, help="what the server speaks")
    add("--window", type=int, default=0, help="tokens of context, as for chat")
    wanted = _Wanted(**vars(parser.parse_args(words)))
    try:
        result = _compared(wanted)
    except TerselyError as error:
        print(error, file=sys.stderr)
        return 1
    print(json.dumps(result) if wanted.json else result["text"])
    return 0


def _compared(parameters: _Wanted) -> dict[str, Any]:
    """Cut the tasks, have each agent do each, and compare; the result, with its `text`."""
    place = Path(work_tree(str(parameters.repository.resolve())))
    settings = load(place)
    commands = Commands(
        shared(settings),
        settings.chat_network == "on",
        parameters.test_seconds,
        parameters.task_seconds,
    )
    picture_path = Path(parameters.picture).absolute() if parameters.picture else None
    with Interruption(), tempfile.TemporaryDirectory(prefix="tersely-bench-") as scratch:
        folder = Path(scratch).resolve()
        agents = asyncio.run(_contestants(parameters, settings, folder))
        progress = _progress()
        cut, results = asyncio.run(_measured(place, folder, commands, agents, parameters, progress))
    progress("")
    told = [figures(agent.name, results) for agent in agents]
    compared = [comparison(agents[0].name, other.name, results) for other in agents[1:]]
    if picture_path is not None:
        title = f"{place.name}: {counted(len(cut.tasks), 'task')} from its history"
        _write(picture_path, picture(told, results, title))
    return {
        "tasks": [
            {"commit": task.commit.id, "title": task.title, "tests": task.test_command}
            for task in cut.tasks
        ],
        "tried": cut.tried,
        "skipped": [one._asdict() for one in cut.skipped],
        "agents": [_plain(one) for one in told],
        "compared": [one._asdict() for one in compared],
        "results": [{**asdict(one), "spent": one.spent._asdict()} for one in results],
        "text": report(cut, told, compared, results, Style()),
    }


async def _measured(
    place: Path, folder: Path, commands: Commands, agents: Sequence[Contestant], parameters: _Wanted,
    progress: Callable[[str], None],
) -> tuple[Cut, tuple[Result, ...]]:  # fmt: skip
    cutter = Cutter(place, folder, commands, parameters.test)
    cut = await cutter.cut(parameters.tasks, progress)
    if not cut.tasks:
        raise none_found(cut)
    return cut, await Measurement(cutter, commands, folder).run(cut.tasks, tuple(agents), progress)


async def _contestants(
    parameters: _Wanted, settings: Settings, folder: Path
) -> tuple[Contestant, ...]:
    """The agents as they are started; raises `model_unavailable` where ours is one and has no
    model.
    """
    found: list[Contestant] = []
    for agent in dict.fromkeys(parameters.agent or (OURS,)):
        if agent != OURS:
            found.append(Contestant(agent, agent, {}))
            continue
        server, model = await connected(server_of(_as_chat(parameters), settings))
        name = model.abilities.model
        await model.close()
        variables = _variables(server, folder)
        words = _own_words(server, name)
        found.append(Contestant(OURS, f"{words} -p", variables))
        found.append(Contestant(WITHOUT_CONTEXT, f"{words} --no-code-context -p", variables))
    return tuple(found)


def _as_chat(parameters: _Wanted) -> ChatParameters:
    return ChatParameters(
        url=parameters.url, model=parameters.model, kind=parameters.kind, window=parameters.window
    )


def _own_words(server: Server, model: str) -> str:
    """Our agent in JSON, allowed to edit and to run programs, whatever the folder that it is
    started in holds.
    """
    words = [
        sys.executable,
        "-E",
        "-P",
        "-m",
        "tersely",
        "chat",
        "--root",
        ".",
        "--output-format",
        "json",
    ]
    words += [
        "--url",
        server.url,
        "--model",
        model,
        "--kind",
        server.kind,
        "--window",
        str(server.window),
    ]
    return " ".join(map(quote, [*words, "--allow", str(_ALLOWED_TIER)]))


def _variables(server: Server, folder: Path) -> Mapping[str, str]:
    """A home of its own, so that neither habits nor sessions of the user play a part, and no daemon
    that stays.
    """
    named = {
        "TERSELY_CHAT_URL": server.url,
        "TERSELY_CHAT_KEY": key_for(server.url, server.key) or NOTHING,
    }
    return {"TERSELY_HOME": str(folder / "home"), "TERSELY_DAEMON": "off", **named}


def _progress() -> Callable[[str], None]:
    """Say on standard error what takes time: in one line of a terminal, else a line each."""
    is_terminal = sys.stderr.isatty()

    def say(text: str) -> None:
        if not (text or is_terminal):
            return
        sys.stderr.write(f"\r\x1b[K{text}" if is_terminal else f"{text}\n")
        sys.stderr.flush()

    return say


def _write(path: Path, text: str) -> None:
    try:
        path.write_text(text, "utf-8")
    except OSError as error:
        raise TerselyError(
            "unwritable_output", f"{path} cannot be written: {error.strerror}"
        ) from error


def _plain(one: Any) -> dict[str, Any]:
    """Figures as JSON has them."""
    return {
        name: value._asdict() if hasattr(value, "_asdict") else value
        for name, value in one._asdict().items()
    }


if __name__ == "__main__":
    sys.exit(main())
