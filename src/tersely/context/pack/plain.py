"""The plain files that a pack stands for: what the pack would be if it cut nothing. No pack is
larger than that.

A pack stands for every file of which it shows something, be it code, a signature or a name. In the
plain form each of them stands once and whole, in the format of the pack, under one line that names
it. There are no signatures, names, reasons and relations beside it. What no file tells is said as
in the pack: which symbols a change concerns, the lines that it took out, and all that is gone; what
a report says of symbols; and in the last line what there was no room for.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator

from tersely.context.lenses.candidate import View
from tersely.context.pack.model import Delta, Detail, Extract, Item, Pack
from tersely.context.pack.texts import Texts
from tersely.foundation.types import Strings, replace


def plain_paths(pack: Pack, view: View) -> Strings:
    """The files of which a pack shows less than all, those first of which it shows code."""
    fileless, whole = _fileless(view), set(pack.whole_files)
    items = sorted(pack.items, key=lambda item: item.detail is Detail.NAME)
    symbols = (symbol for item in items for symbol in item.symbols)
    paths = (symbol.path for symbol in symbols if symbol.id not in fileless)
    return tuple(dict.fromkeys(path for path in paths if path not in whole))


def plain(pack: Pack, view: View, texts: Texts, told: Callable[[Extract], Extract]) -> Pack:
    """The pack with its files whole in the place of their parts; `told` words a file for its
    reader.
    """
    paths = plain_paths(pack, view)
    kept = (extract for extract in pack.extracts if extract.path not in paths)
    files = tuple(told(texts.extract(path)) for path in paths)
    items = tuple(_untold(pack, _fileless(view)))
    return replace(pack, items=items, within=(), extracts=(*kept, *files))


def _untold(pack: Pack, fileless: Collection[str]) -> Iterator[Item]:
    """The items that no file tells."""
    for item in pack.items:
        if item.symbol.id in fileless:
            yield item
        elif item.change or item.evidence:
            yield replace(
                item, code="", lines=(), twins=(), imports=(), delta=Delta.WHOLE, etag="", base=""
            )


def _fileless(view: View) -> frozenset[str]:
    """The ids of what no file has now: what a change took out, and what it says of files without
    text.
    """
    return frozenset(
        one.symbol.id
        for one in view.candidates
        if one.is_gone or (one.change and not one.symbol.end_byte)
    )
