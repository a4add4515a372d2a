"""A question for every command and tool, about the repository that `repository.make` writes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

# By capability: what a command is given, and the same for a tool.
QUESTIONS: Mapping[str, tuple[tuple[str, ...], dict[str, Any]]] = {
    "code.tree": ((), {}),
    "code.structure": ((), {}),
    "code.extract": (
        ("encodings/escapes.py", "--docs"),
        {"path": "encodings/escapes.py", "docs": True},
    ),
    "code.imports": (("ring/r1.py",), {"file": "ring/r1.py"}),
    "code.importers": (("ring.me",), {"module": "ring.me"}),
    "code.symbol.find": (("*",), {"queries": ["*"]}),
    "code.symbol.get": (
        ("encodings/escapes.py:escapes",),
        {"symbol": "encodings/escapes.py:escapes"},
    ),
    "code.symbol.slice": (("wide_1000",), {"symbols": ["wide_1000"]}),
    "code.symbol.deps": (("ring/r1.py:C1",), {"symbol": "ring/r1.py:C1"}),
    "code.symbol.references": (("ring/r1.py:C1",), {"symbol": "ring/r1.py:C1"}),
    "code.definition": (("ring/r1.py:5:36",), {"place": "ring/r1.py:5:36"}),
    "code.calls": (
        ("ring/r1.py:C1.step", "--callers"),
        {"symbol": "ring/r1.py:C1.step", "direction": "callers"},
    ),
    "code.impact": (("wide_2000", "--depth", "50"), {"symbol": "wide_2000", "depth": 50}),
    "code.change_impact": ((), {}),
    "code.conflicts": ((), {}),
    "code.breaks": ((), {}),
    "code.enclosing": (("ring/r1.py:5",), {"places": ["ring/r1.py:5"]}),
    "code.cfg": (("calls.py:deep",), {"symbol": "calls.py:deep"}),
    "code.dfg": (("ring/me.py:again",), {"symbol": "ring/me.py:again"}),
    "code.slice": (("wide.py:1000",), {"place": "wide.py:1000"}),
    "code.complexity": ((), {}),
    "code.search": (("who runs escapes",), {"query": ["who runs escapes"]}),
    "code.duplicates": ((), {}),
    "code.map": ((), {}),
    "code.packet": (
        ("wide_1000 is wrong", "--min-confidence", "0"),
        {"task": "wide_1000 is wrong"},
    ),
    "code.diff_context": ((), {}),
    "code.plan": (
        ("why", "does", "wide_1000", "fail"),
        {"task": ["why", "does", "wide_1000", "fail"]},
    ),
    "code.dead": ((), {}),
    "code.cycles": (("--calls",), {"of": "calls"}),
    "code.context": (("wide_1000", "ring/r1.py:C1"), {"symbols": ["wide_1000", "ring/r1.py:C1"]}),
    "code.coverage.context": (("--coverage-file", "lcov.info"), {"coverage_file": "lcov.info"}),
    "code.coverage.files": (("--coverage-file", "lcov.info"), {"coverage_file": "lcov.info"}),
    "code.coverage.slice": (
        ("wide.py", "--coverage-file", "lcov.info"),
        {"file": "wide.py", "coverage_file": "lcov.info"},
    ),
    "code.index": (("--report",), {"report": True}),
    "code.stats": ((), {}),
}

# Odd ones, to be refused or answered with a word.
ODD = (
    ("extract", "links/file.py"), ("extract", "links/folder/secret.py"), ("extract", "../outside/secret.py"),
    ("extract", "/etc/passwd"), ("extract", "pipe.py"), ("extract", "links/zero.py"), ("imports", "huge.py"),
    ("structure", "names"), ("structure", "names/\x1b[31m"), ("tree", "d"), ("symbol", "find", "run"),
    ("symbol", "get", "run"), ("slice", "encodings/returns.py:2"), ("slice", "links/up.py:1"),
    ("cfg", "parentheses.py"), ("cfg", "blocks.js:deep"),
    ("context", "wide_1", "--include", "../outside/secret.py"), ("context", "wide_1", "--include", "links/file.py"),
    ("context", "wide_1", "--include", "pipe.py"), ("coverage-context", "--coverage-file", "second/lcov.info"),
    ("coverage-context", "--coverage-file", "pipe.py"), ("diff-context", "--base=--output=x"),
    ("diff-context", "--base", "HEAD;touch x"), ("search", "/(a+)+$/"), ("search", "/(.*a){25}/"),
    ("change-impact", "../outside/secret.py"), ("enclosing", "../outside/secret.py:1"),
    ("enclosing", "links/file.py:1"),
)  # fmt: skip
