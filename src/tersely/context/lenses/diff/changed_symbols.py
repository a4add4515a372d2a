"""Changed lines at their symbols, on both sides: a line that was put in belongs to the symbol
around it now, one that was taken out to the symbol that lost it. What lies outside of all symbols,
or in no code at all, belongs to its file.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache, lru_cache

from tersely.code.expressions import (
    CLASS_METHOD,
    GENERATOR,
    SEQUENCE,
    STATIC,
    VARIADIC,
    Scope,
)
from tersely.code.index.history.patch import FileDiff, Hunk
from tersely.code.index.storage.schema import symbols_of_facts
from tersely.code.languages.model import Language
from tersely.code.languages.registry import LANGUAGES, language_of_path
from tersely.code.places import file_name_of
from tersely.code.symbols import CALLABLE_KINDS, CLASS_KINDS, FileFacts, Kind, Symbol
from tersely.code.syntax.extract import extract
from tersely.context.lenses.candidate import Change, Edit
from tersely.context.lenses.diff.renames import renamed
from tersely.foundation.types import field, frozen, record

MAX_REMOVED_CHARACTERS = 400  # told of one line that was taken out
MAX_KEPT_SIDES = 32  # that were read last
UNNAMED = frozenset({Kind.LAMBDA})
# What is new about a function.
NEW_SIGNATURE, NOTHING = "has another signature", "returns nothing any more"
# Of one that gives a value, and of one that gives many.
ASYNC = ("has to be awaited now", "gives its values asynchronously now")
NOT_ASYNC = ("is not to be awaited any more", "gives its values asynchronously no more")
PARTS = "returns"  # so many parts

_Asked = tuple[object, ...]  # a parameter: name, mode, type, whether it has to be given
Scopes = Mapping[tuple[int, str], Scope]
_JUDGED_KINDS = CALLABLE_KINDS | CLASS_KINDS


@frozen
class Side:
    """A file on one side of a change: its text and its symbols, in order, the file itself first."""

    path: str
    text: bytes
    symbols: Sequence[Symbol]
    scopes: Callable[[], Scopes] = dict  # by first byte and name what its definitions do

    def owners(self, last_line: int) -> list[Symbol]:
        """The innermost symbol with a name around each line from 0 on, the file itself where there
        is none.

        One pass over the symbols and the lines of each, however many lines are then asked about.
        """
        found = [self.symbols[0]] * (last_line + 1)
        named = (
            one
            for one in self.symbols[1:]
            if one.kind not in UNNAMED and one.start_line <= last_line
        )
        header_end = 0
        for one in sorted(named, key=lambda one: (one.start_byte, -one.end_byte)):
            # inner ones come later; parameters that are fields belong to the constructor
            if one.start_byte < header_end:
                continue
            header_end = one.signature_end_byte if one.kind in CALLABLE_KINDS else 0
            end = min(one.end_line, last_line) + 1
            found[one.start_line : end] = [one] * (end - one.start_line)
        return found


@frozen
class FileChange:
    """One file that differs, with both its sides; None for a side on which there is no text."""

    diff: FileDiff
    before: Side | None
    after: Side | None
    why_apart: str = ""  # why it has none, where it should


@record
class ChangedSymbol:
    """A symbol and what of it differs. Of one that is gone, `symbol` is as it was."""

    symbol: Symbol
    is_gone: bool = False
    lines: list[int] = field(default_factory=list)  # that were put in, as numbered now
    # before which line now, and the text
    removed: list[tuple[int, str]] = field(default_factory=list)
    gaps: list[int] = field(default_factory=list)  # lines now before which something was taken out
    note: str = ""  # what else is to be said of it
    edits: tuple[Edit, ...] = ()  # of the whole file
    was: Symbol | None = None  # before the change, where it was there
    news: str = ""  # what calls of what it was may not fit, in words
    # of a function what it asked for, and what those of its name ask for now
    scopes: tuple[Scope, Sequence[Scope]] | None = None

    @property
    def is_code(self) -> bool:
        """True if it is there, and no file as a whole."""
        return not self.is_gone and self.symbol.kind is not Kind.MODULE

    @property
    def is_renamed(self) -> bool:
        """True if it had another name, or stood in something that had."""
        return self.was is not None and self.was.qualname != self.symbol.qualname

    def change(self, most_removed: int | None = None) -> Change:
        """As a candidate has it, with so many removed lines; of what is gone the text is told by
        itself.
        """
        told = [] if self.is_gone else self.removed[:most_removed]
        more = 0 if self.is_gone else len(self.removed) - len(told)
        removed = tuple((number, text[:MAX_REMOVED_CHARACTERS]) for number, text in told)
        return Change(tuple(self.lines), removed, more, self.edits)


ChangedById = dict[str, ChangedSymbol]


@lru_cache(maxsize=MAX_KEPT_SIDES)
def side_of(path: str, text: bytes) -> Side:
    """A file as its text alone tells; a file of no language of ours is one symbol without any in
    it.

    What a file was stays the same from question to question, so it is read once.
    """
    language = language_of_path(path)
    if language is None:
        return plain_side(path, text)
    facts = extract(text, LANGUAGES[language], path)
    return Side(
        path,
        text,
        symbols_of_facts(path, language, facts.definitions) or [file_symbol(path, text)],
        scopes_of(lambda: facts),
    )


def scopes_of(facts: Callable[[], FileFacts]) -> Callable[[], Scopes]:
    """What the definitions of a file do, looked at when it is asked for, once."""

    @cache
    def scopes() -> Scopes:
        known = facts()
        return {
            (one.start_byte, one.name): Scope(*scope)
            for one, scope in zip(known.definitions, known.scopes, strict=True)
            if type(scope) is tuple
        }

    return scopes


def plain_side(path: str, text: bytes) -> Side:
    """A file as lines and nothing more."""
    return Side(path, text, [file_symbol(path, text)])


def file_symbol(path: str, text: bytes) -> Symbol:
    """A file that is no code, as a symbol that is all of it."""
    lines = text.count(b"\n") + (not text.endswith(b"\n"))
    name = file_name_of(path)
    return Symbol(
        path, path, "", Kind.MODULE, name, "", "", 1, max(1, lines), 1, 0, len(text), 0, 0, 0
    )


def changed_symbols(change: FileChange) -> list[ChangedSymbol]:
    """The symbols of one file that differ, in the order of their lines; those that are gone come
    last.
    """
    found: ChangedById = {}
    gone: ChangedById = {}
    hunks = change.diff.hunks
    before = _owners(change.before, [one.old_first + len(one.removed) for one in hunks])
    after = _owners(change.after, [one.new_first + len(one.added) for one in hunks])
    now = _now(change)
    for hunk in hunks:
        _take_removed(hunk, before, now, found, gone)
        for line in range(hunk.new_first, hunk.new_first + len(hunk.added)) if after else ():
            _entry(found, after[line]).lines.append(line)
    _note_names(change, now, found)
    edits = tuple(Edit(one.new_first, len(one.added), len(one.removed)) for one in hunks)
    for entry in (*found.values(), *gone.values()):
        entry.edits = edits
    ordered = sorted(found.values(), key=lambda one: (one.symbol.start_byte, -one.symbol.end_byte))
    return [*ordered, *gone.values()]


def _owners(side: Side | None, ends: Sequence[int]) -> list[Symbol]:
    """`Side.owners` up to the last line of some hunks; empty for a side without text."""
    return side.owners(max(ends, default=0)) if side is not None else []


def _take_removed(
    hunk: Hunk,
    before: Sequence[Symbol],
    kept: Mapping[str, Symbol],
    found: ChangedById,
    gone: ChangedById,
) -> None:
    """Give the lines that a hunk took out to who lost them."""
    holders = before[hunk.old_first : hunk.old_first + len(hunk.removed)]
    for was, line in zip(holders, hunk.removed, strict=bool(before)):
        now = kept.get(was.qualname)
        if now is None:
            loser = _entry(gone, was, is_gone=True)
        else:
            at = min(max(hunk.new_first, now.start_line), now.end_line)
            loser = _entry(found, now)
            if at not in loser.gaps:
                loser.gaps.append(at)
        loser.removed.append((hunk.new_first, line.decode("utf-8", "replace").rstrip("\r\n")))


def _now(change: FileChange) -> Mapping[str, Symbol]:
    """What symbols have become, by the qualified names that they had."""
    before, after = change.before, change.after
    if after is None:
        return {}
    same = {one.qualname: one for one in reversed(after.symbols)}
    if before is None:
        return same
    return {**same, **renamed(before.symbols[1:], before.text, after.symbols[1:], after.text)}


def _note_names(change: FileChange, now: Mapping[str, Symbol], found: ChangedById) -> None:
    """Say of changed symbols what they were called, and whether their signatures are others."""
    before, after = change.before, change.after
    if before is None or after is None:
        return
    for was in before.symbols[1:]:
        entry = found.get(now[was.qualname].id) if was.qualname in now else None
        if entry is None or entry.was is not None:
            continue
        entry.was = was
        entry.news = news_of(was, before, entry, after)
        if entry.is_renamed:
            entry.note = f"renamed from {was.qualname}"


def news_of(was: Symbol, before: Side, entry: ChangedSymbol, after: Side) -> str:
    """What of a function calls of what it was may not fit, "" for nothing. They do if all parameters
    are what they were, and further ones need not be given, or another decorator may give them; and
    if the same is returned, or as much. A class is called with its fields.
    """
    symbol, old, new = entry.symbol, _scope(was, before), _scope(entry.symbol, after)
    language = LANGUAGES[symbol.language]
    is_called = (
        symbol.kind in _JUDGED_KINDS and symbol.name not in language.resolution.implicit_methods
    )
    is_plain = symbol.kind in CLASS_KINDS and old is not None and not old.parameters
    if old is None or new is None or is_plain or not is_called:
        return ""
    forms = [one for one in after.symbols if (one.parent, one.name) == (symbol.parent, symbol.name)]
    entry.scopes = old, [scope for one in forms if (scope := _scope(one, after))]
    asked, given = (_parameters(one, language) for one in (old, new))
    is_more = given[: len(asked)] == asked and not any(one[-1] for one in given[len(asked) :])
    gives_other = language.checks_types and old.returned_type != new.returned_type
    if not is_more and (old.decorated is None) is not (new.decorated is None):
        return ""
    if not is_more or gives_other or (old.flags ^ new.flags) & (STATIC | CLASS_METHOD):
        return NEW_SIGNATURE
    waits = _is_async(symbol, after)
    if waits != _is_async(was, before):
        return (ASYNC if waits else NOT_ASYNC)[bool(new.flags & GENERATOR)]
    if new.returned_type or not old.returns or old.flags & GENERATOR:
        return ""
    if not (new.returns or new.yields):
        return NOTHING
    few, many = _returned(old), _returned(new)
    return f"{PARTS} {many}, not {few}" if few and many and few != many else ""


def _parameters(scope: Scope, language: Language) -> list[_Asked]:
    return [
        (name, mode, language.checks_types and type_, default is None and mode not in VARIADIC)
        for name, type_, default, mode in scope.parameters
    ]


def _returned(scope: Scope) -> int:
    """How many parts each result of a function has; 0 where they differ, or are no displays."""
    sizes = {
        len(one[1]) if type(one) is tuple and one[0] == SEQUENCE else 0 for one in scope.returns
    }
    return sizes.pop() if len(sizes) == 1 else 0


def _is_async(symbol: Symbol, side: Side) -> bool:
    """True if the words before the name say that its result has to be waited for."""
    text = side.text[symbol.start_byte : symbol.signature_end_byte]
    return b"async" in text.partition(symbol.name.encode())[0].split()


def _scope(symbol: Symbol, side: Side) -> Scope | None:
    """What the body of a function does, and the fields of a class."""
    return side.scopes().get((symbol.start_byte, symbol.name))


def _entry(entries: ChangedById, symbol: Symbol, *, is_gone: bool = False) -> ChangedSymbol:
    return entries.setdefault(symbol.id, ChangedSymbol(symbol, is_gone))
