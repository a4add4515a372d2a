"""`python -m bench.tokens CLONES`: tokens, and coverage of what real commits need, at several budgets."""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from bench import machine, results
from bench.tokens import ours, peers, plain
from bench.tokens.cases import Git, cases
from bench.tokens.covered import Text, share
from bench.tokens.questions import HALF, KINDS, Question, questions
from tersely.foundation.tokens import Tokenizer
from tersely.workspace import Workspace

BUDGETS = (500, 1_000, 2_000, 5_000)
WHOLE = 0  # the budget of an answer that is not cut
CASES = 8  # of each repository
WAYS = ("tersely", "plain", "peers")

Row = dict[str, Any]


class Answer(NamedTuple):
    """What some way of asking shows of the need of one question."""

    tokens: int
    touched: float | None  # the part that is covered; None where nothing is to be seen
    called: float | None
    shown: float | None  # of what is touched, the part whose body is visible


def main(arguments: list[str]) -> int:
    """Measure; 1 if a pack was larger than it may be, 2 without a single case."""
    parser = argparse.ArgumentParser(prog="python -m bench.tokens", description=__doc__)
    parser.add_argument("clones", type=Path, help="a folder of clones with history")
    parser.add_argument("--only", nargs="*", default=[], metavar="NAME", help="only clones of these names")
    parser.add_argument("--cases", type=int, default=CASES, help="commits of each repository")
    parser.add_argument("--ways", nargs="*", default=list(WAYS), choices=WAYS, help="only these")
    parser.add_argument("--peers", type=Path, help="a folder of other tools")
    parser.add_argument("--record", action="store_true", help="keep the figures in bench/RESULTS.md")
    options = parser.parse_args(arguments)
    found = [path for path in sorted(options.clones.iterdir()) if path.is_dir()]
    clones = [path for path in found if not options.only or path.name in options.only]
    violations = found_rows = 0
    for clone in clones:
        checked = ours.Checked()
        rows = measured(clone, options.cases, options.ways, options.peers, checked)
        _print(rows)
        print(f"{checked.packs} packs, {len(checked.violations)} larger than their budget or than their files")
        print("".join(f"{one}\n" for one in checked.violations), end="", flush=True)
        violations, found_rows = violations + len(checked.violations), found_rows + len(rows)
        if options.record and rows:
            _keep(clone.name, rows, checked, options.cases)
    return 1 if violations else 0 if found_rows else 2


def measured(clone: Path, number: int, ways: Sequence[str], folder: Path | None, checked: ours.Checked) -> list[Row]:
    """The mean figures of one repository for each question, way and budget."""
    found: dict[tuple[str, str, int], list[Answer]] = defaultdict(list)
    with tempfile.TemporaryDirectory(prefix="tersely-tokens-", ignore_cleanup_errors=True) as place:
        tree = Path(place) / "tree"
        repository = _git_directory(clone)
        Git(Path(place))("clone", "--quiet", "--no-checkout", str(repository), str(tree))
        for case in cases(repository, number):
            Git(tree)("checkout", "--quiet", "--force", "--detach", case.parent)
            with Workspace.open(tree) as workspace:
                workspace.check_freshness()
                asked = list(questions(case, tree, workspace))
            for question in asked:
                for name, budget, text in _answers(question, ways, folder, checked):
                    found[question.kind, name, budget].append(_judged(question, text, budget))
    return [_row(clone.name, *key, answers) for key, answers in found.items()]


def _git_directory(clone: Path) -> Path:
    return next(path for path in (clone, clone / "repo") if (path / ".git").exists() or (path / "HEAD").exists())


def _answers(
    question: Question, ways: Sequence[str], folder: Path | None, checked: ours.Checked
) -> Iterator[tuple[str, int, str]]:
    """All ways in turn. The half that is given is made in the tree, and committed only for tools that want that."""
    git = Git(question.tree)
    head = git("rev-parse", "HEAD").decode().strip()
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
            git("commit", "--quiet", "--no-verify", "--all", "--message=half")
        yield from peers.answers(question, folder.resolve(), BUDGETS)
    git("checkout", "--quiet", "--force", "--detach", head)


def _judged(question: Question, text: str, budget: int) -> Answer:
    tokenizer = Tokenizer()
    if budget and tokenizer.count(text) > budget:
        text = tokenizer.truncate(text, budget)
    seen = Text.of(text)
    touched = share(question.touched, lambda one: one.is_covered(seen)) if question.touched else None
    called = share(question.called, lambda one: one.is_covered(seen)) if question.called else None
    shown = share(question.touched, lambda one: one.is_shown(seen)) if question.touched else None
    return Answer(tokenizer.count(text), touched, called, shown)


def _row(repository: str, kind: str, name: str, budget: int, answers: Sequence[Answer]) -> Row:
    def mean(column: str) -> float | None:
        values = [value for one in answers if (value := getattr(one, column)) is not None]
        return sum(values) / len(values) if values else None

    return {
        "repository": repository, "question": kind, "way": name, "budget": budget, "asked": len(answers),
        "tokens": round(mean("tokens") or 0), "touched": mean("touched"), "called": mean("called"),
        "shown": mean("shown"),
    }  # fmt: skip


def mean_rows(rows: Sequence[Row]) -> list[Row]:
    """The means over repositories, each of them counted alike, of the ways that all of them were asked in."""
    everywhere = {kind: {row["repository"] for row in rows if row["question"] == kind} for kind in KINDS}
    groups: dict[tuple[str, str, int], list[Row]] = defaultdict(list)
    for row in rows:
        groups[row["question"], row["way"], row["budget"]].append(row)
    found = []
    for (kind, way, budget), listed in groups.items():
        if {row["repository"] for row in listed} != everywhere[kind]:
            continue
        figures = {
            name: sum(values) / len(values)
            if (values := [row[name] for row in listed if row[name] is not None])
            else None
            for name in ("tokens", "touched", "called", "shown")
        }
        asked = sum(row["asked"] for row in listed)
        found.append({"question": kind, "way": way, "budget": budget, "asked": asked, **figures})
    return found


def _keep(repository: str, rows: list[Row], checked: ours.Checked, number: int) -> None:
    """Remember these rows; of other ways and repositories those that were remembered before."""
    known = results.kept("tokens")
    fresh = {(row["repository"], row["way"]) for row in rows}
    before = [row for row in known.get("rows", []) if (row["repository"], row["way"]) not in fresh]
    packs = dict(known.get("checked", {}))
    if checked.packs:
        packs[repository] = {"packs": checked.packs, "violations": checked.violations}
    kept = [*before, *rows]
    record = {"machine": machine.facts(), "cases": number, "checked": packs, "rows": kept, "means": mean_rows(kept)}
    results.keep("tokens", record)


def _print(rows: Sequence[Row]) -> None:
    for kind in KINDS:
        listed = [row for row in rows if row["question"] == kind]
        for way in dict.fromkeys(row["way"] for row in listed):
            cells = [row for row in listed if row["way"] == way]
            figures = "  ".join(
                f"{row['budget'] or 'whole'}: {_percent(row['touched'])}/{_percent(row['called'])}"
                f"/{_percent(row['shown'])} {row['tokens']}"
                for row in cells
            )
            print(f"{cells[0]['repository']:<28} {kind:<8} {way:<26} {cells[0]['asked']:>3}  {figures}", flush=True)


def _percent(part: float | None) -> str:
    return "-" if part is None else f"{part:.0%}"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
