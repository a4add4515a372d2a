"""The command `tour`: four questions about a repository, and what each costs an agent beside grep.

All figures are measured when they are printed: the tokens of the answer as an agent gets it, and
those of the lines that `grep -nw` finds in the same files.
"""

from __future__ import annotations

import re
import shlex
import tomllib
from collections.abc import Callable, Collection
from importlib.resources import files
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

from tersely.capabilities.answers.reply import answer_text, failure_text
from tersely.capabilities.answers.text import PLAIN, Style, counted
from tersely.capabilities.graph.listing import name_of, path_of
from tersely.capabilities.invoke import ask, invoke
from tersely.cli.builtin.setup import central_symbol, opened, repository
from tersely.cli.own_command import CommandCall
from tersely.cli.run import read_request
from tersely.foundation.text.escape import visible_line
from tersely.foundation.types import JsonMapping, JsonObject, Strings
from tersely.workspace import Workspace

SHOWN_LINES = 8  # of each answer
LEAST_SUMMED = 2  # answers that count, below which nothing is summed up
ANSWER_SECONDS = 25.0  # for an answer, so that all of them take less than two minutes
TIMES_FEWER = 7  # tokens than grep until a whole fix was seen, with packets: as README.md has it
_ORDINARY = (
    f"They are about the symbol that most depends on. With 140 issues of other repositories it took {TIMES_FEWER} times"
    " fewer tokens than grep, in the median, and not always fewer."
)
_SAMPLE = "a small shop that comes with Tersely; in a repository of yours the figures are its own"


class _Stop(NamedTuple):
    """A question of the tour, and what is read to answer it without Tersely."""

    words: Strings  # as they are typed
    names: frozenset[str]  # that are grepped for
    file: str = ""  # that is read whole
    finds: Callable[[Any], object] = bool  # what of a result is true where it has an answer


def run_tour(asked: CommandCall) -> JsonObject:
    """Ask about the repository in which this is typed, else about a small one of ours; the result
    with its `text`.
    """
    if root := repository(asked.options.root):
        return _toured(asked, root, root)
    with TemporaryDirectory(prefix="tersely-tour-") as folder:
        sample = tomllib.loads((files(__package__) / "tour.toml").read_text("utf-8"))
        for path, text in sample.items():
            place = Path(folder, path)
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_text(text, "utf-8")
        return _toured(asked, folder, _SAMPLE)


def _toured(asked: CommandCall, root: str, title: str) -> JsonObject:
    with opened(asked, root) as workspace:
        report = ask(workspace, "code.index")
        workspace.patience_seconds = ANSWER_SECONDS
        symbol = central_symbol(workspace)
        stops = [_measured(workspace, stop) for stop in _stops(workspace, symbol)]
    indexed = f"{counted(sum(report.files.values()), 'file')}, {counted(report.symbols, 'symbol')}"
    head = f"A tour of {title}\n\n1. tersely index\n   {indexed}, {report.seconds:.1f} s\n"
    told = [_told(number, stop, asked.style) for number, stop in enumerate(stops, 2)]
    ours, theirs = (sum(stop[kind] for stop in stops) for kind in ("tokens", "tokens_instead"))
    end = f"These answers: {ours:,} tokens; without Tersely: {theirs:,}\n{_ORDINARY}"
    if sum(bool(stop["tokens"]) for stop in stops) < LEAST_SUMMED:
        end = "too few answers for a sum"
    return {"stops": stops, "text": "".join([head, *told, f"\n{end}\n"])}


def _stops(workspace: Workspace, symbol: str) -> list[_Stop]:
    """The questions about the most important symbol of a repository; none where it has none."""
    if not symbol:
        return []
    name, path = _last(symbol), path_of(symbol)
    defined = {one.name for one in workspace.engine.store.symbols_of(path) if one.parent == path}
    return [
        _Stop(("packet", f"change `{name}` in {path}"), frozenset(), path),
        _Stop(("impact", symbol), frozenset({name}), finds=lambda calls: calls.callers.total),
        _Stop(
            ("change-impact", path),
            frozenset(defined),
            finds=lambda change: change.tests or change.imports.total,
        ),
    ]


def _measured(workspace: Workspace, stop: _Stop) -> JsonObject:
    """The command, its answer, and the tokens of that and of what is read instead; no tokens where
    nothing is found.
    """
    request = read_request([], stop.words)
    capability = request.command.capability()
    outcome = invoke(capability, workspace, request.arguments)
    failure, count = outcome.failure, workspace.tokenizer.count
    answer = failure_text(failure, PLAIN) if failure else answer_text(capability, outcome, PLAIN)
    told = {"command": shlex.join(["tersely", *stop.words]), "answer": answer}
    if failure or not outcome.is_found or not stop.finds(outcome.result):
        return {**told, "tokens": 0, "tokens_instead": 0}
    if stop.file:
        about, read = f"all of {stop.file}", _whole(workspace, stop.file)
    else:
        # whoever is found at the end of a way need not be grepped for
        calls = outcome.result.callers.items if stop.words[0] == "impact" else ()
        names = stop.names | {_last(call.callee) for call in calls}
        about, read = f"grep -nw for {counted(len(names), 'name')}", _grepped(workspace, names)
    return {**told, "tokens": count(answer), "instead": about, "tokens_instead": count(read)}


def _whole(workspace: Workspace, path: str) -> str:
    return workspace.source(path).decode("utf-8", "replace")


def _grepped(workspace: Workspace, names: Collection[str]) -> str:
    """What `grep -nw` prints for some names in the indexed files."""
    pattern = re.compile(rf"(?<!\w)(?:{'|'.join(map(re.escape, sorted(names)))})(?!\w)")
    return "".join(
        f"{file.path}:{number}:{line}\n"
        for file in workspace.engine.store.files()
        for number, line in enumerate(_whole(workspace, file.path).splitlines(), 1)
        if pattern.search(line)
    )


def _told(number: int, stop: JsonMapping, style: Style) -> str:
    """A question with the first lines of its answer, and what it costs."""
    lines = stop["answer"].splitlines()
    rest = [f"… {counted(len(lines) - SHOWN_LINES, 'more line')}"] if lines[SHOWN_LINES:] else []
    shown = [f"   {line}\n" for line in [*lines[:SHOWN_LINES], *rest]]
    cost = style.faint("no answer, not counted")
    if stop["tokens"]:
        figures = f"{stop['tokens']:,} tokens; {stop['instead']}: {stop['tokens_instead']:,}"
        cost = style.good(visible_line(figures))
    return "".join(
        [f"\n{number}. {style.heading(visible_line(stop['command']))}\n", *shown, f"   {cost}\n"]
    )


def _last(symbol: str) -> str:
    return name_of(symbol).rpartition(".")[2]
