"""One reader as a pack sees it: what need not be said again, what in fewer words, and what it knows
afterwards.

A text that the reader has, and that is what would be sent, is `unchanged`. Of a body or skeleton
that it has in another version it is sent the difference. Either only where that is shorter. Texts
are compared, not tags: a tag stands for more than what a pack shows, such as documentation.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping
from typing import NamedTuple

from tersely.code.symbols import Symbol
from tersely.context.lenses.candidate import SIBLING, TARGET_SCORE, Candidate, View
from tersely.context.pack.delta.deltas import diff_of
from tersely.context.pack.delta.etag import etag_of, normalised
from tersely.context.pack.delta.older import Older, stands_in
from tersely.context.pack.delta.sessions import SentTexts
from tersely.context.pack.fitting.detail_levels import ITEM_BYTES, size_bytes
from tersely.context.pack.model import Count, Delta, Detail, Extract, Item, Pack, Relation
from tersely.context.pack.texts import Texts
from tersely.foundation.types import replace

NOTHING = SentTexts()
NO_VIEW = View(())
# told of one target; more is hardly read, and a sign that the question was another
MAX_GONE_RELATIONS = 20
# what is printed in the place of a text costs about as much as this
MARK = "[unchanged 000000000000]"


class _Standing(NamedTuple):
    """The text of one symbol that the reader has, as it is now."""

    known: Detail | None  # the most that it has and that is still so
    outdated: bool  # whether it has a text that is not so any more
    diffs: Mapping[Detail, str]  # to what is now, from what it has
    base: str = ""  # the tag of what it has


class Reader:
    """The reader of one session, and what it has been shown. One value serves one answer."""

    def __init__(
        self,
        shown: Mapping[str, SentTexts],
        texts: Texts,
        count: Count,
        view: View = NO_VIEW,
    ) -> None:
        self._shown = shown
        self._texts = texts
        self._count = count
        self._lens = view.lens
        self._related = _relations(self._shown)
        self._gone = self._no_longer(view)
        self._standings: dict[str, _Standing] = {}
        self._files: dict[str, bool] = {}
        self._older: dict[str, Older] = {}

    def known(self, symbol: Symbol) -> Detail | None:
        """The detail up to which nothing of the symbol need be sent, None if it was not shown or
        has changed.
        """
        return self._standing(symbol).known

    def size_bytes(self, symbol: Symbol, detail: Detail) -> float:
        """About what a symbol takes at a detail."""
        standing = self._standing(symbol)
        if standing.known is not None and detail <= standing.known:
            return size_bytes(symbol, Detail.NAME)
        if detail in standing.diffs:
            return len(standing.diffs[detail]) + ITEM_BYTES
        return size_bytes(symbol, detail)

    def told(self, item: Item, *, is_cut: bool = False) -> Item:
        """An item in the words that this reader needs."""
        standing = self._standing(item.symbol)
        if standing.known is not None and item.detail <= standing.known:
            return self._unchanged(item)
        if item.code and self._shown.get(_part_key(item), NOTHING).body.startswith(item.code):
            return self._unchanged(item)
        diff = "" if is_cut or not self._is_whole(item) else standing.diffs.get(item.detail, "")
        if diff and self._count(diff) + self._count(MARK) < self._count(item.code):
            return replace(
                item, code=diff, delta=Delta.DIFF, base=standing.base, etag=self.etag(item.symbol)
            )
        if standing.outdated and item.detail < Detail.SKELETON:
            return replace(item, delta=Delta.CHANGED)
        return item

    def _unchanged(self, item: Item) -> Item:
        # Of a neighbour the name says enough, by which it can be had; a tag and lines would cost
        # what is to be saved.
        if item.detail < Detail.SKELETON or item.score < TARGET_SCORE:
            return replace(
                item,
                detail=Detail.NAME,
                signature="",
                qualified="",
                code="",
                twins=(),
                delta=Delta.UNCHANGED,
            )
        if self._count(item.code) <= self._count(MARK):
            return item
        return replace(item, code="", delta=Delta.UNCHANGED, etag=self.etag(item.symbol))

    def told_extract(self, extract: Extract) -> Extract:
        """Lines of a file in the words that this reader needs."""
        had = self._shown.get(_key(extract), NOTHING).body
        if not had or extract.delta or self._count(extract.text) <= self._count(MARK):
            return extract
        if had == extract.text:
            return replace(extract, text="", delta=Delta.UNCHANGED)
        diff = diff_of(had, extract.text) if extract.whole else ""
        if diff and self._count(diff) + self._count(MARK) < self._count(extract.text):
            return replace(extract, text=diff, delta=Delta.DIFF)
        return extract

    def etag(self, symbol: Symbol) -> str:
        """The tag of a symbol as it is now."""
        return etag_of(normalised(symbol, self._texts.source(symbol.path)))

    def _standing(self, symbol: Symbol) -> _Standing:
        if symbol.id not in self._standings:
            self._standings[symbol.id] = self._compared(symbol)
        return self._standings[symbol.id]

    def _compared(self, symbol: Symbol) -> _Standing:
        if self._has_around(symbol):
            return _Standing(Detail.BODY, False, {})
        had = self._had(symbol)
        if had is None:
            return _Standing(None, False, {})
        now = {Detail.SIGNATURE: self._texts.signature(symbol).plain}
        texts = {
            Detail.SIGNATURE: had.signature,
            Detail.SKELETON: had.skeleton,
            Detail.BODY: had.body,
        }
        if had.skeleton:
            now[Detail.SKELETON] = self._texts.skeleton(symbol)
        if had.body:
            now[Detail.BODY] = self._texts.whole(symbol)
        same = [detail for detail, text in now.items() if texts[detail] == text]
        other = [detail for detail, text in now.items() if texts[detail] not in {"", text}]
        # Half of what it has being out of date, nothing is called unchanged: not even a signature
        # that is.
        known = None if other else max(same, default=None)
        diffs = {
            detail: diff_of(texts[detail], now[detail])
            for detail in other
            if detail > Detail.SIGNATURE
        }
        return _Standing(known, bool(other), diffs, had.etag)

    def _had(self, symbol: Symbol) -> SentTexts | None:
        """The text of a symbol that the reader has: what it was shown by itself, or where its body
        was part of something.
        """
        had = self._shown.get(symbol.id)
        if had is not None and had.body:
            return had
        for key in filter(None, (symbol.parent, _whole_key(symbol.path))):
            around = self._shown.get(key, NOTHING).body
            if around and key not in self._older:
                self._older[key] = Older(symbol.path, around, self._texts)
            before = self._older[key].shown(symbol) if around else None
            if before is not None:
                return before
        return had

    def _has_around(self, symbol: Symbol) -> bool:
        """True if the reader has the whole file, or the body of something around the symbol, as it
        is now.
        """
        path = symbol.path
        if path not in self._files:
            had = self._shown.get(_whole_key(path))
            self._files[path] = had is not None and had.body == self._texts.extract(path).text
        if self._files[path]:
            return True
        part = self._shown.get(f"{symbol.parent}\n{Detail.BODY.word}") if symbol.parent else None
        if (
            part is not None
            and symbol.id not in self._shown
            and stands_in(self._texts.whole(symbol), part.body)
        ):
            return True
        parent = self._shown.get(symbol.parent) if symbol.parent else None
        if parent is None or not parent.body:
            return False
        around = next(
            (one for one in self._texts.symbols_of(path) if one.id == symbol.parent), None
        )
        return around is not None and self.known(around) is Detail.BODY

    # Relations

    def without_known(self, pack: Pack) -> Pack:
        """A pack in the words that this reader needs, without names that would only repeat a
        relation it was told.
        """
        known = [one for one in pack.items if self._is_as_before(one, pack)]
        inside = [one for one in pack.within if _relation(one) in self._related.get(one.of, ())]
        ids = {one.symbol.id for one in known}
        items = tuple(one for one in pack.items if one.symbol.id not in ids)
        within = tuple(
            one for one in pack.within if _relation(one) not in self._related.get(one.of, ())
        )
        gone = tuple(one for one in self._gone if one.of in pack.targets)
        return replace(pack, items=items, within=within, as_before=(*known, *inside), gone=gone)

    def _is_as_before(self, item: Item, pack: Pack) -> bool:
        if item.detail is not Detail.NAME or item.delta is Delta.CHANGED or item.change is not None:
            return False
        return item.symbol.id not in pack.targets and _relation(item) in self._related.get(
            item.of, ()
        )

    def _no_longer(self, view: View) -> list[Relation]:
        """The relations of targets that the same lens has named and does not see any more; none
        where it sees more than it says.

        That a symbol stands in the same file is no relation that anybody asks about, and takes the
        place of none.
        """
        if not view.lens:
            return []
        seen = {one.symbol.id for one in view.candidates if one.reason != SIBLING}
        gone: list[Relation] = []
        for target in (one.symbol.id for one in view.candidates if one.is_target):
            listed = _listed(target, self._shown.get(_listing_key(target, view.lens), NOTHING).body)
            related = (one for one in listed if one.reason != SIBLING)
            lost = [one for one in related if one.id not in seen and one.reason not in view.beyond]
            gone += lost[:MAX_GONE_RELATIONS]
        return gone

    def _listings(self, pack: Pack) -> dict[str, SentTexts]:
        """By key, all that the reader was told by this lens of the relations of each symbol, this
        pack included.
        """
        told: dict[str, set[Relation]] = defaultdict(set)
        for one in (*pack.items, *pack.within, *pack.as_before):
            if one.of and "\n" not in one.symbol.id:
                told[one.of].add(_relation(one))
        gone = set(pack.gone)
        told |= {one.of: set() for one in gone if one.of not in told}
        found = {}
        for of, relations in told.items():
            key = _listing_key(of, self._lens)
            now = (relations | set(_listed(of, self._shown.get(key, NOTHING).body))) - gone
            found[key] = SentTexts(body="".join(f"{one.reason}\t{one.id}\n" for one in sorted(now)))
        return found

    # Whole packs

    def shortened(self, pack: Pack) -> Pack:
        """A pack that was fitted for somebody who knows nothing, in the words that this reader
        needs.
        """
        items = tuple(self.told(item, is_cut=item.is_cut) for item in pack.items)
        return self.without_known(
            replace(pack, items=items, extracts=tuple(map(self.told_extract, pack.extracts)))
        )

    def restored(self, pack: Pack) -> Pack:
        """A pack that was fitted for this reader as somebody would get it who knows nothing."""
        texts = self._texts
        extracts = (texts.extract(one.path, one.first_line, one.last_line) for one in pack.extracts)
        known = [one for one in pack.as_before if isinstance(one, Item)]
        within = (*pack.within, *(one for one in pack.as_before if isinstance(one, Candidate)))
        items = (self._restored(one) for one in _by_file([*pack.items, *known]))
        return replace(
            pack, items=tuple(items), within=within, as_before=(), gone=(), extracts=tuple(extracts)
        )

    def _restored(self, item: Item) -> Item:
        if item.delta is Delta.UNCHANGED and item.detail is Detail.NAME:
            plain, qualified = self._texts.signature(item.symbol)
            detail = self.known(item.symbol) or Detail.SIGNATURE
            code = self._code(item.symbol, detail)
            return replace(
                item,
                detail=detail,
                signature=plain,
                qualified=qualified,
                code=code,
                delta=Delta.WHOLE,
            )
        if item.delta is Delta.WHOLE or item.delta is Delta.CHANGED:
            return replace(item, delta=Delta.WHOLE)
        return replace(
            item, code=self._code(item.symbol, item.detail), delta=Delta.WHOLE, etag="", base=""
        )

    def _code(self, symbol: Symbol, detail: Detail) -> str:
        if detail < Detail.SKELETON:
            return ""
        return (
            self._texts.code(symbol)[0] if detail is Detail.BODY else self._texts.skeleton(symbol)
        )

    # Afterwards

    def sent(self, pack: Pack) -> tuple[dict[str, SentTexts], list[str]]:
        """The texts that the reader has now of what a pack shows, by key; and the keys of what it
        was told it has.
        """
        sent: dict[str, SentTexts] = {}
        referred: list[str] = []
        for item in pack.items:
            if item.delta is Delta.UNCHANGED:
                referred += [
                    item.symbol.id,
                    _part_key(item),
                    item.symbol.parent,
                    _whole_key(item.symbol.path),
                ]
            elif item.detail > Detail.NAME:
                sent[item.symbol.id] = after = self._after(item, pack)
                had = self._shown.get(item.symbol.id, NOTHING)
                if item.detail >= Detail.SKELETON and after[2:] == had[2:]:
                    sent[_part_key(item)] = SentTexts(body=item.code)
        referred += [
            key
            for one in pack.as_before
            for key in (one.symbol.id, _listing_key(one.of, self._lens))
        ]
        sent |= self._listings(pack)
        for extract in pack.extracts:
            if extract.delta is Delta.UNCHANGED:
                referred.append(_key(extract))
            else:
                text = self._texts.extract(extract.path, extract.first_line, extract.last_line).text
                sent[_key(extract)] = SentTexts(etag_of(text), body=text)
        return sent, referred

    def _after(self, item: Item, pack: Pack) -> SentTexts:
        symbol = item.symbol
        had = self._shown.get(symbol.id, NOTHING)
        now = had._replace(signature=self._texts.signature(symbol).plain)
        if item.detail is Detail.BODY and (item.delta is Delta.DIFF or self._is_whole(item)):
            return SentTexts(
                self.etag(symbol), now.signature, had.skeleton, self._texts.whole(symbol)
            )
        if item.detail is Detail.SKELETON and self._lists_all(item, pack):
            return SentTexts(
                self.etag(symbol), now.signature, self._texts.skeleton(symbol), had.body
            )
        return now

    def _is_whole(self, item: Item) -> bool:
        """True if an item shows no less than its detail says: a body may be cut, or down to the
        lines that matter.
        """
        return item.detail is not Detail.BODY or item.code == self._texts.whole(item.symbol)

    def _lists_all(self, item: Item, pack: Pack) -> bool:
        """True if a skeleton lists all members but those that the pack shows by themselves."""
        if item.delta is Delta.DIFF:
            return True
        symbol = item.symbol
        members = (one for one in (*pack.items, *pack.as_before) if one.symbol.parent == symbol.id)
        apart = [
            one.symbol.id
            for one in members
            if isinstance(one, Candidate) or one.detail or one.delta
        ]
        full, others = (
            Counter(self._texts.skeleton(symbol, ids).splitlines()) for ids in ((), apart)
        )
        return full - Counter(item.code.splitlines()) <= full - others


def _relation(one: Item | Candidate) -> Relation:
    return Relation(one.of, one.reason, one.symbol.id)


def _listing_key(of: str, lens: str) -> str:
    """Under which the relations that a lens told of a symbol are remembered."""
    return f"{of}\nnear\n{lens}"


def _listed(of: str, listing: str) -> list[Relation]:
    rows = (row.partition("\t") for row in listing.split("\n") if row)
    return [Relation(of, reason, symbol_id) for reason, _, symbol_id in rows]


def _relations(shown: Mapping[str, SentTexts]) -> dict[str, set[Relation]]:
    """All relations that were told, by whatever lens, by the symbol that they are relations of."""
    found: dict[str, set[Relation]] = defaultdict(set)
    for key, one in shown.items():
        of, _, kind = key.partition("\n")
        if kind.startswith("near\n"):
            found[of].update(_listed(of, one.body))
    return found


def _by_file(items: list[Item]) -> list[Item]:
    """Items with those of one file together, files and items else in the order that they have."""
    place: dict[str, int] = {}
    for item in items:
        place.setdefault(item.symbol.path, len(place))
    return sorted(items, key=lambda item: place[item.symbol.path])


def _part_key(item: Item) -> str:
    """Under which a part of a body or skeleton is remembered."""
    return f"{item.symbol.id}\n{item.detail.word}"


def _whole_key(path: str) -> str:
    """Under which a whole file is remembered."""
    return f"{path}\nwhole"


def _key(extract: Extract) -> str:
    """Under which lines of a file are remembered: no symbol's id has a line feed and then these."""
    return (
        _whole_key(extract.path)
        if extract.whole
        else f"{extract.path}\n{extract.first_line}-{extract.last_line}"
    )
