"""Every suite, in the order in which they are reported. Adding one is adding a value here."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from bench.groundtruth import (
    compiler,
    coverage_reports,
    dotted,
    java,
    jcg,
    js_callgraph,
    json_patches,
    patches,
    stack_graphs,
    tags,
    untrusted,
)
from bench.groundtruth.flow import coverage_arcs, program_analysis, python_graphs, radon_numbers
from bench.groundtruth.score import CaseResult, SuiteResult
from tersely.code.languages.registry import LANGUAGES


@dataclass(frozen=True, slots=True)
class Suite:
    """One body of truth. `folder` is where its cases lie below the data folder; its first part
    names the clone.
    """

    name: str
    language: str
    folder: str
    run: Callable[[Path], Iterable[CaseResult]]
    figures: Callable[[SuiteResult], dict[str, float]] | None = None

    def measure(self, data: Path) -> SuiteResult:
        """Run all cases; without data, say so."""
        if self.language not in {*LANGUAGES, ANY}:
            return SuiteResult(self.name, self.language, skipped="not a language of ours")
        if not (data / self.folder).is_dir():
            return SuiteResult(self.name, self.language, skipped=f"no folder {self.folder}")
        started = time.perf_counter()
        cases = tuple(self.run(data / self.folder))
        result = SuiteResult(self.name, self.language, cases, seconds=time.perf_counter() - started)
        return replace(result, figures=self.figures(result)) if self.figures else result


def _definitions(language: str, *suffixes: str) -> Suite:
    folder = f"github+stack-graphs/languages/tree-sitter-stack-graphs-{language}/test"
    return Suite(
        "stack-graphs", language, folder, stack_graphs.suite(suffixes), stack_graphs.figures
    )


ANY = "any"  # what is read is no code
PYTHON = "python"
JAVASCRIPT = "javascript"
TYPESCRIPT = "typescript"
JAVA = "java"
_SWARM = "secure-software-engineering+SWARM-CG/benchmarks"
_JCG = "opalj+JCG/jcg_testcases/src/main/resources"
_CTAGS = "universal-ctags+ctags/Units"
_PYCG = dotted.run(dotted.PYTHON)
_JARVIS = dotted.run(dotted.PYTHON, "dataset/micro_benchmark", "ground_truth/micro_benchmark")

SUITES: tuple[Suite, ...] = (
    Suite("PyCG", PYTHON, "vitsalis+PyCG/micro-benchmark/snippets", _PYCG),
    Suite("Jarvis", PYTHON, "pythonJaRvis+pythonJaRvis.github.io/Jarvis", _JARVIS),
    Suite("SWARM-CG pycg_extended", PYTHON, f"{_SWARM}/python/pycg_extended", _PYCG),
    Suite("SWARM-CG headergen", PYTHON, f"{_SWARM}/python/headergen", _PYCG),
    Suite("SWARM-CG", JAVASCRIPT, f"{_SWARM}/javascript/swarm_js", dotted.run(dotted.JAVASCRIPT)),
    Suite("js-callgraph", JAVASCRIPT, "Persper+js-callgraph/tests", js_callgraph.run),
    Suite("SWARM-CG", JAVA, f"{_SWARM}/java/cats", java.run_swarm),
    Suite("JCG", JAVA, f"{_JCG}/java", jcg.run_java),
    _definitions(PYTHON, ".py"),
    _definitions(JAVASCRIPT, ".js", ".jsx"),
    _definitions(TYPESCRIPT, ".ts", ".tsx"),
    _definitions(JAVA, ".java"),
    Suite("compiler: scip-python", PYTHON, "scip-python", partial(compiler.run, (PYTHON,))),
    Suite(
        "compiler: scip-typescript",
        TYPESCRIPT,
        "scip-typescript",
        partial(compiler.run, (TYPESCRIPT, "tsx")),
    ),
    *(
        Suite("ctags units", language, _CTAGS, tags.suite(language))
        for language in tags.VOCABULARIES
    ),
    Suite("patches: git apply", ANY, "unidiff", patches.run),
    Suite("relay: JSON Patch", ANY, "json-patch-tests", json_patches.run),
    Suite("relay: benign texts", ANY, "injection", untrusted.run_benign),
    Suite("relay: attacks", ANY, "injection", untrusted.run_attacks),
    Suite("coverage: reports", ANY, "coverage-formats", coverage_reports.run),
    Suite(
        "flow: coverage.py arcs",
        PYTHON,
        "coveragepy-arcs",
        coverage_arcs.run,
        coverage_arcs.figures,
    ),
    Suite(
        "flow: program-analysis",
        PYTHON,
        "microsoft+python-program-analysis/src/test",
        program_analysis.run,
    ),
    Suite(
        "flow: python-graphs",
        PYTHON,
        "google-research+python-graphs/python_graphs",
        python_graphs.run,
    ),
    Suite("complexity: radon's tests", PYTHON, "rubik+radon/radon/tests", radon_numbers.run),
)
