"""The agent's tool for the relay: what it lists, what needs approval, and what it says where there
is none.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

from tests.agent.tools.box import call, opened, tool

from tersely.agent.tools.approvals import Verdict
from tersely.capabilities import catalogue
from tersely.capabilities.declaration.declaration import Effect
from tersely.capabilities.declaration.toolset import OFFERED, tool_name


class Asked(NamedTuple):
    """What reached the relay."""

    capability: str
    arguments: dict[str, Any]


def test_every_capability_of_the_relay_is_listed(root: Path, tmp_path: Path) -> None:
    with opened(root, tmp_path / "kept", observation_tokens=10_000) as toolbox:
        lines = call(toolbox, "relay").text.splitlines()
    assert lines[0].startswith("send(to, body")
    assert [line.partition("(")[0] for line in lines] == [
        tool_name(name) for name in catalogue.RELAY_NAMES if name in OFFERED
    ]


def test_a_call_is_that_of_a_capability(root: Path, tmp_path: Path) -> None:
    asked: list[Asked] = []

    async def relay(capability: str, arguments: Any, budget: int) -> str:
        asked.append(Asked(capability, dict(arguments)))
        return "sent\n"

    with opened(root, tmp_path / "kept", relay=relay) as toolbox:
        told = call(toolbox, "relay", tool="send", arguments='{"to": "bob", "body": "hi"}')
        assert (told.text, told.status) == ("sent", "ok")
        assert "did you mean send?" in call(toolbox, "relay", tool="sned").text
        assert "no JSON" in call(toolbox, "relay", tool="send", arguments="{").text
    assert asked == [("mail.send", {"to": "bob", "body": "hi"})]


def test_without_a_relay_the_model_is_told_to_go_on(root: Path, tmp_path: Path) -> None:
    with opened(root, tmp_path / "kept") as toolbox:
        told = call(toolbox, "relay", tool="inbox")
    assert told.status == "failed"
    assert "go on without other agents" in told.text


def test_what_reaches_others_needs_approval(root: Path, tmp_path: Path) -> None:
    assert tool("relay").effect_of({"tool": "agents"}) is Effect.READ
    assert tool("relay").effect_of({}) is Effect.READ
    assert tool("relay").effect_of({"tool": "send"}) is Effect.NETWORK
    with opened(root, tmp_path / "kept") as toolbox:
        policy = {"tool": "send", "arguments": "{}"}
        assert toolbox.verdict(tool("relay"), policy) is Verdict.ASK
        assert toolbox.verdict(tool("relay"), {"tool": "board"}) is Verdict.ALLOW
