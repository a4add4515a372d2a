"""Callers of sampled functions in a real repository, compared with what a type checker's call hierarchy says.

The checker is asked once; its answers are kept as JSON in a cache folder, because it takes minutes. A pair is (function
that calls, function that is called). Anonymous functions, class bodies and all else that the checker has no item for
belong to the function or module around them. Only callers below `scope` count, so that one much-tested function does
not outweigh the rest, and of those only the ones in files that the checker reads.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager
from dataclasses import asdict, dataclass
from pathlib import Path

from bench.groundtruth.score import CaseResult, compare, edge, failed
from bench.groundtruth.subject import Subject, copied
from tersely.code.symbols import CALLABLE_KINDS, Kind, Symbol

SEED = 20_250_101
SAMPLE = 400  # functions


@dataclass(frozen=True, slots=True)
class Target:
    """A function to ask about: where its name stands, line from 1, column from 0."""

    path: str
    line: int
    column: int
    name: str


@dataclass(frozen=True, slots=True)
class Place:
    """Who calls: the line of a function's name, or any line inside an anonymous function or a class; 0 for a module."""

    path: str
    line: int
    named: bool  # the line is that of a function's name


@dataclass(frozen=True, slots=True)
class Answer:
    """What the checker says of one function."""

    target: Target
    callers: tuple[Place, ...]


Ask = Callable[[Target], Iterable[Place]]


@dataclass(frozen=True, slots=True)
class Oracle:
    """One checker on one repository. `targets` lists the functions that may be sampled."""

    name: str
    scope: str  # prefix of paths
    targets: Callable[[Path, str], Iterable[Target]]
    asking: Callable[[Path], AbstractContextManager[Ask]]
    unread: tuple[str, ...] = ()  # folders inside the scope that are no part of the checker's project
    has_item: Callable[[Symbol, str], bool] = lambda symbol, line: True  # whether it calls a function by its own name

    def answers(self, root: Path, cache: Path) -> list[Answer]:
        """The checker's answers for the sample, from the cache if they are there."""
        kept = cache / f"{self.name}.json"
        if not kept.is_file():
            listed = sorted(
                self.targets(root, self.scope), key=lambda target: (target.path, target.line, target.column)
            )
            chosen = random.Random(SEED).sample(listed, min(SAMPLE, len(listed)))
            with self.asking(root) as ask:
                answers = [Answer(target, tuple(ask(target))) for target in chosen]
            cache.mkdir(parents=True, exist_ok=True)
            kept.write_text(json.dumps([asdict(answer) for answer in answers], indent=1), encoding="utf-8")
        return [_answer(row) for row in json.loads(kept.read_text(encoding="utf-8"))]

    def run(self, root: Path, cache: Path) -> Iterator[CaseResult]:
        """Compare every sampled function."""
        answers = self.answers(root, cache)
        with copied(root) as subject:
            known = Callers(subject, self)
            yield from (known.compare(answer) for answer in answers)


def _answer(row: dict[str, object]) -> Answer:
    target, callers = row["target"], row["callers"]
    assert isinstance(target, dict)
    assert isinstance(callers, list)
    return Answer(Target(**target), tuple(Place(**place) for place in callers))


class Callers:
    """Our callers in the words of the comparison: `path:line` of the calling function's name, or `path`."""

    def __init__(self, subject: Subject, oracle: Oracle) -> None:
        self.subject = subject
        self.oracle = oracle
        self.scope = oracle.scope
        self.lines: dict[str, list[str]] = {}
        self.functions: dict[str, list[Symbol]] = {}
        for symbol in subject.symbols.values():
            if symbol.kind in CALLABLE_KINDS and symbol.kind is not Kind.LAMBDA:
                self.functions.setdefault(symbol.path, []).append(symbol)

    def compare(self, answer: Answer) -> CaseResult:
        """One function."""
        target = answer.target
        here = f"{target.path}:{target.line} {target.name}"
        expected = {self._place(place) for place in answer.callers if place.path.startswith(self.scope)}
        wanted = {edge(caller, here) for caller in expected}
        symbol = next((each for each in self.functions.get(target.path, ()) if each.name_line == target.line), None)
        try:
            return compare(here, wanted, {edge(caller, here) for caller in self._found(symbol)} if symbol else ())
        except Exception as error:  # noqa: BLE001 - a crash on a case is a result of the suite
            return failed(here, wanted, error)

    def _found(self, symbol: Symbol) -> Iterator[str]:
        for each in self.subject.engine.graph.callers(symbol.id):
            if each.caller.startswith(self.scope) and self._is_read(each.caller):
                yield self._caller(self.subject.symbols[each.caller])

    def _is_read(self, caller: str) -> bool:
        folders = caller.partition(":")[0].split("/")
        return not any(folder in self.oracle.unread for folder in folders)

    def _caller(self, symbol: Symbol) -> str:
        while symbol.parent and not self._has_item(symbol):
            symbol = self.subject.symbols[symbol.parent]
        return f"{symbol.path}:{symbol.name_line}" if symbol.parent else symbol.path

    def _has_item(self, symbol: Symbol) -> bool:
        if symbol.kind not in CALLABLE_KINDS or symbol.kind is Kind.LAMBDA:
            return False
        lines = self.lines.get(symbol.path)
        if lines is None:
            lines = self.lines[symbol.path] = self.subject.text(symbol.path).split("\n")
        return self.oracle.has_item(symbol, lines[symbol.name_line - 1])

    def _place(self, place: Place) -> str:
        if not place.line:
            return place.path
        if place.named:
            return f"{place.path}:{place.line}"
        around = [
            function
            for function in self.functions.get(place.path, ())
            if function.start_line <= place.line <= function.end_line
        ]
        innermost = max(around, key=lambda function: function.start_byte, default=None)
        return f"{place.path}:{innermost.name_line}" if innermost else place.path
