"""Fusing what is known of each unit into one order.

A unit's score is a weighed sum: its words (BM25F), its meaning (the cosine, in units of how far the
cosines of this repository's own units lie apart, so that it means the same for every model), and
what its place, kind and size say in advance. The best of these candidates are then looked at
closely. The weights are those of a linear model of choice (the softmax over a question's
candidates; Cao and others 2007, ListNet); `weights.json` has them beside the list of what they were
fitted on by `tools/fit.py`. What did not help there (reciprocal ranks, PageRank, scores handed on
along calls or from classes to members, terms fed back, vectors compared word by word) is not here.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from tersely.code.places import is_test
from tersely.code.search.embedding.vectors import estimated_cosines
from tersely.code.search.lexical import Lexicon, Scores
from tersely.code.search.query import Query
from tersely.code.search.storage.collection import Collection
from tersely.code.search.storage.segment import KINDS
from tersely.code.search.units import Field
from tersely.code.symbols import CLASS_KINDS, VALUE_KINDS, Kind
from tersely.foundation.arrays import Flags, Floats, Ints, np
from tersely.foundation.types import frozen

SHIPPED = "weights.json"
CANDIDATES_UNITS = 1_000  # whose vectors are compared exactly

MENTIONED = 0.7  # for a unit that is called as a name in the question
ASKED_ABOUT = 2.0  # … that asks: who describes code names what it uses as well
COHERENCE = 0.33  # for what the best unit of the file has by words and meaning
_ABOVE_ALL = 1e6


@frozen
class Weights:
    """The weights of all that counts for one kind of question. Only their relations matter."""

    words: float  # for each unit of BM25F
    meaning: float  # for each spread of the cosines
    covered: float  # all words of the question, wherever they are
    test: float
    aside: float  # examples, documentation, benchmarks
    value: float  # fields, variables, constants, and whole modules
    type: float  # classes and their kin beside functions
    size: float  # for each factor of e in words of code
    calls: float  # … in names that are called
    path: float  # … in words of the path
    owner: float
    name: float


def _shipped(kind: str) -> Weights:
    """The weights of the file beside this one for a kind of question."""
    text = Path(__file__).with_name(SHIPPED).read_text("utf-8")
    return Weights(**json.loads(text)[kind])


# What code does, and what a change did to it: a change tells names, and long functions are changed
# more often.
BEHAVIOUR = _shipped("behaviour")
CHANGE = _shipped("change")

_ASIDE = frozenset(
    "example examples _examples doc docs docs_src benchmark benchmarks bench playground playgrounds sample samples "
    "demo demos fixtures scripts compat _compat legacy vendor third_party".split()
)


class Priors(NamedTuple):
    """The figures that are known of each unit before any question."""

    is_test: Flags
    is_aside: Flags
    is_value: Flags
    is_type: Flags
    size: Scores  # log of 1 + the words of its code
    lengths: Ints  # (unit, field): the words there


class Named(NamedTuple):
    """Units whose names are in the question."""

    whole: Ints  # it is nothing but their name
    mentioned: Ints  # their names stand among other words


class Ranked(NamedTuple):
    """Candidates, the best first, with what their scores are made of."""

    units: Ints
    scores: Scores
    words: Scores  # BM25F
    cosines: Floats
    is_named: Flags  # the whole question is its name


def priors_of(collection: Collection) -> Priors:
    """Computed once for a collection."""
    test = np.array([is_test(file.path) for file in collection.files], bool)
    aside = np.array(
        [not _ASIDE.isdisjoint(file.path.split("/")[:-1]) for file in collection.files], bool
    )
    values = [kind in VALUE_KINDS or kind in {Kind.MODULE, Kind.NAMESPACE} for kind in KINDS]
    types = [kind in CLASS_KINDS or kind is Kind.EXTENSION for kind in KINDS]
    size = np.log(
        1 + collection.lengths[:, [Field.SIGNATURE, Field.BODY, Field.CALLEE]].sum(axis=1)
    )
    file, kind = collection.file, collection.kind
    return Priors(
        test[file],
        aside[file],
        np.array(values)[kind],
        np.array(types)[kind],
        size,
        collection.lengths,
    )


def rank(
    query: Query,
    vector: Floats,
    lexicon: Lexicon,
    prior: Scores,
    named: Named,
    allowed: Flags | None,
) -> Ranked:
    """The best units for the words of a question, those first that the whole of it names."""
    collection = lexicon.collection
    weights = weights_of(query.about_change)
    meaning = weights.meaning / collection.spread(len(vector))
    scores = lexicon.scores(query.terms)
    rough = scores * weights.words
    rough += np.take(estimated_cosines(len(vector)) * meaning, collection.differing_signs(vector))
    rough += prior
    mentioned = ASKED_ABOUT if query.asks else MENTIONED
    rough[named.mentioned] += mentioned
    rough[named.whole] += _ABOVE_ALL
    if allowed is not None:
        rough[~allowed] = -np.inf
    units = _best(rough, CANDIDATES_UNITS)
    cosines = collection.similarities(vector, units)
    found = weights.words * scores[units] + meaning * cosines
    final = found + prior[units] + mentioned * np.isin(units, named.mentioned)
    final += weights.covered * lexicon.covered(query.terms, units)
    final += COHERENCE * _best_of_file(collection.file[units], found)
    is_named = np.isin(units, named.whole)
    order = np.lexsort((units, -np.round(final, 9), ~is_named))
    return Ranked(units[order], final[order], scores[units][order], cosines[order], is_named[order])


def weights_of(about_change: bool) -> Weights:
    """The weights for a question about what code does, or about a change."""
    return CHANGE if about_change else BEHAVIOUR


def prior_of(priors: Priors, about_change: bool, about_tests: bool) -> Scores:
    """The score that every unit has for a kind of question, whatever its words are."""
    weights = weights_of(about_change)
    prior = np.zeros(len(priors.size))
    for name, figures in prior_figures(priors, about_tests).items():
        prior += getattr(weights, name) * figures
    return prior


def prior_figures(priors: Priors, about_tests: bool) -> Mapping[str, Scores]:
    """The figures of each unit, by the names of the weights."""
    fields = {"calls": Field.CALLEE, "path": Field.PATH, "owner": Field.OWNER, "name": Field.NAME}
    return {
        "test": priors.is_test * (not about_tests),
        "aside": priors.is_aside & ~priors.is_test,
        "value": priors.is_value,
        "type": priors.is_type,
        "size": priors.size,
        **{name: np.log(1 + priors.lengths[:, field]) for name, field in fields.items()},
    }


def _best(scores: Scores, count: int) -> Ints:
    """The units with the highest scores, ascending; among equal ones the first. None that is ruled
    out.
    """
    if len(scores) > count:
        threshold = np.partition(scores, -count)[-count]
        above = np.flatnonzero(scores > threshold)
        equal = np.flatnonzero(scores == threshold)[: count - len(above)]
        units = np.sort(np.concatenate([above, equal]))
    else:
        units = np.arange(len(scores))
    found: Ints = units[scores[units] > -np.inf]
    return found


def _best_of_file(files: Ints, found: Scores) -> Scores:
    """For each unit the highest score among those of its file."""
    best = np.full(int(files.max(initial=-1)) + 1, -np.inf)
    np.maximum.at(best, files, found)
    of_file: Scores = best[files]
    return of_file
