"""Every suite, in the order in which they are reported. Adding one is adding a value here."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

from bench.groundtruth import (
    coverage_reports,
    dotted,
    jcg,
    js_callgraph,
    json_patches,
    oracle,
    oracle_tsserver,
    oracle_ty,
    patches,
    quixbugs,
    stack_graphs,
    swarm_java,
    tags,
    untrusted,
)
from bench.groundtruth.flow import coverage_arcs, program_analysis, python_graphs, radon_numbers
from bench.groundtruth.score import CaseResult, SuiteResult
from tersely.code.languages.registry import LANGUAGES


@dataclass(frozen=True, slots=True)
class Suite:
    """One body of truth. `folder` is where its cases lie below the data folder; its first part names the clone."""

    name: str
    language: str
    folder: str
    run: Callable[[Path, Path], Iterable[CaseResult]]  # folder, cache
    figures: Callable[[SuiteResult], dict[str, float]] | None = None
    unable: Callable[[Path], str] | None = None  # why it cannot run on this machine, with what is cached

    def measure(self, data: Path, cache: Path) -> SuiteResult:
        """Run all cases; without data or tool, say so. `cache` is where slow checkers' answers are kept."""
        folder = data / self.folder
        if reason := self._unable(folder, cache):
            return SuiteResult(self.name, self.language, skipped=reason)
        started = time.perf_counter()
        cases = tuple(self.run(folder, cache))
        result = SuiteResult(self.name, self.language, cases, seconds=time.perf_counter() - started)
        figures = self.figures(result) if self.figures else {}
        return SuiteResult(self.name, self.language, cases, figures, seconds=result.seconds)

    def _unable(self, folder: Path, cache: Path) -> str:
        if self.language not in {*LANGUAGES, ANY}:
            return "not a language of ours"
        if not folder.is_dir():
            return f"no folder {self.folder}"
        return self.unable(cache) if self.unable else ""


def _plain(
    name: str, language: str, folder: str, run: Callable[[Path], Iterable[CaseResult]],
    figures: Callable[[SuiteResult], dict[str, float]] | None = None,
) -> Suite:  # fmt: skip
    return Suite(name, language, folder, lambda cases, _: run(cases), figures)


def _dotted(name: str, folder: str, style: dotted.Style, language: str = "python") -> Suite:
    return _plain(name, language, folder, dotted.run(style))


def _tags(language: str) -> Suite:
    return _plain("ctags units", language, "universal-ctags+ctags/Units", tags.suite(language))


def _definitions(language: str, *suffixes: str) -> Suite:
    folder = f"github+stack-graphs/languages/tree-sitter-stack-graphs-{language}/test"
    return _plain("stack-graphs", language, folder, stack_graphs.suite(suffixes), stack_graphs.figures)


def _callers(name: str, language: str, folder: str, known: oracle.Oracle, needs: str, has: Callable[[], bool]) -> Suite:
    def unable(cache: Path) -> str:
        return "" if has() or (cache / f"{known.name}.json").is_file() else needs

    return Suite(name, language, folder, known.run, unable=unable)


def _no_radon(cache: Path) -> str:
    return "" if radon_numbers.installed() else "no radon (pip install radon)"


ANY = "any"  # what is read is no code
_SWARM = "secure-software-engineering+SWARM-CG/benchmarks"
_JCG = "opalj+JCG/jcg_testcases/src/main/resources"
_JARVIS = dotted.run(dotted.PYTHON, "dataset/micro_benchmark", "ground_truth/micro_benchmark")
_DJANGO = oracle.Oracle("ty-django", "django/", oracle_ty.targets, oracle_ty.asking)
_VITE = oracle.Oracle(
    "tsserver-vite", "packages/vite/src/", oracle_tsserver.targets, oracle_tsserver.asking,
    oracle_tsserver.UNREAD, oracle_tsserver.has_item,
)  # fmt: skip

SUITES: tuple[Suite, ...] = (
    _dotted("PyCG", "vitsalis+PyCG/micro-benchmark/snippets", dotted.PYTHON),
    _plain("Jarvis", "python", "pythonJaRvis+pythonJaRvis.github.io/Jarvis", _JARVIS),
    _dotted("SWARM-CG pycg_extended", f"{_SWARM}/python/pycg_extended", dotted.PYTHON),
    _dotted("SWARM-CG headergen", f"{_SWARM}/python/headergen", dotted.PYTHON),
    _plain("JCG", "python", f"{_JCG}/python", jcg.run_links),
    _dotted("SWARM-CG", f"{_SWARM}/javascript/swarm_js", dotted.JAVASCRIPT, "javascript"),
    _plain("js-callgraph", "javascript", "Persper+js-callgraph/tests", js_callgraph.run),
    _plain("JCG", "javascript", f"{_JCG}/js", jcg.run_links),
    _plain("SWARM-CG", "java", f"{_SWARM}/java/cats", swarm_java.run),
    _plain("JCG", "java", f"{_JCG}/java", jcg.run_java),
    _callers("callers: ty on Django", "python", "django", _DJANGO, "no `ty` ($TY)", oracle_ty.available),
    _callers(
        "callers: tsserver on Vite", "typescript", "vitejs+vite", _VITE, "no $TSSERVER", oracle_tsserver.available
    ),
    _definitions("python", ".py"),
    _definitions("javascript", ".js", ".jsx"),
    _definitions("typescript", ".ts", ".tsx"),
    _definitions("java", ".java"),
    *(_tags(language) for language in tags.VOCABULARIES),
    _plain("patches: git apply", ANY, "unidiff", patches.run),
    _plain("relay: JSON Patch", ANY, "json-patch-tests", json_patches.run),
    _plain("relay: benign texts", ANY, "injection", untrusted.run_benign),
    _plain("relay: attacks", ANY, "injection", untrusted.run_attacks),
    _plain("coverage: reports", ANY, "coverage-formats", coverage_reports.run),
    Suite("coverage: QuixBugs", "python", "jkoppel+QuixBugs", quixbugs.run, quixbugs.figures, quixbugs.unable),
    _plain("flow: coverage.py arcs", "python", "coveragepy-arcs", coverage_arcs.run, coverage_arcs.figures),
    _plain("flow: program-analysis", "python", "microsoft+python-program-analysis/src/test", program_analysis.run),
    _plain("flow: python-graphs", "python", "google-research+python-graphs/python_graphs", python_graphs.run),
    _plain("complexity: radon's tests", "python", "rubik+radon/radon/tests", radon_numbers.run_table),
    Suite(
        "complexity: radon on Django",
        "python",
        "django",
        lambda tree, _: radon_numbers.run_tree(tree),
        unable=_no_radon,
    ),
)
