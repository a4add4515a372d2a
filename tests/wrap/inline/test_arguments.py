"""What is said to services, as parameters of the right types."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tersely.foundation.errors import TerselyError
from tersely.wrap.inline.arguments import asked


@pytest.mark.parametrize(
    ("said", "method", "parameters"),
    [
        (
            'semantic "validate authentication tokens"',
            "semantic",
            {"query": "validate authentication tokens"},
        ),
        (
            'semantic --query "validate tokens" --limit 5',
            "semantic",
            {"query": "validate tokens", "limit": 5},
        ),
        (
            "calls --direction callers --target=pay",
            "calls",
            {"target": "pay", "direction": "callers"},
        ),
        (
            "semantic validate tokens --limit 5",
            "semantic",
            {"query": "validate tokens", "limit": 5},
        ),
        ("context src/auth/jwt.ts --depth 3", "context", {"target": "src/auth/jwt.ts", "depth": 3}),
        ("impact handleLogin", "impact", {"target": "handleLogin"}),
        (
            "calls processPayment --direction callers",
            "calls",
            {"target": "processPayment", "direction": "callers"},
        ),
        (
            "calls processPayment --callers",
            "calls",
            {"target": "processPayment", "direction": "callers"},
        ),
        ("calls f --no-guesses", "calls", {"target": "f", "guesses": False}),
        ("impact --func pay --depth 2", "impact", {"target": "pay", "depth": 2}),
        ("semantic tokens --k 5", "semantic", {"query": "tokens", "limit": 5}),
        (
            "context --entry=pay --language python",
            "context",
            {"target": "pay", "language": "python"},
        ),
        ("slice --file a.py --function f --line 3", "slice", {"target": "a.py:3", "function": "f"}),
        ("cfg --file a.py --function f", "cfg", {"target": "a.py:f"}),
        ("extract --file a.py", "extract", {"symbol": "a.py"}),
        ("imports a.py", "imports", {"file": "a.py"}),
        ("structure", "structure", {}),
        ("tree src --depth 1", "tree", {"path": "src", "depth": 1}),
        (
            "code.symbol.find validate* pay --limit 5",
            "code.symbol.find",
            {"queries": ["validate*", "pay"], "limit": 5},
        ),
    ],
)
def test_the_code_service_takes_what_its_capabilities_declare(
    said: str, method: str, parameters: dict[str, object]
) -> None:
    assert asked("tldr", said) == ("tldr", method, parameters)


def test_words_for_other_services_are_typed_by_their_looks() -> None:
    said = 'now "New York" --days 3 --metric --ratio 0.5 --verbose false --unit=c 7'
    given_ = {
        "query": "New York",
        "days": 3,
        "metric": True,
        "ratio": 0.5,
        "verbose": False,
        "unit": "c",
        "target": 7,
    }
    assert asked("weather", said).parameters == given_


def test_a_foreign_service_takes_what_it_declares_whatever_its_name() -> None:
    assert asked("weather", "now Berlin", ["city", "days"]).parameters == {"city": "Berlin"}
    assert asked("tldr", "impact pay 3", ["func", "levels"]).parameters == {
        "func": "pay",
        "levels": 3,
    }


@pytest.mark.parametrize(
    "said",
    ["", 'semantic "open', "calls x --depth many", "calls x --nonsense 1", "--x", "x" * 5_000],
)
def test_what_cannot_be_read_is_said(said: str) -> None:
    with pytest.raises(TerselyError) as caught:
        asked("tldr", said)
    assert caught.value.code in {"usage", "invalid_argument", "payload_too_large"}


@given(st.text())
def test_any_words_are_read_or_refused(said: str) -> None:
    try:
        asked("weather", said)
    except TerselyError:
        return
