"""What Python calls without a call being written, and what texts name."""

from __future__ import annotations

from pathlib import Path

from tests.code.graph.test_both_ways import disagreements
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


CONSTRUCTED = """\
from dataclasses import dataclass
class Both:
    def __new__(cls): return object.__new__(cls)
    def __init__(self): pass
def both(): Both()
@dataclass
class Fields:
    action: object
    def __post_init__(self): self.prepared()
    def prepared(self): pass
    def run(self): self.action()
class Own(Fields):
    def __init__(self): pass
def given(): pass
def fields(): Fields(given)
def own(): Own()
"""


def test_construction_calls_all_methods_that_it_has_to(tmp_path: Path) -> None:
    check(
        tmp_path,
        {"a.py": CONSTRUCTED},
        edges=[
            "a.py:both -> a.py:Both.__new__ exact",
            "a.py:both -> a.py:Both.__init__ exact",
            "a.py:fields -> a.py:Fields exact",
            "a.py:fields -> a.py:Fields.__post_init__ exact",
            "a.py:Fields.run -> a.py:given exact",
            "a.py:own -> a.py:Own.__init__ exact",
        ],
        absent=["a.py:own -> a.py:Fields.__post_init__ exact"],
    )


REGISTERED = """\
class Base:
    kinds = {}
    def __init_subclass__(cls, **given):
        super().__init_subclass__(**given)
        cls.kinds[cls.__name__] = cls
        cls.noted()
    @classmethod
    def noted(cls): pass
    def go(self): pass
class Child(Base): pass
def made(name): Base.kinds[name]().go()
"""


def test_a_class_that_is_defined_calls_its_base_which_keeps_it(tmp_path: Path) -> None:
    check(
        tmp_path,
        {"a.py": REGISTERED},
        edges=[
            "a.py -> a.py:Base.__init_subclass__ exact",
            "a.py:Base.__init_subclass__ -> a.py:Base.noted exact",
            "a.py:made -> a.py:Base.go inferred",
        ],
    )


OPERATORS = """\
class File:
    def write(self): pass
    def __enter__(self): return self
    def __exit__(self, *error): pass
class Folder:
    def __truediv__(self, name): return File()
    def __rsub__(self, name): return File()
def divided(folder: Folder, name): (folder / name).write()
def entered(folder: Folder):
    with folder / "a" as file: file.write()
def reflected(folder: Folder): (1 - folder).write()
def listed():
    for file in [File()] + [1]: file.write()
"""


def test_an_operator_gives_what_its_method_returns(tmp_path: Path) -> None:
    callers = ("divided", "entered", "reflected", "listed")
    check(
        tmp_path,
        {"a.py": OPERATORS},
        edges=[
            *(f"a.py:{caller} -> a.py:File.write inferred" for caller in callers),
            "a.py:entered -> a.py:File.__enter__ inferred",
        ],
    )


MISSING = """\
class A:
    def go(self): pass
class Holder:
    def __init__(self): self.held = {}
    def __getitem__(self, name) -> A: return self.held[name]
    def __getattr__(self, name): return self[name]
class Proxy:
    def __init__(self, meant: A): self.meant = meant
    def own(self): pass
    def __getattr__(self, name): return getattr(self.meant, name)
class Endless:
    def __getattr__(self, name): return getattr(self.meant, name)
def held(holder: Holder): holder.any.go()
def passed_on(proxy: Proxy): proxy.go()
def own(proxy: Proxy): proxy.own()
def endless(): Endless().go()
"""


def test_what_an_object_lacks_a_method_of_it_gives(tmp_path: Path) -> None:
    check(
        tmp_path,
        {"a.py": MISSING},
        edges=[
            "a.py:held -> a.py:A.go inferred",
            "a.py:passed_on -> a.py:A.go inferred",
            "a.py:own -> a.py:Proxy.own inferred",
        ],
        absent=["a.py:own -> a.py:A.go inferred", "a.py:endless -> a.py:A.go inferred"],
    )


ABSTRACT = """\
from abc import ABC
class Service(ABC): pass
class Stock(Service):
    def take(self): pass
def f(service: Service): service.take()
"""


def test_a_base_that_has_no_members_hides_none(tmp_path: Path) -> None:
    check(tmp_path, {"a.py": ABSTRACT}, edges=["a.py:f -> a.py:Stock.take inferred"])


def visitors(number: int) -> str:
    methods = "".join(f"    def visit_{at}(self): pass\n" for at in range(number))
    return (
        "from typing import Protocol\n"
        "class Visit(Protocol):\n    def __call__(self, node): ...\n"
        "class Visitor:\n"
        "    def found(self, node) -> Visit | None: return getattr(self, f'visit_{node}', None)\n"
        "    def visit(self, node):\n"
        "        visit = self.found(node)\n"
        "        if visit is not None: visit(node)\n"
        f"class Below(Visitor):\n{methods}"
    )


def test_methods_whose_names_are_put_together_are_called_however_many(tmp_path: Path) -> None:
    every = [f"a.py:Visitor.visit -> a.py:Below.visit_{at} inferred" for at in range(130)]
    check(tmp_path, {"a.py": visitors(130)}, edges=every)


def test_functions_of_a_module_whose_names_are_put_together_are_called(tmp_path: Path) -> None:
    files = {
        "handlers.py": "def on_open(): pass\ndef on_close(): pass\n",
        "a.py": "import handlers\ndef run(event): getattr(handlers, f'on_{event}')()\n",
    }
    every = [f"a.py:run -> handlers.py:on_{event} inferred" for event in ("open", "close")]
    check(tmp_path, files, edges=every)


PROTOCOL = """\
from typing import Protocol
class Handle(Protocol):
    def __call__(self, event): ...
class Source:
    def __init__(self, handle: Handle): self.handle = handle
    def send(self, event): self.handle(event)
def handled(event): pass
def start(): Source(handled).send(1)
"""


def test_a_protocol_that_is_called_stands_for_functions(tmp_path: Path) -> None:
    check(
        tmp_path,
        {"a.py": PROTOCOL},
        edges=["a.py:Source.send -> a.py:handled inferred"],
    )


STEPS = """\
class Pipe:
    def __or__(self, step): return Pipe()
    def __call__(self, value): ...
def first(value): ...
def piped():
    pipe = Pipe() | first
    pipe(1)
"""


def test_an_operator_with_a_method_gives_what_that_gives_and_no_operand(tmp_path: Path) -> None:
    check(
        tmp_path,
        {"a.py": STEPS},
        edges=[
            "a.py:piped -> a.py:Pipe.__or__ inferred",
            "a.py:piped -> a.py:Pipe.__call__ inferred",
        ],
        absent=["a.py:piped -> a.py:first inferred"],
    )


MATCHED = {
    "nodes.py": """\
from dataclasses import dataclass
class Node: ...
@dataclass
class Number(Node):
    value: int
    def show(self): ...
@dataclass
class Call(Node):
    target: Number
    arguments: list[Number]
    def show(self): ...
    def run(self): ...
""",
    "interpreter.py": """\
import nodes
from nodes import Call, Node, Number
def aliased(node: Node):
    match node:
        case Number(1) as number: number.show()
        case nodes.Call() as call if call.run(): pass
def narrowed(node):
    match node:
        case Call(): node.run()
        case _: node.show()
def fields(node):
    match node:
        case Call(target, [first, *rest]): first.show()
        case Call(arguments=[last]) | Call(last): last.show()
def inside():
    match {"a": Number(1)}:
        case {"a": Number() as held, **others}: held.show()
""",
}


def test_a_pattern_tells_what_is_matched_and_what_its_names_hold(tmp_path: Path) -> None:
    check(
        tmp_path,
        MATCHED,
        edges=[
            "interpreter.py:aliased -> nodes.py:Number.show inferred",
            "interpreter.py:aliased -> nodes.py:Call.run inferred",
            "interpreter.py:narrowed -> nodes.py:Call.run inferred",
            "interpreter.py:fields -> nodes.py:Number.show inferred",
            "interpreter.py:inside -> nodes.py:Number.show inferred",
        ],
        absent=[
            "interpreter.py:aliased -> nodes.py:Call.show inferred",
            "interpreter.py:fields -> nodes.py:Call.show inferred",
            "interpreter.py:narrowed -> nodes.py:Call.show inferred",
        ],
    )
    assert disagreements(tmp_path) == set()


PLUGINS = """\
class Plugin:
    known = {}
    def __init_subclass__(cls, **options): Plugin.known[cls.__name__] = cls
    def run(self): raise NotImplementedError
class One(Plugin):
    def run(self): ...
def started(name): Plugin.known[name]().run()
"""


def test_a_base_that_keeps_the_classes_below_it_holds_those(tmp_path: Path) -> None:
    check(
        tmp_path,
        {"a.py": PLUGINS},
        edges=["a.py:started -> a.py:One inferred", "a.py:started -> a.py:One.run inferred"],
        absent=["a.py:started -> a.py:Plugin inferred", "a.py:started -> a.py:Plugin.run inferred"],
    )


PROPERTIES = """\
class Thing:
    @property
    def size(self): ...
    @size.setter
    def size(self, value): ...
    @size.deleter
    def size(self): ...
def read(thing: Thing): return thing.size
def assigned(thing: Thing): thing.size = 1
def removed(thing: Thing): del thing.size
def raised(thing: Thing): thing.size += 1
"""


def test_reading_assigning_and_removing_a_property_call_different_functions(tmp_path: Path) -> None:
    check(
        tmp_path,
        {"a.py": PROPERTIES},
        edges=[
            "a.py:read -> a.py:Thing.size inferred",
            "a.py:assigned -> a.py:Thing.size#2 inferred",
            "a.py:removed -> a.py:Thing.size#3 inferred",
            "a.py:raised -> a.py:Thing.size inferred",
            "a.py:raised -> a.py:Thing.size#2 inferred",
        ],
        absent=[
            "a.py:read -> a.py:Thing.size#2 inferred",
            "a.py:read -> a.py:Thing.size#3 inferred",
            "a.py:assigned -> a.py:Thing.size inferred",
            "a.py:assigned -> a.py:Thing.size#3 inferred",
            "a.py:removed -> a.py:Thing.size inferred",
        ],
    )
    assert disagreements(tmp_path) == set()


DESCRIPTORS = """\
class Field:
    def __init__(self, function=None): self.function = function
    def __get__(self, owner, type=None): return self.function(owner)
    def __set__(self, owner, value): ...
class Own(Field): ...
class Thing:
    plain = 1
    kept = Own()
    @Field
    def made(self): ...
def read(thing: Thing): return thing.kept, thing.plain
def decorated(thing: Thing): return thing.made
def assigned(thing: Thing): thing.kept = 1
def untouched(thing: Thing): return thing.plain
"""


def test_reading_and_assigning_a_descriptor_call_its_methods(tmp_path: Path) -> None:
    check(
        tmp_path,
        {"a.py": DESCRIPTORS},
        edges=[
            "a.py:read -> a.py:Field.__get__ inferred",
            "a.py:decorated -> a.py:Field.__get__ inferred",
            "a.py:assigned -> a.py:Field.__set__ inferred",
            "a.py:Field.__get__ -> a.py:Thing.made exact",
        ],
        absent=[
            "a.py:untouched -> a.py:Field.__get__ inferred",
            "a.py:assigned -> a.py:Field.__get__ inferred",
        ],
    )
    assert disagreements(tmp_path) == set()


METACLASSES = """\
import enum
class Single(type):
    made = {}
    def __call__(cls, *given): return super().__call__(*given)
    def clear(cls): ...
class Settings(metaclass=Single):
    def __init__(self): ...
class Own(Settings): ...
class Plain:
    def __init__(self): ...
def made(): Own()
def cleared(): Settings.clear()
def plain(): Plain()
class Level(enum.Enum):
    LOW = 1
    def mark(self): ...
def marked():
    for level in Level: level.mark()
"""


def test_calling_a_class_calls_its_metaclass(tmp_path: Path) -> None:
    check(
        tmp_path,
        {"a.py": METACLASSES},
        edges=[
            "a.py:made -> a.py:Single.__call__ exact",
            "a.py:made -> a.py:Settings.__init__ exact",
            "a.py:cleared -> a.py:Single.clear exact",
            "a.py:marked -> a.py:Level.mark inferred",
        ],
        absent=["a.py:plain -> a.py:Single.__call__ exact"],
    )
    assert disagreements(tmp_path) == set()


DELEGATED = """\
class Lines:
    def __iter__(self): return self
    def __next__(self): ...
def read(): yield from Lines()
"""


def test_yielding_from_an_object_iterates_over_it(tmp_path: Path) -> None:
    check(
        tmp_path,
        {"a.py": DELEGATED},
        edges=[
            "a.py:read -> a.py:Lines.__iter__ inferred",
            "a.py:read -> a.py:Lines.__next__ inferred",
        ],
    )


LISTENERS = """\
class Events:
    def on(self, name, listener=None):
        if listener is None:
            def add(function): return function
            return add
        return listener
def counted(): ...
def added(events: Events):
    Events().on("count", counted)
    Events().on("count")(counted)
"""


def test_a_parameter_that_is_given_back_is_nothing_where_its_default_is(tmp_path: Path) -> None:
    check(
        tmp_path,
        {"a.py": LISTENERS},
        edges=["a.py:added -> a.py:Events.on.add inferred"],
        absent=["a.py:added -> a.py:counted inferred"],
    )


CALLING_ITSELF = """\
class Step:
    def __call__(self, value): ...
    def into(self, sink): self(sink)
class Keeper:
    steps: dict[str, Step]
    def __init__(self): self.kept: dict[str, Step] = {}
    def run(self, name): self.kept[name](1)
"""


def test_objects_that_are_called_are_found_from_their_method(tmp_path: Path) -> None:
    check(
        tmp_path,
        {"a.py": CALLING_ITSELF},
        edges=[
            "a.py:Step.into -> a.py:Step.__call__ exact",
            "a.py:Keeper.run -> a.py:Step.__call__ inferred",
        ],
    )
    assert disagreements(tmp_path) == set()


COUNTED_BACKWARD = """\
from dataclasses import dataclass
class Point:
    def show(self): ...
@dataclass
class Edge:
    start: Point
def last(): Edge(Point())[-1].show()
def beyond(): Edge(Point())[-2].show()
"""


def test_a_place_counted_from_behind_may_lie_before_the_first_field(tmp_path: Path) -> None:
    check(
        tmp_path,
        {"app.py": COUNTED_BACKWARD},
        edges=["app.py:last -> app.py:Point.show inferred"],
        absent=["app.py:beyond -> app.py:Point.show inferred"],
    )
