"""Fit candidates into a token budget, counted on the text that is printed, all of it.

1. Every target gets at least its name; if not even that fits, the error `budget_too_small` says what would.
2. Targets rise as far as the budget goes. A body that does not fit whole is shown in part, for a share of the rest.
3. All others rise by worth per byte: signatures of many, bodies of the most relevant, names of the remote.
4. What is left of the budget shows the first lines of one more body.
5. The text is counted once more as a whole. If it is too long, the last steps are taken back.
6. If the files that the pack stands for cost less than the pack, it becomes those files.

While filling, a pack is weighed as the sum of its blocks, each counted once and remembered: that differs from
the count of the whole only where blocks meet, by a token here or there, which step 5 makes good.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import accumulate
from typing import NamedTuple

from laconic.code.lenses.candidate import View
from laconic.code.pack.draft import Choice, Draft
from laconic.code.pack.include import Include, extracts_of
from laconic.code.pack.ladder import Rung, other_rungs, target_rungs
from laconic.code.pack.model import Block, Count, Detail, Extract, Pack, Render, joined
from laconic.code.pack.texts import Texts
from laconic.foundation import tokens
from laconic.foundation.errors import LaconicError
from laconic.foundation.limits import (
    DEFAULT_BUDGET_TOKENS,
    MAX_BUDGET_TOKENS,
    MAX_CUT_BODIES,
    MAX_REFUSALS_STEPS,
    SETTLE_ROUNDS,
)

# Of what targets' signatures leave of a budget, what goes to bodies of targets that do not fit whole. The rest is
# for neighbours: half a body and what it calls says more than the body and nothing else.
CUT_TARGET_PART = 0.6
# A pack that uses this much is full; looking for the last tokens costs more than they are worth.
FULL_PART = 0.985
# A body is only begun when this many tokens are left for it.
MIN_CUT_TOKENS = 8
# What a step costs is guessed from its bytes before it is tried. A neighbour's step is not tried if by the guess
# it is so much too large; a target's only if no code is sparse enough to make it fit.
TOKENS_PER_BYTE = 0.27
HOPELESS_FACTOR = 1.3
MOST_BYTES_PER_TOKEN = 12
# Batches of steps fill this part of what is left, so that a wrong guess rarely makes one too large.
BATCH_PART = 0.8
# Text without its files' other parts is never this many times denser than the files: no need to count them.
WHOLE_FILES_FACTOR = 3


class Fitted(NamedTuple):
    """A pack and the very text that was counted."""

    pack: Pack
    text: str


def fit(
    view: View,
    texts: Texts,
    render: Render,
    budget: int = DEFAULT_BUDGET_TOKENS,
    *,
    includes: Sequence[Include] = (),
    revision: str = "",
    count: Count = tokens.count,
) -> Fitted:
    """The most useful pack of at most `budget` tokens. Raises `budget_too_small` when not even the names fit."""
    if budget > MAX_BUDGET_TOKENS:
        raise LaconicError("invalid_argument", f"the budget is {budget} tokens; it can be at most {MAX_BUDGET_TOKENS}")
    scale = Scale(render, count)
    fitted = _fit(view, texts, scale, extracts_of(includes, texts), budget, revision)
    for _ in range(SETTLE_ROUNDS):
        files = _as_files(fitted, scale, texts)
        if files is None:
            break
        fitted = _fit(view, texts, scale, files, budget, revision)
    return fitted


@dataclass(frozen=True, slots=True)
class Scale:
    """Weighs packs in tokens of their printed text."""

    render: Render
    count: Count
    _known: dict[str, int] = field(default_factory=dict)

    def count_once(self, text: str) -> int:
        """The tokens of a text; the same text is counted once."""
        tokens = self._known.get(text)
        if tokens is None:
            tokens = self._known[text] = self.count(text)
        return tokens

    def blocks(self, pack: Pack) -> Sequence[Block]:
        """The printed pack in blocks."""
        return self.render(pack, self.count_once)

    def weigh(self, pack: Pack) -> int:
        """About the tokens of the printed pack."""
        known = self.count_once
        return sum([known(block.text) for block in self.blocks(pack)])

    def settle(self, pack: Pack) -> Fitted:
        """The pack with its true size, which its text may state, and that text.

        More tokens never take fewer digits, so going up from the smallest size ends at one that is true.
        """
        text = ""
        used = 0
        for _ in range(SETTLE_ROUNDS):
            pack = replace(pack, used=used)
            text = joined(self.blocks(pack))
            used = self.count(text)
            if used == pack.used:
                break
        return Fitted(replace(pack, used=used), text)


def _fit(view: View, texts: Texts, scale: Scale, extracts: tuple[Extract, ...], budget: int, revision: str) -> Fitted:
    draft = Draft(view, texts, extracts, budget, revision)
    to_targets = target_rungs(view.candidates)
    names = [rung for rung in to_targets if rung.detail is Detail.NAME]
    draft.raise_to(names)
    _require(scale.settle(draft.pack()).pack.used, budget)
    to_others = other_rungs(view.candidates, draft.holding_targets)
    filling = _Filling(draft, scale, budget)
    filling.climb(to_targets[len(names) :])
    filling.cut_targets(to_targets)
    filling.fill(to_others)
    filling.fill_with_cut([*to_targets, *to_others])
    return filling.settled()


def _require(needed: int, budget: int) -> None:
    if needed > budget:
        hint = f"Give a budget of {needed} or more, ask about fewer symbols, or include less."
        raise LaconicError("budget_too_small", f"the least answer takes {needed} tokens; the budget is {budget}", hint)


@dataclass(slots=True)
class _Filling:
    """Steps taken on a draft. What was chosen before each is kept, so that the last can be taken back."""

    draft: Draft
    scale: Scale
    budget: int
    taken: list[Choice] = field(default_factory=list)

    def weigh(self) -> int:
        return self.scale.weigh(self.draft.pack())

    def climb(self, rungs: Sequence[Rung]) -> None:
        """Take the longest beginning of the steps that fits."""
        start = self.draft.choice()
        sizes = accumulate(rung.size_bytes for rung in rungs)
        possible = sum(1 for size_bytes in sizes if size_bytes <= self.budget * MOST_BYTES_PER_TOKEN)
        fitting, beyond = 0, possible + 1
        while beyond - fitting > 1:
            tried = (fitting + beyond) // 2
            self.draft.raise_to(rungs[:tried])
            if self.weigh() <= self.budget:
                fitting = tried
            else:
                beyond = tried
            self.draft.restore(start)
        for rung in rungs[:fitting]:
            self.taken.append(self.draft.choice())
            self.draft.raise_to([rung])

    def cut_targets(self, rungs: Sequence[Rung]) -> None:
        """Give the targets whose bodies did not fit the first lines of them, all an equal share."""
        draft = self.draft
        left = [rung.index for rung in rungs if rung.detail is Detail.BODY and draft.chosen[rung.index] < Detail.BODY]
        left = [index for index in left if not draft.is_within(index)][:MAX_CUT_BODIES]
        for position, index in enumerate(left):
            used = self.weigh()
            share = (self.budget - used) * CUT_TARGET_PART / (len(left) - position)
            self.cut(index, Detail.BODY, used + int(share))

    def fill(self, rungs: Sequence[Rung]) -> None:
        """Take, in order, every step that fits, in batches while much is left."""
        ends = list(accumulate((rung.size_bytes for rung in rungs), initial=0.0))
        used = self.weigh()
        part = BATCH_PART
        refusals = at = 0
        while at < len(rungs) and used < self.budget * FULL_PART and refusals < MAX_REFUSALS_STEPS:
            room = self.budget - used
            if rungs[at].size_bytes * TOKENS_PER_BYTE > room * HOPELESS_FACTOR:
                at += 1
                continue
            end = max(at + 1, bisect_right(ends, ends[at] + room * part / TOKENS_PER_BYTE) - 1)
            weight = self._try(rungs[at:end], used)
            if weight:
                used, part, at = weight, BATCH_PART, end
            elif end > at + 1:
                part /= 2
            else:
                refusals += 1
                at += 1

    def _try(self, rungs: Sequence[Rung], used: int) -> int:
        """Take some steps if they fit and give the new weight, else 0."""
        before = self.draft.choice()
        self.draft.raise_to(rungs)
        weight = self.weigh()
        if weight > self.budget:
            self.draft.restore(before)
            return 0
        self.taken.append(before)
        return weight

    def fill_with_cut(self, rungs: Sequence[Rung]) -> None:
        """Spend what is left on more of what is cut, else on the beginning of the best that is not shown."""
        for _ in range(MAX_CUT_BODIES):
            used = self.weigh()
            if self.budget - used < MIN_CUT_TOKENS or used >= self.budget * FULL_PART:
                return
            if not any(self._begin(rung, used) for rung in self._cuttable(rungs)):
                return

    def _begin(self, rung: Rung, used: int) -> bool:
        """Take a step whole or in part; False if it cannot even be begun."""
        is_cut = rung.index in self.draft.cuts
        may_fit = not is_cut and rung.size_bytes <= (self.budget - used) * MOST_BYTES_PER_TOKEN
        return bool(may_fit and self._try([rung], used)) or self.cut(rung.index, rung.detail, self.budget)

    def cut(self, index: int, detail: Detail, limit: int) -> bool:
        """Show as much of a body or skeleton as keeps the pack within `limit`; False if that is nothing more."""
        before = self.draft.choice()
        size = self._size_that_fits(index, detail, limit)
        self.draft.restore(before)
        if size <= before.cuts.get(index, 0):
            return False
        self.taken.append(before)
        self.draft.cut(index, detail, size)
        return True

    def _size_that_fits(self, index: int, detail: Detail, limit: int) -> int:
        """How many lines of a body, or members of a skeleton, keep the pack within `limit`; 0 if none.

        A body that is begun shows more than the signature, or it would cost more and say no more.
        """
        symbol, texts = self.draft.candidates[index].symbol, self.draft.texts
        is_body = detail is Detail.BODY
        lines = [line.text for line in texts.body(symbol)] if is_body else texts.member_lines(symbol)
        del lines[-1:]  # cut to its whole size it would not be cut
        least = texts.header_size(symbol) + 1 if is_body else 1
        fitting = 0
        size = max(least, self.draft.cuts.get(index, 0))
        for _ in range(SETTLE_ROUNDS):
            if not max(fitting + 1, least) <= size <= len(lines):
                break
            self.draft.cut(index, detail, size)
            room = limit - self.weigh()
            if room >= 0:
                fitting = size
                size += self._lines_within(room, lines[size:])
            else:
                size -= max(1, self._lines_within(-room, lines[fitting:size][::-1]) + 1)
        return fitting

    def _lines_within(self, room: int, lines: Sequence[str]) -> int:
        """How many of the lines cost no more than `room` tokens together."""
        for position, line in enumerate(lines):
            room -= self.scale.count_once(line + "\n")
            if room < 0:
                return position
        return len(lines)

    def _cuttable(self, rungs: Sequence[Rung]) -> list[Rung]:
        """What might be begun, the best first: of each candidate the next step beyond its signature."""
        draft = self.draft
        if draft.cuts:
            return [Rung(index, draft.chosen[index], 0) for index in draft.cuts]
        following: dict[int, Rung] = {}
        for rung in rungs:
            shown = draft.chosen.get(rung.index)
            if rung.detail > Detail.SIGNATURE and shown is not None and shown < rung.detail:
                following.setdefault(rung.index, rung)
        waiting = [index for index in sorted(following) if not draft.is_within(index)]
        return [following[index] for index in waiting[:MAX_CUT_BODIES]]

    def settled(self) -> Fitted:
        """The pack, measured exactly. Takes back one step, then two, four, … while it is too large."""
        fitted = self.scale.settle(self.draft.pack())
        back = 1
        while fitted.pack.used > self.budget and self.taken:
            back = min(back, len(self.taken))
            self.draft.restore(self.taken[-back])
            del self.taken[-back:]
            back *= 2
            fitted = self.scale.settle(self.draft.pack())
        return fitted


def _as_files(fitted: Fitted, scale: Scale, texts: Texts) -> tuple[Extract, ...] | None:
    """The whole files that the pack stands for, if they cost no more than the pack."""
    pack, text = fitted
    included = {extract.path for extract in pack.extracts if extract.whole}
    paths = dict.fromkeys(item.symbol.path for item in pack.items if item.symbol.path not in included)
    size_bytes = sum(len(texts.source(path)) for path in paths)
    if not paths or size_bytes > WHOLE_FILES_FACTOR * len(text.encode()):
        return None
    extracts = (*pack.extracts, *(texts.extract(path) for path in paths))
    files = replace(pack, extracts=extracts, items=(), within=())
    return extracts if scale.settle(files).pack.used <= pack.used else None
