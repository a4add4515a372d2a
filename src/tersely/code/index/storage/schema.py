"""The tables of the index, and how their rows become the values that `code` speaks about."""

from __future__ import annotations

import marshal
import sys
from array import array
from typing import Any, NamedTuple

from tersely.code.places import file_name_of
from tersely.code.symbols import Definition, FileFacts, Import, Kind, Problem, Symbol, numbered
from tersely.foundation.storage.database import Database, Row, Schema, damaged
from tersely.foundation.storage.hashing import sealed, unsealed

# `facts` holds all that is known of a file. The tables after it are read from it, so that questions
# across files need not decode every one: what is defined, imported and mentioned where.
SCHEMA = Schema(
    version=2,
    sql="""
create table meta (key text primary key, value text not null) without rowid;

create table file (
    id integer primary key,
    path text not null unique,
    name text not null,        -- last part of the path
    language text not null,    -- empty where the file is skipped
    size integer not null,
    mtime_ns integer not null, -- 0: written so shortly before it was read that only its hash can be trusted
    ctime_ns integer not null,
    hash blob not null,
    namespace text not null,
    skipped text not null,     -- why the file is not indexed, empty for those that are
    shared integer not null    -- 1: what is known of it lies in the base
);

create table facts (file_id integer primary key, facts blob not null);

create table symbol (
    file_id integer not null,
    position integer not null, -- in the file's definitions, 0 is the module
    name text not null,
    qualname text not null,    -- unique in the file, by `#2` where need be
    owner text not null,       -- last part of what precedes the name in qualname
    kind text not null,
    parent integer not null,   -- position, -1 for the module
    start_line integer not null,
    end_line integer not null,
    name_line integer not null,
    start_byte integer not null,
    end_byte integer not null,
    signature_end_byte integer not null,
    doc_start_byte integer not null,
    doc_end_byte integer not null,
    primary key (file_id, position)
) without rowid;

create table import (
    file_id integer not null,
    position integer not null,
    module text not null,
    name text not null,
    alias text not null,
    line integer not null,
    primary key (file_id, position)
) without rowid;

create table mention (name text primary key, files blob not null) without rowid; -- ids in ascending order, 4 bytes each

create table problem (
    file_id integer not null,
    position integer not null,
    line integer not null,
    message text not null,
    primary key (file_id, position)
) without rowid;
""",
)
# Made when a refresh ends, if they are not there: a first build is faster without them.
INDEXES = """
create index if not exists main.file_name on file (name);
create index if not exists main.file_namespace on file (namespace);
create index if not exists main.symbol_name on symbol (name);
create index if not exists main.symbol_owner on symbol (owner);
"""
WITHOUT_INDEXES = """
drop index if exists main.file_name;
drop index if exists main.file_namespace;
drop index if exists main.symbol_name;
drop index if exists main.symbol_owner;
"""
TABLES_BY_FILE = ("facts", "symbol", "import", "problem")
# An index may have a base, an index that others have too (`shared`): each table then stands for its own rows and
# those of the base that still hold. An own posting of a name, though it be empty, replaces that of the base.
WITH_BASE = (
    "".join(
        f"""
create temp view {table} as select * from main.{table} union all
select b.* from main.file f join base.{table} b on b.file_id = f.id where f.shared;
"""
        for table in TABLES_BY_FILE
    )
    + """
create temp view mention as select * from main.mention union all select b.* from base.mention b
where not exists (select 1 from main.mention m where m.name = b.name);
"""
)
WITHOUT_BASE = "".join(
    f"drop view if exists temp.{table};\n" for table in ("mention", *TABLES_BY_FILE)
)
ADOPTION = """
insert into main.file select id, path, name, language, size, 0, 0, hash, namespace, skipped, 1 from base.file
where hash != x'';
insert into main.meta select * from base.meta;
"""

# Facts are marshalled and postings are machine words: another Python or machine builds its own.
ENCODING = f"py{sys.version_info[0]}.{sys.version_info[1]} {sys.byteorder}"

SYMBOL_QUERY = """
select f.path, f.language, s.kind, s.name, s.qualname,
    (select p.qualname from symbol p where p.file_id = s.file_id and p.position = s.parent),
    s.start_line, s.end_line, s.name_line,
    s.start_byte, s.end_byte, s.signature_end_byte, s.doc_start_byte, s.doc_end_byte, s.position
from symbol s join file f on f.id = s.file_id
"""

SYMBOL_ORDER = "order by f.path, s.position"

_KINDS = {kind.value: kind for kind in Kind}


class IndexedFile(NamedTuple):
    """A file whose facts are in the index."""

    id: int
    path: str
    language: str
    size: int  # bytes
    hash: bytes
    namespace: str


class KnownFile(NamedTuple):
    """A file as it was when it was last looked at, indexed or skipped."""

    id: int
    size: int
    mtime_ns: int
    ctime_ns: int
    hash: bytes
    skipped: str
    is_outdated: bool = False  # looked at by a program that finds other facts in its language


class Job(NamedTuple):
    """A file to be read, with what is to be remembered of its `stat`."""

    file_id: int
    path: str
    size: int
    mtime_ns: int
    ctime_ns: int


class Batch(NamedTuple):
    """Rows of new facts, made ready for their tables away from the database; marshallable as they
    stand.
    """

    files: list[Row]
    facts: list[Row]
    symbols: list[Row]
    imports: list[Row]
    problems: list[Row]
    mentions: dict[str, list[int]]  # ids of the files that mention the name, ascending

    @classmethod
    def empty(cls) -> Batch:
        """A batch to be filled."""
        return cls([], [], [], [], [], {})

    def skip(self, job: Job, digest: bytes, reason: str, detail: str = "") -> None:
        """Add a file that was looked at and has no facts."""
        self.files.append(file_row(job, digest, "", "", str(reason)))
        if detail:
            self.problems.append((job.file_id, 0, 0, detail))


def encode_facts(facts: FileFacts) -> bytes:
    """Facts without their classes: `marshal` knows only plain values."""
    definitions = [(str(definition[0]), *definition[1:]) for definition in facts.definitions]
    imports = list(map(tuple, facts.imports))
    problems = list(map(tuple, facts.problems))
    return sealed(
        marshal.dumps(
            (definitions, facts.scopes, imports, facts.mentions, facts.namespace, problems)
        )
    )


def decode_facts(encoded: bytes) -> FileFacts:
    """The facts that `encode_facts` was given; raises `ValueError` for bytes that it did not make."""
    body = unsealed(encoded)
    definitions, scopes, imports, mentions, namespace, problems = marshal.loads(body)  # noqa: S302 - our own
    return FileFacts(
        tuple(map(Definition._make, definitions)),
        scopes,
        tuple(map(Import._make, imports)),
        mentions,
        namespace,
        tuple(map(Problem._make, problems)),
    )


def read_facts(database: Database, file_id: int) -> FileFacts:
    """The facts of a file; raises `KeyError` where there are none, `database_corrupt` where they
    are damaged.
    """
    encoded = database.value("select facts from facts where file_id = ?", (file_id,))
    if encoded is None:
        raise KeyError(file_id)
    try:
        return decode_facts(encoded)
    except (ValueError, TypeError) as error:
        raise damaged(database.path) from error


def encode_ids(ids: list[int]) -> bytes:
    """File ids as a posting."""
    return array("I", ids).tobytes()


def decode_ids(posting: bytes) -> list[int]:
    """The file ids of a posting."""
    ids = array("I")
    ids.frombytes(posting)
    return ids.tolist()


def symbol_id(path: str, qualname: str) -> str:
    """The id of a definition; a module's qualified name is empty."""
    return f"{path}:{qualname}" if qualname else path


def symbol_of(row: Row) -> Symbol:
    """The value of a row of `SYMBOL_QUERY`."""
    path, language, kind, name, qualname, owner, *places, _ = row
    parent = "" if owner is None else symbol_id(path, owner)
    return Symbol(
        symbol_id(path, qualname), path, language, _KINDS[kind], name, qualname, parent, *places
    )


def symbols_of_facts(path: str, language: str, definitions: tuple[Definition, ...]) -> list[Symbol]:
    """The symbols of a file that is in no index, such as an earlier version of one."""
    return symbols_in(path, language, symbol_rows(0, path, definitions))


def symbols_in(path: str, language: str, rows: list[Row]) -> list[Symbol]:
    """The symbols of a file whose rows of the table `symbol` these are."""
    owners = [*(row[3] for row in rows), None]  # the module's is at -1
    return [
        symbol_of((path, language, row[5], row[2], row[3], owners[row[6]], *row[7:], 0))
        for row in rows
    ]


def file_row(job: Job, digest: bytes, language: str, namespace: str, skipped: str = "") -> Row:
    """The row of an indexed file."""
    name = file_name_of(job.path)
    return (job.file_id, job.path, name, language, *job[2:], digest, namespace, skipped)


def symbol_rows(file_id: int, path: str, definitions: tuple[Definition, ...]) -> list[Row]:
    """Rows of the table `symbol` for the definitions of one file."""
    rows: list[Row] = []
    for position, definition in enumerate(definitions):
        kind, name, qualname, parent, *places, number = definition
        unique = numbered(qualname, number)
        owner = qualname[: -len(name) - 1].rpartition(".")[2] if name else ""
        shown: Any = name if position else _stem(path)
        rows.append((file_id, position, shown, unique, owner, str(kind), parent, *places))
    return rows


def _stem(path: str) -> str:
    name = file_name_of(path)
    return name.rpartition(".")[0] or name
