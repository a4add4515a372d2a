"""Fit candidates into a token budget, counted on the text that is printed, all of it.

1. Every target gets at least its name; if not even that fits, the error `budget_too_small` says
what would. 2. Targets rise as far as the budget goes. A body that does not fit whole is shown in
part, for a share of the rest. 3. All others rise by worth per byte: signatures of many, bodies of
the most relevant, names of the remote. 4. What is left of the budget shows the first lines of one
more body. 5. Up to here the blocks of the text were counted. Now it is counted as a whole; if it is
too long after all, the
   last steps are taken back.
6. A file of which the pack shows parts that cost as much as the whole is shown whole, and the rest
fitted anew:
   on small files a pack is the file. So is a file that has room where its only target alone has
   not.
7. Functions that are nearly the same are folded into the best of them (`folding.py`), and the room
is filled anew. 8. No pack is larger than the plain files that it stands for (`plain.py`): if it is
after all, these are the answer.
"""

from __future__ import annotations

from collections.abc import Sequence

from tersely.context.lenses.candidate import View
from tersely.context.pack.delta.reader import Reader
from tersely.context.pack.fitting.detail_levels import (
    levels,
    other_steps,
    size_bytes,
    steps_in_order,
    target_steps,
)
from tersely.context.pack.fitting.draft import PackDraft
from tersely.context.pack.fitting.filling import MOST_BYTES_PER_TOKEN, Filling
from tersely.context.pack.fitting.token_meter import Fitted, TokenMeter
from tersely.context.pack.folding import folded, folded_ids, without_folded
from tersely.context.pack.include import Include, extracts_of
from tersely.context.pack.model import Count, Detail, Extract, Pack, Render
from tersely.context.pack.plain import plain, plain_paths
from tersely.context.pack.texts import Texts
from tersely.foundation.errors import TerselyError
from tersely.foundation.limits import DEFAULT_BUDGET_TOKENS, MAX_BUDGET_TOKENS, SETTLE_ROUNDS
from tersely.foundation.text import tokens
from tersely.foundation.types import frozen, replace

FOLDING_ROUNDS = 3  # what fills the room of folded copies may be nearly the same as well

Extracts = tuple[Extract, ...]


def fit(
    view: View,
    texts: Texts,
    render: Render,
    budget: int = DEFAULT_BUDGET_TOKENS,
    *,
    includes: Sequence[Include] = (),
    revision: str = "",
    count: Count = tokens.count,
    reader: Reader | None = None,
) -> Fitted:
    """The most useful pack of at most `budget` tokens. Raises `budget_too_small` when not even the
    names fit.

    A `reader` is told in fewer words what it has been shown, and the room that this leaves is
    filled.
    """
    if budget > MAX_BUDGET_TOKENS:
        raise TerselyError(
            "invalid_argument",
            f"the budget is {budget} tokens; it can be at most {MAX_BUDGET_TOKENS}",
        )
    question = _Question(view, texts, TokenMeter(render, count), budget, revision, reader)
    extracts = extracts_of(includes, texts)
    question.require_room_for(extracts)
    fitted = question.answer(extracts)
    for _ in range(SETTLE_ROUNDS):
        files = question.whole_files(fitted.pack)
        if not files:
            break
        wider = question.answer(_joined(fitted.pack.extracts, files))
        if question.lacks(wider.pack) and not question.lacks(fitted.pack):
            break  # whole files hold what had to wait for others
        fitted = wider
    question, fitted = question.folded(fitted)
    return question.no_larger_than_files(fitted)


@frozen
class _Question:
    """The candidates that are to be fitted, and the room for them."""

    view: View
    texts: Texts
    meter: TokenMeter
    budget: int
    revision: str
    reader: Reader | None

    def told(self, extract: Extract) -> Extract:
        """An extract in the words that the reader needs."""
        return self.reader.told_extract(extract) if self.reader else extract

    def least(self, extracts: Extracts) -> PackDraft:
        """The draft that holds what every answer has to: the extracts and the names of the targets."""
        told = tuple(map(self.told, extracts))
        draft = PackDraft(self.view, self.texts, told, self.budget, self.revision, self.reader)
        draft.raise_to(
            step for step in target_steps(self.view.candidates) if step.detail is Detail.NAME
        )
        return draft

    def needed(self, extracts: Extracts) -> int:
        """The tokens of the least answer."""
        return self.meter.settle(self.least(extracts).pack()).pack.used

    def require_room_for(self, extracts: Extracts) -> None:
        """Refuse a budget that the least answer exceeds."""
        needed = self.needed(extracts)
        if needed > self.budget:
            raise tokens.too_small(self.budget, needed)

    def answer(self, extracts: Extracts, limit: int | None = None) -> Fitted:
        """The best pack that holds the extracts, of no more than the budget or `limit` tokens if
        that is possible.
        """
        draft = self.least(extracts)
        size_of = self.reader.size_bytes if self.reader else size_bytes
        to_targets = target_steps(self.view.candidates, size_of)
        if self.view.in_order:
            to_others = steps_in_order(self.view.candidates, size_of)
        else:
            to_others = other_steps(self.view.candidates, draft.holding_targets, size_of)
        return Filling(draft, self.meter, self.budget if limit is None else limit).fill_up(
            to_targets, to_others
        )

    def lacks(self, pack: Pack) -> bool:
        """True if there are candidates that wait, and one for which they wait has no place."""
        if not any(candidate.waits for candidate in self.view.candidates):
            return False
        first = {candidate.reason for candidate in self.view.candidates if not candidate.waits}
        return any(reason in first for reason, _ in pack.omitted)

    def whole_files(self, pack: Pack) -> Extracts:
        """Files that had better be shown whole and have room."""
        files = self._files_as_cheap(pack) or self._all_files(pack) or self._file_of_target(pack)
        return files if files and self.needed(_joined(pack.extracts, files)) <= self.budget else ()

    def _files_as_cheap(self, pack: Pack) -> Extracts:
        """Files that cost no more than what is shown of them."""
        included = {extract.path for extract in pack.extracts if extract.whole}
        frame = replace(pack, items=(), within=(), extracts=())
        found: list[Extract] = []
        for path, cost in self.meter.by_path(pack).items():
            if path and path not in included and self._may_cost(path, cost):
                whole = self.texts.extract(path)
                if self.meter.by_path(replace(frame, extracts=(whole,)))[path] <= cost:
                    found.append(whole)
        return tuple(found)

    def _all_files(self, pack: Pack) -> Extracts:
        """All files that the pack shows something of, if they cost no more than the pack."""
        paths = dict.fromkeys(item.symbol.path for item in pack.items)
        if not paths or not all(self._may_cost(path, pack.used) for path in paths):
            return ()
        files = tuple(map(self.texts.extract, paths))
        whole = replace(pack, items=(), within=(), extracts=_joined(pack.extracts, files))
        return files if self.meter.settle(whole).pack.used <= pack.used else ()

    def folded(self, fitted: Fitted) -> tuple[_Question, Fitted]:
        """The pack with near-copies folded and their room filled, and the question that it answers.

        Where filling anew would show less, the room stays empty.
        """
        question = self
        for _ in range(FOLDING_ROUNDS):
            shorter = self.meter.settle(folded(fitted.pack, self.meter))
            if shorter.pack.used >= fitted.pack.used:
                break
            question = replace(question, view=without_folded(question.view, shorter.pack))
            refilled = question.answer(fitted.pack.extracts)
            if not _shows_no_less(refilled.pack, shorter.pack):
                return question, shorter
            fitted = refilled
        return question, fitted

    def no_larger_than_files(self, fitted: Fitted) -> Fitted:
        """The pack, or the plain files that it stands for if these are smaller.

        Where parts say more than the files would, as much of them as the files would take.
        """
        smallest = fitted
        for _ in range(SETTLE_ROUNDS):
            files = self._plain_files(fitted.pack)
            if files is None or files.pack.used >= fitted.pack.used:
                return fitted
            smallest = files
            if not any(item.symbol.path in self.view.apart for item in fitted.pack.items):
                break
            fitted = self.answer(fitted.pack.extracts, files.pack.used)
        return smallest

    def _plain_files(self, pack: Pack) -> Fitted | None:
        """The files that a pack stands for; None if a look at their sizes shows that they are
        larger.
        """
        left_bytes = pack.used * MOST_BYTES_PER_TOKEN
        for path in plain_paths(pack, self.view):
            left_bytes -= len(self.texts.source(path))
            if left_bytes < 0:
                return None
        return self.meter.settle(plain(pack, self.view, self.texts, self.told))

    def _may_cost(self, path: str, cost: int) -> bool:
        """True if a file may cost as little, without counting: text is never so sparse that more
        bytes would.
        """
        if path in self.view.apart:
            return False
        return len(self.texts.source(path)) <= cost * MOST_BYTES_PER_TOKEN

    def _file_of_target(self, pack: Pack) -> Extracts:
        """The file of the only target, if the target is not shown whole by itself."""
        item = next((item for item in pack.items if pack.targets == (item.symbol.id,)), None)
        if item is None or item.delta or not self._may_cost(item.symbol.path, self.budget):
            return ()
        target = next(candidate for candidate in self.view.candidates if candidate.is_target)
        if item.detail is levels(target, holds_target=False)[-1] and not item.is_cut:
            return ()
        return (self.texts.extract(item.symbol.path),)


def _shows_no_less(pack: Pack, other: Pack) -> bool:
    """True if a pack folds all that another one does, and has room for as many candidates."""
    omitted, others_omitted = (sum(times for _, times in one.omitted) for one in (pack, other))
    return omitted <= others_omitted and folded_ids(other) <= folded_ids(pack)


def _joined(extracts: Extracts, files: Extracts) -> Extracts:
    """The extracts and whole files; a whole file takes the place of its parts."""
    paths = {file.path for file in files}
    return (*(extract for extract in extracts if extract.path not in paths), *files)
