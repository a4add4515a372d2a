"""What the standard library calls of the functions, classes and objects that it is given."""

from __future__ import annotations

from pathlib import Path

from tests.code.graph.test_both_ways import disagreements
from tests.code.languages.checks import check

THREADS = """\
import atexit, signal, threading, weakref
from concurrent.futures import ThreadPoolExecutor
class Job:
    def run(self): ...
def make(): return Job()
def take(job): job.run()
class Worker(threading.Thread):
    def run(self): make()
class Idle:
    def run(self): ...
def started(): threading.Thread(target=take, args=(Job(),)).start()
def inherited():
    worker = Worker()
    worker.start()
def submitted():
    with ThreadPoolExecutor() as pool:
        pool.submit(make).result().run()
def mapped():
    with ThreadPoolExecutor() as pool:
        for job in pool.map(make, range(3)): job.run()
def at_the_end(job):
    atexit.register(make)
    signal.signal(signal.SIGINT, take)
    weakref.finalize(job, make)
"""


def test_threads_and_hooks_call_what_they_are_given(tmp_path: Path) -> None:
    check(
        tmp_path,
        {"a.py": THREADS},
        edges=[
            "a.py:started -> a.py:take exact",
            "a.py:take -> a.py:Job.run inferred",
            "a.py:inherited -> a.py:Worker.run inferred",
            "a.py:submitted -> a.py:make inferred",
            "a.py:submitted -> a.py:Job.run inferred",
            "a.py:mapped -> a.py:make inferred",
            "a.py:mapped -> a.py:Job.run inferred",
            "a.py:at_the_end -> a.py:make exact",
            "a.py:at_the_end -> a.py:take exact",
        ],
        absent=["a.py:inherited -> a.py:Idle.run inferred"],
    )
    assert disagreements(tmp_path) == set()


TEMPLATES = """\
import ast
from cmd import Cmd
class Names(ast.NodeVisitor):
    def visit_Name(self, node): ...
    def visit_Call(self, node): self.generic_visit(node)
    def helper(self): ...
class Shell(Cmd):
    def do_go(self, line): ...
class Other:
    def visit_Name(self, node): ...
def visited(tree): Names().visit(tree)
def typed(): Shell().cmdloop()
"""


def test_a_method_of_the_library_calls_those_of_classes_below_its_own(tmp_path: Path) -> None:
    check(
        tmp_path,
        {"a.py": TEMPLATES},
        edges=[
            "a.py:visited -> a.py:Names.visit_Name inferred",
            "a.py:visited -> a.py:Names.visit_Call inferred",
            "a.py:Names.visit_Call -> a.py:Names.visit_Name exact",
            "a.py:typed -> a.py:Shell.do_go inferred",
        ],
        absent=[
            "a.py:visited -> a.py:Names.helper inferred",
            "a.py:visited -> a.py:Other.visit_Name inferred",
        ],
    )
    assert disagreements(tmp_path) == set()


HELD = """\
import contextlib, queue
from contextvars import ContextVar
class Job:
    def run(self): ...
    def close(self): ...
class Manager:
    def __enter__(self): return Job()
    def __exit__(self, *error): ...
current = ContextVar("current")
jobs = queue.Queue()
def put():
    current.set(Job())
    jobs.put(Job())
def got():
    current.get().run()
def next_job():
    jobs.get().run()
def stacked():
    with contextlib.ExitStack() as stack:
        stack.enter_context(Manager()).run()
def closed():
    with contextlib.closing(Job()) as job: job.run()
"""


def test_what_is_put_into_a_queue_a_variable_or_a_stack_comes_out_of_it(tmp_path: Path) -> None:
    check(
        tmp_path,
        {"a.py": HELD},
        edges=[
            "a.py:got -> a.py:Job.run inferred",
            "a.py:next_job -> a.py:Job.run inferred",
            "a.py:stacked -> a.py:Manager.__enter__ inferred",
            "a.py:stacked -> a.py:Manager.__exit__ inferred",
            "a.py:stacked -> a.py:Job.run inferred",
            "a.py:closed -> a.py:Job.close exact",
            "a.py:closed -> a.py:Job.run inferred",
        ],
    )


DISPATCHED = {
    "shown.py": """\
from functools import singledispatch
@singledispatch
def show(thing): ...
@show.register
def show_number(thing: int): ...
@show.register(str)
def _(thing): ...
def called(): show(1)
""",
    "other.py": """\
from shown import show
class Own: ...
def show_own(thing): ...
show.register(Own, show_own)
""",
}


def test_a_function_that_dispatches_calls_those_that_are_registered_with_it(tmp_path: Path) -> None:
    check(
        tmp_path,
        DISPATCHED,
        edges=[
            "shown.py:called -> shown.py:show exact",
            "shown.py:called -> shown.py:show_number exact",
            "shown.py:called -> shown.py:_ exact",
            "shown.py:called -> other.py:show_own exact",
        ],
    )
    assert disagreements(tmp_path) == set()


TASKS = """\
import asyncio
class Job:
    def run(self): ...
async def load(): return Job()
def done(task): ...
async def main():
    task = asyncio.create_task(load())
    task.add_done_callback(done)
    (await task).run()
    task.result().run()
"""


def test_a_task_gives_what_its_coroutine_gives(tmp_path: Path) -> None:
    check(
        tmp_path,
        {"a.py": TASKS},
        edges=[
            "a.py:main -> a.py:load exact",
            "a.py:main -> a.py:done inferred",
            "a.py:main -> a.py:Job.run inferred",
        ],
    )


PARTIALS = """\
from functools import partial
class A:
    def go(self): ...
class B:
    def run(self): ...
    def given(self, a, b):
        a.go()
        b.run()
def taking(a, b, *, c=None):
    a.go()
    b.run()
    c.run()
def called(): partial(taking, A(), c=B())(B())
def bound():
    later = partial(B().given, A())
    later(B())
"""


def test_a_partial_call_gives_its_arguments_and_then_those_of_the_call(tmp_path: Path) -> None:
    check(
        tmp_path,
        {"a.py": PARTIALS},
        edges=[
            "a.py:called -> a.py:taking inferred",
            "a.py:taking -> a.py:A.go inferred",
            "a.py:taking -> a.py:B.run inferred",
            "a.py:bound -> a.py:B.given inferred",
            "a.py:B.given -> a.py:A.go inferred",
            "a.py:B.given -> a.py:B.run inferred",
        ],
    )
    assert disagreements(tmp_path) == set()


MODELS = """\
from django.db import models
from django.shortcuts import get_object_or_404
class Customer(models.Model):
    def notify(self): ...
class Order(models.Model):
    customer = models.ForeignKey("Customer", on_delete=models.CASCADE)
    def pay(self): self.customer.notify()
class Other:
    def pay(self): ...
def one(pk): get_object_or_404(Order, pk=pk).pay()
def got(pk): Order.objects.filter(pk=pk).first().pay()
def every():
    for order in Order.objects.all(): order.pay()
"""


def test_queries_give_instances_of_their_model(tmp_path: Path) -> None:
    check(
        tmp_path,
        {"a.py": MODELS},
        edges=[
            "a.py:one -> a.py:Order.pay inferred",
            "a.py:got -> a.py:Order.pay inferred",
            "a.py:every -> a.py:Order.pay inferred",
            "a.py:Order.pay -> a.py:Customer.notify inferred",
        ],
        absent=["a.py:one -> a.py:Other.pay inferred", "a.py:got -> a.py:Other.pay inferred"],
    )


GIVEN_BACK = """\
import argparse, itertools, threading, types, weakref
from contextlib import contextmanager
from contextvars import ContextVar
from functools import reduce
class Buffer:
    def push(self, item): ...
class Other:
    def push(self, item): ...
current = ContextVar("current", default=Buffer())
asked = ContextVar("asked")
local = threading.local()
space = types.SimpleNamespace(buffer=Buffer())
kept = Buffer()
ref = weakref.ref(kept)
method = weakref.WeakMethod(kept.push)
by_name = weakref.WeakValueDictionary()
def fill():
    local.buffer = Buffer()
    by_name["a"] = Buffer()
@contextmanager
def opened(key=lambda one: one, *, other=lambda: None):
    yield Buffer()
def of_context(): current.get().push(1)
def of_default(): asked.get(Buffer()).push(1)
def of_thread(): local.buffer.push(1)
def of_space(): space.buffer.push(1)
def of_reference(): ref().push(1)
def of_method(): method()(1)
def of_names(): by_name["a"].push(1)
def of_dict(found: dict): found.get("a", Buffer()).push(1)
def of_unknown(found): found.setdefault("a", Buffer()).push(1)
def of_next(found): next(found, Buffer()).push(1)
def of_most(found): max(found, default=Buffer()).push(1)
def of_all(found): reduce(lambda one, other: one, found, Buffer()).push(1)
def of_same():
    for one in itertools.repeat(Buffer()): one.push(1)
def of_manager():
    with opened() as one: one.push(1)
"""


def test_what_the_library_keeps_is_what_it_gives_back(tmp_path: Path) -> None:
    users = [
        line.split()[1].partition("(")[0] for line in GIVEN_BACK.split("\n") if "def of_" in line
    ]
    check(
        tmp_path,
        {"a.py": GIVEN_BACK},
        edges=[f"a.py:{user} -> a.py:Buffer.push inferred" for user in users],
        absent=[
            f"a.py:{user} -> a.py:Other.push {grade}"
            for user in users
            for grade in ("inferred", "by_name")
        ],
    )
    assert disagreements(tmp_path) == set()
