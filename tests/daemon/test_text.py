"""Questions that a daemon answers in words, for doors that show text."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.cli.asking import run
from tests.daemon.asking import Talk

from tersely.capabilities.answers.reply import cut
from tersely.foundation.errors import TerselyError
from tersely.foundation.process.identity import program_identity
from tersely.foundation.text.tokens import Tokenizer


def ask(talk: Talk, shop: Path, command: str, **arguments: Any) -> dict[str, Any]:
    talk.send(
        cmd="text", program_identity=program_identity(), root=str(shop), command=command, arguments=arguments,
        environment={},
    )  # fmt: skip
    talk.skip_receipt()
    reply = talk.receive()
    while "progress" in reply:
        reply = talk.receive()
    return reply


def test_the_words_are_those_of_the_command_line(shop: Path, talk: Talk) -> None:
    for words, command, arguments in [
        (
            ["context", "checkout", "--budget", "200"],
            "code.context",
            {"symbols": "checkout", "budget": 200},
        ),
        (
            ["symbol", "callers", "format_cents"],
            "code.calls",
            {"symbol": "format_cents", "direction": "callers"},
        ),
        (["tree"], "code.tree", {}),
    ]:
        assert (
            ask(talk, shop, command, **arguments)["text"]
            == run(words, shop, TERSELY_DAEMON="off").out
        )


def test_an_answer_that_is_too_long_is_cut_and_says_so(shop: Path, talk: Talk) -> None:
    whole = ask(talk, shop, "code.structure")["text"]
    short = ask(talk, shop, "code.structure", budget=60)["text"]
    assert Tokenizer().count(short) <= 60 < Tokenizer().count(whole)
    kept, _, said = short.rstrip("\n").rpartition("\n")
    assert whole.startswith(f"{kept}\n")
    assert f"{whole.count(chr(10)) - kept.count(chr(10)) - 1} more lines" in said


@pytest.mark.parametrize("budget", [0, -1, "many", True, 10**9])
def test_a_budget_is_a_number_within_bounds(shop: Path, talk: Talk, budget: object) -> None:
    assert ask(talk, shop, "code.tree", budget=budget)["code"] == "invalid_argument"


def test_another_program_is_not_answered(shop: Path, talk: Talk) -> None:
    talk.send(
        cmd="text",
        program_identity="other",
        root=str(shop),
        command="code.tree",
        arguments={},
        environment={},
    )
    assert talk.receive()["code"] == "unknown_command"


def test_a_cut_answer_still_says_how_to_go_on() -> None:
    text = (
        "".join(f"symbol number {number}\n" for number in range(100))
        + "… 40 more symbols: --offset 100 continues\n"
    )
    tokenizer = Tokenizer("o200k")
    shown = cut(text, 80, tokenizer)
    assert shown.endswith("… 40 more symbols: --offset 100 continues\n")
    assert "more lines have no room in 80 tokens" in shown
    assert tokenizer.count(shown) <= 80
    assert "continues" not in cut(text, 25, tokenizer)


@given(
    st.lists(
        st.text(st.characters(exclude_characters="\n", exclude_categories=["Cs"])), max_size=30
    ),
    st.integers(1, 200),
)
def test_a_cut_text_keeps_to_its_budget(lines: list[str], budget: int) -> None:
    tokenizer = Tokenizer()
    text = "".join(f"{line}\n" for line in lines)
    try:
        shown = cut(text, budget, tokenizer)
    except TerselyError as error:
        assert error.code == "budget_too_small"
        assert tokenizer.count(text) > budget
        return
    assert tokenizer.count(shown) <= budget
    cuts = list(re.finditer(r"… (?:1 more line has|[\d,]+ more lines have) no room", shown))
    assert shown == text or text.startswith(shown[: cuts[-1].start()])
