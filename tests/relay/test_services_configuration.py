"""Which services the relay brings itself: by the file of agent-relay, and by the environment before
it.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tersely.foundation.errors import TerselyError
from tersely.relay.services.configuration import Bridged, configuration_path, load

EXAMPLE = {
    "services": [{"name": "tldr", "type": "tldr", "enabled": True, "socketPath": "/tmp/tldr.sock"}]
}


def loaded(tmp_path: Path, content: Any = None, **environment: str) -> list[Bridged]:
    given = {"HOME": str(tmp_path), **environment}
    if content is not None:
        path = configuration_path(given)
        path.parent.mkdir(parents=True)
        path.write_text(content if isinstance(content, str) else json.dumps(content))
    return load(given)


def test_without_a_word_there_is_one_for_the_code_daemons(tmp_path: Path) -> None:
    assert loaded(tmp_path) == [Bridged("tldr", True, "", True, 600)]


def test_the_file_of_agent_relay_is_read_where_it_is(tmp_path: Path) -> None:
    assert configuration_path({"HOME": "/ann"}) == Path("/ann/.config/agent-relay/services.json")
    assert loaded(tmp_path, EXAMPLE) == [Bridged("tldr", True, "/tmp/tldr.sock", False, 600)]


def test_each_service_is_its_own(tmp_path: Path) -> None:
    services = [
        {"name": "code", "type": "tldr", "autoStart": False, "timeoutMs": 500},
        {
            "name": "theirs",
            "type": "tldr",
            "enabled": False,
            "socketPath": "/run/x.sock",
            "autoStart": True,
            "more": 1,
        },
        {"name": "chat", "type": "slack"},
    ]
    code, theirs = loaded(tmp_path, {"services": services})
    assert code == Bridged("code", True, "", False, 0.5)
    assert theirs == Bridged("theirs", False, "/run/x.sock", True, 600)


@pytest.mark.parametrize(
    ("text", "is_enabled"), [("true", True), ("1", True), ("false", False), ("OFF", False)]
)
def test_the_environment_is_stronger(tmp_path: Path, text: str, is_enabled: bool) -> None:
    environment = {"AGENT_RELAY_TLDR_ENABLED": text, "AGENT_RELAY_TLDR_SOCKET": "/run/env.sock"}
    [found] = loaded(tmp_path, EXAMPLE, **environment)
    assert (found.is_enabled, found.socket) == (is_enabled, "/run/env.sock")


@pytest.mark.parametrize(
    "content",
    [
        "{",
        "[]",
        '{"services": {}}',
        '{"services": [{"type": "tldr"}]}',
        {"services": [{"name": "a b", "type": "tldr"}]},
        {"services": [{"name": "x", "type": "tldr", "enabled": "yes"}]},
        {"services": [{"name": "x", "type": "tldr", "socketPath": "relative.sock"}]},
        {"services": [{"name": "x", "type": "tldr", "timeoutMs": 0}]},
        '{"services": [' + "[" * 5_000,
        " " * 1_000_001,
    ],
)
def test_a_file_that_is_wrong_is_one_clear_line(tmp_path: Path, content: Any) -> None:
    with pytest.raises(TerselyError) as refused:
        loaded(tmp_path, content)
    assert refused.value.code == "invalid_setting"
    assert "services.json" in refused.value.message
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize(
    ("name", "value"),
    [("AGENT_RELAY_TLDR_ENABLED", "perhaps"), ("AGENT_RELAY_TLDR_SOCKET", "relative")],
)
def test_an_environment_that_is_wrong_says_which_variable(
    tmp_path: Path, name: str, value: str
) -> None:
    with pytest.raises(TerselyError) as refused:
        loaded(tmp_path, **{name: value})
    assert refused.value.message.startswith(name)


@pytest.mark.parametrize("make", [Path.mkdir, os.mkfifo])
def test_a_file_that_cannot_be_read_is_no_reason_to_guess_or_to_wait(
    tmp_path: Path, make: Callable[[Path], None]
) -> None:
    path = configuration_path({"HOME": str(tmp_path)})
    path.parent.mkdir(parents=True)
    make(path)
    with pytest.raises(TerselyError) as refused:
        loaded(tmp_path)
    assert refused.value.code == "unreadable_file"
