from __future__ import annotations

from pathlib import Path

import pytest
from bench.groundtruth import dotted, jcg, js_callgraph
from bench.groundtruth.java import JavaNames, found_pairs, from_descriptor, parameter_types
from tests.bench.subjects import subject, symbol

from tersely.code.symbols import Kind


@pytest.mark.parametrize(
    ("path", "module"),
    [
        ("main.py", "main"),
        ("pkg/__init__.py", "pkg"),
        ("pkg/sub/mod.py", "pkg.sub.mod"),
        ("__init__.py", "__init__"),
    ],
)
def test_a_file_is_a_dotted_module(path: str, module: str) -> None:
    assert dotted.PYTHON.module(path) == module


def test_edges_to_what_the_case_does_not_define_do_not_count() -> None:
    truth = {
        "main": ["main.f", "<builtin>.len", "ext.g", "main.h"],
        "<builtin>.map": ["main.f"],
        "main.f": [],
    }
    assert dotted.truth_edges(truth, {"main": {"def", "f"}}) == {("main", "main.f")}


def test_calling_a_class_is_calling_its_own_constructor_or_nothing(tmp_path: Path) -> None:
    symbols = [
        symbol("main.py", Kind.MODULE),
        symbol("main.py:A", Kind.CLASS, 1),
        symbol("main.py:A.__init__", Kind.METHOD, 2),
        symbol("main.py:B", Kind.CLASS, 3),
    ]
    case = subject(tmp_path, symbols, [("main.py", "main.py:A", 9), ("main.py", "main.py:B", 9)])
    names = dotted.Names(case, dotted.PYTHON, {"main", "main.A.__init__"})
    assert list(names.edges()) == [("main", "main.A.__init__")]


def test_anonymous_functions_are_numbered_in_their_scope_or_belong_to_it(tmp_path: Path) -> None:
    lines = (
        "run(() => f());",
        "const g = wrap(function () {});",
        "run(() => f());",
        "function f() {}",
    )
    (tmp_path / "main.js").write_text("\n".join(lines))
    symbols = [
        symbol("main.js", Kind.MODULE),
        symbol("main.js:f", Kind.FUNCTION, 4),
        symbol("main.js:<lambda4>", Kind.LAMBDA, 1),
        symbol("main.js:<lambda7>", Kind.LAMBDA, 2),
        symbol("main.js:<lambda9>", Kind.LAMBDA, 3),
    ]
    edges = [
        ("main.js:<lambda4>", "main.js:f", 1),  # the truth does not speak of the first arrow
        ("main.js", "main.js:<lambda7>", 4),  # the truth calls it after its variable
        ("main.js", "main.js:<lambda9>", 4),
    ]
    spoken = {"main", "main.f", "main.g", "main.<arrow3>"}
    names = dotted.Names(subject(tmp_path, symbols, edges), dotted.JAVASCRIPT, spoken)
    assert list(names.edges()) == [
        ("main", "main.f"),
        ("main", "main.g"),
        ("main", "main.<arrow3>"),
    ]


def test_js_callgraph_counts_calls_of_the_program_by_line(tmp_path: Path) -> None:
    assert list(
        js_callgraph.truth_edges("a.js:main:3 -> lib.js:anon:1\na.js:main:4 -> Native\n")
    ) == ["a.js:3 -> lib.js:1"]
    symbols = [
        symbol("a.js", Kind.MODULE),
        symbol("lib.js", Kind.MODULE),
        symbol("lib.js:f", Kind.FUNCTION, 1),
    ]
    case = subject(tmp_path, symbols, [("a.js", "lib.js:f", 3), ("lib.js", "lib.js:f", 2)])
    assert list(js_callgraph.found_edges(case, "a.js")) == ["a.js:3 -> lib.js:1"]


def test_js_callgraph_takes_the_required_files_along(tmp_path: Path) -> None:
    (tmp_path / "a.js").write_text("import { f } from './lib';")
    (tmp_path / "lib.js").write_text("require('deep')")
    (tmp_path / "other.js").write_text("")
    (tmp_path / "deep").mkdir()
    (tmp_path / "deep" / "index.js").write_text("")
    found = js_callgraph.closure(tmp_path / "a.js")
    assert {path.relative_to(tmp_path).as_posix() for path in found} == {
        "a.js",
        "lib.js",
        "deep/index.js",
    }


def test_java_parameters_are_compared_by_simple_type() -> None:
    assert parameter_types("final Map<String, List<int[]>> a, java.lang.String... b") == [
        "Map",
        "String[]",
    ]
    assert parameter_types("@NonNull(value = true) Object a") == ["Object"]
    assert parameter_types("") == []
    assert from_descriptor("Lvc/Outer$Inner;") == "vc.Outer.Inner"


def test_java_overloads_and_unwritten_constructors(tmp_path: Path) -> None:
    (tmp_path / "p").mkdir()
    text = "package p;\nclass A {\nvoid f(int a) {}\nvoid f(String b) {}\n}"
    (tmp_path / "p" / "A.java").write_text(text)
    symbols = [symbol("p/A.java", Kind.MODULE), symbol("p/A.java:A", Kind.CLASS, 2)]
    for name, line in (("p/A.java:A.f", 3), ("p/A.java:A.f#2", 4)):
        start = sum(len(row) + 1 for row in text.split("\n")[: line - 1])
        end = start + len(text.split("\n")[line - 1])
        made = symbol(name, Kind.METHOD, line)
        symbols.append(
            made._replace(name="f", start_byte=start, end_byte=end, signature_end_byte=end)
        )
    names = JavaNames(subject(tmp_path, symbols, []))
    assert names.method("p.A", "f", ["java.lang.String"]) == "p/A.java:A.f#2"
    assert names.method("p.A", "<init>", []) == "p/A.java:A"
    assert names.method("p.A", "g", []) == ""


def test_swarm_java_judges_only_callers_that_the_truth_lists(tmp_path: Path) -> None:
    symbols = [
        symbol("A.java", Kind.MODULE),
        symbol("A.java:A", Kind.CLASS),
        symbol("A.java:A.f", Kind.METHOD, 2),
    ]
    symbols += [symbol("A.java:A.g", Kind.METHOD, 3), symbol("A.java:A.h", Kind.METHOD, 4)]
    edges = [
        ("A.java:A.f", "A.java:A.g", 2),
        ("A.java:A.h", "A.java:A.g", 4),  # not a listed caller
        ("A.java:A.f", "A.java:A", 2),  # a constructor that nobody wrote
    ]
    found = found_pairs(subject(tmp_path, symbols, edges), {"A.java:A.f"}, {"A.java:A.g"})
    assert list(found) == [("A.java:A.f", "A.java:A.g")]


DOCUMENT = """# Virtual
## VC1
[//]: # (MAIN: vc.Class)
```java
// vc/Class.java
package vc;
class Class {
    @DirectCall(name = "run", line = 4, parameterTypes = {int.class},
        resolvedTargets = "Lvc/Sub;", prohibitedTargets = {"Lvc/Class;"})
    void go(Sub s) { s.run(1); }
}
```
[//]: # (END)
## VC2
[//]: # (LIBRARY)
```java
// vc/Other.java
class Other { }
```
[//]: # (END)
"""


def test_jcg_documents_hold_programs_and_demands(tmp_path: Path) -> None:
    (tmp_path / "Virtual.md").write_text(DOCUMENT)
    first, second = jcg.projects(tmp_path)
    assert list(first.files) == ["vc/Class.java"]
    assert second.files == {"vc/Other.java": "class Other { }\n"}
    (demand,) = jcg.demands(first.files)
    assert (demand.name, demand.line, demand.direct, demand.parameters) == (
        "run",
        4,
        True,
        ("int",),
    )
    assert (demand.resolved, demand.prohibited) == (("Lvc/Sub;",), ("Lvc/Class;",))
