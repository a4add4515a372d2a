"""Fit the linear models that ship: `python -m tools.fit search CLONES...`.

The clones are repositories with their history, in folders named `owner+repository`, all on the fit
list of `bench/repositories.toml`. A producer makes groups of each: the candidates for one question,
a row of named figures a candidate, and which of them are wanted. The weights are those of a linear
model of choice (the softmax over the candidates of a group, Cao and others 2007), found by Adam. A
model is written beside its training list: the repositories with their commits, what was held, and
the date. `tools/build_diff_trees.py` grows the trees, with a list of the same form.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import fields
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from bench.repositories import FIT
from bench.retrieval.corpus import export, has_history, without_docs
from bench.retrieval.queries import (
    WINDOW_COMMITS,
    Query,
    base_of_commits,
    commit_queries,
    docstring_queries,
)
from bench.scratch import git
from numpy.typing import NDArray

from tersely.code.engine import Engine
from tersely.code.search import ranking
from tersely.code.search.embedding.table import shipped_table
from tersely.code.search.facade import WORDS
from tersely.code.search.lexical import Lexicon
from tersely.code.search.query import Query as Question
from tersely.code.search.query import read_query
from tersely.code.search.units import units_of
from tersely.code.search.wording import common_language, in_words_of
from tersely.foundation.errors import TerselyError

STEPS = 400
LEARNING_RATE = 0.03
MOMENTUM, SQUARES = 0.9, 0.999  # Adam's
RIDGE = 1e-3  # on weights of figures in standard deviations
KEPT_CANDIDATES = 300  # of a group, the best so far
DIGITS = 2
_TINY = 1e-9

Figures = NDArray[np.float64]


class Group(NamedTuple):
    """The candidates for one question."""

    model: str  # one file may hold several
    figures: Figures  # (candidate, name)
    offsets: Figures  # of each candidate: what no weight of these is for
    wanted: NDArray[np.bool_]


class Model(NamedTuple):
    """What is fitted, from what, and where it is kept."""

    place: Path
    names: tuple[str, ...]
    held: Mapping[str, Mapping[str, float]]  # by model: weights that the groups cannot tell
    produce: Callable[[Path], Iterator[Group]]


def main(arguments: list[str]) -> int:
    """Write a model; 2 for clones that it cannot be fitted on."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("model", choices=sorted(MODELS))
    parser.add_argument("clones", type=Path, nargs="+")
    parser.add_argument("--out", type=Path, help="instead of the file that ships")
    options = parser.parse_args(arguments)
    try:
        text = json.dumps(fitted(MODELS[options.model], options.clones), indent=1)
    except TerselyError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    (options.out or MODELS[options.model].place).write_text(text + "\n", encoding="utf-8")
    return 0


def fitted(model: Model, clones: Sequence[Path]) -> dict[str, Any]:
    """A model as it is kept; `invalid_argument` for clones that are not to be fitted on, or ask too
    little.
    """
    training = training_of(clones)
    groups = [group for clone in clones for group in model.produce(clone)]
    weights = {
        name: weights_of([one for one in groups if one.model == name], model, name)
        for name in model.held
    }
    return {"training": {**training, "groups": len(groups), "held": model.held}, **weights}


def training_of(clones: Sequence[Path]) -> dict[str, Any]:
    """The training list of a model fitted now; `invalid_argument` for a repository that is not to
    be fitted on.
    """
    names = [clone.name.replace("+", "/") for clone in clones]
    others = sorted(set(names) - FIT)
    if others:
        raise TerselyError(
            "invalid_argument",
            f"not on the fit list of bench/repositories.toml: {', '.join(others)}",
        )
    commits = (git(clone, "rev-parse", "HEAD").decode().strip() for clone in clones)
    date = datetime.now(tz=UTC).strftime("%Y-%m-%d")
    return {
        "tool": "tools/fit.py",
        "date": date,
        "repositories": dict(sorted(zip(names, commits, strict=True))),
    }


def weights_of(groups: Sequence[Group], model: Model, name: str) -> dict[str, float]:
    """A weight for each figure: the held ones as they are, the others those that make what is
    wanted likeliest.
    """
    if not groups:
        raise TerselyError(
            "invalid_argument", f"nothing in these repositories tells the weights of {name!r}"
        )
    held = model.held[name]
    free = [at for at, figure in enumerate(model.names) if figure not in held]
    fixed = np.array([held.get(figure, 0.0) for figure in model.names])
    rows = np.concatenate([group.figures for group in groups])
    scale = rows[:, free].std(axis=0) + _TINY
    sizes = np.array([len(group.figures) for group in groups])
    offsets = rows @ fixed + np.concatenate([group.offsets for group in groups])
    wanted = np.concatenate([group.wanted for group in groups])
    fitted = chosen_weights(rows[:, free] / scale, offsets, wanted, sizes)
    fixed[free] = fitted / scale
    return {
        figure: round(float(weight), DIGITS)
        for figure, weight in zip(model.names, fixed, strict=True)
    }


def chosen_weights(
    rows: Figures, offsets: Figures, wanted: NDArray[np.bool_], sizes: NDArray[np.int64]
) -> Figures:
    """Weights of a model of choice over groups of so many rows; offsets are added to the scores of
    rows.
    """
    starts = np.cumsum(sizes) - sizes
    weights, mean, square = (np.zeros(rows.shape[1]) for _ in range(3))
    for step in range(1, STEPS + 1):
        scores = rows @ weights + offsets
        raised = np.exp(scores - np.repeat(np.maximum.reduceat(scores, starts), sizes))
        chances = raised / np.repeat(np.add.reduceat(raised, starts), sizes)
        right = chances * wanted
        among_wanted = right / np.repeat(np.add.reduceat(right, starts) + _TINY, sizes)
        gradient = rows.T @ (chances - among_wanted) / len(sizes) + 2 * RIDGE * weights
        mean = MOMENTUM * mean + (1 - MOMENTUM) * gradient
        square = SQUARES * square + (1 - SQUARES) * gradient * gradient
        change = (mean / (1 - MOMENTUM**step)) / (np.sqrt(square / (1 - SQUARES**step)) + _TINY)
        weights = weights - LEARNING_RATE * change
    return weights


# Search: sentences of documentation ask for what they describe, subjects of commits for what they
# changed


def search_groups(clone: Path) -> Iterator[Group]:
    """A group for each question that a repository asks of itself."""
    with tempfile.TemporaryDirectory(prefix="tersely-fit-") as place:
        now = Path(place) / "now"
        export(clone, "HEAD", now)
        with Engine.open(now) as engine:
            engine.refresh()
            described = docstring_queries(engine)
            without_docs(now, engine)
        yield from _groups_of(now, described, about_change=False)
        if has_history(clone, WINDOW_COMMITS):
            before = Path(place) / "before"
            export(clone, base_of_commits(clone), before)
            with Engine.open(before) as engine:
                engine.refresh()
                known = frozenset(symbol.id for symbol in engine.store.symbols())
            yield from _groups_of(before, commit_queries(clone, known), about_change=True)


def _groups_of(root: Path, queries: Sequence[Query], about_change: bool) -> Iterator[Group]:
    """One for each question that is read as what it is."""
    with Engine.open(root) as engine:
        engine.refresh()
        collection = engine.search.searcher(WORDS).collection
        ids = [
            unit.symbol.id
            for file in collection.files
            for unit in units_of(engine.store.symbols_of(file.path))
        ]
        lexicon, priors, language = (
            Lexicon(collection),
            ranking.priors_of(collection),
            common_language(collection.files),
        )
        for asked in queries:
            query = in_words_of(read_query(asked.text), language, lexicon.units_with)
            if query.words and query.about_change == about_change:
                group = _search_group(query, lexicon, priors, [one in asked.answers for one in ids])
                if group.wanted.any():
                    yield group


def _search_group(
    query: Question, lexicon: Lexicon, priors: ranking.Priors, is_answer: Sequence[bool]
) -> Group:
    vector = shipped_table().embed_pieces(query.pieces)
    prior = ranking.prior_of(priors, query.about_change, query.about_tests)
    nothing = np.zeros(0, np.int64)
    ranked = ranking.rank(query, vector, lexicon, prior, ranking.Named(nothing, nothing), None)
    units = ranked.units[:KEPT_CANDIDATES]
    known = {
        "words": ranked.words[:KEPT_CANDIDATES],
        "meaning": ranked.cosines[:KEPT_CANDIDATES] / lexicon.collection.spread(len(vector)),
        "covered": lexicon.covered(query.terms, units),
        **{
            name: of_all[units]
            for name, of_all in ranking.prior_figures(priors, query.about_tests).items()
        },
    }
    figures = np.column_stack([known[name] for name in MODELS["search"].names]).astype(np.float64)
    weights = ranking.weights_of(query.about_change)
    so_far = figures @ np.array([getattr(weights, name) for name in MODELS["search"].names])
    offsets = ranked.scores[:KEPT_CANDIDATES] - so_far
    wanted = np.array([is_answer[unit] for unit in units.tolist()], bool)
    return Group("change" if query.about_change else "behaviour", figures, offsets, wanted)


MODELS = {
    "search": Model(
        Path(ranking.__file__).with_name(ranking.SHIPPED),
        tuple(field.name for field in fields(ranking.Weights)),
        # No question asks for a test, a value or, where it tells of a change, a type.
        {
            "behaviour": {"test": -6.0, "value": -4.5},
            "change": {"test": -6.0, "value": -5.0, "type": -2.5},
        },
        search_groups,
    ),
}


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
