"""Grow the trees that the diff lens ships, in two steps: `python -m tools.build_diff_trees gather
CASES CLONE...`, and `python -m tools.build_diff_trees grow CASES OUT`.

The clones are repositories with their history, in folders named `owner+repository`, all on the fit
list of `bench/repositories.toml`. Of each the latest commits are sampled and cut in two as the
cases there are: half of the functions and types that a commit changes are given as a diff, the
other half has to be found. The lens gathers its evidence in a work tree with the given half
applied; a piece of code is needed if it has lines of the hidden half. CASES keeps what was
gathered, a file a repository, and what is there already is not gathered again.

LightGBM, which has to be installed beside Tersely, grows the trees on that, first without each
fifth of the repositories in turn to say how much of the hidden half a choice of pieces covers, then
on all of them for OUT. The trees that are shipped were grown by version 4.7.0 from the repositories
in `needed.training.json` beside them.
"""

from __future__ import annotations

import argparse
import importlib
import json
import pickle
import random
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple
from unittest.mock import patch

import numpy as np
from numpy.typing import NDArray

import tersely.context.lenses.diff.rank as lens
from tersely.capabilities.invoke import ask
from tersely.code.index.history.patch import FileDiff, Hunk, read_patch
from tersely.code.languages.registry import language_of_path
from tersely.code.places import is_test
from tersely.code.search.storage.arrays import write_arrays
from tersely.code.symbols import CALLABLE_KINDS, CLASS_KINDS, Symbol
from tersely.context.lenses.diff.changed_symbols import side_of
from tersely.context.lenses.diff.evidence import FIELDS, Evidence, gather
from tersely.context.lenses.diff.relevance import weighed
from tersely.context.lenses.diff.selection import chosen
from tersely.foundation.errors import TerselyError
from tersely.workspace import Workspace
from tools.fit import training_of

COMMITS = 24  # of each repository
LATEST_COMMITS = 2_500  # among which they are sampled
LEAST_SYMBOLS, MOST_SYMBOLS = 2, 12  # that a commit changes
MAX_DIFF_BYTES = 80_000
FOLDS = 5
BUDGET_TOKENS = 4_000  # that is asked with
BUDGETS = (1_000, 2_000, 4_000, 8_000)  # tokens, that choices are judged at
TREES = 250
# pieces of a case that are not needed; those kept stand for all
KEPT_PROMISING, KEPT_OTHERS = 300, 100
SETTINGS = {
    "objective": "binary", "learning_rate": 0.04, "num_leaves": 8, "max_depth": 4, "min_data_in_leaf": 40,
    "feature_fraction": 0.5, "bagging_fraction": 0.8, "bagging_freq": 1, "lambda_l2": 10, "max_bin": 63,
    "min_sum_hessian_in_leaf": 1.0, "verbose": -1, "num_threads": 1, "seed": 1, "deterministic": True,
}  # fmt: skip

# The latest commit that was known of each repository that the shipped trees were grown from.
TRAINING = Path(lens.__file__).with_name("needed.training.json")
GROWN_FROM: dict[str, str] = json.loads(TRAINING.read_text(encoding="utf-8"))["training"][
    "repositories"
]

Array = NDArray[Any]


class Case(NamedTuple):
    """Half of a commit: the parent to check out, the given diff, and by path the lines of each
    hidden symbol.
    """

    parent: str
    given: bytes
    hidden: list[tuple[str, int, int]]


class Seen(NamedTuple):
    """What the lens gathered for a case, and which hidden symbol each piece has lines of, -1 for
    none.
    """

    repository: str
    evidence: Evidence
    needed: Array
    targets: float  # tokens of the pack that its heading and the changed symbols take
    known: frozenset[str]  # the files of these


class Change(NamedTuple):
    """A hunk in a symbol, with the lines of the old file that it stands at."""

    diff: FileDiff
    hunk: Hunk
    first: int
    last: int


def write_trees(path: Path, model: Mapping[str, Any]) -> None:
    """Write trees down as LightGBM tells of them (`Booster.dump_model`)."""
    roots: list[int] = []
    nodes: list[list[float]] = []  # figure, threshold, left, right, value
    depth = 0
    for tree in model["tree_info"]:
        roots.append(len(nodes))
        waiting: list[tuple[Any, int, int, int]] = [(tree["tree_structure"], 0, -1, 0)]
        while waiting:
            told, level, parent, side = waiting.pop()
            at = len(nodes)
            nodes.append(
                [0.0, 0.0, at, at, told.get("leaf_value", told.get("internal_value", 0.0))]
            )
            depth = max(depth, level)
            if parent >= 0:
                nodes[parent][side] = at
            if "split_feature" in told:
                nodes[at][:2] = told["split_feature"], told["threshold"]
                waiting += [
                    (told["left_child"], level + 1, at, 2),
                    (told["right_child"], level + 1, at, 3),
                ]
    types = {"figure": "u1", "threshold": "f4", "left": "u2", "right": "u2", "value": "f4"}
    arrays = {
        name: np.array([node[at] for node in nodes], kind)
        for at, (name, kind) in enumerate(types.items())
    }
    about = {"fields": list(model["feature_names"]), "depth": depth}
    write_arrays(path, about, {"roots": np.array(roots, "u2"), **arrays})


def main(arguments: list[str]) -> int:
    """Gather, or grow."""
    parser = argparse.ArgumentParser(prog="python -m tools.build_diff_trees", description=__doc__)
    steps = parser.add_subparsers(dest="step", required=True)
    gather_step = steps.add_parser(
        "gather", help="what the lens gathers for cases, a file a repository"
    )
    gather_step.add_argument("cases", type=Path, help="the folder to write to")
    gather_step.add_argument("clones", type=Path, nargs="+", help="repositories with their history")
    gather_step.add_argument("--commits", type=int, default=COMMITS, help="of each repository")
    grow_step = steps.add_parser("grow", help="trees for cases that are gathered")
    grow_step.add_argument("cases", type=Path, help="the folder")
    grow_step.add_argument("out", type=Path, help="the file to write")
    options = parser.parse_args(arguments)
    if options.step == "gather":
        options.cases.mkdir(parents=True, exist_ok=True)
        _list(options.clones, options.cases)
        for clone in options.clones:
            _gather(clone, options.cases / f"{clone.name}.cases", options.commits)
    else:
        _grow(
            [
                one
                for place in sorted(options.cases.glob("*.cases"))
                for one in pickle.loads(place.read_bytes())
            ],
            options.out,
        )
        options.out.with_name(TRAINING.name).write_bytes(
            (options.cases / TRAINING.name).read_bytes()
        )
    return 0


def _list(clones: Sequence[Path], cases: Path) -> None:
    """Keep the training list of the cases: of each repository the latest commit that is taken."""
    place = cases / TRAINING.name
    before = (
        json.loads(place.read_text(encoding="utf-8"))["training"]["repositories"]
        if place.exists()
        else {}
    )
    training = training_of(clones) | {"tool": "tools/build_diff_trees.py"}
    known = before | {
        name: GROWN_FROM.get(name, commit) for name, commit in training["repositories"].items()
    }
    text = json.dumps({"training": training | {"repositories": known}}, indent=1)
    place.write_text(text + "\n", encoding="utf-8")


def _gather(clone: Path, place: Path, commits: int) -> None:
    """Keep the cases of a repository, unless that was done before."""
    if not place.exists():
        found = list(gathered(clone, commits))
        place.write_bytes(pickle.dumps(found))
        print(f"{place.stem}: {len(found)} cases", flush=True)


def _grow(seen: Sequence[Seen], out: Path) -> None:
    """Say how well the trees do on repositories that they have not seen, and write those of all."""
    names = sorted({one.repository for one in seen})
    covered: dict[int, list[bool]] = {budget: [] for budget in BUDGETS}
    for fold in range(FOLDS):
        apart = set(names[fold::FOLDS])
        rest = [one for one in seen if one.repository not in apart]
        if not apart or not rest:
            continue
        model = grown(rest)
        for one in seen:
            if one.repository in apart:
                found = weighed(one.evidence, model.predict(one.evidence.figures, raw_score=True))
                for budget, hits in covered.items():
                    hits += _covered(one, found, budget)
    print(f"{len(seen)} cases of {len(names)} repositories; covered of repositories apart:")
    print(
        *(f"{np.mean(hits):.3f} at {budget} tokens" for budget, hits in covered.items()), sep=", "
    )
    write_trees(out, grown(seen).dump_model())


def gathered(clone: Path, commits: int) -> Iterator[Seen]:
    """The cases of a repository as the lens sees them, in one work tree whose index follows."""
    with tempfile.TemporaryDirectory(prefix="tersely-cases-") as scratch:
        root = Path(scratch) / "tree"
        subprocess.run(["git", "clone", "-q", "-n", str(clone), str(root)], check=True)
        for case in cases_of(root, commits, GROWN_FROM.get(clone.name.replace("+", "/"), "HEAD")):
            _git(root, "checkout", "-q", "-f", "--detach", case.parent)
            _git(root, "clean", "-q", "-f", "-d", "-e", ".tersely")
            try:
                _git(root, "apply", "--unidiff-zero", "--whitespace=nowarn", "-", text=case.given)
                evidence, targets, known = _evidence(root)
            except (subprocess.CalledProcessError, TerselyError) as problem:
                print(f"{clone.name} {case.parent[:10]}: {problem}", file=sys.stderr)
                continue
            yield Seen(clone.name, evidence, _needed(evidence, case), targets, known)


def _evidence(root: Path) -> tuple[Evidence, float, frozenset[str]]:
    """What the lens gathers when it is asked about the work tree, what the changed symbols take,
    and their files.
    """
    found: list[Evidence] = []
    asked: list[tuple[float, frozenset[str]]] = []

    def gathering(*words: Any) -> Evidence:
        evidence = gather(*words)
        found.append(replace(evidence, figures=evidence.figures.astype(np.float32)))
        return evidence

    def choosing(*words: Any) -> list[int]:
        _, _, _, room, _, known = words
        asked.append((BUDGET_TOKENS - room / lens.SPARE, frozenset(known)))
        return chosen(*words)

    with Workspace.open(root) as workspace, patch.multiple(lens, gather=gathering, chosen=choosing):
        ask(workspace, "code.diff_context", worktree=True, budget=BUDGET_TOKENS)
    return found[0], *(asked or [(0.0, frozenset())])[0]


def _needed(evidence: Evidence, case: Case) -> Array:
    """Which hidden symbol each piece has lines of, as the given half has moved them; tests are not
    asked for.
    """
    hunks = {diff.path: diff.hunks for diff in read_patch(case.given)}
    spans = [
        (path, _moved(first, hunks.get(path, ())), _moved(last, hunks.get(path, ())))
        for path, first, last in case.hidden
    ]
    needed = np.full(len(evidence.regions), -1)
    for at, region in enumerate(evidence.regions):
        for number, (path, first, last) in enumerate(spans):
            if (
                region.symbol.path == path
                and region.first <= last
                and first <= region.last
                and not is_test(path)
            ):
                needed[at] = number
    return needed


def _moved(line: int, hunks: Sequence[Hunk]) -> int:
    """Where a line of the parent commit is with the given half applied."""
    shift = 0
    for hunk in hunks:
        if line < hunk.old_first:
            break
        if line < hunk.old_first + len(hunk.removed):
            return hunk.new_first
        shift = hunk.new_first + len(hunk.added) - hunk.old_first - len(hunk.removed)
    return line + shift


# Cutting commits in two


def cases_of(root: Path, commits: int, tip: str) -> list[Case]:
    """Cases of the latest commits up to a tip, the same each time, the oldest first: little changes
    between them.
    """
    listed = _git(root, "log", "--no-merges", "--format=%H %P", "-n", str(LATEST_COMMITS), tip)
    log = listed.decode().splitlines()
    age = {row: number for number, row in enumerate(log)}
    random.Random(0).shuffle(log)
    found: list[tuple[int, Case]] = []
    for row in log:
        names = row.split()
        try:
            case = _cut(root, *names) if len(found) < commits and len(names) == 2 else None
        except subprocess.CalledProcessError:
            continue  # the clone does not have all of it
        if case is not None:
            found.append((age[row], case))
    return [case for _, case in sorted(found, key=lambda pair: -pair[0])]


def _cut(root: Path, commit: str, parent: str) -> Case | None:
    """Half of the symbols that a commit changes, and the lines of the others; None if they are too
    few or too many.
    """
    raw = _git(root, "diff", "-U0", "--no-renames", "--no-color", "--no-ext-diff", parent, commit)
    if len(raw) > MAX_DIFF_BYTES:
        return None
    changes: dict[tuple[str, str], list[Change]] = {}
    for diff in read_patch(raw):
        if diff.old_path and diff.path and diff.hunks and language_of_path(diff.path):
            for symbol, change in _placed(diff, _git(root, "show", f"{parent}:{diff.path}")):
                changes.setdefault((diff.path, symbol.id), []).append(change)
    if not LEAST_SYMBOLS <= len(changes) <= MOST_SYMBOLS:
        return None
    keys = sorted(changes)
    random.Random(commit).shuffle(keys)
    given, hidden = keys[: len(keys) // 2], keys[len(keys) // 2 :]
    spans = [(path, min(one.first for one in changes[path, name]), max(one.last for one in changes[path, name]))
             for path, name in hidden if not is_test(path)]  # fmt: skip
    return (
        Case(parent, _patch([one for key in given for one in changes[key]]), spans)
        if spans
        else None
    )


def _placed(diff: FileDiff, before: bytes) -> Iterator[tuple[Symbol, Change]]:
    """The hunks of a file that lie in functions or types, with the innermost of these."""
    inside: dict[int, Symbol] = {}
    symbols = (
        one
        for one in side_of(diff.path, before).symbols
        if one.kind in CALLABLE_KINDS | CLASS_KINDS
    )
    for symbol in sorted(symbols, key=lambda one: (one.start_byte, -one.end_byte)):
        inside.update(dict.fromkeys(range(symbol.start_line, symbol.end_line + 1), symbol))
    for hunk in diff.hunks:
        if hunk.removed:
            first, last = hunk.old_first, hunk.old_first + len(hunk.removed) - 1
            symbol_at = next(
                (inside[line] for line in range(first, last + 1) if line in inside), None
            )
        else:  # what was put in after the last line of a symbol is no part of it
            first = last = hunk.old_first - 1
            symbol_at = inside.get(first) if inside.get(first) is inside.get(first + 1) else None
        if symbol_at is not None:
            yield symbol_at, Change(diff, hunk, first, last)


def _patch(changes: Sequence[Change]) -> bytes:
    """A diff of some hunks alone."""
    rows: list[bytes] = []
    for path in sorted({one.diff.path for one in changes}):
        rows += [
            f"diff --git a/{path} b/{path}".encode(),
            f"--- a/{path}".encode(),
            f"+++ b/{path}".encode(),
        ]
        hunks = {one.hunk.old_first: one.hunk for one in changes if one.diff.path == path}
        shift = 0
        for old_first, hunk in sorted(hunks.items()):
            old, new = len(hunk.removed), len(hunk.added)
            places = old_first - (not old), old, old_first - (not new) + shift, new
            rows.append(b"@@ -%d,%d +%d,%d @@" % places)
            rows += [b"-" + line.rstrip(b"\n") for line in hunk.removed] + [
                b"+" + line.rstrip(b"\n") for line in hunk.added
            ]
            shift += new - old
    return b"\n".join(rows) + b"\n"


def _git(root: Path, *words: str, text: bytes = b"") -> bytes:
    return subprocess.run(
        ["git", "-C", str(root), *words], input=text, check=True, capture_output=True
    ).stdout


# Growing the trees


def grown(seen: Sequence[Seen]) -> Any:
    """A model of LightGBM for some cases."""
    lightgbm = importlib.import_module("lightgbm")
    tables, answers, weights = zip(*map(_thinned, seen), strict=True)
    table, answer, weight = map(np.concatenate, (tables, answers, weights))
    data = lightgbm.Dataset(table, answer, weight=weight, feature_name=list(FIELDS))
    return lightgbm.train(SETTINGS, data, TREES)


def _thinned(seen: Seen) -> tuple[Array, Array, Array]:
    """The figures of all pieces that are needed and of some that are not, which are, and what each
    stands for.
    """
    figures = seen.evidence.figures.astype(np.float32)
    column = {name: figures[:, at] for at, name in enumerate(FIELDS)}
    code = np.array([not is_test(region.symbol.path) for region in seen.evidence.regions], bool)
    promising = (
        (column["same_file"] > 0) | (column["alike_removed"] > 0.25) | (column["alike_added"] > 0.3)
        | (column["gone"] > 3) | (column["words_rank"] > 0.02) | (column["named"] > 0)
        | (column["callee"] > 0) | (column["calls"] > 0)
    )  # fmt: skip
    needed = seen.needed >= 0
    chance = np.random.default_rng(0)
    rows, weights = [np.flatnonzero(needed)], [np.ones(needed.sum())]
    for some, most in ((promising, KEPT_PROMISING), (~promising, KEPT_OTHERS)):
        all_of = np.flatnonzero(some & code & ~needed)
        kept = chance.choice(all_of, min(len(all_of), most), replace=False)
        rows.append(kept)
        weights.append(np.full(len(kept), len(all_of) / max(1, len(kept))))
    at = np.concatenate(rows)
    return figures[at], needed[at].astype(float), np.concatenate(weights)


def _covered(seen: Seen, found: Array, budget: int) -> list[bool]:
    """Of each hidden symbol that has pieces whether all of them are chosen for what the changed
    symbols leave.
    """
    evidence = seen.evidence
    room, least = budget - seen.targets, lens.LEAST_CHANCE_TOKENS / budget
    taken = (
        chosen(evidence.regions, found, evidence.lines, room, least, seen.known)
        if evidence.regions
        else []
    )
    shown = np.isin(np.arange(len(found)), taken)
    return [
        bool(shown[seen.needed == number].all())
        for number in sorted(set(seen.needed.tolist()) - {-1})
    ]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
