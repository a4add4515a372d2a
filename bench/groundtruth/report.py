"""Suite results as lines for people, and as rows of tables."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from bench.groundtruth.score import CaseResult, SuiteResult
from bench.results import Row, Table

REASONS = Path(__file__).with_name("reasons.toml")
COMMAND = "make groundtruth GROUNDTRUTH=DIR"
TABLE = Table(
    "Ground truth",
    COMMAND,
    "suite|language|cases:,|edges:,|precision:.3f|recall:.3f|f1:.3f|complete:,|sound:,|figures",
    names=2,
)
CASES = Table(
    "Ground truth: cases answered differently",
    COMMAND,
    "suite|language|case|reason",
    "Without a reason, a case is open. Of suites without reasons it says how many there are; `--verbose` lists them.",
    names=3,
)
HEADER = (
    f"{'suite':<28} {'language':<11} {'cases':>5} {'edges':>6} "
    f"{'P':>6} {'R':>6} {'F1':>6} {'complete':>8} {'sound':>6}"
)


def line(result: SuiteResult) -> str:
    """One suite on one line."""
    title = f"{result.suite:<28} {result.language:<11}"
    if result.skipped:
        return f"{title} skipped: {result.skipped}"
    numbers = (
        f"{len(result.cases):>5} {result.expected:>6} {result.precision:>6.3f} {result.recall:>6.3f} "
        f"{result.f1:>6.3f} {result.complete:>8} {result.sound:>6}"
    )
    figures = "".join(f"  {name} {value:.3f}" for name, value in result.figures.items())
    errors = sum(bool(case.error) for case in result.cases)
    return f"{title} {numbers}{figures}{f'  ERRORS {errors}' if errors else ''}"


def differences(result: SuiteResult) -> Iterator[str]:
    """Every case that differs, with what is missing (-) and what is too much (+)."""
    for case in differing(result):
        yield f"  {case.name}{f'  {case.error}' if case.error else ''}"
        yield from (f"    - {fact}" for fact in case.missing)
        yield from (f"    + {fact}" for fact in case.extra)


def differing(result: SuiteResult) -> list[CaseResult]:
    """The cases that differ."""
    return [case for case in result.cases if not (case.sound and case.complete)]


def suite_row(result: SuiteResult) -> Row:
    """The figures of one suite."""
    return {
        "suite": result.suite,
        "language": result.language,
        "cases": len(result.cases),
        "edges": result.expected,
        "precision": round(result.precision, 4),
        "recall": round(result.recall, 4),
        "f1": round(result.f1, 4),
        "complete": result.complete,
        "sound": result.sound,
        "figures": ", ".join(f"{name} {value:.3f}" for name, value in result.figures.items()),
        "seconds": round(result.seconds, 2),
    }


def case_rows(result: SuiteResult) -> Iterator[Row]:
    """The cases of one suite that differ, with the reason where one is written down."""
    every: dict[str, dict[str, str]] = tomllib.loads(REASONS.read_text(encoding="utf-8"))
    reasons = every.get(f"{result.suite} {result.language}", {})
    names = [case.name for case in differing(result)]
    suite = {"suite": result.suite, "language": result.language}
    if names and (not reasons or "sampled" in reasons):
        yield {**suite, "case": f"{len(names)} cases", "reason": reasons.get("sampled", "")}
        return
    for name in names:
        yield {**suite, "case": f"`{name}`", "reason": reasons.get(name, "open")}


def as_json(result: SuiteResult) -> dict[str, Any]:
    """Everything that a later run may want of one suite; only differing cases are spelled out."""
    listed = [
        {
            "case": case.name,
            "missing": list(case.missing),
            "extra": list(case.extra),
            "error": case.error,
        }
        for case in differing(result)
    ]
    return {**suite_row(result), "skipped": result.skipped, "differing": listed}
