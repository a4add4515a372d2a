"""Functions of Python's standard library that call, keep or return what they are given."""

from __future__ import annotations

import re
from dataclasses import replace

from tersely.code.languages.model import RECEIVER, Filling, Summary, names

IDENTITY = Summary(returns=0)
CALLS_NEXT = Summary(calls=(0,), passes=("rest",))  # with the arguments behind it
RUNS_NEXT = replace(CALLS_NEXT, result_of=0)
CALLS_SECOND = Summary(calls=(1,), passes=("rest 2",))
BY_KEY = Summary(calls_named=names("key"), passes=("element 0",))
MAPPED = Summary(calls=(0,), collects=(0,), passes=("element 1",))
CHOSEN = Summary(calls=(0,), returns=1, passes=("element 1",))


def _on_receiver(methods: str) -> Summary:
    """A method that calls others of its object, by their names or by patterns of them."""
    return Summary(calls=(RECEIVER,), methods=names(methods))


BUILTINS = {
    "map": replace(MAPPED, calls=(0, 1), collects=(0, 1)),
    "filter": CHOSEN,
    "enumerate": Summary(pairs=(-1, 0)),
    "zip": Summary(pairs=(0, 1)),
    "getattr": Summary(member_of=0, returns=2),
    "type": Summary(class_of=0),
    "__import__": Summary(module_named=0),
    "sorted": replace(BY_KEY, returns=0),
    "iter": Summary(calls=(0,), returns=0),
    "next": Summary(elements=0, returns=1),
    "sum": Summary(elements=0, returns=1),
    "min": replace(BY_KEY, elements=0, returns_named="default"),
    "max": replace(BY_KEY, elements=0, returns_named="default"),
    **dict.fromkeys(("dict.get", "dict.pop", "dict.setdefault"), Summary(returns=1)),
    **dict.fromkeys(names("reversed tuple frozenset staticmethod classmethod"), IDENTITY),
}

# by what gives an event loop
_LOOPS = ("AbstractEventLoop", "get_event_loop()", "get_running_loop()", "new_event_loop()")
_LOOP = {
    "run_until_complete": IDENTITY,
    "create_task": IDENTITY,
    "run_in_executor": Summary(calls=(1,), result_of=1, passes=("rest 2",)),
    "call_soon": CALLS_NEXT,
    "call_soon_threadsafe": CALLS_NEXT,
    "call_later": CALLS_SECOND,
    "call_at": CALLS_SECOND,
    "add_reader": CALLS_SECOND,
    "add_writer": CALLS_SECOND,
    "add_signal_handler": CALLS_SECOND,
}
ASYNCIO = {
    **{f"{loop}.{method}": summary for loop in _LOOPS for method, summary in _LOOP.items()},
    "TaskGroup.create_task": IDENTITY,
    "Runner.run": IDENTITY,
    **dict.fromkeys(
        (
            f"asyncio.{name}"
            for name in "run create_task wait_for shield ensure_future run_coroutine_threadsafe as_completed".split()
        ),
        IDENTITY,
    ),
    "asyncio.gather": Summary(gathers=0),
    "asyncio.to_thread": RUNS_NEXT,
    "asyncio.start_server": Summary(calls=(0,)),
}

_STARTED = Summary(calls=(1,), calls_named=names("target"), passes=("elements args",))
_RUNS = _on_receiver("run")
THREADS = {
    **dict.fromkeys(("threading.Thread", "multiprocessing.Process"), _STARTED),
    **dict.fromkeys(("threading.Thread.start", "multiprocessing.Process.start"), _RUNS),
    "threading.Timer": Summary(calls=(1,), calls_named=names("function")),
    **{
        f"{executor}.{method}": summary
        for executor in ("Executor", "ThreadPoolExecutor", "ProcessPoolExecutor")
        for method, summary in {"submit": RUNS_NEXT, "map": MAPPED}.items()
    },
    **{f"Pool.{method}": MAPPED for method in names("map imap imap_unordered starmap map_async")},
    **{
        f"Pool.{method}": replace(RUNS_NEXT, passes=("elements 1",))
        for method in names("apply apply_async")
    },
    "concurrent.futures.as_completed": IDENTITY,
}

ITERTOOLS = {
    "chain": Summary(joins=0),
    "chain.from_iterable": Summary(elements=0),
    "starmap": replace(MAPPED, passes=("",)),
    "groupby": Summary(calls=(1,), calls_named=names("key"), passes=("element 0",)),
    "accumulate": Summary(calls=(1,), calls_named=names("func"), returns=0),
    "zip_longest": Summary(pairs=(0, 1)),
    **dict.fromkeys(names("takewhile dropwhile filterfalse"), CHOSEN),
    **dict.fromkeys(names("islice cycle"), IDENTITY),
    "repeat": Summary(gathers=0),
}

_ENTERED = Summary(calls=(0,), methods=names("__enter__ __exit__"), enters=0)
_ENTERED_LATER = replace(_ENTERED, methods=names("__aenter__ __aexit__"))
CONTEXTLIB = {
    "contextlib.closing": Summary(calls=(0,), methods=names("close"), returns=0),
    "contextlib.aclosing": Summary(calls=(0,), methods=names("aclose"), returns=0),
    "contextlib.nullcontext": IDENTITY,
    **{
        f"{stack}.{method}": summary
        for stack in ("ExitStack", "AsyncExitStack")
        for method, summary in {
            "callback": CALLS_NEXT,
            "push_async_callback": CALLS_NEXT,
            "enter_context": _ENTERED,
            "enter_async_context": _ENTERED_LATER,
        }.items()
    },
}

# what calls the methods of a class that inherits from one of the library
TEMPLATES = {
    **dict.fromkeys(
        (f"ast.Node{one}.{method}" for one in ("Visitor", "Transformer") for method in ("visit", "generic_visit")),
        _on_receiver("visit_* generic_visit"),
    ),
    "cmd.Cmd.cmdloop": _on_receiver("do_* default emptyline preloop postloop precmd postcmd"),
    "cmd.Cmd.onecmd": _on_receiver("do_* default emptyline"),
    "html.parser.HTMLParser.feed": _on_receiver("handle_*"),
    **{
        f"{module}.{server}": Summary(calls=(1,), methods=names("do_* setup handle finish"))
        for module, servers in {
            "http.server": "HTTPServer ThreadingHTTPServer",
            "socketserver": "TCPServer UDPServer ThreadingTCPServer ThreadingUDPServer",
        }.items()
        for server in servers.split()
    },
}  # fmt: skip

_ENCODED = Summary(calls_named=names("default cls"), methods=names("default"))
_DECODED = Summary(calls_named=names("object_hook object_pairs_hook parse_float parse_int"))
OTHERS = {
    "importlib.import_module": Summary(module_named=0),
    "functools.reduce": Summary(
        calls=(0,), result_of=0, returns=2, passes=("element 1", "element 1")
    ),
    "functools.singledispatch": Summary(returns=0, registered_by="register"),
    "functools.singledispatchmethod": Summary(returns=0, registered_by="register"),
    **dict.fromkeys(
        (f"functools.{name}" for name in names("cache update_wrapper lru_cache")),
        IDENTITY,
    ),
    "functools.partial": Summary(binds=0),
    "functools.partialmethod": Summary(binds=0),
    "copy.copy": IDENTITY,
    "copy.deepcopy": IDENTITY,
    "typing.cast": Summary(returns=1, instance_of=0),
    **dict.fromkeys(names("weakref.ref weakref.proxy weakref.WeakMethod"), Summary(calls=(1,), returns=0)),
    "weakref.finalize": CALLS_SECOND,
    "atexit.register": replace(CALLS_NEXT, returns=0),
    "signal.signal": Summary(calls=(1,)),
    "re.sub": Summary(calls=(1,), calls_named=names("repl")),
    "re.subn": Summary(calls=(1,), calls_named=names("repl")),
    "re.compile().sub": Summary(calls=(0,), calls_named=names("repl")),
    "json.dump": _ENCODED,
    "json.dumps": _ENCODED,
    "json.load": _DECODED,
    "json.loads": _DECODED,
    "heapq.nlargest": Summary(calls=(2,), calls_named=names("key"), returns=1, passes=("element 1",)),
    "heapq.nsmallest": Summary(calls=(2,), calls_named=names("key"), returns=1, passes=("element 1",)),
    "heapq.heappop": Summary(elements=0),
    "collections.defaultdict": Summary(calls=(0,)),
    "dataclasses.field": Summary(calls_named=names("default_factory")),
    "ArgumentParser.add_argument": Summary(calls_named=names("type action"), methods=names("__call__")),
}  # fmt: skip

LIBRARY = {
    **{f"builtins.{name}": summary for name, summary in BUILTINS.items()},
    **{f"itertools.{name}": summary for name, summary in ITERTOOLS.items()},
    **ASYNCIO,
    **THREADS,
    **CONTEXTLIB,
    **TEMPLATES,
    **OTHERS,
}

# Methods of objects of the library, whatever they are called on.
METHODS = {
    "add_done_callback": Summary(calls=(0,)),
    "__wrapped__": Summary(calls=(RECEIVER,), passes=("rest 0",), result_of=RECEIVER),
    "result": Summary(returns=RECEIVER),
    "sort": Summary(calls_named=names("key"), passes=("element",)),
    "format": Summary(fills=re.compile(r"\{[^{}]*\}")),
}

# what code gives members as it likes
OPEN_OBJECTS = names("threading.local() types.SimpleNamespace argparse.Namespace flask.g")

FILLABLE = {
    **dict.fromkeys(
        names("list set collections.deque collections.UserList weakref.WeakSet"), Filling.ELEMENTS
    ),
    **dict.fromkeys(
        names(
            "dict collections.OrderedDict collections.ChainMap collections.UserDict weakref.WeakKeyDictionary "
            "weakref.WeakValueDictionary"
        ),
        Filling.ITEMS,
    ),
    "collections.defaultdict": Filling.FACTORY,
    "contextvars.ContextVar": Filling.DEFAULT,
    **{
        f"{module}.{name}": Filling.ELEMENTS
        for module in ("queue", "asyncio", "multiprocessing")
        for name in ("Queue", "LifoQueue", "PriorityQueue", "SimpleQueue")
    },
}
