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

create table work (
    queue text not null, number integer not null, id text not null, at_ms integer not null, body blob not null,
    due_ms integer not null, expires_ms integer, attempts integer not null default 0, token integer not null default 0,
    status text not null default 'waiting', note text not null default '', primary key (queue, number)
) without rowid;
create index work_due on work (queue, due_ms, number) where status = 'waiting';
create table lease (
    name text primary key, holder text not null, token integer not null, until_ms integer not null
) without rowid;

create table cached (
    key text primary key, at_ms integer not null, expires_ms integer not null, used_ms integer not null,
    hits integer not null default 0, body blob not null
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

MIGRATIONS: tuple[str, ...] = (_FIRST,)
