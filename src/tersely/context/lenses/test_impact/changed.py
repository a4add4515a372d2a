"""From changed lines to changed symbols, and to the names that are no longer there."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from tersely.code.index.history.changes import ChangedFile
from tersely.code.languages.registry import LANGUAGES, language_of_path
from tersely.code.places import file_name_of
from tersely.code.symbols import CLASS_KINDS, Kind, Symbol
from tersely.code.syntax.extract import extract
from tersely.foundation.types import frozen


@frozen
class Gone:
    """A definition that a change took away: the file where it was, and its name, that of the file
    for a module.
    """

    path: str
    name: str
    qualname: str


def symbols_of_lines(symbols: Sequence[Symbol], ranges: Iterable[tuple[int, int]]) -> list[Symbol]:
    """The innermost symbols around changed lines; `symbols` are all of the file, in order.

    A change of a class outside of its members is one of all its methods too: they see its bases and
    its fields.
    """
    found: dict[str, Symbol] = {}
    for first, last in ranges:
        for line in range(max(first, 1), last + 1):
            holders = [
                one for one in symbols if one.start_line <= line <= one.end_line and _has_name(one)
            ]
            innermost = max(holders, key=lambda one: (one.start_byte, -one.end_byte), default=None)
            if innermost is not None:
                found[innermost.id] = innermost
    for changed in list(found.values()):
        if changed.kind in CLASS_KINDS:
            found.update((one.id, one) for one in symbols if one.parent == changed.id)
    return list(found.values())


def gone(file: ChangedFile, before: bytes, now: Iterable[Symbol]) -> list[Gone]:
    """The definitions of a file as it was that it does not have any more; of one that has moved,
    the module too.
    """
    language = language_of_path(file.old_path)
    if language is None:
        return []
    kept = {symbol.qualname for symbol in now}
    moved = file.path != file.old_path
    stem = file_name_of(file.old_path).partition(".")[0]
    definitions = extract(before, LANGUAGES[language], file.old_path).definitions[1:]
    found = [
        Gone(file.old_path, definition.name, definition.qualname)
        for definition in definitions
        if definition.qualname not in kept and definition.kind != Kind.LAMBDA
    ]
    return [Gone(file.old_path, stem, ""), *found] if moved else found


def changed_symbols(file: ChangedFile, symbols_of: Callable[[str], list[Symbol]]) -> list[Symbol]:
    """The symbols of a file that differ from what they were, all of them if the file is new."""
    symbols = symbols_of(file.path) if file.path else []
    return (
        [one for one in symbols if _has_name(one)]
        if file.is_new
        else symbols_of_lines(symbols, file.lines)
    )


def _has_name(symbol: Symbol) -> bool:
    return symbol.kind is not Kind.LAMBDA and not symbol.name.startswith("<")
