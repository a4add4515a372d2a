"""What was not read is said: files that may use a symbol, and the reasons."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tersely.capabilities.graph import calls, dead
from tersely.capabilities.invoke import ask
from tersely.capabilities.symbols import references
from tersely.capabilities.text import PLAIN
from tersely.foundation.limits import MAX_FILE_BYTES
from tersely.workspace import Workspace

USE = "from a import save\n"
UNREAD = ("big.py (too large)", "latin.py (not utf8)", "broken.py (not understood from line 1)")


def test_files_that_may_use_a_symbol_are_named(tmp_path: Path) -> None:
    _write(tmp_path)
    with Workspace.open(tmp_path) as workspace:
        called: Any = ask(workspace, "code.calls", symbol="save")
        assert set(called.unread) == set(UNREAD)
        shown = calls.text(called, PLAIN)
        assert "exact" not in shown
        assert "not complete: big.py (too large)" in shown
        referred: Any = ask(workspace, "code.symbol.references", symbol="save")
        assert set(referred.unread) == set(UNREAD[:2])  # what imports it is a reference that is known
        assert "exact" not in references.text(referred, PLAIN)
        whole: Any = ask(workspace, "code.calls", symbol="load")
        assert whole.unread == ("big.py (too large)",)  # which is not looked into
        assert "lone" not in dead.text(ask(workspace, "code.dead"), PLAIN)  # type: ignore[arg-type]
        for name in ("big.py", "latin.py", "broken.py"):
            (tmp_path / name).unlink()
        workspace.refresh()
        called = ask(workspace, "code.calls", symbol="save")
        assert called.unread == ()
        assert "exact" in calls.text(called, PLAIN)


def _write(root: Path) -> None:
    (root / "a.py").write_text("def save(x): ...\ndef load(): ...\ndef lone(): ...\n")
    (root / "b.py").write_text(f"{USE}save(1)\n")
    (root / "big.py").write_text(USE + "#" * MAX_FILE_BYTES)
    (root / "latin.py").write_bytes(b"x = '\xff'\nsave(3)\nlone()\n")
    (root / "broken.py").write_text(f"{USE}def f(:\n  save((\n")
