"""Python: modules, packages, classes, and values that flow."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.code.languages.checks import check, read, splinter

from tersely.code.engine import Engine
from tersely.code.languages.python import PYTHON, without_unclosed
from tersely.code.syntax.extract import extract

SHAPES = '''\
"""Shapes."""

LIMIT = 3
scale: float = 1.0


def traced(function):
    def wrapper(*args, **kwargs):
        return function(*args, **kwargs)
    return wrapper


class Shape:
    """A shape."""

    sides: int = 0
    MAX = 9

    def __init__(self, name):
        self.name = name

    @property
    def area(self):
        """How large."""
        return 0

    @area.setter
    def area(self, value):
        self.stored = value

    @traced
    @staticmethod
    def make(name: str) -> "Shape":
        return Shape(name)

    class Part:
        def turn(self): ...


async def fetch(
    url,
    *,
    timeout=1,
):
    \'\'\'Fetch.\'\'\'


if LIMIT:
    def choose(): return 1
else:
    def choose(): return 2
'''

PACKAGE = {
    "shop/__init__.py": """\
from .store import Store, restock as fill
from .prices import *
from . import util
__all__ = ["Store"]
""",
    "shop/store.py": """\
from __future__ import annotations
from .util import check
from ..outside import beyond
from . import prices


class Store:
    def open(self):
        check()
        prices.price()


def restock(): ...
""",
    "shop/prices.py": """\
__all__ = ["price"]


def price(): ...
def _secret(): ...
def hidden(): ...
""",
    "shop/util.py": "def check(): ...\n",
    "shop/deep/__init__.py": "",
    "shop/deep/inner.py": """\
from ..util import check as verify
from ...shop import Store


def go():
    verify()
    Store()
""",
    "outside.py": "def beyond(): ...\n",
    "app.py": """\
import os.path
import shop.deep.inner
import shop.util as tools, requests
from shop import *
from shop import fill
from shop.prices import *
from requests.adapters import HTTPAdapter as Adapter


def main():
    shop.deep.inner.go()
    tools.check()
    shop.util.check()
    shop.price()
    Store().open()
    fill()
    price()
    hidden()
    requests.get("x")
    Adapter()
    os.path.join("a", "b")


def local():
    from shop.store import restock
    restock()
""",
}


def test_definitions_say_what_they_are(tmp_path: Path) -> None:
    check(
        tmp_path,
        {"shapes.py": SHAPES},
        definitions=[
            "shapes.py module 1",
            "shapes.py:LIMIT constant 3",
            "shapes.py:scale variable 4",
            "shapes.py:traced function 7",
            "shapes.py:traced.wrapper function 8",
            "shapes.py:Shape class 13",
            "shapes.py:Shape.sides field 16",
            "shapes.py:Shape.MAX field 17",
            "shapes.py:Shape.__init__ method 19",
            "shapes.py:Shape.area property 23",
            "shapes.py:Shape.area#2 property 28",
            "shapes.py:Shape.make method 33",
            "shapes.py:Shape.Part class 36",
            "shapes.py:Shape.Part.turn method 37",
            "shapes.py:fetch function 40",
            "shapes.py:choose function 49",
            "shapes.py:choose#2 function 51",
        ],
        docs={
            "shapes.py:Shape": '"""A shape."""',
            "shapes.py:Shape.area": '"""How large."""',
            "shapes.py:fetch": "'''Fetch.'''",
            "shapes.py:choose": "",
        },
        signatures={
            "shapes.py:Shape": "class Shape:",
            "shapes.py:Shape.make": '@traced\n    @staticmethod\n    def make(name: str) -> "Shape":',
            "shapes.py:fetch": "async def fetch(\n    url,\n    *,\n    timeout=1,\n):",
        },
    )


def test_imports_are_read_as_written(tmp_path: Path) -> None:
    check(
        tmp_path,
        {name: PACKAGE[name] for name in ("app.py", "shop/store.py", "shop/deep/inner.py")},
        imports=[
            "app.py: os  os",
            "app.py: os.path",
            "app.py: shop  shop",
            "app.py: shop.deep.inner",
            "app.py: shop.util  tools",
            "app.py: requests  requests",
            "app.py: shop *",
            "app.py: shop fill fill",
            "app.py: shop.prices *",
            "app.py: requests.adapters HTTPAdapter Adapter",
            "app.py: shop.store restock restock",
            "shop/store.py: __future__ annotations",
            "shop/store.py: .util check check",
            "shop/store.py: ..outside beyond beyond",
            "shop/store.py: . prices prices",
            "shop/deep/inner.py: ..util check verify",
            "shop/deep/inner.py: ...shop Store Store",
        ],
    )


def test_calls_cross_modules(tmp_path: Path) -> None:
    check(
        tmp_path,
        PACKAGE,
        edges=[
            "shop/store.py:Store.open -> shop/util.py:check exact",
            "shop/store.py:Store.open -> shop/prices.py:price exact",
            "shop/deep/inner.py:go -> shop/util.py:check exact",
            "shop/deep/inner.py:go -> shop/store.py:Store exact",
            "app.py:main -> shop/deep/inner.py:go exact",
            "app.py:main -> shop/util.py:check exact",
            "app.py:main -> shop/prices.py:price exact",
            "app.py:main -> shop/store.py:Store exact",
            "app.py:main -> shop/store.py:Store.open inferred",
            "app.py:main -> shop/store.py:restock exact",
            "app.py:local -> shop/store.py:restock exact",
            "app.py:main -> external:requests.get exact",
            "app.py:main -> external:requests.adapters.HTTPAdapter exact",
            "app.py:main -> external:os.path.join exact",
        ],
        absent=["app.py:main -> shop/prices.py:hidden"],
    )


def test_imports_bind_in_order(tmp_path: Path) -> None:
    check(
        tmp_path,
        {
            "one.py": "def run(): ...\n",
            "two.py": "def run(): ...\n",
            "main.py": """\
from importlib import import_module
from one import run
from two import run
import os.path
import os.sep

def inside():
    from two import run
    run()
    from one import run
    os.path.join()

run()

def either():
    try:
        from one import run
    except ImportError:
        from two import run
    run()

def dynamic(): import_module("one").run()
""",
        },
        edges=[
            "main.py -> two.py:run exact",
            "main.py:inside -> two.py:run exact",
            "main.py:inside -> external:os.path.join exact",
            "main.py:either -> one.py:run exact",
            "main.py:either -> two.py:run exact",
            "main.py:dynamic -> one.py:run inferred",
        ],
        absent=["main.py -> one.py:run", "main.py:inside -> one.py:run"],
    )


def test_a_module_of_a_package_is_not_known_by_its_bare_name(tmp_path: Path) -> None:
    check(
        tmp_path,
        {
            "pkg/__init__.py": "",
            "pkg/json.py": "def dumps(): ...\n",
            "pkg/user.py": "import json\n\ndef save():\n    json.dumps()\n",
            "loose/tool.py": "def run(): ...\n",
            "loose/main.py": "import tool\n\ndef main():\n    tool.run()\n",
        },
        edges=[
            "pkg/user.py:save -> external:json.dumps exact",
            "loose/main.py:main -> loose/tool.py:run exact",
        ],
        absent=["pkg/user.py:save -> pkg/json.py"],
    )


EDGES = {
    "self and super follow the order of bases": (
        """
        class Base:
            def __init__(self): self.hook()
            def hook(self): ...
            def only(self): ...
        class Left(Base):
            def hook(self): super().hook()
        class Right(Base):
            def hook(self): ...
        class Both(Left, Right):
            def __init__(self): super().__init__()
            def hook(self): super().hook()
            def run(self): self.only()
        def f(): Both()
        def g(): Left()
        """,
        [
            "Base.__init__ -> Base.hook exact",
            "Both.__init__ -> Base.__init__ exact",
            "Both.hook -> Left.hook exact",
            "Both.run -> Base.only exact",
            "f -> Both.__init__ exact",
            "g -> Base.__init__ exact",
        ],
        ["Both.hook -> Base.hook", "f -> Base.__init__"],
    ),
    "instances, annotations and returns": (
        """
        from typing import Optional
        class Dog:
            def bark(self) -> "Cat": ...
        class Cat:
            def purr(self): ...
        def make(): return Dog()
        def bound():
            dog = Dog()
            dog.bark()
        def annotated(dog: Dog): dog.bark()
        def maybe(dog: Optional[Dog], cat: "Cat | None" = None):
            dog.bark()
            cat.purr()
        def quoted(dogs: "list[Dog] | None", cats: "dict[str, Optional[Cat]]", *, odd: "list[Dog", far: "[" * 9):
            for dog in dogs: dog.bark()
            cats["tom"].purr()
        def unread(dogs: "list[Dog"):
            for dog in dogs: dog.bark()
        def returned(): make().bark()
        def chained(): make().bark().purr()
        class Owner:
            dog: Dog
            def __init__(self, cat: Cat): self.cat = cat
            def play(self):
                self.dog.bark()
                self.cat.purr()
        """,
        [
            "bound -> Dog.bark inferred",
            "annotated -> Dog.bark inferred",
            "maybe -> Dog.bark inferred",
            "maybe -> Cat.purr inferred",
            "quoted -> Dog.bark inferred",
            "quoted -> Cat.purr inferred",
            "returned -> Dog.bark inferred",
            "chained -> Cat.purr inferred",
            "Owner.play -> Dog.bark inferred",
            "Owner.play -> Cat.purr inferred",
        ],
        [],
    ),
    "properties": (
        """
        from functools import cached_property
        class Engine:
            def start(self): ...
        class Car:
            @property
            def engine(self): return Engine()
            @cached_property
            def spare(self): return Engine()
            def drive(self): self.engine.start()
        def f():
            car = Car()
            car.spare.start()
        """,
        [
            "Car.drive -> Car.engine inferred",
            "Car.drive -> Engine.start inferred",
            "f -> Car.spare inferred",
            "f -> Engine.start inferred",
        ],
        ["f -> Car.engine"],
    ),
    "with and for": (
        """
        class Lock:
            def __enter__(self): return Held()
            def __exit__(self, *error): ...
        class Held:
            def poke(self): ...
        class Bag:
            def __iter__(self): return Steps()
        class Steps:
            def __next__(self): return Held()
        def locked():
            with Lock() as held:
                held.poke()
        def looped():
            for held in Bag():
                held.poke()
        """,
        [
            "locked -> Lock.__enter__ inferred",
            "locked -> Lock.__exit__ inferred",
            "locked -> Held.poke inferred",
            "looped -> Bag.__iter__ inferred",
            "looped -> Steps.__next__ inferred",
            "looped -> Held.poke inferred",
        ],
        [],
    ),
    "closures and decorators": (
        """
        import functools, click
        def traced(function):
            @functools.wraps(function)
            def wrapper(*args, **kwargs):
                return function(*args, **kwargs)
            return wrapper
        @traced
        def work(): ...
        @click.command()
        def command(): ...
        def counter():
            def bump(): ...
            return bump
        def f(): work()
        def g(): command()
        def h(): counter()()
        """,
        [
            "f -> traced.wrapper exact",
            "f -> work inferred",
            "traced.wrapper -> work inferred",
            "g -> command exact",
            "h -> counter exact",
            "h -> counter.bump inferred",
        ],
        [],
    ),
    "callbacks and parameters": (
        """
        class Dog:
            def bark(self): ...
        def one(): ...
        def two(): ...
        def apply(function): function()
        def by_name(*, on_done=two): on_done()
        def spread(*functions): functions[0]()
        def keyed(**functions): functions["one"]()
        def forward(*args, **kwargs): apply(*args, **kwargs)
        def pet(dog): dog.bark()
        def f():
            apply(one)
            by_name()
            spread(two)
            keyed(one=one)
            forward(two)
            pet(Dog())
        """,
        [
            "apply -> one inferred",
            "apply -> two inferred",
            "by_name -> two inferred",
            "spread -> two inferred",
            "keyed -> one inferred",
            "pet -> Dog.bark inferred",
            "forward -> apply exact",
        ],
        ["by_name -> one", "spread -> one"],
    ),
    "tables, lists and comprehensions": (
        """
        class Dog:
            def bark(self): ...
        def one(): ...
        def two(): ...
        TABLE = {"one": one, "two": two}
        def constant(): TABLE["one"]()
        def any(key): TABLE[key]()
        def items(): [one, two][1]()
        def loop():
            for dog in [Dog()]: dog.bark()
        def built():
            dogs = []
            dogs.append(Dog())
            dogs[0].bark()
        def comprehended(): return [dog.bark() for dog in [Dog() for _ in range(3)]]
        def typed(dogs: list[Dog], named: dict[str, Dog]):
            dogs[0].bark()
        def valued(named: dict[str, Dog]):
            for name, dog in named.items(): dog.bark()
        def unpacked():
            first, second = one, two
            second()
        """,
        [
            "constant -> one inferred",
            "any -> one inferred",
            "any -> two inferred",
            "items -> two inferred",
            "loop -> Dog.bark inferred",
            "built -> Dog.bark inferred",
            "comprehended -> Dog.bark inferred",
            "typed -> Dog.bark inferred",
            "valued -> Dog.bark inferred",
            "unpacked -> two inferred",
        ],
        ["constant -> two", "items -> one", "unpacked -> one"],
    ),
    "lambdas, partial, map": (
        """
        from functools import partial
        def one(): ...
        def two(x): ...
        class Maker:
            def __call__(self): ...
        def called():
            shout = lambda: one()
            shout()
        def bound(): partial(two, 1)()
        def mapped(): return list(map(two, [1]))
        def instance():
            maker = Maker()
            maker()
        """,
        [
            "called -> one exact",
            "bound -> two inferred",
            "mapped -> two exact",
            "instance -> Maker.__call__ inferred",
        ],
        ["bound -> one"],
    ),
    "rebinding and raising": (
        """
        class Dog:
            def go(self): ...
        class Cat:
            def go(self): ...
        class Oops(Exception):
            def __init__(self, text): ...
        def first():
            pet = Dog()
            pet.go()
            pet = Cat()
        def second():
            pet = Dog()
            pet = Cat()
            pet.go()
        def fork(flag):
            if flag: pet = Dog()
            else: pet = Cat()
            pet.go()
        def fail(): raise Oops("no")
        def bare(): raise Oops
        """,
        [
            "first -> Dog.go inferred",
            "second -> Cat.go inferred",
            "fork -> Dog.go inferred",
            "fork -> Cat.go inferred",
            "fail -> Oops.__init__ exact",
            "bare -> Oops.__init__ exact",
        ],
        ["first -> Cat.go", "second -> Dog.go"],
    ),
    "names alone": (
        """
        class Dog:
            def bark(self): ...
            def go(self): ...
            def append(self): ...
        class Cat:
            def go(self): ...
        def f(thing):
            thing.bark()
            thing.go()
            thing.append()
        """,
        ["f -> Dog.bark by_name", "f -> Dog.go by_name", "f -> Cat.go by_name"],
        ["f -> Dog.append"],
    ),
    "class methods and nested names": (
        """
        class Dog:
            def __init__(self): ...
            @classmethod
            def make(cls): return cls()
            @staticmethod
            def help(): ...
            def bark(self): ...
        def f():
            Dog.make().bark()
            Dog.help()
        def shadow():
            def Dog(): ...
            Dog()
        """,
        [
            "f -> Dog.make exact",
            "f -> Dog.help exact",
            "f -> Dog.bark inferred",
            "Dog.make -> Dog.__init__ exact",
            "shadow -> shadow.Dog exact",
        ],
        ["shadow -> Dog."],
    ),
    "bodies of which one runs": (
        """
        class Dog:
            def bark(self): ...
            def sit(self): ...
        class Cat:
            def purr(self): ...
            def sit(self): ...
        class Cow:
            def sit(self): ...
        def apart(flag):
            if flag:
                pet = Dog()
                pet.sit()
            else:
                pet = Cat()
        def met(flag):
            pet = Cow()
            if flag: pet = Dog()
            elif not flag: pet = Cat()
            else: pet = Dog()
            pet.sit()
        def kept(flag):
            pet = Cow()
            if flag:
                pet = Dog()
            pet.sit()
        def left(flag):
            pet = Cow()
            if flag:
                pet = Dog()
                return pet
            pet.sit()
        def nested(flag):
            pet = Cow()
            if flag:
                if flag > 1: pet = Dog()
                else: pet = Cat()
            else:
                raise ValueError
            pet.sit()
        def inner(flag):
            if flag: pet = Dog()
            else: pet = Cat()
            def later(): pet.sit()
            return later
        def looped(flags):
            pet = Cow()
            for flag in flags:
                pet.sit()
                if flag: pet = Dog()
                else: pet = Cat()
        def entered(lock):
            pet = Cow()
            with lock:
                pet = Dog()
            pet.sit()
        """,
        [
            "apart -> Dog.sit inferred",
            "met -> Dog.sit inferred",
            "met -> Cat.sit inferred",
            "kept -> Dog.sit inferred",
            "kept -> Cow.sit inferred",
            "left -> Cow.sit inferred",
            "nested -> Dog.sit inferred",
            "nested -> Cat.sit inferred",
            "inner.later -> Dog.sit inferred",
            "inner.later -> Cat.sit inferred",
            "looped -> Dog.sit inferred",
            "looped -> Cat.sit inferred",
            "looped -> Cow.sit inferred",
            "entered -> Dog.sit inferred",
        ],
        [
            "apart -> Cat.sit",
            "met -> Cow.sit",
            "left -> Dog.sit",
            "nested -> Cow.sit",
            "entered -> Cow.sit",
        ],
    ),
    "operators call methods": (
        """
        class Length:
            def __add__(self, other): ...
            def __radd__(self, other): ...
            def __eq__(self, other): ...
            def __lt__(self, other): ...
            def __neg__(self): ...
            def __bool__(self): ...
        class Box:
            def __getitem__(self, key): ...
            def __setitem__(self, key, value): ...
            def __delitem__(self, key): ...
            def __iter__(self): ...
            def __len__(self): ...
            def __repr__(self): ...
        class Child(Box):
            def __getitem__(self, key): return super().__getitem__(key)
        def added(): Length() + 1
        def added_to(): 1 + Length()
        def grown():
            length = Length()
            length += 1
        def compared(a: Length, b): return a != b
        def chained(a: Length): return 0 < a
        def chained_further(a: Length): return None == 2 != a
        def negated(): -Length()
        def read(box: Box): box[0]
        def stored(box: Box): box[0] = 1
        def stored_again(box: Box): box[0] += 1
        def removed(box: Box):
            del box[0]
        def asked(box: Box): 1 not in box
        def measured(box: Box): len(box)
        def shown(box: Box): str(box)
        def shadowed(box: Box):
            len = print
            len(box)
        def several(box: Box): box[added(), read(1)]
        def nothing(unknown): unknown[0] + unknown
        """,
        [
            "added -> Length.__add__ inferred",
            "added_to -> Length.__radd__ inferred",
            "grown -> Length.__add__ inferred",
            "compared -> Length.__eq__ inferred",
            "chained_further -> Length.__eq__ inferred",
            "negated -> Length.__neg__ inferred",
            "read -> Box.__getitem__ inferred",
            "stored -> Box.__setitem__ inferred",
            "stored_again -> Box.__getitem__ inferred",
            "stored_again -> Box.__setitem__ inferred",
            "removed -> Box.__delitem__ inferred",
            "asked -> Box.__iter__ inferred",
            "measured -> Box.__len__ inferred",
            "shown -> Box.__repr__ inferred",
            "Child.__getitem__ -> Box.__getitem__ exact",
            "several -> added exact",
            "several -> read exact",
        ],
        [
            "added -> Length.__radd__",
            "added_to -> Length.__add__",
            "chained -> ",
            "stored -> Box.__getitem__",
            "removed -> Box.__getitem__",
            "shadowed -> Box.__len__",
            "nothing -> ",
        ],
    ),
    "items that straight-line code stores": (
        """
        def one(): ...
        def two(): ...
        def three(): ...
        def other(table): table["a"] = three
        def replaced():
            table = {"a": one}
            table["a"] = two
            table["a"]()
        def inner():
            table = {"a": {"b": one}}
            table["a"]["b"] = two
            table["a"]["b"]()
        def updated():
            table = {"a": one}
            table.update({"a": two})
            table["a"]()
        def called_between():
            table = {"a": one}
            table["a"] = two
            other(table)
            table["a"]()
        def alias():
            table = {"a": one}
            same = table
            table["a"] = two
            same["a"] = three
            table["a"]()
        def conditional(flag):
            table = {"a": one}
            if flag: table["a"] = two
            table["a"]()
        def looped(flags):
            table = {"a": one}
            table["a"] = two
            for flag in flags:
                table["a"]()
                table["a"] = three
        class Table:
            def __getitem__(self, key): return three
            def __setitem__(self, key, value): ...
        def ours():
            table = Table()
            table["a"] = one
            table["a"]()
        """,
        [
            "replaced -> two inferred",
            "inner -> two inferred",
            "updated -> two inferred",
            "called_between -> two inferred",
            "called_between -> three inferred",
            "alias -> two inferred",
            "alias -> three inferred",
            "conditional -> one inferred",
            "conditional -> two inferred",
            "looped -> two inferred",
            "looped -> three inferred",
            "ours -> three inferred",
        ],
        ["replaced -> one", "inner -> one", "updated -> one", "ours -> one"],
    ),
    "what is added to a list": (
        """
        def one(): ...
        def added_to():
            steps = []
            steps += [one]
            for step in steps: step()
        """,
        ["added_to -> one inferred"],
        [],
    ),
    "slices and places from the end": (
        """
        def one(): ...
        def two(): ...
        def three(): ...
        def last():
            steps = [one, two, three]
            steps[-1]()
        def middle():
            steps = [one, two, three]
            steps[1:3][0]()
        def sliced_tuple():
            steps = (one, two, three)[:2]
            for step in steps: step()
        def added_to():
            steps = [one]
            steps.append(two)
            steps += [three]
            for step in steps[0:3]: step()
        def bounds(n):
            steps = [one, two]
            steps[n:][0]()
        """,
        [
            "last -> three inferred",
            "middle -> two inferred",
            "sliced_tuple -> one inferred",
            "sliced_tuple -> two inferred",
            "added_to -> one inferred",
            "added_to -> two inferred",
            "added_to -> three inferred",
            "bounds -> one inferred",
            "bounds -> two inferred",
        ],
        ["last -> one", "last -> two", "middle -> one", "middle -> three", "sliced_tuple -> three"],
    ),
    "functions that are passed on again and again": (
        """
        def last(step): step()
        def third(step): last(step)
        def second(step, other): third(other)
        def first(one, two): second(one, two)
        def changed(step):
            step = print
            last(step)
        def begin(): first(lambda: 1, end)
        def end(): ...
        def wrong(): changed(begin)
        """,
        ["last -> end inferred"],
        ["last -> begin", "last -> wrong"],
    ),
    "a parameter that is given back is what each call passes": (
        """
        class Dog:
            def bark(self): ...
        class Cat:
            def purr(self): ...
        def same(thing, *more): return thing
        def known(thing=Dog()): return thing
        def changed(thing):
            thing = Cat()
            return thing
        def register(cls):
            print(cls)
            return cls
        @register
        class Owl:
            def hoot(self): ...
        @register
        class Bee:
            def hum(self): ...
        def f(): same(Dog()).bark()
        def g(): same(Cat()).purr()
        def h(): known().bark()
        def i(): changed(Dog()).bark()
        def j(): Owl().hoot()
        def k():
            either = same(same)
            either(Dog()).bark()
        """,
        [
            "f -> Dog.bark inferred",
            "g -> Cat.purr inferred",
            "h -> Dog.bark inferred",
            "j -> Owl.hoot inferred",
            "k -> Dog.bark inferred",
        ],
        ["f -> Cat", "g -> Dog", "i -> Dog.bark", "j -> Bee"],
    ),
}


@pytest.mark.parametrize("name", EDGES)
def test_values_are_followed(tmp_path: Path, name: str) -> None:
    source, edges, absent = EDGES[name]

    def spelled(edge: str) -> str:
        caller, _, callee = edge.partition(" -> ")
        return f"m.py:{caller} -> m.py:{callee}"

    check(
        tmp_path,
        {"m.py": dedent(source)},
        edges=list(map(spelled, edges)),
        absent=list(map(spelled, absent)),
    )


@given(
    st.sampled_from([SHAPES, *PACKAGE.values(), *(dedent(case[0]) for case in EDGES.values())]),
    st.integers(0, 2**32),
)
def test_broken_source_is_read(text: str, seed: int) -> None:
    read(splinter(text.encode(), seed), "python")


def test_what_is_declared_to_be_of_a_class_may_be_of_one_below_it(tmp_path: Path) -> None:
    text = (
        "class Base:\n    def run(self): pass\n    def kept(self): self.run()\n"
        "class Child(Base):\n    def run(self): self.done = late\n    def __call__(self): pass\n"
        "class Other:\n    def run(self): pass\n"
        "def late(): pass\n"
        "def one(thing: Base): thing.run()\n"
        "def many(things: list[Base]):\n    for thing in things:\n        thing.run()\n"
        "def mine():\n    thing = Base()\n    thing.run()\n"
        "def handed(child: Child):\n    child.last = late\n    child()\n"
        "def read(child: Child):\n    child.done()\n    child.last()\n"
    )
    edges = [
        f"a.py:{caller} -> a.py:{owner}.run"
        for caller in ("one", "many")
        for owner in ("Base", "Child")
    ]
    edges += [
        "a.py:mine -> a.py:Base.run",
        "a.py:handed -> a.py:Child.__call__",
        "a.py:read -> a.py:late",
    ]
    absent = ["a.py:mine -> a.py:Child.run", "a.py:one -> a.py:Other.run"]
    check(tmp_path, {"a.py": text}, edges=[f"{edge} inferred" for edge in edges], absent=absent)
    with Engine.open(tmp_path) as engine:
        assert [edge.caller for edge in engine.graph.callers("a.py:Child.run")] == [
            "a.py:Base.kept",
            "a.py:many",
            "a.py:one",
        ]


NARROWING = """\
class A:
    def m(self): return 1
class B:
    def m(self): return 2
class C:
    def m(self): return 3
def branch(x):
    if isinstance(x, A):
        x.m()
def other(x):
    if isinstance(x, A):
        return
    x.m()
def leaves(x):
    if not isinstance(x, (A, B)):
        return None
    return x.m()
def asserted(x):
    assert isinstance(x, B)
    return x.m()
def looped(x, y):
    for _ in y:
        if y and isinstance(x, A | C):
            x.m()
        elif isinstance(x, B):
            y.m()
def also(x):
    return isinstance(x, A) and x.m()
def unless(x):
    return not isinstance(x, B) or x.m()
def chosen(x):
    return x.m() if isinstance(x, C) else None
def anew(x):
    if isinstance(x, A):
        x = B()
        x.m()
def after(x):
    if isinstance(x, A):
        x.n = 1
        x.m(n=x)
    x = C()
    x.m()
"""
NARROWED = {
    "branch": "A", "leaves": "AB", "asserted": "B", "looped": "AC", "also": "A", "unless": "B", "chosen": "C",
    "anew": "B", "after": "AC",
}  # fmt: skip


def test_conditions_tell_what_a_variable_is_an_instance_of(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text(NARROWING)
    with Engine.open(tmp_path) as engine:
        engine.refresh()
        calls = {
            (edge.caller[5:], edge.callee[5])
            for edge in engine.graph.edges(guesses=False)
            if ".m" in edge.callee
        }
        assert calls == {(caller, owner) for caller, owners in NARROWED.items() for owner in owners}
        for owner in "ABC":
            callers = {
                edge.caller[5:] for edge in engine.graph.callers(f"a.py:{owner}.m", guesses=False)
            }
            assert callers == {caller for caller, owners in NARROWED.items() if owner in owners}
        # the parameter, narrowed or not
        assert [place.line for place in engine.definition("a.py", 9, 8)] == [7]


UNCLOSED = (
    "match x:\n case (\n",
    "match x:\n    case [1, {2: (\n        pass\n",
    "def f(x):\n    if x == (\n",
    "def f(x, y=[\n",
    "class C(\n",
    "y = foo(1, '(', \"[\", # }\n",
    "y = {'a': (1, 2), 'b': [\n\n",
    "@route(\n",
)


@pytest.mark.parametrize("broken", UNCLOSED)
@pytest.mark.parametrize("kept", ["def kept(): pass", "async def kept(): pass", "class kept: pass"])
def test_a_bracket_that_nobody_closed_takes_no_definition(broken: str, kept: str) -> None:
    source = f"{broken}\n{kept}\n\ndef last(a=(1,\n  2)):\n    return [a]\n".encode()
    facts = extract(source, PYTHON)
    assert {"kept", "last"} <= {one.name for one in facts.definitions}
    assert facts.problems


def test_a_definition_that_the_grammar_mends_itself_is_kept() -> None:
    facts = extract(b"def half(:\n    pass\n\ndef whole():\n    return 1\n", PYTHON)
    assert [one.name for one in facts.definitions[1:]] == ["half", "whole"]


def test_brackets_that_are_closed_are_read_as_they_are() -> None:
    for source in (b"x = (1,\n2)\ndef f(): pass\n)\n", b"'''(\ndef g(): pass\n'''\n+*\n"):
        assert without_unclosed(source) == source
