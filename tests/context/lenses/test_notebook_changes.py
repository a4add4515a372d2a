"""What changed in a notebook, by its functions."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

from tersely.code.engine import Engine
from tersely.context.lenses.diff.change import Revisions, of_git, symbols_changed

SOURCE = ["def cleaned(rows):\n", "    return rows if rows else 1 % 2"]
CELL = {"cell_type": "code", "outputs": [{"text": ["secret"]}], "source": SOURCE}
NOTEBOOK = json.dumps({"cells": [CELL]}, indent=1)


def test_what_changed_in_a_notebook_is_told_by_its_functions(tmp_path: Path) -> None:
    def git(*words: str) -> None:
        subprocess.run(("git", "-C", str(tmp_path), *words), check=True, capture_output=True)

    (tmp_path / "Book.ipynb").write_text(NOTEBOOK)
    git("init", "-q")
    git("add", ".")
    git("-c", "user.name=a", "-c", "user.email=a@b.c", "commit", "-qm", "one")
    changed = NOTEBOOK.replace("else 1 % 2", "else 2").replace("secret", "other")
    (tmp_path / "Book.ipynb").write_text(changed)
    with Engine.open(tmp_path) as engine:
        engine.refresh()
        change = of_git(engine.root, engine.store, Revisions(worktree=True))
        names = {one.symbol.qualname for one in symbols_changed(change)}
    assert "cleaned" in names
