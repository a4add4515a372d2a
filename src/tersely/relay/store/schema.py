"""The tables of the store, as the steps that led to them. Steps are only ever added at the end."""

from __future__ import annotations

_FIRST = """
create table stream (id integer primary key, name text not null unique, last integer not null);
create table entry (
    stream integer not null references stream, number integer not null, at_ms integer not null,
    kind text not null, body blob not null, primary key (stream, number)
) without rowid;

create table document (id integer primary key, name text not null unique, version integer not null, body blob not null);
-- The body of a version is kept with every so many; the others follow from the one before and their changes.
create table version (
    document integer not null references document, number integer not null, at_ms integer not null,
    author text not null, change blob not null, body blob, primary key (document, number)
) without rowid;

create table blob (digest text primary key, size integer not null, at_ms integer not null, body blob) without rowid;
create table attachment (
    id integer primary key, owner text not null, number integer not null, name text not null,
    digest text not null, at_ms integer not null, body blob not null, unique (owner, name)
);
create unique index attachment_number on attachment (owner, number);
create index attachment_digest on attachment (digest);
create virtual table words using fts5 (owner, text, tokenize = "unicode61 remove_diacritics 2 tokenchars '_'");

create table cached (
    key text primary key, at_ms integer not null, expires_ms integer not null, used_ms integer not null,
    body blob not null
) without rowid;
create index cached_used on cached (used_ms);
create table total (name text primary key, amount integer not null) without rowid;
create table counter (scope text not null, name text not null, amount integer not null, primary key (scope, name))
without rowid;
create table receipt (
    key text primary key, at_ms integer not null, fingerprint blob not null, given blob not null
) without rowid;
create index receipt_at on receipt (at_ms);
"""

_MAIL = """
create table identity (
    name text primary key, kind text not null, project text not null, details blob not null, token blob,
    session text not null, resume blob, first_ms integer not null, last_ms integer not null
) without rowid;
create table member (
    channel text not null, name text not null, at_ms integer not null, primary key (channel, name)
) without rowid;

create table message (
    number integer primary key, sender text not null, sender_kind text not null, id text not null,
    at_ms integer not null, addressed text not null, topic text not null, thread text not null, kind text not null,
    payload blob not null, treatment blob not null, unique (sender, id)
);
create index message_thread on message (thread, number) where thread <> '';
-- Stages: 0 accepted, 1 delivered, 2 injected, 3 seen, 9 a dead letter.
create table delivery (
    mailbox text not null, message integer not null references message, seq integer not null,
    stage integer not null default 0, attempts integer not null, size integer not null, expires_ms integer,
    delivered_ms integer, injected_ms integer, seen_ms integer, dead_ms integer, note text not null default '',
    primary key (mailbox, message)
) without rowid;
create index delivery_message on delivery (message);
create index delivery_waiting on delivery (mailbox, message) where stage = 0;
create index delivery_expiring on delivery (expires_ms) where stage = 0 and expires_ms is not null;
create index delivery_dead on delivery (message) where stage = 9;
create table sequence (name text primary key, last integer not null) without rowid;

create virtual table message_words using fts5 (
    text, content='', contentless_delete=1, tokenize = "unicode61 remove_diacritics 2"
);
"""

# What waits is counted from the index alone when a relay starts; SQLite reads the row for a column that only the
# condition of an index names.
_WAITING = """
drop index delivery_waiting;
create index delivery_waiting on delivery (mailbox, message, stage, size) where stage = 0;
"""

MIGRATIONS: tuple[str, ...] = (_FIRST, _MAIL, _WAITING)
