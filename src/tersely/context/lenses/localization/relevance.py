"""The weight of each kind of evidence, and how sure one may be of what it adds up to.

Two logistic regressions. The first says of a file whether a task is about it; it was fitted to
commits of nine repositories in seven languages (the subject, with and without the body of the
message, and the files that were changed, tests aside), of which none is measured in `bench/`.
Messages of commits hold hardly any stack traces or quoted errors, so those weights are held near
what was assumed of them. The second says which share of the changed files is among those that are
listed; it was fitted to what the first says of 1,125 commits of 25 repositories, with 25 to 500
files each.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from tersely.context.lenses.localization.evidence import Evidence, Mark, Numbers, Sign

MAX_LIKELY_FILES = 8  # files that are listed, for which the second regression was fitted

_WEIGHTS = {
    Sign.TITLE_UNIT: 0.91,
    Sign.TITLE_FILE: 0.76,
    Sign.TEXT_UNIT: 1.07,
    Sign.TEXT_FILE: 0.17,
    Sign.TITLE_RANK: 0.62,
    Sign.TEXT_RANK: 1.14,
    Sign.PATH_WORDS: 1.19,
    Sign.PATH: 2.49,
    Sign.FILE_NAME: 2.07,
    Sign.LAST_FRAME: 1.47,
    Sign.FRAME: 0.63,
    Sign.TITLE_NAME: 0.83,
    Sign.NAME: 0.96,
    Sign.PLAIN_NAME: 0.33,
    Sign.MESSAGE: 1.10,
    Sign.PAST: 1.58,
    Sign.TOUCHED: 0.71,
    Sign.SIZE: -0.18,
}
_BIAS = -5.94
_BY_SIGN = np.array([_WEIGHTS[sign] for sign in Sign])

# Of the second regression. What is not listed speaks through the best of it, as that does not grow
# with the repository.
_BIAS_OF_ALL = -4.995
_BEST = 0.215
_LEAD = 0.429
_NEXT = -0.952
_LISTED = 0.884
_COVERAGE = 0.976
_WORDS = 0.831
_LEAST_NEXT = 0.001  # the probability of a file of which next to nothing speaks


def probabilities(signs: Numbers) -> Numbers:
    """Of each file, that the task is about it."""
    logits: NDArray[np.float64] = signs @ _BY_SIGN + _BIAS
    shares: Numbers = 1 / (1 + np.exp(-logits))
    return shares


def confidence(owning: Numbers, ceiling: float, words: int) -> float:
    """The share of the files that a task is about that is expected among the best
    `MAX_LIKELY_FILES`, from 0 to 1.

    `owning` are the probabilities of all files, the highest first, `ceiling` is which share of the
    words of the title the best file has, `words` is how many those are.
    """
    if not len(owning):
        return 0.0
    best = float(owning[0])
    second = float(owning[1]) if len(owning) > 1 else 0.0
    following = float(owning[MAX_LIKELY_FILES]) if len(owning) > MAX_LIKELY_FILES else 0.0
    logit = (
        _BIAS_OF_ALL
        + _BEST * math.log(best / (1 - best))
        + _LEAD * (best - second)
        + _NEXT * math.log(max(following, _LEAST_NEXT))
        + _LISTED * float(owning[:MAX_LIKELY_FILES].sum())
        + _COVERAGE * min(2.0, ceiling)
        + _WORDS * math.log1p(words)
    )
    return (1 + math.tanh(logit / 2)) / 2  # the logistic function, for logits of any size


# Rare words weigh more the more symbols there are, so a match counts in units of the logarithm of
# their number. Of what people say that is no task ("go on", "run the tests"), 95 in 100 have less
# than 1.5 of it in eight repositories that models are fitted on; texts of changes have two to four
# times as much.
_TASK_MATCH = 1.65
_MATCH_SCALE = 0.08
_POINTING = (
    Sign.PATH,
    Sign.FILE_NAME,
    Sign.LAST_FRAME,
    Sign.FRAME,
    Sign.TITLE_NAME,
    Sign.NAME,
    Sign.MESSAGE,
)


def is_task(found: Evidence) -> float:
    """The probability that a text asks something of this repository: it points at code, or
    describes some of it.
    """
    if found.signs[:, _POINTING].any():
        return 1.0
    relative = found.match / math.log(2 + len(found.text_units))
    return (1 + math.tanh((relative - _TASK_MATCH) / _MATCH_SCALE / 2)) / 2


# Of the model over symbols: which of the rows of a table is changed. Chosen by hand on changes of
# the repositories that models are fitted on; a regression to 81 of them, each repository left out
# in its turn, found no better ones.
_MARKS = {
    Mark.TITLE_UNIT: 1.0,
    Mark.TEXT_UNIT: 1.5,
    Mark.TITLE_HERE: 0.8,
    Mark.TEXT_HERE: 1.2,
    Mark.TITLE_RANK: 1.0,
    Mark.TEXT_RANK: 1.0,
    Mark.TITLE_NAME: 1.5,
    Mark.NAME: 1.0,
    Mark.PLAIN_NAME: 0.5,
    Mark.NAME_WORDS: 1.5,
    Mark.LAST_FRAME: 2.5,
    Mark.FRAME: 1.0,
    Mark.TRACE_CALL: 1.5,
    Mark.MESSAGE: 2.0,
    Mark.LINKED: 2.5,
    Mark.OWNER: 0.3,
    Mark.FILE: 6.0,
    Mark.FILE_RANK: 0.5,
    Mark.SIZE: 1.0,
    Mark.IS_CLASS: -1.5,
    Mark.IS_VALUE: -1.0,
}
_BY_MARK = np.array([_MARKS[mark] for mark in Mark])
# Fitted on 398 changes of those repositories, so that of the symbols with a chance of a third a
# third is changed.
CHANGED_SYMBOLS = 3.0  # by a task, about
TEMPERATURE = 1.3

_EXACT = {
    Mark.LAST_FRAME: "where the trace ends",
    Mark.TITLE_NAME: "named in the task",
    Mark.LINKED: "linked to",
    Mark.MESSAGE: "has the quoted text",
    Mark.TRACE_CALL: "called where the trace ends",
    Mark.FRAME: "in the trace",
    Mark.NAME: "named in the task",
}


def chances(rows: Numbers) -> Numbers:
    """Of each symbol, that the task changes it: from its share of all changes that are expected."""
    if not len(rows):
        return np.zeros(0)
    scores = rows @ _BY_MARK / TEMPERATURE
    odds = np.exp(scores - scores.max())
    found: Numbers = 1 - np.exp(-CHANGED_SYMBOLS * odds / odds.sum())
    return found


def reason(row: Numbers, words: Sequence[str]) -> str:
    """The reason for which a symbol is likely, in words: what is exact, else which words of the
    task it has.
    """
    exact = [mark for mark in _EXACT if row[mark] > 0]
    if exact:
        return _EXACT[max(exact, key=lambda mark: float(row[mark] * _MARKS[mark]))]
    return f"has {', '.join(words)}" if words else "beside these"
