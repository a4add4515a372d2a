"""A pack in the making: which candidate is shown at which detail, and the pack that this makes."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from tersely.code.symbols import Kind, Range, Ranges, Symbol
from tersely.context.lenses.candidate import Candidate, View
from tersely.context.pack.delta.reader import Reader
from tersely.context.pack.excerpt import Excerpt, dedented
from tersely.context.pack.fitting.detail_levels import DetailStep
from tersely.context.pack.model import Detail, Extract, Item, Pack
from tersely.context.pack.texts import Texts
from tersely.foundation.types import Numbers, Strings, replace


class DetailChoice(NamedTuple):
    """The detail of each chosen candidate, and how many lines of a body or members of a skeleton if
    not all.
    """

    chosen: dict[int, Detail]
    cuts: dict[int, int]


class PackDraft:
    """The choice made so far. Candidates are spoken of by their position in the view."""

    def __init__(
        self,
        view: View,
        texts: Texts,
        extracts: tuple[Extract, ...],
        budget: int,
        revision: str,
        reader: Reader | None = None,
    ) -> None:
        self.candidates = view.candidates
        self.texts = texts
        self.chosen: dict[int, Detail] = {}
        self.cuts: dict[int, int] = {}
        targets = tuple(candidate.symbol.id for candidate in view.candidates if candidate.is_target)
        # While drafting, the size that a pack prints of itself is the largest that it may be.
        self._blank = Pack(
            revision, budget, budget, targets, extracts, (), (), (), view.base, view.head
        )
        self._place = places(view.candidates)
        self._holders = holders(view.candidates)
        self._inside = inside(self._holders)
        self._apart = shown_apart(view.candidates, self._holders)
        self._extracted = {
            i for i, candidate in enumerate(view.candidates) if _is_extracted(candidate, extracts)
        }
        twins = (twin.reason for candidate in view.candidates for twin in candidate.twins)
        # What only fills room is not missed where there is none.
        missed = (candidate.reason for candidate in view.candidates if not candidate.outline_only)
        self._reasons = Counter(view.beyond) + Counter(missed) + Counter(twins)
        self._items: dict[tuple[object, ...], Item] = {}
        self._reader = reader

    @property
    def holding_targets(self) -> frozenset[int]:
        """Those around a target."""
        return frozenset(
            holder
            for index, candidate in enumerate(self.candidates)
            if candidate.is_target
            for holder in self._holders[index]
        )

    def raise_to(self, steps: Iterable[DetailStep]) -> None:
        """Show candidates in more detail, never in less."""
        for step in steps:
            detail = self._least(step.candidate, step.detail)
            if self.chosen.get(step.candidate, -1) < detail:
                self.chosen[step.candidate] = detail

    def _least(self, index: int, detail: Detail) -> Detail:
        """The detail that showing a candidate at another amounts to: no less than what the reader
        has of it.
        """
        known = self._reader.known(self.candidates[index].symbol) if self._reader else None
        return detail if known is None else max(detail, known)

    def cut(self, index: int, detail: Detail, size: int) -> None:
        """Show the first lines of a body, or the first members of a skeleton."""
        self.chosen[index] = detail
        self.cuts[index] = size

    def choice(self) -> DetailChoice:
        """The present choice, to `restore` later."""
        return DetailChoice(self.chosen.copy(), self.cuts.copy())

    def restore(self, choice: DetailChoice) -> None:
        """Go back to an earlier choice."""
        self.chosen, self.cuts = choice.chosen.copy(), choice.cuts.copy()

    def is_covered(self, index: int) -> bool:
        """True if all of a candidate is shown as part of something else."""
        return index in self._extracted or any(
            self._covers(holder, index) for holder in self._holders[index]
        )

    def _is_within(self, index: int) -> bool:
        """True if what is to be shown of a candidate is part of something else, and so not shown by
        itself.
        """
        return self.is_covered(index) or any(
            self._lists(holder, index) for holder in self._holders[index]
        )

    def _covers(self, holder: int, index: int) -> bool:
        """True if the shown body of `holder` contains a candidate."""
        if self.chosen.get(holder) is not Detail.BODY:
            return False
        if self._reader and self.candidates[index].is_target and self._item(holder).delta:
            # what is around it is not printed whole, and a target is spoken of in any case
            return False
        symbol, parts = self.candidates[index].symbol, self.candidates[holder].parts
        if self.candidates[index].change or (parts and not _is_in(symbol, parts)):
            return False  # a change is told where it is
        return (
            holder not in self.cuts
            or self.candidates[index].symbol.end_line <= self._item(holder).last_line
        )

    def _lists(self, holder: int, index: int) -> bool:
        """True if `holder` is shown with the signatures of its members, and no more is to be shown
        of this one.
        """
        lists_members = self.chosen.get(holder) is (
            Detail.BODY if holder in self.cuts else Detail.SKELETON
        )
        is_member = self.candidates[index].symbol.parent == self.candidates[holder].symbol.id
        needs_no_more = (
            self.chosen[index] <= Detail.SIGNATURE and not self.candidates[index].is_target
        )
        return lists_members and is_member and needs_no_more

    def pack(self) -> Pack:
        """The pack of the present choice, not yet measured."""
        items: list[Item] = []
        within: list[Candidate] = []
        for index in sorted(self.chosen, key=self._place.__getitem__):
            if self._is_within(index):
                within.append(self.candidates[index])
            else:
                items.append(self._item(index))
        left = self._reasons - Counter(self.candidates[index].reason for index in self.chosen)
        left -= Counter(twin.reason for item in items for twin in item.twins)
        pack = replace(
            self._blank,
            items=tuple(items),
            within=tuple(within),
            omitted=tuple(sorted(left.items())),
        )
        return self._reader.without_known(pack) if self._reader else pack

    def _item(self, index: int) -> Item:
        detail = self.chosen[index]
        cut = self.cuts.get(index)
        shown = self._members_shown(index) if detail is Detail.SKELETON else ()
        apart = self._shown_apart(index) if detail is Detail.BODY else ()
        key = (index, detail, cut, shown, apart)
        if key not in self._items:
            item = _item(self.candidates[index], detail, cut, shown, apart, self.texts)
            self._items[key] = (
                self._reader.told(item, is_cut=cut is not None) if self._reader else item
            )
        return self._items[key]

    def _shown_apart(self, index: int) -> Ranges:
        """The lines within the body of a candidate at which others stand that are shown by
        themselves.
        """
        apart = [
            one
            for one in (*self._apart[index], *self._begun(index))
            if self.chosen.get(one) is Detail.BODY
        ]
        symbols = {self.candidates[one].symbol for one in apart}
        return tuple(sorted((symbol.start_line, symbol.end_line) for symbol in symbols))

    def _begun(self, index: int) -> list[int]:
        """Those that the beginning of a body would show the beginning of."""
        if index not in self.cuts:
            return []
        holder = self.candidates[index].symbol
        last_line = self.texts.last_line(holder, self.cuts[index])
        found: list[int] = []
        for one in self._inside[index]:
            symbol = self.candidates[one].symbol
            first_line = holder.start_line + (holder.kind is not Kind.MODULE)
            has_own_lines = symbol.kind is not Kind.LAMBDA and symbol.start_line >= first_line
            if has_own_lines and symbol.start_line <= last_line < symbol.end_line:
                found.append(one)
        return found

    def _members_shown(self, index: int) -> Strings:
        """Members that are shown by themselves, since a skeleton that repeats them would be longer
        for nothing.
        """
        least = Detail.NAME if index in self.cuts else Detail.SKELETON
        parent = self.candidates[index].symbol.id
        members = (other for other in self.chosen if self.candidates[other].symbol.parent == parent)
        shown = (i for i in members if self.chosen[i] >= least or self.candidates[i].is_target)
        return tuple(sorted(self.candidates[i].symbol.id for i in shown))


def _item(
    candidate: Candidate,
    detail: Detail,
    cut: int | None,
    shown: Sequence[str],
    apart: Sequence[Range],
    texts: Texts,
) -> Item:
    symbol = candidate.symbol
    plain, qualified = texts.signature(symbol) if detail > Detail.NAME else ("", "")
    lines, last_line = Excerpt(), symbol.end_line
    if detail is Detail.BODY:
        lines, last_line = texts.code_lines(symbol, cut, apart)
    elif detail is Detail.SKELETON:
        lines = texts.skeleton_lines(symbol, shown, cut)
    twins = candidate.twins if detail is Detail.BODY and cut is None else ()
    imports = candidate.imports if detail > Detail.SIGNATURE else ()
    return Item(
        symbol,
        detail,
        candidate.score,
        candidate.reason,
        candidate.of,
        plain,
        qualified,
        dedented(lines),
        tuple(lines),
        last_line,
        twins,
        imports,
        change=candidate.change,
        parts=candidate.parts if detail is Detail.BODY else (),
        evidence=candidate.evidence if detail > Detail.NAME or candidate.is_target else "",
        is_gone=candidate.is_gone,
    )


def places(candidates: Sequence[Candidate]) -> list[tuple[int, bool, int, int, str]]:
    """The place of each candidate in print: by file in the order of their best, targets first, then
    by line.
    """
    rank: dict[str, int] = {}
    for candidate in candidates:
        rank.setdefault(candidate.symbol.path, len(rank))
    return [
        (rank[symbol.path], not is_target, symbol.start_byte, -symbol.end_byte, symbol.id)
        for symbol, is_target in ((one.symbol, one.is_target) for one in candidates)
    ]


def holders(candidates: Sequence[Candidate]) -> list[Numbers]:
    """For each candidate the others around it in the file; of two with one extent, the first holds
    the second.
    """
    by_path: dict[str, list[int]] = defaultdict(list)
    for index, candidate in enumerate(candidates):
        by_path[candidate.symbol.path].append(index)
    found: list[Numbers] = [()] * len(candidates)
    for indexes in by_path.values():
        around: list[int] = []
        for index in sorted(
            indexes,
            key=lambda i: (candidates[i].symbol.start_byte, -candidates[i].symbol.end_byte, i),
        ):
            symbol = candidates[index].symbol
            around = [
                other for other in around if candidates[other].symbol.end_byte >= symbol.end_byte
            ]
            found[index] = tuple(around)
            around.append(index)
    return found


def inside(around: Sequence[Numbers]) -> list[list[int]]:
    """For each candidate those that it holds."""
    found: list[list[int]] = [[] for _ in around]
    for index, others in enumerate(around):
        for holder in others:
            found[holder].append(index)
    return found


def shown_apart(candidates: Sequence[Candidate], around: Sequence[Numbers]) -> list[Numbers]:
    """For each candidate whose body may have others left out that are shown by themselves, these
    others.
    """
    found: list[list[int]] = [[] for _ in candidates]
    for index, others in enumerate(around):
        for holder in others:
            if _leaves_out(candidates[holder], candidates[index]):
                found[holder].append(index)
    return list(map(tuple, found))


def _leaves_out(holder: Candidate, candidate: Candidate) -> bool:
    """True if the lines of a candidate are no part of the body of one around it."""
    shares_lines = candidate.symbol.kind is Kind.LAMBDA
    if candidate.is_gone or holder.is_gone or shares_lines:
        return False
    is_in_parts = bool(holder.parts) and not _is_in(candidate.symbol, holder.parts)
    return is_in_parts or candidate.change is not None


def _is_in(symbol: Symbol, parts: Sequence[Range]) -> bool:
    return any(first <= symbol.start_line and symbol.end_line <= last for first, last in parts)


def _is_extracted(candidate: Candidate, extracts: Sequence[Extract]) -> bool:
    symbol = candidate.symbol
    return candidate.change is None and any(
        extract.whole
        or (extract.first_line <= symbol.start_line and symbol.end_line <= extract.last_line)
        for extract in extracts
        if extract.path == symbol.path
    )
