"""From a user's words to symbols.

A query is a symbol id or the end of one: `validate`, `Session.validate`,
`auth.py:Session.validate`, `src/auth.py:validate`, `auth.py` for a module. Parts are whole: `date`
does not mean `validate`. In any part `*`, `?` and `[…]` stand for what they do in file names
(`validate*`, `Session.*`, `test_*.py:*`), but a symbol that is really named so (`operator*`) goes
first. Case counts. `::` may be written for `.`.

Where nothing but namespaces is named so, the name is read as `qualified_names` says:
`Class#method`, `(*Type).Method`, and a top-level name in its package (`click.command`), those in
the package itself before those in one below it.

- An id means that symbol alone, so no symbol is ever unreachable by ambiguity.
- Without `#2` at its end a query means all redefinitions of a name.
- A bare name means modules only if nothing else has it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from fnmatch import translate

from tersely.code.index.qualified_names import Nearness, dotted_name, nearness
from tersely.code.index.storage.schema import SYMBOL_ORDER, SYMBOL_QUERY, symbol_of
from tersely.code.places import file_name_of
from tersely.code.symbols import Kind, Symbol
from tersely.foundation.storage.database import Database, Row, Values

MAX_SEARCHED_FILES = 32  # files a query may name before names are looked up first and files second
SUGGESTED_LENGTH_DIFFERENCE = 3  # characters
HIGHEST = "\U0010ffff"
_NUMBER = re.compile(r"#\d+$")
_LIKE = "name between ? and ? and name glob ?"
_MAGIC = re.compile(r"[*?[]")

Matcher = Callable[[str], bool]


def exact(database: Database, symbol_id: str) -> Symbol | None:
    """The symbol of exactly this id. A path may contain colons, and so may a name in some language."""
    splits = [(symbol_id, "")]
    splits += [
        (symbol_id[: match.start()], symbol_id[match.end() :])
        for match in re.finditer(":", symbol_id)
    ]
    for path, qualname in reversed(splits):
        row = database.row(f"{SYMBOL_QUERY} where f.path = ? and s.qualname = ?", (path, qualname))
        if row is not None:
            return symbol_of(row)
    return None


def find(database: Database, query: str, kinds: frozenset[Kind], limit: int) -> list[Symbol]:
    """At most `limit` symbols that `query` may mean, by path and position."""
    symbol = exact(database, query)
    if symbol is not None and (not kinds or symbol.kind in kinds):
        return [symbol]
    path, _, name = query.replace("::", ".").rpartition(":")
    found = _named(database, path, name, kinds, limit)
    if any(symbol.kind is not Kind.NAMESPACE for symbol in found):
        return found
    dotted = dotted_name(name)
    others = _named(database, path, dotted, kinds, limit) if dotted != name else []
    if not (others or path):
        others = _in_containers(database, dotted, kinds, limit)
    return others or found


def _named(
    database: Database, path: str, name: str, kinds: frozenset[Kind], limit: int
) -> list[Symbol]:
    """The symbols that `path:name` means literally, or else as a pattern."""
    for is_pattern in (False, True) if _MAGIC.search(f"{path}:{name}") else (False,):
        found, modules = [], []
        for symbol in _read(database, path, name, is_pattern):
            if _is_wanted(symbol, kinds):
                found.append(symbol)
            elif not kinds:
                modules.append(symbol)
            if len(found) == limit:
                break
        if found or modules:
            return found or modules[:limit]
    return []


def _in_containers(
    database: Database, dotted: str, kinds: frozenset[Kind], limit: int
) -> list[Symbol]:
    """The symbols whose whole qualified names end a dotted name, in the nearest containers that it
    begins with.
    """
    parts = dotted.split(".")
    found: dict[Nearness, list[Symbol]] = {near: [] for near in Nearness}
    for row in _rows_named(database, dotted, is_pattern=False) if len(parts) > 1 else ():
        symbol = symbol_of(row)
        own = _NUMBER.sub("", symbol.qualname).split(".")
        container = parts[: -len(own)]
        if _is_wanted(symbol, kinds) and container and parts[-len(own) :] == own:
            namespace = database.value("select namespace from file where path = ?", (symbol.path,))
            found[nearness(container, symbol.path, namespace)].append(symbol)
    return (found[Nearness.IS] or found[Nearness.AROUND])[:limit]


def _is_wanted(symbol: Symbol, kinds: frozenset[Kind]) -> bool:
    """True if a symbol is of one of some kinds; without kinds, if it is no module."""
    return symbol.kind in kinds if kinds else symbol.kind is not Kind.MODULE


def suggestions(database: Database, query: str, limit: int) -> list[str]:
    """Names that resemble the last part of `query`, the likeliest first."""
    from difflib import get_close_matches  # only here, where something has already gone wrong

    wanted = _NUMBER.sub("", re.split(r"[.:/]", dotted_name(query))[-1])
    rows = database.rows(
        "select distinct name from symbol where length(name) between ? and ?",
        (len(wanted) - SUGGESTED_LENGTH_DIFFERENCE, len(wanted) + SUGGESTED_LENGTH_DIFFERENCE),
    )
    by_lower: dict[str, list[str]] = {}
    for (name,) in sorted(rows):
        by_lower.setdefault(name.lower(), []).append(name)
    close = get_close_matches(wanted.lower(), by_lower, n=limit, cutoff=0.7) if wanted else []
    return [name for lower in close for name in by_lower[lower]][:limit]


def _read(database: Database, path: str, name: str, is_pattern: bool) -> Iterator[Symbol]:
    """The symbols that `path:name` means when it is taken literally, or as a pattern."""
    named: set[str] = set()
    if name:
        matches = _name_pattern(name) if is_pattern else _name_suffix(name)
        for row in _rows(database, path, name, is_pattern):
            module_name = "" if path else row[3]
            if matches(row[4] or module_name):
                symbol = symbol_of(row)
                named.add(symbol.id)
                yield symbol
    if not path or not name:
        files = _files(database, path or name, is_pattern)
        modules = map(symbol_of, _rows_in(database, files, "s.position = 0"))
        yield from (module for module in modules if module.id not in named)


def _rows(database: Database, path: str, name: str, is_pattern: bool) -> Iterator[Row]:
    """Rows of symbols among which are all that `path:name` means."""
    if not path:
        return _rows_named(database, name, is_pattern)
    files = _files(database, path, is_pattern)
    if len(files) <= MAX_SEARCHED_FILES:
        return _rows_in(database, files, "true")
    matches = _path_pattern(path) if is_pattern else _path_suffix(path)
    return (row for row in _rows_named(database, name, is_pattern) if matches(row[0]))


def _rows_named(database: Database, name: str, is_pattern: bool) -> Iterator[Row]:
    plain = _NUMBER.sub("", name)
    before, _, last = plain.rpartition(".")
    if not is_pattern:
        # A name may itself contain dots in some languages.
        return _symbol_rows(database, "s.name in (?, ?)", (last, plain))
    owner = before.rpartition(".")[2]
    if owner and not _MAGIC.search(owner):
        return _symbol_rows(database, "s.owner = ? and s.name glob ?", (owner, _glob(last)))
    # Names alone are read from their index, which is many times faster than going through the
    # symbols.
    names = f"select distinct name from symbol where {_LIKE}"
    return _symbol_rows(database, f"s.name in ({names})", _like(last))


def _rows_in(database: Database, files: list[int], condition: str) -> Iterator[Row]:
    places = ", ".join("?" * len(files))
    return _symbol_rows(database, f"s.file_id in ({places}) and {condition}", files)


def _files(database: Database, path: str, is_pattern: bool) -> list[int]:
    """Ids of the files at `path`, or else of those whose paths end in it."""
    last = file_name_of(path)
    query = "select id, path from file where skipped = '' and "
    if is_pattern:
        rows = database.rows(query + _LIKE, _like(last))
        matches = _path_pattern(path)
    else:
        rows, matches = database.rows(query + "name = ?", (last,)), _path_suffix(path)
        rows = [row for row in rows if row[1] == path] or rows
    return [file_id for file_id, found in sorted(rows, key=lambda row: row[1]) if matches(found)]


def _symbol_rows(database: Database, condition: str, values: Values) -> Iterator[Row]:
    return database.stream(f"{SYMBOL_QUERY} where {condition} {SYMBOL_ORDER}", values)


def _name_suffix(name: str) -> Matcher:
    if _NUMBER.search(name):
        return lambda qualname: f".{qualname}".endswith(f".{name}")
    return lambda qualname: f".{_NUMBER.sub('', qualname)}".endswith(f".{name}")


def _path_suffix(path: str) -> Matcher:
    return lambda found: f"/{found}".endswith(f"/{path}")


def _name_pattern(name: str) -> Matcher:
    matches = _parts_pattern(name.split("."))
    return lambda qualname: matches(_NUMBER.sub("", qualname).split("."))


def _path_pattern(path: str) -> Matcher:
    matches = _parts_pattern(path.split("/"))
    return lambda found: matches(found.split("/"))


def _parts_pattern(parts: list[str]) -> Callable[[list[str]], bool]:
    patterns = [re.compile(translate(part)) for part in parts]

    def matches(found: list[str]) -> bool:
        last = found[-len(patterns) :]
        return len(last) == len(patterns) and all(map(re.Pattern.match, patterns, last))

    return matches


def _like(pattern: str) -> Values:
    """The values of `_LIKE` for a pattern."""
    prefix = _MAGIC.split(pattern)[0]
    return prefix, prefix + HIGHEST, _glob(pattern)


def _glob(pattern: str) -> str:
    """A file name pattern as SQLite writes it."""
    return pattern.replace("[!", "[^")
