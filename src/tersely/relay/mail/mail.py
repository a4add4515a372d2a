"""The mail of one relay: what is sent is accepted in groups, and waits for its recipients until
they have it.

Everything here may be called from any thread and waits for nothing. What has come of it is told on
the thread that `attach` names: the router's loop, or else the thread of the store.
"""

from __future__ import annotations

import secrets
from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import Future
from contextlib import suppress
from functools import partial
from threading import Lock
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec

from tersely.foundation.errors import TerselyError
from tersely.foundation.limits import INDEXED_MESSAGES, MESSAGE_RETRY_SECONDS
from tersely.foundation.types import Strings
from tersely.relay.mail.brakes import Brakes
from tersely.relay.mail.channels import ChannelMembers
from tersely.relay.mail.elsewhere import Everywhere
from tersely.relay.mail.identities import Identities
from tersely.relay.mail.messages import (
    CHANNEL,
    Accepted,
    Nobody,
    PostOutcome,
    Presence,
    recipients,
)
from tersely.relay.mail.questions import SPOKEN, OpenQuestions, asks
from tersely.relay.store import mailboxes as boxes
from tersely.relay.store.commands import DocumentEdit, StoreBatch, Write
from tersely.relay.store.mailboxes import (
    HistoryMessage,
    Mark,
    Post,
    Posted,
    Settled,
    Sought,
    Waiting,
)
from tersely.relay.store.news import Here, News
from tersely.relay.store.store import Store
from tersely.relay.store.tables import Tables
from tersely.relay.waiters import Waiters

if TYPE_CHECKING:
    from tersely.relay.store.engines.sharing import StoreSharing

MAX_MAILBOX_MESSAGES = 100_000  # that wait for one recipient
MAX_MAILBOX_BYTES = 256_000_000
MAX_GROUP_POSTS = 256  # messages written as one job of the store
MAX_RESTING_MARKS = 256  # notes on deliveries that wait for a message to be written with
MAX_WAITING_POSTS = 20_000  # messages, and notes about them, that wait for the disk
AGENT_KEPT_SECONDS = 30 * 86_400  # after which a name that nobody uses leaves the list
# between looks for what other processes have accepted and nobody has taken in time
SHARED_EXPIRY_SECONDS = 10
_SPOKEN = SPOKEN | {CHANNEL}  # the kinds of what agents say to each other, and to many
MESSAGE_KEPT_SECONDS = 30 * 86_400  # after which one that nobody waits for is forgotten
_NONCE_NAME = "mail nonce"
# the database has no larger numbers, and what fails in one note fails for all in its group
_NUMBER_DIGITS = 18


class _Sending(NamedTuple):
    post: Post
    refused: Strings
    then: Callable[[PostOutcome], None]


class _Writing(NamedTuple):
    do: Callable[[Tables], Any]
    # given what came of it, or the exception that kept it from being written
    then: Callable[[Any], None]


class _Group(NamedTuple):
    """The commands that are written as one job."""

    sendings: list[_Sending]
    marks: list[Mark]
    writings: list[_Writing]


class _Written(NamedTuple):
    posted: list[Posted]
    settled: list[Settled]
    given: list[Any]


class Mail:
    """Mailboxes, names and channels."""

    def __init__(self, store: Store, brakes: Brakes) -> None:
        self.store = store
        self.brakes = brakes
        self.questions = OpenQuestions()
        self.durability = "disk" if store.is_durable else "process"
        # by other processes, which may accept and deliver as well
        self.is_shared = store.sharing is not None
        self._elsewhere: dict[str, Here] = {}  # who is connected to them
        self._here: dict[str, Here] = {}  # who is connected to this one, as they have been told
        if not self.is_shared:
            store.write(boxes.take_over).result()
        self.identities = Identities(store)
        self.channels = ChannelMembers(store)
        self._loads = {name: list(load) for name, load in boxes.loads(store.reader).items()}
        self._nonce = _nonce(store)
        self._changing = Lock()
        self._readers = Waiters("messages")  # by mailbox
        self._sendings: dict[str, deque[_Sending]] = {}  # by sender; whose turn it is first
        self._sendings_count = 0
        self._marks: list[Mark] = []
        # the latest note on each delivery, until it is on the disk
        self._unwritten: dict[tuple[str, int], Mark] = {}
        self._writings: list[_Writing] = []
        self._is_writing = False
        self._expires_ms: int | None = 0  # when the next message may have waited for too long
        self.attach(_at_once, Nobody(self.flush))
        if self.is_shared:
            store.attend(self._hear)
            self._hear(None)

    def attach(self, run: Callable[[Callable[[], None]], object], presence: Presence) -> None:
        """Have things told on a thread by `run`, and let `presence` send what is accepted."""
        self._run, self._own = run, presence  # of this process
        self.presence = (
            Everywhere(presence, lambda: self._elsewhere) if self.is_shared else presence
        )

    def detach(self) -> None:
        """Tell of things on the store's thread again; nobody is connected."""
        self.attach(_at_once, Nobody(self.flush))
        with self._changing:  # what came of the last group may never be told
            self._is_writing = False
        self.flush()

    def close(self) -> None:
        """Write what waits, before the store is closed."""
        with suppress(TerselyError):  # then the next start makes up for it
            self.do(lambda tables: None if self.is_shared else boxes.hand_over(tables))

    # Writing

    def compose(self, one: Post, *, is_queued: bool = False, is_of_person: bool = False) -> Post:
        """The message with its recipients, also one that was never seen where it `is_queued`; raises
        what `recipients` raises, `turn_limit` and `rate_limited`.
        """
        takes = self.presence.takes
        names = recipients(one, self.identities, self.channels, self.presence, is_queued=is_queued)
        if is_of_person:
            self.brakes.rest((*names, one.addressed))
            for name in names:
                self.questions.said(one.sender, name, asks=False)
        elif one.kind in _SPOKEN and one.sender_kind != "service":
            is_to_one = one.kind != CHANNEL and len(names) == 1
            self.brakes.take(one.sender, names, "" if is_to_one else one.addressed)
            if is_to_one:
                self.questions.said(one.sender, names[0], asks=asks(one.payload))
        return one._replace(mailboxes=tuple((name, 1 if takes(name) else 0) for name in names))

    def load(self, mailbox: str) -> tuple[int, int]:
        """The messages that wait in a mailbox, and their bytes."""
        count, size = self._loads.get(mailbox, (0, 0))
        return count, size

    def post(self, one: Post, then: Callable[[PostOutcome], None]) -> None:
        """Accept a message; `flush` has it written. Raises `busy`: nothing was taken, and it may be
        sent again.

        A mailbox that is full refuses what is for it alone; of a message to many it is one that
        does not get it.
        """
        size = len(one.payload) + len(one.treatment)
        with self._changing:
            if self._sendings_count >= MAX_WAITING_POSTS:
                raise TerselyError(
                    "busy", f"{MAX_WAITING_POSTS:,} messages wait for the disk", _later()
                )
            full = tuple(name for name, _ in one.mailboxes if self._is_full(name, size))
            if full and len(one.mailboxes) == 1:
                raise TerselyError("busy", f"the mailbox of {full[0]} is full", _later())
            if full:
                one = one._replace(
                    mailboxes=tuple(box for box in one.mailboxes if box[0] not in full)
                )
            for name, _ in one.mailboxes:
                load = self._loads.setdefault(name, [0, 0])
                load[0] += 1
                load[1] += size
            self._expires_ms = _earlier(self._expires_ms, one.expires_ms)
            self._sendings.setdefault(one.sender, deque()).append(_Sending(one, full, then))
            self._sendings_count += 1

    def mark(self, mark: Mark) -> None:
        """Note how far a delivery has come; `flush` has it written. What cannot be written is
        written later.
        """
        with self._changing:
            self._marks.append(mark)
            self._unwritten[mark.mailbox, mark.message] = mark

    def noted(self, mailbox: str, number: int) -> Mark | None:
        """The latest note on a delivery, where it is not on the disk yet: what is read there is
        older.
        """
        return self._unwritten.get((mailbox, number))

    def notes(self) -> int:
        """The number of notes on deliveries that are not written yet."""
        return len(self._marks)

    def write(
        self, do: Callable[[Tables], Any], then: Callable[[Any], None] = lambda given: None
    ) -> None:
        """Have something written with the next group; `then` is given what it gives, or what went
        wrong.
        """
        with self._changing:
            self._writings.append(_Writing(do, then))

    def flush(self, *, rests: bool = False) -> bool:
        """Have what waits written, as soon as what is being written is done.

        With `rests`, a few notes by themselves wait for the next message, to be written with it:
        whoever asks for that calls again soon. What is given back says whether there are any.
        """
        with self._changing:
            if self._is_writing or not (self._sendings or self._marks or self._writings):
                return False
            if (
                rests
                and not (self._sendings or self._writings)
                and len(self._marks) < MAX_RESTING_MARKS
            ):
                return True
            self._is_writing = True
            group = _Group(self._next_sendings(), self._marks, self._writings)
            self._marks, self._writings = [], []
        try:
            written = self.store.write(partial(_write, group))
        except TerselyError as error:
            self._run(partial(self._failed, group, error))
        else:
            written.add_done_callback(partial(self._done, group))
        return False

    def send(self, one: Post) -> Accepted:
        """Accept a message and wait until it is written, which no thread may do that `attach`
        names.
        """
        outcome: Future[PostOutcome] = Future()
        self.post(one, outcome.set_result)
        self.flush()
        return self.accepted(outcome.result())

    def settle(self, mark: Mark) -> None:
        """Note how far a delivery has come, and wait until it is written."""
        self.do(lambda tables: None, [mark])

    def do(self, do: Callable[[Tables], Any], marks: Sequence[Mark] = ()) -> Any:
        """Have something written and wait for it; raises what kept it from being written."""
        future: Future[Any] = Future()
        for mark in marks:
            self.mark(mark)
        self.write(do, future.set_result)
        self.flush()
        given = future.result()
        if isinstance(given, Exception):
            raise given
        return given

    def accepted(self, outcome: PostOutcome) -> Accepted:
        """The acceptance of a message, with its numbers; raises `key_reused` and what kept it from
        being written.
        """
        if outcome.failure is not None:
            raise outcome.failure
        assert outcome.posted is not None
        number, deliveries, is_repetition = outcome.posted
        if not number:
            message = f"{outcome.post.id!r} was sent before, with another content"
            raise TerselyError("key_reused", message, "use a new id for a new message")
        seq = deliveries[0][1] if len(deliveries) == 1 else 0
        return Accepted(
            self.message_id(number),
            seq,
            len(deliveries),
            outcome.refused,
            self.durability,
            is_repetition,
        )

    def expire(self) -> None:
        """Make dead letters of what has waited for too long."""
        if self._expires_ms is not None and self.store.now_ms() >= self._expires_ms:
            self._expires_ms = None  # until the next is known
            self.write(boxes.expire, self._expired)
            self.flush()

    def revive(self, number: int, mailbox: str) -> int:
        """Let dead letters wait again; how many. Raises `message_not_found` where there are none."""
        settled: list[Settled] = self.do(lambda tables: boxes.revive(tables, number, mailbox))
        if not settled:
            raise TerselyError(
                "message_not_found",
                "that is not a dead letter",
                "`tersely dead-letters` lists them",
            )
        self._settle(settled)
        for one in settled:
            self._run(partial(self._own.revived, one.mailbox, number))
            self._readers.came(one.mailbox)
        return len(settled)

    def retire(self, name: str, token: str = "") -> int:
        """Have a name used by nobody any more; how many messages waited for it, which are dead
        letters now.

        Raises what `Identities.check_retired` raises.
        """
        self.identities.check_retired(name, token, is_live=name in self.presence.connected())
        settled: list[Settled] = self.do(lambda tables: boxes.retire(tables, name))
        self.identities.forget(name)
        self.channels.forget(name)
        self._settle(settled)
        return len(settled)

    def retire_silent(self) -> list[str]:
        """Retire the names that nobody has used for `AGENT_KEPT_SECONDS` and for which nothing
        waits; which.
        """
        connected = self.presence.connected()
        names = self.identities.silent_since(self.store.now_ms() - AGENT_KEPT_SECONDS * 1000)
        retired = [name for name in names if name not in connected and not self.load(name)[0]]
        for name in retired:
            self.retire(name)
        return retired

    def sweep(self) -> int:
        """Forget old messages; how many. Waits for the disk."""
        older_than_ms = self.store.now_ms() - MESSAGE_KEPT_SECONDS * 1000
        return self.store.remove_in_parts(partial(boxes.sweep, older_than_ms=older_than_ms))

    # With other processes

    def is_elsewhere(self, name: str) -> bool:
        """True if somebody is connected to another process under a name."""
        return name in self._elsewhere

    def admit(
        self,
        write: Callable[[Tables], None],
        name: str,
        kind: str,
        then: Callable[[Any], None],
        *,
        takes_over: bool,
    ) -> None:
        """Have somebody who is let in here be written down by `write`, and be known to the other
        processes.

        `then` is given `name_taken` where one of them has let the name in meanwhile, and it is not
        to be taken over.
        """

        sharing, here = self.store.sharing, Here(kind)

        def do(tables: Tables) -> TerselyError | None:
            if sharing is not None:
                if not sharing.appear(tables.database, name, here, takes_over=takes_over):
                    return TerselyError(
                        "name_taken", f"{name} is connected", "take another name, or wait"
                    )
                tables.news.present.add(name)
            write(tables)
            return None

        def done(given: Any) -> None:
            if given is None:
                self._here[name] = here
            then(given)

        self.write(do, done)

    def take(self, mailbox: str, after: int, limit: int, then: Callable[[Any], None]) -> None:
        """Have what waits in a mailbox behind a number be taken for an attempt, which is noted
        before it is made.
        """
        self.write(partial(boxes.take, mailbox=mailbox, after=after, limit=limit), then)

    def tell_presence(self) -> None:
        """Tell the other processes who is connected to this one, and what they say, where that has
        changed.
        """
        if self.store.sharing is None:
            return
        now = dict(self._own.here())
        changed = {
            name: now.get(name)
            for name in {*now, *self._here}
            if now.get(name) != self._here.get(name)
        }
        if changed:
            self._here = now
            self.write(partial(_tell_presence, self.store.sharing, changed))
            self.flush()

    def _hear(self, news: News | None) -> None:
        """Read again what other processes have changed, and follow it on the thread that things are
        told on.
        """
        assert self.store.sharing is not None
        reader = self.store.reader
        present = None if news is None or news.is_process_gone else news.present
        elsewhere = self.store.sharing.others(reader, present)
        self.identities.reload(None if news is None else news.names)
        self.channels.reload(None if news is None else news.channels)
        loads = boxes.loads(reader) if news is None else None
        with suppress(RuntimeError):  # the loop has ended
            self._run(partial(self._follow, news or News(), loads, present, elsewhere))

    def _follow(
        self,
        news: News,
        loads: Mapping[str, tuple[int, int]] | None,
        present: set[str] | None,
        elsewhere: dict[str, Here],
    ) -> None:
        """Take over what is waiting, and who is connected to other processes: of all, or of those
        that are `present`.
        """
        with self._changing:
            if loads is not None:
                self._loads = {name: list(load) for name, load in loads.items()}
            for name, (messages, size) in news.loads.items():
                self._add_load(name, messages, size)
        if present is None:
            self._elsewhere = elsewhere
        elif present:
            left = {name: here for name, here in self._elsewhere.items() if name not in present}
            self._elsewhere = left | elsewhere
        if elsewhere:
            self._own.moved(elsewhere)
        self._own.come(news.loads if loads is None else self._own.here())
        for name, number in news.revived.items():
            self._own.revived(name, number)
        self._tell_readers(news.loads if loads is None else self._readers.keys())

    # Reading

    def message_id(self, number: int) -> str:
        """The id by which everybody calls a message; it tells messages of another home apart."""
        return f"{self._nonce}-{number}"

    def number(self, message_id: str) -> int:
        """The number of a message, by what everybody calls it; 0 where that is no message of this
        home.
        """
        nonce, _, number = message_id.rpartition("-")
        is_number = number.isdecimal() and number.isascii() and len(number) <= _NUMBER_DIGITS
        return int(number) if nonce == self._nonce and is_number else 0

    def waiting(self, mailbox: str, after: int, limit: int) -> list[Waiting]:
        """The messages that wait in a mailbox behind a number, the oldest first."""
        return boxes.waiting(self.store.reader, mailbox, after, limit)

    def wait(self, mailbox: str, after: int, seconds: float) -> Future[None]:
        """The future that is done as soon as a message waits in a mailbox behind a number, or the
        time is over; raises `busy` where too many wait.
        """
        return self._readers.wait(mailbox, lambda: bool(self.waiting(mailbox, after, 1)), seconds)

    def box(self, mailbox: str, after: int, limit: int) -> list[Waiting]:
        """All that came to a mailbox behind a number."""
        return boxes.box(self.store.reader, mailbox, after, limit)

    def delivery(self, mailbox: str, number: int) -> Waiting | None:
        """One message as it came to a mailbox."""
        return boxes.delivery(self.store.reader, mailbox, number)

    def dead(self, after: int, limit: int) -> list[Waiting]:
        """The dead letters behind a number."""
        return boxes.dead(self.store.reader, after, limit)

    def deliveries(self, number: int) -> list[Waiting]:
        """One message in all its mailboxes."""
        return boxes.deliveries(self.store.reader, number)

    def history(
        self, sought: Sought, number: int, limit: int, *, backward: bool = False
    ) -> list[HistoryMessage]:
        """Messages behind a number, the oldest first; or `backward` those before it, the newest
        first.
        """
        self._index(sought)
        reader, words = self.store.reader, self.store.words
        return boxes.history(reader, words, sought, number, limit, backward=backward)

    def _index(self, sought: Sought) -> None:
        """Bring what words are looked up in up to date, where there are any."""
        if sought.words:
            while (
                self.store.write(lambda tables: boxes.index(tables, searched_text)).result()
                == INDEXED_MESSAGES
            ):
                pass

    def last_seq(self, mailbox: str, sender: str, topic: str) -> int:
        """The number of the latest delivery from a sender under a topic."""
        return boxes.last_seq(self.store.reader, mailbox, sender, topic)

    # What has been written

    def _next_sendings(self) -> list[_Sending]:
        """The messages that are written next: one of every sender in turn, so that who sends much
        keeps nobody waiting.
        """
        taken: list[_Sending] = []
        while self._sendings and len(taken) < MAX_GROUP_POSTS:
            sender = next(iter(self._sendings))
            sendings = self._sendings.pop(sender)
            taken.append(sendings.popleft())
            if sendings:
                self._sendings[sender] = sendings
        self._sendings_count -= len(taken)
        return taken

    def _is_full(self, name: str, size: int) -> bool:
        count, held = self._loads.get(name, (0, 0))
        return count >= MAX_MAILBOX_MESSAGES or held + size > MAX_MAILBOX_BYTES

    def _done(self, group: _Group, written: Future[_Written]) -> None:
        error = written.exception()
        if error is None:
            self._run(partial(self._written, group, written.result()))
        else:
            self._run(partial(self._failed, group, error))

    def _written(self, group: _Group, written: _Written) -> None:
        try:
            self._settle(written.settled)
            for sending, posted in zip(group.sendings, written.posted, strict=True):
                if posted.is_repetition or not posted.number:
                    self._release(sending.post)
                else:
                    self._own.posted(sending.post, posted)
                sending.then(PostOutcome(sending.post, posted, sending.refused))
            for writing, given in zip(group.writings, written.given, strict=True):
                writing.then(given)
        finally:
            with self._changing:
                self._is_writing = False
                self._forget_notes(group.marks)
            self._tell_readers({name for one in group.sendings for name, _ in one.post.mailboxes})
            self._own.written()

    def _failed(self, group: _Group, error: BaseException) -> None:
        failure = error if isinstance(error, Exception) else RuntimeError(str(error))
        with self._changing:  # what recipients have said is not lost with it
            marks = group.marks + self._marks
            self._marks = marks[-MAX_WAITING_POSTS:]
            self._forget_notes(marks[:-MAX_WAITING_POSTS])
        for sending in group.sendings:
            self._release(sending.post)
            sending.then(PostOutcome(sending.post, None, (), failure))
        for writing in group.writings:
            writing.then(failure)
        with self._changing:
            self._is_writing = False  # the next `flush` tries again

    def _tell_readers(self, mailboxes: Iterable[str]) -> None:
        """Messages may have come to some mailboxes."""
        for name in mailboxes:
            self._readers.came(name)

    def _forget_notes(self, marks: Iterable[Mark]) -> None:
        """These are on the disk, or never will be; later ones on the same deliveries stay."""
        for one in marks:
            key = one.mailbox, one.message
            if self._unwritten.get(key) is one:
                del self._unwritten[key]

    def _expired(self, given: tuple[list[Settled], int | None] | Exception) -> None:
        if isinstance(given, Exception):
            self._expires_ms = self.store.now_ms()
            return
        settled, next_ms = given
        if self.is_shared:  # what others accept may expire before what is known here
            next_ms = _earlier(next_ms, self.store.now_ms() + SHARED_EXPIRY_SECONDS * 1000)
        self._settle(settled)
        with self._changing:
            self._expires_ms = _earlier(self._expires_ms, next_ms)

    def _release(self, post: Post) -> None:
        size = len(post.payload) + len(post.treatment)
        self._settle([Settled(name, size) for name, _ in post.mailboxes])

    def _settle(self, settled: Iterable[Settled]) -> None:
        with self._changing:
            for one in settled:
                sign = 1 if one.is_open else -1
                self._add_load(one.mailbox, sign, sign * one.size)

    def _add_load(self, name: str, messages: int, size: int) -> None:
        load = self._loads.setdefault(name, [0, 0])
        load[0] += messages
        load[1] += size
        if load[0] <= 0:
            del self._loads[name]


def searched_text(payload: bytes) -> str:
    """The text by which a message is found: its body."""
    told: Any = msgspec.json.decode(payload)
    body = told.get("body", "") if isinstance(told, dict) else ""
    return body if isinstance(body, str) else ""


def _write(group: _Group, tables: Tables) -> _Written:
    settled = boxes.mark(tables, group.marks)
    posted = boxes.post(tables, (one.post for one in group.sendings))
    return _Written(posted, settled, [one.do(tables) for one in group.writings])


def _tell_presence(
    sharing: StoreSharing, changed: Mapping[str, Here | None], tables: Tables
) -> None:
    sharing.change(tables.database, changed)
    tables.news.present.update(changed)


def _nonce(store: Store) -> str:
    """The mark that tells the messages of this home from those of any other."""
    found = store.document(_NONCE_NAME)
    if found is not None:
        return found[1].decode()
    made = secrets.token_hex(4)
    store.commit(
        StoreBatch((Write(_NONCE_NAME, lambda body: DocumentEdit(body or made.encode(), b"")),))
    )
    found = store.document(_NONCE_NAME)
    assert found is not None
    return found[1].decode()


def _at_once(do: Callable[[], None]) -> None:
    do()


def _earlier(one: int | None, other: int | None) -> int | None:
    return one if other is None else other if one is None else min(one, other)


def _later() -> str:
    return f"try again in {MESSAGE_RETRY_SECONDS:g} s"
