"""Train the word table that search ships, from a list of packages: `python
tools/build_word_table.py NAMES OUT`.

NAMES is a text file with one package a line, as pip writes them (`name` or `name==version`); a line
that names a directory is taken as it lies. Each wheel is fetched by pip and unpacked into a
temporary directory. Their licences have to allow it: take none whose terms you have not read. A
table needs a start: that of `--start` (a table, by default the one that is shipped), whose rows are
trained on, or `--random`, for which the words are counted in the packages.

Contrastive training (InfoNCE over the pairs of a batch, as in CLIP) of the table's rows by Adam
that moves only the rows of the batch. A pair is a question, which is a sentence of documentation or
a name, and the unit it belongs to; half of the time the unit's own name is hidden from it, so that
words learn from what code does.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
import tempfile
import zipfile
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tersely.code.engine import Engine
from tersely.code.places import is_test
from tersely.code.search.embedding.table import Bags, WordTable, shipped_table, sums_of_rows
from tersely.code.search.embedding.vectors import LARGEST, TINY
from tersely.code.search.storage.arrays import map_arrays, write_arrays
from tersely.code.search.storage.segment import bags_of, counted_parts
from tersely.code.search.units import SourceFile, Unit, units_of, words_of
from tersely.code.search.words import pieces_of, words_of_text
from tersely.foundation.arrays import Floats
from tersely.foundation.storage.hashing import content_hash

DIMENSIONS = 256
VOCABULARY_WORDS = 20_000
LEAST_FILES = 3  # that have a word of the vocabulary
EPOCHS = 4
LEARNING_RATE = 2e-3
SEED = 0
BATCH_PAIRS = 512
TEMPERATURE = 0.05
MAX_PAIRS = 20_000  # of one package
HIDDEN_NAMES = 0.5
MOMENTUM, SQUARES = 0.9, 0.999  # Adam's
_TINY = 1e-9
_SENTENCE = re.compile(r"^[\s\"'/*#!-]*(.+?)(?:\.\s|\n\s*\n|$)", re.DOTALL)


class Pairs(NamedTuple):
    """Questions and the units that answer them, as bags of rows; `names` are the rows of each
    unit's own name.
    """

    questions: list[tuple[NDArray[np.int64], Floats]]
    units: list[tuple[NDArray[np.int64], Floats]]
    names: list[frozenset[int]]


def main(arguments: list[str]) -> int:
    """Write the table, and say how many pairs taught it."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("names", type=Path)
    parser.add_argument("out", type=Path)
    start = parser.add_mutually_exclusive_group()
    start.add_argument("--start", type=Path, help="the table to begin with")
    start.add_argument("--random", action="store_true", help="begin with random vectors")
    parser.add_argument("--epochs", type=int, default=EPOCHS)
    options = parser.parse_args(arguments)
    names = [line.strip() for line in options.names.read_text("utf-8").splitlines() if line.strip()]
    with tempfile.TemporaryDirectory() as place:
        roots = [_unpacked(name, Path(place) / str(number)) for number, name in enumerate(names)]
        if options.random:
            table = random_table(roots)
        else:
            table = WordTable.of(map_arrays(options.start)) if options.start else shipped_table()
        pairs = all_pairs(table, roots)
    write_table(trained(table, pairs, options.epochs), options.out)
    print(
        f"{len(table.number_of):,} words, {len(pairs.questions):,} pairs of {len(names)} packages"
    )
    return 0


def _unpacked(name: str, place: Path) -> Path:
    """The sources of a package."""
    if Path(name).is_dir():
        return Path(name).resolve()
    fetch = [
        sys.executable,
        "-m",
        "pip",
        "download",
        "--quiet",
        "--no-deps",
        "--only-binary",
        ":all:",
    ]
    subprocess.run([*fetch, "--dest", str(place), "--", name], check=True)
    for wheel in place.glob("*.whl"):
        with zipfile.ZipFile(wheel) as archive:
            archive.extractall(place)
    return place


@contextmanager
def _indexed(root: Path) -> Iterator[Engine]:
    with Engine.open(root) as engine:
        engine.refresh()
        yield engine


def random_table(roots: list[Path]) -> WordTable:
    """The commonest words of some sources, with random vectors that are shorter the commoner the
    word.
    """
    files: Counter[str] = Counter()
    number = 0
    for root in roots:
        with _indexed(root) as engine:
            for file in engine.store.files():
                words = {
                    word.decode("utf-8", "replace")
                    for word in words_of(engine.source(file.path)).words
                }
                files.update({piece for word in words for piece in pieces_of(word)})
                number += 1
    kept = [
        (word, count) for word, count in files.most_common(VOCABULARY_WORDS) if count >= LEAST_FILES
    ]
    rarity = np.log(1 + number / (1 + np.array([count for _, count in kept], np.float32)))
    vectors = (
        np.random.default_rng(SEED).standard_normal((len(kept), DIMENSIONS)).astype(np.float32)
    )
    return table_of([word for word, _ in kept], vectors * rarity[:, None] / DIMENSIONS**0.5)


def all_pairs(table: WordTable, roots: list[Path]) -> Pairs:
    """What all packages teach."""
    pairs = Pairs([], [], [])
    for root in roots:
        with _indexed(root) as engine:
            found = pairs_of(table, engine)
        pairs.questions.extend(found.questions)
        pairs.units.extend(found.units)
        pairs.names.extend(found.names)
    return pairs


def pairs_of(table: WordTable, engine: Engine) -> Pairs:
    """What a package teaches; tests teach nothing."""
    pairs = Pairs([], [], [])
    for file in engine.store.files():
        if is_test(file.path) or len(pairs.questions) >= MAX_PAIRS:
            continue
        source = engine.source(file.path)
        units = units_of(engine.store.symbols_of(file.path))
        bags = bags_of(counted_parts([SourceFile(file.path, source, units)]), table)
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


def _train(vectors: Floats, pairs: Pairs, epochs: int) -> None:
    """Change the rows of a table in place."""
    random = np.random.default_rng(SEED)
    mean, square = np.zeros_like(vectors), np.zeros_like(vectors)
    for step, chosen in enumerate(_batches(len(pairs.questions), epochs, random), 1):
        questions = _joined([pairs.questions[pair] for pair in chosen])
        units = _joined([_hidden(pairs, pair, random) for pair in chosen])
        gradient_q, gradient_u = _gradients(
            sums_of_rows(vectors, questions), sums_of_rows(vectors, units)
        )
        rows, gradient = _by_row(questions, gradient_q, units, gradient_u)
        mean[rows] = MOMENTUM * mean[rows] + (1 - MOMENTUM) * gradient
        square[rows] = SQUARES * square[rows] + (1 - SQUARES) * gradient * gradient
        change = (mean[rows] / (1 - MOMENTUM**step)) / (
            np.sqrt(square[rows] / (1 - SQUARES**step)) + 1e-8
        )
        vectors[rows] -= LEARNING_RATE * change


def _batches(pairs: int, epochs: int, random: np.random.Generator) -> Iterator[NDArray[np.int64]]:
    for _ in range(epochs):
        order = random.permutation(pairs)
        size = min(BATCH_PAIRS, len(order))
        for start in range(0, len(order) - size + 1, size):
            yield order[start : start + size]


def _hidden(
    pairs: Pairs, pair: int, random: np.random.Generator
) -> tuple[NDArray[np.int64], Floats]:
    """A unit, half of the time without its name, unless that is nearly all there is."""
    rows, weights = pairs.units[pair]
    if pairs.names[pair] and random.random() < HIDDEN_NAMES:
        kept = ~np.isin(rows, list(pairs.names[pair]))
        if kept.sum() > 2:
            return rows[kept], weights[kept]
    return rows, weights


def _joined(bags: Sequence[tuple[NDArray[np.int64], Floats]]) -> Bags:
    starts = np.cumsum([0, *(len(rows) for rows, _ in bags)])
    return Bags(
        starts,
        np.concatenate([rows for rows, _ in bags]),
        np.concatenate([weights for _, weights in bags]),
    )


def _gradients(questions: Floats, units: Floats) -> tuple[Floats, Floats]:
    """Of the symmetric cross entropy of a batch, for the sums before they are brought to length 1."""
    length_q = np.linalg.norm(questions, axis=1, keepdims=True) + _TINY
    length_u = np.linalg.norm(units, axis=1, keepdims=True) + _TINY
    unit_q, unit_u = questions / length_q, units / length_u
    logits = unit_q @ unit_u.T / TEMPERATURE
    across, down = _softmax(logits, 1), _softmax(logits, 0)
    error = (across + down - 2 * np.eye(len(logits), dtype=np.float32)) / (
        2 * len(logits) * TEMPERATURE
    )
    toward_q, toward_u = error @ unit_u, error.T @ unit_q
    turned_q = (toward_q - unit_q * (toward_q * unit_q).sum(axis=1, keepdims=True)) / length_q
    turned_u = (toward_u - unit_u * (toward_u * unit_u).sum(axis=1, keepdims=True)) / length_u
    return turned_q.astype(np.float32), turned_u.astype(np.float32)


def _softmax(logits: Floats, axis: int) -> Floats:
    raised = np.exp(logits - logits.max(axis=axis, keepdims=True))
    shares: Floats = raised / raised.sum(axis=axis, keepdims=True)
    return shares


def _by_row(
    questions: Bags, gradient_q: Floats, units: Bags, gradient_u: Floats
) -> tuple[NDArray[np.int64], Floats]:
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


def trained(table: WordTable, pairs: Pairs, epochs: int) -> WordTable:
    """The table after so many passes over some pairs."""
    vectors = table.vectors()
    _train(vectors, pairs, epochs)
    return table_of(list(table.number_of), vectors)


def table_of(words: Sequence[str], vectors: Floats) -> WordTable:
    """A table of these words, its vectors brought into bytes."""
    factors = np.maximum(np.abs(vectors).max(axis=1), TINY).astype(np.float32) / LARGEST
    rows = np.rint(vectors / factors[:, None]).astype(np.int8)
    content = "\n".join(words).encode() + rows.tobytes() + factors.astype("<f4").tobytes()
    return WordTable(
        content_hash(content)[:8].hex(),
        rows,
        factors,
        dict(zip(words, range(len(words)), strict=True)),
    )


def write_table(table: WordTable, path: Path) -> None:
    """Keep a table in a file."""
    words = np.frombuffer("\n".join(table.number_of).encode(), np.uint8)
    write_arrays(
        path,
        {"identity": table.identity},
        {"words": words, "rows": table.rows, "factors": table.factors},
    )


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
