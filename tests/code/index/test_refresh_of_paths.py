"""A refresh that is told what has changed gives what a rebuilt index gives."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.code.index.dumped import dumped
from tests.depth import examples

from tersely.code.index.refresh import refresh
from tersely.code.index.storage.store import Store

PATHS = ["a.py", "b.py", "d/c.py", "d/e.js", "notes.txt", "run", "d/.gitignore", "pyproject.toml"]
TEXTS = [
    "def f(): g()\n",
    "def g(): ...\n",
    "#!/usr/bin/env python\ndef h(): ...\n",
    "e.js\n",
    "x" * 1_000_001,
    "\0",
]
CHANGES = st.lists(st.tuples(st.sampled_from(PATHS), st.sampled_from([*TEXTS, ""])), max_size=6)


@pytest.mark.slow
@settings(max_examples=examples(60))
@given(CHANGES, CHANGES)
def test_it_is_equal_to_a_rebuild(
    before: list[tuple[str, str]], after: list[tuple[str, str]]
) -> None:
    with tempfile.TemporaryDirectory() as directory:
        root = Path(directory)
        (root / "d").mkdir()
        apply(root, before)
        with Store.in_memory() as told, Store.in_memory() as rebuilt:
            refresh(root, told)
            for change in after:
                apply(root, [change])
                refresh(root, told, paths={change[0]})
            refresh(root, rebuilt)
            assert dumped(told) == dumped(rebuilt)


def apply(root: Path, changes: list[tuple[str, str]]) -> None:
    """Write a file, or delete it where there is no text."""
    for path, text in changes:
        if text:
            (root / path).write_text(text)
        else:
            (root / path).unlink(missing_ok=True)
