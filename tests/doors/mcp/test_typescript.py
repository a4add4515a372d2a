"""The server, driven by the official client in TypeScript, where it is installed.

`TERSELY_TEST_NODE_MODULES` names a folder with what `npm install @modelcontextprotocol/sdk`
installs.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from tests.cli.asking import run
from tests.doors.mcp.conversing import COMMAND, DEADLINE_SECONDS

from tersely.doors.mcp.tools import tools

MODULES = Path(os.environ.get("TERSELY_TEST_NODE_MODULES", "/nowhere"))


@pytest.mark.skipif(
    not (MODULES / "@modelcontextprotocol" / "sdk").is_dir() or shutil.which("node") is None,
    reason="TERSELY_TEST_NODE_MODULES names no folder with the TypeScript SDK",
)
def test_a_client_in_typescript_is_answered(
    shop: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("TERSELY_TEST_NODE_MODULES")
    program = tmp_path / "client.mjs"
    shutil.copy(Path(__file__).with_name("client.mjs"), program)
    (tmp_path / "node_modules").symlink_to(MODULES)
    done = subprocess.run(
        ["node", str(program), sys.executable, *COMMAND, "--root", str(shop)],
        capture_output=True, text=True, timeout=DEADLINE_SECONDS, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    expected = run(["symbol", "get", "format_cents"], shop, TERSELY_DAEMON="off").out
    assert told["tools"] == [tool.name for tool in tools()]
    assert told["answer"]["content"] == [{"type": "text", "text": expected}]
    assert told["contents"][0]["text"] == expected
    assert told["refusal"]["isError"]
    assert told["refusal"]["content"][0]["text"].startswith("symbol_not_found: ")
