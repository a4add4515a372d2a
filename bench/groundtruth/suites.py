"""Every suite, in the order in which they are reported. Adding one is adding a value here."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

from bench.groundtruth import dotted, jcg, js_callgraph, rust_comments, stack_graphs, swarm_java, tags
from bench.groundtruth.score import CaseResult, SuiteResult


@dataclass(frozen=True, slots=True)
class Suite:
    """One body of truth. `folder` is where its cases lie below the data folder, `clone` what to put there."""

    name: str
    language: str
    folder: str
    run: Callable[[Path], Iterable[CaseResult]]
    figures: Callable[[SuiteResult], dict[str, float]] | None = None

    def measure(self, data: Path) -> SuiteResult:
        """Run all cases; without data, say so."""
        folder = data / self.folder
        if not folder.is_dir():
            return SuiteResult(self.name, self.language, skipped=f"no folder {self.folder}")
        started = time.perf_counter()
        cases = tuple(self.run(folder))
        result = SuiteResult(self.name, self.language, cases, seconds=time.perf_counter() - started)
        figures = self.figures(result) if self.figures else {}
        return SuiteResult(self.name, self.language, cases, figures, seconds=result.seconds)


def _dotted(style: dotted.Style) -> Callable[[Path], Iterable[CaseResult]]:
    return lambda folder: [
        dotted.score(case, case.relative_to(folder).as_posix(), style) for case in dotted.cases(folder)
    ]


def _tags(language: str) -> Suite:
    return Suite("ctags units", language, "universal-ctags+ctags/Units", tags.suite(language))


def _definitions(language: str, *suffixes: str) -> Suite:
    folder = f"github+stack-graphs/languages/tree-sitter-stack-graphs-{language}/test"
    return Suite("stack-graphs", language, folder, stack_graphs.suite(suffixes), stack_graphs.figures)


_SWARM = "secure-software-engineering+SWARM-CG/benchmarks"
_JCG = "opalj+JCG/jcg_testcases/src/main/resources"

SUITES: tuple[Suite, ...] = (
    Suite("PyCG", "python", "vitsalis+PyCG/micro-benchmark/snippets", _dotted(dotted.PYTHON)),
    Suite(
        "Jarvis",
        "python",
        "pythonJaRvis+pythonJaRvis.github.io/Jarvis/ground_truth/micro_benchmark",
        _dotted(dotted.PYTHON),
    ),
    Suite("SWARM-CG pycg_extended", "python", f"{_SWARM}/python/pycg_extended", _dotted(dotted.PYTHON)),
    Suite("SWARM-CG headergen", "python", f"{_SWARM}/python/headergen", _dotted(dotted.PYTHON)),
    Suite("JCG", "python", f"{_JCG}/python", jcg.run_links),
    Suite("SWARM-CG", "javascript", f"{_SWARM}/javascript/swarm_js", _dotted(dotted.JAVASCRIPT)),
    Suite("js-callgraph", "javascript", "Persper+js-callgraph/tests", js_callgraph.run),
    Suite("JCG", "javascript", f"{_JCG}/js", jcg.run_links),
    Suite("SWARM-CG", "java", f"{_SWARM}/java/cats", swarm_java.run),
    Suite("JCG", "java", f"{_JCG}/java", jcg.run_java),
    Suite("callgraph-benchmark", "rust", "ktrianta+rust-callgraph-benchmark/src", rust_comments.run),
    _definitions("python", ".py"),
    _definitions("javascript", ".js", ".jsx"),
    _definitions("typescript", ".ts", ".tsx"),
    _definitions("java", ".java"),
    *(_tags(language) for language in tags.VOCABULARIES),
)
