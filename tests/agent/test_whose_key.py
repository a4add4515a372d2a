"""To whom the key in the settings is shown."""

from __future__ import annotations

import pytest

from tersely.cli.agent.chat import server_of
from tersely.cli.agent.command_spec import ChatParameters
from tersely.foundation.settings import Settings

OURS, OTHERS = "https://models.example.org/v1", "https://models.example.net/v1"


@pytest.mark.parametrize(
    ("set_url", "url", "key"),
    [
        (OURS, "", "secret"),
        (OURS, OURS, "secret"),
        ("usual", OURS, "secret"),
        (OURS, OTHERS, ""),
        ("usual", "", ""),  # whatever listens on this machine
        (OURS, "usual", ""),
    ],
)
def test_a_key_is_for_the_server_that_is_named(set_url: str, url: str, key: str) -> None:
    assert (
        server_of(ChatParameters(url=url), Settings(chat_url=set_url, chat_key="secret")).key == key
    )
