"""Classes with the members that are shown of them: a class stands once, and what is open of it
stands in its place.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from tersely.code.symbols import CLASS_KINDS
from tersely.context.lenses.candidate import MEMBER, SIBLING
from tersely.context.pack.excerpt import Line, shared_indentation, without_indentation
from tersely.context.pack.model import Delta, Detail, Item

# Why a member is there says its place, where that is in its class.
SAID_BY_PLACE = frozenset({MEMBER, SIBLING})


class ItemGroup(NamedTuple):
    """An item, and those that are shown within it, in the order of their lines."""

    holder: Item
    members: tuple[Item, ...]


class GroupPiece(NamedTuple):
    """A part of the text of a group: lines of the holder, or all of one member."""

    member: Item | None
    text: str


def grouped(items: Sequence[Item]) -> list[ItemGroup]:
    """The items of one file, members with their class; a group stands where the first of its items
    does.
    """
    holders = {item.symbol.id: item for item in items if _may_hold(item)}
    members: dict[str, list[Item]] = {}
    inner: set[str] = set()
    for item in items:
        holder = holders.get(item.symbol.parent)
        if holder is not None and item.symbol.id not in holders and _is_open_in(item, holder):
            members.setdefault(holder.symbol.id, []).append(item)
            inner.add(item.symbol.id)
    heads = (holders[item.symbol.parent] if item.symbol.id in inner else item for item in items)
    once = {id(head): head for head in heads}.values()
    return [
        ItemGroup(head, tuple(sorted(members.get(head.symbol.id, ()), key=_place))) for head in once
    ]


def pieces(group: ItemGroup) -> Iterator[GroupPiece]:
    """The code of a group, top to bottom; the indentation that all of it shares is left out."""
    holder = group.holder
    if not holder.lines:
        yield from (GroupPiece(item, item.code) for item in group.members)
        return
    if not group.members:
        yield GroupPiece(None, holder.code)
        return
    shared = shared_indentation(holder.lines)
    left = list(holder.lines)
    for member in group.members:
        before = [line for line in left if line.number < member.symbol.start_line]
        yield GroupPiece(None, _text(before, shared))
        left = left[len(before) :]
        yield GroupPiece(
            member, _text(member.lines, shared) if member.delta is Delta.WHOLE else member.code
        )
    yield GroupPiece(None, _text(left, shared))


def _text(lines: Iterable[Line], shared: str) -> str:
    return "".join(f"{text}\n" for text in without_indentation(list(lines), shared))


def _may_hold(item: Item) -> bool:
    """True if members are printed within an item: what is shown of it lists the others, or it is a
    line alone.
    """
    if item.delta is not Delta.WHOLE or item.change is not None or item.parts:
        return False
    is_class = item.symbol.kind in CLASS_KINDS
    return is_class and (item.detail in {Detail.SIGNATURE, Detail.SKELETON} or item.is_cut)


def _is_open_in(item: Item, holder: Item) -> bool:
    inside = (
        holder.symbol.start_byte <= item.symbol.start_byte
        and item.symbol.end_byte <= holder.symbol.end_byte
    )
    if item.change is not None or item.detail is Detail.NAME or not inside:
        return False
    if holder.detail is Detail.SIGNATURE:
        return item.detail is Detail.SIGNATURE and item.reason in SAID_BY_PLACE
    return item.symbol.start_line > holder.symbol.start_line


def _place(item: Item) -> tuple[int, str]:
    return item.symbol.start_byte, item.symbol.id
