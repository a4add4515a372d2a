"""The client that others have published talks to our relay as it is.

It is looked for where `AGENT_RELAY_PACKAGE` says, and where npm puts it (`npm install
agent-relay@1.6.0`).
"""

from __future__ import annotations

import asyncio
import json
import os
import shutil
from pathlib import Path
from typing import Any

import pytest
from tests.doors.socket.served import served, until

from tersely.relay.wire.home import socket_path

TALK = Path(__file__).with_name("agent_relay.mjs")
PLACES = (os.environ.get("AGENT_RELAY_PACKAGE", ""), "node_modules/agent-relay")
SECONDS = 60


def published() -> Path:
    """The client's module."""
    for place in PLACES:
        module = Path(place, "dist/wrapper/client.js").absolute()
        if place and module.is_file() and shutil.which("node"):
            return module
    pytest.skip("agent-relay is not installed, or node is not")


async def test_the_published_client_talks_to_our_relay(home: Path) -> None:
    module = published()
    async with served(home) as relay:
        node = await asyncio.create_subprocess_exec(
            "node", str(TALK), str(module), str(socket_path(home)),
            stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE, env={**os.environ, "HOME": str(home)},
        )  # fmt: skip
        async with asyncio.timeout(SECONDS):
            printed, complaints = await node.communicate()
        assert node.returncode == 0, complaints.decode()
        told: dict[str, Any] = json.loads(printed)
        await until(lambda: not relay.router.clients.connected())
        # Dave was made a member of a channel and never came. The client may be gone before its last
        # word is sent.
        await until(
            lambda: [relay.mail.load(name)[0] for name in ("Alice", "Carol", "Dave")] == [0, 0, 1]
        )
        assert relay.mail.load("Bob")[0] <= 1
    assert told["sessions"] == ["string"] * 3
    direct = told["direct"]
    assert direct["payload"] == {
        "kind": "message",
        "body": "hello",
        "data": {"n": 1},
        "thread": "thread-1",
    }
    assert (direct["from"], direct["meta"]) == ("Alice", {"importance": 80, "replyTo": "x"})
    assert told["broadcast"] == [{"from": "Bob", "body": "all of you", "originalTo": "*"}] * 2
    posted = [{"from": "Alice", "channel": "#general", "body": "in the channel"}]
    assert told["channel"] == [posted, posted, []]
    assert (told["topic"], told["notForOthers"]) == ("green", 2)
    assert told["impostor"] == "Connection timeout"
    assert told["flood"]
    assert told["away"] == "while you were away"
    assert b"not understood" in complaints  # it asked for shadows, and was told that there are none
