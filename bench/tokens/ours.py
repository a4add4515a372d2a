"""What we answer, and whether any answer is larger than it may be."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from bench.scratch import git
from bench.tokens.plain import read
from bench.tokens.questions import HALF, SUBJECT, SYMBOL, Question
from tersely.capabilities.answers.text import PLAIN
from tersely.capabilities.invoke import ask
from tersely.capabilities.search.search import text as search_text
from tersely.foundation.errors import TerselyError
from tersely.foundation.text.tokens import count
from tersely.workspace import Workspace

HITS = 200
_WHOLE = re.compile(r"^=== (.+) whole$", re.MULTILINE)

Arguments = Callable[[Question], dict[str, object]]


class Pack(NamedTuple):
    """A capability that answers within a budget, and what it is asked for each kind of question."""

    name: str
    capability: str
    arguments: dict[str, Arguments]


PACKS = (
    Pack("context", "code.context", {SYMBOL: lambda one: {"symbols": (one.symbol.id,)}}),
    Pack("context --slice", "code.context", {SYMBOL: lambda one: {"slice": f"{one.symbol.path}:{_inner_line(one)}"}}),
    Pack("symbol slice", "code.symbol.slice", {SYMBOL: lambda one: {"symbols": (one.symbol.id,)}}),
    Pack("map", "code.map", {SYMBOL: lambda one: {"focus": (one.symbol.id,)}, SUBJECT: lambda one: {},
                             HALF: lambda one: {"focus": tuple(one.changed)}}),
    Pack("diff-context", "code.diff_context", {HALF: lambda one: {"worktree": True}}),
    Pack("plan", "code.plan", {SYMBOL: lambda one: {"task": (f"`{one.symbol.qualname}`", one.symbol.path)},
                               SUBJECT: lambda one: {"task": (one.subject,)},
                               HALF: lambda one: {"task": (one.subject,)}}),
)  # fmt: skip


@dataclass(slots=True)
class Checked:
    """Packs that were asked for, and those that were larger than their budget or than the files
    that they stand for.
    """

    packs: int = 0
    violations: list[str] = field(default_factory=list)

    def check(self, name: str, question: Question, budget: int, answer: Any) -> None:
        """Count one pack exactly and compare it with what it says, what it may be, and what its
        files are.
        """
        self.packs += 1
        size = count(answer.text)
        where = f"{name} {question.kind} {question.symbol.id} {budget}"
        if size > budget or answer.used != size:
            self.violations.append(f"{where}: {size} tokens, says {answer.used}")
        files = sum(count(read(question.tree, path)) for path in _files(answer, question))
        if question.changed:
            # who would read the files would have to read what was taken out of them as well
            files += count(git(question.tree, "diff").decode("utf-8", "replace"))
        if files and size > files:
            self.violations.append(f"{where}: {size} tokens, its files have {files}")


def _files(answer: Any, question: Question) -> set[str]:
    """The files of the tree that an answer shows something of, in parts or whole."""
    entries = getattr(answer, "items", ()) or getattr(answer, "entries", ())
    paths = {one.id.partition(":")[0] for one in entries} | set(_WHOLE.findall(answer.text))
    return {path for path in paths if (question.tree / path).is_file()}


def answers(
    question: Question, workspace: Workspace, budgets: Iterable[int], checked: Checked
) -> Any:
    """(name, budget, text) of every pack that can be asked the question; of one that refuses, no
    text.
    """
    for pack in PACKS:
        arguments = pack.arguments.get(question.kind)
        for budget in budgets if arguments else ():
            assert arguments
            try:
                answer = ask(workspace, pack.capability, budget=budget, **arguments(question))
            except TerselyError as error:
                if error.code == "internal_error":
                    raise
                yield pack.name, budget, ""
                continue
            checked.check(pack.name, question, budget, answer)
            yield pack.name, budget, answer.text
    if question.kind != SYMBOL:
        found = ask(
            workspace, "code.search", query=(question.subject.replace('"', " "),), limit=HITS
        )
        for budget in budgets:
            yield "search", budget, search_text(found, PLAIN)


def _inner_line(question: Question) -> int:
    """A line in the middle of the symbol that is asked about."""
    symbol = question.symbol
    return (symbol.name_line + symbol.end_line + 1) // 2
