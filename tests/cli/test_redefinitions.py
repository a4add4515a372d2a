"""A name that a file defines several times means what it means when the program runs, in every
command.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.cli.asking import Ask

TEA = """from typing import overload
import typing as t


def heat(water): return water


def pour(water): return water


class Kettle:
    @overload
    def boil(self, water: str) -> "Hot": ...

    @t.overload
    def boil(self, water: int) -> int: ...

    def boil(self, water):
        return heat(water)

    @property
    def level(self):
        return pour(self)

    @level.setter
    def level(self, value):
        heat(value)

    def clean(self):
        return pour(self)

    def clean(self):
        return heat(self)


class Hot:
    def drink(self): ...


if t.TYPE_CHECKING:
    def lid(): return pour(1)
else:
    def lid(): return heat(1)


def use(kettle: Kettle):
    kettle.boil("a").drink()
"""
STUBS = """from typing import overload

@overload
def only(x: int) -> int: ...
@overload
def only(x: str) -> str: ...
"""
IMPLEMENTATIONS = {"boil": "heat", "level": "pour", "clean": "heat", "lid": "pour"}


@pytest.fixture
def tea(ask: Ask, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Ask:
    root = tmp_path / "tea"
    root.mkdir()
    (root / "tea.py").write_text(TEA)
    (root / "stubs.pyi").write_text(STUBS)
    monkeypatch.chdir(root)
    return ask


@pytest.mark.parametrize(("name", "callee"), IMPLEMENTATIONS.items())
def test_a_name_means_its_implementation_in_every_spelling(
    tea: Ask, name: str, callee: str
) -> None:
    whole = name if name == "lid" else f"Kettle.{name}"
    for spelling in (name, whole, f"tea.py:{whole}"):
        source = tea("symbol", "get", spelling)
        assert f"{callee}(" in source.out, spelling
        assert source.out.startswith(f"tea.py:{whole} "), spelling
        assert "has other definitions: #2 (line" in source.err, spelling
        assert f"not about them, ask for {whole}#2\n" in source.err, spelling
        assert callee in tea("calls", spelling).out.partition("calls ")[2], spelling
        assert f"{callee}(" in tea("context", spelling).out, spelling
    assert "other definitions" not in tea("symbol", "get", f"{whole}#2").err


def test_a_call_reaches_the_implementation_and_gives_what_its_stubs_declare(tea: Ask) -> None:
    called = tea("symbol", "callees", "use").out
    assert "Kettle.boil" in called
    assert "Kettle.boil#" not in called
    assert "Hot.drink" in called


def test_of_stubs_alone_the_first_has_the_name(tea: Ask) -> None:
    assert "x: int" in tea("symbol", "get", "stubs.pyi:only").out
    assert "x: str" in tea("symbol", "get", "stubs.pyi:only#2").out


def test_everything_is_found_by_name(tea: Ask) -> None:
    found = tea("symbol", "find", "boil").out
    assert [line.split()[0] for line in found.splitlines()] == [
        f"tea.py:Kettle.boil{number}" for number in ("#2", "#3", "")
    ]
