"""The tables of the store in PostgreSQL, as the steps that led to them. Steps are only ever added
at the end.

They are those of `store/schema.py`, each with a tenant in every key. A table is in `tersely_base`,
behind row-level security; what is read and written is a view of it in `tersely`, which has the rows
of one tenant alone.
"""

from __future__ import annotations

TENANT = "tersely.tenant"  # the setting of a session that says whose rows it sees
_TEXT = 'text collate "C" not null'  # in the order of SQLite


def _views(*tables: str) -> str:
    """The statements that make each table be seen by tenant, `tenant` being its last column."""
    mine = f"tenant = current_setting('{TENANT}')"
    return "".join(
        f"create view tersely.{table} with (security_invoker = true) as "
        f"select * from tersely_base.{table} where {mine} with check option;\n"
        for table in tables
    )


def _walls(*tables: str) -> str:
    """The statements that hide the rows of other tenants, whichever way a table is read."""
    mine = f"(tenant = current_setting('{TENANT}'))"
    return "".join(
        f"alter table tersely_base.{table} enable row level security, force row level security;\n"
        f"create policy tenant on tersely_base.{table} using {mine} with check {mine};\n"
        for table in tables
    )


def _tables(script: str) -> str:
    """A script with what its tables have in common written out."""
    tenant = f"tenant {_TEXT} default current_setting('{TENANT}')"
    key = "bigint generated always as identity"
    return script.replace("KEY", key).replace("TEXT", _TEXT).replace("NUMBER", "bigint not null").replace(
        "BYTES", "bytea not null").replace("TENANT", tenant)  # fmt: skip


_KEPT = (
    "stream", "entry", "document", "version", "blob", "chunk", "attachment", "words", "cached", "total", "counter",
    "receipt", "identity", "member", "message", "delivery", "sequence",
)  # fmt: skip
# Lexemes by row number. An index of lexemes is of no use behind row-level security, and no text is
# in them.
_LEXEMES = ("word_lexemes", "message_words")

_FIRST = (
    _tables("""
create schema tersely;
create table tersely_base.stream (
    id KEY, name TEXT, last NUMBER, TENANT, primary key (tenant, id), unique (tenant, name)
);
create table tersely_base.entry (
    stream NUMBER, number NUMBER, at_ms NUMBER, kind TEXT, body BYTES, TENANT, primary key (tenant, stream, number)
);
create table tersely_base.document (
    id KEY, name TEXT, version NUMBER, body BYTES, TENANT, primary key (tenant, id), unique (tenant, name)
);
create table tersely_base.version (
    document NUMBER, number NUMBER, at_ms NUMBER, author TEXT, change BYTES, body bytea, TENANT,
    primary key (tenant, document, number)
);
create table tersely_base.blob (
    digest TEXT, size NUMBER, at_ms NUMBER, body bytea, TENANT, primary key (tenant, digest)
);
create table tersely_base.chunk (
    digest TEXT, number NUMBER, body BYTES, TENANT, primary key (tenant, digest, number)
);
create table tersely_base.attachment (
    id KEY, owner TEXT, number NUMBER, name TEXT, digest TEXT, at_ms NUMBER, body BYTES, TENANT,
    primary key (tenant, id), unique (tenant, owner, name), unique (tenant, owner, number)
);
create index attachment_digest on tersely_base.attachment (tenant, digest);
create table tersely_base.words (rowid NUMBER, owner TEXT, text TEXT, TENANT, primary key (tenant, rowid));
create table tersely_base.word_lexemes (rowid NUMBER, lexemes tsvector not null, TENANT, primary key (tenant, rowid));
create index word_lexemes_found on tersely_base.word_lexemes using gin (lexemes);

create table tersely_base.cached (
    key TEXT, at_ms NUMBER, expires_ms NUMBER, used_ms NUMBER, body BYTES, TENANT, primary key (tenant, key)
);
create index cached_used on tersely_base.cached (tenant, used_ms);
create table tersely_base.total (name TEXT, amount NUMBER, TENANT, primary key (tenant, name));
create table tersely_base.counter (scope TEXT, name TEXT, amount NUMBER, TENANT, primary key (tenant, scope, name));
create table tersely_base.receipt (
    key TEXT, at_ms NUMBER, fingerprint BYTES, given BYTES, TENANT, primary key (tenant, key)
);
create index receipt_at on tersely_base.receipt (tenant, at_ms);

create table tersely_base.identity (
    name TEXT, kind TEXT, project TEXT, details BYTES, token bytea, session TEXT, resume bytea, first_ms NUMBER,
    last_ms NUMBER, TENANT, primary key (tenant, name)
);
create table tersely_base.member (channel TEXT, name TEXT, at_ms NUMBER, TENANT, primary key (tenant, channel, name));

-- The next number of a tenant's messages, whose transactions come one after the other.
create function tersely_base.next_message() returns bigint language plpgsql volatile as $$
begin
    return (select coalesce(max(number), 0) + 1 from tersely_base.message
        where tenant = current_setting('tersely.tenant'));
end $$;
create table tersely_base.message (
    number bigint not null default tersely_base.next_message(), sender TEXT, sender_kind TEXT, id TEXT, at_ms NUMBER,
    addressed TEXT, topic TEXT, thread TEXT, kind TEXT, payload BYTES, treatment BYTES, TENANT,
    primary key (tenant, number), unique (tenant, sender, id)
);
create index message_thread on tersely_base.message (tenant, thread, number) where thread <> '';
create table tersely_base.delivery (
    mailbox TEXT, message NUMBER, seq NUMBER, stage bigint not null default 0, attempts NUMBER, size NUMBER,
    expires_ms bigint, delivered_ms bigint, injected_ms bigint, seen_ms bigint, dead_ms bigint,
    note TEXT default '', TENANT, primary key (tenant, mailbox, message)
);
create index delivery_message on tersely_base.delivery (tenant, message);
create index delivery_waiting on tersely_base.delivery (tenant, mailbox, message) where stage = 0;
create index delivery_expiring on tersely_base.delivery (tenant, expires_ms)
    where stage = 0 and expires_ms is not null;
create index delivery_dead on tersely_base.delivery (tenant, message) where stage = 9;
create table tersely_base.sequence (name TEXT, last NUMBER, TENANT, primary key (tenant, name));
create table tersely_base.message_words (rowid NUMBER, lexemes tsvector not null, TENANT, primary key (tenant, rowid));
create index message_words_found on tersely_base.message_words using gin (lexemes);
""")
    + _views(*_KEPT, *_LEXEMES)
    + _walls(*_KEPT)
)

_PRESENCE = (
    _tables("""
-- Who is connected to which process; what a process that is gone has left counts for nothing.
create table tersely_base.presence (
    name TEXT, process NUMBER, kind TEXT, activity TEXT, topics BYTES, TENANT, primary key (tenant, name)
);
""")
    + _views("presence")
    + _walls("presence")
)

MIGRATIONS: tuple[str, ...] = (_FIRST, _PRESENCE)
