"""The text that a model is shown of what a tool gave: harmless, and never more than a bound,
whatever came.

Text of files, programs and pages is untrusted. Sequences that move a cursor or colour a line say
nothing to a model and are dropped; what else could steer a terminal or hide from a reader is
written out.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from tersely.agent.tools.checkpoint_store import CheckpointStore
from tersely.agent.tools.declaration import Observation
from tersely.foundation.errors import TerselyError
from tersely.foundation.limits import MAX_ARTIFACT_BYTES, OBSERVATION_TOKENS
from tersely.foundation.text.escape import visible
from tersely.foundation.text.shortening import KeptOutput
from tersely.foundation.text.tokens import Tokenizer, well_formed

MAX_OBSERVED_LINE_CHARACTERS = 400  # of one line in it
FOLDED_CHARACTERS = 200  # of a piece of a line that is read on

# ECMA-48: control sequences, strings (titles, links) up to their terminator, and the two-character
# escapes.
_SEQUENCE = re.compile(
    "(?:\x1b\\[|\x9b)[0-?]*[ -/]*[@-~]|\x1b[\\]PX^_][^\x07\x1b\x9c]*(?:\x07|\x1b\\\\|\x9c)?|\x1b[ -/]*[0-~]"
)
_TAIL_SHARE = 3  # 1 in so many tokens shows the end


def plain(text: str) -> str:
    """The output of a program as it stands in a terminal at the end: of lines drawn again, the
    last.
    """
    lines = _SEQUENCE.sub("", text).split("\n")
    return "\n".join(line.rstrip("\r").rpartition("\r")[2] for line in lines)


def bounded(
    text: str, kept: CheckpointStore, tokenizer: Tokenizer, status: str = "ok", most_tokens: int = 0
) -> Observation:
    """The text if it is short enough, else its first and last lines and where the whole is to be
    read.
    """
    limit = most_tokens or OBSERVATION_TOKENS
    whole = visible(text).rstrip("\n")
    if len(whole) <= limit * 40 and tokenizer.count(whole) <= limit:
        return Observation(whole, status)
    text = within_bytes(whole)
    ref = kept.add_artifact(text)
    lines = folded(text)
    head, tail = _fitting(lines, limit, ref, tokenizer)
    return Observation(_joined(lines, head, tail, ref), status, ref=ref)


def failed(error: TerselyError) -> Observation:
    """The observation of what went wrong, and what to do about it."""
    hint = f"\n{error.hint}" if error.hint else ""
    return Observation(
        visible(f"{error.code}: {error.message}{hint}")[: OBSERVATION_TOKENS * 4], "failed"
    )


def folded(text: str) -> list[str]:
    """The lines of a text, long ones in pieces: an ellipsis at the end of a piece says that its
    line goes on.
    """
    lines = []
    for line in text.split("\n"):
        starts = range(0, max(len(line), 1), FOLDED_CHARACTERS)
        pieces = [line[at : at + FOLDED_CHARACTERS] for at in starts]
        lines += [*(f"{piece}…" for piece in pieces[:-1]), pieces[-1]]
    return lines


def clipped(line: str) -> str:
    """A line that does not fill an observation by itself."""
    more = len(line) - MAX_OBSERVED_LINE_CHARACTERS
    return line if more <= 0 else f"{line[:MAX_OBSERVED_LINE_CHARACTERS]}… +{more:,} characters"


def within_bytes(text: str) -> str:
    """The text, its middle left out where it is longer than an artifact may be."""
    kept = KeptOutput(MAX_ARTIFACT_BYTES)
    kept.add(well_formed(text).encode())
    return kept.content().decode("utf-8", "ignore")


def _fitting(lines: Sequence[str], limit: int, ref: str, tokenizer: Tokenizer) -> tuple[int, int]:
    """The numbers of lines from the start, and from the end, that there is room for."""
    # where texts meet, a token or two may arise
    own = tokenizer.count(_joined(lines, 0, 0, ref)) + 2
    tail = _paid(lines[::-1], (limit - own) // _TAIL_SHARE, tokenizer)
    head = _paid(
        lines[: len(lines) - tail],
        limit - own - sum(map(tokenizer.count, _ended(lines, tail))),
        tokenizer,
    )
    while head + tail and tokenizer.count(_joined(lines, head, tail, ref)) > limit:
        head, tail = (head - 1, tail) if head else (head, tail - 1)
    return head, tail


def _ended(lines: Sequence[str], count: int) -> list[str]:
    return [f"{line}\n" for line in lines[len(lines) - count :]]


def _paid(lines: Sequence[str], limit: int, tokenizer: Tokenizer) -> int:
    for number, line in enumerate(lines):
        limit -= tokenizer.count(f"{line}\n")
        if limit < 0:
            return number
    return len(lines)


def _joined(lines: Sequence[str], head: int, tail: int, ref: str) -> str:
    first, last = head + 1, len(lines) - tail
    where = f"line {first}" if first == last else f"lines {first}-{last}"
    rest = f"… {where} of {len(lines)} left out: read ref {ref}"
    return "\n".join([*lines[:head], rest, *lines[len(lines) - tail :]])
