"""Every spelling names parameters that its capability has, and the table in the documents lists every command."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tersely.capabilities import catalogue
from tersely.capabilities.binding import bind
from tersely.capabilities.declaration import parameters_of
from tersely.foundation.errors import TerselyError
from tersely.protocols.commands import OWN_COMMANDS, SPELLINGS, Spelling, call

DOCUMENT = Path(__file__).parents[2] / "docs" / "daemon.md"
CASES = [(command, spelling) for command, spellings in SPELLINGS.items() for spelling in spellings]


@pytest.mark.parametrize(("command", "spelling"), CASES, ids=[f"{name}-{one.capability}" for name, one in CASES])
def test_a_spelling_names_what_its_capability_has(command: str, spelling: Spelling) -> None:
    declared = {parameter.name for parameter in parameters_of(catalogue.load(spelling.capability).parameters)}
    joined = {spelling.joins[0]} if spelling.joins else set()
    assert {*spelling.renames.values(), *spelling.preset, *joined} <= declared
    parts = set(spelling.joins[1:]) if spelling.joins else set()
    assert set(spelling.needs) <= declared | set(spelling.renames) | parts | spelling.without_effect


def test_absolute_paths_below_the_root_are_paths_of_the_repository() -> None:
    asked = call("extract", {"file": "/r/src/a.py", "session": "x"}, "/r")
    assert asked.arguments["path"] == "src/a.py"
    assert call("slice", {"file": "/r/a.py", "function": "f", "line": 3}, "/r").arguments == {"place": "a.py:3"}
    assert call("semantic", {"query": "/r/x"}, "/r").arguments == {"query": "/r/x"}


def test_what_a_capability_takes_may_be_said_under_its_own_name() -> None:
    asked = call("context", {"target": "f", "budget": 300, "format": "json"}, "/r")
    assert asked.arguments == {"symbols": "f", "budget": 300, "format": "json"}
    bind(catalogue.load(asked.capability).parameters, asked.arguments)


@pytest.mark.parametrize(
    ("command", "given", "code"),
    [
        ("fly", {}, "unknown_command"),
        ("context", {}, "invalid_argument"),
        ("context", {"target": "f", "speed": 1}, "invalid_argument"),
        ("code.context", {"target": "f"}, "invalid_argument"),
    ],
)
def test_what_is_not_known_is_refused(command: str, given: dict[str, object], code: str) -> None:
    with pytest.raises(TerselyError) as refusal:
        call(command, given, "/r")
    assert refusal.value.code == code


def test_the_document_lists_every_command() -> None:
    listed = set(re.findall(r"^\| `([a-z_.]+)`", DOCUMENT.read_text("utf-8"), re.MULTILINE))
    assert listed == {*SPELLINGS, *OWN_COMMANDS}
