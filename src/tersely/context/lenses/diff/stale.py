"""What still names something that a change has removed, renamed, moved, or given another signature."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache, partial
from itertools import islice
from typing import NamedTuple

from tersely.code.languages.registry import LANGUAGES, language_of_path
from tersely.code.nodes import Invocation
from tersely.code.places import is_test
from tersely.code.symbols import CALLABLE_KINDS, CLASS_KINDS, VALUE_KINDS, Kind, Symbol
from tersely.code.syntax.extract import parse
from tersely.context.lenses.candidate import STALE, TARGET_SCORE, Candidate, merged
from tersely.context.lenses.diff.change import ChangeSources
from tersely.context.lenses.diff.changed_symbols import (
    ASYNC,
    NEW_SIGNATURE,
    NOT_ASYNC,
    NOTHING,
    ChangedSymbol,
    FileChange,
    Side,
)
from tersely.foundation.types import replace

MAX_GONE_SYMBOLS = 200  # of a change, of which users are looked for
MAX_STALE_FILES = 100  # looked into for one name
MAX_STALE_USES = 10  # of a change, that are looked at
MAX_CALL_LINES = 200  # that one call takes
STALE_TOKENS = 40  # that a symbol with such uses takes: its heading, a line, what is said of it
_NAMED_KINDS = CALLABLE_KINDS | CLASS_KINDS | VALUE_KINDS - {Kind.FIELD}
_CALL = re.compile(rb"\s*\(")
_HOLDER = re.compile(rb"([\w$]+)\s*(?:\.|->|::)\s*$")
# What stands on a line before a call: whose result nobody takes, and whose result is taken apart.
_ALONE = re.compile(r"\s*(?:(?:await|go|defer)\s+)?(?:[\w$]+(?:\.|->|::))*")
_UNPACKS = re.compile(r",[^=()]*=(?!=)")


class _Lost(NamedTuple):
    """A symbol as it was, what is said of it, and of which uses: all, calls, or others."""

    symbol: Symbol
    what: str
    is_called: bool | None = None


# What others call or read in another way, by its kinds before and now.
_TURNED = {
    (Kind.PROPERTY, Kind.METHOD): ("is a method now", False),
    (Kind.METHOD, Kind.PROPERTY): ("is a property now", True),
}


class StaleUse(NamedTuple):
    """A line that uses something as it was before the change."""

    path: str
    line: int
    what: str


Uses = Mapping[Symbol, Mapping[int, str]]  # what is said of lines, by the symbols around them


def stale_uses(
    changes: Sequence[FileChange], changed: Sequence[ChangedSymbol], sources: ChangeSources
) -> Uses:
    """Such lines, in the order of what changed."""
    lines: dict[Symbol, dict[int, str]] = {}
    for use in islice(found_uses(changes, changed, sources), MAX_STALE_USES):
        symbols = sources.symbols_of(use.path)
        if symbols:
            symbol = Side(use.path, b"", symbols).owners(use.line)[use.line]
            lines.setdefault(symbol, {}).setdefault(use.line, use.what)
    return lines


def found_uses(
    changes: Sequence[FileChange], changed: Sequence[ChangedSymbol], sources: ChangeSources
) -> Iterator[StaleUse]:
    """All of them: first of what is gone, by name, then of what calls do not fit."""
    yield from _of_what_is_gone(changes, changed, sources)
    yield from _of_files(changes, sources)
    yield from _of_signatures(changes, changed, sources)


def stale_candidates(uses: Uses, known: Iterable[Candidate]) -> list[Candidate]:
    """The symbols, each with such lines. Those that are known as candidates keep what is chosen of
    them.
    """
    as_known = {one.symbol.id: one for one in known if not one.is_gone}
    return [_with_lines(as_known.get(symbol.id), symbol, found) for symbol, found in uses.items()]


def _with_lines(known: Candidate | None, symbol: Symbol, found: Mapping[int, str]) -> Candidate:
    said = "; ".join(f"{what}: {symbol.path}:{line}" for line, what in found.items())
    own = [(line, line) for line in found]
    if known is None:
        return Candidate(symbol, TARGET_SCORE, STALE, evidence=said, parts=merged(own))
    is_whole = not known.parts and (known.change is not None or known.whole_only)
    parts = () if is_whole else merged([*own, *known.parts])
    return replace(known, score=TARGET_SCORE, reason=STALE, evidence=said, parts=parts)


def _of_what_is_gone(
    changes: Sequence[FileChange], changed: Sequence[ChangedSymbol], sources: ChangeSources
) -> Iterator[StaleUse]:
    """The uses of what others could name: what was local to a function they could not, and of what
    was in a class that is gone it is enough to name the class.
    """
    hidden = {one.symbol.id for one in changed if one.is_gone and one.symbol.kind in CLASS_KINDS}
    hidden |= {
        one.id
        for change in changes
        if change.before
        for one in change.before.symbols
        if one.kind in CALLABLE_KINDS
    }
    brought = {
        (one.symbol.name, one.symbol.kind): one.symbol.path
        for one in changed
        if one.was is None and not one.is_gone
    }
    for lost in islice(_lost(changed, brought, sources), MAX_GONE_SYMBOLS):
        symbol = lost.symbol
        is_hidden = symbol.parent in hidden
        if is_hidden or symbol.kind not in _NAMED_KINDS or not symbol.name.isidentifier():
            continue
        others = {
            path
            for path in sources.defining(symbol.name)
            if any(
                one.name == symbol.name and one.kind is not Kind.MODULE
                for one in sources.symbols_of(path)
            )
        }
        mentioning = sorted(sources.files_mentioning(symbol.name))[:MAX_STALE_FILES]
        giving = _giving(symbol, mentioning, sources)
        for path in mentioning:
            if is_test(path) or not is_test(symbol.path):
                rivals = [one for one in others if is_test(path) or not is_test(one)]
                may_mean = _may_mean(path, symbol, rivals, giving, sources)
                if may_mean or symbol.parent != symbol.path:
                    yield from _uses_in(path, lost, sources, rivals, giving, by_name=may_mean)


def _lost(
    changed: Sequence[ChangedSymbol],
    brought: Mapping[tuple[str, Kind], str],
    sources: ChangeSources,
) -> Iterator[_Lost]:
    """What cannot be had any more from where it was, or is used in another way."""
    for one in changed:
        was = one.symbol if one.is_gone else one.was
        if was is None:
            continue
        if one.is_gone and any(
            (each.parent, each.name) == (was.parent, was.name)
            for each in sources.symbols_of(was.path)
        ):
            continue  # calls of the name may mean another
        place = brought.get((was.name, was.kind), was.path)
        if one.symbol.name == was.name and not one.is_gone:
            if turned := _TURNED.get((was.kind, one.symbol.kind)):
                yield _Lost(was, *turned)
        elif place == was.path:
            yield _Lost(was, "is gone")
        elif was.name not in sources.aliases_of(was.path):
            yield _Lost(was, f"is in {place} now")


def _of_files(changes: Sequence[FileChange], sources: ChangeSources) -> Iterator[StaleUse]:
    """The imports that name a file which has another path now, or none."""
    left = {one.diff.old_path: one.diff.path for one in changes}
    for old, new in left.items():
        if old and old != new and old not in sources.paths:
            what = f"imports `{old}`, which is {f'{new} now' if new else 'gone'}"
            for path, line in sources.imports_of_left(old):
                yield StaleUse(path, line, what)


def _giving(symbol: Symbol, mentioning: Collection[str], sources: ChangeSources) -> Collection[str]:
    """The files by way of which others could import a symbol: its own, and those that import it."""
    found, new = {symbol.path}, {symbol.path}
    while new and symbol.parent == symbol.path:
        importing = (one for one in mentioning if symbol.name in sources.aliases_of(one))
        new = {one for one in importing if found & sources.imports_of(one)} - found
        found |= new
    return found


def _may_mean(
    path: str,
    symbol: Symbol,
    rivals: Collection[str],
    giving: Collection[str],
    sources: ChangeSources,
) -> bool:
    """True if a file that names a symbol which is gone can mean nothing else: no other of the name
    is defined but in tests, which only tests use, or the file imports from what gave it.
    """
    taken = sources.imports_of(path)
    is_member = symbol.parent != symbol.path
    common = LANGUAGES[symbol.language].resolution.common_members
    if is_member and (symbol.name in common or path in rivals or not taken.isdisjoint(rivals)):
        return False
    return not rivals or path == symbol.path or not taken.isdisjoint(giving)


def _uses_in(
    path: str,
    lost: _Lost,
    sources: ChangeSources,
    rivals: Collection[str],
    giving: Collection[str],
    *,
    by_name: bool,
) -> Iterator[StaleUse]:
    """The lines of a file that have the name as a word of code, and not for a value of a function;
    where others have it too, as it is imported, or as a member of what is. What is imported has it
    if it is from the files that are `giving` it. A member is one of the class where the object is
    known, else `by_name`.
    """
    symbol, text = lost.symbol, sources.text_of(path)
    name, aliases = symbol.name, sources.aliases_of(path)
    found = list(_as_code(path, text, name.encode()))
    if not found:
        return
    symbols = sources.symbols_of(path)
    defined = {one.name_line for one in symbols if one.name == name}
    owners = Side(path, text, symbols).owners(text.count(b"\n") + 1)
    is_member = symbol.parent != symbol.path
    members = dict(sources.members(path, symbol.parent, name) if is_member else ())
    for word in found:
        line = word.lines.start
        if line in defined:
            continue
        is_call = bool(_CALL.match(text, word.end))
        if lost.is_called is not None and is_call is not lost.is_called:
            continue
        before = text[text.rfind(b"\n", 0, word.start) + 1 : word.start]
        holder = _HOLDER.search(before)
        if not holder and name in sources.locals_of(owners[line]):
            continue
        given = holder[1].decode("utf-8", "replace") if holder else name
        is_own = path == symbol.path and not holder and b"import" not in before
        is_there = symbol.path in sources.paths and given in aliases
        is_other = is_there and sources.imported(path, given).isdisjoint(giving)
        if not (members.get(line, by_name and not is_other) if is_member else not is_other):
            continue
        if rivals and not is_member and not (given in aliases or is_own):
            continue
        what = f"still {'calls' if is_call else 'names'} `{name}`, which {lost.what}"
        yield StaleUse(path, line, what)


class _Word(NamedTuple):
    """A word of code, from one byte to another, and the lines, from 1 on, of what it begins, as a
    call.
    """

    start: int
    end: int
    lines: range


def _as_code(path: str, text: bytes, word: bytes) -> Iterator[_Word]:
    """The places of a file where a word stands by itself, and in no comment or text."""
    language = language_of_path(path)
    if language is None:
        return
    root = parse(text, LANGUAGES[language]).root_node
    for match in re.finditer(rb"(?<![\w$])" + re.escape(word) + rb"(?![\w$])", text):
        start, end = match.span()
        leaf = root.descendant_for_byte_range(start, end)
        if leaf and leaf.text == word:
            around = leaf
            while around.end_byte <= end and around.parent:
                around = around.parent
            last = min(around.end_point[0] + 1, leaf.start_point[0] + MAX_CALL_LINES)
            yield _Word(start, end, range(leaf.start_point[0] + 1, last + 1))


def _of_signatures(
    changes: Sequence[FileChange], changed: Sequence[ChangedSymbol], sources: ChangeSources
) -> Iterator[StaleUse]:
    """The calls of what has other parameters that the change has left as they were."""
    written = {
        (one.diff.path, line)
        for one in changes
        for hunk in one.diff.hunks
        for line in range(hunk.new_first, hunk.new_first + len(hunk.added))
    }
    for one in changed:
        names = (one.symbol.name, one.symbol.parent.rpartition(":")[2].rpartition(".")[2])
        lines_of = lru_cache(1)(partial(_lines_of_calls, names=names, sources=sources))
        for path, call, shift in sources.passings(one.symbol.id) if one.news else ():
            lines = lines_of(path).get(call.line, (call.line,))
            is_adapted = any((path, line) in written for line in lines)
            if not is_adapted and _minds(one, call, shift, _line_of(path, call.line, sources)):
                yield StaleUse(path, call.line, f"calls `{one.symbol.name}`, which {one.news}")


def _lines_of_calls(path: str, names: Sequence[str], sources: ChangeSources) -> dict[int, range]:
    """The lines of what some names begin in a file, by the first."""
    text = sources.text_of(path)
    words = (word for name in names if name for word in _as_code(path, text, name.encode()))
    return {word.lines.start: word.lines for word in sorted(words)}


def _line_of(path: str, line: int, sources: ChangeSources) -> str:
    return sources.text_of(path).split(b"\n")[line - 1].decode("utf-8", "replace")


def _minds(changed: ChangedSymbol, call: Invocation, shift: int, line: str) -> bool:
    """True if a call has to do with what is new about a function; by its line, what becomes of what
    the function gives.
    """
    if changed.news in {ASYNC, NOT_ASYNC}:
        return ("await" in line) is (changed.news == NOT_ASYNC)
    before = re.split(rf"\b{re.escape(changed.symbol.name)}\b", line)[0]
    is_used = not _ALONE.fullmatch(before)
    if changed.news == NEW_SIGNATURE and changed.scopes is not None:
        from tersely.context.lenses.diff.fitting import fits, gives_other  # few changes need it

        language, (was, now) = LANGUAGES[changed.symbol.language], changed.scopes
        if (
            is_used
            and language.checks_types
            and all(gives_other(was, one, language) for one in now)
        ):
            return True
        return shift >= 0 and not any(fits(call, shift, was, one, language) for one in now)
    return is_used if changed.news == NOTHING else bool(_UNPACKS.search(before))
