"""Type parameters of Python: `TypeVar`, `Generic`, `Self`, those in brackets, and what is awaited."""

from __future__ import annotations

from pathlib import Path

from tests.code.languages.checks import check

HEAD = """\
from typing import Annotated, Any, Callable, Coroutine, Generator, Generic, Protocol, Self, TypeVar
T = TypeVar("T")
U = TypeVar("U")
class A:
    def m(self): pass
class B:
    def m(self): pass
"""


def _check(tmp_path: Path, source: str, of_a: list[str], of_b: list[str]) -> None:
    """The functions `of_a` call the method of A and not that of B, those `of_b` the other way."""
    check(
        tmp_path,
        {"a.py": HEAD + source},
        edges=[f"a.py:{name} -> a.py:A.m inferred" for name in of_a]
        + [f"a.py:{name} -> a.py:B.m inferred" for name in of_b],
        absent=[f"a.py:{name} -> a.py:B.m" for name in of_a]
        + [f"a.py:{name} -> a.py:A.m" for name in of_b],
    )


def test_members_of_a_generic_class_have_the_types_that_it_is_given(tmp_path: Path) -> None:
    source = """\
class Box(Generic[T]):
    item: T
    def get(self) -> T: raise NotImplementedError
    def all(self) -> list[T]: raise NotImplementedError
class Pair(Box[U], Generic[T, U]):
    def first(self) -> T: raise NotImplementedError
class BoxOfA(Box[A]): pass
BoxOfB = Box[B]
def declared(box: Box[A]): box.get().m()
def quoted(box: "Box[A]"): box.get().m()
def inherited(box: BoxOfA): box.get().m()
def field(box: BoxOfA): box.item.m()
def listed(box: BoxOfA):
    for one in box.all(): one.m()
def named(box: BoxOfB): box.get().m()
def made(): Box[B]().get().m()
def first(pair: Pair[A, B]): pair.first().m()
def above(pair: Pair[A, B]): pair.get().m()
def annotated(box: Annotated[Box[A], "note"]): box.get().m()
"""
    of_a = ["declared", "quoted", "inherited", "field", "listed", "first", "annotated"]
    _check(tmp_path, source, of_a, ["named", "made", "above"])


def test_type_parameters_in_brackets(tmp_path: Path) -> None:
    source = """\
class Box[X]:
    def get(self) -> X: raise NotImplementedError
class BoxOfA(Box[A]): pass
def same[X](x: X) -> X: return x
def made[X](kind: type[X]) -> X: raise NotImplementedError
def inherited(box: BoxOfA): box.get().m()
def passed(): same(A()).m()
def by_class(): made(B).m()
"""
    _check(tmp_path, source, ["inherited", "passed"], ["by_class"])


def test_what_a_generic_function_returns_is_bound_by_its_arguments(tmp_path: Path) -> None:
    source = """\
K = TypeVar("K", bound="Kind")
class Kind:
    def with_name(self: K) -> K: return self.copy()
    def itself(self) -> Self: return self.copy()
class Own(Kind):
    def m(self): pass
def first(items: list[T]) -> T: raise NotImplementedError
def make(kind: type[T]) -> T: raise NotImplementedError
def run(function: Callable[..., T], *args: Any) -> T: raise NotImplementedError
def b() -> B: raise NotImplementedError
def of_list(): first([A()]).m()
def of_class(): make(A).m()
def of_function(): run(b).m()
def of_constructor(): run(A).m()
def receiver(): Own().with_name().m()
def own(): Own().itself().m()
"""
    _check(tmp_path, source, ["of_list", "of_class", "of_constructor"], ["of_function"])
    edges = ["a.py:receiver -> a.py:Own.m inferred", "a.py:own -> a.py:Own.m inferred"]
    check(tmp_path, {}, edges=edges)


def test_what_is_entered_and_awaited_has_the_type_that_its_methods_return(tmp_path: Path) -> None:
    source = """\
R = TypeVar("R", covariant=True)
class Manager(Coroutine[Any, Any, R], Generic[R]):
    def __init__(self, coroutine): self.coroutine = coroutine
    def __await__(self) -> Generator[Any, None, R]: return self.coroutine.__await__()
    async def __aenter__(self) -> R: return await self.coroutine
    async def __aexit__(self, *exc): pass
ManagerOfA = Manager[A]
class ManagerOfB(Manager[B]): pass
class Session:
    def get(self) -> ManagerOfA: return ManagerOfA(self.send())
    def post(self) -> "ManagerOfB": return ManagerOfB(self.send())
    async def send(self): raise NotImplementedError
async def entered(session: Session):
    async with session.get() as found: found.m()
async def awaited(session: Session):
    found = await session.get()
    found.m()
async def entered_other(session: Session):
    async with session.post() as found: found.m()
async def awaited_other(session: Session): (await session.post()).m()
"""
    _check(tmp_path, source, ["entered", "awaited"], ["entered_other", "awaited_other"])
    edges = [
        f"a.py:{caller} -> a.py:Manager.{method} inferred"
        for caller, methods in {
            "entered": ("__aenter__", "__aexit__"),
            "awaited": ("__await__",),
        }.items()
        for method in methods
    ]
    check(tmp_path, {}, edges=edges)


def test_event_loops_give_what_coroutines_return(tmp_path: Path) -> None:
    source = """\
import asyncio
async def a() -> A: raise NotImplementedError
async def b() -> B: raise NotImplementedError
def make() -> A: raise NotImplementedError
def complete(loop: asyncio.AbstractEventLoop): loop.run_until_complete(a()).m()
async def task(): (await asyncio.get_running_loop().create_task(b())).m()
async def gathered():
    first, second = await asyncio.gather(a(), a())
    second.m()
async def executed(): (await asyncio.get_running_loop().run_in_executor(None, make)).m()
async def threaded(): (await asyncio.to_thread(make)).m()
"""
    _check(tmp_path, source, ["complete", "gathered", "executed", "threaded"], ["task"])
    check(tmp_path, {}, edges=["a.py:executed -> a.py:make inferred"])


def test_bases_outside_say_what_is_awaited_entered_and_iterated_over(tmp_path: Path) -> None:
    source = """\
from contextlib import AbstractAsyncContextManager
from typing import Awaitable, Iterable
class Either(Awaitable[T], AbstractAsyncContextManager[T], Protocol[T]): pass
class Items(Iterable[B]): pass
def form() -> Either[A]: raise NotImplementedError
async def awaited():
    found = await form()
    found.m()
async def entered():
    async with form() as found: found.m()
def iterated(items: Items):
    for one in items: one.m()
"""
    _check(tmp_path, source, ["awaited", "entered"], ["iterated"])


def test_statements_that_wait_call_other_methods_than_those_that_do_not(tmp_path: Path) -> None:
    source = """\
class Both:
    def __enter__(self): return A()
    def __exit__(self, *exc): pass
    async def __aenter__(self): return B()
    async def __aexit__(self, *exc): pass
class Stream:
    def __aiter__(self): return self
    async def __anext__(self) -> B: raise StopAsyncIteration
def plain():
    with Both() as found: found.m()
async def waiting():
    async with Both() as found: found.m()
async def iterating():
    async for found in Stream(): found.m()
async def comprehending(): return [found.m() async for found in Stream()]
"""
    _check(tmp_path, source, ["plain"], ["waiting", "iterating", "comprehending"])
    check(
        tmp_path,
        {},
        edges=[
            "a.py:plain -> a.py:Both.__enter__ inferred",
            "a.py:waiting -> a.py:Both.__aexit__ inferred",
            "a.py:iterating -> a.py:Stream.__anext__ inferred",
        ],
        absent=["a.py:plain -> a.py:Both.__aenter__", "a.py:waiting -> a.py:Both.__enter__"],
    )


KINDS = """\
from typing import ParamSpec, TypeVar
T = TypeVar("T")
P = ParamSpec("P")
class Q:
    def q(self): pass
"""
USES = """\
from __future__ import annotations
from typing import Callable, Generic, Iterable
from kinds import P, Q, T
class A:
    def m(self): pass
class Box(Generic[T]):
    def __init__(self, held: T) -> None: self.held = held
    def get(self) -> T: return self.held
class Below(Box[A]): pass
def first(items: Iterable[T]) -> T: ...
def called(f: Callable[P, T], *given: P.args, **named: P.kwargs) -> T: ...
def make() -> A: ...
def by_base(box: Below): box.get().m()
def by_argument(box: Box[A]): box.held.m()
def quoted(box: "Box['A']"): box.get().m()
def inferred(items: list[A]): first(items).m()
def passed_through(): called(make).m()
def no_parameter(q: Q): q.q()
def made(): Q().q()
"""


def test_type_parameters_of_other_files(tmp_path: Path) -> None:
    callers = ("by_base", "by_argument", "quoted", "inferred", "passed_through")
    check(
        tmp_path,
        {"kinds.py": KINDS, "a.py": USES},
        edges=[
            *(f"a.py:{caller} -> a.py:A.m inferred" for caller in callers),
            "a.py:no_parameter -> kinds.py:Q.q inferred",
            "a.py:made -> kinds.py:Q exact",
            "a.py:made -> kinds.py:Q.q inferred",
        ],
    )
