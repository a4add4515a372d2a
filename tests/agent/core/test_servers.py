"""Finding the server of a model, or saying what to start."""

from __future__ import annotations

import asyncio
import socket

import pytest
from bench.modelserver.server import Server as Running

from tersely.cli.agent import servers
from tersely.foundation.errors import TerselyError


@pytest.fixture
def closed_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        port: int = listening.getsockname()[1]
    return port


def test_a_server_at_a_usual_place_is_found(
    model_server: Running, closed_port: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    places = (("nothing", f"http://127.0.0.1:{closed_port}"), ("ours", model_server.url))
    monkeypatch.setattr(servers, "USUAL", places)

    async def one() -> servers.Server:
        found, model = await servers.connected(servers.Server(""))
        await model.close()
        return found

    assert asyncio.run(one()).url == model_server.url


def test_without_any_it_is_said_what_to_start(
    closed_port: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(servers, "USUAL", (("nothing", f"http://127.0.0.1:{closed_port}"),))
    with pytest.raises(TerselyError, match="model_unavailable") as told:
        asyncio.run(servers.connected(servers.Server("")))
    assert str(closed_port) in told.value.message
    assert "llama-server -hf" in told.value.hint
    assert "tersely chat --url" in told.value.hint
