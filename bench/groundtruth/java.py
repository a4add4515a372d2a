"""Java's own spelling of classes and methods, matched to symbols of an indexed case; SWARM-CG's
truths in it.

SWARM-CG's truths are `package.Class:method(types) -> [the same]`.

A truth lists only the calls that its case is about: found edges count as wrong only for callers
that it lists, as in that benchmark's own scorer, and constructors only where it speaks of them.
Methods of the platform do not count; what a lambda calls is called by the method around it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from bench.groundtruth.score import CaseResult, compare, edge, failed
from bench.groundtruth.subject import Subject, copied
from tersely.code.symbols import CLASS_KINDS, Kind, Symbol

PACKAGE = re.compile(r"^\s*package\s+([\w.]+)\s*;", re.MULTILINE)
TYPE_ARGUMENTS = re.compile(r"<[^<>]*>")
ANNOTATION = re.compile(r"@[\w.]+(\([^()]*\))?\s*|\bfinal\s+")
REDEFINITION = re.compile(r"#\d+$")
CONSTRUCTOR = "<init>"
TRUTH = "callgraph.json"
METHOD = re.compile(r"^(?P<owner>[\w.$]+):(?P<name>[\w$<>]+)\((?P<types>.*)\)$")


class JavaNames:
    """Classes of a case by `package.Outer.Inner`, methods by class, name and the simple names of
    parameter types.
    """

    def __init__(self, subject: Subject) -> None:
        self.subject = subject
        self.texts = {path: subject.text(path) for path in subject.paths()}
        self.classes = {self.class_name(symbol): symbol for symbol in self._of(CLASS_KINDS)}

    def _of(self, kinds: Iterable[Kind]) -> list[Symbol]:
        wanted = frozenset(kinds)
        return [symbol for symbol in self.subject.symbols.values() if symbol.kind in wanted]

    def class_name(self, symbol: Symbol) -> str:
        """Fully qualified name of a class."""
        package = PACKAGE.search(self.texts[symbol.path])
        plain = ".".join(REDEFINITION.sub("", part) for part in symbol.qualname.split("."))
        return f"{package[1]}.{plain}" if package else plain

    def methods(self, class_name: str, method: str) -> list[Symbol]:
        """Methods of that name in a class; `<init>` is its constructors."""
        owner = self.classes.get(class_name)
        if owner is None:
            return []
        wanted = owner.name if method == CONSTRUCTOR else method
        return [
            child
            for child in self.subject.children(owner.id)
            if REDEFINITION.sub("", child.name) == wanted
        ]

    def method(self, class_name: str, method: str, parameters: list[str] | None) -> str:
        """Id of one method; a constructor that is not written is its class; "" if the case defines
        none.

        `parameters` are types as a truth spells them; they matter only among overloads.
        """
        found = self.methods(class_name, method)
        if not found and method == CONSTRUCTOR and class_name in self.classes:
            return self.classes[class_name].id
        if len(found) > 1 and parameters is not None:
            wanted = [simple(parameter) for parameter in parameters]
            found = [symbol for symbol in found if self.parameters(symbol) == wanted] or found
        return found[0].id if found else ""

    def parameters(self, symbol: Symbol) -> list[str]:
        """Simple type names of a method's parameters, from its header."""
        source = self.texts[symbol.path].encode()
        header = source[symbol.start_byte : symbol.signature_end_byte].decode(errors="replace")
        name = REDEFINITION.sub("", symbol.name)
        match = re.search(rf"\b{re.escape(name)}\s*\(([^{{]*)\)", header)
        return parameter_types(match[1]) if match else []


def parameter_types(listed: str) -> list[str]:
    """`final List<String> a, int... b` gives `["List", "int[]"]`."""
    plain = ANNOTATION.sub("", listed)
    while TYPE_ARGUMENTS.search(plain):
        plain = TYPE_ARGUMENTS.sub("", plain)
    parts = [part.split() for part in plain.split(",") if part.strip()]
    return [simple(" ".join(part[:-1]).replace("...", "[]")) for part in parts]


def simple(type_name: str) -> str:
    """`java.lang.String` gives `String`."""
    return type_name.strip().rpartition(".")[2]


def from_descriptor(descriptor: str) -> str:
    """`Lvc/Outer$Inner;` gives `vc.Outer.Inner`."""
    return descriptor.removeprefix("L").removesuffix(";").replace("/", ".").replace("$", ".")


def run_swarm(folder: Path) -> Iterator[CaseResult]:
    """Every case below the folder."""
    for truth in sorted(folder.rglob(TRUTH)):
        yield score(truth.parent, truth.parent.relative_to(folder).as_posix())


def score(folder: Path, name: str) -> CaseResult:
    """One case against its truth."""
    truth: dict[str, list[str]] = json.loads((folder / TRUTH).read_text(encoding="utf-8"))
    packages = {".".join(path.parent.relative_to(folder).parts) for path in folder.rglob("*.java")}
    pairs = {
        (caller, callee)
        for caller, callees in truth.items()
        for callee in callees
        if _inside(callee, packages)
    }
    try:
        with copied(folder) as subject:
            names = JavaNames(subject)
            wanted = {(_id(names, caller), _id(names, callee)) for caller, callee in pairs}
            found = set(
                found_pairs(
                    subject, {caller for caller, _ in wanted}, {callee for _, callee in wanted}
                )
            )
            return compare(name, {edge(*pair) for pair in wanted}, {edge(*pair) for pair in found})
    except Exception as error:  # noqa: BLE001 - a crash on a case is a result of the suite
        return failed(name, {edge(*pair) for pair in pairs}, error)


def _inside(method: str, packages: set[str]) -> bool:
    owner = method.partition(":")[0]
    return any(owner.startswith(f"{package}.") for package in packages)


def _id(names: JavaNames, method: str) -> str:
    """Our id of a method; its own spelling when the case has no such symbol, so that it is seen as
    missing.
    """
    match = METHOD.match(method)
    if match is None:
        return method
    owner, name, types = match["owner"].replace("$", "."), match["name"], match["types"]
    return names.method(owner, name, [part for part in types.split(",") if part]) or method


def found_pairs(
    subject: Subject, callers: set[str], implied: set[str]
) -> Iterator[tuple[str, str]]:
    """Our edges from the listed callers."""
    for found in subject.edges(fold_anonymous=True):
        if found.caller in callers and (
            found.callee in implied or not _is_silent(subject, found.callee)
        ):
            yield found.caller, found.callee


def _is_silent(subject: Subject, callee: str) -> bool:
    """Whether truths pass over it: constructors, written or not, and lambdas."""
    symbol = subject.symbols[callee]
    owner = subject.symbols.get(symbol.parent)
    is_constructor = owner is not None and owner.kind in CLASS_KINDS and owner.name == symbol.name
    return is_constructor or symbol.kind in CLASS_KINDS or symbol.kind is Kind.LAMBDA
