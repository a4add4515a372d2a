"""Train the word table that search ships, from a list of packages: `python tools/build_word_table.py NAMES OUT`.

NAMES is a text file with one package a line, as pip writes them (`name` or `name==version`); a line that names a
directory is taken as it lies. Each wheel is fetched by pip and unpacked into a temporary directory. Their licences have
to allow it: take none whose terms you have not read. A table needs a start: that of `--start` (a table, by default the
one that is shipped), whose rows are trained on, or `--random`, for which the words are counted in the packages.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
import zipfile
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np

from tersely.code.engine import Engine
from tersely.code.search.embedding.adapt import Pairs, pairs_of, trained
from tersely.code.search.embedding.table import WordTable, shipped_table, table_of
from tersely.code.search.storage.arrays import map_arrays
from tersely.code.search.words import pieces_of, words_of

DIMENSIONS = 256
VOCABULARY_WORDS = 20_000
LEAST_FILES = 3  # that have a word of the vocabulary
EPOCHS = 4
LEARNING_RATE = 2e-3
SEED = 0


def main(arguments: list[str]) -> int:
    """Write the table, and say how many pairs taught it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
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
    trained(table, pairs, options.epochs, LEARNING_RATE).write(options.out)
    print(f"{len(table.number_of):,} words, {len(pairs.questions):,} pairs of {len(names)} packages")
    return 0


def _unpacked(name: str, place: Path) -> Path:
    """The sources of a package."""
    if Path(name).is_dir():
        return Path(name).resolve()
    fetch = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--only-binary", ":all:"]
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
    """The commonest words of some sources, with random vectors that are shorter the commoner the word."""
    files: Counter[str] = Counter()
    number = 0
    for root in roots:
        with _indexed(root) as engine:
            for file in engine.store.files():
                words = {word.decode("utf-8", "replace") for word in words_of(engine.source(file.path)).words}
                files.update({piece for word in words for piece in pieces_of(word)})
                number += 1
    kept = [(word, count) for word, count in files.most_common(VOCABULARY_WORDS) if count >= LEAST_FILES]
    rarity = np.log(1 + number / (1 + np.array([count for _, count in kept], np.float32)))
    vectors = np.random.default_rng(SEED).standard_normal((len(kept), DIMENSIONS)).astype(np.float32)
    return table_of([word for word, _ in kept], vectors * rarity[:, None] / DIMENSIONS**0.5)


def all_pairs(table: WordTable, roots: list[Path]) -> Pairs:
    """What all packages teach."""
    pairs = Pairs([], [], [])
    for root in roots:
        with _indexed(root) as engine:
            found = pairs_of(table, engine.search.library())
        pairs.questions.extend(found.questions)
        pairs.units.extend(found.units)
        pairs.names.extend(found.names)
    return pairs


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
