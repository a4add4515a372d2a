"""A brief: parts of several kinds under one budget of tokens, which is never exceeded.

Parts are written in the order of their worth. Each may take its share of what is left, so that what
one does not need the others have. What has no part, and why, is said in the last line.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import NamedTuple

from tersely.capabilities.answers.reply import cut
from tersely.capabilities.relay.foreign import neutral
from tersely.foundation.errors import TerselyError
from tersely.foundation.limits import MIN_BRIEF_TOKENS
from tersely.foundation.text.shortening import one_line
from tersely.foundation.text.tokens import Tokenizer
from tersely.foundation.types import Strings

_CLOSING_TOKENS = 40  # kept for the line that says what is left out
_REASON_CHARACTERS = 80
_NO_ROOM = "no room"


class BriefPart(NamedTuple):
    """Something to be told: `write` is given how many tokens it may have and gives its text, "" if
    there is none.

    A text that is longer is cut, what is raised is a reason to leave the part out. `share` is the
    weight of the part among those that are still to come.
    """

    title: str
    share: float
    write: Callable[[int], Awaitable[str]]


class Missing(NamedTuple):
    """A part that is left out, and why."""

    title: str
    reason: str


class HandoffBrief(NamedTuple):
    """A brief as it is printed; `tokens` counts all of `text`."""

    text: str
    tokens: int
    budget: int
    parts: Strings
    missing: tuple[Missing, ...]


class _Section(NamedTuple):
    title: str
    text: str

    def whole(self) -> str:
        return f"## {self.title}\n{self.text}\n"


async def write_brief(
    parts: Sequence[BriefPart], budget: int, tokenizer: Tokenizer, missing: Sequence[Missing] = ()
) -> HandoffBrief:
    """The brief of some parts; `missing` are those that are known to have nothing. Raises
    `budget_too_small`.
    """
    if budget < MIN_BRIEF_TOKENS:
        raise TerselyError(
            "budget_too_small", f"a brief takes at least {MIN_BRIEF_TOKENS} tokens", "allow more"
        )
    sections: list[_Section] = []
    left_out = list(missing)
    for at, part in enumerate(parts):
        room = (
            budget
            - _CLOSING_TOKENS
            - tokenizer.count(_joined([*sections, _Section(part.title, "")]))
        )
        allowed = int(room * part.share / sum(one.share for one in parts[at:]))
        try:
            text = await _written(part, allowed, tokenizer)
        except TerselyError as error:
            left_out.append(
                Missing(part.title, _NO_ROOM if error.code == "budget_too_small" else error.message)
            )
        else:
            sections += [_Section(part.title, text)] if text else []
    return _fitted(sections, left_out, budget, tokenizer)


async def _written(part: BriefPart, budget: int, tokenizer: Tokenizer) -> str:
    if budget <= 0:
        raise TerselyError("budget_too_small", _NO_ROOM)
    text = neutral(await part.write(budget)).strip("\n")
    return cut(text, budget, tokenizer).strip("\n") if text else ""


def _fitted(
    sections: list[_Section], left_out: list[Missing], budget: int, tokenizer: Tokenizer
) -> HandoffBrief:
    """The sections as far as they fit together: tokens of texts do not simply add up, and a part
    may have erred.
    """
    while True:
        for closing in (_closing(left_out), _short_closing(left_out)):
            text = (_joined(sections) + closing).lstrip("\n")
            tokens = tokenizer.count(text)
            if tokens <= budget:
                return HandoffBrief(
                    text, tokens, budget, tuple(one.title for one in sections), tuple(left_out)
                )
        if not sections:
            raise TerselyError(
                "budget_too_small", f"nothing fits into {budget} tokens", "allow more"
            )
        left_out.append(Missing(sections.pop().title, _NO_ROOM))


def _joined(sections: Sequence[_Section]) -> str:
    return "\n".join(section.whole() for section in sections)


def _closing(left_out: Sequence[Missing]) -> str:
    told = "; ".join(
        f"{one.title.lower()} ({one_line(neutral(one.reason), _REASON_CHARACTERS)})"
        for one in left_out
    )
    return f"\nNot here: {told}\n" if told else ""


def _short_closing(left_out: Sequence[Missing]) -> str:
    return f"\nNot here: {len(left_out)} part{'s' * (len(left_out) != 1)}\n" if left_out else ""
