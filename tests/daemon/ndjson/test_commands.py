"""Every spelling names parameters that its capability has, and the table in the documents lists
every command.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tersely.capabilities import catalogue
from tersely.capabilities.declaration.binding import checked
from tersely.daemon.ndjson.commands import OWN_COMMANDS, call
from tersely.daemon.ndjson.spellings import SPELLINGS, Spelling
from tersely.foundation.errors import TerselyError

DOCUMENT = Path(__file__).parents[3] / "docs" / "embed.md"


@pytest.mark.parametrize(("command", "spelling"), SPELLINGS.items(), ids=list(SPELLINGS))
def test_a_spelling_names_what_its_capability_has(command: str, spelling: Spelling) -> None:
    declared = {parameter.name for parameter in catalogue.load(spelling.capability).parameters}
    assert {*spelling.renames.values(), *spelling.preset, *spelling.parts} <= declared


def test_absolute_paths_below_the_root_are_paths_of_the_repository() -> None:
    assert call("slice", {"target": "/r/a.py:3"}, "/r").arguments == {"place": "a.py:3"}
    assert call("context", {"target": ["/r/a.py:f", "g"]}, "/r").arguments == {
        "symbols": ["a.py:f", "g"]
    }
    assert call("semantic", {"query": "/r/x"}, "/r").arguments == {"query": "/r/x"}


def test_what_a_capability_takes_may_be_said_under_its_own_name() -> None:
    asked = call("context", {"target": "f", "budget": 300, "format": "json"}, "/r")
    assert asked.arguments == {"symbols": "f", "budget": 300, "format": "json"}
    checked(catalogue.load(asked.capability).parameters, asked.arguments)


@pytest.mark.parametrize(
    ("command", "given", "arguments"),
    [
        ("impact", {"func": "f"}, {"symbol": "f"}),
        ("context", {"entry": "f", "depth": 2, "language": "python"}, {"symbols": "f", "depth": 2}),
        ("semantic", {"query": "tea", "k": 3}, {"query": "tea", "limit": 3}),
        ("search", {"pattern": "tea", "max_results": 3}, {"query": "tea", "limit": 3}),
        ("imports", {"file": "/r/a.py", "language": "python"}, {"file": "a.py"}),
        ("importers", {"module": "a", "language": "python"}, {"module": "a"}),
        ("cfg", {"file": "/r/a.py", "function": "f", "language": "python"}, {"symbol": "a.py:f"}),
        ("dfg", {"file": "a.py", "function": "A.f"}, {"symbol": "a.py:A.f"}),
        (
            "slice",
            {"file": "a.py", "function": "f", "line": 3, "variable": "x"},
            {"place": "a.py:3", "variable": "x"},
        ),
        ("structure", {"language": "python", "max_results": 9}, {"limit": 9}),
        ("calls", {"language": "python"}, {}),
        ("extract", {"file": "a.py"}, {"symbol": "a.py"}),  # where there is no such file
    ],
)
def test_the_names_of_llm_tldr_mean_the_same(
    command: str, given: dict[str, object], arguments: dict[str, object]
) -> None:
    asked = call(command, given, "/r")
    assert asked.arguments == arguments
    checked(catalogue.load(asked.capability).parameters, asked.arguments)


def test_what_is_asked_of_a_file_is_answered_of_a_file(tmp_path: Path) -> None:
    (tmp_path / "a.py").touch()
    for given in ({"symbol": "a.py"}, {"file": "a.py"}, {"file": f"{tmp_path}/a.py"}):
        asked = call("extract", given, str(tmp_path))
        assert (asked.capability, asked.arguments) == ("code.extract", {"path": "a.py"})
    assert call("extract", {"symbol": "a.py:f"}, str(tmp_path)).capability == "code.symbol.get"


def test_a_question_under_every_name_is_the_same_question(tmp_path: Path) -> None:
    (tmp_path / "a.py").touch()
    root = str(tmp_path)
    for command, given in {
        "impact": {"target": "f"}, "context": {"entry": "f"}, "semantic": {"query": "tea", "limit": 3},
        "cfg": {"target": "a.py:f"}, "slice": {"target": "a.py:3", "function": "f"}, "extract": {"symbol": "a.py"},
        "imports": {"file": "a.py"}, "calls": {},
    }.items():  # fmt: skip
        several = SPELLINGS[command].about(given, root).under_every_name(given, root)
        assert call(command, several, root) == call(command, given, root)
    assert SPELLINGS["slice"].under_every_name({"target": "a.py:3", "function": "f"}, root) == {
        "target": "a.py:3", "file": f"{root}/a.py", "line": 3, "function": "f"
    }  # fmt: skip


@pytest.mark.parametrize(
    ("command", "given", "code"),
    [
        ("fly", {}, "unknown_command"),
        ("impact", {}, "invalid_argument"),
        ("context", {"target": "f", "speed": 1}, "invalid_argument"),
        ("context", {"target": "f", "entry": "g"}, "invalid_argument"),
        ("semantic", {"query": "f", "function": "g"}, "invalid_argument"),
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
