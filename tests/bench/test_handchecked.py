"""Answers checked by hand: read, asked, judged and told."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest
from bench.handchecked.__main__ import main
from bench.handchecked.cases import ANSWERS, Case, cases, languages
from bench.handchecked.judge import QUESTIONS, judge

from tersely.workspace import Workspace

FILES = {
    "shop/__init__.py": "from shop.cart import total as total\n",
    "shop/cart.py": "def price(item): ...\n\n\ndef total(items): return sum(map(lambda one: price(one), items))\n",
    "main.py": "from shop import total\n\n\ndef run(thing):\n    total([])\n    thing.unique_name()\n",
    "other.py": "class Other:\n    def unique_name(self): ...\n",
}


def case(question: str, of: str, *answer: str, depth: int = 3) -> Case:
    return Case("python", "o/shop", "c0ffee", question, of, frozenset(answer), "read", depth)


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    for path, text in FILES.items():
        target = tmp_path / "o+shop" / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text)
    return tmp_path / "o+shop"


@pytest.mark.parametrize(
    "asked",
    [
        case("callers", "shop/cart.py:price", "shop/cart.py:total"),
        case("callees", "main.py:run", "shop/cart.py:total", "other.py:Other.unique_name"),
        case("impact", "shop/cart.py:price", "shop/cart.py:total", "main.py:run"),
        case("impact", "shop/cart.py:price", "shop/cart.py:total", depth=1),
        case("definition", "main.py:5:5", "shop/cart.py:4"),
        case("definition", "main.py:1:6", "shop/__init__.py:1"),
        case("extract", "other.py", "other.py:Other", "other.py:Other.unique_name"),
        case("extract", "shop/cart.py", "shop/cart.py:price", "shop/cart.py:total"),
    ],
    ids=lambda asked: asked.name,
)
def test_right_answers(shop: Path, asked: Case) -> None:
    with Workspace.open(shop) as workspace:
        verdict = judge(workspace, asked)
    assert verdict.right, verdict


def test_what_is_missing_or_too_much_makes_an_answer_wrong_but_guesses_do_not(shop: Path) -> None:
    with Workspace.open(shop) as workspace:
        missing = judge(
            workspace, case("callers", "shop/cart.py:price", "main.py:run", "shop/cart.py:total")
        )
        extra = judge(workspace, case("callers", "shop/cart.py:price"))
        guess = judge(workspace, case("callees", "main.py:run", "shop/cart.py:total"))
        unknown = judge(workspace, case("callers", "shop/cart.py:gone"))
    assert (missing.missing, missing.right) == (("main.py:run",), False)
    assert (extra.extra, extra.right) == (("shop/cart.py:total",), False)
    assert (guess.guesses, guess.right) == (1, True)
    assert "symbol_not_found" in unknown.error
    assert not unknown.right


def test_only_the_commit_that_was_checked_is_judged(
    shop: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    git = ["git", "-C", str(shop), "-c", "user.name=n", "-c", "user.email=e@x"]
    for words in (["init", "-q"], ["add", "."], ["commit", "-qm", "first"]):
        subprocess.run([*git, *words], check=True)
    head = subprocess.run(
        [*git, "rev-parse", "HEAD"], capture_output=True, text=True, check=True
    ).stdout.strip()
    answers = shop.parent / "answers"
    answers.mkdir()
    row = {
        "repository": "o/shop",
        "question": "extract",
        "of": "other.py",
        "answer": ["other.py:Other"],
        "checked": "read",
    }
    lines = [json.dumps({**row, "commit": commit}) for commit in (head, "0" * 40)]
    (answers / "python.jsonl").write_text("\n".join(lines) + "\n")
    assert main([str(shop.parent), "--answers", str(answers), "--verbose"]) == 0
    told = capsys.readouterr()
    assert "| python | o/shop | 0 | 1 | 0 | 1 | 0 | 0 | `extract other.py` |" in told.out
    assert "+ other.py:Other.unique_name" in told.out
    assert f"o/shop is at {head[:12]}, the answers are those of 000000000000" in told.err
    assert not (shop / ".tersely").exists()


@pytest.mark.parametrize("language", languages())
def test_the_answers_are_well_formed(language: str) -> None:
    known = list(cases(language))
    assert len({(each.repository, each.question, each.of) for each in known}) == len(known)
    for each in known:
        assert each.question in QUESTIONS
        assert len(each.commit) == 40
        assert each.repository.count("/") == 1
        assert each.of
        assert each.checked
        assert all(one and "\n" not in one for one in each.answer)
    assert (ANSWERS / f"{language}.jsonl").is_file()
