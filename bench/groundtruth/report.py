"""Suite results as lines for people and as JSON for `bench/RESULTS.md`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from bench.groundtruth.score import CaseResult, SuiteResult

HEADER = (
    f"{'suite':<28} {'language':<11} {'cases':>5} {'edges':>6} {'P':>6} {'R':>6} {'F1':>6} {'complete':>8} {'sound':>6}"
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
    for case in result.cases:
        if case.sound and case.complete:
            continue
        yield f"  {case.name}{f'  {case.error}' if case.error else ''}"
        yield from (f"    - {fact}" for fact in case.missing)
        yield from (f"    + {fact}" for fact in case.extra)


def as_json(result: SuiteResult) -> dict[str, Any]:
    """Everything a reader or a later run may want of one suite; only differing cases are spelled out."""
    return {
        "suite": result.suite,
        "language": result.language,
        "skipped": result.skipped,
        "cases": len(result.cases),
        "edges": result.expected,
        "precision": round(result.precision, 4),
        "recall": round(result.recall, 4),
        "f1": round(result.f1, 4),
        "complete": result.complete,
        "sound": result.sound,
        "figures": {name: round(value, 4) for name, value in result.figures.items()},
        "seconds": round(result.seconds, 2),
        "differing": [_case(case) for case in result.cases if not (case.sound and case.complete)],
    }


def _case(case: CaseResult) -> dict[str, Any]:
    return {"case": case.name, "missing": list(case.missing), "extra": list(case.extra), "error": case.error}
