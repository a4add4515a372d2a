"""Verdicts as lines for people and as JSON for `bench/RESULTS.md`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from bench.handchecked.judge import Verdict

HEADER = f"{'language':<12} {'right':>5} {'of':>4}   {'missing':>7} {'too much':>8} {'guesses too many':>16}"


def line(language: str, verdicts: Sequence[Verdict]) -> str:
    """One language on one line."""
    row = as_json(language, verdicts)
    return (
        f"{language:<12} {row['right']:>5} {row['asked']:>4}   {row['missing']:>7} {row['extra']:>8} "
        f"{row['guesses']:>16}{'  ERRORS ' + str(row['errors']) if row['errors'] else ''}"
    )


def differences(verdicts: Sequence[Verdict]) -> Iterator[str]:
    """Every answer that is not right, with what is missing (-) and what is too much (+)."""
    for verdict in verdicts:
        if verdict.right:
            continue
        yield f"  {verdict.case.name}{f'  {verdict.error}' if verdict.error else ''}"
        yield from (f"    - {one}" for one in verdict.missing)
        yield from (f"    + {one}" for one in verdict.extra)


def as_json(language: str, verdicts: Sequence[Verdict]) -> dict[str, Any]:
    """The figures of one language, and the questions whose answers are not right."""
    return {
        "language": language,
        "repositories": sorted({verdict.case.repository for verdict in verdicts}),
        "asked": len(verdicts),
        "right": sum(verdict.right for verdict in verdicts),
        "missing": sum(len(verdict.missing) for verdict in verdicts),
        "extra": sum(len(verdict.extra) for verdict in verdicts),
        "guesses": sum(verdict.guesses for verdict in verdicts),
        "errors": sum(bool(verdict.error) for verdict in verdicts),
        "wrong": [verdict.case.name for verdict in verdicts if not verdict.right],
    }
