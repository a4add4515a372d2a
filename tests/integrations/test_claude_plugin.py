"""The plugin for Claude Code says what `tersely install claude` writes; with AGENT_PROGRAMS, Claude
Code reads it.
"""

from __future__ import annotations

import json
import os
import subprocess
from importlib.resources import files
from pathlib import Path

import pytest

from tersely.integrations.formats import json_text
from tersely.integrations.table import AGENTS

PROJECT = Path(__file__).parents[2]
PLUGIN = PROJECT / "editors/claude"
CLAUDE = Path(os.environ.get("AGENT_PROGRAMS", "")) / "claude"
OURS = ["tersely"]


def test_the_plugin_says_what_install_writes() -> None:
    server, hooks, _ = AGENTS["claude"].targets
    assert (PLUGIN / ".mcp.json").read_text() == json_text.added("", server.entries(OURS))
    assert (PLUGIN / "hooks/hooks.json").read_text() == json_text.added("", hooks.entries(OURS))
    skill = (files("tersely.integrations") / "files/SKILL.md").read_text("utf-8")
    assert (PLUGIN / "skills/tersely/SKILL.md").read_text() == skill
    listed = json.loads((PROJECT / ".claude-plugin/marketplace.json").read_text())["plugins"]
    assert [one["source"] for one in listed] == ["./editors/claude"]


@pytest.mark.skipif(not CLAUDE.is_file(), reason="AGENT_PROGRAMS has no Claude Code")
@pytest.mark.parametrize("folder", [".", "editors/claude"])
def test_claude_code_takes_it(folder: str, tmp_path: Path) -> None:
    environment = {"PATH": os.environ["PATH"], "HOME": str(tmp_path)}
    words = [str(CLAUDE), "plugin", "validate", "--strict", str(PROJECT / folder)]
    ended = subprocess.run(
        words, env=environment, capture_output=True, text=True, timeout=120, check=False
    )
    assert ended.returncode == 0, ended.stdout + ended.stderr
