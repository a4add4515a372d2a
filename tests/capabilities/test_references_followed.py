"""Impact of what is not called alone: a type, a field, a constant."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tersely.capabilities.invoke import ask
from tersely.workspace import Workspace

SOURCES = {
    "store.py": "LIMIT = 3\n\nclass Store: ...\n\ndef make() -> 'Store': return Store()\n",
    "shop.py": "from store import LIMIT, Store\n\nclass Shop(Store):\n    def fill(self, other: Store): return LIMIT\n",
    "use.py": "from shop import Shop\n\ndef sell(): return Shop().fill(None)\n",
}


def test_impact_of_a_type_follows_its_references(tmp_path: Path) -> None:
    for name, text in SOURCES.items():
        (tmp_path / name).write_text(text)
    with Workspace.open(tmp_path) as workspace:
        impact = _reached(workspace, "code.impact", "store.py:Store")
        assert {"shop.py:Shop", "shop.py:Shop.fill", "store.py:make", "use.py:sell"} <= impact
        assert _reached(workspace, "code.impact", "LIMIT") == {
            "shop.py",
            "shop.py:Shop.fill",
            "use.py:sell",
        }
        assert _reached(workspace, "code.calls", "store.py:Store") == {"store.py:make"}


def _reached(workspace: Workspace, capability: str, symbol: str) -> set[str]:
    answer: Any = ask(workspace, capability, symbol=symbol)
    return {call.caller for call in answer.callers.items}
