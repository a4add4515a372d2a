"""Notebooks: the code of their cells as one module of Python, on the lines of the file."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from tests.code.languages.checks import check, read, splinter

from tersely.code.engine import Engine
from tersely.code.languages.registry import source_in

CELLS = [
    ("markdown", ["# Load\n", "of the data"]),
    ("code", ["%matplotlib inline\n", "import tools\n", "files = !ls *.csv\n", "tools.load?"]),
    (
        "code",
        ['def cleaned(rows, mark="é\\n"):\n', "    return tools.load(rows) if rows else 1 % 2"],
    ),
    ("code", ["%%bash\n", "cleaned(1)"]),
    ("code", ["%%time\n", "table = cleaned([1])\n", "%timeit -n 10 cleaned(table)"]),
]


def notebook(extension: str = ".py") -> dict[str, Any]:
    """A notebook as Jupyter writes one, with an output that holds what looks like a cell."""
    outputs = [
        {"data": {"application/json": {"source": ["secret(1)\n"]}, "text/plain": ["secret"]}}
    ]
    cells = [
        {
            "cell_type": kind,
            "metadata": {},
            **({"outputs": outputs} if kind == "code" else {}),
            "source": source,
        }
        for kind, source in CELLS
    ]
    about = {"language_info": {"codemirror_mode": {"name": "x"}, "file_extension": extension}}
    return {"cells": cells, "metadata": about, "nbformat": 4, "nbformat_minor": 4}


FILES = {
    "Book.ipynb": json.dumps(notebook(), indent=1) + "\n",
    "tools.py": "def load(rows): return secret(rows)\ndef secret(x): return x\n",
}


def test_cells_are_a_module_that_calls_and_is_called(tmp_path: Path) -> None:
    lines = FILES["Book.ipynb"].split("\n")
    line = next(at for at, text in enumerate(lines, 1) if "def cleaned" in text)
    check(
        tmp_path,
        FILES,
        definitions=[f"Book.ipynb:cleaned function {line}"],
        imports=["Book.ipynb: tools  tools"],
        edges=[
            "Book.ipynb:cleaned -> tools.py:load exact",
            "Book.ipynb -> Book.ipynb:cleaned exact",
        ],
        absent=["Book.ipynb -> tools.py:secret"],
    )
    with Engine.open(tmp_path) as engine:
        assert engine.store.problems() == []
        source = engine.source("Book.ipynb")
        sites = engine.graph.callers("Book.ipynb:cleaned")[0].sites
        assert len(source.split(b"\n")) == len(lines)
        assert b"secret" not in source
        assert b"# of the data" in source
        assert ["cleaned" in lines[site.line - 1] for site in sites] == [True, True]


def test_a_notebook_on_one_line_is_read_as_jupyter_would_write_it() -> None:
    squeezed = json.dumps(notebook()).encode()
    assert source_in("a.ipynb", squeezed) == source_in("a.ipynb", FILES["Book.ipynb"].encode())[:-1]


def test_a_notebook_of_another_language_is_text_alone() -> None:
    text = json.dumps(notebook(".r"), indent=1).encode()
    assert b"# import tools" in source_in("a.ipynb", text)
    assert all(not line or line[:1] == b"#" for line in source_in("a.ipynb", text).split(b"\n"))


@given(st.integers())
def test_a_broken_notebook_never_fails(seed: int) -> None:
    broken = splinter(FILES["Book.ipynb"].encode(), seed)
    read(source_in("a.ipynb", broken), "python")
