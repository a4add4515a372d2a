"""All sessions of a user: making, finding, forking, deleting and exporting them."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple, Self

from laconic.agent.sessions.session import Session, Stored, branch
from laconic.agent.sessions.tables import MIGRATIONS
from laconic.foundation.clock import wall_seconds
from laconic.foundation.database import Database
from laconic.foundation.errors import LaconicError
from laconic.foundation.ids import new_id
from laconic.foundation.limits import MAX_LISTED_CHATS, MAX_SESSION_CHARACTERS

FILE = "sessions.sqlite"
NAME_CHARACTERS = 60  # of a name that is taken from the first message


class Listed(NamedTuple):
    """One session in a list; times in ms."""

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


class History(NamedTuple):
    """Everything that is kept of a session's branch."""

    listed: Listed
    messages: tuple[Stored, ...]
    calls: tuple[CallRow, ...]


_LISTED = (
    "select id, name, repo_path, model_id, active_tier, created_at, updated_at, "
    "coalesce((select turn from messages where messages.id = head), 0), forked_from from sessions"
)


class Store:
    """The database of sessions. For one thread; close it."""

    def __init__(self, database: Database) -> None:
        self.database = database

    @classmethod
    def open(cls, folder: Path) -> Self:
        """The one of a folder, which is made if there is none. What it is told outlives the program."""
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        return cls(Database.open_kept(folder / FILE, MIGRATIONS, durable=False))

    def create(self, repository: str, model: str, prefix: str, way: str, id: str = "") -> Session:
        """A new session in a repository; the `id` is a new one where none is given."""
        new, now = id or new_id(), _now()
        self.database.execute(
            "insert into sessions (id, created_at, updated_at, repo_path, model_id, prefix, way) "
            "values (?, ?, ?, ?, ?, ?, ?)",
            (new, now, now, repository, model, prefix, way),
        )
        return Session(self.database, new)

    def resume(self, id: str) -> Session:
        """Go on with a session, by its full id."""
        return Session(self.database, id)

    def find(self, wanted: str, repository: str = "") -> Listed:
        """The session that an id, a part of one, a name in the repository or `last` means.

        Raises `session_not_found` or `ambiguous_session`.
        """
        if wanted == "last":
            rows = self.database.rows(f"{_LISTED} where repo_path = ? order by updated_at desc limit 1", (repository,))
        else:
            named = "where id = ?1 or name = ?1 and ?2 in ('', repo_path)"
            rows = self.database.rows(f"{_LISTED} {named} limit 3", (wanted, repository))
            if not rows and len(wanted) >= 4:
                rows = self.database.rows(f"{_LISTED} where substr(id, 1, length(?1)) = ?1 limit 3", (wanted,))
            if not rows and len(wanted) >= 4:  # the beginning of an id is the time: its end tells sessions apart
                rows = self.database.rows(f"{_LISTED} where substr(id, -length(?1)) = ?1 limit 3", (wanted,))
        if len(rows) > 1:
            raise LaconicError("ambiguous_session", f"several sessions are called {wanted!r}", "write more of the id")
        if not rows:
            raise LaconicError("session_not_found", f"there is no session {wanted!r}", "laconic sessions list")
        return Listed(*rows[0])

    def every(self, repository: str = "") -> list[Listed]:
        """The latest sessions, of one repository or of all, the last one first."""
        where = "where repo_path = ?1" if repository else "where ?1 = ''"
        rows = self.database.rows(f"{_LISTED} {where} order by updated_at desc limit {MAX_LISTED_CHATS}", (repository,))
        return [Listed(*row) for row in rows]

    def fork(self, id: str, name: str = "") -> Session:
        """A session that begins with all that was said in another."""
        new = new_id()
        self.database.execute(
            "insert into sessions (id, created_at, updated_at, repo_path, model_id, active_tier, name, head, "
            "forked_from, prefix, way, prefix_tier, summary, kept_from) select ?, ?, ?, repo_path, model_id, "
            "active_tier, ?, head, id, prefix, way, prefix_tier, summary, kept_from from sessions where id = ?",
            (new, _now(), _now(), checked_name(name), id),
        )
        return Session(self.database, new)

    def rename(self, id: str, name: str) -> None:
        """Call a session otherwise."""
        self.database.execute("update sessions set name = ? where id = ?", (checked_name(name), id))

    def delete(self, id: str) -> None:
        """Forget a session and all that no fork of it still needs."""
        with self.database.transaction():
            heads = self.database.rows("select id, head from sessions where id <> ? and head is not null", (id,))
            self.database.execute("delete from drafts where session_id = ?", (id,))
            for other, head in heads:
                needed = [(other, each.id, id) for each in branch(self.database, head)]
                self.database.execute_many("update messages set session_id = ? where id = ? and session_id = ?", needed)
            self._forget(id)

    def history(self, id: str) -> History:
        """All that is kept of a session's branch."""
        row = self.database.row(f"{_LISTED} where id = ?", (id,))
        assert row is not None
        messages = branch(self.database, self.database.value("select head from sessions where id = ?", (id,)))
        calls: list[CallRow] = []
        for each in messages:
            found = self.database.rows(
                "select message_id, id, tool_name, input_json, output, status, duration_ms, tier, tokens "
                "from tool_calls where message_id = ? order by rowid",
                (each.id,),
            )
            calls += [CallRow(*call) for call in found]
        return History(Listed(*row), tuple(messages), tuple(calls))

    def close(self) -> None:
        """Let go of the file."""
        self.database.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _forget(self, id: str) -> None:
        own = "(select id from messages where session_id = ?1)"
        for table in ("tool_calls", "requests"):
            self.database.execute(f"delete from {table} where message_id in {own}", (id,))
        self.database.execute("pragma defer_foreign_keys = on")
        self.database.execute("delete from messages where session_id = ?", (id,))
        moved = "select session_id from messages where messages.id = requests.message_id"
        self.database.execute(f"update requests set session_id = ({moved}) where session_id = ?", (id,))
        self.database.execute("delete from sessions where id = ?", (id,))


def checked_name(name: str) -> str:
    """A name as it is kept; raises `invalid_argument`."""
    plain = " ".join(name.split())
    if len(plain) > MAX_SESSION_CHARACTERS:
        raise LaconicError("invalid_argument", f"a name has at most {MAX_SESSION_CHARACTERS} characters")
    return plain


def name_of(message: str) -> str:
    """The name that a session takes from its first message."""
    plain = " ".join(message.split())
    return plain if len(plain) <= NAME_CHARACTERS else f"{plain[: NAME_CHARACTERS - 1]}…"


def _now() -> int:
    return int(wall_seconds() * 1000)
