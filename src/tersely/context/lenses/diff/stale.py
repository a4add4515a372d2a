"""What still names something that a change has removed, renamed, moved, or given another signature."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from typing import NamedTuple

from tersely.code.languages.registry import LANGUAGES, language_of_path
from tersely.code.places import is_test
from tersely.code.symbols import CALLABLE_KINDS, CLASS_KINDS, VALUE_KINDS, Grade, Kind, Symbol
from tersely.code.syntax.extract import parse
from tersely.context.lenses.candidate import STALE, TARGET_SCORE, Candidate, merged
from tersely.context.lenses.diff.changed_symbols import (
    ASYNC,
    NOT_ASYNC,
    NOTHING,
    PARTS,
    RENAMED,
    ChangedSymbol,
    FileChange,
    Side,
)
from tersely.context.lenses.diff.evidence import ChangeSources

MAX_GONE_SYMBOLS = 200  # of a change, of which users are looked for
MAX_STALE_FILES = 100  # looked into for one name
MAX_STALE_USES = 10  # of a change, that are looked at
STALE_TOKENS = 40  # that a symbol with such uses takes: its heading, a line, what is said of it
_NAMED_KINDS = CALLABLE_KINDS | CLASS_KINDS | VALUE_KINDS - {Kind.FIELD}
_CALL = re.compile(rb"\s*\(")
_HOLDER = re.compile(rb"([\w$]+)\s*(?:\.|->|::)\s*$")
# What stands on a line before a call: whose result nobody takes, and whose result is taken apart.
_ALONE = re.compile(r"\s*(?:await\s+)?(?:[\w$]+(?:\.|->|::))*")
_UNPACKS = re.compile(r",[^=()]*=(?!=)")


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
    """The uses of what others could name: what was local to a function they could not."""
    functions = {
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
    gone = [one.symbol for one in changed if one.is_gone]
    gone += [one.was for one in changed if one.was is not None and one.was.name != one.symbol.name]
    for symbol in gone[:MAX_GONE_SYMBOLS]:
        is_local = symbol.parent in functions
        if is_local or symbol.kind not in _NAMED_KINDS or not symbol.name.isidentifier():
            continue
        place = brought.get((symbol.name, symbol.kind), symbol.path)
        if place != symbol.path and symbol.name in sources.aliases_of(symbol.path):
            continue  # it can still be had from where it was
        what = "is gone" if place == symbol.path else f"is in {place} now"
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
                if _may_mean(path, symbol, rivals, giving, sources):
                    yield from _uses_in(path, symbol, what, sources, has_rivals=bool(rivals))


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
    if is_member and (path in rivals or not taken.isdisjoint(rivals)):
        return False
    return not rivals or path == symbol.path or not taken.isdisjoint(giving)


def _uses_in(
    path: str, symbol: Symbol, what: str, sources: ChangeSources, *, has_rivals: bool
) -> Iterator[StaleUse]:
    """The lines of a file that have the name as a word of code, and not for a value of a function;
    where others have it too, as it is imported, or as a member of what is.
    """
    name, aliases = symbol.name, sources.aliases_of(path)
    language, text = language_of_path(path), sources.text_of(path)
    word = name.encode()
    found = list(re.finditer(rb"(?<![\w$])" + re.escape(word) + rb"(?![\w$])", text))
    if language is None or not found:
        return
    symbols = sources.symbols_of(path)
    defined = {one.name_line for one in symbols if one.name == name}
    owners = Side(path, text, symbols).owners(text.count(b"\n") + 1)
    root = parse(text, LANGUAGES[language]).root_node
    for match in found:
        line = text.count(b"\n", 0, match.start()) + 1
        leaf = root.descendant_for_byte_range(match.start(), match.end())
        if leaf is None or leaf.text != word or line in defined:
            continue
        before = text[text.rfind(b"\n", 0, match.start()) + 1 : match.start()]
        holder = _HOLDER.search(before)
        if not holder and name in sources.locals_of(owners[line]):
            continue
        given = holder[1].decode("utf-8", "replace") if holder else name
        is_own = path == symbol.path and not holder and b"import" not in before
        if has_rivals and symbol.parent == symbol.path and not (given in aliases or is_own):
            continue
        verb = "calls" if _CALL.match(text, match.end()) else "names"
        yield StaleUse(path, line, f"still {verb} `{name}`, which {what}")


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
        for edge in sources.callers(one.symbol.id) if one.news else ():
            for site in edge.sites if edge.grade is not Grade.BY_NAME else ():
                place = site.path, site.line
                if place not in written and _minds(one, _line_of(place, sources)):
                    yield StaleUse(*place, f"calls `{one.symbol.name}`, which {one.news}")


def _line_of(place: tuple[str, int], sources: ChangeSources) -> str:
    path, line = place
    rows = sources.text_of(path).split(b"\n")
    return rows[line - 1].decode("utf-8", "replace") if line <= len(rows) else ""


def _minds(changed: ChangedSymbol, line: str) -> bool:
    """True if a line that calls a function has to do with what is new about it."""
    if changed.news in {ASYNC, NOT_ASYNC}:
        return ("await" in line) is (changed.news == NOT_ASYNC)
    if changed.news.startswith(RENAMED):
        names = changed.news.removeprefix(RENAMED).replace(", ", "|")
        return re.search(rf"\b({names})\s*=(?!=)", line) is not None
    before = line.partition(changed.symbol.name)[0]
    if changed.news == NOTHING:
        return not _ALONE.fullmatch(before)
    return not changed.news.startswith(PARTS) or bool(_UNPACKS.search(before))
