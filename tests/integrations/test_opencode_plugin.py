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
        "tersely", "task\n\nprompt a .", "read b .", "whole\n\nafter b .", "task\n\nprompt c .", outline, None
    ]  # fmt: skip
    assert (tmp_path / "anew").read_text() == "e compact\n"


RUN_HOOK = """import json, signal, sys, time
call = json.load(sys.stdin)
wanted = call["tool_input"]["command"]
signal.signal(signal.SIGTERM, lambda *_: sys.exit(open("ended", "w").write(wanted)))
while wanted == "wait":
    open("waits", "w").close()
    time.sleep(0.02)
decision = {"behavior": wanted}
print(json.dumps({"hookSpecificOutput": {"hookEventName": call["hook_event_name"], "decision": decision}}))
"""
RUN_DRIVER = """
import { existsSync } from "node:fs";
import { createServer } from "node:net";
import { TerselyRun } from "./plugin.mjs";
const calls = [], replies = [];
const until = async (look) => { while (!look()) await new Promise((resolve) => setTimeout(resolve, 10)); };
const server = createServer((wire) => wire.on("data", (text) => {
  const { call } = JSON.parse(text.toString().split("\\n")[0]);
  if (call) calls.push(call);
  if (call) wire.write('{"text": ""}\\n');
}));
await new Promise((resolve) => server.listen(process.env.TERSELY_RUN_SOCKET, resolve));
const client = { postSessionIdPermissionsPermissionId: async (reply) => replies.push(reply) };
const plugin = await TerselyRun({ client, directory: "." });
const happens = (type, properties) => plugin.event({ event: { type, properties } });
for (const command of ["allow", "deny", "wait"])
  await happens("permission.asked", { id: `of ${command}`, sessionID: "s", permission: "bash", metadata: { command } });
await until(() => replies.length === 2 && existsSync("waits"));
await happens("permission.replied", { sessionID: "s", requestID: "of wait", reply: "once" });
await until(() => existsSync("ended"));
await until(() => calls.filter((call) => call.hook_event_name === "permission.replied").length);
console.log(JSON.stringify({ replies }));
process.exit();
"""


@pytest.mark.skipif(NODE is None, reason="without node there is nothing to run the plugin")
def test_under_run_the_person_is_asked(tmp_path: Path) -> None:
    assert NODE is not None
    files = importlib.resources.files("tersely.integrations") / "files"
    (tmp_path / "plugin.mjs").write_text((files / "opencode_run.js").read_text())
    (tmp_path / "driver.mjs").write_text(RUN_DRIVER)
    (tmp_path / "hook.py").write_text(RUN_HOOK)
    hooks = {"permission": [sys.executable, "hook.py"]}
    environment = {"TERSELY_RUN_SOCKET": "socket", "TERSELY_HOOKS": json.dumps(hooks)}
    done = subprocess.run(
        [NODE, "driver.mjs"], cwd=tmp_path, env=environment, capture_output=True, text=True, check=True,
        timeout=60,
    )  # fmt: skip
    told = json.loads(done.stdout)
    said = {one["path"]["permissionID"]: one["body"]["response"] for one in told["replies"]}
    assert said == {"of allow": "once", "of deny": "reject"}
