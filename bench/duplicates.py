"""`python -m bench.duplicates CODE`: what finding functions that are nearly the same takes, and how many it finds.

The seconds are of the processor: those of making signatures of every function, with nothing kept from before, and those
of the question after that. For functions drawn at random, all others that are as similar as the threshold asks are
found by counting shared shingles, which is exact; recall is the part of these pairs that the signatures propose.
"""

from __future__ import annotations

import argparse
import random
import shutil
import sys
import tempfile
from collections.abc import Iterable
from pathlib import Path
from time import process_time

import numpy as np

from bench import results
from bench.machine import facts
from tersely.capabilities.invoke import ask
from tersely.code.search.duplicates.collection import Functions
from tersely.code.search.duplicates.minhash import candidate_pairs
from tersely.workspace import Workspace

THRESHOLDS = (0.5, 0.7, 0.8)  # the last one is that of the command
DEFAULT_SAMPLE = 2_000
SEED = 20_250_701
NOT_COPIED = shutil.ignore_patterns(".tersely", ".git", "__pycache__")


def main(arguments: list[str]) -> int:
    """Measure once."""
    parser = argparse.ArgumentParser(prog="python -m bench.duplicates", description=__doc__)
    parser.add_argument("code", type=Path, help="a source tree, copied")
    parser.add_argument("--sample", type=int, default=DEFAULT_SAMPLE, help="functions that recall is measured with")
    parser.add_argument("--record", action="store_true", help="keep the figures in RESULTS.md")
    options = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory(prefix="tersely-duplicates-") as scratch:
        root = Path(scratch) / options.code.name
        shutil.copytree(options.code, root, ignore=NOT_COPIED, symlinks=True)
        with Workspace.open(root) as workspace:
            workspace.refresh()
            _ = ask(workspace, "code.tree")  # what every question imports
            start = process_time()
            functions = workspace.engine.functions
            made = process_time()
            answer = ask(workspace, "code.duplicates")
            asked = process_time()
    print(f"{len(functions):,} functions: signatures {made - start:.2f} CPU s, the question {asked - made:.2f} CPU s")
    print(f"{answer.groups.total:,} groups, {answer.duplicates:,} duplicates", flush=True)
    recalls = _recalls(functions, options.sample)
    for row in recalls:
        print(f"similar by {row['threshold']}: {row['found']} of {row['pairs']} pairs found, {row['recall']:.4f}")
    if options.record:
        record = {"machine": facts(), "code": options.code.name, "functions": len(functions), "sample": options.sample}
        seconds = {"signatures": round(made - start, 2), "question": round(asked - made, 2)}
        results.keep("duplicates", {**record, "seconds": seconds, "recalls": recalls})
    return 0


def _recalls(functions: Functions, sample: int) -> list[dict[str, float]]:
    drawn = random.Random(SEED).sample(range(len(functions)), min(sample, len(functions)))
    exact = _similarities(functions, drawn)
    rows = []
    for threshold in THRESHOLDS:
        proposed = set(map(tuple, candidate_pairs(functions.table.signatures, threshold).tolist()))
        wanted = {pair for pair, similarity in exact.items() if similarity >= threshold}
        found = len(wanted & proposed)
        rows.append(
            {"threshold": threshold, "pairs": len(wanted), "found": found, "recall": found / max(len(wanted), 1)}
        )
    return rows


def _similarities(functions: Functions, drawn: Iterable[int]) -> dict[tuple[int, int], float]:
    """The Jaccard similarity of each drawn function with all others, as far as it reaches the least threshold."""
    sets = functions.table.sets
    sizes = np.diff(sets.starts)
    order = np.argsort(sets.hashes, kind="stable")
    shingles, owners = sets.hashes[order], np.repeat(np.arange(len(functions)), sizes)[order]
    found = {}
    for one in drawn:
        own = sets.of(one)
        ranges = zip(np.searchsorted(shingles, own, "left"), np.searchsorted(shingles, own, "right"), strict=True)
        shared = np.bincount(np.concatenate([owners[first:last] for first, last in ranges]), minlength=len(functions))
        similarity = shared / (len(own) + sizes - shared)
        for other in np.flatnonzero(similarity >= THRESHOLDS[0]).tolist():
            if other != one:
                found[min(one, other), max(one, other)] = float(similarity[other])
    return found


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
