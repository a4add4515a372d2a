"""Two real agents of different makers share a file, though nobody explains anything to them.

The model behind both knows no name, no peer and no command: it acts on text that it finds in its
requests alone. Once hooks tell them; once they know the tools of the server alone. `AGENT_PROGRAMS`
names a folder with the programs; those that are not there are skipped by name.
"""

from __future__ import annotations

import json
import os
import secrets
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import pytest
from tests.cli.relay_home import Home, home_of
from tests.integrations.teammate import teammate
from tests.wrap.scripted_model import ScriptedModel

from tersely.client import Client

AGENTS = os.environ.get("AGENT_PROGRAMS", "")
SECONDS = 240  # for both to end
# of `install`: what is left is the server of the Model Context Protocol
ONLY_TOOLS = ("--no-hooks", "--no-texts")


@pytest.fixture
def relay(tmp_path: Path) -> Iterator[Home]:
    root = tmp_path / f"shop-{secrets.token_hex(3)}"
    root.mkdir()
    subprocess.run(["git", "init", "-q", str(root)], check=True)
    with home_of(tmp_path / "relay", root) as home:
        home.up()
        yield home


def begun(
    name: str, home: Home, folder: Path, url: str, prompt: str, options: Sequence[str]
) -> subprocess.Popen[str]:
    """An agent as its user starts it, once `tersely install` has been run with options; without a
    screen.
    """
    program = Path(AGENTS) / name
    if not AGENTS or not program.exists():
        pytest.skip(f"{name} is not installed")
    folder.mkdir()
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    # the shells of Codex are login shells
    (folder / ".profile").write_text(f'export PATH="{path}"\n')
    own = {
        "PATH": path,
        "HOME": str(folder),
        "TERSELY_HOME": str(home.home),
        "LANG": "C.UTF-8",
        "TERM": "dumb",
    }
    started = STARTS[name](folder, home.root, url, prompt)
    own |= started.environment
    install = [sys.executable, "-m", "tersely", "install", name, "--user", "--yes", *options]
    subprocess.run(install, env=own, cwd=home.root, check=True, capture_output=True)
    with (folder / "log.txt").open("w") as log:
        return subprocess.Popen(
            [str(program), *started.words],
            env=own,
            cwd=home.root,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=subprocess.STDOUT,
            text=True,
        )


class Start(NamedTuple):
    """The words behind the name of a program, and its own environment."""

    words: Sequence[str]
    environment: Mapping[str, str]


def _claude(folder: Path, root: Path, url: str, prompt: str) -> Start:
    known = {
        "hasCompletedOnboarding": True, "theme": "dark", "customApiKeyResponses": {"approved": ["scripted"]},
        "projects": {str(root): {"hasTrustDialogAccepted": True}},
    }  # fmt: skip
    (folder / ".claude.json").write_text(json.dumps(known))
    words = ["-p", prompt, "--model", "scripted-model", "--allowedTools", "Bash,mcp__tersely"]
    given = {"ANTHROPIC_BASE_URL": url, "ANTHROPIC_API_KEY": "scripted",
             "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1"}  # fmt: skip
    return Start(words, given)


def _codex(folder: Path, root: Path, url: str, prompt: str) -> Start:
    (folder / ".codex").mkdir()
    settings = (
        f'model = "scripted-model"\nmodel_provider = "scripted"\ncheck_for_update_on_startup = false\n'
        f'[model_providers.scripted]\nname = "scripted"\nbase_url = "{url}/v1"\nwire_api = "responses"\n'
        f'env_key = "SCRIPTED_KEY"\n[projects."{root}"]\ntrust_level = "trusted"\n'
    )
    (folder / ".codex" / "config.toml").write_text(settings)
    words = ["exec", "--dangerously-bypass-hook-trust", "--sandbox", "danger-full-access", prompt]
    return Start(words, {"SCRIPTED_KEY": "x"})


def _qwen(folder: Path, root: Path, url: str, prompt: str) -> Start:
    settings = {
        "tools": {"toolSearch": {"enabled": False}}, "memory": {"enableManagedAutoMemory": False},
        "general": {"enableAutoUpdate": False}, "privacy": {"usageStatisticsEnabled": False},
    }  # fmt: skip
    (folder / ".qwen").mkdir()
    (folder / ".qwen" / "settings.json").write_text(json.dumps(settings))
    given = {
        "OPENAI_API_KEY": "x",
        "OPENAI_BASE_URL": f"{url}/v1",
        "OPENAI_MODEL": "scripted-model",
    }
    return Start(["--auth-type", "openai", "--yolo", "-p", prompt], given)


def _opencode(folder: Path, root: Path, url: str, prompt: str) -> Start:
    model = {"tool_call": True, "limit": {"context": 200_000, "output": 8_000}}
    settings = {
        "model": "scripted/scripted-model", "small_model": "scripted/scripted-model",
        "enabled_providers": ["scripted"], "autoupdate": False, "share": "disabled",
        "provider": {"scripted": {
            "npm": "@ai-sdk/openai-compatible", "options": {"baseURL": f"{url}/v1", "apiKey": "x"},
            "models": {"scripted-model": model},
        }},
    }  # fmt: skip
    own = folder / ".config" / "opencode"
    own.mkdir(parents=True)
    (own / "opencode.json").write_text(json.dumps(settings))
    switches = ("MODELS_FETCH", "LSP_DOWNLOAD", "DEFAULT_PLUGINS")
    given = {f"OPENCODE_DISABLE_{name}": "1" for name in switches}
    # no registry of packages answers, as where there is no network
    return Start(["run", prompt], {**given, "npm_config_registry": "http://127.0.0.1:9/"})


STARTS = {"claude": _claude, "codex": _codex, "qwen": _qwen, "opencode": _opencode}


@pytest.mark.parametrize(
    ("pair", "options"),
    [
        (("claude", "codex"), ()),
        (("claude", "codex"), ONLY_TOOLS),
        (("codex", "qwen"), ()),
        (("codex", "opencode"), ()),
    ],
    ids=lambda given: "-".join(given) if given != ONLY_TOOLS else "tools alone",
)
def test_two_agents_share_a_file_that_both_are_to_change(
    relay: Home, tmp_path: Path, pair: Sequence[str], options: Sequence[str]
) -> None:
    file = f"notes-{secrets.token_hex(3)}.txt"
    (relay.root / file).write_text("")
    models = {name: ScriptedModel(teammate) for name in pair}
    running: list[subprocess.Popen[str]] = []
    try:
        for name, model in models.items():
            running.append(
                begun(name, relay, tmp_path / name, model.url, f"please change {file}", options)
            )
        assert [one.wait(SECONDS) for one in running] == [0, 0]
    finally:
        for one in running:
            one.kill()
            one.wait()
        for model in models.values():
            model.close()
    logs = "\n".join((tmp_path / name / "log.txt").read_text() for name in models)
    changed_by = (relay.root / file).read_text().split()
    assert sorted(name.partition("-")[0] for name in changed_by) == sorted(pair), logs
    with relay_client(relay) as client:
        said = [
            (one.sender, one.to, one.body) for one in client.ask("mail.search", limit=100).messages
        ]
        held = client.ask("claim.list", root=str(relay.root)).claims
    first, second = changed_by
    assert said == [
        (second, first, f"may I have {file}?"),
        (first, second, f"{file} is free now"),
    ], logs
    assert [one.holder for one in held] == [second]


def relay_client(relay: Home) -> Client:
    return Client.local("cli", relay.home)
