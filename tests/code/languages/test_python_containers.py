"""Collections that calls make, and how their elements are found again."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.code.languages.checks import check

from tersely.code.engine import Engine

CLASS = "class A:\n    def go(self): pass\n"


@pytest.mark.parametrize(
    ("made", "filled", "taken"),
    [
        ("list()", ".append(A())", "[0]"),
        ("set()", ".add(A())", ".pop()"),
        ("deque(maxlen=3)", ".append(A())", ".popleft()"),
        ("collections.deque([A()])", ".clear()", ".pop()"),
        ("dict()", "['x'] = A()", "['x']"),
        ("dict(x=A())", ".clear()", "['x']"),
        ("dict([('x', A())])", ".clear()", "['x']"),
        ("dict({'x': A()})", ".clear()", "['x']"),
        ("OrderedDict()", "['x'] = A()", ".get('x')"),
        ("defaultdict(A)", ".clear()", "['x']"),
        ("defaultdict(list)", "['x'].append(A())", "['x'][0]"),
    ],
)
def test_what_is_put_into_a_collection_is_found_in_it(
    tmp_path: Path, made: str, filled: str, taken: str
) -> None:
    source = (
        "import collections\nfrom collections import OrderedDict, defaultdict, deque\n"
        f"{CLASS}"
        "class Holder:\n"
        f"    def __init__(self): self.held = {made}\n"
        f"    def put(self): self.held{filled}\n"
        f"    def take(self): self.held{taken}.go()\n"
    )
    check(tmp_path, {"a.py": source}, edges=["a.py:Holder.take -> a.py:A.go inferred"])


def test_a_name_of_our_own_makes_no_collection(tmp_path: Path) -> None:
    source = (
        f"{CLASS}class B:\n    def go(self): pass\n"
        "class deque:\n    def append(self, it): pass\n    def popleft(self): return B()\n"
        "def f():\n    held = deque()\n    held.append(A())\n    held.popleft().go()\n"
        "def g(list):\n    held = list()\n    held.append(A())\n    held[0].go()\n"
    )
    check(
        tmp_path,
        {"a.py": source},
        edges=["a.py:f -> a.py:B.go inferred"],
        absent=["a.py:f -> a.py:A.go inferred", "a.py:g -> a.py:A.go inferred"],
    )


def test_keys_that_a_mapping_has_from_itself(tmp_path: Path) -> None:
    (tmp_path / "m.py").write_text(
        "def first(): pass\n"
        "def run():\n"
        "    table = {first: 1}\n"
        "    for key in table.keys():\n"
        "        table[key] = 2\n"
        "    for key in table:\n"
        "        key()\n"
    )
    with Engine.open(tmp_path) as engine:
        engine.refresh()
        assert [edge.callee for edge in engine.graph.callees("m.py:run")] == ["m.py:first"]
