"""Calls on the receiver reach what classes below have in place of its own."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent

from tests.code.languages.checks import check

from tersely.code.engine import Engine

BASE = """\
class Base:
    def run(self):
        self.step()
        self.only()
        with self:
            return self.size

    def step(self): ...
    def only(self): ...
    def __enter__(self): ...

    @property
    def size(self): ...


class Mixin:
    def go(self):
        self.other()
        super().close()
"""

BELOW = """\
from base import Base, Mixin


class Child(Base):
    def step(self):
        super().step()

    def __enter__(self): ...

    @property
    def size(self): ...


class Side:
    def other(self): ...
    def close(self): ...


class Both(Mixin, Side): ...


class Unrelated:
    def step(self): ...
    def other(self): ...
"""


def test_a_call_on_self_reaches_overrides_and_siblings(tmp_path: Path) -> None:
    check(
        tmp_path,
        {"base.py": BASE, "below.py": BELOW},
        edges=[
            "base.py:Base.run -> base.py:Base.step exact",
            "base.py:Base.run -> below.py:Child.step inferred",
            "base.py:Base.run -> base.py:Base.only exact",
            "base.py:Base.run -> below.py:Child.__enter__ inferred",
            "base.py:Base.run -> below.py:Child.size inferred",
            "base.py:Mixin.go -> below.py:Side.other inferred",
            "base.py:Mixin.go -> below.py:Side.close inferred",
            "below.py:Child.step -> base.py:Base.step exact",
        ],
        absent=[
            "base.py:Base.run -> below.py:Unrelated.step",
            "base.py:Mixin.go -> below.py:Unrelated.other",
        ],
    )
    with Engine.open(tmp_path) as engine:
        callers = {name: [edge.caller for edge in engine.graph.callers(name)] for name in OVERRIDES}
    assert callers == OVERRIDES


OVERRIDES = {
    "below.py:Child.step": ["base.py:Base.run"],
    "below.py:Child.size": ["base.py:Base.run"],
    "below.py:Side.other": ["base.py:Mixin.go"],
    "below.py:Side.close": ["base.py:Mixin.go"],
}


def test_the_class_of_the_receiver_may_be_one_below(tmp_path: Path) -> None:
    check(
        tmp_path,
        {
            "kinds.py": dedent(
                """\
                class Kind:
                    @classmethod
                    def make(cls):
                        cls.prepare()
                        return cls()

                    @classmethod
                    def prepare(cls): ...


                class Special(Kind):
                    def __init__(self): ...

                    @classmethod
                    def prepare(cls): ...

                    def again(self):
                        return self.__class__()

                    def another(self):
                        return type(self)()


                class Other:
                    def __init__(self): ...
                """
            )
        },
        edges=[
            "kinds.py:Kind.make -> kinds.py:Special.prepare inferred",
            "kinds.py:Kind.make -> kinds.py:Special.__init__ inferred",
            "kinds.py:Special.again -> kinds.py:Special.__init__ exact",
            "kinds.py:Special.another -> kinds.py:Special.__init__ inferred",
        ],
        absent=["kinds.py:Kind.make -> kinds.py:Other.__init__"],
    )
    with Engine.open(tmp_path) as engine:
        found = {edge.caller for edge in engine.graph.callers("kinds.py:Special.__init__")}
    assert found == {"kinds.py:Kind.make", "kinds.py:Special.again", "kinds.py:Special.another"}


def test_a_base_with_very_many_classes_below_still_reaches_each(tmp_path: Path) -> None:
    classes = "".join(f"class C{number}(Base):\n    def step(self): ...\n" for number in range(150))
    text = f"class Base:\n    def run(self):\n        self.step()\n\n    def step(self): ...\n\n\n{classes}"
    (tmp_path / "many.py").write_text(text, encoding="utf-8")
    with Engine.open(tmp_path) as engine:
        engine.refresh()
        assert len(engine.graph.callees("many.py:Base.run")) == 151
        assert [edge.caller for edge in engine.graph.callers("many.py:C149.step")] == [
            "many.py:Base.run"
        ]


KEPT = """\
class Base:
    def __init__(self, step=None):
        self.function = self.step if step is None else step
    def step(self): ...
    def run(self): self.function()
class Child(Base):
    def step(self): ...
"""


def test_a_method_that_is_kept_may_be_that_of_a_class_below(tmp_path: Path) -> None:
    check(
        tmp_path,
        {"a.py": KEPT},
        edges=[
            "a.py:Base.run -> a.py:Base.step exact",
            "a.py:Base.run -> a.py:Child.step exact",
        ],
    )


CALLED = """\
from typing import Protocol, TYPE_CHECKING
class Client:
    def get(self): ...
if TYPE_CHECKING:
    class Factory(Protocol):
        def __call__(self, app: str) -> Client: ...
else:
    class Factory: ...
def make(app): return Client()
def factory() -> Factory: return make
def taking(build: Factory): build("a")
def given(): taking(make)
def called(): factory()("a").get()
"""


def test_what_a_protocol_tells_to_be_called_is_what_is_passed(tmp_path: Path) -> None:
    check(
        tmp_path,
        {"a.py": CALLED},
        edges=[
            "a.py:taking -> a.py:make inferred",
            "a.py:called -> a.py:make inferred",
            "a.py:called -> a.py:Client.get inferred",
        ],
    )


READ = """\
class Above:
    @property
    def size(self): ...
class Below(Above):
    @property
    def size(self):
        return super().size
"""


def test_a_property_that_is_read_of_the_parent_is_called(tmp_path: Path) -> None:
    edges = ["a.py:Below.size -> a.py:Above.size inferred"]
    check(tmp_path, {"a.py": READ}, edges=edges)


def test_a_base_that_an_import_elsewhere_renames_is_known_below(tmp_path: Path) -> None:
    (tmp_path / "kinds").mkdir()
    check(
        tmp_path,
        {
            "kinds/base.py": BASE,
            "kinds/__init__.py": "from .base import Base as PublicBase\n",
            "use.py": "from kinds import PublicBase\nclass X(PublicBase):\n    def only(self): ...\n",
        },
        edges=["kinds/base.py:Base.run -> use.py:X.only inferred"],
    )
