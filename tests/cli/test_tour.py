"""The tour: questions about a repository, and what they cost beside grep."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest
from tests.cli.asking import Ask
from tests.repositories import initialized

from tersely.cli.help.tour import TIMES_FEWER
from tersely.foundation.text.tokens import count

README = (Path(__file__).parents[2] / "README.md").read_text("utf-8")
FILES = {
    "kettle/heat.py": "import logging\n\n\ndef heat(water):\n    logging.info('heat')\n    return water + 80\n\n\n"
    "def cool(water):\n    return water - 80\n" + "# It takes a while.\n" * 400,
    "kettle/tea.py": "from kettle.heat import heat\n\n\ndef brew(water):\n    return heat(water), 'reheat heat'\n",
    "kettle/shop.py": "from kettle.heat import heat\nfrom kettle.tea import brew\n\n\ndef serve():\n"
    "    return brew(20), heat(1)\n\n\ndef again():\n    return heat(2)\n",
    "tests/test_shop.py": "from kettle.shop import serve\n\n\ndef test_serve():\n    assert serve()\n",
}


@pytest.fixture
def kettle(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    root = initialized(tmp_path / "kettle")
    for path, text in FILES.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text)
    monkeypatch.chdir(root)
    return root


def grep(root: Path, *names: str) -> str:
    """What the program prints for some names in the files of a repository, in their order."""
    wanted = [word for name in names for word in ("-e", name)]
    command = ["grep", "-nwH", *wanted, *sorted(FILES)]
    return subprocess.run(command, cwd=root, capture_output=True, text=True, check=True).stdout


def test_every_figure_is_that_of_the_command_and_of_grep(ask: Ask, kettle: Path) -> None:
    result = ask("tour", "--json").result
    packet, impact, change = result["stops"]
    assert "kettle/heat.py" in packet["command"]
    assert impact["command"] == "tersely impact kettle/heat.py:heat"
    assert change["command"] == "tersely change-impact kettle/heat.py"
    for stop in (impact, change):
        told = ask(*stop["command"].split()[1:]).out
        assert (stop["answer"], stop["tokens"]) == (told, count(told))
    assert packet["tokens"] == count(packet["answer"])
    assert packet["tokens_instead"] == count(FILES["kettle/heat.py"])
    assert impact["tokens_instead"] == count(grep(kettle, "heat", "serve"))
    assert change["tokens_instead"] == count(grep(kettle, "heat", "cool"))
    told = ask("tour").out
    ours = sum(stop["tokens"] for stop in result["stops"])
    theirs = sum(stop["tokens_instead"] for stop in result["stops"])
    *_, sums, ordinary = told.splitlines()
    assert sums == f"These answers: {ours:,} tokens; without Tersely: {theirs:,}"
    assert f"{TIMES_FEWER} times fewer" in ordinary


def test_the_figure_of_ordinary_tasks_is_that_of_the_readme() -> None:
    """Both are medians of the same issues."""
    medians = dict(re.findall(r"^\| \**([^|*]+)\** \|.*\| ([\d,]+) \|$", README, re.MULTILINE))
    grep, packet = (
        int(medians[name].replace(",", ""))
        for name in ("grep, windows of 100 lines", "Tersely's packet, then grep in its files")
    )
    assert round(grep / packet) == TIMES_FEWER


def test_a_tour_changes_no_file(ask: Ask, kettle: Path) -> None:
    assert ask("tour").status == 0
    found = {
        str(path.relative_to(kettle)): path.read_text()
        for path in kettle.rglob("*.py")
        if path.is_file()
    }
    assert found == FILES


def test_outside_of_a_repository_a_small_one_of_ours_is_asked_about(
    ask: Ask, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    outside, temporary = tmp_path / "outside", tmp_path / "temporary"
    outside.mkdir()
    temporary.mkdir()
    monkeypatch.chdir(outside)
    monkeypatch.setattr("tempfile.tempdir", str(temporary))
    result = ask("tour", "--json").result
    assert all(stop["tokens"] and stop["tokens_instead"] for stop in result["stops"])
    assert "a small shop" in result["text"].splitlines()[0]
    assert not list(outside.iterdir())
    assert not list(temporary.iterdir())


def test_what_is_not_found_is_not_counted(
    ask: Ask, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = initialized(tmp_path / "empty")
    monkeypatch.chdir(root)
    answer = ask("tour")
    assert answer.status == 0
    assert "tokens" not in answer.out
    (root / "lonely.py").write_text("def lonely():\n    pass\n\n\nall = [lonely]\n")
    told = ask("tour", "--json").result
    _, impact, change = told["stops"]
    assert "no callers; 1 reference" in impact["answer"]
    assert "no affected tests found" in change["answer"]
    assert [impact["tokens"], change["tokens"]] == [0, 0]
    assert told["text"].count("no answer, not counted") >= 2
    assert told["text"].endswith("\ntoo few answers for a sum\n")
