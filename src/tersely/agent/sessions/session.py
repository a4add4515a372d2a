"""One session: its messages, and the prompt they make. What happens to it is written down before it
is shown.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, NamedTuple

from tersely.agent.models.protocol import ModelMessage, Prompt, RawCall, RequestUsage
from tersely.foundation.clock import wall_ms
from tersely.foundation.errors import TerselyError
from tersely.foundation.ids import new_id
from tersely.foundation.storage.database import Database, Values

BROKEN_OFF = "(broken off)"
_BROKEN_OFF_TOKENS = 4
_TOKEN_CHARACTERS = 4  # about, of an answer that nobody counted
_COLUMNS = "id, parent_id, role, content, tokens, created_at, turn, shown, kept_from, calls, call_id, is_whole, picture"


class Stored(NamedTuple):
    """One message as it is kept; see `tables`."""

    id: str
    parent_id: str | None
    role: str
    content: str
    tokens: int
    created_at: int
    turn: int
    shown: str | None
    kept_from: str | None
    calls: str
    call_id: str
    is_whole: int
    picture: str = ""

    @property
    def text(self) -> str:
        """The text that a person typed or saw."""
        return self.content if self.shown is None else self.shown

    def message(self) -> ModelMessage:
        """As the model is sent it."""
        calls = tuple(RawCall(*call) for call in json.loads(self.calls))
        pictures = (self.picture,) if self.picture else ()
        return ModelMessage(self.role, self.content, calls, self.call_id, pictures)


class MessageDraft(NamedTuple):
    """A message that is to be added."""

    role: str
    content: str
    tokens: int
    turn: int
    shown: str | None = None
    calls: Sequence[RawCall] = ()
    call_id: str = ""
    is_whole: bool = True
    picture: str = ""


class ChatSession:
    """A session that goes on. `messages` are all of its branch, the first one first."""

    def __init__(self, database: Database, id: str) -> None:
        self._database = database
        self.id = id
        row = database.row(
            "select repo_path, model_id, active_tier, name, head, prefix, way, prefix_tier, summary, kept_from "
            "from sessions where id = ?",
            (id,),
        )
        if row is None:
            raise gone()
        self.repository, self.model, self.tier, self.name, self._head, self.prefix = row[:6]
        self.call_format, self.prefix_tier, self.summary, self.kept_from = row[6:]
        self.messages = branch(database, self._head)
        self.end_turn()

    @property
    def turn(self) -> int:
        """The number of turns so far."""
        return self.messages[-1].turn if self.messages else 0

    def prompted(self) -> list[Stored]:
        """The messages that the prompt has after its prefix."""
        start = next((each.kept_from for each in reversed(self.messages) if each.kept_from), None)
        if self.summary:
            start = self.kept_from
        elif start is None:
            return self.messages
        if start is None:
            return []
        first = next(at for at, each in enumerate(self.messages) if each.id == start)
        return self.messages[first:]

    def prompt(self) -> Prompt:
        """The prompt as the model is sent it. It begins with the prompt before it, unless turns
        have left.
        """
        messages = [each.message() for each in self.prompted()]
        made = {call.id for each in messages for call in each.calls}
        sent = [
            each if not each.call_id or each.call_id in made else each.of_user()
            for each in messages
        ]
        return (ModelMessage("system", self.prefix), *sent)

    def add(self, draft: MessageDraft) -> Stored:
        """Add a message at the end. What was kept of an answer that was coming in is that message
        now.
        """
        new = new_id()
        begins_anew = draft.role == "user" and self.summary
        kept_from = (self.kept_from or new) if begins_anew else None
        stored = Stored(
            new, self._head, draft.role, draft.content, draft.tokens, wall_ms(), draft.turn, draft.shown, kept_from,
            json.dumps([list(call) for call in draft.calls]), draft.call_id, int(draft.is_whole),
            draft.picture,
        )  # fmt: skip
        with self._database.transaction():
            self._check_is_there()
            self._database.execute(
                f"insert into messages (session_id, {_COLUMNS}) values ({', '.join('?' * (len(stored) + 1))})",
                (self.id, *stored),
            )
            self._database.execute("delete from drafts where session_id = ?", (self.id,))
            if begins_anew:
                self._database.execute(
                    "update sessions set summary = '', kept_from = null where id = ?", (self.id,)
                )
            self._move(stored.id)
        self._head = stored.id  # only what was written for good: the disk may be full
        if begins_anew:
            self.summary, self.kept_from = "", None
        self.messages.append(stored)
        return stored

    def replace_last(self, content: str, tokens: int, kept_from: str) -> None:
        """Say the last message in other words, with which the prompt begins anew."""
        last = self.messages[-1]
        self._change(
            "update messages set content = ?, tokens = ?, kept_from = ?, shown = ? where id = ? returning 1",
            (content, tokens, kept_from, last.text, last.id),
        )
        self.messages[-1] = last._replace(
            content=content, tokens=tokens, kept_from=kept_from, shown=last.text
        )

    def show_last(self, text: str) -> None:
        """Have the last message shown in other words than the model's."""
        self._change(
            "update messages set shown = ? where id = ? returning 1", (text, self.messages[-1].id)
        )
        self.messages[-1] = self.messages[-1]._replace(shown=text)

    def keep_draft(self, text: str) -> None:
        """Write down more of an answer that is coming in, which is about to be shown."""
        self._change(
            "insert into drafts (session_id, text) select id, ? from sessions where id = ? returning 1",
            (text, self.id),
        )

    def drop_draft(self) -> None:
        """Forget what was written down of an answer that begins anew."""
        self._database.execute("delete from drafts where session_id = ?", (self.id,))

    def begin_call(self, id: str, tool: str, arguments: str, tier: int) -> None:
        """Write down a call of the last message that is about to be made."""
        self._change(
            "insert into tool_calls (id, message_id, tool_name, input_json, status, tier) "
            "select ?, id, ?, ?, 'pending', ? from messages where id = ? returning 1",
            (id, tool, arguments, tier, self.messages[-1].id),
        )

    def end_call(self, id: str, status: str, output: str, tokens: int, duration_ms: int) -> None:
        """Write down what came of a call."""
        self._change(
            "update tool_calls set status = ?, output = ?, tokens = ?, duration_ms = ? where id = ? returning 1",
            (status, output, tokens, duration_ms, id),
        )

    def record(self, usage: RequestUsage, duration_ms: int) -> None:
        """Write down what the request cost that the last message answers."""
        counts = (usage.prompt_tokens, usage.cached_tokens, usage.completion_tokens)
        self._change(
            "insert into requests select session_id, id, ?, ?, ?, ?, ? from messages where id = ? returning 1",
            (*counts, duration_ms, wall_ms(), self.messages[-1].id),
        )

    def spent_tokens(self) -> int:
        """The tokens of all requests so far, prompts and answers; what a fork shares with its
        origin is not its own.
        """
        total = "select coalesce(sum(prompt_tokens + completion_tokens), 0) from requests where session_id = ?"
        return int(self._database.value(total, (self.id,)))

    def note_model(self, model: str, server: str) -> None:
        """Write down which model of which server answers from the next turn on, unless it is the
        one noted last.
        """
        last = "select model, server from session_models where session_id = ? order by turn desc limit 1"
        if self._database.row(last, (self.id,)) != (model, server):
            note = "insert or replace into session_models (session_id, turn, model, server) values (?, ?, ?, ?)"
            self._database.execute(note, (self.id, self.turn + 1, model, server))

    def unlock(self, tier: int) -> None:
        """Have the tools of a tier from now on."""
        self._change(
            "update sessions set active_tier = ? where id = ? returning 1", (tier, self.id)
        )
        self.tier = tier

    def leave_out(self, kept_from: str | None, summary: str) -> None:
        """Have turns leave the prompt with the user's next message, which has to tell the
        `summary`.

        `kept_from` is the first message that stays, None where none does.
        """
        self._change(
            "update sessions set summary = ?, kept_from = ? where id = ? returning 1",
            (summary, kept_from, self.id),
        )
        self.kept_from, self.summary = kept_from, summary

    def rewind(self, turn: int) -> None:
        """Go on after an earlier turn; 0 is the beginning. What came later is kept, and no longer
        of this session.
        """
        if not 0 <= turn <= self.turn:
            raise TerselyError(
                "invalid_argument", f"there is no turn {turn}", f"turns are 0 to {self.turn}"
            )
        kept = [each for each in self.messages if each.turn <= turn]
        with self._database.transaction():
            self._check_is_there()
            self._database.execute(
                "update sessions set summary = '', kept_from = null where id = ?", (self.id,)
            )
            later = "delete from session_models where session_id = ? and turn > ?"
            self._database.execute(later, (self.id, turn + 1))
            self._move(kept[-1].id if kept else None)
        self._head = kept[-1].id if kept else None
        self.kept_from, self.summary = None, ""
        self.messages = kept

    def rename(self, name: str) -> None:
        """Call it otherwise."""
        self._change("update sessions set name = ? where id = ? returning 1", (name, self.id))
        self.name = name

    def use(self, model: str, prefix: str, call_format: str, prefix_tier: int) -> None:
        """Go on with another model; the prompt begins anew."""
        self._change(
            "update sessions set model_id = ?, prefix = ?, way = ?, prefix_tier = ? where id = ? returning 1",
            (model, prefix, call_format, prefix_tier, self.id),
        )
        self.model = model
        self.prefix = prefix
        self.call_format = call_format
        self.prefix_tier = prefix_tier

    def end_turn(self) -> None:
        """Have a turn end with an answer, however it was broken off, also by the end of the
        program.

        Calls that never ended are interrupted, and what was shown of an answer is the answer.
        """
        if not self.messages:
            return
        self._database.execute(
            "update tool_calls set status = 'interrupted' where status = 'pending' and message_id in "
            "(select id from messages where session_id = ?)",
            (self.id,),
        )
        texts = self._database.rows(
            "select text from drafts where session_id = ? order by number", (self.id,)
        )
        said = "".join(text for (text,) in texts)
        turn = self.messages[-1].turn
        for call in self._unanswered():
            self.add(MessageDraft("tool", BROKEN_OFF, _BROKEN_OFF_TOKENS, turn, call_id=call.id))
        if said or self.messages[-1].role != "assistant":
            tokens = len(said) // _TOKEN_CHARACTERS + _BROKEN_OFF_TOKENS
            self.add(MessageDraft("assistant", said or BROKEN_OFF, tokens, turn, is_whole=False))

    def _change(self, sql: str, values: Values) -> None:
        """Run a statement that returns a row for what it has changed; raises `session_not_found`
        without one.
        """
        if not self._database.rows(sql, values):
            raise gone()

    def _check_is_there(self) -> None:
        """Raises `session_not_found` where somebody has deleted it meanwhile."""
        if self._database.row("select 1 from sessions where id = ?", (self.id,)) is None:
            raise gone()

    def _move(self, head: str | None) -> None:
        """Make a message the last one; raises `version_conflict` where the session went on
        elsewhere.
        """
        moved = self._database.rows(
            "update sessions set head = ?, updated_at = ? where id = ? and head is ? returning id",
            (head, wall_ms(), self.id, self._head),
        )
        if not moved:
            hint = f"tersely sessions fork {self.id[:8]} goes on from here without the other"
            raise TerselyError("version_conflict", "this session went on in another process", hint)

    def _unanswered(self) -> list[RawCall]:
        """The calls of the last answer that no message answers yet."""
        answered = set()
        for each in reversed(self.messages):
            if each.role == "assistant":
                return [call for call in each.message().calls if call.id not in answered]
            answered.add(each.call_id)
        return []


def gone() -> TerselyError:
    """The error to raise where a session was there, and is not any more."""
    return TerselyError(
        "session_not_found", "this session was deleted by another process", "begin a new one"
    )


def branch(database: Database, head: str | None) -> list[Stored]:
    """The messages from the root to `head`."""
    rows: list[Any] = database.rows(
        f"with recursive path (n, {_COLUMNS}) as ("
        f"select 0, {_COLUMNS} from messages where id = ?1 union all "
        f"select n + 1, {', '.join(f'messages.{name.strip()}' for name in _COLUMNS.split(','))} "
        f"from messages join path on messages.id = path.parent_id) select {_COLUMNS} from path order by n desc",
        (head,),
    )
    return [Stored(*row) for row in rows]
