"""Two real agents of different makers share a file, though nobody explains anything to them.

The model behind both knows no name, no peer and no command: it acts on text that it finds in its requests alone.
`AGENT_PROGRAMS` names a folder with the programs; those that are not there are skipped by name.
"""

from __future__ import annotations

import json
import os
import re
import secrets
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.cli.relay_home import Home, home_of
from tests.pty.scripted_model import Asked, Reply, ScriptedModel

from tersely.client import Client

AGENTS = os.environ.get("AGENT_PROGRAMS", "")
SECONDS = 240  # for both to end
POLLS = 25  # after which one that nobody asks for anything ends
_SHELLS = ("Bash", "exec_command")
_TASK = re.compile(r"please change (\S+)")
_STEP = re.compile(r"step=(\w+)")
_WISH = re.compile(r"(?:message from (\S+)|(\S+) → \S+)[^\n]*?[\s:]+[^\n]*may I have")


def teammate(asked: Asked) -> Reply:
    """Claim the file, change it, give it back to whoever asks; ask whoever holds it."""
    shell = next((name for name in _SHELLS if name in asked.tools), "")
    text = "\n".join(turn.text for turn in asked.turns)
    task = _TASK.search(text)
    if not shell or task is None:
        return Reply("Good.")
    told = {
        "me": re.search(r"You are (\S+) among other agents", text),
        "claim": re.search(r"`(\w+ claim) PATH`", text),
        "release": re.search(r"`(\w+ release)`", text),
        "send": re.search(r"`(\w+ send) NAME", text),
        "inbox": re.search(r"`(\w+ inbox[^`]*)`", text),
    }
    if not all(told.values()):
        return Reply("Nobody has told me how to work with others.")
    words = {name: found[1] for name, found in told.items() if found is not None}
    command = _next(words, task[1], asked)
    return Reply(tool=shell, arguments=_arguments(asked.tools[shell], command)) if command else Reply("Done.")


def _next(words: dict[str, str], file: str, asked: Asked) -> str:
    results = [turn.text for turn in asked.turns if turn.role == "tool"]
    text = "\n".join(turn.text for turn in asked.turns)
    last = results[-1] if results else ""
    steps = _STEP.findall("\n".join(results))
    claim = f"{words['claim']} {file}; echo step=claim"
    wish = _WISH.search(text)
    if not steps:
        return claim
    if steps[-1] == "claim" and "yours until" in last:
        return f"echo {words['me']} >> {file}; echo step=change"
    if holder := re.search(r"is held by (\S+)", last):
        return f'{words["send"]} {holder[1]} "may I have {file}?"; echo step=ask'
    if steps[-1] == "send" or steps.count("work") > POLLS or steps.count("wait") > POLLS:
        return ""
    if steps[-1] in {"ask", "wait"}:
        return claim if "is free now" in text else f"sleep 1; {words['inbox']}; echo step=wait"
    if steps[-1] == "release" and wish is not None:
        return f'{words["send"]} {wish[1] or wish[2]} "{file} is free now"; echo step=send'
    if steps[-1] in {"change", "work"} and wish is not None:
        return f"{words['release']} {file}; echo step=release"
    return "sleep 1; echo step=work" if steps[-1] in {"change", "work"} else ""


def _arguments(schema: Any, command: str) -> dict[str, Any]:
    known = schema.get("properties", {})
    wanted = {"command": command, "cmd": command, "description": "go on"}
    return {name: value for name, value in wanted.items() if name in known}


@pytest.fixture
def relay(tmp_path: Path) -> Iterator[Home]:
    root = tmp_path / f"shop-{secrets.token_hex(3)}"
    root.mkdir()
    subprocess.run(["git", "init", "-q", str(root)], check=True)
    with home_of(tmp_path / "relay", root) as home:
        home.up()
        yield home


def begun(name: str, home: Home, folder: Path, url: str, prompt: str) -> subprocess.Popen[str]:
    """An agent as its user starts it, once `tersely install` has been run; without a screen."""
    program = Path(AGENTS) / name
    if not AGENTS or not program.exists():
        pytest.skip(f"{name} is not installed")
    folder.mkdir()
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    (folder / ".profile").write_text(f'export PATH="{path}"\n')  # the shells of Codex are login shells
    own = {"PATH": path, "HOME": str(folder), "TERSELY_HOME": str(home.home), "LANG": "C.UTF-8", "TERM": "dumb"}
    if name == "claude":
        known = {
            "hasCompletedOnboarding": True, "theme": "dark", "customApiKeyResponses": {"approved": ["scripted"]},
            "projects": {str(home.root): {"hasTrustDialogAccepted": True}},
        }  # fmt: skip
        (folder / ".claude.json").write_text(json.dumps(known))
        own |= {"ANTHROPIC_BASE_URL": url, "ANTHROPIC_API_KEY": "scripted", "ENABLE_TOOL_SEARCH": "false",
                "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1"}  # fmt: skip
        words = [str(program), "-p", prompt, "--model", "scripted-model", "--allowedTools", "Bash"]
    else:
        (folder / ".codex").mkdir()
        settings = (
            f'model = "scripted-model"\nmodel_provider = "scripted"\ncheck_for_update_on_startup = false\n'
            f'[model_providers.scripted]\nname = "scripted"\nbase_url = "{url}/v1"\nwire_api = "responses"\n'
            f'env_key = "SCRIPTED_KEY"\n[projects."{home.root}"]\ntrust_level = "trusted"\n'
        )
        (folder / ".codex" / "config.toml").write_text(settings)
        own["SCRIPTED_KEY"] = "x"
        words = [str(program), "exec", "--dangerously-bypass-hook-trust", "--sandbox", "danger-full-access", prompt]
    install = [sys.executable, "-m", "tersely", "install", name, "--user", "--yes"]
    subprocess.run(install, env=own, cwd=home.root, check=True, capture_output=True)
    with (folder / "log.txt").open("w") as log:
        return subprocess.Popen(
            words, env=own, cwd=home.root, stdin=subprocess.DEVNULL, stdout=log, stderr=subprocess.STDOUT, text=True
        )


def test_two_agents_share_a_file_that_both_are_to_change(relay: Home, tmp_path: Path) -> None:
    file = f"notes-{secrets.token_hex(3)}.txt"
    (relay.root / file).write_text("")
    models = {"claude": ScriptedModel(teammate), "codex": ScriptedModel(teammate)}
    running: list[subprocess.Popen[str]] = []
    try:
        for name, model in models.items():
            running.append(begun(name, relay, tmp_path / name, model.url, f"please change {file}"))
        assert [one.wait(SECONDS) for one in running] == [0, 0]
    finally:
        for one in running:
            one.kill()
            one.wait()
        for model in models.values():
            model.close()
    logs = "\n".join((tmp_path / name / "log.txt").read_text() for name in models)
    changed_by = (relay.root / file).read_text().split()
    assert sorted(name.partition("-")[0] for name in changed_by) == ["claude", "codex"], logs
    with relay_client(relay) as client:
        said = [(one.sender, one.to, one.body) for one in client.ask("mail.search", limit=100).messages]
        held = client.ask("claim.list", root=str(relay.root)).claims
    first, second = changed_by
    assert said == [(second, first, f"may I have {file}?"), (first, second, f"{file} is free now")], logs
    assert [one.holder for one in held] == [second]


def relay_client(relay: Home) -> Client:
    return Client.local("cli", relay.home)
