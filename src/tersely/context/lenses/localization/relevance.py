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

from tersely.context.lenses.localization.evidence import Evidence, Sign
from tersely.foundation.arrays import Figures, np

MAX_LIKELY_FILES = 8  # files that are listed, for which the second regression was fitted


def _weights(**of_sign: float) -> Figures:
    """What each kind of evidence counts, in the order of `Sign`; those that are not given nothing."""
    found = np.zeros(len(Sign))
    for name, weight in of_sign.items():
        found[Sign[name]] = weight
    return found


_OF_FILES = _weights(
    TITLE_UNIT=0.91,
    TITLE_FILE=0.76,
    TEXT_UNIT=1.07,
    TEXT_FILE=0.17,
    TITLE_RANK=0.62,
    TEXT_RANK=1.14,
    PATH_WORDS=1.19,
    PATH=2.49,
    FILE_NAME=2.07,
    LAST_FRAME=1.47,
    FRAME=0.63,
    TITLE_NAME=0.83,
    NAME=0.96,
    MESSAGE=1.10,
    PAST=1.58,
    TOUCHED=0.71,
)
_BIAS = -6.04

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


def probabilities(signs: Figures) -> Figures:
    """Of each file, that the task is about it."""
    logits: Figures = signs @ _OF_FILES + _BIAS
    shares: Figures = 1 / (1 + np.exp(-logits))
    return shares


def confidence(owning: Figures, ceiling: float, words: int) -> float:
    """The share of the files that a task is about that is expected among the best
    `MAX_LIKELY_FILES`, from 0 to 1.

    `owning` are the probabilities of all files, the highest first, `ceiling` is which share of the
    words of the title the best file has, `words` is how many those are.
    """
    if not len(owning):
        return 0.0
    best, second, *_, following = [*owning.tolist(), *[0.0] * MAX_LIKELY_FILES][
        : MAX_LIKELY_FILES + 1
    ]
    logit = (
        _BIAS_OF_ALL
        + _BEST * math.log(best / (1 - best))
        + _LEAD * (best - second)
        + _NEXT * math.log(max(following, _LEAST_NEXT))
        + _LISTED * float(owning[:MAX_LIKELY_FILES].sum())
        + _COVERAGE * min(2.0, ceiling)
        + _WORDS * math.log1p(words)
    )
    return _logistic(logit)


def _logistic(logit: float) -> float:
    """The probability of a logit of any size."""
    return (1 + math.tanh(logit / 2)) / 2


# What points at code, so that a text is about this repository whatever its words are.
_POINTING = (
    Sign.PATH,
    Sign.FILE_NAME,
    Sign.LAST_FRAME,
    Sign.FRAME,
    Sign.TITLE_NAME,
    Sign.MESSAGE,
)
# A regression to messages of commits of five repositories that models are fitted on, to those of
# others, and to prompts that are no tasks. Rare words weigh more the more symbols there are, so a
# match counts in units of the logarithm of their number.
_BIAS_OF_TASKS = -5.0
_TITLE_MATCH = 1.8
_TEXT_MATCH = 1.2
_UNKNOWN_SHARE = -1.1  # the more symbols there are, the more says a word that none has
_UNKNOWN_NAME, MAX_UNKNOWN_NAMES = -1.4, 5
_SHARPNESS = 2.0


def is_task(found: Evidence) -> float:
    """The probability that a text asks something of this repository: it points at code, or
    describes some of it.
    """
    if found.signs[:, _POINTING].any():
        return 1.0
    own = found.belonging
    scale = math.log(2 + len(found.units[0]))
    logit = (
        _BIAS_OF_TASKS
        + _TITLE_MATCH * own.title_match / scale
        + _TEXT_MATCH * own.text_match / scale
        + _UNKNOWN_SHARE * own.unknown_share * scale
        + _UNKNOWN_NAME * min(own.unknown_names, MAX_UNKNOWN_NAMES)
    )
    return _logistic(_SHARPNESS * logit)


# Of the model over symbols: which of the rows of a table is changed. A linear model of choice (the
# softmax over the rows of a task), fitted to 131 changes of 23 of the repositories that models are
# fitted on, and held near what was assumed of traces, links, messages and names in a title, which
# such texts hardly have. What gave nothing when it was silenced is not here: `docs/tried-and-left-out.md` lists it.
_OF_SYMBOLS = _weights(
    TEXT_UNIT=2.83,
    TITLE_RANK=1.01,
    TEXT_RANK=1.38,
    TITLE_NAME=1.15,
    NAME=0.86,
    NAME_SHARE=0.46,
    OWNER_SHARE=1.03,
    NEAR=0.56,
    LAST_FRAME=1.92,
    FRAME=0.77,
    TRACE_CALL=1.15,
    MESSAGE=1.54,
    LINKED=1.92,
    FILE=0.532,
    SIZE=0.234,
    IS_VALUE=-0.48,
)
CHANGED_SYMBOLS = 3.0  # by a task, about

_EXACT = {
    Sign.LAST_FRAME: "where the trace ends",
    Sign.TITLE_NAME: "named in the task",
    Sign.LINKED: "linked to",
    Sign.MESSAGE: "has the quoted text",
    Sign.TRACE_CALL: "called where the trace ends",
    Sign.FRAME: "in the trace",
    Sign.NAME: "named in the task",
}


def chances(rows: Figures) -> Figures:
    """Of each symbol, that the task changes it: from its share of all changes that are expected."""
    if not len(rows):
        return np.zeros(0)
    scores = rows @ _OF_SYMBOLS
    odds = np.exp(scores - scores.max())
    found: Figures = 1 - np.exp(-CHANGED_SYMBOLS * odds / odds.sum())
    return found


def reason(row: Figures, words: Sequence[str]) -> str:
    """The reason for which a symbol is likely, in words: what is exact, else which words of the
    task it has.
    """
    exact = [sign for sign in _EXACT if row[sign] > 0]
    if exact:
        return _EXACT[max(exact, key=lambda sign: float(row[sign] * _OF_SYMBOLS[sign]))]
    return f"has {', '.join(words)}" if words else "beside these"
