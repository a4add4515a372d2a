"""The tools that look, asked of a real index."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.agent.tools.box import opened, tokens, tool

from tersely.agent.tools.declaration import Observation
from tersely.agent.tools.table import TOOLS
from tersely.agent.tools.toolbox import Toolbox
from tersely.foundation.limits import OBSERVATION_TOKENS
from tersely.foundation.text.tokens import count

SHOP = {
    "shop/cart.py": 'class Cart:\n    def total(self):\n        """The price of everything."""\n        return 1\n',
    "shop/long.py": "".join(
        f"def f{number}():\n    return {number}\n\n\n" for number in range(300)
    ),
    "README.md": "# Shop\n",
}
MOST_TOKENS_OF_TIER_0 = 110


@pytest.fixture
def shop(root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Toolbox]:
    monkeypatch.setenv("TERSELY_DAEMON", "off")
    for name, text in SHOP.items():
        (root / name).parent.mkdir(exist_ok=True)
        (root / name).write_text(text)
    with opened(root, tmp_path / "kept") as toolbox:
        yield toolbox


def calls(toolbox: Toolbox, *given: tuple[str, dict[str, Any]]) -> list[Observation]:
    """Calls on one event loop, as processes that answer belong to it."""

    async def asked() -> list[Observation]:
        try:
            return [await tool(name).run(toolbox, arguments) for name, arguments in given]
        finally:
            toolbox.asking.close()

    return asyncio.run(asked())


def test_questions_are_answered_by_the_catalogue(shop: Toolbox) -> None:
    found, listed, outlined, whole, symbol = calls(
        shop,
        ("search", {"query": "price of everything"}),
        ("list", {}),
        ("outline", {"path": "shop/cart.py"}),
        ("outline", {"path": "shop/long.py"}),
        ("read", {"symbol": "Cart.total"}),
    )
    assert "shop/cart.py" in found.text
    assert "not indexed: README.md" in listed.text
    assert "total" in outlined.text
    assert tokens(shop, whole) <= OBSERVATION_TOKENS
    assert symbol.text.startswith("shop/cart.py from line 2 of 4\n2|    def total(self):\n3|")
    assert shop.shown.was("shop/cart.py", SHOP["shop/cart.py"].encode(), [2, 3, 4])


def test_a_symbol_is_read_whatever_else_the_model_fills_in(shop: Toolbox) -> None:
    more = {"path": "shop/cart.py", "ref": "2-4", "start": 1, "end": 1}
    plain, filled, other = calls(
        shop,
        ("read", {"symbol": "Cart.total"}),
        ("read", {"symbol": "Cart.total", **more}),
        ("read", {"path": "shop/cart.py", "ref": "2-4", "start": 1, "end": 1}),
    )
    assert filled == plain
    assert other.text.startswith("shop/cart.py from line 1 of 4\n1|")


def test_what_is_not_there_is_said(shop: Toolbox) -> None:
    told = calls(
        shop,
        ("read", {"symbol": "no_such_symbol"}),
        ("read", {"path": "none.py"}),
        ("read", {"ref": "0123"}),
        ("read", {}),
        ("outline", {"path": "../.."}),
        ("read", {"path": "README.md", "start": 9}),
    )
    assert [one.status for one in told] == ["failed"] * len(told)
    assert "symbol_not_found" in told[0].text
    assert "there are lines 1-1" in told[5].text


def test_a_long_file_is_read_on(shop: Toolbox) -> None:
    lines = SHOP["shop/long.py"].split("\n")
    start, seen = 1, []
    while start:
        (told,) = calls(shop, ("read", {"path": "shop/long.py", "start": start, "end": 400}))
        assert tokens(shop, told) <= OBSERVATION_TOKENS
        head, _, text = told.text.partition("\n")
        assert head == f"shop/long.py from line {start} of {len(lines) - 1}"
        text, _, more = text.partition("\n… ")
        seen += [line.partition("|")[2] for line in text.split("\n")]
        start = int(more.rpartition(" ")[2]) if more and len(seen) < 400 else 0
    assert seen == lines[:400]


def test_a_link_to_another_repository_is_not_read(
    shop: Toolbox, root: Path, tmp_path: Path
) -> None:
    (tmp_path / "secret").write_text("secret")
    (root / "linked").symlink_to(tmp_path / "secret")
    (told,) = calls(shop, ("read", {"path": "linked"}))
    assert told.status == "failed"
    assert "denied" in told.text


def test_hidden_characters_are_shown_as_what_they_are(shop: Toolbox, root: Path) -> None:
    (root / "odd.txt").write_text("a\x1b[2Jb\u202ec\rsafe\n")
    (told,) = calls(shop, ("read", {"path": "odd.txt"}))
    assert told.text == "1|a\\x1b[2Jb\\u202ec\\x0dsafe"


def test_the_first_tier_costs_few_tokens() -> None:
    assert (
        count("\n".join(tool.signature for tool in TOOLS if tool.tier == 0))
        <= MOST_TOKENS_OF_TIER_0
    )


def test_signatures_name_the_parameters() -> None:
    for one in TOOLS:
        assert one.signature.startswith(f"{one.name}(")
        assert [
            parameter.name for parameter in one.parameters if parameter.name not in one.signature
        ] == []
    assert len({one.name for one in TOOLS}) == len(TOOLS)


def test_a_file_that_is_too_large_to_be_edited_is_read_by_range(shop: Toolbox, root: Path) -> None:
    (root / "large.log").write_text("".join(f"line {n:06} {'x' * 40}\n" for n in range(1, 30_001)))
    first, middle = calls(
        shop,
        ("read", {"path": "large.log"}),
        ("read", {"path": "large.log", "start": 29_000, "end": 29_001}),
    )
    assert first.text.startswith("1|line 000001")
    assert "… 30000 lines in all: read path large.log start" in first.text
    assert "29000|line 029000" in middle.text
    assert "29001|line 029001" in middle.text
