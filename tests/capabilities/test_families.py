"""Many overrides of one method are one line."""

from __future__ import annotations

from pathlib import Path

from tersely.capabilities.answers.text import PLAIN
from tersely.capabilities.catalogue import load
from tersely.capabilities.invoke import invoke
from tersely.workspace import Workspace

BASE = "class Base:\n    def run(self):\n        self.step()\n\n    def step(self): ...\n\n\n"
CLASS = "class C{0}(Base):\n    def step(self):\n        super().step()\n\n\n"


def test_overrides_of_one_method_are_one_line(tmp_path: Path) -> None:
    (tmp_path / "m.py").write_text(
        BASE + "".join(map(CLASS.format, range(10, 50))), encoding="utf-8"
    )
    capability = load("code.calls")
    with Workspace.open(tmp_path) as workspace:
        reached, called = (
            capability.text(
                invoke(capability, workspace, {"symbol": symbol}).result, PLAIN
            ).splitlines()
            for symbol in ("Base.run", "Base.step")
        )
    assert "  step in 40 classes: C10, C11, C12 and 37 more  line 3  inferred" in reached
    assert "  step in 40 classes: C10, C11, C12 and 37 more" in called
    assert max(len(reached), len(called)) < 10
