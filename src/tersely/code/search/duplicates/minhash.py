"""MinHash signatures (Broder, 1997) and banding (Leskovec et al., Mining of Massive Datasets, 3.4)
of all functions.

A signature is the least hash of a set under each of `PERMUTATIONS` permutations; the part in which
two signatures agree estimates the Jaccard similarity of the sets. Pairs that agree in all rows of
some band are candidates, and these are compared exactly. A pair of similarity s becomes one with
probability 1 - (1 - s^ROWS)^BANDS: .9999 at .7, .99 at .5.
"""

from __future__ import annotations

from tersely.code.search.duplicates.shingles import Hashes, Sets, distinct
from tersely.foundation.arrays import Figures, Ints, np

BANDS, ROWS = 32, 3
PERMUTATIONS = BANDS * ROWS
ESTIMATE_MARGIN = (
    # three standard deviations of an estimate: a pair that seems so much less similar is passed
    # over
    0.17
)
# of one band; the pairs of a larger bucket are those with its first functions
MAX_BUCKET_FUNCTIONS = 200

Pairs = Ints  # two columns
_SEED = 20_250_701


def signatures(sets: Sets) -> Hashes:
    """One row a set. Every set has at least one hash."""
    number = len(sets.starts) - 1
    found = np.empty((number, PERMUTATIONS), np.uint32)
    if not number:
        return found
    random = np.random.default_rng(_SEED)
    factors = random.integers(0, 2**31, PERMUTATIONS, dtype=np.uint32) * np.uint32(2) + np.uint32(1)
    masks = random.integers(0, 2**32, PERMUTATIONS, dtype=np.uint32)
    for index in range(PERMUTATIONS):
        permuted = (sets.hashes ^ masks[index]) * factors[index]
        found[:, index] = np.minimum.reduceat(permuted, sets.starts[:-1])
    return found


def candidate_pairs(rows: Hashes, least: float) -> Pairs:
    """Pairs of rows that share a band and whose similarity may reach `least`, ascending."""
    found = [_band_pairs(rows[:, band * ROWS : (band + 1) * ROWS]) for band in range(BANDS)]
    keys = distinct(np.concatenate([pairs[:, 0] * len(rows) + pairs[:, 1] for pairs in found]))
    pairs = np.stack((keys // max(len(rows), 1), keys % max(len(rows), 1)), axis=1)
    return pairs[_estimates(rows, pairs) >= least - ESTIMATE_MARGIN]


def _band_pairs(band: Hashes) -> Pairs:
    wide = band.astype(np.uint64)
    keys = (wide[:, 0] * np.uint64(0x9E3779B97F4A7C15) ^ wide[:, 1]) * np.uint64(
        0xC2B2AE3D27D4EB4F
    ) ^ wide[:, 2]
    order = np.argsort(keys, kind="stable")
    ordered = keys[order]
    starts = np.flatnonzero(np.concatenate(([True], ordered[1:] != ordered[:-1])))
    sizes = np.diff(np.concatenate((starts, [len(ordered)])))
    found = [np.empty((0, 2), np.int64)]
    for size in np.unique(sizes[sizes > 1]):
        members = order[starts[sizes == size][:, None] + np.arange(size)]
        first, second = np.triu_indices(size, 1)
        near = first < MAX_BUCKET_FUNCTIONS
        found.append(
            np.stack((members[:, first[near]].ravel(), members[:, second[near]].ravel()), axis=1)
        )
    return np.concatenate(found)


def _estimates(rows: Hashes, pairs: Pairs) -> Figures:
    block = 200_000
    parts = [
        (rows[pairs[at : at + block, 0]] == rows[pairs[at : at + block, 1]]).mean(axis=1)
        for at in range(0, len(pairs), block)
    ]
    return np.concatenate(parts) if parts else np.empty(0)


def agreement(rows: Hashes, row: Hashes) -> Figures:
    """The estimated similarity of every set to one."""
    found: Figures = np.mean(rows == row, axis=1)
    return found


def jaccard(sets: Sets, pairs: Pairs) -> Figures:
    """The exact similarity of each pair of sets."""
    found = np.empty(len(pairs))
    for at, (first, second) in enumerate(pairs.tolist()):
        one, other = sets.of(first), sets.of(second)
        small, large = (one, other) if len(one) <= len(other) else (other, one)
        places = np.searchsorted(large, small)
        places[places == len(large)] = 0
        common = int(np.count_nonzero(large[places] == small))
        found[at] = common / (len(one) + len(other) - common)
    return found
