"""The importance of each file and symbol of a repository: a PageRank over who uses whom.

Files are the nodes. A file passes its rank on to those that define the names which it mentions, and
to those that it imports; names are as the index has them, so no call is resolved. What flows into a
file along a name is the rank of the symbols of that name (the idea is that of aider's repository
map). A personalised rank (Haveliwala, 2002) starts from the files of a focus in place of all, and
goes also from a file to those that use it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence

from tersely.code.places import is_test
from tersely.code.symbols import CALLABLE_KINDS, CLASS_KINDS, Kind, Symbol
from tersely.foundation.arrays import Figures, Ints, np
from tersely.foundation.types import Sums, Weights, frozen

Import = tuple[int, int]  # of one file by another, by their places among all

DAMPING = 0.85
MAX_ROUNDS = 60
CONVERGED = 1e-7  # change of the whole rank in one round
IMPORT_WEIGHT = 1.0
# A mentioned name is most likely one of a file that is imported, and one of many that have it is
# little to go by.
PASSED_ON_WEIGHT = 0.7  # of what an imported file imports: packages hand on what they define
UNIMPORTED_WEIGHT = 0.2
ALONE_WEIGHT = 0.3  # of the name of a member where its class is not mentioned
PRIVATE_WEIGHT = 0.1
MAX_NAMESAKES = 12  # definitions of a name, above which mentioning it says nothing
TEST_WEIGHT = 0.05  # what tests use matters, tests themselves do not
BACKWARD_WEIGHT = 0.3  # of going from a file to who uses it, with a focus
OWN_SHARE = 0.1  # of the rank of a file, spread over its symbols whether or not anything names them

RANKED_KINDS = (CLASS_KINDS | CALLABLE_KINDS) - {Kind.LAMBDA}


@frozen
class Ranks:
    """The ranks of symbols by id, and what is left of the rank of each file by path. All together
    they are 1.
    """

    symbols: Weights
    files: Weights


@frozen
class _Uses:
    """Edges between files as parallel arrays, with the name that makes each, -1 for an import."""

    source: Ints
    target: Ints
    name: Ints
    weight: Figures


def rank(
    paths: Sequence[str],
    symbols: Iterable[Symbol],
    mentions: Iterable[tuple[str, Sequence[int]]],
    imports: Mapping[str, Iterable[str]],
    focus_files: Collection[str] = (),
    focus_symbols: Collection[str] = (),
) -> Ranks:
    """Rank everything. `mentions` has for each name the files that use it, by their place in
    `paths`.
    """
    at = {path: number for number, path in enumerate(paths)}
    defined: dict[str, dict[int, list[Symbol]]] = defaultdict(lambda: defaultdict(list))
    own: dict[int, list[Symbol]] = defaultdict(list)
    for symbol in symbols:
        if symbol.kind in RANKED_KINDS:
            defined[symbol.name][at[symbol.path]].append(symbol)
            own[at[symbol.path]].append(symbol)
    for homes in defined.values():
        tests = [home for home in homes if is_test(paths[home])]
        for home in tests if len(tests) < len(homes) else ():
            del homes[home]  # who mentions the name means the one that is no test
    imported = {(at[path], at[target]) for path, targets in imports.items() for target in targets}
    names = [name for name, homes in defined.items() if len(homes) <= MAX_NAMESAKES]
    uses = _uses(names, defined, mentions, imported)
    start = _start(paths, {at[path] for path in focus_files})
    ranks, flow = _pagerank(uses, start, backward=bool(focus_files))
    return _spread(paths, names, defined, own, uses, ranks, flow, focus_symbols)


def _uses(
    names: Sequence[str],
    defined: Mapping[str, Mapping[int, list[Symbol]]],
    mentions: Iterable[tuple[str, Sequence[int]]],
    imported: Collection[Import],
) -> _Uses:
    passed_on = _two_steps(imported)
    users_of = {name: users for name, users in mentions if name in defined}
    rows = [(source, target, -1, IMPORT_WEIGHT) for source, target in sorted(imported)]
    for index, name in enumerate(names):
        users, homes = users_of.get(name, ()), defined[name]
        weight = (PRIVATE_WEIGHT if name.startswith("_") else 1.0) / len(homes)
        for target, namesakes in homes.items():
            near = _users_of_owners(namesakes, users_of)
            for user in users:
                if user != target:
                    edge = (user, target)
                    known = (
                        1.0
                        if edge in imported
                        else PASSED_ON_WEIGHT
                        if edge in passed_on
                        else UNIMPORTED_WEIGHT
                    )
                    is_alone = near is not None and user not in near
                    rows.append(
                        (user, target, index, weight * known * (ALONE_WEIGHT if is_alone else 1.0))
                    )
    table = np.array(rows, np.float64).reshape(-1, 4)
    table = table[np.lexsort((table[:, 2], table[:, 1], table[:, 0]))]
    return _Uses(
        table[:, 0].astype(np.int64),
        table[:, 1].astype(np.int64),
        table[:, 2].astype(np.int64),
        table[:, 3],
    )


def _two_steps(imported: Collection[Import]) -> set[Import]:
    targets: dict[int, list[int]] = defaultdict(list)
    for source, target in imported:
        targets[source].append(target)
    return {(source, far) for source, target in imported for far in targets.get(target, ())}


def _users_of_owners(
    symbols: Sequence[Symbol], users_of: Mapping[str, Sequence[int]]
) -> set[int] | None:
    """The files that mention the class of some of the symbols, None if one is no member."""
    found: set[int] = set()
    for symbol in symbols:
        owner = symbol.parent.rpartition(":")[2].rpartition(".")[2] if ":" in symbol.parent else ""
        if not owner:
            return None
        found.update(users_of.get(owner, ()))
    return found


def _start(paths: Sequence[str], focus: Collection[int]) -> Figures:
    """The places where a walk begins, and begins again: anywhere, or in the focus."""
    start = np.zeros(len(paths))
    if focus:
        start[sorted(focus)] = 1.0
    else:
        start += [TEST_WEIGHT if is_test(path) else 1.0 for path in paths]
    return start / start.sum() if len(paths) else start


def _pagerank(uses: _Uses, start: Figures, *, backward: bool) -> tuple[Figures, Figures]:
    """The rank of each file, and what flows along each edge in the end."""
    source, target, weight = uses.source, uses.target, uses.weight
    if backward:
        source, target = np.concatenate((source, target)), np.concatenate((target, source))
        weight = np.concatenate((weight, weight * BACKWARD_WEIGHT))
    number = len(start)
    out = np.bincount(source, weight, number)
    share = weight / out[source]
    ranks = start
    for _ in range(MAX_ROUNDS):
        arriving = np.bincount(target, ranks[source] * share, number)
        lost = 1.0 - arriving.sum()  # by files that use nothing
        following = (1 - DAMPING) * start + DAMPING * (arriving + lost * start)
        done = np.abs(following - ranks).sum() < CONVERGED
        ranks = following
        if done:
            break
    return ranks, (ranks[source] * share)[: len(uses.source)]


def _spread(
    paths: Sequence[str],
    names: Sequence[str],
    defined: Mapping[str, Mapping[int, list[Symbol]]],
    own: Mapping[int, list[Symbol]],
    uses: _Uses,
    ranks: Figures,
    flow: Figures,
    focus: Collection[str],
) -> Ranks:
    """Give the rank of each file to its symbols by what flows in along their names."""
    into_file = np.bincount(uses.target, flow, len(paths))
    per_flow = np.divide(
        (1 - OWN_SHARE) * ranks, into_file, out=np.zeros(len(paths)), where=into_file > 0
    )
    found: Sums = defaultdict(float)
    left = ranks.copy()
    named = uses.name >= 0
    amounts = flow * per_flow[uses.target]
    for target, name, amount in zip(
        uses.target[named].tolist(), uses.name[named].tolist(), amounts[named].tolist(), strict=True
    ):
        namesakes = defined[names[name]][target]
        for symbol in namesakes:
            found[symbol.id] += amount / len(namesakes)
        left[target] -= amount
    for home, listed in own.items():
        share = OWN_SHARE * float(ranks[home]) / len(listed)
        for symbol in listed:
            found[symbol.id] += share
        left[home] -= OWN_SHARE * ranks[home]
    for symbol_id in focus:
        found[symbol_id] += 1.0
    return _weight_tests(paths, found, left, is_focused=bool(focus))


def _weight_tests(
    paths: Sequence[str],
    symbols: Weights,
    files: Figures,
    *,
    is_focused: bool,
) -> Ranks:
    """The ranks of symbols and files, those of tests weighed down where nothing is in focus."""
    scale = [TEST_WEIGHT if is_test(path) and not is_focused else 1.0 for path in paths]
    weights = dict(zip(paths, scale, strict=True))
    of_symbols = {
        symbol_id: amount * weights.get(symbol_id.partition(":")[0], 1.0)
        for symbol_id, amount in symbols.items()
    }
    of_files = {
        path: max(float(files[index]), 0.0) * scale[index] for index, path in enumerate(paths)
    }
    return Ranks(of_symbols, of_files)
