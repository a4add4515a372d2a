"""Fitting the word table to one repository: its names and the first sentences of its documentation teach it.

Contrastive training (InfoNCE over the pairs of a batch, as in CLIP) of the table's rows by Adam that moves only the
rows of the batch. A pair is a question, which is a sentence of documentation or a name, and the unit it belongs to;
half of the time the unit's own name is hidden from it, so that words learn from what code does.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tersely.code.places import is_test
from tersely.code.search.embedding.table import Bags, WordTable, sums_of_rows, table_of
from tersely.code.search.embedding.vectors import Floats
from tersely.code.search.storage.segment import SourceFile, bags_of
from tersely.code.search.storage.shelf import Library
from tersely.code.search.units import Unit, units_of
from tersely.code.search.words import pieces_of, words_of_text

EPOCHS = 3
LEARNING_RATE = 5e-4
BATCH_PAIRS = 512
TEMPERATURE = 0.05
MAX_PAIRS = 20_000
LEAST_PAIRS = 256  # with fewer there is nothing to learn from
HIDDEN_NAMES = 0.5
MOMENTUM, SQUARES = 0.9, 0.999  # Adam's
SEED = 0
_TINY = 1e-9
_SENTENCE = re.compile(r"^[\s\"'/*#!-]*(.+?)(?:\.\s|\n\s*\n|$)", re.DOTALL)


class Pairs(NamedTuple):
    """Questions and the units that answer them, as bags of rows; `names` are the rows of each unit's own name."""

    questions: list[tuple[NDArray[np.int64], Floats]]
    units: list[tuple[NDArray[np.int64], Floats]]
    names: list[frozenset[int]]


def adapted_table(table: WordTable, library: Library) -> WordTable | None:
    """The table after training, None where the repository has too little to learn from."""
    pairs = pairs_of(table, library)
    return trained(table, pairs) if len(pairs.questions) >= LEAST_PAIRS else None


def trained(table: WordTable, pairs: Pairs, epochs: int = EPOCHS, rate: float = LEARNING_RATE) -> WordTable:
    """The table after so many passes over some pairs."""
    vectors = table.vectors()
    _train(vectors, pairs, epochs, rate)
    return table_of(list(table.number_of), vectors)


def pairs_of(table: WordTable, library: Library) -> Pairs:
    """What a repository teaches; tests teach nothing."""
    pairs = Pairs([], [], [])
    for file in library.files():
        if is_test(file.path) or len(pairs.questions) >= MAX_PAIRS:
            continue
        source = library.source_of(file)
        units = units_of(library.symbols_of(file.path))
        bags = bags_of([SourceFile(file.path, source, units)], table)
        for number, unit in enumerate(units):
            own = slice(bags.starts[number], bags.starts[number + 1])
            name = _bag(table, [unit.symbol.name, *words_of_text(unit.symbol.qualname)])
            for question in (_bag(table, words_of_text(_sentence(unit, source))), name):
                if len(question[0]) and own.stop > own.start:
                    pairs.questions.append(question)
                    pairs.units.append((bags.rows[own], bags.weights[own]))
                    pairs.names.append(frozenset(_bag(table, [unit.symbol.name])[0].tolist()))
    return pairs


def _sentence(unit: Unit, source: bytes) -> str:
    symbol = unit.symbol
    doc = source[symbol.doc_start_byte : symbol.doc_end_byte].decode("utf-8", "replace")
    found = _SENTENCE.match(doc)
    return found[1] if found else ""


def _bag(table: WordTable, words: Sequence[str]) -> tuple[NDArray[np.int64], Floats]:
    bag: dict[int, float] = {}
    for word in words:
        for piece in pieces_of(word):
            for row, weight in table.parts_of(piece):
                bag[row] = bag.get(row, 0.0) + weight
    return np.array(list(bag), np.int64), np.array(list(bag.values()), np.float32)


def _train(vectors: Floats, pairs: Pairs, epochs: int, rate: float) -> None:
    """Change the rows of a table in place."""
    random = np.random.default_rng(SEED)
    mean, square = np.zeros_like(vectors), np.zeros_like(vectors)
    for step, chosen in enumerate(_batches(len(pairs.questions), epochs, random), 1):
        questions = _joined([pairs.questions[pair] for pair in chosen])
        units = _joined([_hidden(pairs, pair, random) for pair in chosen])
        gradient_q, gradient_u = _gradients(sums_of_rows(vectors, questions), sums_of_rows(vectors, units))
        rows, gradient = _by_row(questions, gradient_q, units, gradient_u)
        mean[rows] = MOMENTUM * mean[rows] + (1 - MOMENTUM) * gradient
        square[rows] = SQUARES * square[rows] + (1 - SQUARES) * gradient * gradient
        change = (mean[rows] / (1 - MOMENTUM**step)) / (np.sqrt(square[rows] / (1 - SQUARES**step)) + 1e-8)
        vectors[rows] -= rate * change


def _batches(pairs: int, epochs: int, random: np.random.Generator) -> Iterator[NDArray[np.int64]]:
    for _ in range(epochs):
        order = random.permutation(pairs)
        size = min(BATCH_PAIRS, len(order))
        for start in range(0, len(order) - size + 1, size):
            yield order[start : start + size]


def _hidden(pairs: Pairs, pair: int, random: np.random.Generator) -> tuple[NDArray[np.int64], Floats]:
    """A unit, half of the time without its name, unless that is nearly all there is."""
    rows, weights = pairs.units[pair]
    if pairs.names[pair] and random.random() < HIDDEN_NAMES:
        kept = ~np.isin(rows, list(pairs.names[pair]))
        if kept.sum() > 2:
            return rows[kept], weights[kept]
    return rows, weights


def _joined(bags: Sequence[tuple[NDArray[np.int64], Floats]]) -> Bags:
    starts = np.cumsum([0, *(len(rows) for rows, _ in bags)])
    return Bags(starts, np.concatenate([rows for rows, _ in bags]), np.concatenate([weights for _, weights in bags]))


def _gradients(questions: Floats, units: Floats) -> tuple[Floats, Floats]:
    """Of the symmetric cross entropy of a batch, for the sums before they are brought to length 1."""
    length_q = np.linalg.norm(questions, axis=1, keepdims=True) + _TINY
    length_u = np.linalg.norm(units, axis=1, keepdims=True) + _TINY
    unit_q, unit_u = questions / length_q, units / length_u
    logits = unit_q @ unit_u.T / TEMPERATURE
    across, down = _softmax(logits, 1), _softmax(logits, 0)
    error = (across + down - 2 * np.eye(len(logits), dtype=np.float32)) / (2 * len(logits) * TEMPERATURE)
    toward_q, toward_u = error @ unit_u, error.T @ unit_q
    turned_q = (toward_q - unit_q * (toward_q * unit_q).sum(axis=1, keepdims=True)) / length_q
    turned_u = (toward_u - unit_u * (toward_u * unit_u).sum(axis=1, keepdims=True)) / length_u
    return turned_q.astype(np.float32), turned_u.astype(np.float32)


def _softmax(logits: Floats, axis: int) -> Floats:
    raised = np.exp(logits - logits.max(axis=axis, keepdims=True))
    shares: Floats = raised / raised.sum(axis=axis, keepdims=True)
    return shares


def _by_row(questions: Bags, gradient_q: Floats, units: Bags, gradient_u: Floats) -> tuple[NDArray[np.int64], Floats]:
    """The rows of the table that a batch touches, and the gradient of each."""
    rows = np.concatenate([questions.rows, units.rows])
    owner = np.concatenate(
        [np.repeat(np.arange(len(gradient_q)), np.diff(questions.starts)),
         np.repeat(np.arange(len(gradient_u)) + len(gradient_q), np.diff(units.starts))]
    )  # fmt: skip
    weights = np.concatenate([questions.weights, units.weights])
    order = np.argsort(rows, kind="stable")
    rows = rows[order]
    firsts = np.flatnonzero(np.r_[True, rows[1:] != rows[:-1]])
    bags = Bags(np.r_[firsts, len(rows)], owner[order], weights[order])
    return rows[firsts], sums_of_rows(np.concatenate([gradient_q, gradient_u]), bags)
