"""What is to be typed in, one text at a time: messages, answers of services, and words about commands."""

from __future__ import annotations

from collections import deque
from collections.abc import Awaitable, Callable
from typing import NamedTuple

from tersely.client.peer import Delivery
from tersely.foundation.errors import TerselyError
from tersely.foundation.escape import visible
from tersely.foundation.limits import MAX_WAITING_TEXTS
from tersely.protocols.inline.foreign import banner, typed

MAX_TYPED_BYTES = 3_500  # of a text that is typed in whole; terminals that edit lines cut longer ones
TYPED_PREVIEW_CHARACTERS = 600  # of a longer one
_ANSWER_NAME = "answer"


class Text(NamedTuple):
    """A text to be typed: who says it, what, and the message that it is, None if it is none."""

    head: str
    body: str
    delivery: Delivery | None = None


class Inbox:
    """The texts that wait. A message that comes again while it waits is the same one."""

    def __init__(self, keep: Callable[[str, str], Awaitable[str]]) -> None:
        self._keep = keep
        self._texts: deque[Text] = deque()
        self._ids: set[str] = set()
        self._taken: deque[str] = deque(maxlen=MAX_WAITING_TEXTS)

    def __bool__(self) -> bool:
        return bool(self._texts)

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
        self._texts.append(Text(head, delivery.body, delivery))
        return True

    def put(self, head: str, body: str, *, is_first: bool = False) -> bool:
        """Something is to be said that is no message, `is_first` before all that waits; whether there was room."""
        if len(self._texts) >= MAX_WAITING_TEXTS:
            return False
        if is_first:
            self._texts.appendleft(Text(head, body))
        else:
            self._texts.append(Text(head, body))
        return True

    def done(self, text: Text) -> None:
        """A text was taken."""
        if text.delivery is not None:
            self._ids.discard(text.delivery.id)
            self._taken.append(text.delivery.id)

    async def take(self, *, has_lines: bool) -> tuple[Text, str]:
        """The next text, and how it is typed: whole, or its beginning and where the rest is."""
        text = self._texts.popleft()
        whole = typed(text.head, text.body, has_lines=has_lines)
        if len(whole.encode()) <= MAX_TYPED_BYTES:
            return text, whole
        name = text.delivery.sender if text.delivery is not None else _ANSWER_NAME
        try:
            place = f"all {len(text.body):,} characters: {await self._keep(text.body, name)}"
        except TerselyError as error:
            place = f"the other {len(text.body) - TYPED_PREVIEW_CHARACTERS:,} characters are not kept: {error.message}"
        # Hidden characters take several when they are written out.
        preview = visible(text.body[:TYPED_PREVIEW_CHARACTERS])[:TYPED_PREVIEW_CHARACTERS].rstrip()
        return text, f"{typed(text.head, preview + ' …', has_lines=has_lines)} [{place}]"
