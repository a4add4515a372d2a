"""Fusing what is known of each unit into one order.

A unit's score is in standard deviations: how far above the other units of the repository it is by words (BM25F) and by
meaning (cosine), weighed by the kind of question, plus what its place and kind say in advance. The best of these
candidates are then looked at closely. Every weight was measured with `bench/retrieval`; what did not help there
(reciprocal ranks, PageRank, scores handed on along calls, terms fed back) is not here.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from laconic.code.places import is_test
from laconic.code.search.embedding.vectors import Floats, estimated_cosines
from laconic.code.search.lexical import Lexicon, Scores
from laconic.code.search.query import Query
from laconic.code.search.storage.collection import Collection, Ints
from laconic.code.search.storage.segment import KINDS
from laconic.code.search.units import Field
from laconic.code.symbols import CLASS_KINDS, VALUE_KINDS, Kind

CANDIDATES_UNITS = 1_000  # whose vectors are compared exactly
COHERENCE_UNITS = 20  # the best ones, whose files are held to be what the question is about

MENTIONED = 0.5  # for a unit that is called as a name in the question, in standard deviations
COHERENCE = 0.3  # for the file that has the most among the best
_ABOVE_ALL = 1e6
_TINY = 1e-9


@dataclass(frozen=True, slots=True)
class Weights:
    """What counts how much, in standard deviations, for one kind of question."""

    words: float
    meaning: float
    test: float = -2.0
    aside: float = -0.5  # examples, documentation, benchmarks
    value: float = -1.2  # fields, variables, constants, and whole modules
    type: float = -0.2  # classes and their kin beside functions
    size: float = -0.05  # for each factor of e in words of code
    called: float = 0.0  # a name all of whose pieces are in the question


# What code does, and what a change did to it: a change tells names, and long functions are changed more often.
BEHAVIOUR = Weights(words=0.4, meaning=0.6, called=0.5)
CHANGE = Weights(words=0.6, meaning=0.4, type=-0.5, size=0.2)

_ASIDE = frozenset(
    "example examples _examples doc docs docs_src benchmark benchmarks bench playground playgrounds sample samples "
    "demo demos fixtures scripts compat _compat legacy vendor third_party".split()
)


class Priors(NamedTuple):
    """What is known of each unit before any question."""

    is_test: NDArray[np.bool_]
    is_aside: NDArray[np.bool_]
    is_value: NDArray[np.bool_]
    is_type: NDArray[np.bool_]
    size: Scores  # log of the words of its code


class Named(NamedTuple):
    """Units whose names are in the question."""

    whole: Ints  # it is nothing but their name
    mentioned: Ints  # their names stand among other words


class Ranked(NamedTuple):
    """Candidates, the best first, with what their scores are made of."""

    units: Ints
    scores: Scores  # in standard deviations
    words: Scores  # BM25F
    cosines: Floats
    is_named: NDArray[np.bool_]  # the whole question is its name


def priors_of(collection: Collection) -> Priors:
    """Computed once for a collection."""
    test = np.array([is_test(file.path) for file in collection.files], bool)
    aside = np.array([not _ASIDE.isdisjoint(file.path.split("/")[:-1]) for file in collection.files], bool)
    values = [kind in VALUE_KINDS or kind in {Kind.MODULE, Kind.NAMESPACE} for kind in KINDS]
    types = [kind in CLASS_KINDS or kind is Kind.EXTENSION for kind in KINDS]
    size = np.log(1 + collection.lengths[:, [Field.SIGNATURE, Field.BODY, Field.CALLEE]].sum(axis=1))
    file, kind = collection.file, collection.kind
    return Priors(test[file], aside[file], np.array(values)[kind], np.array(types)[kind], size)


def rank(
    query: Query, vector: Floats, lexicon: Lexicon, prior: Scores, named: Named, allowed: NDArray[np.bool_] | None
) -> Ranked:
    """The best units for the words of a question, those first that the whole of it names."""
    collection = lexicon.collection
    weights = weights_of(query.about_change)
    scores = lexicon.scores(query.terms)
    mean_score, deviation_of_scores = _statistics(scores)
    rough = scores * (weights.words / deviation_of_scores)
    rough += _estimated(collection, vector, weights.meaning)
    rough += prior
    rough[named.mentioned] += MENTIONED
    rough[named.whole] += _ABOVE_ALL
    if allowed is not None:
        rough[~allowed] = -np.inf
    units = _best(rough, CANDIDATES_UNITS)
    cosines = collection.similarities(vector, units)
    mean, deviation = _statistics(collection.sampled_similarities(vector).astype(np.float64))
    final = weights.words * (scores[units] - mean_score) / deviation_of_scores
    final += weights.meaning * (cosines - mean) / deviation
    final += prior[units] + MENTIONED * np.isin(units, named.mentioned)
    final += weights.called * _called(lexicon, query, units)
    final += COHERENCE * _coherence(collection.file[units], final)
    is_named = np.isin(units, named.whole)
    order = np.lexsort((units, -np.round(final, 9), ~is_named))
    return Ranked(units[order], final[order], scores[units][order], cosines[order], is_named[order])


def _statistics(scores: Scores) -> tuple[float, float]:
    """Mean and standard deviation, which is never 0."""
    return (float(scores.mean()), float(scores.std()) + _TINY) if len(scores) else (0.0, 1.0)


def _estimated(collection: Collection, vector: Floats, weight: float) -> Scores:
    """Each unit's cosine in weighed standard deviations, as the signs of the vectors tell it."""
    differing = collection.differing_signs(vector)
    cosines = estimated_cosines(len(vector))
    shares = np.bincount(differing, minlength=len(cosines)) / max(1, len(differing))
    mean = shares @ cosines
    deviation = np.sqrt(shares @ (cosines - mean) ** 2)
    deviations: Scores = np.take(cosines * (weight / (deviation + _TINY)), differing)
    return deviations


def weights_of(about_change: bool) -> Weights:
    """What counts for a question about what code does, or about a change."""
    return CHANGE if about_change else BEHAVIOUR


def prior_of(priors: Priors, about_change: bool, about_tests: bool) -> Scores:
    """What every unit has for a kind of question, whatever its words are."""
    weights = weights_of(about_change)
    prior = weights.size * priors.size + weights.value * priors.is_value + weights.type * priors.is_type
    if not about_tests:
        prior = prior + weights.test * priors.is_test
    found: Scores = prior + weights.aside * (priors.is_aside & ~priors.is_test)
    return found


def _best(scores: Scores, count: int) -> Ints:
    """The units with the highest scores, ascending; among equal ones the first. None that is ruled out."""
    if len(scores) > count:
        threshold = np.partition(scores, -count)[-count]
        above = np.flatnonzero(scores > threshold)
        equal = np.flatnonzero(scores == threshold)[: count - len(above)]
        units = np.sort(np.concatenate([above, equal]))
    else:
        units = np.arange(len(scores))
    found: Ints = units[scores[units] > -np.inf]
    return found


def _called(lexicon: Lexicon, query: Query, units: Ints) -> Scores:
    """Which share of the pieces of each unit's name are words of the question."""
    return lexicon.name_shares([term for term in query.terms if not term.startswith("=")], units)


def _coherence(files: Ints, scores: Scores) -> Scores:
    """For each unit how much of what is best lies in its file, from 0 to 1."""
    if not len(scores):
        return scores
    best = np.argsort(-scores, kind="stable")[:COHERENCE_UNITS]
    above = scores[best] - scores[best].min()
    by_file = np.bincount(files[best], weights=above, minlength=int(files.max()) + 1)
    shares: Scores = by_file[files] / (by_file.max() + _TINY)
    return shares
