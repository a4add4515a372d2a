"""Every command that a client of the code daemon sends, as it is written in the proposal of that
protocol.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from tests.daemon.asking import Talk

MONEY, ORDERS = "src/shop/money.py", "src/shop/orders.py"
PLACE_LINE = re.compile(r"[\w/]+\.py:\d+ \S.* \(\d{1,3}%\)")  # file:line signature (score%)


def result(talk: Talk, **request: Any) -> Any:
    """The result of one request, whose reply has the form that the appendix gives."""
    reply = talk.ask(**request, id="5f1c2a")
    assert reply.pop("id") == "5f1c2a"
    assert reply.pop("success") is True, reply
    assert reply.keys() == {"result", "revision"}
    return reply["result"]


@pytest.mark.parametrize("limit", [{}, {"limit": 10}, {"limit": 2}])
def test_semantic(talk: Talk, limit: dict[str, int]) -> None:
    hits = result(talk, cmd="semantic", query="format cents", **limit)
    assert hits[0].keys() == {"file", "line", "signature", "score"}
    assert (hits[0]["file"], hits[0]["line"]) == (MONEY, 23)
    assert hits[0]["signature"] == "def format_cents(cents: int) -> str"
    assert len(hits) <= limit.get("limit", 10)
    shown = [
        f"{hit['file']}:{hit['line']} {hit['signature']} ({hit['score'] * 100:.0f}%)"
        for hit in hits
    ]
    assert all(map(PLACE_LINE.fullmatch, shown))


def test_semantic_of_what_is_not_there(talk: Talk) -> None:
    assert result(talk, cmd="semantic", query="xqzvbn") == []


@pytest.mark.parametrize("target", [f"{MONEY}:format_cents", "format_cents"])
def test_context(talk: Talk, target: str) -> None:
    around = result(talk, cmd="context", target=target, depth=2)
    assert around["targets"] == [f"{MONEY}:format_cents"]
    assert "return str(cents * RATE)" in around["text"]
    assert around["used"] <= around["budget"]


def test_context_of_a_file(talk: Talk) -> None:
    around = result(talk, cmd="context", target=MONEY, depth=3)
    assert around["targets"] == [MONEY]
    assert "return str(cents * RATE)" in around["text"]


@pytest.mark.parametrize(("depth", "reached"), [({"depth": 1}, 2), ({"depth": 3}, 4), ({}, 4)])
def test_impact(talk: Talk, depth: dict[str, int], reached: int) -> None:
    found = result(talk, cmd="impact", target="format_cents", **depth)
    assert found["symbol"] == f"{MONEY}:format_cents"
    assert found["callers"]["total"] == reached
    assert {"caller", "depth", "path"} <= found["callers"]["items"][0].keys()


@pytest.mark.parametrize(
    ("direction", "near", "far"),
    [
        ("callers", "caller", {"tests/test_orders.py:test_checkout"}),
        (
            "callees",
            "callee",
            {f"{MONEY}:Price.__init__", f"{ORDERS}:Order.__init__", f"{ORDERS}:Order.place"},
        ),
    ],
)
def test_calls(talk: Talk, direction: str, near: str, far: set[str]) -> None:
    found = result(talk, cmd="calls", target="checkout", direction=direction)
    assert {call[near] for call in found[direction]["items"]} == far
    assert found[{"callers": "callees", "callees": "callers"}[direction]] is None


@pytest.mark.parametrize(
    ("below", "files"), [({}, 6), ({"path": "src/shop"}, 4), ({"path": MONEY}, 1)]
)
def test_structure(talk: Talk, below: dict[str, str], files: int) -> None:
    found = result(talk, cmd="structure", **below)
    assert found["files"] == files
    price = next(symbol for symbol in found["entries"]["items"] if symbol["name"] == "Price")
    assert (price["kind"], price["path"], price["line"]) == ("class", MONEY, 8)


def test_extract(talk: Talk) -> None:
    found = result(talk, cmd="extract", symbol="Price.validate")
    assert (found["id"], found["lines"]) == (f"{MONEY}:Price.validate", [19, 20])
    assert found["content"] == "    def validate(self) -> bool:\n        return self.cents >= 0\n"


def test_cfg(talk: Talk) -> None:
    graph = result(talk, cmd="cfg", target="Order.place")
    assert (graph["symbol"], graph["complexity"]) == (f"{ORDERS}:Order.place", 2)
    assert sum(len(block["exits"]) for block in graph["blocks"]) == graph["edges"]


def test_dfg(talk: Talk) -> None:
    flows = result(talk, cmd="dfg", target="Order.place")["flows"]["items"]
    assert {(flow["variable"], flow["use_line"]) for flow in flows} >= {("self", 13), ("self", 16)}


@pytest.mark.parametrize("variable", [{}, {"variable": "cents"}])
def test_slice(talk: Talk, variable: dict[str, str]) -> None:
    found = result(talk, cmd="slice", target=f"{MONEY}:26", **variable)
    assert (found["path"], found["line"], found["variable"]) == (
        MONEY,
        26,
        variable.get("variable", ""),
    )
    lines = [line for part in found["parts"] for line in part["lines"] if part["path"] == MONEY]
    assert sorted(lines) == [23, 24, 25, 26]


def test_absolute_paths_mean_files_of_the_repository(shop: Path, talk: Talk) -> None:
    assert result(talk, cmd="slice", target=f"{shop}/{MONEY}:26")["path"] == MONEY
    assert result(talk, cmd="structure", path=f"{shop}/src/shop")["path"] == "src/shop"


@pytest.mark.parametrize("path", [{}, {"path": MONEY}])
def test_invalidate(talk: Talk, path: dict[str, str]) -> None:
    reply = talk.ask(cmd="invalidate", **path)
    assert (reply["success"], list(reply["result"])) == (True, ["revision"])


@pytest.mark.parametrize(
    ("request_", "code"),
    [
        ({"cmd": "extract", "symbol": "Nothing.here"}, "symbol_not_found"),
        ({"cmd": "calls", "target": "validate"}, "ambiguous_symbol"),
        ({"cmd": "impact"}, "invalid_argument"),
        ({"cmd": "impact", "target": "format_cents", "goal": 1}, "invalid_argument"),
        ({"cmd": "context"}, "usage"),
        ({"cmd": "slow"}, "unknown_command"),
    ],
)
def test_a_refusal(talk: Talk, request_: dict[str, Any], code: str) -> None:
    reply = talk.ask(**request_, id="1")
    assert (reply["id"], reply["success"], reply["code"]) == ("1", False, code)
    assert isinstance(reply["error"], str)
    assert reply.keys() <= {"id", "success", "error", "code", "hint"}
