"""A turn without a screen that somebody ends."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from tests.agent.core.talking import Scripted

from laconic.agent.models.protocol import Chunk, Constraint, Prompt
from laconic.cli.agent import chat
from laconic.cli.agent.declared import ChatParameters, OutputFormat
from laconic.cli.agent.servers import Server
from laconic.cli.options import Options


class Endless(Scripted):
    """Says a word, and then nothing more."""

    def __init__(self) -> None:
        super().__init__([])
        self.has_spoken = asyncio.Event()

    async def stream(self, prompt: Prompt, constraint: Constraint | None, most_tokens: int) -> AsyncIterator[Chunk]:
        yield Chunk("Well ")
        self.has_spoken.set()
        await asyncio.Event().wait()


@pytest.mark.parametrize("form", [OutputFormat.JSON, OutputFormat.STREAM_JSON])
def test_a_turn_that_is_cancelled_ends_with_the_object_that_was_promised(
    root: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], form: OutputFormat
) -> None:
    async def ended() -> None:
        model = Endless()

        async def connected(server: Server) -> tuple[Server, Endless]:
            return server, model

        monkeypatch.setattr(chat, "connected", connected)
        parameters = ChatParameters(prompt="hello", output_format=form, retrieval=False)
        talking = asyncio.create_task(chat._headless(root, Options(root=str(root)), parameters, "hello"))
        await model.has_spoken.wait()
        talking.cancel()
        with pytest.raises(asyncio.CancelledError):
            await talking

    monkeypatch.setenv("LACONIC_HOME", str(root.parent / "home"))
    monkeypatch.setenv("LACONIC_DAEMON", "off")
    asyncio.run(ended())
    result = json.loads(capsys.readouterr().out.splitlines()[-1])
    assert (result["ok"], result["reason"]) == (False, "cancelled")
