"""A member is found by the name of a class that inherits it."""

from __future__ import annotations

from pathlib import Path

import pytest

from tersely.code.engine import Engine
from tersely.foundation.errors import TerselyError


def test_a_member_is_found_by_a_class_that_inherits_it(tmp_path: Path) -> None:
    (tmp_path / "base.py").write_text(
        "class Base:\n    def go(self): ...\n    def own(self): ...\n"
    )
    (tmp_path / "a.py").write_text(
        "import base\nclass Kid(base.Base):\n    def own(self): ...\ndef alone(): ...\n"
    )
    with Engine.open(tmp_path) as engine:
        engine.refresh()
        assert engine.symbol("Kid.go").id == "base.py:Base.go"
        assert engine.symbol("a.py:Kid.go").id == "base.py:Base.go"
        assert engine.symbol("Kid.own").id == "a.py:Kid.own"
        for missing in ("Kid.gone", "alone.go"):
            with pytest.raises(TerselyError, match="no symbol is named"):
                engine.symbol(missing)
