"""Slices that begin in a function go on in the functions that it is written in."""

from __future__ import annotations

from pathlib import Path

import pytest

from tersely.capabilities.invoke import ask
from tersely.workspace import Workspace

SOURCE = """\
def outer(items, limit, other):
    bound = limit * 2
    unused = other + 1
    def middle(y):
        scale = y + bound
        def inner(x):
            if x > scale:
                return x - scale
            return x
        return inner(y)
    total = 0
    for item in items:
        total += middle(item)
    print(unused)
    return total
def plain(a):
    def own(b):
        return b + 1
    c = a + own(a)
    return c
def counting():
    count = 0
    def add(by):
        nonlocal count
        count += by
    add(1)
    return count
"""


@pytest.mark.parametrize(
    ("place", "direction", "around"),
    [
        ("a.py:8", "backward", {"outer.middle": {5}, "outer": {2}}),
        ("a.py:8", "forward", {"outer.middle": {10}, "outer": {13, 15}}),
        ("a.py:18", "backward", {}),
        ("a.py:18", "forward", {"plain": {19, 20}}),
        ("a.py:25", "backward", {"counting": {22}}),
        ("a.py:25", "forward", {"counting": {26, 27}}),
    ],
)
def test_a_slice_goes_on_around_its_function(
    tmp_path: Path, place: str, direction: str, around: dict[str, set[int]]
) -> None:
    (tmp_path / "a.py").write_text(SOURCE, encoding="utf-8")
    with Workspace.open(tmp_path) as workspace:
        workspace.refresh()
        found = ask(workspace, "code.slice", place=place, direction=direction)
    lines = {part.symbol.partition(":")[2]: set(part.lines) for part in found.parts[1:]}
    assert lines.keys() == around.keys()
    assert all(around[name] <= lines[name] for name in around)
    assert all(not {3, 14} & one for one in lines.values())
