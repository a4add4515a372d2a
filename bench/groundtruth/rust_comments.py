"""The Rust call graph benchmark: a comment above each call says what it calls.

    // static method call (inherent)
    // structs::lib::One::method_1
    let num1 = One::method_1();

Only commented calls are judged. The call is on the first line below its comment that writes the target's name. Where
the comment names a trait's method, its implementations are right as well: the benchmark asks of dynamic dispatch no
more than soundness, for which it takes "all overriding methods of the trait's implementations" or fewer. A method
without a body is not run: what runs is one of these.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from bench.groundtruth.score import CaseResult, edge, failed
from bench.groundtruth.subject import Subject, copied

COMMENT = re.compile(r"^\s*//\s?(.*)$")
CALL = re.compile(r"^(?:static|instance)\b.* call\b")
GENERIC = re.compile(r"(?:::)?<[^<>]*>")
ADDRESS = re.compile(r"^\w+(?:::\w+)*::(?:\{impl \w+ for \w+\}::)?\w+$")
OPENING = re.compile(
    r"^(?P<indent>\s*)(?:pub(?:\([^)]*\))?\s+)?(?:"
    r"mod\s+(?P<module>\w+)\s*\{|trait\s+(?P<trait>\w+)|fn\s+(?P<function>\w+)"
    r"|impl\s*(?:<.*?>)?\s+(?:(?P<of>[\w:]+)(?:<[^>]*>)?\s+for\s+)?(?P<type>[\w:]+))"
)
RENAMED = re.compile(r"^\s*use [\w:]*?(?P<name>\w+) as (?P<alias>\w+);", re.MULTILINE)
TARGET_LINE = 1  # the line of a comment, from 0, that names the target

Place = tuple[str, int]  # path and line


@dataclass(frozen=True, slots=True)
class Commented:
    """One call with its comment."""

    path: str
    line: int
    target: str


@dataclass(frozen=True, slots=True)
class Function:
    """Where a function is defined and how comments spell it."""

    address: str
    name: str
    trait: str  # the trait that it belongs to or implements a method of
    is_declared: bool  # without a body

    @property
    def is_of_trait(self) -> bool:
        """Whether it stands in its trait."""
        return bool(self.trait) and f"::{self.trait}::" in self.address

    def implements(self, other: Function) -> bool:
        """Whether it implements a method that stands in a trait."""
        return other.is_of_trait and (self.name, self.trait) == (other.name, other.trait)


def run(folder: Path) -> Iterator[CaseResult]:
    """One case a package; they are indexed together because they call each other."""
    sources = sorted(folder.rglob("*.rs"))
    texts = {path.relative_to(folder).as_posix(): path.read_text(encoding="utf-8") for path in sources}
    functions = {place: function for path, text in texts.items() for place, function in functions_of(path, text)}
    known = {function.address for function in functions.values()}
    calls = [call for path, text in texts.items() for call in commented(path, text) if call.target in known]
    packages = sorted({call.path.partition("/")[0] for call in calls})
    try:
        with copied(folder) as subject:
            found = _found(subject)
            for package in packages:
                yield _judge(package, [call for call in calls if call.path.startswith(f"{package}/")], found, functions)
    except Exception as error:  # noqa: BLE001 - a crash on a case is a result of the suite
        yield failed("all packages", [edge(f"{call.path}:{call.line}", call.target) for call in calls], error)


def commented(path: str, text: str) -> Iterator[Commented]:
    """Every call that a comment explains."""
    block: list[str] = []
    lines = text.splitlines()
    for number, line in enumerate(lines, 1):
        if match := COMMENT.match(line):
            block.append(match[1].strip())
            continue
        start = next((index for index, words in enumerate(block) if CALL.match(words)), None)
        if start is not None and start + TARGET_LINE < len(block):
            target = _plain(block[start + TARGET_LINE])
            if ADDRESS.match(target):
                yield Commented(path, number + _lines_until(lines[number - 1 :], target), target)
        block = []


def _lines_until(lines: list[str], target: str) -> int:
    """Lines from a comment to its call: the first of the paragraph that writes the name, else the first of all."""
    name = re.compile(rf"\b{target.rpartition('::')[2]}\b")
    for count, line in enumerate(lines):
        if not line.strip() or COMMENT.match(line):
            break
        if name.search(line):
            return count
    return 0


def _plain(address: str) -> str:
    while GENERIC.search(address):
        address = GENERIC.sub("", address)
    return address


def functions_of(path: str, text: str) -> Iterator[tuple[Place, Function]]:
    """Every function of a file by (path, line), read from indentation: the benchmark is formatted evenly."""
    parts = PurePosixPath(path).with_suffix("").parts  # package, "src", modules…
    top = [parts[0], *(part for part in parts[2:] if (part, len(parts)) not in {("lib", 3), ("main", 3)})]
    renamed = {match["alias"]: match["name"] for match in RENAMED.finditer(text)}
    outer: list[tuple[int, str, str]] = []  # indentation, segment of the address, trait
    for number, line in enumerate(text.splitlines(), 1):
        match = OPENING.match(line)
        if match is None:
            continue
        indent = len(match["indent"])
        while outer and outer[-1][0] >= indent:
            outer.pop()
        implemented = (match["of"] or "").rpartition("::")[2]
        trait = match["trait"] or renamed.get(implemented, implemented)
        segment = match["module"] or match["trait"] or match["function"] or match["type"].rpartition("::")[2]
        if match["of"]:
            segment = f"{{impl {implemented} for {segment}}}"
        if match["function"]:
            address = "::".join([*top, *(part for _, part, _ in outer), segment])
            yield (path, number), Function(address, segment, outer[-1][2] if outer else "", line.rstrip().endswith(";"))
        outer.append((indent, segment, trait))


def _found(subject: Subject) -> dict[Place, set[Place]]:
    """Places of callees by the place of the call."""
    found: dict[Place, set[Place]] = defaultdict(set)
    for each in subject.edges():
        callee = subject.symbols[each.callee]
        for site in each.sites:
            found[site.path, site.line].add((callee.path, callee.name_line))
    return found


def _judge(
    package: str,
    calls: list[Commented],
    found: dict[Place, set[Place]],
    functions: dict[Place, Function],
) -> CaseResult:
    agreed = 0
    missing: list[str] = []
    extra: list[str] = []
    by_address = {function.address: function for function in functions.values()}
    for call in calls:
        here = edge(f"{call.path}:{call.line}", call.target)
        reached = [functions[place] for place in found.get((call.path, call.line), ()) if place in functions]
        wanted = by_address[call.target]
        right = [each for each in reached if each.address == call.target or each.implements(wanted)]
        if any(each.address == call.target or wanted.is_declared for each in right):
            agreed += 1
        else:
            missing.append(here)
        wrong = [each for each in reached if each not in right]
        extra += [edge(f"{call.path}:{call.line}", each.address) for each in wrong]
    return CaseResult(package, agreed, tuple(missing), tuple(extra))
