"""Edges of the call graph while they are collected."""

from __future__ import annotations

from collections import defaultdict

from tersely.code.symbols import CallSite, Edge, Grade

_GRADE_ORDER = {Grade.EXACT: 0, Grade.INFERRED: 1, Grade.BY_NAME: 2}


class CollectedEdges:
    """Edges under construction: sites and best grade by (caller, callee)."""

    def __init__(self) -> None:
        self._sites: dict[tuple[str, str], set[tuple[str, int]]] = defaultdict(set)
        self._grades: dict[tuple[str, str], Grade] = {}
        self._rules: dict[tuple[str, str], str] = {}

    def add(
        self, caller: str, callee: str, grade: Grade, path: str, line: int, rule: str = ""
    ) -> None:
        """Take in that a line of a file calls, by the rule of a framework if that is named."""
        key = (caller, callee)
        if rule:
            self._rules.setdefault(key, rule)
        self._sites[key].add((path, line))
        known = self._grades.get(key)
        if known is None or _GRADE_ORDER[grade] < _GRADE_ORDER[known]:
            self._grades[key] = grade

    def __bool__(self) -> bool:
        return bool(self._sites)

    def add_all(self, others: CollectedEdges, grade: Grade) -> None:
        """Take over edges, none of them surer than a grade."""
        for (caller, callee), sites in others._sites.items():
            weakest = weaker(others._grades[caller, callee], grade)
            for path, line in sites:
                self.add(
                    caller, callee, weakest, path, line, others._rules.get((caller, callee), "")
                )

    def edges(self) -> list[Edge]:
        """The edges by caller and callee, each as sure as its surest call."""
        return [
            Edge(
                *key,
                self._grades[key],
                tuple(CallSite(*site) for site in sorted(self._sites[key])),
                self._rules.get(key, "") if self._grades[key] is Grade.INFERRED else "",
            )
            for key in sorted(self._sites)
        ]


def weaker(one: Grade, other: Grade) -> Grade:
    """The less sure of two grades."""
    return max(one, other, key=lambda grade: _GRADE_ORDER[grade])
