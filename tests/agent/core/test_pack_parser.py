"""What stands in the prompt is not put there again."""

from __future__ import annotations

import asyncio
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st
from tests.agent.core.talking import Said, Scripted, call, of_kind, talking, turn

from tersely.agent.context.pack_parser import joined, not_yet_in, pieces
from tersely.agent.context.retrieval import ASKS, retrieve
from tersely.agent.events import Retrieved

LINES = st.sampled_from(
    [
        "=== a.py", "=== b.py whole", "=== +3 more callers", "@1-4 target: f", "  calls: g", "@+ callee of f: h",
        "def f():", "", "    return g()", "@property", "x = 1",
    ]
)  # fmt: skip
PRICES = call("read", path="shop/prices.py")


@given(st.lists(LINES, max_size=14).map("\n".join))
def test_pieces_are_all_there_is_and_known_to_who_has_read_them(pack: str) -> None:
    found = list(pieces(pack))
    assert [line for line in joined(found).split("\n") if line] == [
        line
        for at, line in enumerate(pack.split("\n"))
        if line and not is_repeated(pack.split("\n"), at)
    ]
    assert not_yet_in(found, [pack]) == []
    numbered = "\n".join(f"{number}|{line}" for number, line in enumerate(pack.split("\n"), 1))
    assert not_yet_in([piece for piece in found if piece.code], [numbered]) == []
    assert not_yet_in(found, []) == (found if any(piece.text for piece in found) else [])


def is_repeated(lines: list[str], at: int) -> bool:
    """Whether a line names the section again that goes on."""
    before = [line for line in lines[:at] if line.startswith("=== ")]
    return lines[at].startswith("=== ") and before[-1:] == [lines[at]]


def talk(root: Path, replies: list[Said], *messages: str) -> tuple[Scripted, list[list[Retrieved]]]:
    model = Scripted(replies)

    async def all_turns() -> list[list[Retrieved]]:
        async with talking(model, root, retrieves=True) as agent:
            found = []
            for message in messages:
                if message == "/compact":
                    await agent.compact()
                else:
                    found.append(of_kind(await turn(agent, message), Retrieved))
            return found

    return model, asyncio.run(all_turns())


def test_code_that_was_put_in_is_not_put_in_twice_while_it_stands(root: Path) -> None:
    question, summary = "what does `invoice` do?", "Summary. " * 9
    model, found = talk(
        root, ["ok", "ok", "ok", summary, "ok"], question, question, "hello", "/compact", question
    )
    assert [len(each) for each in found] == [1, 0, 0, 1]
    assert [
        sum("def invoice" in message.content for message in prompt) for prompt in model.prompts
    ] == [1] * 5


def test_code_that_was_read_is_named_and_not_repeated(root: Path) -> None:
    model, (_, (found,)) = talk(
        root, [PRICES, "ok", "ok"], "hello there", "what does `invoice` do?"
    )
    said = model.prompts[-1][-1].content
    assert "def invoice(items):" in said
    assert "return sum(" not in said
    assert found.why.endswith("less what the prompt has already")
    assert sum(item.tokens for item in found.items) <= found.tokens


def test_what_agents_are_asked_comes_once(root: Path) -> None:
    (root / "AGENTS.md").write_text("# Rules\n\n- Totals of orders are rounded.\n- Run pytest.\n")
    model, _ = talk(
        root, ["ok", "ok"], "are the totals of orders rounded as AGENTS.md says", "and `invoice`?"
    )
    said = "\n".join(message.content for message in model.prompts[-1])
    assert said.count("Totals of orders are rounded.") == 1
    assert said.count(ASKS) == 1


def test_a_pack_keeps_to_its_budget_with_all_that_is_around_it(root: Path) -> None:
    async def found() -> list[int]:
        async with talking(Scripted([]), root) as agent:
            box = agent.conversation.toolbox
            packs = [
                await retrieve(box, "what do `invoice` and `total` do?", most, box.tokenizer)
                for most in (60, 300)
            ]
            return [box.tokenizer.count(pack.text) for pack in packs if pack]

    sizes = asyncio.run(found())
    assert len(sizes) == 2
    assert sizes[0] <= 60
    assert sizes[1] <= 300


def test_code_that_changed_is_put_in_as_it_is_now(root: Path) -> None:
    place, question = root / "shop/prices.py", "what does `price` do?"

    async def all_turns() -> str:
        model = Scripted(["ok", "ok"])
        async with talking(model, root, retrieves=True) as agent:
            await turn(agent, question)
            place.write_text(place.read_text().replace("def price(item):", "def price(item, *_):"))
            await turn(agent, question)
        return model.prompts[-1][-1].content

    assert "|def price(item, *_):\n" in asyncio.run(all_turns())
