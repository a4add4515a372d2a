"""Impact of what is not called alone: a type, a field, a constant."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tersely.capabilities.answers.text import PLAIN
from tersely.capabilities.graph.calls import text
from tersely.capabilities.invoke import ask
from tersely.capabilities.symbols import references
from tersely.workspace import Workspace

SOURCES = {
    "store.py": "LIMIT = 3\n\nclass Store: ...\n\ndef make() -> 'Store': return Store()\n",
    "shop.py": "from store import LIMIT, Store\n\nclass Shop(Store):\n    def fill(self, other: Store): return LIMIT\n",
    "use.py": "from shop import Shop\n\ndef sell(): return Shop().fill(None)\n",
}


def test_impact_of_a_type_follows_its_references(tmp_path: Path) -> None:
    for name, source in SOURCES.items():
        (tmp_path / name).write_text(source)
    with Workspace.open(tmp_path) as workspace:
        impact = _reached(workspace, "code.impact", "store.py:Store")
        assert {"shop.py:Shop", "shop.py:Shop.fill", "store.py:make", "use.py:sell"} <= impact
        assert _reached(workspace, "code.impact", "LIMIT") == {
            "shop.py",
            "shop.py:Shop.fill",
            "use.py:sell",
        }
        assert _reached(workspace, "code.calls", "store.py:Store") == {"store.py:make"}


def test_what_nobody_calls_and_somebody_names_has_references(tmp_path: Path) -> None:
    (tmp_path / "table.py").write_text(
        "def shown(): ...\ndef other(): ...\nTABLE = {'shown': shown}\nLIST = [shown]\n"
    )
    with Workspace.open(tmp_path) as workspace:
        for symbol, line in {
            "shown": "no callers; 2 references: `symbol references table.py:shown`",
            "other": "no callers found",
        }.items():
            answer: Any = ask(workspace, "code.impact", symbol=symbol)
            assert text(answer, PLAIN).split("\n")[1] == line


def _reached(workspace: Workspace, capability: str, symbol: str) -> set[str]:
    answer: Any = ask(workspace, capability, symbol=symbol)
    return {call.caller for call in answer.callers.items}


def test_a_link_of_a_template_is_in_a_template(tmp_path: Path) -> None:
    files = {
        "shop/urls.py": (
            "from django.urls import path\nfrom shop import views\n"
            "urlpatterns = [path('a/', views.about, name='about')]\n"
        ),
        "shop/views.py": (
            "from django.shortcuts import render\n"
            "def about(request): return render(request, 'a.html')\n"
        ),
        "shop/templates/a.html": "<a href=\"{% url 'about' %}\">x</a>\n",
    }
    for path, source in files.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(source)
    with Workspace.open(tmp_path) as workspace:
        found: Any = ask(workspace, "code.symbol.references", symbol="about")
        lines = references.text(found, PLAIN).splitlines()
    (link,) = [line for line in lines if " link " in line]
    assert link.split()[0] == "(template)"
    assert any(line.split()[0] == "(module)" for line in lines)
