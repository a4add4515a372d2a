"""Fields that calling a class of Python is given: data classes, named tuples, models."""

from __future__ import annotations

from pathlib import Path

from tests.code.languages.checks import check

SOURCE = """\
from dataclasses import dataclass, field
from typing import Any, Callable, ClassVar, NamedTuple
from attrs import define
from pydantic import BaseModel
def f(): pass
def g(): pass
def h(): pass
def k(): pass
class A:
    def m(self): pass
@dataclass
class Handler:
    name: str
    kind: ClassVar[str] = "a"
    made: list = field(init=False)
    on_done: Callable[[], None]
    on_fail: Callable[[], None] | None = None
    def run(self): self.on_done()
@dataclass
class Below(Handler):
    extra: Callable[[], None] = None
class Row(NamedTuple):
    key: str
    action: Callable[[], None]
class Model(BaseModel):
    check: Callable[[], None]
@define
class Plain:
    value: Any
class Own:
    call: Any
    def __init__(self, number, call): self.number = number
def keyword(): Handler(name="x", on_done=f).on_done()
def place(): Handler("x", f, g).on_fail()
def inherited(): Below("x", f, g, h).extra()
def by_row(): Row("a", k).action()
def by_model(): Model(check=h).check()
def by_value(): Plain(A()).value.m()
def not_given(): Own(g, 1).call()
"""


def test_a_field_holds_what_calling_its_class_is_given(tmp_path: Path) -> None:
    check(
        tmp_path,
        {"a.py": SOURCE},
        edges=[
            "a.py:Handler.run -> a.py:f exact",
            "a.py:keyword -> a.py:f inferred",
            "a.py:place -> a.py:g inferred",
            "a.py:inherited -> a.py:h inferred",
            "a.py:by_row -> a.py:k inferred",
            "a.py:by_model -> a.py:h inferred",
            "a.py:by_value -> a.py:A.m inferred",
        ],
        absent=[
            "a.py:Handler.run -> a.py:g",
            "a.py:place -> a.py:f",
            "a.py:inherited -> a.py:g",
            "a.py:not_given -> a.py:g",
        ],
    )


def test_a_function_is_called_through_a_field_in_another_file(tmp_path: Path) -> None:
    classes = """\
from dataclasses import dataclass
@dataclass
class Hook:
    action: object
    def run(self): self.action()
"""
    user = """\
from hooks import Hook
def f(): pass
def make(): return Hook(action=f)
"""
    check(
        tmp_path,
        {"hooks.py": classes, "user.py": user},
        edges=["hooks.py:Hook.run -> user.py:f exact"],
    )
