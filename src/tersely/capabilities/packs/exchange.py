"""The exchange of a pack, declared alike for all of them: what it takes in beside code, and where
it goes.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from typing import TYPE_CHECKING

from tersely.capabilities.declaration.declaration import Effect, Role, frozen, group, option
from tersely.capabilities.declaration.references import SCHEME, Referred, read_reference
from tersely.foundation.text.escape import visible_line
from tersely.foundation.types import Strings, replace

if TYPE_CHECKING:
    from tersely.context.pack.include import Include
    from tersely.context.pack.texts import Texts
    from tersely.foundation.text.tokens import Tokenizer

INLINE_CASSETTE_SHARE = 4  # an artifact of at most 1 in so many tokens of the budget is shown whole
# of one that is referred to, 1 in so many tokens of the budget show its beginning
CASSETTE_HEAD_SHARE = 20


class Output(StrEnum):
    """The parts of an answer that go to the relay."""

    CASSETTE = "cassette"  # all of it
    HYBRID = "hybrid"  # its large pieces


@frozen
class Delivery:
    """The place to which the answer goes. Doors see to it: the capability answers as always."""

    output: Output | None = option(
        None,
        "keep the answer in the relay and give its reference, cass:// and a hash; hybrid: of its large pieces alone",
        effect=Effect.WRITE,
    )


@frozen
class Exchange:
    """The texts that are shown beside what was chosen, and where the answer goes."""

    include: Strings = option(
        (),
        "a file to show as well, lines of it, or an artifact of the relay: whole if it is small, else its beginning",
        role=Role.SOURCE,
        metavar="PATH[:10-20]|cass://HASH",
    )
    delivery: Delivery = group(Delivery)


def included(
    exchange: Exchange, texts: Texts, budget: int, tokenizer: Tokenizer
) -> tuple[Sequence[Include], Texts]:
    """The texts to include, and texts that know artifacts by their references beside the files."""
    from tersely.context.pack.include import parse_include

    artifacts: dict[str, bytes] = {}
    includes = []
    for text in exchange.include:
        if text.startswith(SCHEME):
            meant, lines = read_reference(text)
            told, lines = (meant.text, lines) if lines else _excerpt(meant, budget, tokenizer)
            artifacts[meant.path] = told.encode()
            text = meant.path + lines
        includes.append(parse_include(text))
    if not artifacts:
        return includes, texts
    source_of = texts.source_of

    def with_artifacts(path: str) -> bytes:
        return artifacts[path] if path in artifacts else source_of(path)

    return includes, replace(texts, source_of=with_artifacts)


def _excerpt(meant: Referred, budget: int, tokenizer: Tokenizer) -> tuple[str, str]:
    """The remark on an artifact, and the lines of it that are shown: all of what is small beside
    the budget; of anything else what it is, and its beginning.
    """
    if meant.is_whole and tokenizer.count(meant.text) <= budget // INLINE_CASSETTE_SHARE:
        return meant.text, ""
    head = tokenizer.truncate(meant.text, budget // CASSETTE_HEAD_SHARE)
    name = f"{visible_line(meant.name)}, " if meant.name else ""
    about = f"{name}{meant.type}, {meant.size_bytes:,} bytes in all, from its beginning:"
    return f"{about}\n{meant.text}", f":1-{1 + head.count(chr(10))}"
