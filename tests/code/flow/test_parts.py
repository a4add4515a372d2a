"""A routine that is read alone is what it is when all of its file is read."""

from __future__ import annotations

from pathlib import Path

import pytest

import tersely
from tersely.code.engine import Engine
from tersely.code.flow.effects import with_effects
from tersely.code.flow.lines import routine_at
from tersely.code.languages.registry import LANGUAGES
from tersely.code.routines import Routine, Routines
from tersely.code.symbols import Kind
from tersely.code.syntax.cfg.read import read_routines

CHANGES = """import shelf

def put(jar, tea):
    jar.append(tea)

class Pantry:
    def fill(self, jar):
        put(jar, 1)
        self.seen = [one for one in jar]
        def again():
            pour(jar)
        again()
        shelf.store(jar)
        return jar

    def other(self):
        import jar
        return jar

def put(jar, tea):
    pour(jar)

def pour(jar):
    jar.clear()

def idle(jar):
    return put

class Tree:
    def size(self, node):
        return self.sum(node.children)

    def sum(self, nodes):
        return sum(self.size(node) for node in nodes)
"""
FILES = ("code/flow/slicing.py", "code/flow/effects.py", "capabilities/invoke.py")


def read(text: bytes, language: str, lines: range | None = None) -> Routines:
    return with_effects(read_routines(text, LANGUAGES[language], lines))


def placed(routine: Routine) -> Routine:
    return routine._replace(parent=-1)  # counted among those that were read


@pytest.mark.parametrize(
    "text", [CHANGES, *((Path(tersely.__file__).parent / file).read_text() for file in FILES)]
)
def test_each_function_is_the_same_when_only_its_lines_are_wanted(text: str) -> None:
    source = text.encode()
    whole = read(source, "python")
    for line in range(1, source.count(b"\n") + 1):
        wanted = whole.routines[routine_at(whole, line)]
        part = read(source, "python", range(line, line + 1))
        found = part.routines[routine_at(part, line)]
        assert (found.kind, found.name) == (wanted.kind, wanted.name)
        if wanted.kind == "function":
            assert placed(found) == placed(wanted)


def test_callbacks_share_the_variables_of_the_module_when_read_alone() -> None:
    text = (
        b"let total = 0\nfunction other() { return 1 }\n"
        b"each(items, (item) => {\n  total += item\n  note(total)\n})\n"
    )
    whole, part = read(text, "javascript"), read(text, "javascript", range(4, 5))
    assert len(part.routines) < len(whole.routines)
    assert placed(part.routines[routine_at(part, 4)]) == placed(
        whole.routines[routine_at(whole, 4)]
    )


def test_functions_that_are_not_called_are_passed_by() -> None:
    part = read(CHANGES.encode(), "python", range(8, 9)).routines
    names = {routine.name for routine in part if routine.kind == "function"}
    assert names >= {"Pantry.fill", "put", "pour"}
    assert names.isdisjoint({"Pantry.other", "idle"})


def test_classes_and_modules_are_read_whole(tmp_path: Path) -> None:
    (tmp_path / "pantry.py").write_text(CHANGES, "utf-8")
    with Engine.open(tmp_path) as engine:
        engine.refresh()
        everything = engine.flow.routines("pantry.py", "python")
        for symbol in (engine.symbol("Pantry"), engine.symbol("pantry.py", Kind.MODULE)):
            assert engine.flow.of_symbol(symbol)[0] == everything
        assert engine.flow.at_line("pantry.py", "python", 6) == (
            everything,
            routine_at(everything, 6),
        )


def test_what_a_step_reads_through_functions_has_the_order_of_the_text() -> None:
    variables, functions = "abcdef", [f"of_{name}" for name in "abcdef"]
    defined = "".join(f"    def of_{name}():\n        return {name}\n" for name in variables)
    text = f"def all_of({', '.join(variables)}):\n{defined}    return {', '.join(functions)}\n"
    routine = read(text.encode(), "python").routines[1]
    assert [path[0] for path in routine.points[-1].reads] == [*functions, *variables]
