"""JCG's test cases in Java: Markdown with programs, each with the calls that it is about.

The programs carry annotations: in the annotated method, the call of `name` on `line` must reach
`resolvedTargets` and must not reach `prohibitedTargets`; an `IndirectCall` may reach them through
other methods. Only the spoken-of targets are judged, so precision counts prohibited targets alone.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from bench.groundtruth.java import JavaNames, from_descriptor
from bench.groundtruth.score import CaseResult, edge, failed
from bench.groundtruth.subject import Subject, written
from tersely.code.symbols import CALLABLE_KINDS, CLASS_KINDS, Kind

PROJECT = re.compile(
    r"^##(?P<name>[^\n]*)\n\[//\]: # \((?:MAIN: [^\n]*|LIBRARY)\)\n(?P<body>.*?)\[//\]: # \(END\)",
    re.DOTALL | re.MULTILINE,
)
PROGRAM = re.compile(r"```java\n// ?(?P<path>[^\n]*)\n(?P<text>[^`]*)```")
ANNOTATION = re.compile(r"@(?P<kind>Direct|Indirect)Call\s*\((?P<body>(?:[^()]|\([^()]*\))*)\)")
STRINGS = re.compile(r'"([^"]*)"')
MAX_HOPS = 6  # of an indirect call


@dataclass(frozen=True, slots=True)
class Project:
    """One test case: its files by path."""

    name: str
    files: dict[str, str]


@dataclass(frozen=True, slots=True)
class Demand:
    """One annotation: what a call must and must not reach."""

    path: str
    at_line: int  # of the annotation, inside the calling method
    line: int  # of the call
    name: str
    direct: bool
    parameters: tuple[str, ...] | None
    resolved: tuple[str, ...]
    prohibited: tuple[str, ...]


def projects(folder: Path) -> Iterator[Project]:
    """Every test case."""
    for document in sorted(folder.glob("*.md")):
        for match in PROJECT.finditer(document.read_text(encoding="utf-8")):
            files = {
                found["path"].strip(): found["text"] for found in PROGRAM.finditer(match["body"])
            }
            yield Project(f"{document.stem}/{match['name'].strip()}", files)


def demands(files: dict[str, str]) -> Iterator[Demand]:
    """Every annotation of a Java program."""
    for path, text in files.items():
        for match in ANNOTATION.finditer(text):
            body = match["body"]
            line = re.search(r"line\s*=\s*(\d+)", body)
            yield Demand(
                path,
                text.count("\n", 0, match.end()) + 1,
                int(line[1]) if line else 0,
                _strings(body, "name")[0],
                match["kind"] == "Direct",
                _parameters(body),
                _strings(body, "resolvedTargets"),
                _strings(body, "prohibitedTargets"),
            )


def _strings(body: str, key: str) -> tuple[str, ...]:
    match = re.search(rf'\b{key}\s*=\s*(\{{[^}}]*\}}|"[^"]*")', body)
    return tuple(STRINGS.findall(match[1])) if match else ()


def _parameters(body: str) -> tuple[str, ...] | None:
    match = re.search(r"\bparameterTypes\s*=\s*(\{[^}]*\}|[\w.\[\]]+\.class)", body)
    return tuple(re.findall(r"([\w.\[\]]+)\.class", match[1])) if match else None


def run_java(folder: Path) -> Iterator[CaseResult]:
    """Every annotated Java case."""
    for project in projects(folder):
        wanted = list(demands(project.files))
        if not wanted:
            continue
        try:
            with written(project.files) as subject:
                yield _judge(project.name, subject, wanted)
        except Exception as error:  # noqa: BLE001 - a crash on a case is a result of the suite
            yield failed(project.name, [f"{demand.name}:{demand.line}" for demand in wanted], error)


def _judge(name: str, subject: Subject, wanted: list[Demand]) -> CaseResult:
    names, reached = JavaNames(subject), _Reach(subject)
    agreed = 0
    missing: list[str] = []
    extra: list[str] = []
    for demand in wanted:
        caller = _enclosing(subject, demand)
        for target in _targets(names, demand, demand.resolved):
            if caller and reached(caller, target, demand.line, demand.direct):
                agreed += 1
            else:
                missing.append(edge(f"{caller or demand.path}:{demand.line}", target))
        extra += [
            edge(f"{caller}:{demand.line}", target)
            for target in _targets(names, demand, demand.prohibited)
            if caller and reached(caller, target, demand.line, demand.direct)
        ]
    return CaseResult(name, agreed, tuple(missing), tuple(extra))


def _targets(names: JavaNames, demand: Demand, descriptors: Iterable[str]) -> Iterator[str]:
    """Ids of the target methods; those of the platform are left out."""
    for descriptor in descriptors:
        owner = from_descriptor(descriptor)
        if owner in names.classes:
            parameters = None if demand.parameters is None else list(demand.parameters)
            yield names.method(owner, demand.name, parameters) or f"{owner}:{demand.name}"


def _enclosing(subject: Subject, demand: Demand) -> str:
    """The method or constructor that an annotation stands on."""
    around = [
        symbol
        for symbol in subject.symbols.values()
        if symbol.path == demand.path and symbol.kind in CALLABLE_KINDS
        and symbol.start_line <= demand.at_line <= symbol.end_line
    ]  # fmt: skip
    return max(around, key=lambda symbol: symbol.start_byte).id if around else ""


class _Reach:
    """What a call reaches."""

    def __init__(self, subject: Subject) -> None:
        self.callees: dict[str, dict[str, set[int]]] = {}
        for found in subject.edges():
            lines = self.callees.setdefault(found.caller, {}).setdefault(found.callee, set())
            lines.update(site.line for site in found.sites)
        for symbol in subject.symbols.values():
            # what is written inside a method happens in it: lambdas, local classes
            if symbol.kind is not Kind.MODULE and symbol.kind not in CLASS_KINDS:
                outer = self.callees.setdefault(symbol.parent, {})
                outer.setdefault(symbol.id, set()).update(
                    range(symbol.start_line, symbol.end_line + 1)
                )

    def __call__(self, caller: str, target: str, line: int, direct: bool) -> bool:
        first = {
            callee
            for callee, lines in self.callees.get(caller, {}).items()
            if not line or line in lines
        }
        if direct or target in first:
            return target in first
        known, frontier = set(first), first
        for _ in range(MAX_HOPS):
            frontier = {
                callee for symbol in frontier for callee in self.callees.get(symbol, {})
            } - known
            known |= frontier
        return target in known
