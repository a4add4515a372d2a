"""Plain values: what `dataclasses` makes of a class is what our own maker makes of it."""

from __future__ import annotations

import copy
import dataclasses
import pickle
from functools import cached_property
from typing import Any, ClassVar

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tersely.foundation.types import by_name, entity, field, fields, frozen, record, replace


@frozen
class Point:
    x: int
    y: int = 2
    names: tuple[str, ...] = field(default=("a",), metadata={"told": 1})
    AXES: ClassVar[int] = 2

    def length(self) -> int:
        return self.x + self.y


@frozen
class Place(Point):
    y: int = 5
    kept: dict[str, int] = field(default_factory=dict, repr=False)


@record
class Tally:
    of: str
    seen: list[int] = field(default_factory=list)
    total: int = field(init=False, default=7)


@dataclasses.dataclass(slots=True)
class StandardTally:
    of: str
    seen: list[int] = dataclasses.field(default_factory=list)
    total: int = dataclasses.field(init=False, default=7)


@entity
class Worker:
    __slots__ = ("__dict__",)
    name: str

    @cached_property
    def tasks(self) -> list[str]:
        return [self.name]


@given(st.integers(), st.integers())
def test_values_are_equal_by_their_fields(x: int, y: int) -> None:
    assert Point(x, y) == Point(x=x, y=y)
    assert hash(Point(x, y)) == hash(Point(x, y))
    assert (Point(x, y) == Point(y, x)) is (x == y)
    assert Point(x, 5) != Place(x)
    assert len({Point(x), Point(x), Point(x + 1)}) == 2


def test_what_is_no_field_is_as_it_was() -> None:
    point: Any = Point(1)
    with pytest.raises(AttributeError):
        point.other = 2
    assert (point.x, point.length(), Point.AXES) == (1, 3, 2)


def test_fields_are_inherited_in_order_and_changed_in_place() -> None:
    assert [one.name for one in fields(Place)] == ["x", "y", "names", "kept"]
    assert repr(Place(1)) == "Place(x=1, y=5, names=('a',))"
    assert replace(Place(1), names=()) == Place(1, 5, (), {})
    assert Place(1).kept is not Place(1).kept
    match Place(3):
        case Place(x, y):
            assert (x, y) == (3, 5)


def test_a_record_is_what_dataclasses_make() -> None:
    ours: Any = Tally("a")
    standard: Any = StandardTally("a")
    for one in (ours, standard):
        one.seen.append(1)
        one.total += 1
    assert repr(ours) == repr(standard).removeprefix("Standard")
    assert by_name(ours) == dataclasses.asdict(standard) == dataclasses.asdict(ours)
    assert ours.total == 8
    assert ours != Tally("a", [1])
    for one in (Tally, StandardTally):
        with pytest.raises(TypeError):
            one()  # type: ignore[call-arg]
        with pytest.raises(TypeError):
            hash(one("a"))


def test_an_entity_is_equal_to_itself_alone() -> None:
    worker = Worker("a")
    assert worker != Worker("a")
    assert {worker: 1}[worker] == 1
    assert worker.tasks is worker.tasks


@pytest.mark.parametrize("value", [Point(1), Place(2, kept={"a": 1}), Tally("x", [2])])
def test_values_are_copied_and_sent(value: Any) -> None:
    assert pickle.loads(pickle.dumps(value)) == value
    assert copy.deepcopy(value) == value == copy.copy(value)


def test_dataclasses_takes_them_for_its_own() -> None:
    assert dataclasses.is_dataclass(Point)
    assert dataclasses.replace(Point(1), y=3) == Point(1, 3)
    assert [one.metadata for one in dataclasses.fields(Point)] == [{}, {}, {"told": 1}]


def test_the_first_object_may_be_made_twice_at_once() -> None:
    @frozen
    class Fresh:
        of: int

    before: Any = Fresh.__init__
    assert Fresh(1).of == 1
    other = Fresh.__new__(Fresh)
    before(other, 2)  # by a thread that was about to make the first
    assert other == Fresh(2)
