"""The prompt of a user: words, links to files, and texts that the editor has put in for them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from acp.schema import (
    EmbeddedResourceContentBlock,
    ResourceContentBlock,
    TextContentBlock,
    TextResourceContents,
)

from tersely.doors.acp.places import EditorPlaces
from tersely.foundation.errors import TerselyError
from tersely.foundation.text.escape import fenced
from tersely.foundation.types import Strings


class PromptMessage(NamedTuple):
    """A message, and the parts of it that nobody typed."""

    message: str
    pasted: Strings


def read(blocks: Sequence[Any], places: EditorPlaces) -> PromptMessage:
    """The message of a prompt; raises `invalid_argument` for what models here cannot be given."""
    parts, pasted = [], []
    for block in blocks:
        match block:
            case TextContentBlock():
                parts.append(block.text)
            case ResourceContentBlock():
                parts.append(places.inside(block.uri))
            case EmbeddedResourceContentBlock(resource=TextResourceContents() as resource):
                quoted = fenced(resource.text)
                pasted.append(quoted)
                parts.append(f"\n{places.inside(resource.uri)}:\n{quoted}\n")
            case _:
                what = getattr(block, "type", "this")
                raise TerselyError(
                    "invalid_argument", f"{what} cannot be given to the model", "send it as text"
                )
    message = "".join(_spaced(parts)).strip()
    if not message:
        raise TerselyError("usage", "there is no message", "say what to do")
    return PromptMessage(message, tuple(pasted))


def _spaced(parts: Sequence[str]) -> list[str]:
    """The parts with a blank between two that would run into each other."""
    spaced: list[str] = []
    for part in parts:
        joins = spaced and not spaced[-1][-1:].isspace() and not part[:1].isspace()
        spaced += [" ", part] if joins else [part]
    return spaced
