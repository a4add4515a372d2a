"""The `markdown` format, for people and for chat.

Code stands in fences longer than any run of backticks in it, names and paths in code spans
likewise, so nothing in a file can end either and pass for our own words.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from itertools import groupby

from tersely.code.symbols import Symbol
from tersely.context.pack.model import (
    PART_OF_DETAIL,
    Block,
    Count,
    Delta,
    Detail,
    Extract,
    Item,
    Pack,
    Part,
)
from tersely.context.render.hunks import has_hunks, hunks_of
from tersely.context.render.nesting import ItemGroup, grouped, pieces
from tersely.context.render.relations import (
    Relations,
    changed_phrase,
    delta_marks,
    delta_phrase,
    evidence_phrase,
    note_phrase,
    printed_items,
    reason_phrase,
    relations_of,
    twin_phrase,
    unique_names,
)
from tersely.foundation.text.escape import visible, visible_line

_BACKTICKS = re.compile("`+")


def markdown(pack: Pack, count: Count) -> Sequence[Block]:
    """Headings, fenced code and lists."""
    relations = relations_of(pack)
    items = printed_items(pack, relations)
    unique = unique_names(items)
    blocks = [block for extract in pack.extracts for block in _extract_blocks(extract)]
    for path, group in groupby(items, key=lambda item: item.symbol.path):
        start = "\n" if blocks else ""
        blocks.append(Block(f"{start}### {_span(path)}\n", Part.FILE, path))
        for one in grouped(list(group)):
            blocks += _group_blocks(one, pack, relations, unique)
    note = note_phrase(pack)
    if note:
        blocks.append(Block(f"\n{visible_line(note)}\n", Part.NOTE))
    return blocks


def _group_blocks(
    group: ItemGroup, pack: Pack, relations: Relations, unique: frozenset[str]
) -> list[Block]:
    """An entry for an item and for each that is open in it, then their code as one text."""
    open_members = tuple(member for member in group.members if member.delta is Delta.WHOLE)
    apart = [member for member in group.members if member.delta is not Delta.WHOLE]
    blocks: list[Block] = []
    for item in (group.holder, *open_members):
        blocks += _entry(item, pack, relations, unique)
    blocks += _code(
        group.holder, "".join(piece.text for piece in pieces(ItemGroup(group.holder, open_members)))
    )
    for item in apart:
        blocks += [*_entry(item, pack, relations, unique), *_code(item, item.code)]
    return blocks


def _entry(item: Item, pack: Pack, relations: Relations, unique: frozenset[str]) -> list[Block]:
    symbol, part = item.symbol, PART_OF_DETAIL[item.detail]
    name = item.qualified if item.detail is Detail.SIGNATURE and item.qualified else symbol.qualname
    said = f", {_plain(reason_phrase(item) + changed_phrase(item) + evidence_phrase(item))}"
    delta = delta_marks(pack).get(symbol.id) or delta_phrase(item)
    said += f", {delta}" if delta else ""
    blocks = [Block(f"- {_span(name or symbol.path)} {_lines(item)}{said}\n", part, symbol.path)]
    for label, neighbours in relations.of_target.get(symbol.id, {}).items():
        listed = _listed(neighbours, symbol.path, unique)
        blocks.append(Block(f"  - {label}: {listed}\n", Part.RELATION, symbol.path))
    if item.imports:
        listed = ", ".join(map(_span, item.imports))
        blocks.append(Block(f"  - imports: {listed}\n", Part.RELATION, symbol.path))
    twins = (f"  - {_span(twin_phrase(twin, symbol.path))}\n" for twin in item.twins)
    return [*blocks, *(Block(twin, Part.RELATION, symbol.path) for twin in twins)]


def _code(item: Item, of_group: str) -> list[Block]:
    """The code of an item, or of the group that it holds, between fences."""
    code = hunks_of(item) if has_hunks(item) else of_group or item.code
    if not code:
        return []
    language = "diff" if item.delta or has_hunks(item) else item.symbol.language
    return [Block(_fenced(code, language), PART_OF_DETAIL[item.detail], item.symbol.path)]


def _listed(symbols: Iterable[Symbol], path: str, unique: frozenset[str]) -> str:
    return ", ".join(
        _span(symbol.qualname if symbol.path == path or symbol.qualname in unique else symbol.id)
        for symbol in symbols
    )


def _lines(item: Item) -> str:
    whole = f"{item.symbol.start_line}-{item.symbol.end_line}"
    return f"@{item.symbol.start_line}-{item.last_line} of {whole}" if item.is_cut else f"@{whole}"


def _extract_blocks(extract: Extract) -> list[Block]:
    delta = f", {delta_phrase(extract)}" if extract.delta else ""
    lines = "whole" if extract.whole else f"@{extract.first_line}-{extract.last_line}"
    return [
        Block(f"### {_span(extract.path)} {lines}{delta}\n", Part.FILE, extract.path),
        Block(_fenced(extract.text, "") if extract.text else "", Part.BODY, extract.path),
    ]


def _fenced(code: str, language: str) -> str:
    shown = visible(code)
    fence = "`" * max(3, _longest_run(shown) + 1)
    return f"{fence}{language}\n{shown}{fence}\n"


def _span(text: str) -> str:
    shown = visible_line(text)
    ticks = "`" * (_longest_run(shown) + 1)
    pad = " " if shown.startswith("`") or shown.endswith("`") else ""
    return f"{ticks}{pad}{shown}{pad}{ticks}"


def _plain(text: str) -> str:
    """Words of ours, and names in them, as text that means nothing to Markdown."""
    return re.sub(r"([\\`*_<>\[\]#|])", r"\\\1", visible_line(text))


def _longest_run(text: str) -> int:
    return max((len(run) for run in _BACKTICKS.findall(text)), default=0)
