"""A plugin of pytest that counts what the tests make the machine do: processes that they start, runs
of git among them, and refreshes of an index. The sum over all processes of a run is judged when a
whole tier has run, and kept for `make budgets`.

Counted is what the processes of pytest do themselves, not what those do that they start.
"""

from __future__ import annotations

import json
import os
import subprocess
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from tools.budgets.limits import ROOT, Verdict, judged, own

# The ways in which the Makefile asks for a tier, and the tier.
TIERS = {"not slow": "first", "slow or hypothesis": "second"}
KEPT = ROOT / ".pytest_cache" / "counts.json"
_FORKS = ("fork", "forkpty")


class Counting:
    """Counts in this process, and on the one that leads adds up what the others have counted."""

    def __init__(
        self,
        config: pytest.Config,
        place: Path = KEPT,
        limits: Callable[[], Mapping[str, float]] = own,
    ) -> None:
        self._config = config
        self._place = place
        self._limits = limits
        self._counts = Counter[str]()
        self._said: list[str] = []
        self._patch = pytest.MonkeyPatch()

    def pytest_sessionstart(self) -> None:
        """Begin to count."""
        child = subprocess.Popen._execute_child  # type: ignore[attr-defined]

        def started(process: Any, args: Any, *rest: Any) -> None:
            self._counts["process_starts"] += 1
            self._counts["git_runs"] += _is_git(args)
            child(process, args, *rest)

        self._patch.setattr(subprocess.Popen, "_execute_child", started)
        for name in _FORKS:
            self._count(os, name, "process_starts")
        # Not imported above: whoever looks at what tests stand on would take it for all of them.
        self._count(import_module("tersely.code.engine").Engine, "refresh", "refreshes")

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any) -> None:
        """Add what another process has counted."""
        self._counts.update(getattr(node, "workeroutput", {}).get("counts", {}))

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """Hand the counts on, or judge them."""
        self._patch.undo()
        if hasattr(self._config, "workeroutput"):
            self._config.workeroutput["counts"] = dict(self._counts)
            return
        tier = tier_of(self._config)
        if not tier or session.exitstatus != pytest.ExitCode.OK:
            return
        figures = named(tier, self._counts)
        keep(self._place, figures)
        self._said = worse(figures, self._limits())
        if self._said:
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Say what is over its limit."""
        for line in self._said:
            terminalreporter.write_line(line, red=True)

    def _count(self, owner: Any, name: str, what: str) -> None:
        original: Callable[..., Any] = getattr(owner, name)

        def counted(*given: Any, **named: Any) -> Any:
            self._counts[what] += 1
            return original(*given, **named)

        self._patch.setattr(owner, name, counted)


def tier_of(config: pytest.Config) -> str:
    """The tier that a run was of as a whole, "" if of none."""
    option = config.option
    is_of_all = config.args == config.getini("testpaths")
    is_whole = is_of_all and not option.keyword and not option.collectonly
    return TIERS.get(option.markexpr, "") if is_whole else ""


def named(tier: str, counts: Mapping[str, int]) -> dict[str, float]:
    """The counts of a tier under the names of their limits."""
    return {
        f"suite.{tier}.{what}": counts.get(what, 0)
        for what in ("process_starts", "git_runs", "refreshes")
    }


def worse(figures: Mapping[str, float], limits: Mapping[str, float]) -> list[str]:
    """What is to be said of counts that are over their limits."""
    return [
        f"budget: {line.name} is {line.figure:,}, {line.verdict} of {line.limit:,}"
        for line in judged(figures, limits, ())
        if line.verdict is Verdict.WORSE
    ]


def keep(place: Path, figures: Mapping[str, float]) -> None:
    """Keep the counts of a tier beside those of the other."""
    place.parent.mkdir(exist_ok=True)
    place.write_text(json.dumps({**latest(place), **figures}), encoding="utf-8")


def latest(place: Path = KEPT) -> dict[str, float]:
    """The counts of the latest whole runs, none before any."""
    known: dict[str, float] = json.loads(place.read_text("utf-8")) if place.exists() else {}
    return known


def _is_git(args: Sequence[Any] | str) -> bool:
    first = args.split()[0] if isinstance(args, str) else args[0]
    return os.path.basename(os.fsdecode(first)) == "git"
