"""docs/talk.md says what the commands do."""

from __future__ import annotations

import ast
import re
import sys
from pathlib import Path

import pytest
from tests.ai_talk.test_frames import read

from tersely.ai_talk import commands
from tersely.ai_talk.commands import COMMANDS
from tersely.ai_talk.failures import EXIT_OF_CODE
from tersely.ai_talk.messages import message_of

PAGE = (Path(__file__).parents[2] / "docs" / "talk.md").read_text("utf-8")


def test_the_tables_of_the_page_are_those_of_the_program() -> None:
    rows = re.findall(r"^\| (`[A-Z_`, ]+) \| (\d) \|", PAGE, re.MULTILINE)
    listed = {code: int(status) for codes, status in rows for code in re.findall(r"[A-Z_]+", codes)}
    assert listed == EXIT_OF_CODE
    assert {
        row.split()[0] for row in re.findall(r"^\| `([a-z-]+[^`]*)` \|", PAGE, re.MULTILINE)
    } == set(COMMANDS)


def test_the_frame_of_the_page_is_an_envelope() -> None:
    (text,) = re.findall(r"^```\n(0\d+:.*?)\n```$", PAGE, re.MULTILINE | re.DOTALL)
    (frame,) = read([text.encode()])
    message = message_of(frame)
    assert message.body == b"Hello"
    assert message.header == {"id": "4f1c", "from_port": 9001, "thread": "tea"}


@pytest.mark.parametrize(
    "module", sorted(Path(commands.__file__).parent.glob("*.py")), ids=lambda path: path.stem
)
def test_no_module_needs_more_than_the_standard_library(module: Path) -> None:
    imports = [
        node
        for node in ast.walk(ast.parse(module.read_text("utf-8")))
        if isinstance(node, ast.Import)
    ]
    sources = [
        node.module or ""
        for node in ast.walk(ast.parse(module.read_text("utf-8")))
        if isinstance(node, ast.ImportFrom) and not node.level
    ]
    named = [*sources, *(alias.name for node in imports for alias in node.names)]
    assert {name.partition(".")[0] for name in named} <= sys.stdlib_module_names
