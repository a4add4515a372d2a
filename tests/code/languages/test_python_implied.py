"""What Python calls without a call being written, and what texts name."""

from __future__ import annotations

from pathlib import Path

from tests.code.languages.checks import check

FORMATTED = """\
class Plain:
    def __repr__(self): return "a"
class Text:
    def __str__(self): return "a"
    def __repr__(self): return "b"
class Own:
    def __format__(self, how): return "a"
    def __str__(self): return "b"
def plain(): return f"{Plain()}"
def text(): return f"{Text():>8}"
def own(): return f"{Own()}"
def shown(): return f"{Text()!r} {Own()!s}"
def called(): return format(Text())
"""


def test_putting_an_object_into_a_text_asks_it_for_a_text(tmp_path: Path) -> None:
    check(
        tmp_path,
        {"a.py": FORMATTED},
        edges=[
            "a.py:plain -> a.py:Plain.__repr__ inferred",
            "a.py:text -> a.py:Text.__str__ inferred",
            "a.py:own -> a.py:Own.__format__ inferred",
            "a.py:shown -> a.py:Text.__repr__ inferred",
            "a.py:shown -> a.py:Own.__str__ inferred",
            "a.py:called -> a.py:Text.__str__ inferred",
        ],
        absent=[
            "a.py:text -> a.py:Text.__repr__ inferred",
            "a.py:own -> a.py:Own.__str__ inferred",
        ],
    )


ENUMERATION = """\
import enum
from enum import IntFlag
class Level(enum.Enum):
    LOW = 1
    def mark(self): return self.value
class Right(IntFlag):
    READ = 1
    @property
    def text(self): return "r"
def called(level=Level.LOW): return level.mark()
def read(): return Right.READ.text
"""


def test_constants_of_an_enumeration_are_its_instances(tmp_path: Path) -> None:
    check(
        tmp_path,
        {"a.py": ENUMERATION},
        edges=[
            "a.py:called -> a.py:Level.mark inferred",
            "a.py:read -> a.py:Right.text inferred",
        ],
    )


NAMED = """\
class A:
    @property
    def size(self): return 1
    def go(self): pass
def other(): return A()
def read(a: A): return getattr(a, "size", 0)
def fallen_back(x): getattr(x, "made", other)().go()
"""


def test_a_member_that_a_text_names_is_read(tmp_path: Path) -> None:
    check(
        tmp_path,
        {"a.py": NAMED},
        edges=[
            "a.py:read -> a.py:A.size inferred",
            "a.py:fallen_back -> a.py:A.go inferred",
        ],
    )


KEYS = """\
class A:
    def rank(self): return 1
def by_rank(a): return a.rank()
def f(items: list[A]):
    sorted(items, key=lambda a: a.rank())
def g(items: list[A]): max(items, key=by_rank)
def h(items: list[A]): list(map(lambda a: a.rank(), items))
"""


def test_functions_that_give_a_key_are_given_elements(tmp_path: Path) -> None:
    check(
        tmp_path,
        {"a.py": KEYS},
        edges=[
            "a.py:f -> a.py:A.rank inferred",
            "a.py:g -> a.py:by_rank exact",
            "a.py:by_rank -> a.py:A.rank inferred",
            "a.py:h -> a.py:A.rank inferred",
        ],
    )


DECLARED = """\
import typing as t
class A:
    def go(self): pass
class B:
    def go(self): pass
class Holder:
    made: t.Type["A"]
    either: type["A | B"]
    def f(self): self.made().go()
    def g(self): self.either().go()
def cast(x): t.cast(t.Type["A"], x)().go()
"""


def test_a_class_is_declared_in_a_string_inside_of_a_type(tmp_path: Path) -> None:
    check(
        tmp_path,
        {"a.py": DECLARED},
        edges=[
            "a.py:Holder.f -> a.py:A.go inferred",
            "a.py:Holder.g -> a.py:A.go inferred",
            "a.py:Holder.g -> a.py:B.go inferred",
            "a.py:cast -> a.py:A.go inferred",
        ],
        absent=["a.py:Holder.f -> a.py:B.go inferred"],
    )


WRAPPED = """\
from functools import update_wrapper
def alone(): pass
class A:
    named = staticmethod(alone)
def f(): A.named()
def counted(function):
    def counting(*given): return function(*given)
    return update_wrapper(counting, function)
@counted
def g(): pass
def h(): g()
"""


def test_what_wraps_a_function_is_called_in_its_place(tmp_path: Path) -> None:
    check(
        tmp_path,
        {"a.py": WRAPPED},
        edges=[
            "a.py:f -> a.py:alone exact",
            "a.py:h -> a.py:counted.counting exact",
        ],
    )


NARROWED = """\
class A:
    def m(self): pass
class B:
    def m(self): pass
class Holder:
    def __init__(self, x): self.x = x
    def inside(self):
        if isinstance(self.x, A): self.x.m()
    def behind(self):
        if not isinstance(self.x, A): return
        self.x.m()
    def anew(self):
        if isinstance(self.x, A):
            self.x = B()
            self.x.m()
"""


def test_conditions_tell_what_a_member_is_an_instance_of(tmp_path: Path) -> None:
    check(
        tmp_path,
        {"a.py": NARROWED},
        edges=[
            "a.py:Holder.inside -> a.py:A.m inferred",
            "a.py:Holder.behind -> a.py:A.m inferred",
            "a.py:Holder.anew -> a.py:B.m inferred",
        ],
        absent=["a.py:Holder.inside -> a.py:B.m inferred"],
    )
