"""The plugin for opencode, called as its first and its second version call plugins."""

from __future__ import annotations

import importlib.resources
import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

NODE = shutil.which("node")
PROGRAM = 'const PROGRAM = ["tersely"];'
ANSWERING = """import json, sys
call = json.load(sys.stdin)
print(sys.argv[2], call["session_id"], call["cwd"])
if sys.argv[2] == "session":
    open("anew", "a").write(call["session_id"] + " " + call["source"] + "\\n")
"""
DRIVER = """
import plugin from "./plugin.mjs";
const first = await plugin.server({ directory: "." });
const message = { parts: [{ type: "text", text: "task" }] };
await first["chat.message"]({ sessionID: "a" }, message);
const read = { output: "whole" };
await first["tool.execute.after"]({ tool: "read", sessionID: "b", args: { filePath: "x.py" } }, read);
const other = { output: "whole" };
await first["tool.execute.after"]({ tool: "grep", sessionID: "b", args: {} }, other);
await first.event({ event: { type: "session.idle", properties: { sessionID: "e" } } });
await first.event({ event: { type: "session.compacted", properties: { sessionID: "e" } } });
const hooks = {};
const domain = (name) => ({ hook: async (event, run) => { hooks[`${name} ${event}`] = run; } });
await plugin.setup({ location: { directory: "." }, session: domain("session"), tool: domain("tool") });
const prompt = { sessionID: "c", prompt: { text: "task" } };
await hooks["session prompt"](prompt);
const done = { tool: "read", sessionID: "d", status: "completed", input: { path: "x.py" }, result: { output: 1 } };
await hooks["tool execute.after"](done);
const failed = { tool: "read", sessionID: "d", status: "error", input: { path: "x.py" } };
await hooks["tool execute.after"](failed);
console.log(JSON.stringify([plugin.id, message.parts[0].text, read.output, other.output, prompt.prompt.text,
  done.result, failed.result ?? null]));
"""


@pytest.mark.skipif(NODE is None, reason="without node there is nothing to run the plugin")
def test_both_versions_get_packets_and_outlines(tmp_path: Path) -> None:
    assert NODE is not None
    text = (importlib.resources.files("tersely.integrations") / "files/opencode.js").read_text()
    assert PROGRAM in text
    (tmp_path / "answering.py").write_text(ANSWERING)
    program = json.dumps([sys.executable, "answering.py"])
    (tmp_path / "plugin.mjs").write_text(text.replace(PROGRAM, f"const PROGRAM = {program};"))
    (tmp_path / "driver.mjs").write_text(DRIVER)
    done = subprocess.run(
        [NODE, "driver.mjs"], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    outline = {"output": 1, "content": [{"type": "text", "text": "read d ."}]}
    assert json.loads(done.stdout) == [
        "tersely", "task\n\nprompt a .", "read b .", "whole", "task\n\nprompt c .", outline, None
    ]  # fmt: skip
    assert (tmp_path / "anew").read_text() == "e compact\n"
