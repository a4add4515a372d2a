"""Every spelling names parameters that its capability has, and the table in the documents lists every command."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tersely.capabilities import catalogue
from tersely.capabilities.binding import bind
from tersely.capabilities.declaration import parameters_of
from tersely.daemon.ndjson.commands import OWN_COMMANDS, SPELLINGS, Spelling, call
from tersely.foundation.errors import TerselyError

DOCUMENT = Path(__file__).parents[3] / "docs" / "daemon.md"


@pytest.mark.parametrize(("command", "spelling"), SPELLINGS.items(), ids=list(SPELLINGS))
def test_a_spelling_names_what_its_capability_has(command: str, spelling: Spelling) -> None:
    declared = {parameter.name for parameter in parameters_of(catalogue.load(spelling.capability).parameters)}
    assert {*spelling.renames.values(), *spelling.preset} <= declared


def test_absolute_paths_below_the_root_are_paths_of_the_repository() -> None:
    assert call("slice", {"target": "/r/a.py:3"}, "/r").arguments == {"place": "a.py:3"}
    assert call("context", {"target": ["/r/a.py:f", "g"]}, "/r").arguments == {"symbols": ["a.py:f", "g"]}
    assert call("semantic", {"query": "/r/x"}, "/r").arguments == {"query": "/r/x"}


def test_what_a_capability_takes_may_be_said_under_its_own_name() -> None:
    asked = call("context", {"target": "f", "budget": 300, "format": "json"}, "/r")
    assert asked.arguments == {"symbols": "f", "budget": 300, "format": "json"}
    bind(catalogue.load(asked.capability).parameters, asked.arguments)


@pytest.mark.parametrize(
    ("command", "given", "code"),
    [
        ("fly", {}, "unknown_command"),
        ("impact", {}, "invalid_argument"),
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
