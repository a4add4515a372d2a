"""A context pack: plain values that a renderer can print, and what fitting asks of a renderer."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from enum import IntEnum, StrEnum
from typing import NamedTuple

from tersely.code.symbols import Ranges, Symbol
from tersely.context.lenses.candidate import Candidate, Change, Twin
from tersely.context.pack.excerpt import Line
from tersely.foundation.types import Strings, frozen

Count = Callable[[str], int]


class Detail(IntEnum):
    """The part of a symbol that a pack shows, least first."""

    NAME = 0
    SIGNATURE = 1
    SKELETON = 2  # the signature and those of its members
    BODY = 3

    @property
    def word(self) -> str:
        """The level as people write it."""
        return self.name.lower()


class Delta(StrEnum):
    """The form in which a text is sent to a reader who was shown it before."""

    WHOLE = ""  # all of it, as to everybody
    UNCHANGED = "unchanged"  # nothing: the reader has it
    DIFF = "diff"  # the difference from what the reader has
    CHANGED = "changed"  # less than the reader has, which is out of date


@frozen
class Item:
    """One symbol in a pack and why it is there."""

    symbol: Symbol
    detail: Detail
    score: float
    reason: str
    of: str  # id of the symbol that `reason` relates it to, "" for a target
    signature: str = ""  # one line, as written; empty at detail `name`
    qualified: str = ""  # the signature with the qualified name in the place of the name
    code: str = ""  # body or skeleton without indentation in common; empty for the other details
    lines: tuple[Line, ...] = ()  # what `code` is made of, with the indentation of the file
    last_line: int = 0  # of the file, the last that `code` reaches
    # candidates whose code is nearly this one's, where its body is shown whole
    twins: tuple[Twin, ...] = ()
    # what it takes from outside the repository, where its body is shown
    imports: Strings = ()
    delta: Delta = Delta.WHOLE
    etag: str = ""  # of the symbol, where the reader is told less than all
    base: str = ""  # the tag of what `code` is the difference from
    change: Change | None = None  # what differs of it, in a pack about a change
    parts: Ranges = ()  # the lines of the file that `code` is cut down to
    evidence: str = ""  # what is said beside the reason
    is_gone: bool = False  # the symbol is as it was before a change

    @property
    def is_cut(self) -> bool:
        """True if only the first lines of the body are shown."""
        return self.detail is Detail.BODY and self.last_line < self.symbol.end_line

    @property
    def symbols(self) -> list[Symbol]:
        """The symbol, and those that it stands for."""
        return [self.symbol, *(twin.symbol for twin in self.twins)]


@frozen
class Extract:
    """Lines of a file as they stand, first and last included."""

    path: str
    first_line: int
    last_line: int
    whole: bool
    text: str
    delta: Delta = Delta.WHOLE


class Relation(NamedTuple):
    """That the symbol with an id is something to the one with the other: `reason` is the reason of
    a candidate.
    """

    of: str
    reason: str
    id: str


@frozen
class Pack:
    """The items that fit a budget, in the order in which they are to be read.

    Extracts come first. Items are grouped by file; files stand in the order of their best
    candidate, so those with targets lead, then by and large what the targets need, then who needs
    them. Within a file targets come first, the others in the order of its lines. The order does not
    depend on the budget.
    """

    revision: str
    budget: int
    used: int  # tokens of the rendered text, all of it
    targets: Strings  # symbol ids, in the order asked for
    extracts: tuple[Extract, ...]
    items: tuple[Item, ...]
    within: tuple[Candidate, ...]  # chosen, and shown as part of something larger
    # reason and how many candidates there is no room for, sorted
    omitted: tuple[tuple[str, int], ...]
    base: str = ""  # of a pack about a change, what it leads from
    head: str = ""
    # of which the reader was told all that is to be told here
    as_before: tuple[Item | Candidate, ...] = ()
    gone: tuple[Relation, ...] = ()  # what the reader was told of targets and is not so any more

    @property
    def whole_files(self) -> Strings:
        """The paths of files that are shown as they are."""
        return tuple(extract.path for extract in self.extracts if extract.whole)


class Part(StrEnum):
    """The kind of a piece of the printed text, for the budget report."""

    HEADER = "header"
    FILE = "file"
    BODY = "body"
    SKELETON = "skeleton"
    SIGNATURE = "signature"
    NAME = "name"
    RELATION = "relation"
    NOTE = "note"


PART_OF_DETAIL = {
    Detail.NAME: Part.NAME,
    Detail.SIGNATURE: Part.SIGNATURE,
    Detail.SKELETON: Part.SKELETON,
    Detail.BODY: Part.BODY,
}


class Block(NamedTuple):
    """A piece of the printed text. `path` is the file it speaks of, "" for none."""

    text: str
    part: Part
    path: str = ""


# Prints a pack as blocks whose texts, joined, are the answer, its last newline included. Pure:
# equal packs give equal blocks. Blocks are best ended where tokens end (at a newline), since
# fitting adds up their counts.
Render = Callable[[Pack, Count], Sequence[Block]]


def joined(blocks: Sequence[Block]) -> str:
    """The text that blocks make."""
    return "".join([block.text for block in blocks])
