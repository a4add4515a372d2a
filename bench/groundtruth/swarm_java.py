"""SWARM-CG's Java cases: `package.Class:method(types) -> [the same]`.

A truth lists only the calls that its case is about: found edges count as wrong only for callers that it lists, as in
that benchmark's own scorer. Methods of the platform do not count.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

from bench.groundtruth.java_names import JavaNames
from bench.groundtruth.score import CaseResult, compare, edge, failed
from bench.groundtruth.subject import Subject, copied
from laconic.code.symbols import CLASS_KINDS

TRUTH = "callgraph.json"
METHOD = re.compile(r"^(?P<owner>[\w.$]+):(?P<name>[\w$<>]+)\((?P<types>.*)\)$")


def run(folder: Path) -> Iterator[CaseResult]:
    """Every case below the folder."""
    for truth in sorted(folder.rglob(TRUTH)):
        yield score(truth.parent, truth.parent.relative_to(folder).as_posix())


def score(folder: Path, name: str) -> CaseResult:
    """One case against its truth."""
    truth: dict[str, list[str]] = json.loads((folder / TRUTH).read_text(encoding="utf-8"))
    packages = {".".join(path.parent.relative_to(folder).parts) for path in folder.rglob("*.java")}
    pairs = {(caller, callee) for caller, callees in truth.items() for callee in callees if _inside(callee, packages)}
    try:
        with copied(folder) as subject:
            names = JavaNames(subject)
            wanted = {(_id(names, caller), _id(names, callee)) for caller, callee in pairs}
            found = set(found_pairs(subject, {caller for caller, _ in wanted}, {callee for _, callee in wanted}))
            return compare(name, {edge(*pair) for pair in wanted}, {edge(*pair) for pair in found})
    except Exception as error:  # noqa: BLE001 - a crash on a case is a result of the suite
        return failed(name, {edge(*pair) for pair in pairs}, error)


def _inside(method: str, packages: set[str]) -> bool:
    owner = method.partition(":")[0]
    return any(owner.startswith(f"{package}.") for package in packages)


def _id(names: JavaNames, method: str) -> str:
    """Our id of a method; its own spelling when the case has no such symbol, so that it is seen as missing."""
    match = METHOD.match(method)
    if match is None:
        return method
    owner, name, types = match["owner"].replace("$", "."), match["name"], match["types"]
    return names.method(owner, name, [part for part in types.split(",") if part]) or method


def found_pairs(subject: Subject, callers: set[str], implied: set[str]) -> Iterator[tuple[str, str]]:
    """Our edges from the listed callers; a constructor that nobody wrote counts only where the truth speaks of it."""
    for found in subject.edges():
        if found.caller not in callers:
            continue
        kind = subject.symbols[found.callee].kind
        if kind not in CLASS_KINDS or found.callee in implied:
            yield found.caller, found.callee
