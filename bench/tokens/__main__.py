"""`python -m bench.tokens CLONES`: tokens, and coverage of what real commits need, at several
budgets.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from statistics import fmean
from typing import NamedTuple

from bench import results
from bench.repositories import measured_clones
from bench.results import Row, Table
from bench.scratch import git
from bench.tokens import ours, peers, plain
from bench.tokens.cases import cases
from bench.tokens.covered import Text, share
from bench.tokens.questions import HALF, KINDS, Question, questions
from tersely.foundation.text.tokens import Tokenizer
from tersely.workspace import Workspace

BUDGETS = (500, 1_000, 2_000, 5_000)
WHOLE = 0  # the budget of an answer that is not cut
CASES = 8  # of each repository
WAYS = ("tersely", "plain", "peers")

COMMAND = "make bench-tokens CLONES=DIR PEERS=DIR"
CELLS = f"asked:,|{'|'.join(map(str, BUDGETS))}|whole"
MEANS = Table(
    "Tokens",
    COMMAND,
    f"given|way|{CELLS}",
    "Touched / called, shown: which part of what the commit goes on to touch, and of what its new lines call, can be "
    "seen in an answer of at most so many tokens, by its signature or its body; then, of what it touches, the part "
    "whose body can be seen. Answers of ways without a budget are cut off; *whole* is what they are uncut, with their "
    "tokens. Means over repositories, each counted alike, of the ways that all of them were asked in.",
)
ROWS = Table("Tokens: each repository", COMMAND, f"repository|given|way|{CELLS}", names=3)
PACKS = Table(
    "Tokens: packs that were counted",
    COMMAND,
    "repository|packs:,|larger_than_their_budget_or_files:,",
)


class Answer(NamedTuple):
    """What some way of asking shows of the need of one question; means of several in a row's
    `figures`.
    """

    tokens: float | None
    touched: float | None  # the part that is covered; None where nothing is to be seen
    called: float | None
    shown: float | None  # of what is touched, the part whose body is visible


def main(arguments: list[str]) -> int:
    """Measure; 1 if a pack was larger than it may be, 2 without a single case."""
    parser = argparse.ArgumentParser(prog="python -m bench.tokens", description=__doc__)
    parser.add_argument("clones", type=Path, help="a folder of clones with history")
    parser.add_argument(
        "--only", nargs="*", default=[], metavar="NAME", help="only clones of these names"
    )
    parser.add_argument("--cases", type=int, default=CASES, help="commits of each repository")
    parser.add_argument("--ways", nargs="*", default=list(WAYS), choices=WAYS, help="only these")
    parser.add_argument("--peers", type=Path, help="a folder of other tools")
    parser.add_argument(
        "--record", action="store_true", help="keep the figures in bench/RESULTS.md"
    )
    options = parser.parse_args(arguments)
    clones = [
        path
        for path in measured_clones(options.clones)
        if not options.only or path.name in options.only
    ]
    violations = found_rows = 0
    for clone in clones:
        checked = ours.Checked()
        rows = measured(clone, options.cases, options.ways, options.peers, checked)
        print(*rows, sep="\n", flush=True)
        print(
            f"{checked.packs} packs, {len(checked.violations)} larger than their budget or than their files"
        )
        print("".join(f"{one}\n" for one in checked.violations), end="", flush=True)
        violations, found_rows = violations + len(checked.violations), found_rows + len(rows)
        if options.record and rows:
            _keep(clone.name, rows, checked)
    return 1 if violations else 0 if found_rows else 2


def measured(
    clone: Path, number: int, ways: Sequence[str], folder: Path | None, checked: ours.Checked
) -> list[Row]:
    """The mean figures of one repository for each question, way and budget."""
    found: dict[tuple[str, str, int], list[Answer]] = defaultdict(list)
    with tempfile.TemporaryDirectory(prefix="tersely-tokens-", ignore_cleanup_errors=True) as place:
        tree = Path(place) / "tree"
        repository = _git_directory(clone)
        git(Path(place), "clone", "--quiet", "--no-checkout", str(repository), str(tree))
        for case in cases(repository, number):
            git(tree, "checkout", "--quiet", "--force", "--detach", case.parent)
            with Workspace.open(tree) as workspace:
                workspace.check_freshness()
                asked = list(questions(case, tree, workspace))
            for question in asked:
                for name, budget, text in _answers(question, ways, folder, checked):
                    found[question.kind, name, budget].append(_judged(question, text, budget))
    rows = []
    for kind, name in dict.fromkeys((kind, name) for kind, name, _ in found):
        of_way = {
            budget: answers
            for (one, way, budget), answers in found.items()
            if (one, way) == (kind, name)
        }
        figures = {str(budget or "whole"): _means(answers) for budget, answers in of_way.items()}
        number_asked = max(map(len, of_way.values()))
        rows.append(
            _row(
                {"repository": clone.name, "given": kind, "way": name, "asked": number_asked},
                figures,
            )
        )
    return rows


def _git_directory(clone: Path) -> Path:
    return next(
        path
        for path in (clone, clone / "repo")
        if (path / ".git").exists() or (path / "HEAD").exists()
    )


def _answers(
    question: Question, ways: Sequence[str], folder: Path | None, checked: ours.Checked
) -> Iterator[tuple[str, int, str]]:
    """All ways in turn. The half that is given is made in the tree, and committed only for tools
    that want that.
    """
    head = git(question.tree, "rev-parse", "HEAD").decode().strip()
    for path, text in question.changed.items():
        (question.tree / path).write_bytes(text)
    if "tersely" in ways:
        with Workspace.open(question.tree) as workspace:
            yield from ours.answers(question, workspace, BUDGETS, checked)
    if "plain" in ways:
        for name, whole in plain.answers(question):
            yield from ((name, budget, whole) for budget in (*BUDGETS, WHOLE))
    if "peers" in ways and folder is not None:
        if question.kind == HALF:
            git(question.tree, "commit", "--quiet", "--no-verify", "--all", "--message=half")
        yield from peers.answers(question, folder.resolve(), BUDGETS)
    git(question.tree, "checkout", "--quiet", "--force", "--detach", head)


def _judged(question: Question, text: str, budget: int) -> Answer:
    tokenizer = Tokenizer()
    if budget and tokenizer.count(text) > budget:
        text = tokenizer.truncate(text, budget)
    seen = Text.of(text)
    touched = (
        share(question.touched, lambda one: one.is_covered(seen)) if question.touched else None
    )
    called = share(question.called, lambda one: one.is_covered(seen)) if question.called else None
    shown = share(question.touched, lambda one: one.is_shown(seen)) if question.touched else None
    return Answer(tokenizer.count(text), touched, called, shown)


def _row(names: Row, figures: Mapping[str, Answer]) -> Row:
    """A row with a cell for each budget, and the figures of the cells."""
    cells = {}
    for budget, answer in figures.items():
        cells[budget] = (
            f"{_percent(answer.touched)} / {_percent(answer.called)}, {_percent(answer.shown)}"
        )
        if budget == "whole":
            cells[budget] += f" ({answer.tokens:,.0f} tokens)"
    return {**names, **cells, "figures": figures}


def _means(answers: Iterable[Sequence[float | None]]) -> Answer:
    columns = [
        [value for value in column if value is not None] for column in zip(*answers, strict=True)
    ]
    return Answer(*(fmean(column) if column else None for column in columns))


def mean_rows(rows: Sequence[Row]) -> Iterator[Row]:
    """The means over repositories, each of them counted alike, of the ways that all of them were
    asked in.
    """
    for kind in KINDS:
        of_kind = [row for row in rows if row["given"] == kind]
        number = len({row["repository"] for row in of_kind})
        ways = [
            [row for row in of_kind if row["way"] == way]
            for way in dict.fromkeys(row["way"] for row in of_kind)
        ]
        found = [_mean_row(of_way) for of_way in ways if len(of_way) == number]
        yield from sorted(found, key=_worth, reverse=True)


def _mean_row(rows: Sequence[Row]) -> Row:
    """The means of one way."""
    figures = {
        budget: _means(row["figures"][budget] for row in rows) for budget in rows[0]["figures"]
    }
    asked = sum(row["asked"] for row in rows)
    return _row({"given": rows[0]["given"], "way": rows[0]["way"], "asked": asked}, figures)


def _worth(row: Row) -> float:
    """What a way shows of the need, all budgets together."""
    budgets = [answer for name, answer in row["figures"].items() if name != "whole"]
    return sum((answer.touched or 0.0) + (answer.shown or 0.0) for answer in budgets)


def _percent(part: float | None) -> str:
    return "–" if part is None else f"{part:.0%}"


def _keep(repository: str, rows: list[Row], checked: ours.Checked) -> None:
    """Keep these rows, and of other ways and repositories those that were kept before."""
    every = ROWS.merged("tokens", rows)
    tables = [MEANS.filled(mean_rows(every)), ROWS.filled(every)]
    if checked.packs:
        larger = len(checked.violations)
        row = {
            "repository": repository,
            "packs": checked.packs,
            "larger_than_their_budget_or_files": larger,
        }
        tables.insert(1, PACKS.filled(PACKS.merged("tokens", [row])))
    results.report("tokens", tables, keep=True)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
