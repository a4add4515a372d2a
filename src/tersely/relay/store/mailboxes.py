"""The tables of messages: what is accepted, for whom it waits, how far each delivery has come.

Writing happens inside the writer's transaction, many messages as one job: one that is refused is a
value of the result, for it has changed nothing.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from enum import IntEnum
from itertools import groupby
from types import MappingProxyType
from typing import Any, NamedTuple

from tersely.foundation.limits import INDEXED_MESSAGES, MAX_READ_ENTRIES
from tersely.foundation.types import JsonMapping
from tersely.relay.encoding import decode, encode
from tersely.relay.store.engines.engine import FullText, Statements
from tersely.relay.store.tables import Tables, set_total


class Stage(IntEnum):
    """The stages of a message on its way to one recipient."""

    ACCEPTED = 0
    DELIVERED = 1
    INJECTED = 2
    SEEN = 3
    DEAD = 9


EXPIRED = "expired"
RETIRED = "retired"  # why a message is dead whose recipient is no agent any more
_IN_USE = "mailboxes in use"
_INDEXED = "indexed messages"
_OF_IDENTITY = "name, kind, project, details, token, session, resume, first_ms, last_ms"


class Post(NamedTuple):
    """A message to be accepted: `payload` and `treatment` are JSON, the latter empty without any.
    `mailboxes` are its recipients, each with the attempts that count as made.
    """

    sender: str
    sender_kind: str
    id: str
    at_ms: int
    addressed: str
    topic: str
    thread: str
    kind: str
    payload: bytes
    treatment: bytes
    mailboxes: tuple[tuple[str, int], ...] = ()
    expires_ms: int | None = None


class Posted(NamedTuple):
    """The result of posting a message: its number of the message, and of each delivery its mailbox
    and sequence number.

    `number` is 0 where the id was used for something else.
    """

    number: int
    deliveries: tuple[tuple[str, int], ...] = ()
    is_repetition: bool = False


class Mark(NamedTuple):
    """A note on one delivery: a stage that it reached, or an attempt."""

    mailbox: str
    message: int
    stage: Stage
    at_ms: int
    attempts: int = 0  # made so far, where the stage is `ACCEPTED`
    note: str = ""


class Waiting(NamedTuple):
    """One delivery with its message."""

    number: int
    mailbox: str
    sender: str
    sender_kind: str
    id: str
    at_ms: int
    addressed: str
    topic: str
    thread: str
    kind: str
    payload: bytes
    treatment: bytes
    seq: int
    stage: Stage
    attempts: int
    expires_ms: int | None
    delivered_ms: int | None
    injected_ms: int | None
    seen_ms: int | None
    dead_ms: int | None
    note: str


class HistoryMessage(NamedTuple):
    """One message of the history, with whom it went to and how far it came."""

    number: int
    sender: str
    id: str
    at_ms: int
    addressed: str
    topic: str
    thread: str
    kind: str
    payload: bytes
    deliveries: tuple[tuple[str, Stage], ...]


class Identity(NamedTuple):
    """Somebody who has used a name. `token` and `resume` are hashes; without a token the name is
    not bound.
    """

    name: str
    kind: str = "agent"
    project: str = ""
    details: JsonMapping = MappingProxyType({})
    token: bytes | None = None
    session: str = ""
    resume: bytes | None = None
    first_ms: int = 0
    last_ms: int = 0


class Settled(NamedTuple):
    """A delivery that waits no longer, or waits again (`is_open`)."""

    mailbox: str
    size: int
    is_open: bool = False


# Writing


def post(tables: Tables, posts: Iterable[Post]) -> list[Posted]:
    """Accept messages, in their order."""
    wanted, database = list(posts), tables.database
    rows = database.row_each(_INSERT_MESSAGE, [one[:10] for one in wanted])
    numbers = [0 if row is None else int(row[0]) for row in rows]
    deliveries = _deliver(tables, zip(numbers, wanted, strict=True))
    return [
        Posted(number, tuple(deliveries[number])) if number else _repeated(database, one)
        for number, one in zip(numbers, wanted, strict=True)
    ]


_INSERT_MESSAGE = (
    "insert into message (sender, sender_kind, id, at_ms, addressed, topic, thread, kind, payload, treatment) "
    "values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?) on conflict (sender, id) do nothing returning number"
)
_NEXT_SEQ = (
    "insert into sequence values (?, 1) "
    "on conflict (name) do update set last = sequence.last + 1 returning last"
)
_INSERT_DELIVERY = (
    "insert into delivery (mailbox, message, seq, attempts, size, expires_ms) "
    "values (?, ?, ?, ?, ?, ?)"
)


def _deliver(
    tables: Tables, numbered: Iterable[tuple[int, Post]]
) -> dict[int, list[tuple[str, int]]]:
    """Put new messages, whose numbers are not 0, into their mailboxes; of each number the mailboxes,
    with the sequence number in each.
    """
    going = [
        (number, one, mailbox, attempts)
        for number, one in numbered
        if number
        for mailbox, attempts in one.mailboxes
    ]
    names = [(sequence_name(mailbox, one.sender, one.topic),) for _, one, mailbox, _ in going]
    deliveries: dict[int, list[tuple[str, int]]] = defaultdict(list)
    rows = []
    for (number, one, mailbox, attempts), row in zip(
        going, tables.database.row_each(_NEXT_SEQ, names), strict=True
    ):
        assert row is not None
        size = len(one.payload) + len(one.treatment)
        rows.append((mailbox, number, row[0], attempts, size, one.expires_ms))
        tables.news.load(mailbox, size)
        deliveries[number].append((mailbox, row[0]))
    tables.database.execute_many(_INSERT_DELIVERY, rows)
    return deliveries


def _repeated(database: Statements, one: Post) -> Posted:
    row = database.row(
        "select number, addressed, topic, payload, treatment from message where sender = ? and id = ?",
        (one.sender, one.id),
    )
    assert row is not None
    if row[1:] != (one.addressed, one.topic, one.payload, one.treatment):
        return Posted(0)
    found = database.rows("select mailbox, seq from delivery where message = ?", (row[0],))
    return Posted(row[0], tuple((mailbox, seq) for mailbox, seq in found), is_repetition=True)


def mark(tables: Tables, marks: Iterable[Mark]) -> list[Settled]:
    """Note how far deliveries have come; those that do not wait any more."""
    database = tables.database
    attempts = [
        (one.attempts, one.mailbox, one.message) for one in marks if one.stage is Stage.ACCEPTED
    ]
    if attempts:
        database.execute_many(
            "update delivery set attempts = ? where mailbox = ? and message = ?", attempts
        )
    settled = []
    advanced = (one for one in marks if one.stage is not Stage.ACCEPTED)
    for stage, found in groupby(advanced, key=lambda one: one.stage):
        together = list(found)
        values = [(one.at_ms, one.note, one.mailbox, one.message) for one in together]
        rows = database.row_each(_ADVANCE[stage], values)
        settled += [
            Settled(one.mailbox, row[0])
            for one, row in zip(together, rows, strict=True)
            if row is not None and row[1]
        ]
    return _told(tables, settled)


def _told(tables: Tables, settled: list[Settled]) -> list[Settled]:
    """The same, for others to be told."""
    for one in settled:
        tables.news.load(one.mailbox, one.size, 1 if one.is_open else -1)
    return settled


# A later stage is never taken back, and a letter that died of age was delivered after all if its
# recipient says so.
# What is given back says whether the delivery was waiting before: then none of the times was set.
_ADVANCE = {
    stage: f"update delivery set {column} = ?, stage = {stage:d}, note = ? where mailbox = ? and message = ? and "
    f"(stage < {stage:d}{late}) returning size, {others}"
    for stage, column, late, others in (
        (Stage.DELIVERED, "delivered_ms", " or note = 'expired'", "dead_ms is null"),
        (Stage.INJECTED, "injected_ms", " or note = 'expired'", "delivered_ms is null and dead_ms is null"),
        (Stage.SEEN, "seen_ms", " or note = 'expired'",
         "delivered_ms is null and injected_ms is null and dead_ms is null"),
        (Stage.DEAD, "dead_ms", " and stage = 0", "true"),
    )
}  # fmt: skip


def expire(tables: Tables) -> tuple[list[Settled], int | None]:
    """Make dead letters of what nobody has taken in its time; and when the next would be one."""
    which = "expires_ms is not null and expires_ms <= ?"
    settled = _end(tables, EXPIRED, which, tables.now_ms)
    sql = "select min(expires_ms) from delivery where stage = 0 and expires_ms is not null"
    return settled, tables.database.value(sql)


def _end(tables: Tables, note: str, which: str, value: Any) -> list[Settled]:
    """Make dead letters of some that wait."""
    rows = tables.database.rows(
        f"update delivery set stage = {Stage.DEAD:d}, dead_ms = ?, note = ? "
        f"where stage = 0 and {which} returning mailbox, size",
        (tables.now_ms, note, value),
    )
    return _told(tables, [Settled(*row) for row in rows])


def revive(tables: Tables, number: int, mailbox: str) -> list[Settled]:
    """Let a dead letter wait again, of one mailbox or, without, of all that it died in."""
    rows = tables.database.rows(
        "update delivery set stage = 0, dead_ms = null, note = '', expires_ms = null "
        f"where message = ? and stage = {Stage.DEAD:d} and (? = '' or mailbox = ?) returning mailbox, size",
        (number, mailbox, mailbox),
    )
    tables.news.revived.update((mailbox, number) for mailbox, _ in rows)
    return _told(tables, [Settled(mailbox, size, is_open=True) for mailbox, size in rows])


def introduce(tables: Tables, one: Identity) -> None:
    """Remember who uses a name."""
    sql = (
        f"insert into identity ({_OF_IDENTITY}) values (?, ?, ?, ?, ?, ?, ?, ?, ?) on conflict (name) do update "
        f"set {', '.join(f'{column} = excluded.{column}' for column in _OF_IDENTITY.split(', ')[1:])}"
    )
    tables.database.execute(sql, one._replace(details=encode(one.details)))  # type: ignore[arg-type]
    tables.news.names.add(one.name)


def retire(tables: Tables, name: str) -> list[Settled]:
    """Forget who uses a name, and make dead letters of what waits for it; what was sent and read
    stays.
    """
    database = tables.database
    left = database.rows("delete from member where name = ? returning channel", (name,))
    database.execute("delete from identity where name = ?", (name,))
    tables.news.names.add(name)
    tables.news.channels.update(row[0] for row in left)
    return _end(tables, RETIRED, "mailbox = ?", name)


def take(tables: Tables, mailbox: str, after: int, limit: int) -> list[Waiting]:
    """The messages that wait in a mailbox behind a number, the oldest first, each with the attempt
    that is made now.
    """
    found = waiting(tables.database, mailbox, after, limit)
    if found:
        sql = "update delivery set attempts = attempts + 1 where mailbox = ? and stage = 0 and message between ? and ?"
        tables.database.execute(sql, (mailbox, found[0].number, found[-1].number))
    return [one._replace(attempts=one.attempts + 1) for one in found]


def take_over(tables: Tables) -> None:
    """Begin where another process has ended. Attempts that it made and could not note any more are
    made up for.
    """
    make_up_attempts(tables.database)
    set_total(tables.database, _IN_USE, 1)


def make_up_attempts(database: Statements) -> None:
    """Count an attempt for all that waits where a process has ended without noting which it made."""
    if database.value(f"select amount from total where name = '{_IN_USE}'"):
        database.execute("update delivery set attempts = attempts + 1 where stage = 0")
        set_total(database, _IN_USE, 0)


def forget_indexed(database: Statements) -> None:
    """Have the index of the words of messages be made anew."""
    database.execute("delete from total where name = ?", (_INDEXED,))


def hand_over(tables: Tables) -> None:
    """End with all attempts noted."""
    set_total(tables.database, _IN_USE, 0)


def join(tables: Tables, channel: str, name: str) -> None:
    """Make somebody a member of a channel."""
    sql = "insert into member values (?, ?, ?) on conflict (channel, name) do nothing"
    tables.database.execute(sql, (channel, name, tables.now_ms))
    tables.news.channels.add(channel)


def leave(tables: Tables, channel: str, name: str) -> None:
    """Make somebody a member no longer."""
    tables.database.execute("delete from member where channel = ? and name = ?", (channel, name))
    tables.news.channels.add(channel)


def index(tables: Tables, text: Callable[[bytes], str]) -> int:
    """Make some more messages be found by their words; how many."""
    database = tables.database
    done: int | None = database.value("select amount from total where name = ?", (_INDEXED,))
    rows = database.rows(
        "select number, sender, payload from message where number > ? order by number limit ?",
        (done or 0, INDEXED_MESSAGES),
    )
    if rows:
        tables.words.add_messages(database, [(row[0], f"{row[1]} {text(row[2])}") for row in rows])
        set_total(database, _INDEXED, rows[-1][0])
    return len(rows)


def sweep(tables: Tables, older_than_ms: int, limit: int) -> int:
    """Forget messages of before a time that nobody waits for and that are no dead letters; how
    many.
    """
    database = tables.database
    # Never the latest, whose number would be given again.
    old = database.rows(
        "select number from message where at_ms < ? and number < (select max(number) from message) "
        "and not exists (select 1 from delivery where message = number "
        f"and stage in ({Stage.ACCEPTED:d}, {Stage.DEAD:d})) limit ?",
        (older_than_ms, limit),
    )
    for table, column in (
        ("delivery", "message"),
        ("message_words", "rowid"),
        ("message", "number"),
    ):
        database.execute_many(f"delete from {table} where {column} = ?", old)
    return len(old)


# Reading

_COLUMNS = (
    "number, mailbox, sender, sender_kind, id, at_ms, addressed, topic, thread, kind, payload, treatment, seq, stage, "
    "attempts, expires_ms, delivered_ms, injected_ms, seen_ms, dead_ms, note"
)
_JOINED = f"select {_COLUMNS} from delivery join message on message.number = delivery.message"


def waiting(database: Statements, mailbox: str, after: int, limit: int) -> list[Waiting]:
    """The messages that wait in a mailbox behind a number, the oldest first."""
    which = "mailbox = ? and delivery.message > ? and stage = 0 order by delivery.message limit ?"
    return _found(database, which, mailbox, after, limit)


def box(database: Statements, mailbox: str, after: int, limit: int) -> list[Waiting]:
    """All that came to a mailbox behind a number, whatever became of it, the oldest first."""
    which = "mailbox = ? and delivery.message > ? order by delivery.message limit ?"
    return _found(database, which, mailbox, after, min(limit, MAX_READ_ENTRIES))


def dead(database: Statements, after: int, limit: int) -> list[Waiting]:
    """The dead letters behind a number, the oldest first."""
    which = f"stage = {Stage.DEAD:d} and delivery.message > ? order by delivery.message limit ?"
    return _found(database, which, after, min(limit, MAX_READ_ENTRIES))


def delivery(database: Statements, mailbox: str, number: int) -> Waiting | None:
    """One delivery."""
    found = _found(database, "mailbox = ? and delivery.message = ?", mailbox, number)
    return found[0] if found else None


class Sought(NamedTuple):
    """The messages that are looked for: with somebody, of a thread, with all of some words."""

    with_: str = ""
    thread: str = ""
    words: Sequence[str] = ()


def deliveries(database: Statements, number: int) -> list[Waiting]:
    """One message in all its mailboxes, by their names."""
    which = "delivery.message = ? order by mailbox limit ?"
    return _found(database, which, number, MAX_READ_ENTRIES)


def history(
    database: Statements,
    words: FullText,
    sought: Sought,
    number: int,
    limit: int,
    *,
    backward: bool = False,
) -> list[HistoryMessage]:
    """Messages behind a number, the oldest first; or `backward` those before it, the newest first."""
    conditions: list[str] = [f"message.number {'<' if backward else '>'} ?"]
    values: list[Any] = [number]
    if sought.with_:
        conditions.append(
            "(sender = ? or addressed = ? or exists "
            "(select 1 from delivery where mailbox = ? and delivery.message = message.number))"
        )
        values += [sought.with_] * 3
    if sought.thread:
        conditions.append("thread = ?")
        values.append(sought.thread)
    if sought.words:
        found_by = words.of_messages(sought.words)
        conditions.append(found_by.sql)
        values += found_by.values
    rows = database.rows(
        "select number, sender, id, at_ms, addressed, topic, thread, kind, payload from message "
        f"where {' and '.join(conditions)} order by number {'desc' if backward else 'asc'} limit ?",
        (*values, min(limit, MAX_READ_ENTRIES)),
    )
    sql = "select mailbox, stage from delivery where message = ? order by mailbox limit ?"
    found = []
    for row in rows:
        went_to = database.rows(sql, (row[0], MAX_READ_ENTRIES))
        found.append(
            HistoryMessage._make(
                (*row, tuple((mailbox, Stage(stage)) for mailbox, stage in went_to))
            )
        )
    return found


LOADS = "select mailbox, count(*), cast(sum(size) as bigint) from delivery where stage = 0 group by mailbox"


def loads(database: Statements) -> dict[str, tuple[int, int]]:
    """The messages that wait in each mailbox, and their bytes, by mailbox."""
    return {mailbox: (count, size) for mailbox, count, size in database.rows(LOADS)}


def identities(database: Statements, name: str = "") -> list[Identity]:
    """Everybody who has used a name, or who uses this one."""
    sql = f"select {_OF_IDENTITY} from identity where ? in ('', name)"
    rows = (Identity(*row) for row in database.rows(sql, (name,)))
    return [row._replace(details=decode(row.details)) for row in rows]  # type: ignore[arg-type]


def members(database: Statements, channel: str = "") -> list[tuple[str, str, int]]:
    """The members of all channels, or of one: channel, name, and the time in ms since 1970."""
    sql = "select channel, name, at_ms from member where ? in ('', channel) order by channel, at_ms, name"
    rows: list[Any] = database.rows(sql, (channel,))
    return rows


def last_seq(database: Statements, mailbox: str, sender: str, topic: str) -> int:
    """The number of the latest delivery from a sender under a topic, 0 without one."""
    sql = "select last from sequence where name = ?"
    last: int | None = database.value(sql, (sequence_name(mailbox, sender, topic),))
    return last or 0


def sequence_name(mailbox: str, sender: str, topic: str) -> str:
    """The name of the sequence that deliveries are numbered in; names have no spaces."""
    return f"{sender} {mailbox} {topic}"


def _found(database: Statements, which: str, *values: Any) -> list[Waiting]:
    rows = database.rows(f"{_JOINED} where {which}", values)
    return [Waiting._make((*row[:13], Stage(row[13]), *row[14:])) for row in rows]
