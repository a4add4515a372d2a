"""What agents are told unasked, in tokens: of tools, of each other, and by our own agent."""

from __future__ import annotations

import asyncio
import json
import tempfile
from collections.abc import Sequence
from pathlib import Path

from tests.agent.core.conftest import made_shop
from tests.agent.core.talking import (
    ALLOWED,
    GRAMMAR,
    NATIVE,
    OPENED,
    Said,
    Scripted,
    call,
    rendered,
    talking,
    turn,
)

from tersely.agent.models.protocol import Abilities
from tersely.capabilities.answers.text import PLAIN
from tersely.capabilities.relay.answers.messages import Deliveries, DeliveryTold
from tersely.capabilities.relay.foreign import banner, typed
from tersely.capabilities.relay.introduction import Peer, introduction
from tersely.capabilities.relay.mail import inbox
from tersely.doors.mcp.server import listed
from tersely.doors.mcp.tools import INSTRUCTIONS, tools
from tersely.foundation.text.tokens import Tokenizer, count
from tersely.integrations import mail_hook

PEERS = [Peer(f"claude-a{number}cd", "writes the parser") for number in range(10)]
SAID = "the parser is yours, I have finished its tests"
SENT = "2026-01-02T03:04:05Z"  # on another day, which is told as well
MANY_MODULES = 150  # beside those of the shop: the first request lists none of them
FAMILIES = ("qwen", "llama", "another")
SCHEMA = GRAMMAR._replace(grammar=False)
MODELS = Tokenizer("cl100k")  # nearer to the vocabularies of small models
TURNS: Sequence[tuple[str, Sequence[Said]]] = (
    ("hello", ["Hello."]),
    ("what does shop.prices do?", [call("read", path="shop/prices.py"), "It adds prices up."]),
    ("and shop.orders?", [call("read", path="shop/orders.py"), "It makes orders."]),
    ("where is price defined?", [call("search", query='"def price"'), "In shop/prices.py."]),
    ("what is there?", [call("outline", path="shop/orders.py"), "Two functions."]),
    ("add a comment to `price`", [
        call("edit", "--- body\ndef price(item):  # one\n", path="shop/prices.py", start=5, end=5), "Done.",
    ]),
    ("show it", [call("read", path="shop/prices.py"), "There it is."]),
    ("is there a test?", [call("search", query="test_price"), "Yes."]),
    ("read it", [call("read", path="tests/test_prices.py"), "It tries one item."]),
    ("thank you", ["You are welcome."]),
)  # fmt: skip


def figures() -> dict[str, float]:
    """Tokens of each text, by name."""
    ways = [GRAMMAR._replace(family=family) for family in FAMILIES]
    return {
        "tokens.tool_list": count(
            json.dumps({"tools": [*map(listed, tools())]}, ensure_ascii=False)
        ),
        "tokens.instructions": count(INSTRUCTIONS),
        "tokens.introduction": count(introduction("claude-ab3d", [])),
        "tokens.introduction_to_ten": count(introduction("claude-ab3d", PEERS)),
        "tokens.message_frame": frame_tokens(),
        "tokens.ten_turns": ten_turns(),
        "tokens.first_request.grammar": max(first_request(way, "hello") for way in ways),
        "tokens.first_request.edits": max(first_request(way, "fix it") for way in ways),
        "tokens.first_request.schema": first_request(SCHEMA, "hello"),
        "tokens.first_request.functions": first_request(NATIVE, "hello"),
    }


def frame_tokens() -> int:
    """Tokens around a message, at most: typed into a program, read in a mailbox, told by a hook."""
    one = DeliveryTold(
        "m", 17, "noa", "ben", "agent", "noa", "message", SAID, "", "", None, "", 1, 1, "accepted", "",
        SENT, None, None, None, None,
    )  # fmt: skip
    read = inbox.text(Deliveries([one], None, "noa", 0), PLAIN)
    head = banner("ben", "17")
    texts = [typed(head, SAID, has_lines=has_lines) for has_lines in (True, False)]
    texts += [read, f"{mail_hook._FROM_OTHERS}\n{read}"]
    return max(count(text) - count(SAID) for text in texts)


def first_request(way: Abilities, message: str) -> int:
    """Tokens of the first prompt, with the functions that are declared beside it, in a large
    repository.
    """
    hello = "Hello." if way.tools or way.grammar else '{"say": "Hello.", "call": null}'
    model = Scripted([hello], way)
    _talk(model, [message], MANY_MODULES)
    constraint = model.constraints[0]
    declared = constraint.tools if constraint and way.tools else ()
    functions = [json.dumps({"type": "function", "function": each}) for each in declared]
    return MODELS.count("\n".join([rendered(model.prompts[0]) + OPENED, *functions]))


def ten_turns() -> int:
    """Tokens of the last prompt of a conversation of ten turns, in which all before it stands."""
    model = Scripted([said for _, answers in TURNS for said in answers])
    _talk(model, [message for message, _ in TURNS])
    return MODELS.count(rendered(model.prompts[-1]))


def _talk(model: Scripted, messages: Sequence[str], modules: int = 0) -> None:
    async def talk(root: Path) -> None:
        async with talking(model, root, retrieves=True, choices=ALLOWED) as agent:
            for message in messages:
                await turn(agent, message)

    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(talk(made_shop(Path(folder, "shop-repository"), modules)))
