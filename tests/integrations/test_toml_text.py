"""A table in somebody else's TOML: added and taken out, and all the rest left as it is."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

from tersely.integrations.formats.json_text import SettingsEntry
from tersely.integrations.formats.toml_text import added, removed

OURS = [
    SettingsEntry(
        ("mcp_servers", "tersely"), {"command": '/opt/my "tools"/tersely', "args": ["mcp"]}
    )
]

# What Codex and people write into its config.toml.
FULL = """\
# Codex, as I like it
model = "gpt-5.2-codex"   # the large one
model_reasoning_effort = "high"
notify = [
    "notify-send",  # on Linux
    "Codex",
]
approval_policy = "on-request"

[features]
web_search_request = true

[shell_environment_policy]
set = { PATH = "/usr/bin", "MY.VAR" = '''as is''' }

[projects."/srv/kettle"]
trust_level = "trusted"

[mcp_servers.docs]
command = "npx"
args = ["-y", "mcp-server"]

[mcp_servers.docs.env]
"API_KEY" = "value"

# How it looks
[tui]
notifications = [ "agent-turn-complete" ]

[[skills.config]]
path = "/srv/a"
enabled = false

[[skills.config]]
path = "/srv/b"
# the end
"""
TEXTS = {
    "empty": "",
    "values": 'model = "x" # c\n',
    "comment": "# nothing but this\n",
    "full": FULL,
    "windows": FULL.replace("\n", "\r\n"),
    "apart": '[mcp_servers.a]\ncommand = "x"\n\n[tui]\nx = 1\n\n[mcp_servers.b]\ncommand = "y"\n',
    "dotted": 'mcp_servers.other.command = "x"\nmodel = "y"\n\n[tui]\nx = 1\n',
    "dotted inside": '[mcp_servers]\nother.command = "x"\n\n[tui]\na = 1\n',
    "its own header": "[mcp_servers]\n[tui]\na = 1\n",
    "quoted": '["mcp_servers".other]\ncommand = "y"\n',
    "ours above": '[mcp_servers.tersely_too]\ncommand = "y"\n',
    "two empty lines": "a = 1\n\n\n",
    "real": (Path(__file__).parents[2] / "pyproject.toml").read_text("utf-8"),
}
LATER = '\n# about the next\n[next]\na = 1\n\n[mcp_servers.last]\ncommand = "z"\n'

texts = pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS)


@texts
def test_a_table_is_added_once_and_nothing_else_changes(text: str) -> None:
    after = added(text, OURS)
    assert after.startswith(text)
    assert tomllib.loads(after)["mcp_servers"]["tersely"] == OURS[0].value
    assert added(after, OURS) == after


@texts
def test_what_was_added_is_taken_out_exactly(text: str) -> None:
    assert removed(added(text, OURS), OURS) == text


@texts
def test_what_came_later_stays_with_its_comments(text: str) -> None:
    assert removed(added(text, OURS) + LATER, OURS) == text + LATER


@texts
def test_another_layout_of_what_was_added_is_taken_out(text: str) -> None:
    laid_out = added(text, OURS).replace('args = ["mcp"]', 'args = [ # ours\n  "mcp",\n]')
    assert removed(laid_out, OURS) == text


@pytest.mark.parametrize(
    "text",
    [
        '[mcp_servers.tersely]\ncommand = "/opt/other"\nargs = ["mcp"]\n',
        added(FULL, OURS) + '\n[mcp_servers.tersely.env]\nA = "b"\n',
        FULL,
        "",
    ],
)
def test_what_says_something_else_is_not_taken_out(text: str) -> None:
    assert removed(text, OURS) == text


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("model = ", "Invalid value"),
        ("model = 1\nmodel = 2\n", "Cannot overwrite"),
        ("[a\n", "Expected"),
        ("a = " + "[" * 100_000, "nested too deep"),
        ('mcp_servers = { other = { command = "x" } }\n', "without touching what else"),
        ("mcp_servers = 5\n", "without touching what else"),
        ("[[mcp_servers]]\na = 1\n", "without touching what else"),
        ('[mcp_servers.tersely]\ncommand = "other"\n', "says something else"),
    ],
)
def test_what_no_table_can_be_added_to_says_why(text: str, why: str) -> None:
    with pytest.raises(ValueError, match=why):
        added(text, OURS)


def test_a_table_is_not_looked_for_in_a_text_without_an_end() -> None:
    large = added("a = 1\n" + "# more\n" * 50_000, OURS)
    with pytest.raises(ValueError, match="more than 250,000 characters"):
        removed(large, OURS)
