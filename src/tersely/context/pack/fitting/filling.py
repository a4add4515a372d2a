"""The steps by which a draft is filled up to its budget."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from itertools import accumulate

from tersely.context.pack.fitting.detail_levels import DetailStep
from tersely.context.pack.fitting.draft import DetailChoice, PackDraft
from tersely.context.pack.fitting.token_meter import Fitted, TokenMeter
from tersely.context.pack.model import Detail
from tersely.foundation.text.tokens import filled
from tersely.foundation.types import field, record

MAX_CUT_BODIES = 4  # bodies of which a pack tries to show the first lines
MAX_CUT_ROUNDS = 16  # looks at how much of a body fits
MAX_REFUSALS_STEPS = 16  # steps found too large before a pack counts as full

# Of what targets' signatures leave of a budget, what goes to bodies of targets that do not fit
# whole. The rest is for neighbours: half a body and what it calls says more than the body and
# nothing else. What has changed goes before all that has not.
CUT_TARGET_PART = 0.6
# A pack that uses this much is full; looking for the last tokens costs more than they are worth.
FULL_PART = 0.985
# With less, there is reason to look whether the blocks cost less together than one by one.
FILLED_PART = 0.95
# A body is only begun when this many tokens are left for it.
MIN_CUT_TOKENS = 8
# What a step costs is guessed from its bytes before it is tried. A neighbour's step is not tried if
# by the guess it is so much too large, as deep indentation alone makes it half again; a target's only
# if no code is sparse enough to make it fit.
TOKENS_PER_BYTE = 0.27
HOPELESS_FACTOR = 1.7
MOST_BYTES_PER_TOKEN = 12
# Batches of steps fill this part of what is left, so that a wrong guess rarely makes one too large.
BATCH_PART = 0.8


@record
class Filling:
    """Steps taken on a draft. What was chosen before each is kept, so that the last can be taken
    back.
    """

    draft: PackDraft
    meter: TokenMeter
    budget: int
    taken: list[DetailChoice] = field(default_factory=list)
    merged: int = 0  # tokens that the blocks cost more one by one than together, as far as known

    def weigh(self) -> int:
        """About the tokens of the pack so far."""
        return self.meter.weigh(self.draft.pack()) - self.merged

    def fill_up(self, to_targets: Sequence[DetailStep], to_others: Sequence[DetailStep]) -> Fitted:
        """Take as many steps as fit, the targets' first. What the exact count leaves over is filled
        once more.
        """
        self.climb(to_targets)
        self.cut_targets(to_targets)
        to_others = self._without_waiting(to_others)
        fitted = self._filled(to_targets, to_others)
        if fitted.pack.used < self.budget * FILLED_PART:
            self.merged += self.weigh() - fitted.pack.used
            fitted = self._filled(to_targets, to_others)
        return fitted

    def _filled(self, to_targets: Sequence[DetailStep], to_others: Sequence[DetailStep]) -> Fitted:
        self.fill(to_others)
        self.fill_with_cut([*to_targets, *to_others])
        return self.settled()

    def _without_waiting(self, steps: Sequence[DetailStep]) -> Sequence[DetailStep]:
        """The steps to take: those of candidates that wait only when all others have been given a
        place.
        """
        candidates = self.draft.candidates
        early = [step for step in steps if not candidates[step.candidate].waits]
        if len(early) == len(steps):
            return steps
        self.fill([step for step in early if step.detail is Detail.NAME])
        return steps if all(step.candidate in self.draft.chosen for step in early) else early

    def climb(self, steps: Sequence[DetailStep]) -> None:
        """Take the longest beginning of the steps that fits."""
        start = self.draft.choice()
        sizes = list(accumulate(step.size_bytes for step in steps))
        possible = bisect_right(sizes, self.budget * MOST_BYTES_PER_TOKEN)

        def weight(some: Sequence[DetailStep]) -> int:
            self.draft.raise_to(some)
            found = self.weigh()
            self.draft.restore(start)
            return found

        for step in filled(steps[:possible], weight, self.budget):
            self.taken.append(self.draft.choice())
            self.draft.raise_to([step])

    def cut_targets(self, steps: Sequence[DetailStep]) -> None:
        """Give the targets that did not fit whole the beginning of what comes next, all an equal
        share.

        One for which the share is too small even to begin takes what there is: whether a target is
        begun then depends on the budget alone, so a larger budget never shows less.
        """
        left = self._following(steps)[:MAX_CUT_BODIES]
        for position, step in enumerate(left):
            used = self.weigh()
            part = 1.0 if self.draft.candidates[step.candidate].change else CUT_TARGET_PART
            share = (self.budget - used) * part / (len(left) - position)
            if not self.cut(step.candidate, step.detail, used + int(share)):
                self.cut(step.candidate, step.detail, self.budget)

    def fill(self, steps: Sequence[DetailStep]) -> None:
        """Take, in order, every step that fits, in batches while much is left."""
        ends = list(accumulate((step.size_bytes for step in steps), initial=0.0))
        used = self.weigh()
        part = BATCH_PART
        refusals = at = 0
        while at < len(steps) and used < self.budget * FULL_PART and refusals < MAX_REFUSALS_STEPS:
            room = self.budget - used
            if steps[at].size_bytes * TOKENS_PER_BYTE > room * HOPELESS_FACTOR:
                at += 1
                continue
            end = max(at + 1, bisect_right(ends, ends[at] + room * part / TOKENS_PER_BYTE) - 1)
            weight = self._try(steps[at:end])
            if weight:
                used, part, at = weight, BATCH_PART, end
            elif end > at + 1:
                part /= 2
            else:
                refusals += 1
                at += 1

    def _try(self, steps: Sequence[DetailStep]) -> int:
        """Take some steps if they fit and give the new weight, else 0."""
        before = self.draft.choice()
        self.draft.raise_to(steps)
        weight = self.weigh()
        if weight > self.budget:
            self.draft.restore(before)
            return 0
        self.taken.append(before)
        return weight

    def fill_with_cut(self, steps: Sequence[DetailStep]) -> None:
        """Spend what is left on more of what is cut, or on the beginning of what is not shown, the
        best first.
        """
        for _ in range(MAX_CUT_BODIES):
            used = self.weigh()
            if self.budget - used < MIN_CUT_TOKENS or used >= self.budget * FULL_PART:
                return
            cut = [DetailStep(index, self.draft.chosen[index], 0) for index in self.draft.cuts]
            possible = cut + self._following(steps)[:MAX_CUT_BODIES]
            if not any(self._begin(step, used) for step in possible):
                return

    def _following(self, steps: Sequence[DetailStep]) -> list[DetailStep]:
        """Of each candidate that is not shown whole its next step beyond the signature, the best
        candidate first.
        """
        following: dict[int, DetailStep] = {}
        for step in steps:
            shown = self.draft.chosen.get(step.candidate)
            if step.detail > Detail.SIGNATURE and shown is not None and shown < step.detail:
                following.setdefault(step.candidate, step)
        return [following[index] for index in sorted(following) if not self.draft.is_covered(index)]

    def _begin(self, step: DetailStep, used: int) -> bool:
        """Take a step whole or in part; False if it cannot even be begun."""
        is_new = self.draft.chosen[step.candidate] < step.detail
        may_fit = is_new and step.size_bytes <= (self.budget - used) * MOST_BYTES_PER_TOKEN
        return bool(may_fit and self._try([step])) or self.cut(
            step.candidate, step.detail, self.budget
        )

    def cut(self, index: int, detail: Detail, limit: int) -> bool:
        """Show as much of a body or skeleton as keeps the pack within `limit`; False if that is
        nothing more.
        """
        before = self.draft.choice()
        shown = before.cuts.get(index, 0) if before.chosen[index] is detail else 0
        size = self._size_that_fits(index, detail, shown, limit)
        self.draft.restore(before)
        if size <= shown:
            return False
        self.taken.append(before)
        self.draft.cut(index, detail, size)
        return True

    def _size_that_fits(self, index: int, detail: Detail, shown: int, limit: int) -> int:
        """The number of lines of a body, or members of a skeleton, that keep the pack within
        `limit`; 0 if none.

        A body that is begun shows more than the signature, or it would cost more and say no more.
        """
        symbol, texts = self.draft.candidates[index].symbol, self.draft.texts
        is_body = detail is Detail.BODY
        lines = (
            [line.text for line in texts.body(symbol)] if is_body else texts.member_lines(symbol)
        )
        del lines[-1:]  # cut to its whole size it would not be cut
        least = texts.header_size(symbol) + 1 if is_body else 1
        fitting = 0
        size = max(least, shown)
        for _ in range(MAX_CUT_ROUNDS):
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
        """The number of the lines that cost no more than `room` tokens together."""
        for position, line in enumerate(lines):
            room -= self.meter.count_once(line + "\n")
            if room < 0:
                return position
        return len(lines)

    def settled(self) -> Fitted:
        """The pack, measured exactly. Takes back one step, then two, four, … while it is too large."""
        fitted = self.meter.settle(self.draft.pack())
        back = 1
        while fitted.pack.used > self.budget and self.taken:
            back = min(back, len(self.taken))
            self.draft.restore(self.taken[-back])
            del self.taken[-back:]
            back *= 2
            fitted = self.meter.settle(self.draft.pack())
        return fitted
