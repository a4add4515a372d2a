"""SWARM-CG's Java cases: `package.Class:method(types) -> [the same]`.

A truth lists only the calls that its case is about: found edges count as wrong only for callers that it lists, as in
that benchmark's own scorer, and constructors only where it speaks of them. Methods of the platform do not count; what a
lambda calls is called by the method around it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

from bench.groundtruth.java_names import JavaNames
from bench.groundtruth.score import CaseResult, compare, edge, failed
from bench.groundtruth.subject import Subject, copied
from tersely.code.symbols import CLASS_KINDS, Kind

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
    """Our edges from the listed callers."""
    for found in subject.edges(fold_anonymous=True):
        if found.caller in callers and (found.callee in implied or not _is_silent(subject, found.callee)):
            yield found.caller, found.callee


def _is_silent(subject: Subject, callee: str) -> bool:
    """Whether truths pass over it: constructors, written or not, and lambdas."""
    symbol = subject.symbols[callee]
    owner = subject.symbols.get(symbol.parent)
    is_constructor = owner is not None and owner.kind in CLASS_KINDS and owner.name == symbol.name
    return is_constructor or symbol.kind in CLASS_KINDS or symbol.kind is Kind.LAMBDA
