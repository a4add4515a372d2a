"""Every capability answers through every door by its name, whole or without the prefix that all
share.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.capabilities.test_invoke import CALLS, REPORT, SOURCE, without_times
from tests.cli.asking import as_repository
from tests.daemon.asking import Talk, serving

from tersely.capabilities import catalogue
from tersely.capabilities.declaration.projection import to_json
from tersely.capabilities.invoke import ask
from tersely.cli.commands import COMMANDS
from tersely.daemon.ndjson.spellings import PREFIX, SPELLINGS
from tersely.doors.mcp import tools
from tersely.workspace import Workspace


def test_the_daemon_answers_for_every_capability_as_python_does(tmp_path: Path) -> None:
    as_repository(tmp_path)
    (tmp_path / "kitchen.py").write_text(SOURCE, "utf-8")
    (tmp_path / "lcov.info").write_text(REPORT, "utf-8")
    with Workspace.open(tmp_path) as workspace:
        workspace.refresh()
        expected = {
            name: without_times(to_json(ask(workspace, name, **CALLS[name])))
            for name in catalogue.CODE_NAMES
        }
    with serving(tmp_path), Talk(tmp_path) as talk:
        for name in catalogue.CODE_NAMES:
            told = talk.ask(cmd=name, **CALLS[name])
            assert told["success"], (name, told)
            assert without_times(told["result"]) == expected[name], name
            if name.removeprefix(PREFIX) not in SPELLINGS:
                short = talk.ask(cmd=name.removeprefix(PREFIX), **CALLS[name])
                assert without_times(short["result"]) == expected[name], name


@pytest.mark.parametrize("name", catalogue.CODE_NAMES)
def test_it_is_a_command_and_a_tool(name: str) -> None:
    short = name.removeprefix(PREFIX)
    assert name in {command.capability_name for command in COMMANDS}
    for tool in (name, tools.tool_name(name), short):
        assert tools.is_known(tool)
    listed = {tool.name for tool in tools.tools()} | {
        line.partition("(")[0] for line in tools.more_tools({}).split("\n")
    }
    assert tools.tool_name(name) in listed
