"""One entry more below a key of YAML, and out again."""

from __future__ import annotations

import pytest

from tersely.integrations.formats.json_text import SettingsEntry
from tersely.integrations.formats.yaml_text import added, removed

OURS = SettingsEntry(
    ("extensions", "tersely"), {"enabled": True, "cmd": "tersely", "args": ["mcp"]}
)
LINE = 'tersely: {"enabled": true, "cmd": "tersely", "args": ["mcp"]}\n'
TEXTS = {
    "": f"extensions:\n  {LINE}",
    "MODEL: large\n": f"MODEL: large\nextensions:\n  {LINE}",
    "extensions:\n    other:\n        cmd: x\nA: b\n": f"extensions:\n    {LINE}    other:\n        cmd: x\nA: b\n",
    "extensions: {}  # none\n": f"extensions:\n  {LINE}",
    "MODEL: large": f"MODEL: large\nextensions:\n  {LINE}",
}


@pytest.mark.parametrize("before", TEXTS)
def test_an_entry_is_added_once(before: str) -> None:
    assert added(before, [OURS]) == TEXTS[before]
    assert added(TEXTS[before], [OURS]) == TEXTS[before]


def test_what_its_program_has_laid_out_anew_is_taken_out() -> None:
    first, ours, last = (
        "  other:\n    cmd: x\n",
        "  tersely:\n    cmd: t\n    args:\n    - mcp\n",
        "  third:\n    cmd: y\n",
    )
    assert (
        removed(f"extensions:\n{first}{ours}{last}A: b\n", [OURS])
        == f"extensions:\n{first}{last}A: b\n"
    )
    assert removed(f"extensions:\n  {LINE}", [OURS]) == "extensions: {}\n"
    assert removed("MODEL: large\n", [OURS]) == "MODEL: large\n"


@pytest.mark.parametrize(
    "text", ["extensions: {other: {cmd: x}}\n", "extensions:\n  tersely:\n    cmd: else\n"]
)
def test_what_says_something_else_is_left_alone(text: str) -> None:
    with pytest.raises(ValueError, match="extensions"):
        added(text, [OURS])
