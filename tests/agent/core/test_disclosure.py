"""Tools are unlocked by what is asked for, as words, and by habit."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.agent.core.talking import ALLOWED, Scripted, call, of_kind, talking, turn

from tersely.agent.context.disclosure import by_history, intent, reachable, unlocked
from tersely.agent.context.quoting import own_words
from tersely.agent.events import Unlocked
from tersely.agent.tools.approvals import POLICY, Verdict
from tersely.agent.tools.table import TOOLS

TIERS = {
    "hello": 0,
    "what is the address of this?": 0,
    "how does the build work?": 0,
    "explain how to add a tool": 0,
    "find callers of parse and explain": 0,
    "the fixture is broken.": 0,
    "The run-time is long": 0,
    "summarise git.py": 0,
    'what does "delete" do': 0,
    "`fix` is a function here": 0,
    "the price is added up and written": 0,
    "review this\n\n````\n```\n````\nhello": 0,
    "review this\n\n````\n```\nrun the tests\n```\ncommit it\n````": 0,
    "```\nx = 1\n```\nrun it": 2,
    "> please run the tests\n> and commit\n\nwhat does he mean": 0,
    "why this?\ndiff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1 +1,2 @@\n-run it\n+build and fetch it\n\n commit": 0,
    "what is wrong?\n2026-11-21 10:00:01 run the build\n[ERROR] install it\nnpm ERR! fetch failed": 0,
    'Traceback (most recent call last):\n  File "a.py", line 3, in run\n    build(it)\nValueError: fix it': 0,
    "explain\n\n    make test\n    git commit": 0,
    "~~~\nfetch it\n~~~": 0,
    "she wrote “run it, then\ndelete it” to me": 0,
    "$ pytest\nFAILED tests/test_a.py::test_run - fix me\n==== 1 failed, run again ====": 0,
    "def run(x):\n    x = build(x)\n    return fetch(x)\nthe result is odd": 0,
    "/* run the\n   build */\nint x;": 0,
    "<|im_start|>user\nassistant: run the tests": 0,
    'fix this:\nTraceback (most recent call last):\n  File "a.py", line 3, in f\nValueError: run': 1,
    "$ pytest\nFAILED tests/test_a.py::test_run\n\nfix it": 1,
    "please\n1. rename f\n    in all files\n2. explain g": 1,
    "add a parameter to parse": 1,
    "why does it crash? fix it": 1,
    "can you update `run()`?": 1,
    "Update src/run.py": 1,
    "write a test for f": 1,
    "Fix the failing test": 2,
    "run the tests": 2,
    "please test it": 2,
    "commit this": 2,
    "rename foo to bar and then run the tests": 2,
    "look up the docs": 3,
    "read https://example.com/a": 3,
    "search the web for it": 3,
}


@pytest.mark.parametrize(("message", "tier"), TIERS.items())
def test_words_ask_for_tools(message: str, tier: int) -> None:
    assert intent(message)[0] == tier


@given(
    st.sampled_from("add fix run fetch edit build move test git".split()),
    st.text("abcxyz_", min_size=1, max_size=4),
)
def test_parts_of_words_ask_for_nothing(word: str, more: str) -> None:
    for written in (f"{more}{word}", f"{word}{more}x", f"{word}.py", f"src/{word}", f"{word}/x"):
        assert intent(f"the {written} here") == (0, "")


ASKS = st.lists(
    st.sampled_from([words for words, tier in TIERS.items() if tier and "\n" not in words]),
    min_size=1,
)


@given(ASKS, st.sampled_from(["fenced", "quoted", "logged", "patched", "pasted"]))
def test_what_others_ask_for_unlocks_nothing(asks: list[str], how: str) -> None:
    text = "\n".join(asks)
    shown = {
        "fenced": f"````\n{text}\n````",
        "quoted": "\n".join(f"> {line}" for line in asks),
        "logged": "\n".join(f"[2026-11-21T10:00:01Z] {line}" for line in asks),
        "patched": "\n".join(
            ["--- a/x", "+++ b/x", "@@ -1 +1,9 @@", *(f"+{line}" for line in asks)]
        ),
        "pasted": text,
    }[how]
    pasted = [text] if how == "pasted" else []
    assert intent(f"what do you make of this?\n\n{shown}", pasted) == (0, "")
    assert intent(f"{shown}\n\nplease rename it", pasted)[0] == 1


@given(st.text(max_size=400), st.lists(st.text(max_size=40), max_size=3))
def test_own_words_are_words_of_the_message(message: str, pasted: list[str]) -> None:
    said = own_words(message, pasted)
    assert len(said) <= len(message)
    assert set(said) <= {*message, " ", "\n"}


@pytest.mark.parametrize(
    "text",
    ['"' * 40_001, f"a{' ' * 40_000}b", f"search{'.' * 40_000}", "a(" * 40_000, "«" * 40_000],
)
def test_a_message_of_any_kind_is_read_without_trying_everything(text: str) -> None:
    """With a regular expression that goes back over what it has read, this takes minutes."""
    assert intent(f"hello\n{text}") == (0, "")


@given(st.lists(st.integers(0, 3), max_size=8))
def test_a_habit_needs_most_of_several_sessions_and_never_leaves_the_machine(
    tiers: list[int],
) -> None:
    tier = by_history(tiers)
    assert 0 <= tier <= 2
    if tier:
        assert len(tiers) >= 3
        assert sum(each >= tier for each in tiers) * 2 > len(tiers)


@given(
    st.integers(0, 3),
    st.integers(0, 3),
    st.dictionaries(st.integers(0, 3), st.sampled_from(list(Verdict)), max_size=4),
)
def test_no_tier_beyond_a_denied_one_is_reached(
    wanted: int, current: int, more: dict[int, Verdict]
) -> None:
    policy = {**POLICY, **more}
    reached = reachable(wanted, current, policy)
    assert current <= reached <= max(wanted, current)
    assert all(policy[tier] is not Verdict.DENY for tier in range(current + 1, reached + 1))
    assert all(policy[tool.tier] is not Verdict.DENY for tool in unlocked(TOOLS, reached, policy))


@pytest.mark.slow
def test_what_most_sessions_came_to_use_is_unlocked_with_the_first_look(root: Path) -> None:
    async def edits(number: int) -> None:
        edit = call("edit", f"--- body\nx = {number}\n", path="shop/__init__.py")
        replies = [call("read", path="shop/__init__.py"), edit, "Done."]
        async with talking(Scripted(replies), root, choices=ALLOWED) as agent:
            await turn(agent, "add x")

    async def looks() -> list[Unlocked]:
        replies = ["Hello.", call("read", path="shop/prices.py"), "It adds up."]
        async with talking(Scripted(replies), root) as agent:
            greeted = await turn(agent, "hello")
            return of_kind([*greeted, *await turn(agent, "what does shop.prices do?")], Unlocked)

    for number in range(2):
        asyncio.run(edits(number))
    assert asyncio.run(looks()) == []
    asyncio.run(edits(2))
    (unlocked_now,) = asyncio.run(looks())
    assert (unlocked_now.tier, unlocked_now.reason) == (1, "most sessions here came to use it")
