"""Truths in PyCG's format: a JSON object of `dotted caller -> [dotted callees]` beside each
program.

What is agreed, for every suite in this format:
- only edges between definitions of the case count; builtins, foreign packages and names that the
  program does not
  even contain do not;
- calling a class is calling its constructor, and nothing when it has none of its own;
- the body of a module is a caller under the module's name;
- anonymous functions are numbered within what encloses them, or bear the name of the variable that
  is declared with
  them; one that the truth does not speak of belongs to what encloses it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from bench.groundtruth.score import CaseResult, edge, judged
from bench.groundtruth.subject import Subject, copied
from tersely.code.symbols import Kind, Symbol

TRUTH = "callgraph.json"
REDEFINITION = re.compile(r"#\d+$")
WORD = re.compile(r"\w+")
DECLARED = re.compile(r"^\s*(?:export\s+)?(?:const|let|var)\s+(\w+)\s*=")

Pair = tuple[str, str]


@dataclass(frozen=True, slots=True)
class Style:
    """How the truths of one language spell names."""

    suffixes: tuple[str, ...]
    package_file: str  # the file, without suffix, that stands for its folder
    constructors: tuple[str, ...]
    anonymous: str  # `<anonymous1>`, `<anonymous2>`, …

    def module(self, path: str) -> str:
        """Dotted name of a file."""
        pure = PurePosixPath(path).with_suffix("")
        if pure.name == self.package_file and len(pure.parts) > 1:
            pure = pure.parent
        return ".".join(pure.parts)


PYTHON = Style((".py",), "__init__", ("__init__",), "lambda")
JAVASCRIPT = Style((".js",), "index", ("constructor",), "arrow")


def run(
    style: Style, programs: str = ".", truths: str = "."
) -> Callable[[Path], Iterator[CaseResult]]:
    """Every case of a suite; programs and truths may lie in two trees of equal shape."""

    def cases(folder: Path) -> Iterator[CaseResult]:
        for truth in sorted((folder / truths).rglob(TRUTH)):
            name = truth.parent.relative_to(folder / truths)
            yield score(_program(folder / programs, name), truth, name.as_posix(), style)

    return cases


def _program(root: Path, name: Path) -> Path:
    """The folder of a case; one suite writes a category once with a space and once with an
    underscore.
    """
    spaced = (
        path
        for path in root.glob(f"*/{name.name}")
        if path.parent.name.replace(" ", "_") == name.parent.name
    )
    return root / name if (root / name).is_dir() else next(spaced, root / name)


def score(folder: Path, truth_file: Path, name: str, style: Style) -> CaseResult:
    """One case against its truth."""
    sources = [
        path for path in folder.rglob("*") if path.is_file() and path.suffix in style.suffixes
    ]
    modules = {
        style.module(path.relative_to(folder).as_posix()): set(
            WORD.findall(path.read_text(encoding="utf-8"))
        )
        for path in sources
    }
    truth = json.loads(truth_file.read_text(encoding="utf-8"))
    expected = {edge(*pair) for pair in truth_edges(truth, modules)}

    def find_edges() -> set[str]:
        with copied(folder) as subject:
            return {edge(*pair) for pair in Names(subject, style, vocabulary(truth)).edges()}

    return judged(name, expected, find_edges)


def truth_edges(truth: dict[str, list[str]], modules: Mapping[str, AbstractSet[str]]) -> set[Pair]:
    """The edges of a truth whose both ends are defined in the case. `modules` holds the words of
    each file.
    """

    def defined(name: str) -> bool:
        last = WORD.findall(name)[-1]
        return any(
            name == module
            or (
                name.startswith((f"{module}.", f"{module}["))
                and (last in words or name.endswith(">"))
            )
            for module, words in modules.items()
        )

    return {
        (plain(caller), plain(callee))
        for caller, callees in truth.items()
        for callee in callees
        if defined(caller) and defined(callee)
    }


def vocabulary(truth: dict[str, list[str]]) -> set[str]:
    """Every name that a truth speaks of."""
    return {
        plain(name)
        for name in (*truth, *(callee for callees in truth.values() for callee in callees))
    }


def plain(name: str) -> str:
    """Truths write a computed member both `Cls[key]` and `Cls.[key]`."""
    return name.replace(".[", "[")


class Names:
    """Our symbols in the words of one truth."""

    def __init__(self, subject: Subject, style: Style, spoken: set[str]) -> None:
        self.subject = subject
        self.style = style
        self.spoken = spoken
        self.lines = {path: subject.text(path).splitlines() for path in subject.paths()}

    def edges(self) -> Iterator[Pair]:
        """Our edges, dotted."""
        for found in self.subject.edges():
            callee = self.subject.constructor(found.callee, self.style.constructors)
            caller_name, callee_name = (
                self.name(found.caller, folds=True),
                self.name(callee) if callee else "",
            )
            if caller_name and callee_name:
                yield caller_name, callee_name

    def name(self, symbol_id: str, folds: bool = False) -> str:
        """Dotted name of a symbol, "" for an anonymous function of which the truth does not speak.

        With `folds`, such a function goes by the name of what encloses it.
        """
        symbol = self.subject.symbols[symbol_id]
        if symbol.kind is Kind.MODULE:
            return self.style.module(symbol.path)
        outer = self.name(symbol.parent, folds=True)
        if symbol.kind is not Kind.LAMBDA:
            exact = plain(f"{outer}.{REDEFINITION.sub('', symbol.name)}")
            qualified = plain(f"{outer}.{self._path(symbol)}")
            if qualified in self.spoken:
                return qualified
            return self._arrow_name(symbol, outer) if exact not in self.spoken else exact
        candidates = [f"{outer}.{name}" for name in (self._number(symbol), self._declared(symbol))]
        spoken = next((name for name in candidates if name in self.spoken), "")
        return spoken or (outer if folds else "")

    def _path(self, symbol: Symbol) -> str:
        """The qualified name within what encloses a symbol: objects without a symbol of their own
        are part of it.
        """
        parent = self.subject.symbols.get(symbol.parent)
        prefix = f"{parent.qualname}." if parent is not None and parent.qualname else ""
        return REDEFINITION.sub("", symbol.qualname.removeprefix(prefix))

    def _arrow_name(self, symbol: Symbol, outer: str) -> str:
        """Truths that number anonymous functions do so even when a variable names them."""
        numbered = f"{outer}.{self._number(symbol)}" if symbol.kind is Kind.FUNCTION else ""
        return (
            numbered
            if numbered in self.spoken
            else plain(f"{outer}.{REDEFINITION.sub('', symbol.name)}")
        )

    def _number(self, symbol: Symbol) -> str:
        siblings = [
            child for child in self.subject.children(symbol.parent) if self._is_anonymous(child)
        ]
        position = siblings.index(symbol) + 1 if symbol in siblings else 0
        return f"<{self.style.anonymous}{position}>"

    def _is_anonymous(self, symbol: Symbol) -> bool:
        first_line = self.lines[symbol.path][symbol.start_line - 1]
        return symbol.kind is Kind.LAMBDA or (
            "=>" in first_line and bool(DECLARED.match(first_line))
        )

    def _declared(self, symbol: Symbol) -> str:
        found = DECLARED.match(self.lines[symbol.path][symbol.start_line - 1])
        return found[1] if found else ""
