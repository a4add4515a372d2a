"""Print each figure beside its limit, and its change since another revision: `make budgets`.

`--lower` writes limits that have become too high down to their figures; `--rooms` takes the figures
of all rooms as limits where their sum has not grown. Neither raises anything else.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping, Sequence

from tools.budgets import suite, walk
from tools.budgets.limits import (
    FILE,
    ROOT,
    SUITE,
    Line,
    Verdict,
    judged,
    lowered,
    moved,
    own,
)
from tools.budgets.measure import QUICK, SLOW, measured
from tools.revisions import checked_out, exists

FAILING = {Verdict.WORSE, Verdict.BETTER, Verdict.NEW, Verdict.GONE}


def main(words: Sequence[str]) -> int:
    """Measure, print, and change limits where that is asked for; the exit status."""
    asked = _asked(words)
    groups = asked.groups or (QUICK if asked.quick else (*QUICK, *SLOW))
    figures = {name: each for group in groups for name, each in measured(group).items()}
    figures |= suite.latest()
    changes_limits = asked.lower or asked.rooms
    before = _figures_at(asked.base, groups) if asked.base and not changes_limits else {}
    place = ROOT / FILE
    if changes_limits:
        text = place.read_text("utf-8")
        text = moved(text, figures) if asked.rooms else text
        place.write_text(lowered(text, figures) if asked.lower else text, encoding="utf-8")
    lines = judged(figures, own(), groups)
    ratios = walk.cpu_by_parse() if "walk" in groups else {}
    for line in lines:
        print(_shown(line, before.get(line.name), ratios))
    return int(any(_fails(line) for line in lines))


def _asked(words: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="make budgets", description=__doc__)
    parser.add_argument("groups", nargs="*", help="of figures, all by default")
    parser.add_argument("--quick", action="store_true", help="leave out what takes minutes")
    parser.add_argument("--lower", action="store_true", help="write limits down to the figures")
    parser.add_argument("--rooms", action="store_true", help="take the figures of rooms for limits")
    parser.add_argument("--base", default="", help="the revision to compare with")
    return parser.parse_args(words)


def _figures_at(revision: str, groups: Sequence[str]) -> dict[str, float]:
    """The figures of another revision that has budgets, none of one that has not, or is not here."""
    if not exists(revision):
        return {}
    with checked_out(revision) as root:
        if not (root / "tools/budgets").is_dir():
            return {}
        return {name: each for group in groups for name, each in measured(group, root).items()}


def _fails(line: Line) -> bool:
    is_of_suite = line.name.startswith(SUITE)  # which is judged where it has run
    return line.verdict in FAILING and not is_of_suite


def _shown(line: Line, before: float | None, ratios: Mapping[str, float]) -> str:
    """A line: name, figure, limit, change since the other revision, verdict."""
    change = ""
    if before and line.figure is not None:
        change = f"{100 * (line.figure / before - 1):+.1f} %"
    ratio = ratios.get(line.name.partition(".")[2], 0) if line.name.startswith("walk.") else 0
    beside = f"  CPU {ratio:.1f} × bare parse" if ratio else ""
    return (
        f"{line.name:<42}{_number(line.figure):>11}{_number(line.limit):>11}{change:>9}"
        f"  {line.verdict}{beside}"
    ).rstrip()


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:,}"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
