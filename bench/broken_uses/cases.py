"""A commit cut in two: the definitions that it changes, and the uses of them that it changes too."""

from __future__ import annotations

import ast
import inspect
import re
import subprocess
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, NamedTuple

from bench.scratch import git
from tersely.code.index.history.patch import FileDiff, Hunk, patched, read_patch
from tersely.code.languages.registry import LANGUAGES, language_of_path
from tersely.code.places import is_test
from tersely.code.symbols import CALLABLE_KINDS, CLASS_KINDS, VALUE_KINDS, Kind, Symbol
from tersely.code.syntax.extract import parse
from tersely.context.lenses.diff.changed_symbols import side_of

_KINDS = CALLABLE_KINDS | CLASS_KINDS | VALUE_KINDS - {Kind.FIELD}
_CONSTRUCTORS = ("__init__", "constructor")
_MAX_FILES = 40  # of a commit
_LEAST_NAME = 3  # characters of a name whose mentions are looked for

# The errors of mypy and tsc that are about a name, or about how many arguments there are.
_BROKEN = re.compile(
    r"\[(?:call-arg|attr-defined|name-defined)\]$|error TS(?:2304|2305|2339|255[1-5]|2614|2724):"
)

Place = tuple[str, int]  # a path and a line


class Definition(NamedTuple):
    """A definition that is gone, or has another header: the name that others use, and where it is
    now, None if it is gone.
    """

    name: str
    symbol: Symbol
    now: Symbol | None


@dataclass(slots=True)
class Side:
    """A file of a commit: before, after, and as its definitions alone leave it."""

    diff: FileDiff
    before: bytes
    after: bytes
    taken: list[Hunk] = field(default_factory=list)

    @property
    def path(self) -> str:
        """The path, also of a file that is gone."""
        return self.diff.path or self.diff.old_path

    def now(self, line: int) -> int:
        """The number that a line of before has when the definitions have changed."""
        moved = (len(one.added) - len(one.removed) for one in self.taken if one.old_first <= line)
        return line + sum(moved)


class Case(NamedTuple):
    """A commit: its files, the definitions that it changes, and the uses that it changes."""

    commit: str
    sides: list[Side]
    changed: list[Definition]
    uses: set[Place]  # as numbered when the definitions have changed


def case_of(clone: Path, commit: str) -> Case | None:
    """The case that a commit makes, None where it changes no definition together with its uses."""
    patch = git(clone, "diff", "--no-renames", "--full-index", "-U0", f"{commit}~1", commit)
    diffs = [one for one in read_patch(patch) if one.hunks and _language(one)]
    if not diffs or len(diffs) > _MAX_FILES:
        return None
    sides = [_side(clone, commit, one) for one in diffs]
    changed = [one for side in sides if not is_test(side.path) for one in _changed(side)]
    uses = {place for side in sides for one in changed for place in _uses(side, one, sides)}
    return Case(commit, sides, changed, uses) if uses else None


def set_up(tree: Path, case: Case) -> None:
    """Make a tree that of before with the definitions of the commit."""
    git(tree, "checkout", "--quiet", "--force", "--detach", f"{case.commit}~1")
    git(tree, "clean", "-fdq", "-e", "node_modules", "-e", ".mypy_cache")
    for side in case.sides:
        if not side.taken:
            continue
        text = patched(side.before, replace(side.diff, hunks=tuple(side.taken)))
        place = tree / side.path
        if not side.diff.path and len(side.taken) == len(side.diff.hunks):
            place.unlink()
        else:
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(text or b"")


def _language(diff: FileDiff) -> bool:
    return language_of_path(diff.path or diff.old_path) is not None


def _side(clone: Path, commit: str, diff: FileDiff) -> Side:
    before = git(clone, "show", f"{commit}~1:{diff.old_path}") if diff.old_path else b""
    return Side(diff, before, git(clone, "show", f"{commit}:{diff.path}") if diff.path else b"")


def _symbols(side: Side, text: bytes) -> Sequence[Symbol]:
    return side_of(side.path, text).symbols[1:]


def _header(symbol: Symbol, text: bytes) -> list[bytes]:
    words = text[symbol.start_byte : symbol.signature_end_byte].partition(symbol.name.encode())[2]
    return re.findall(rb"\w+|[^\w\s,]", words)


def _changed(side: Side) -> Iterator[Definition]:
    """The definitions of a file that are others, or gone; the hunks that make them so are taken."""
    old, new = _symbols(side, side.before), _symbols(side, side.after)
    after = {one.qualname: one for one in reversed(new)}
    before = {one.qualname for one in old}
    functions = {one.id for one in old if one.kind in CALLABLE_KINDS}
    ranges: list[tuple[int, int]] = []
    for one in old:
        now = after.get(one.qualname)
        is_same = now is not None and (
            one.kind not in CALLABLE_KINDS
            or (_header(one, side.before) == _header(now, side.after) and one.kind is now.kind)
        )
        if one.kind not in _KINDS or one.parent in functions or is_same:
            continue
        ranges.append((one.start_line, _end(one)))
        name = one.qualname.split(".")[-2] if one.name in _CONSTRUCTORS else one.name
        if len(name) >= _LEAST_NAME and name.isidentifier() and not name.startswith("__"):
            yield Definition(name, one, now)
    known = {one.qualname: one for one in old}
    changes = [
        one
        for one in new
        if one.qualname not in before
        or (one.kind in CALLABLE_KINDS
            and _header(known[one.qualname], side.before) != _header(one, side.after))
    ]  # fmt: skip
    others = [(one.start_line, _end(one)) for one in changes if one.kind in _KINDS]
    side.taken = [
        one
        for one in side.diff.hunks
        if _meets(ranges, one.old_first, len(one.removed))
        or _meets(others, one.new_first, len(one.added))
    ]


def _end(symbol: Symbol) -> int:
    """The last line that belongs to a definition itself; of a class its header."""
    return symbol.name_line if symbol.kind in CLASS_KINDS else symbol.end_line


def _meets(ranges: Sequence[tuple[int, int]], first: int, length: int) -> bool:
    """True if lines, or a gap before a line, are within one of some ranges."""
    last = first + length - 1 if length else first
    begin = first if length else first - 1
    return any(
        begin <= end and start <= last and (length or start <= begin) for start, end in ranges
    )


def _uses(side: Side, changed: Definition, sides: Sequence[Side]) -> Iterator[Place]:
    left = [one for one in side.diff.hunks if one not in side.taken]
    for first, last, is_call in mentions(side.path, side.before, changed.name):
        touched = any(_meets([(first, last)], one.old_first, len(one.removed)) for one in left)
        own = any(_meets([(first, first)], one.old_first, len(one.removed)) for one in side.taken)
        if not touched or own or (changed.now is not None and not is_call):
            continue
        if changed.now is None or not _still_fits(side, changed, first, sides):
            yield side.path, side.now(first)


def mentions(path: str, text: bytes, name: str) -> Iterator[tuple[int, int, bool]]:
    """The words of code in a file that are a name: the first and last line of each, with what is in
    brackets behind it, and whether there is any.
    """
    language = language_of_path(path)
    if language is None or name.encode() not in text:
        return
    defined = {one.name_line for one in side_of(path, text).symbols[1:] if one.name == name}
    root = parse(text, LANGUAGES[language]).root_node
    for match in re.finditer(rb"(?<![\w$])" + re.escape(name.encode()) + rb"(?![\w$])", text):
        leaf = root.descendant_for_byte_range(match.start(), match.end())
        line = text.count(b"\n", 0, match.start()) + 1
        if leaf is None or leaf.text != name.encode() or line in defined:
            continue
        end = _closing(text, match.end())
        yield line, line + text.count(b"\n", match.start(), end), end > match.end()


def _closing(text: bytes, at: int) -> int:
    """Where the brackets that begin behind a name end; the same place for none."""
    start = re.compile(rb"[ \t]*\(").match(text, at)
    if start is None:
        return at
    depth = 0
    for place in range(start.end() - 1, len(text)):
        depth += (text[place] in b"([{") - (text[place] in b")]}")
        if depth == 0:
            return place + 1
    return at


def _still_fits(side: Side, changed: Definition, line: int, sides: Sequence[Side]) -> bool:
    """True if a call in Python can be bound to the header that a definition has now."""
    assert changed.now is not None
    if changed.symbol.language != "python":
        return False
    home = next(one for one in sides if one.path == changed.symbol.path)
    try:
        was = _signature(ast.parse(home.before), changed.symbol)
        now = _signature(ast.parse(home.after), changed.now)
        calls = [
            one
            for one in ast.walk(ast.parse(side.before))
            if isinstance(one, ast.Call) and changed.name in _called(one, line)
        ]
    except SyntaxError:
        return False
    if was is None or now is None or not calls:
        return False
    return all(_binds_alike(was, now, one) for one in calls)


def _called(call: ast.Call, line: int) -> str:
    function = call.func
    if getattr(function, "end_lineno", 0) != line:
        return ""
    return function.attr if isinstance(function, ast.Attribute) else ast.unparse(function)


def _signature(tree: ast.AST, symbol: Symbol) -> inspect.Signature | None:
    for one in ast.walk(tree):
        if isinstance(one, ast.FunctionDef | ast.AsyncFunctionDef) and (
            (one.name, one.lineno) == (symbol.name, symbol.name_line)
        ):
            is_static = any(ast.unparse(d) == "staticmethod" for d in one.decorator_list)
            skipped = "." in symbol.qualname and not is_static
            return _signature_of(one.args, skipped)
    return None


def _signature_of(args: ast.arguments, skipped: bool) -> inspect.Signature:
    make = inspect.Parameter
    placed: list[Any] = [(one, make.POSITIONAL_ONLY) for one in args.posonlyargs]
    placed += [(one, make.POSITIONAL_OR_KEYWORD) for one in args.args]
    given = len(placed) - len(args.defaults)
    found = [
        make(one.arg, kind, default=make.empty if at < given else None)
        for at, (one, kind) in enumerate(placed)
    ][1 if skipped else 0 :]
    found += [make(args.vararg.arg, make.VAR_POSITIONAL)] if args.vararg else []
    found += [
        make(one.arg, make.KEYWORD_ONLY, default=make.empty if default is None else None)
        for one, default in zip(args.kwonlyargs, args.kw_defaults, strict=True)
    ]
    found += [make(args.kwarg.arg, make.VAR_KEYWORD)] if args.kwarg else []
    return inspect.Signature(found)


def _binds_alike(was: inspect.Signature, now: inspect.Signature, call: ast.Call) -> bool:
    """True if a call can be bound, and what is passed for a parameter still is."""
    is_open = any(isinstance(one, ast.Starred) for one in call.args)
    is_open |= any(one.arg is None for one in call.keywords)
    named = {one.arg: one.arg for one in call.keywords if one.arg}
    placed = [at for at, one in enumerate(call.args) if not isinstance(one, ast.Starred)]
    try:
        before, after = (
            (each.bind_partial if is_open else each.bind)(*placed, **named).arguments
            for each in (was, now)
        )
    except TypeError:
        return False
    common = was.parameters.keys() & now.parameters.keys()
    return all(before.get(name) == after.get(name) for name in common)


def refused(tree: Path, language: str, path: str) -> set[Place]:
    """The lines in which a checker of types finds errors: mypy, tsc, or go/types."""
    commands = {
        "python": "python -m mypy --check-untyped-defs --ignore-missing-imports --follow-imports=silent"
        " --no-error-summary --hide-error-context --show-absolute-path"
        " --explicit-package-bases --namespace-packages .",
        "typescript": "tsc --noEmit --allowJs --checkJs --skipLibCheck --target esnext --jsx react-jsx"
        " --module esnext --moduleResolution bundler --allowImportingTsExtensions $(git ls-files '*.js' '*.ts' '*.tsx'"
        " '*.mjs' | grep -v -e '^dist/' -e min.js)",
        "go": f"go run {Path(__file__).with_name('check.go')} {tree}",
    }
    environment = {"PATH": path, "HOME": str(tree.parent), "GOFLAGS": "-mod=mod", "MYPYPATH": "src"}
    done = subprocess.run(
        commands[language], shell=True, cwd=tree, env=environment, capture_output=True, text=True,
        check=False,
    )  # fmt: skip
    lines = (one for one in done.stdout.splitlines() if language == "go" or _BROKEN.search(one))
    found = (re.match(r"([^\s:(]+)[:(](\d+)", one) for one in lines)
    return {(one[1].removeprefix(f"{tree}/"), int(one[2])) for one in found if one}
