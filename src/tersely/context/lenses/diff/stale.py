"""What still names something that a change has removed, renamed, moved, or given another signature."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache, partial
from itertools import islice
from typing import NamedTuple

from tersely.code.expressions import ABSTRACT
from tersely.code.languages.registry import LANGUAGES, family_in, family_of, language_of_path
from tersely.code.nodes import Invocation
from tersely.code.places import directory_of, is_test
from tersely.code.symbols import (
    CALLABLE_KINDS,
    CLASS_KINDS,
    VALUE_KINDS,
    Kind,
    Symbol,
    unnumbered,
)
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
    news_of,
)
from tersely.foundation.types import replace

MAX_GONE_SYMBOLS = 200  # of a change, of which users are looked for
MAX_STALE_FILES = 100  # looked into for one name
MAX_STALE_USES = 10  # of a change, that are looked at
MAX_CALL_LINES = 200  # that one call takes
STALE_TOKENS = 40  # that a symbol with such uses takes: its heading, a line, what is said of it
_NAMED_KINDS = CALLABLE_KINDS | CLASS_KINDS | VALUE_KINDS
# What stands behind a name that is called, and behind a member that is given a value.
_CALL, _STORED = re.compile(rb"\s*\("), re.compile(rb"\s*=(?![=>~])")
# What stands before a member: the first and the last of names, as far as they are on the line, and a
# sign that it is taken of a value.
_HOLDER = re.compile(r"(?:([\w$]+)(?:[.:\w$]*[.:])?)??([\w$]*)[\s)\]}?!]*(?:((?<!\.)\.|->)|::)$")
# Leaves of syntax that are words of no code, those that are members, and what begins with a name.
_NO_CODE = re.compile("string|content|text|comment|key_symbol")
_MEMBER = re.compile("(?:field|property)_identifier")
_KEYED = {"keyed_element", "keyword_argument", "value_argument"}
_OF_OBJECTS = {Kind.METHOD, Kind.PROPERTY, Kind.FIELD}
_APART = {"file", "shared"}  # how files share names where each imports what it takes of others
# What stands on a line before a call: whose result nobody takes, and whose result is taken apart.
_ALONE = re.compile(r"\s*(?:(?:await|go|defer)\s+)?(?:[\w$]+(?:\.|->|::))*")
_UNPACKS = re.compile(r",[^=()]*=(?!=)")
_WAITS, _TAKEN = re.compile(r"\b(?:await|async)\b"), re.compile(r"\s*[.\[?]")


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
    was in a class that is gone, or in a file that others import, it is enough to name that.
    """
    hidden = {one.symbol.id for one in changed if one.is_gone and one.symbol.kind in CLASS_KINDS}
    hidden |= {
        one.id
        for change in changes
        if change.before
        for one in change.before.symbols
        if one.kind in CALLABLE_KINDS
    }
    hidden |= {one.diff.old_path for one in changes if not one.diff.path and _is_imported(one)}
    brought = {
        (one.symbol.name, one.symbol.kind): one.symbol.path
        for one in changed
        if one.was is None and not one.is_gone
    }
    for lost in islice(_lost(changed, brought, sources), MAX_GONE_SYMBOLS):
        symbol = lost.symbol
        if symbol.kind not in _NAMED_KINDS or not symbol.name.isidentifier():
            continue
        owner = _owner(symbol, sources)
        if not hidden.isdisjoint((symbol.parent, owner, symbol.path)):
            continue
        others = sources.defining(symbol.name)
        mentioning = sorted(sources.files_mentioning(symbol.name))[:MAX_STALE_FILES]
        giving = _giving(symbol, mentioning, sources)
        for path in mentioning:
            is_kin = family_in(path) == family_of(symbol.language)
            if is_kin and (is_test(path) or not is_test(symbol.path)):
                has_rivals = any(is_test(path) or not is_test(one) for one in others)
                yield from _uses_in(path, lost, owner, has_rivals, giving, sources)


def _is_imported(change: FileChange) -> bool:
    """True if whoever takes something of a file as it was imports it."""
    language = language_of_path(change.diff.old_path)
    return language is not None and LANGUAGES[language].resolution.namespace in _APART


def _owner(symbol: Symbol, sources: ChangeSources) -> str:
    """The id of the class or namespace that a symbol is a member of, "" for none."""
    if symbol.parent != symbol.path:
        if LANGUAGES[symbol.language].resolution.traits:  # of whose blocks each has a number
            return unnumbered(symbol.parent)
        return symbol.parent
    owner, folder = symbol.qualname.rpartition(".")[0], directory_of(symbol.path)
    near = (one for one in sources.defining(owner) if directory_of(one) == folder)
    return owner and f"{min(near, default=symbol.path)}:{owner}"


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
        elif was.name not in sources.aliases_of(was.path):
            yield _Lost(was, "is gone" if place == was.path else f"is in {place} now")


def _of_files(changes: Sequence[FileChange], sources: ChangeSources) -> Iterator[StaleUse]:
    """The imports that name a file which has another path now, or none."""
    left = {one.diff.old_path: one.diff.path for one in changes}
    for old, new in left.items():
        if old and old != new and old not in sources.paths:
            what = f"imports `{old}`, which is {f'{new} now' if new else 'gone'}"
            for path, line in sources.imports_of_left(old):
                yield StaleUse(path, line, what)


def _giving(symbol: Symbol, mentioning: Collection[str], sources: ChangeSources) -> Collection[str]:
    """The files by way of which others could import a symbol: its own, those that import it, and
    those that are one with it.
    """
    found, new = {symbol.path}, {symbol.path}
    while new and symbol.parent == symbol.path:
        new = {one for one in mentioning if found & sources.imported(one, symbol.name)} - found
        found |= new
    if LANGUAGES[symbol.language].resolution.namespace == "directory":
        folder = directory_of(symbol.path)
        found.update(one for one in sources.paths if directory_of(one) == folder)
    return found


def _uses_in(
    path: str,
    lost: _Lost,
    owner: str,
    has_rivals: bool,
    giving: Collection[str],
    sources: ChangeSources,
) -> Iterator[StaleUse]:
    """The lines of a file that have the name as a word of code, and not for a value of a function.
    Where others have it too, as it is imported from the files that are `giving` it. A member is one
    of the class where the object is known, else by its name if no other has that, and it is a field
    only where types are checked.
    """
    symbol, text = lost.symbol, sources.text_of(path)
    name, aliases = symbol.name, sources.aliases_of(path)
    language = LANGUAGES[symbol.language]
    resolution = language.resolution
    is_free = has_rivals or name in resolution.common_members
    by_name = not is_free and (symbol.kind is not Kind.FIELD or language.checks_types)
    is_followed = not resolution.by_name
    members = dict(sources.members(path, owner, name) if owner and is_followed else ())
    is_apart = resolution.namespace in _APART and is_followed and "" not in aliases
    has_reach = symbol.kind not in _OF_OBJECTS or resolution.implicit_receiver
    is_near = name in aliases or (has_reach and re.split("[.:]", owner)[-1].encode() in text)
    for word in _words_of(path, lost, sources):
        holder = word.holder
        given = holder[2] if holder else name
        imported = sources.imported(path, given)
        can_tell = imported or (symbol.path in sources.paths and is_followed)
        is_other = given in aliases and can_tell and imported.isdisjoint(giving)
        if owner:
            is_set = word.is_set and not language.checks_types
            can_be = by_name and (holder or is_near) and not (is_other or is_set)
            is_meant = members.get(word.lines.start, can_be)
        else:
            is_own = path == symbol.path and not holder and "import" not in word.before
            is_known = is_own or not aliases.isdisjoint({given, holder[1] if holder else name})
            is_doubtful = has_rivals or (holder[3] if holder else is_apart)
            is_meant = not is_other and (is_known or not is_doubtful)
        if is_meant:
            how = "calls" if word.is_call else "names"
            yield StaleUse(path, word.lines.start, f"still {how} `{name}`, which {lost.what}")


def _words_of(path: str, lost: _Lost, sources: ChangeSources) -> Iterator[_Word]:
    """The words of a file that may be something lost: no definitions, and nothing that a function
    names by itself.
    """
    text, symbols, name = sources.text_of(path), sources.symbols_of(path), lost.symbol.name
    defined = {one.name_line for one in symbols if one.name == name}
    around = Side(path, text, symbols).owners(text.count(b"\n") + 1)
    for word in _as_code(path, text, name.encode()):
        line = word.lines.start
        is_key = word.is_key or name in sources.locals_of(around[line])
        is_local = is_key and not word.holder
        if not is_local and line not in defined and lost.is_called in {None, word.is_call}:
            yield word


class _Word(NamedTuple):
    """A word of code: its first byte; the lines, from 1 on, of what it begins, as a call; what is on
    its line before it, and behind that; what it is taken of; and whether it is called, given a value,
    or says by itself that it is a member or the name of an argument.
    """

    start: int
    lines: range
    before: str
    behind: str
    holder: re.Match[str] | None
    is_call: bool
    is_set: bool
    is_key: bool


def _as_code(path: str, text: bytes, word: bytes) -> Iterator[_Word]:
    """The places of a file where a word stands by itself, and in no comment or text."""
    language = language_of_path(path)
    if language is None:
        return
    root = parse(text, LANGUAGES[language]).root_node
    for match in re.finditer(rb"(?<![\w$])" + re.escape(word) + rb"(?![\w$])", text):
        start, end = match.span()
        leaf = root.descendant_for_byte_range(start, end)
        if leaf and leaf.text == word and leaf.is_named and not _NO_CODE.search(leaf.type):
            around = leaf
            while around.end_byte <= end and around.parent:
                around = around.parent
            line = leaf.start_point[0] + 1
            last = min(around.end_point[0] + 1, line + MAX_CALL_LINES)
            before = text[text.rfind(b"\n", 0, start) + 1 : start].decode(errors="replace")
            behind = text[around.end_byte : text.find(b"\n", around.end_byte)].decode(
                "utf-8", "replace"
            )
            is_key = bool(_MEMBER.fullmatch(leaf.type)) or around.type in _KEYED
            is_call, is_set = (bool(one.match(text, end)) for one in (_CALL, _STORED))
            holder, lines = _HOLDER.search(before), range(line, last + 1)
            yield _Word(start, lines, before, behind, holder, is_call, is_set, is_key)


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
    functions = [one for one in changed if one.scopes and one.symbol.kind not in CLASS_KINDS]
    announced = {_as_linked(one.symbol) for one in functions if _announces(one)}
    judged = (
        one for one in functions if _announces(one) or _as_linked(one.symbol) not in announced
    )
    for one in (*judged, *_classes(changes, {one.symbol.path for one in changed})):
        names = (one.symbol.name, one.symbol.parent.rpartition(":")[2].rpartition(".")[2])
        words_of = lru_cache(1)(partial(_words, names=names, sources=sources))
        for path, call, shift in sources.passings(one.symbol.id) if one.news else ():
            word = words_of(path).get(call.line)
            lines = word.lines if word else (call.line,)
            is_adapted = any((path, line) in written for line in lines)
            if not is_adapted and _minds(one, call, shift, word):
                yield StaleUse(path, call.line, f"calls `{one.symbol.name}`, which {one.news}")


def _announces(changed: ChangedSymbol) -> bool:
    """True for a function without its body, by which calls are judged where there is one."""
    announces = changed.scopes and LANGUAGES[changed.symbol.language].resolution.announces
    return bool(announces and changed.scopes and changed.scopes[0].flags & ABSTRACT)


def _as_linked(symbol: Symbol) -> tuple[str, str]:
    """What a function and its announcement have in common."""
    return family_of(symbol.language), symbol.qualname


def _classes(changes: Sequence[FileChange], paths: Collection[str]) -> Iterator[ChangedSymbol]:
    """The classes of some files that have no constructor, each with what is new about its fields."""
    for change in changes:
        before, after = change.before, change.after
        if before and after and after.path in paths:
            was = {one.qualname: one for one in before.symbols if one.kind in CLASS_KINDS}
            names = LANGUAGES[before.symbols[0].language].resolution.constructors if was else ()
            made = {one.parent for one in after.symbols if one.name in names}
            kept = (one for one in after.symbols if one.qualname in was and one.id not in made)
            for entry in map(ChangedSymbol, kept):
                entry.news = news_of(was[entry.symbol.qualname], before, entry, after)
                yield entry


def _words(path: str, names: Sequence[str], sources: ChangeSources) -> dict[int, _Word]:
    """The words of a file that are some names, the last of each line."""
    text = sources.text_of(path)
    words = [word for name in names if name for word in _as_code(path, text, name.encode())]
    return {word.lines.start: word for word in sorted(words, key=lambda word: word.start)}


def _minds(changed: ChangedSymbol, call: Invocation, shift: int, word: _Word | None) -> bool:
    """True if a call has to do with what is new about a function; by its name as it is written, what
    becomes of what the function gives.
    """
    before, behind = (word.before, word.behind) if word else ("", "")
    waits = bool(_WAITS.search(before) or _WAITS.search(behind))
    is_used = not _ALONE.fullmatch(before) or bool(_TAKEN.match(behind))
    if changed.news in {*ASYNC, *NOT_ASYNC}:
        return word is not None and waits is (changed.news in NOT_ASYNC)
    if changed.news == NEW_SIGNATURE and changed.scopes is not None:
        from tersely.context.lenses.diff.fitting import fits, gives_other  # few changes need it

        language, (was, now) = LANGUAGES[changed.symbol.language], changed.scopes
        is_read = is_used and language.checks_types and not waits
        if is_read and all(gives_other(was, one, language) for one in now):
            return True
        return shift >= 0 and not any(fits(call, shift, was, one, language) for one in now)
    return is_used if changed.news == NOTHING else bool(_UNPACKS.search(before))
