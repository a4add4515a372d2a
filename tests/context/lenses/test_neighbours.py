"""The symbol lens on a repository that is really indexed."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

from hypothesis import example, given, settings
from hypothesis import strategies as st
from tests.depth import examples

from tersely.code.engine import Engine
from tersely.context.lenses.candidate import View
from tersely.context.lenses.neighbours import Neighbours, view_of

FILES = {
    "shop/__init__.py": "from shop.models import Order\n",
    "shop/models.py": (
        "LIMIT = 3\n\nclass Order:\n    total: int\n\n    def add(self): self.check()\n\n    def check(self): ...\n"
    ),
    "shop/settings.py": "from shop.models import *\n\nRATE = 2\n",
    "shop/pay.py": (
        "from shop import Order as O, settings\nfrom shop.settings import LIMIT, RATE\n\n"
        "def pay(order: O) -> int:\n    order.add()\n    return LIMIT * RATE\n"
    ),
    "tests/test_pay.py": "from shop.pay import pay\n\ndef test_pay(): assert pay(1)\n",
}


def seen(engine: Engine, query: str) -> View:
    return view_of([engine.symbol(query)], Neighbours(engine.graph, engine.store, engine.source))


def reasons(view: View) -> dict[str, str]:
    return {candidate.symbol.id: candidate.reason for candidate in view.candidates}


def test_calls_tests_and_what_names_mean_in_other_files(engine: Engine) -> None:
    assert reasons(seen(engine, "pay")) == {
        "shop/pay.py:pay": "target",
        "shop/models.py:Order": "type",
        "shop/models.py:LIMIT": "constant",
        "shop/settings.py:RATE": "constant",
        "shop/models.py:Order.add": "callee",
        "shop/models.py:Order.check": "callee",
        "tests/test_pay.py:test_pay": "test",
    }


def test_a_class_comes_with_its_members(engine: Engine) -> None:
    found = reasons(seen(engine, "Order"))
    assert [found[f"shop/models.py:Order.{name}"] for name in ("add", "check")] == [
        "member",
        "member",
    ]


def test_it_sees_the_same_every_time(engine: Engine) -> None:
    assert seen(engine, "pay") == seen(engine, "pay")


def test_siblings_are_what_stands_apart_in_the_same_file(engine: Engine) -> None:
    neighbours = Neighbours(engine.graph, engine.store, engine.source)
    assert [one.qualname for one in neighbours.beside(engine.symbol("Order.add"))] == [
        "Order.check"
    ]
    assert neighbours.beside(engine.symbol("Order")) == []
    view = view_of([engine.symbol("Order.check")], neighbours, siblings=True)
    assert reasons(view)["shop/models.py:Order.add"] == "caller"  # what is related is told as that


HEADERS = 24
GRAPHS = st.sets(
    st.tuples(st.integers(0, HEADERS - 1), st.integers(0, HEADERS - 1)), max_size=HEADERS * HEADERS
)


def c_repository(root: Path, includes: set[tuple[int, int]], holder: int) -> None:
    """Headers that include each other, one of which defines a type, and a function that names it."""
    for header in range(HEADERS):
        lines = [
            f'#include "h{target}.h"' for source, target in sorted(includes) if source == header
        ]
        lines += ["struct wanted { int size; };"] if header == holder else []
        (root / f"h{header}.h").write_text(
            "\n".join([*lines, f"struct own{header} {{ int x; }};\n"])
        )
    (root / "use.c").write_text(
        '#include "h0.h"\n\nint use(void) { struct wanted w; return w.size; }\n'
    )


def reachable(includes: set[tuple[int, int]]) -> set[int]:
    """The headers that the first one includes, itself among them."""
    found, pending = {0}, [0]
    while pending:
        current = pending.pop()
        below = {target for source, target in includes if source == current} - found
        found |= below
        pending += below
    return found


@given(GRAPHS, st.integers(0, HEADERS - 1))
# each includes all others
@example({(a, b) for a in range(HEADERS) for b in range(HEADERS)}, HEADERS - 1)
@example({(a, a + 1) for a in range(HEADERS - 1)}, HEADERS - 1)  # a chain
@settings(max_examples=examples(), deadline=None)
def test_a_type_is_visible_through_whatever_headers_include_it(
    includes: set[tuple[int, int]], holder: int
) -> None:
    with TemporaryDirectory() as directory:
        root = Path(directory)
        c_repository(root, includes, holder)
        with Engine.open(root) as engine:
            engine.refresh()
            found = reasons(seen(engine, "use.c:use"))
    assert (f"h{holder}.h:wanted" in found) is (holder in reachable(includes))


def test_names_imported_in_a_circle_mean_nothing_and_the_search_ends(tmp_path: Path) -> None:
    modules = [f"m{number}" for number in range(12)]
    for module in modules:
        others = "".join(
            f"from {other} import name{other}, lost\nfrom {other} import *\n" for other in modules
        )
        (tmp_path / f"{module}.py").write_text(f"{others}\ndef use_{module}(): return lost\n")
    with Engine.open(tmp_path) as engine:
        engine.refresh()
        assert "lost" not in str(reasons(seen(engine, "use_m0")))
