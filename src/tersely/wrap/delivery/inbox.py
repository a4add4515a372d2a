"""The texts that are to be typed in, one at a time: messages, answers of services, and words about
commands.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Awaitable, Callable, Sequence
from typing import NamedTuple

from tersely.capabilities.relay.foreign import banner, typed
from tersely.client.peer import Delivery
from tersely.foundation.clock import elapsed_seconds
from tersely.foundation.errors import TerselyError
from tersely.foundation.limits import MAX_WAITING_TEXTS
from tersely.foundation.text.escape import visible

# of a text that is typed in whole; terminals that edit lines cut longer ones
MAX_TYPED_BYTES = 3_500
MAX_HANDED_BYTES = 8_000  # of all texts that a hook answers at once; agents cut longer ones
TYPED_PREVIEW_CHARACTERS = 600  # of a longer one
_ANSWER_NAME = "answer"


class WaitingText(NamedTuple):
    """A text to be typed: who says it, what, since when it waits, and the message that it is, None
    if it is none.
    """

    head: str
    body: str
    since: float
    delivery: Delivery | None = None
    is_task: bool = False  # what the person wants, which goes in as a prompt
    rules: str = ""  # of ours, behind it


class TypedText(NamedTuple):
    """A text as it is typed or handed over."""

    text: WaitingText
    whole: str


class Inbox:
    """The texts that wait. A message that comes again while it waits is the same one."""

    def __init__(self, keep: Callable[[str, str], Awaitable[str]]) -> None:
        self._keep = keep
        self._texts: deque[WaitingText] = deque()
        self._unshown: deque[WaitingText] = deque(
            maxlen=MAX_WAITING_TEXTS
        )  # that are for no program
        self._ids: set[str] = set()
        self._taken: deque[str] = deque(maxlen=MAX_WAITING_TEXTS)
        self._noticed: set[str] = set()  # messages of whose waiting their senders have heard

    def __len__(self) -> int:
        return len(self._texts)

    def put_message(self, delivery: Delivery) -> bool:
        """A message has come; False if it was typed in before, and its sender has not heard of it."""
        if delivery.id in self._taken:
            return False
        if delivery.id in self._ids:
            return True
        self._ids.add(delivery.id)
        head = banner(
            delivery.sender,
            delivery.id.rpartition("-")[2] if len(delivery.id) > 8 else delivery.id,
            thread=delivery.thread,
            to=delivery.to,
            importance=None if delivery.importance is None else int(delivery.importance),
        )
        self._texts.append(WaitingText(head, delivery.body, elapsed_seconds(), delivery))
        return True

    def put(self, head: str, body: str) -> bool:
        """Something is to be said that is no message; whether there was room."""
        if len(self._texts) >= MAX_WAITING_TEXTS:
            return False
        self._texts.append(WaitingText(head, body, elapsed_seconds()))
        return True

    def put_task(self, head: str, body: str, rules: str) -> None:
        """Put what a session begins with before all that waits: a text, and rules that are written
        as they are.
        """
        self._texts.appendleft(
            WaitingText(head, body, elapsed_seconds(), is_task=True, rules=rules)
        )

    def begins_with_task(self, after: float) -> bool:
        """True if the next text is what the session begins with, and waits since a time at the
        earliest.
        """
        return bool(self._texts) and self._texts[0].is_task and self._texts[0].since > after

    def put_back(self, texts: Sequence[WaitingText]) -> None:
        """Texts were not taken: they are the next again."""
        self._texts.extendleft(reversed(texts))

    def errors(self) -> list[WaitingText]:
        """The texts that are no messages and that nobody will read any more: answers and errors."""
        waiting = [*self._unshown, *self._texts]
        return [one for one in waiting if one.delivery is None and not one.is_task]

    def leave_messages(self) -> None:
        """Take out what is no message: the program would run it as a command. The person is told of
        it at the end.
        """
        self._unshown += [one for one in self._texts if one.delivery is None]
        self._texts = deque(one for one in self._texts if one.delivery is not None)

    def overdue(self, before: float) -> list[Delivery]:
        """The messages that wait since before a time, each once."""
        found = [
            one.delivery for one in self._texts if one.delivery is not None and one.since < before
        ]
        new = [delivery for delivery in found if delivery.id not in self._noticed]
        self._noticed.update(delivery.id for delivery in new)
        return new

    def done(self, text: WaitingText) -> None:
        """A text was taken."""
        if text.delivery is not None:
            self._ids.discard(text.delivery.id)
            self._noticed.discard(text.delivery.id)
            self._taken.append(text.delivery.id)

    async def take_all(self) -> list[TypedText]:
        """The texts that fit into one answer of a hook, at least one if any waits."""
        found: list[TypedText] = []
        room = MAX_HANDED_BYTES
        while self._texts and room > MAX_TYPED_BYTES:
            found.append(await self.take(has_lines=True))
            room -= len(found[-1].whole.encode())
        return found

    async def take(self, *, has_lines: bool) -> TypedText:
        """The next text, and how it is typed: whole, or its beginning and where the rest is."""
        text = self._texts.popleft()
        whole = await self._form(text, has_lines=has_lines)
        parts = [f"{text.head}:", text.rules] if not text.body else [whole, text.rules]
        return TypedText(text, ("\n" if has_lines and text.body else " ").join(filter(None, parts)))

    async def _form(self, text: WaitingText, *, has_lines: bool) -> str:
        whole = typed(text.head, text.body, has_lines=has_lines)
        if len(whole.encode()) + len(text.rules.encode()) <= MAX_TYPED_BYTES:
            return whole
        name = text.delivery.sender if text.delivery is not None else _ANSWER_NAME
        try:
            place = f"all {len(text.body):,} characters: {await self._keep(text.body, name)}"
        except TerselyError as error:
            place = f"the other {len(text.body) - TYPED_PREVIEW_CHARACTERS:,} characters are not kept: {error.message}"
        # Hidden characters take several when they are written out.
        preview = visible(text.body[:TYPED_PREVIEW_CHARACTERS])[:TYPED_PREVIEW_CHARACTERS].rstrip()
        return f"{typed(text.head, preview + ' …', has_lines=has_lines)} [{place}]"
