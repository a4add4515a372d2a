"""The index on disk: all files of a repository as facts at a revision.

A store answers from the last finished refresh, whatever other processes write meanwhile; several
questions that belong together are asked inside `snapshot`. Everything in it can be computed again,
so it may be deleted at any time.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Collection, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Self

from tersely.code.index.content import Reason, Skipped
from tersely.code.index.fingerprint import extraction_fingerprint
from tersely.code.index.storage import lookup
from tersely.code.index.storage.schema import (
    ENCODING,
    SCHEMA,
    SYMBOL_ORDER,
    SYMBOL_QUERY,
    WITH_BASE,
    WITHOUT_BASE,
    IndexedFile,
    KnownFile,
    decode_ids,
    read_facts,
    symbol_of,
    symbols_in,
)  # fmt: skip
from tersely.code.index.storage.writer import Writer
from tersely.code.symbols import FileFacts, Import, Kind, Problem, Symbol
from tersely.foundation.errors import TerselyError
from tersely.foundation.limits import DATABASE_BUSY_MILLISECONDS, MAX_LOOKUP_SYMBOLS
from tersely.foundation.storage.database import IN_MEMORY, Database, remove
from tersely.foundation.storage.hashing import content_hash
from tersely.foundation.storage.private import ignore_itself, index_places, is_private
from tersely.foundation.storage.roots import INDEX_DIRECTORY, INDEX_FILE, is_relay_home
from tersely.foundation.system import is_of_user
from tersely.foundation.types import Closing, Strings

# of one user in one repository, which may have been elsewhere before
MAX_KEPT_INDEXES = 3
MAX_SECOND_INDEXES = 20  # of one user, of repositories that hold those of others
REVISION_BYTES = 8
CACHE_KIBIBYTES = 64_000  # the pages that a cold build writes, mostly: each is then written once

_DAMAGED = "the index was damaged and is built anew; `tersely doctor` checks it"
_INDEX_NAME = re.compile(r"[0-9a-f]{16}-[0-9a-f]{16}")
_FILE_QUERY = "select id, path, language, size, hash, namespace from file where skipped = ''"


class Store(Closing):
    """One open index. For one thread at a time."""

    def __init__(self, database: Database, notices: Strings = (), news: Strings = ()) -> None:
        self._database = database
        self.notices = notices  # what the user should know as long as this store is in use
        self._news = news
        self._base = ""  # the name of the base that is attached
        database.execute(f"pragma cache_size = -{CACHE_KIBIBYTES}")
        self._attach(self._valid_base())

    @classmethod
    def open(cls, root: Path) -> Self:
        """Open the index of a repository, making it where there is none.

        A damaged index is replaced by an empty one, which `take_news` says. Where nothing can be
        written the index lives in memory, which `notices` say.
        """
        try:
            directory = _own_directory(Path(os.path.realpath(root)))
            return cls._open_or_replace(directory / INDEX_FILE)
        except OSError as error:
            why = f"{error.strerror}: {INDEX_DIRECTORY}" if error.strerror else str(error)
            return cls.in_memory(f"the index is kept in memory: {why}")
        except TerselyError as error:
            if error.code != "database_unavailable":
                raise
            return cls.in_memory(f"the index is kept in memory: {error.message}")

    @classmethod
    def open_draft(cls, path: Path) -> Self:
        """Open what is to become a base and is of no use until it is whole."""
        database = Database.open_derived(path, SCHEMA)
        database.execute("pragma journal_mode = off")
        return cls(database)

    @classmethod
    def in_memory(cls, *notices: str) -> Self:
        """An index that is gone with the process."""
        return cls(Database.open_derived(IN_MEMORY, SCHEMA), notices)

    @classmethod
    def _open_or_replace(cls, path: Path) -> Self:
        try:
            return cls(Database.open_derived(path, SCHEMA))
        except TerselyError as error:
            if error.code != "database_corrupt":
                raise
        remove(path)
        return cls(Database.open_derived(path, SCHEMA), news=(_DAMAGED,))

    def take_news(self) -> Strings:
        """The sentences that the user should read once of how this store came to be; nothing the
        next time.
        """
        news, self._news = self._news, ()
        return news

    def replace_damaged(self) -> None:
        """Go on with an empty index in place of one that turned out to be damaged."""
        path = self._database.path
        self.close()
        if path != IN_MEMORY:
            remove(path)
        if self._base:  # it may be what is damaged
            _place_of(self._base).unlink(missing_ok=True)
        self._base = ""
        self._database = Database.open_derived(path, SCHEMA)
        self._news = (*self._news, _DAMAGED)

    def close(self) -> None:
        """Let go of the file."""
        self._database.close()

    # What state it is in

    def is_current(self) -> bool:
        """True if a refresh of this program filled it; only then are its facts to be read."""
        meta = self._meta()
        return meta.get("extraction") == extraction_fingerprint() and _is_readable(meta)

    def usable_languages(self) -> set[str]:
        """The languages whose files have the facts that this program finds in them."""
        meta = self._meta()
        same = {*meta.get("extraction", "").split()} & {*extraction_fingerprint().split()}
        return {one.partition("=")[0] for one in same} if _is_readable(meta) else set()

    def revision(self) -> str:
        """The identity of all facts: equal for equal files under equal programs, on any machine. ""
        before any.
        """
        meta = self._meta()
        if "files" not in meta:
            return ""
        return content_hash(f"{meta['extraction']} {meta['files']}".encode())[:REVISION_BYTES].hex()

    def check(self) -> None:
        """Read all of the index; raises `database_corrupt` where something of it is damaged."""
        self._database.check()
        for file in self.files():
            self.facts(file.id)

    def data_version(self) -> int:
        """A number that differs from an earlier one when another connection has written in between."""
        return int(self._database.value("pragma data_version"))

    @property
    def directory(self) -> Path | None:
        """The directory in which the index lies, and what is kept beside it; None for one in
        memory.
        """
        return None if self._database.path == IN_MEMORY else self._database.path.parent

    @contextmanager
    def snapshot(self) -> Iterator[None]:
        """Everything asked inside is answered at one revision."""
        while True:
            self._attach(self._valid_base())
            with self._database.snapshot():
                if self._valid_base() == self._base:
                    yield
                    return

    def _valid_base(self) -> str:
        return self._meta().get("base", "") if self.usable_languages() else ""

    def _attach(self, base: str) -> None:
        """Have what lies in a base of the index there, in place of another that was."""
        if base == self._base:
            return
        if self._base:
            self._database.execute(f"{WITHOUT_BASE} detach base")
        self._base = ""
        if base:
            place, self._base = _place_of(base), base
            self._database.attach(place, "base")
            self._database.execute(WITH_BASE)
            with suppress(OSError):  # where nothing can be written
                os.utime(place)  # it is of use

    @contextmanager
    def writing(self, *, wait: bool = True, base: str = "") -> Iterator[Writer]:
        """Change the index, all or nothing; `database_locked` while another writes, after a bounded
        time if `wait`. A new `base` can be adopted.
        """
        if not wait:
            self._database.execute("pragma busy_timeout = 0")
        try:
            while True:
                self._attach(base or self._valid_base())
                with self._database.transaction():
                    if not base and self._valid_base() != self._base:
                        continue  # another process was quicker
                    writer = Writer(self._database)
                    if not self.usable_languages():
                        writer.clear()
                    yield writer
                    writer.finish()
                    return
        finally:
            if not wait:
                self._database.execute(f"pragma busy_timeout = {DATABASE_BUSY_MILLISECONDS}")

    def known(self) -> dict[str, KnownFile]:
        """Every file that was looked at, indexed or skipped, by path; none if all are outdated."""
        usable = self.usable_languages()
        if not usable:
            return {}
        if self.is_current():
            usable.add("")  # what is skipped is of no language
        rows = self._database.rows(
            "select path, language, id, size, mtime_ns, ctime_ns, hash, skipped from file"
        )
        return {
            path: KnownFile._make((*row, language not in usable)) for path, language, *row in rows
        }

    def known_at(self, path: str) -> KnownFile | None:
        """The file at a path as it was when it was last looked at."""
        query = "select id, size, mtime_ns, ctime_ns, hash, skipped from file where path = ?"
        row = self._database.row(query, (path,))
        return KnownFile(*row) if row else None

    def _meta(self) -> dict[str, str]:
        return dict(self._database.rows("select key, value from meta"))

    # Files

    def files(self) -> list[IndexedFile]:
        """All indexed files by path."""
        return [IndexedFile(*row) for row in self._database.rows(f"{_FILE_QUERY} order by path")]

    def file(self, path: str) -> IndexedFile | None:
        """The indexed file at a path from the root."""
        row = self._database.row(f"{_FILE_QUERY} and path = ?", (path,))
        return IndexedFile(*row) if row else None

    def holds_directory(self, path: str) -> bool:
        """True if some indexed file lies below a directory, named from the root."""
        first, beyond = f"{path}/", f"{path}0"  # "0" is what follows "/"
        query = "select 1 from file where skipped = '' and path > ? and path < ? limit 1"
        return self._database.row(query, (first, beyond)) is not None

    def number_of_files(self) -> int:
        """The number of files that are indexed."""
        return int(self._database.value("select count(*) from file where skipped = ''"))

    def skipped(self) -> list[Skipped]:
        """The files that are not indexed although they may be source, by path."""
        rows = self._database.rows(
            "select path, skipped from file where skipped not in ('', ?) order by path",
            (Reason.UNKNOWN_LANGUAGE.value,),
        )
        return [Skipped(path, Reason(reason)) for path, reason in rows]

    def why_skipped(self, path: str) -> Reason | None:
        """The reason why a file is not indexed, None if it is or was not seen."""
        reason = self._database.value("select skipped from file where path = ?", (path,))
        return Reason(reason) if reason else None

    def problems(self) -> list[tuple[str, Problem]]:
        """(path, problem) for all that could not be read inside of files, by path and line."""
        rows = self._database.rows(
            "select f.path, p.line, p.message from problem p join file f on f.id = p.file_id "
            "order by f.path, p.position"
        )
        return [(path, Problem(line, message)) for path, line, message in rows]

    def counts(self) -> dict[str, dict[str, int]]:
        """The numbers of files by language, of symbols by kind, and of files that are not
        indexed by reason.
        """
        queries = {
            "files": "select language, count(*) from file where skipped = '' group by language",
            "symbols": "select kind, count(*) from symbol where file_id in (select id from file) group by kind",
            "skipped": "select skipped, count(*) from file where skipped not in ('', 'unknown_language') group by 1",
        }
        return {
            name: dict(self._database.rows(f"{query} order by 1"))
            for name, query in queries.items()
        }

    # Facts

    def facts(self, file_id: int) -> FileFacts:
        """All that is known of one file."""
        return read_facts(self._database, file_id)

    def imports(self, path: str) -> list[Import]:
        """The imports of a file, in order."""
        rows = self._database.rows(
            "select module, name, alias, line from import "
            "where file_id = (select id from file where path = ?) order by position", (path,)
        )  # fmt: skip
        return [Import(*row) for row in rows]

    def every_import(self) -> list[tuple[str, Import]]:
        """(path, import) for every import of every file, by path and line."""
        rows = self._database.rows(
            "select f.path, i.module, i.name, i.alias, i.line from import i join file f on f.id = i.file_id "
            "order by f.path, i.line, i.module, i.position"
        )
        return [(row[0], Import(*row[1:])) for row in rows]

    def files_mentioning(self, name: str) -> list[int]:
        """Ids of the files that use an identifier. Ids depend on history: order by path what people
        see.
        """
        posting = self._database.value("select files from mention where name = ?", (name,))
        return decode_ids(posting) if posting else []

    def mentions(self, mark: str = "") -> Iterator[tuple[str, list[int]]]:
        """Every mention that begins with a mark, without it, with the ids of the files that have
        it, by name.
        """
        query = "select name, files from mention where name between ? and ? and files != x'' order by name"
        rows = self._database.stream(query, (mark, mark + lookup.HIGHEST))
        return ((name.removeprefix(mark), decode_ids(posting)) for name, posting in rows)

    def files_of_namespace(self, namespace: str) -> list[int]:
        """Ids of the files that declare a package or namespace, ascending."""
        query = "select id from file where skipped = '' and namespace = ? order by id"
        return [row[0] for row in self._database.rows(query, (namespace,))]

    # Symbols

    def places_named(self, name: str) -> list[tuple[int, int, str, str]]:
        """(file id, position among its definitions, kind, owner's name) of every symbol of exactly
        this name.
        """
        query = "select file_id, position, kind, owner from symbol where name = ? order by 1, 2"
        return [(row[0], row[1], row[2], row[3]) for row in self._database.rows(query, (name,))]

    def symbol(self, symbol_id: str) -> Symbol | None:
        """The symbol of exactly this id."""
        return lookup.exact(self._database, symbol_id)

    def symbol_at(self, path: str, position: int) -> Symbol:
        """The symbol at a place among the definitions of a file; `IndexError` if there is none."""
        rows = self._database.rows(
            f"{SYMBOL_QUERY} where f.path = ? and s.position = ?", (path, position)
        )
        return symbol_of(rows[0])

    def positions_of(self, symbols: Collection[Symbol]) -> list[int]:
        """The place of each symbol among the definitions of its file."""
        names = {symbol.name for symbol in symbols}
        query = (
            "select f.path, s.qualname, s.position from symbol s join file f on f.id = s.file_id "
            f"where s.name in ({', '.join('?' * len(names))})"
        )
        positions = {
            (path, qualname): at for path, qualname, at in self._database.rows(query, tuple(names))
        }
        return [positions[symbol.path, symbol.qualname] for symbol in symbols]

    def symbols(self) -> Iterator[Symbol]:
        """All symbols by path and position, read as they are taken."""
        return map(symbol_of, self._database.stream(SYMBOL_QUERY + SYMBOL_ORDER))

    def unmentioned_symbols(self) -> Iterator[Symbol]:
        """Those whose own names no file mentions, by path and position, read as they are taken."""
        unmentioned = (
            "where not exists (select 1 from mention m where m.name = s.name and m.files != x'') "
        )
        return map(symbol_of, self._database.stream(SYMBOL_QUERY + unmentioned + SYMBOL_ORDER))

    def symbols_of(self, path: str) -> list[Symbol]:
        """The symbols of a file; their positions are those of its definitions."""
        file = self.file(path)
        if file is None:
            return []
        query = "select * from symbol where file_id = ? order by position"
        return symbols_in(path, file.language, self._database.rows(query, (file.id,)))

    def symbols_named(self, name: str) -> list[Symbol]:
        """Every symbol whose own name is exactly this."""
        rows = self._database.rows(f"{SYMBOL_QUERY} where s.name = ? {SYMBOL_ORDER}", (name,))
        return list(map(symbol_of, rows))

    def find(
        self, query: str, kinds: Collection[Kind] = (), limit: int = MAX_LOOKUP_SYMBOLS
    ) -> list[Symbol]:
        """The symbols that a user's words may mean; `lookup` says how they are read."""
        return lookup.find(self._database, query, frozenset(kinds), limit)

    def suggestions(self, query: str, limit: int) -> list[str]:
        """Names that look like the last part of a query that found nothing, the likeliest first."""
        return lookup.suggestions(self._database, query, limit)


def _is_readable(meta: dict[str, str]) -> bool:
    """True if this program can read the facts of an index: its own, and those of its base."""
    is_ours = meta.get("encoding") == ENCODING
    return is_ours and ("base" not in meta or _place_of(meta["base"]).is_file())


def _place_of(base: str) -> Path:
    """The path of a base, which lies in their folder whatever an index says that others wrote."""
    return Path(index_places("/").shared) / Path(base).name


def _own_directory(root: Path) -> Path:
    """The folder of this user's index of a resolved root, in the repository, kept out of version
    control by an ignore file of its own; elsewhere where somebody else uses that place.

    A repository is not trusted to say where we write, nor what we read: an index that may have come
    with it has another name, and is none of ours.
    """
    places = index_places(str(root))
    around = root / INDEX_DIRECTORY
    own, second = Path(places.in_repository), Path(places.elsewhere)
    if not own.exists() and (second.exists() or _is_of_others(around, places.reader)):
        second.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        return _made(second, places.reader, MAX_SECOND_INDEXES)
    around.mkdir(exist_ok=True)
    made = _made(own, places.reader, MAX_KEPT_INDEXES)
    ignore_itself(str(around))
    return made


def _is_of_others(around: Path, reader: str) -> bool:
    """True if the index directory of a repository is not for this reader: it is a relay's home or a
    link, it cannot be written, another user has made it, or an index of another reader lies there.
    """
    if is_relay_home(str(around)):
        return True
    try:
        status = around.lstat()
    except FileNotFoundError:
        return not os.access(around.parent, os.W_OK)
    is_own = stat.S_ISDIR(status.st_mode) and is_of_user(status)
    if not (is_own and os.access(around, os.W_OK)):
        return True
    return any(not name.startswith(reader) for name in _indexes(around))


def _made(directory: Path, reader: str, most: int) -> Path:
    """A private folder for an index, for which the oldest of this reader make room."""
    if not directory.exists():
        _make_room(directory.parent, reader, most)
        directory.mkdir(0o700, exist_ok=True)
    if not is_private(str(directory)):
        raise PermissionError(f"{directory.parent.name} holds an index that others may write to")
    for path in (directory, directory / INDEX_FILE):
        if path.exists() and not os.access(path, os.W_OK):
            raise PermissionError(f"{path.relative_to(directory.parent.parent)} cannot be written")
    return directory


def _make_room(around: Path, reader: str, most: int) -> None:
    from shutil import rmtree  # only who makes an index needs it

    own = sorted(
        (around / name for name in _indexes(around) if name.startswith(reader)),
        key=lambda path: (path.stat().st_mtime_ns, path.name),
    )
    for path in own[: max(0, len(own) + 1 - most)]:
        rmtree(path, ignore_errors=True)


def _indexes(around: Path) -> list[str]:
    return [name for name in os.listdir(around) if _INDEX_NAME.fullmatch(name)]
