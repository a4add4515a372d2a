"""What `/cost` says beside tokens."""

from __future__ import annotations

from tersely.agent.events import TextDelta, ToolsDeclared, Usage
from tersely.cli.agent.tally import Tally
from tersely.cli.agent.without_screen.printing import event_json


def test_changes_of_functions_cost_what_the_next_request_evaluates_again() -> None:
    tally = Tally()
    for event in (
        ToolsDeclared(1, ("read",), 90),
        Usage(1, 100, 0, 5, 8_192),
        Usage(1, 300, 250, 5, 8_192, 40, 3),
        ToolsDeclared(2, ("read", "edit"), 150),
        TextDelta(2, "hello"),
        Usage(2, 400, 0, 5, 8_192, 310),
        Usage(2, 500, 400, 5, 8_192, is_estimated=True),
    ):
        tally.take(event)
    assert tally.lines() == [
        "functions: 150 tokens, 2 changes, 310 tokens evaluated again for that",
        "evaluated again in all: 350 tokens",
        "thoughts: 3 tokens of the answers",
        "1 request stopped, their tokens estimated",
    ]
    assert Tally().lines() == []


def test_names_of_functions_are_printed_as_json() -> None:
    assert event_json(ToolsDeclared(1, ("read", "edit"), 9))["tools"] == ["read", "edit"]
