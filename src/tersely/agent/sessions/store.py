"""All sessions of a user: making, finding, forking, deleting and exporting them."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple, Self

from tersely.agent.sessions.holding import Hold
from tersely.agent.sessions.session import ChatSession, Stored, branch, gone
from tersely.agent.sessions.tables import MIGRATIONS
from tersely.capabilities.answers.text import counted
from tersely.foundation.clock import local_minute, wall_ms
from tersely.foundation.errors import TerselyError
from tersely.foundation.ids import new_id
from tersely.foundation.limits import MAX_SESSION_CHARACTERS
from tersely.foundation.storage.database import Database
from tersely.foundation.text.shortening import one_line
from tersely.foundation.types import Closing

MAX_LISTED_CHATS = 1_000  # sessions of the agent in one list
FILE = "sessions.sqlite"
NAME_CHARACTERS = 60  # of a name that is taken from the first message
LAST = "last"
ID_CHARACTERS = 8  # of the end of an id, which tells sessions apart
LEAST_ID_CHARACTERS = 4  # that are looked for at both ends of ids
MAX_TOLD_CHOICES = 8  # where several sessions may be meant


class ListedSession(NamedTuple):
    """One session in a list; times in ms since 1970."""

    id: str
    name: str
    repository: str
    model: str
    tier: int
    created_at: int
    updated_at: int
    turns: int
    forked_from: str | None


class CallRow(NamedTuple):
    """One call as it is kept; see `tables`."""

    message_id: str
    id: str
    tool: str
    arguments: str
    output: str
    status: str
    duration_ms: int
    tier: int
    tokens: int


class ModelRow(NamedTuple):
    """A model that answers from a turn on, and the URL of its server."""

    turn: int
    model: str
    server: str


class SessionHistory(NamedTuple):
    """Everything that is kept of a session's branch."""

    listed: ListedSession
    messages: tuple[Stored, ...]
    calls: tuple[CallRow, ...]
    models: tuple[ModelRow, ...]


_LISTED = (
    "select id, name, repo_path, model_id, active_tier, created_at, updated_at, "
    "coalesce((select turn from messages where messages.id = head), 0), forked_from from sessions"
)
_NEWEST = "order by updated_at desc, id desc"


class SessionStore(Closing):
    """The database of sessions. For one thread; close it."""

    def __init__(self, database: Database) -> None:
        self.database = database

    @classmethod
    def open(cls, folder: Path) -> Self:
        """The one of a folder, which is made if there is none. What it is told outlives the
        program.
        """
        return cls(Database.open_kept(folder / FILE, MIGRATIONS, durable=False))

    def create(
        self, repository: str, model: str, prefix: str, call_format: str, id: str = ""
    ) -> ChatSession:
        """A new session in a repository; the `id` is a new one where none is given."""
        new, now = id or new_id(), wall_ms()
        self.database.execute(
            "insert into sessions (id, created_at, updated_at, repo_path, model_id, prefix, way) "
            "values (?, ?, ?, ?, ?, ?, ?)",
            (new, now, now, repository, model, prefix, call_format),
        )
        return ChatSession(self.database, new)

    def hold(self, id: str) -> Hold:
        """Keep other processes from going on with a session, by its full id; raises
        `session_in_use`.
        """
        return Hold.take(self.database.path.parent, id)

    def resume(self, id: str) -> ChatSession:
        """Go on with a session that is held, by its full id. A turn that was broken off ends here."""
        return ChatSession(self.database, id)

    def find(self, wanted: str, repository: str = "") -> ListedSession:
        """The session that an id, a part of one, a name in the repository or `last` means.

        Raises `session_not_found` or `ambiguous_session`.
        """
        found = self.every(repository, 1) if wanted == LAST else self._called(wanted, repository)
        if len(found) > 1:
            raise _ambiguous(wanted, found)
        if not found:
            what = (
                "no session of this repository yet" if wanted == LAST else f"no session {wanted!r}"
            )
            raise TerselyError("session_not_found", f"there is {what}", "tersely sessions list")
        return found[0]

    def _called(self, wanted: str, repository: str) -> list[ListedSession]:
        """Those that a name or an id means; one more than are told."""
        order = f"{_NEWEST} limit {MAX_TOLD_CHOICES + 1}"
        named = "where id = ?1 or name = ?1 and ?2 in ('', repo_path)"
        rows = self.database.rows(f"{_LISTED} {named} {order}", (wanted, repository))
        if not rows and len(wanted) >= LEAST_ID_CHARACTERS:
            rows = self.database.rows(
                f"{_LISTED} where substr(id, 1, length(?1)) = ?1 {order}", (wanted,)
            )
        if not rows and len(wanted) >= LEAST_ID_CHARACTERS:
            rows = self.database.rows(
                f"{_LISTED} where substr(id, -length(?1)) = ?1 {order}", (wanted,)
            )
        return [ListedSession(*row) for row in rows]

    def every(self, repository: str, most: int = MAX_LISTED_CHATS) -> list[ListedSession]:
        """The latest sessions of a repository, the last one first."""
        rows = self.database.rows(
            f"{_LISTED} where repo_path = ? {_NEWEST} limit ?", (repository, most)
        )
        return [ListedSession(*row) for row in rows]

    def fork(self, id: str, name: str = "") -> ChatSession:
        """A session that begins with all that was said in another; raises `session_not_found`.

        Without a name of its own it is called a fork of the other.
        """
        new = new_id()
        called = f"coalesce(nullif(?, ''), substr('fork of ' || name, 1, {MAX_SESSION_CHARACTERS}))"
        made = self.database.rows(
            "insert into sessions (id, created_at, updated_at, repo_path, model_id, active_tier, name, head, "
            "forked_from, prefix, way, prefix_tier, summary, kept_from) select ?, ?, ?, repo_path, model_id, "
            f"active_tier, {called}, head, id, prefix, way, prefix_tier, summary, kept_from from sessions where id = ? "
            "returning 1",
            (new, wall_ms(), wall_ms(), checked_name(name), id),
        )
        if not made:
            raise gone()
        copied = "insert into session_models select ?, turn, model, server from session_models where session_id = ?"
        self.database.execute(copied, (new, id))
        return ChatSession(self.database, new)

    def rename(self, id: str, name: str) -> None:
        """Call a session otherwise; raises `session_not_found`."""
        if not self.database.rows(
            "update sessions set name = ? where id = ? returning 1", (checked_name(name), id)
        ):
            raise gone()

    def delete(self, id: str) -> None:
        """Forget a session and all that no fork of it still needs."""
        with self.database.transaction():
            heads = self.database.rows(
                "select id, head from sessions where id <> ? and head is not null", (id,)
            )
            for table in ("drafts", "session_models"):
                self.database.execute(f"delete from {table} where session_id = ?", (id,))
            for other, head in heads:
                needed = [(other, each.id, id) for each in branch(self.database, head)]
                self.database.execute_many(
                    "update messages set session_id = ? where id = ? and session_id = ?", needed
                )
            self._forget(id)

    def history(self, id: str) -> SessionHistory:
        """All that is kept of a session's branch; raises `session_not_found`.

        A turn that was broken off ends first, unless another process has the session open, and may
        be in its midst, or nothing can be written.
        """
        with suppress(TerselyError), self.hold(id):
            self.resume(id)
        row = self.database.row(f"{_LISTED} where id = ?", (id,))
        if row is None:
            raise gone()
        messages = branch(
            self.database, self.database.value("select head from sessions where id = ?", (id,))
        )
        calls: list[CallRow] = []
        for each in messages:
            found = self.database.rows(
                "select message_id, id, tool_name, input_json, output, status, duration_ms, tier, tokens "
                "from tool_calls where message_id = ? order by rowid",
                (each.id,),
            )
            calls += [CallRow(*call) for call in found]
        noted = "select turn, model, server from session_models where session_id = ? order by turn"
        models = tuple(ModelRow(*each) for each in self.database.rows(noted, (id,)))
        return SessionHistory(ListedSession(*row), tuple(messages), tuple(calls), models)

    def close(self) -> None:
        """Let go of the file."""
        self.database.close()

    def _forget(self, id: str) -> None:
        own = "(select id from messages where session_id = ?1)"
        for table in ("tool_calls", "requests"):
            self.database.execute(f"delete from {table} where message_id in {own}", (id,))
        self.database.execute("pragma defer_foreign_keys = on")
        # what forks have taken back, but for its figures, is on no path to a head any more
        orphans = (
            f"update messages set parent_id = null where session_id <> ?1 and parent_id in {own}"
        )
        self.database.execute(orphans, (id,))
        self.database.execute("delete from messages where session_id = ?", (id,))
        moved = "select session_id from messages where messages.id = requests.message_id"
        self.database.execute(
            f"update requests set session_id = ({moved}) where session_id = ?", (id,)
        )
        self.database.execute("delete from sessions where id = ?", (id,))


def short_id(id: str) -> str:
    """The end of an id: the beginning is the time, which sessions share."""
    return id[-ID_CHARACTERS:]


def _ambiguous(wanted: str, found: Sequence[ListedSession]) -> TerselyError:
    rows = [
        f"  {short_id(each.id)}  {local_minute(each.updated_at / 1000)}  {counted(each.turns, 'turn')}"
        for each in found[:MAX_TOLD_CHOICES]
    ]
    more = ["  and more"] if len(found) > MAX_TOLD_CHOICES else []
    hint = "\n".join(["say which one by its id, the newest first:", *rows, *more])
    return TerselyError("ambiguous_session", f"several sessions are called {wanted!r}", hint)


def checked_name(name: str) -> str:
    """A name as it is kept; raises `invalid_argument`."""
    plain = " ".join(name.split())
    if len(plain) > MAX_SESSION_CHARACTERS:
        raise TerselyError(
            "invalid_argument", f"a name has at most {MAX_SESSION_CHARACTERS} characters"
        )
    return plain


def name_of(message: str) -> str:
    """The name that a session takes from its first message."""
    return one_line(message, NAME_CHARACTERS)
