"""The `json` format: one object on one line, its shape that of a diff pack generalised to any lens.

    {"revision": …, "budget": 2000, "budget_used": 1847,
     "slices": [{"id", "relevance", "signature", "code" or null, "lines": [45, 72]}, …],
     "signatures_only": [ids of which there is room for no more], "files": […], "omitted": {reason:
     times}}

A slice that does not show a whole body says so: `"detail": "skeleton"`, or `"of": [45, 72]` beside
its shorter `lines`. To a reader who was shown something before, a slice may have a `delta`:
`"unchanged"` with its `etag` and without code, or `"diff"` with the `diff` from `base` to `etag` in
the place of the code; names of which the reader has more stand in `"unchanged"` or `"changed"`.
`"as_before"` counts those of which it was told all that would be told here, and `"gone"` lists
relations that it was told and that are not so any more. `"alike"` has a line for each function that
the pack does not show because its code is that of the slice with a few words replaced.

Of a slice that is cut down to some of its lines, `"shown": [[45, 50], [60, 66]]` has these. A
changed symbol has `"diff_lines"`, and `"removed"` with the lines that were taken out, each with the
line before which it stood; packs of changes say `"base"` and `"head"`, and have a `"note"` if
nothing differs. `budget_used` is the size of the JSON text.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence

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
from tersely.context.render.relations import nothing_phrase, related_name, twin_phrase
from tersely.foundation.text.escape import json_escaped


def as_json(pack: Pack, count: Count) -> Sequence[Block]:
    """The pack as JSON, for programs."""
    between = {"base": pack.base, "head": pack.head} if pack.base else {}
    head: dict[str, object] = {
        "revision": pack.revision,
        **between,
        "budget": pack.budget,
        "budget_used": pack.used,
    }
    slices = [item for item in pack.items if item.detail > Detail.NAME]
    names = [item for item in pack.items if item.detail is Detail.NAME]
    blocks = [Block(_encoded(head)[:-1] + ',"slices":[', Part.HEADER)]
    blocks += _separated([_slice_block(item, pack) for item in slices])
    blocks.append(Block('],"signatures_only":[', Part.HEADER))
    blocks += _separated([_name_block(item) for item in names if not item.delta])
    blocks.append(Block("]", Part.HEADER))
    for delta in (Delta.UNCHANGED, Delta.CHANGED):
        blocks += _list(delta.value, [_name_block(item) for item in names if item.delta is delta])
    blocks += _list("files", [_file_block(extract) for extract in pack.extracts])
    return [*blocks, *_notes(pack), Block("}\n", Part.HEADER)]


def _list(name: str, blocks: Sequence[Block]) -> list[Block]:
    """A member that is a list, nothing for an empty one."""
    if not blocks:
        return []
    return [Block(f',"{name}":[', Part.HEADER), *_separated(blocks), Block("]", Part.HEADER)]


def _notes(pack: Pack) -> list[Block]:
    """The members behind the items, those that say something."""
    notes = {
        "as_before": len(pack.as_before),
        "gone": [one._asdict() for one in pack.gone],
        "omitted": dict(pack.omitted),
        "note": nothing_phrase(pack),
    }
    return [Block(f',"{name}":{_encoded(note)}', Part.NOTE) for name, note in notes.items() if note]


def _name_block(item: Item) -> Block:
    return Block(_encoded(item.symbol.id), Part.NAME, item.symbol.path)


def _slice_block(item: Item, pack: Pack) -> Block:
    symbol = item.symbol
    fields: dict[str, object] = {
        "id": symbol.id,
        "relevance": f"{item.reason} of {related_name(item)}"
        if _names_another(item, pack)
        else item.reason,
        "signature": item.signature,
        "code": item.code or None,
        "lines": [symbol.start_line, item.last_line],
    }
    if item.evidence:
        fields["evidence"] = item.evidence
    if item.change is not None:
        fields["diff_lines"] = list(item.change.lines)
        if item.change.removed and item.detail is Detail.BODY:
            fields["removed"] = [list(line) for line in item.change.removed]
    if item.parts:
        fields["shown"] = [list(part) for part in item.parts]
    if item.delta:
        fields["delta"] = item.delta.value
        fields |= {name: tag for name, tag in (("etag", item.etag), ("base", item.base)) if tag}
    if item.delta is Delta.DIFF:
        fields["diff"] = fields.pop("code")
    elif item.delta is Delta.UNCHANGED:
        del fields["code"], fields["signature"]
    if item.detail is Detail.SKELETON:
        fields["detail"] = item.detail.word
    if item.is_cut:
        fields["of"] = [symbol.start_line, symbol.end_line]
    if item.imports:
        fields["imports"] = item.imports
    if item.twins:
        fields["alike"] = [twin_phrase(twin) for twin in item.twins]
    return Block(_encoded(fields), PART_OF_DETAIL[item.detail], symbol.path)


def _names_another(item: Item, pack: Pack) -> bool:
    """True if it has to be said to what an item is related: there is more than one target, or it is
    another symbol.
    """
    return bool(item.of) and pack.targets != (item.of,)


def _file_block(extract: Extract) -> Block:
    fields: dict[str, object] = {
        "path": extract.path,
        "lines": [extract.first_line, extract.last_line],
    }
    if extract.delta:
        fields["delta"] = extract.delta.value
    if extract.delta is not Delta.UNCHANGED:
        fields["diff" if extract.delta else "code"] = extract.text
    return Block(_encoded(fields), Part.FILE, extract.path)


def _separated(blocks: Sequence[Block]) -> Iterator[Block]:
    for position, block in enumerate(blocks, 1):
        yield block if position == len(blocks) else block._replace(text=block.text + ",")


def _encoded(value: object) -> str:
    return json_escaped(json.dumps(value, ensure_ascii=False, separators=(",", ":")))
