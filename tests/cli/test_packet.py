"""The packet: what a task is about, or nothing."""

from __future__ import annotations

import json
import shlex
import subprocess
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.depth import examples

from tersely.capabilities.invoke import ask
from tersely.capabilities.packs.packet import SMALL_FILES
from tersely.cli.main import main
from tersely.context.lenses.localization.task import MAX_TASK_CHARACTERS, MAX_TASK_NAMES, read_task
from tersely.context.pack.kinds.packet import HEADING
from tersely.foundation.errors import TerselyError
from tersely.foundation.text.tokens import count
from tersely.workspace import Workspace

FILES = {
    "shop/basket.py": '''"""Baskets."""


class Basket:
    def __init__(self):
        self.lines = []

    def total(self, currency):
        """What the basket costs."""
        return sum(line.price for line in self.lines)

    def add(self, line):
        if line.price < 0:
            raise ValueError("a price is never below zero here")
        self.lines.append(line)
'''
    + 400 * "# Baskets of wicker were woven by hand.\n",
    "shop/postage.py": '''"""Postage."""


def postage_of(parcel):
    return 3 if parcel.weight < 2 else 7
''',
    "shop/invoices.py": '''"""Invoices."""

from shop.basket import Basket


def invoice(basket: Basket):
    return f"to pay: {basket.total('EUR')}"
''',
    "tests/test_basket.py": """from shop.basket import Basket


def test_an_empty_basket_costs_nothing():
    assert Basket().total("EUR") == 0
""",
    "pyproject.toml": "[tool.pytest.ini_options]\n",
}

TRACE = """Adding free samples breaks

Traceback (most recent call last):
  File "/srv/run.py", line 3, in <module>
  File "/srv/site-packages/shop/basket.py", line 13, in add
ValueError: a price is never below zero here
"""


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    for name, text in FILES.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    return tmp_path


def packet(root: Path, task: str, **arguments: Any) -> Any:
    with Workspace.open(root) as workspace:
        return ask(workspace, "code.packet", task=task, **{"min_confidence": 0.0, **arguments})


def test_a_name_leads_to_its_file_symbol_and_test(shop: Path) -> None:
    found = packet(shop, "Basket.total ignores the currency")
    assert found.files[0].path == "shop/basket.py"
    assert found.rows[0].id == "shop/basket.py:Basket.total"
    assert found.tests == ("tests/test_basket.py",)
    assert "tests/test_basket.py" in found.test_command
    assert f"test: {found.test_command}\n" in found.text


@pytest.mark.parametrize(
    "task",
    [
        TRACE,
        "Free samples fail\n\nIt says 'a price is never below zero here' when they are added",
        "Adding lines is slow\n\nSee shop/basket.py:11",
        "Something is slow\n\nSee https://git.example/a/shop/blob/4f3c1d2/shop/basket.py#L12-L13.",
    ],
    ids=["trace", "message", "path", "link"],
)
def test_exact_places_and_messages_lead_to_the_file(shop: Path, task: str) -> None:
    found = packet(shop, task)
    assert found.files[0].path == "shop/basket.py"
    assert found.files[0].why or found.rows[0].reason


def test_lines_that_are_linked_to_lead_to_their_symbol(shop: Path) -> None:
    link = "https://git.example/group/shop/-/blob/main/shop/basket.py#L12"
    found = packet(shop, f"Something is slow\n\nSee {link} for it")
    assert found.rows[0].id == "shop/basket.py:Basket.add"
    assert found.rows[0].reason == "linked to"


@pytest.mark.parametrize(
    "part", ["b", "d/", "a.b_", "`", "e.r", "+", "a@", "a\\", "a.b:1 ", "https://a/b/"]
)
def test_a_long_word_is_read_like_any_other(part: str) -> None:
    text = f"Slow https://a/{part * (MAX_TASK_CHARACTERS // len(part) - 20)}"
    assert read_task(text).title.startswith("Slow")


def test_tests_are_no_owners(shop: Path) -> None:
    assert not any(
        one.path.startswith("tests/") for one in packet(shop, "test_basket costs nothing").files
    )


def test_who_is_not_sure_says_nothing(shop: Path) -> None:
    found = packet(shop, "Please write a poem about the sea", min_confidence=0.93)
    assert (found.speaks, found.text, found.used) == (False, "", 0)
    assert found.confidence < 0.93


def test_a_test_command_that_is_given_is_the_contract(shop: Path) -> None:
    assert (
        packet(shop, "Basket.total ignores the currency", test_command="make check").test_command
        == "make check"
    )


def test_rows_say_where_why_and_how_likely(shop: Path) -> None:
    found = packet(shop, "Basket.total ignores the currency")
    row = found.rows[0]
    assert (
        f"shop/basket.py\n  {row.line}-{row.end_line} Basket.total: {row.certainty}, named in the task\n"
        in found.text
    )
    assert [one.chance for one in found.rows] == sorted(
        (one.chance for one in found.rows), reverse=True
    )


def test_the_source_of_the_likeliest_stands_below_the_rows(shop: Path) -> None:
    found = packet(shop, "Basket.total ignores the currency")
    assert found.bodies[0].id == "shop/basket.py:Basket.total"
    assert (
        "return sum(line.price for line in self.lines)"
        in found.text.partition("== shop/basket.py:")[2]
    )


def test_what_it_says_to_do_next_can_be_typed(shop: Path) -> None:
    found = packet(shop, "Basket ignores the currency when lines are added")
    assert found.next
    for command in found.next:
        program, *words = shlex.split(command)
        assert program == "tersely"
        assert main([*words, "--root", str(shop)]) == 0


def test_a_long_function_is_offered_in_windows_with_the_words_of_the_task(
    shop: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    filling = [f"    value_{number} = compute_{number}()" for number in range(400)]
    body = [*filling[:200], "    zebra = pool.idle_sockets()", *filling[200:]]
    (shop / "shop/pool.py").write_text("\n".join(["def drain(pool):", *body]) + "\n")
    found = packet(shop, "`drain` leaks zebra sockets")
    command = next(one for one in found.next if " context " in one)
    assert main([*shlex.split(command)[1:], "--root", str(shop)]) == 0
    shown = capsys.readouterr().out
    assert "zebra = pool.idle_sockets()" in shown
    assert "value_40 = compute_40()" not in shown


def test_what_reports_say_of_themselves_is_not_searched_for(shop: Path) -> None:
    (shop / "shop/bugs.py").write_text("def doesn(bug):\n    return bug + 2024\n")
    found = packet(shop, "Bug 2024: Basket.total doesn't heed the currency, says a zookeeper")
    search = next(shlex.split(one) for one in found.next if " search " in one)
    assert "currency" in search
    assert not {"Bug", "doesn", "2024", "zookeeper"} & set(search)


def test_earlier_commits_are_evidence(shop: Path) -> None:
    def git(*words: str) -> None:
        identity = ["-c", "user.name=a", "-c", "user.email=a@b.c", "-c", "commit.gpgsign=false"]
        subprocess.run(["git", *identity, *words], cwd=shop, check=True, capture_output=True)

    git("init", "-q")
    git("add", ".")
    git("commit", "-q", "-m", "Begin")
    before = packet(shop, "Charge surcharges for islands").files[0].probability
    (shop / "shop/postage.py").write_text(FILES["shop/postage.py"] + "\n\nZONE = 1\n")
    git("commit", "-q", "-a", "-m", "Prepare surcharges for islands")
    after = packet(shop, "Charge surcharges for islands").files[0]
    assert after.path == "shop/postage.py"
    assert after.probability > before


@settings(max_examples=examples(), deadline=None)
@given(budget=st.integers(60, 400))
def test_a_packet_never_exceeds_its_tokens(shop_once: Path, budget: int) -> None:
    try:
        found = packet(shop_once, TRACE, max_tokens=budget)
    except TerselyError as error:
        assert error.code == "budget_too_small"
    else:
        assert found.used == count(found.text) <= budget
        assert found.text.startswith(HEADING) or found.silence == SMALL_FILES


@pytest.fixture(scope="module")
def shop_once(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("shop")
    for name, text in FILES.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    return root


def test_a_long_task_comes_from_a_file(shop: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (shop / "task.txt").write_text("Basket.total ignores the currency\n" + "It is so. " * 2_000)
    assert (
        main(["packet", "--task-file", str(shop / "task.txt"), "--root", str(shop), "--json"]) == 0
    )
    assert json.loads(capsys.readouterr().out)["result"]["files"][0]["path"] == "shop/basket.py"


def test_a_packet_needs_a_task(shop: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["packet", "--root", str(shop)]) == 2
    assert "TASK is missing" in capsys.readouterr().err


@given(st.text(max_size=400))
def test_any_text_is_a_task(text: str) -> None:
    task = read_task(text)
    assert len(task.names) <= MAX_TASK_NAMES
    assert "\n" not in task.title
