"""What is put in front of a message: what it names, what it is about, what the project asks; within
bounds.
"""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.agent.core.talking import ALLOWED, Scripted, call, of_kind, talking, turn

from tersely.agent.context.retrieval import Retrieval, digest, named, retrieve
from tersely.agent.events import Retrieved
from tersely.foundation.text.escape import visible
from tersely.foundation.text.tokens import Tokenizer

NAMES = {
    "what does `parse` do?": ["parse"],
    "look at @Tokenizer.count please": ["Tokenizer.count"],
    "why does read_words fail in cli.run": ["read_words", "cli.run"],
    "fix getUserName() and HttpServer": ["getUserName", "HttpServer"],
    "call main() first": ["main"],
    "see README.md and src/app.py": [],
    "hello, how are you?": [],
    "it is e.g. 1.5 or so": [],
}


@pytest.mark.parametrize(("message", "names"), NAMES.items())
def test_names_are_what_only_code_is_written_like(message: str, names: list[str]) -> None:
    assert named(message) == names


@given(st.text(max_size=2_000), st.integers(10, 300))
def test_what_a_project_asks_is_bounded(text: str, most: int) -> None:
    short = digest(text.encode("utf-8", "replace"), most, Tokenizer())
    assert Tokenizer().count(short) <= most + 1
    assert set(short.splitlines()[1:]) <= {visible(line.rstrip()) for line in text.splitlines()}


def test_what_a_project_asks_hides_nothing() -> None:
    short = digest(
        "- be kind\U000e0062\U000e0061\U000e0064 \x1b[8mnow\n".encode(), 300, Tokenizer()
    )
    assert short.endswith(r"- be kind\U000e0062\U000e0061\U000e0064 \x1b[8mnow")


def test_rules_come_before_prose() -> None:
    text = (
        b"# Rules\n\nThis project is about many things and has a long story to tell. " * 3
        + b"\n- run make test\n"
    )
    assert digest(text, 24, Tokenizer()).endswith("- run make test")
    assert digest(b"", 300, Tokenizer()) == ""


def retrieved(root: Path, message: str) -> list[Retrieved]:
    async def one() -> list[Retrieved]:
        async with talking(Scripted(["ok"]), root, retrieves=True) as agent:
            return of_kind(await turn(agent, message), Retrieved)

    return asyncio.run(one())


def test_small_talk_gets_nothing(root: Path) -> None:
    (root / "AGENTS.md").write_text("- run make test\n")
    assert retrieved(root, "hello and thank you") == []


TALK = (
    "thanks, that was really helpful", "no, I meant the other one", "please continue with what you were doing",
    "can you summarise what we have done so far in this conversation?", "that is wrong, try it again please",
    "what did you just say about the first point?", "commit these changes with a good message",
    "run the test suite and tell me what fails", "fix the failing test", "undo the last change please",
    "what does this repository do?", "who are you and which model are you?", "what is the weather in Vienna tomorrow?",
    "give me an overview of the architecture of this project", "is that the right place for it?",
    "make it faster, please",
)  # fmt: skip
TASKS = {
    "how is the invoice of an order made": "shop/orders.py",
    "where are the prices of items summed up?": "shop/prices.py",
    "the total of an order is wrong when it has no items": "shop/orders.py",
}


def test_talk_gets_nothing_and_a_task_gets_what_its_words_are_found_in(root: Path) -> None:
    async def found() -> list[Retrieval | None]:
        async with talking(Scripted([]), root) as agent:
            box = agent.conversation.toolbox
            return [
                await retrieve(box, message, 1_200, box.tokenizer) for message in (*TALK, *TASKS)
            ]

    all_found = asyncio.run(found())
    assert all_found[: len(TALK)] == [None] * len(TALK)
    for task, pack in zip(TASKS, all_found[len(TALK) :], strict=True):
        assert pack is not None, task
        assert TASKS[task] in {item.name for item in pack.items}
        assert pack.why


def test_what_is_named_is_shown_with_what_is_around_it(root: Path) -> None:
    (found,) = retrieved(root, "what does `invoice` do?")
    assert found.why == "the message names invoice"
    assert {item.name for item in found.items} == {"shop/orders.py", "shop/prices.py"}
    assert 0 < found.tokens <= 1_200
    assert sum(item.tokens for item in found.items) <= found.tokens


def test_files_that_are_named_are_shown_whole(root: Path) -> None:
    (root / "fruits.txt").write_text("apple\n")
    (root / "long.txt").write_text("x = 1\n" * 3_000)
    (found,) = retrieved(root, "add cherry to fruits.txt, as prices.py does")
    assert found.why == "the message names fruits.txt, shop/prices.py"
    assert {item.name for item in found.items} == {"fruits.txt", "shop/prices.py"}
    assert retrieved(root, "sum up long.txt") == []  # of which there is no room for all


def test_what_was_put_in_front_counts_as_shown(root: Path) -> None:
    edit = call("edit", "--- body\napples\n", path="fruits.txt", start=1, end=1)
    (root / "fruits.txt").write_text("apple\nplum\n")

    async def prompts() -> list[str]:
        model = Scripted([edit, "Done."])
        async with talking(model, root, retrieves=True, choices=ALLOWED) as agent:
            await turn(agent, "change apple to apples in fruits.txt")
        return [prompt[-1].content for prompt in model.prompts]

    asked, edited = asyncio.run(prompts())
    assert "=== fruits.txt whole\n1|apple\n2|plum\n" in asked
    assert edited.startswith("edit:\nfruits.txt: line 1 replaced\n1|apples\n2|plum\n")
    assert (root / "fruits.txt").read_text() == "apples\nplum\n"


def test_places_come_without_their_source_where_the_repository_is_not_surely_meant() -> None:
    asked = Places(["a.py"], bodies=[])
    found = asyncio.run(retrieve(asked, "where is the price made", 900, Tokenizer()))
    assert found is not None
    assert found.text.endswith("=== a.py\n@1-2 likely: price\n@5-9 possible: total")
    assert asked.asked == []


class Places:
    """A repository that a task may be about."""

    def __init__(self, paths: list[str], bodies: list[object]) -> None:
        rows = [("price", 1, 2, "likely"), ("total", 5, 9, "possible")]
        self._packet = {
            "speaks": True,
            "silence": "",
            "confidence": 0.26,
            "bodies": bodies,
            "rows": [
                {"path": path, "name": name, "line": line, "end_line": end, "certainty": certainty}
                for path in paths
                for name, line, end, certainty in rows
            ],
        }
        self.asked: list[str] = []

    async def value(self, capability: str, arguments: object) -> object:
        assert capability == "code.packet"
        return self._packet

    async def ask(self, capability: str, arguments: object) -> str:
        self.asked.append(capability)
        return ""


def test_a_task_gets_a_pack_where_its_owners_are_likely(root: Path) -> None:
    for name in ("orders", "prices"):  # of files that small nothing is said
        with (root / f"shop/{name}.py").open("a") as file:
            file.writelines(
                f"\n\ndef {name}_{number}(value):\n    return value + {number}\n"
                for number in range(99)
            )
    (found,) = retrieved(root, "why is the total of an order the sum of the prices of its items")
    assert "confidence" in found.why
    assert any(item.name.startswith("shop/") for item in found.items)
