"""A process that looks for garbage after an answer is not asked before it has done so."""

from __future__ import annotations

import asyncio
import io
import subprocess
import sys
from pathlib import Path

import pytest

from tersely.daemon.processes import analysis
from tersely.daemon.processes.analysis import Analysis
from tersely.daemon.processes.process import AnalysisProcess, ProcessLostError
from tersely.foundation.process.frames import ANSWER, TIDIED, encode_frame, read_frame

TASK = ("directories",)


@pytest.mark.parametrize(("collected", "said"), [(-1, [ANSWER, TIDIED]), (10**9, [ANSWER])])
def test_it_says_when_it_has_looked_for_garbage(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, collected: int, said: list[str]
) -> None:
    monkeypatch.setattr(analysis, "COLLECTED_OBJECTS", collected)
    answers = io.BytesIO()
    analysis._serve(
        Analysis(tmp_path, lambda *_: None, lambda *_: None),
        io.BytesIO(encode_frame(TASK)),
        answers,
    )
    answers.seek(0)
    frames = [read_frame(answers) for _ in said]
    assert [frame[0] for frame in frames] == said
    assert frames[0][3] == (TIDIED in said)


@pytest.fixture
def process() -> AnalysisProcess:
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait()
    return AnalysisProcess(ended, -1)


class Pipe(asyncio.Transport):
    """Takes what is sent, and is never closed."""

    def write(self, data: object) -> None:
        """Nobody reads it."""

    def is_closing(self) -> bool:
        """Never."""
        return False


@pytest.mark.parametrize("is_lost", [False, True])
def test_it_is_waited_for_until_it_has_said_so(process: AnalysisProcess, is_lost: bool) -> None:
    async def ask() -> None:
        process.connection_made(Pipe())
        asking = asyncio.create_task(process.ask(TASK))
        await asyncio.sleep(0)
        process.data_received(encode_frame((ANSWER, ("done", 7), 1, True)))
        assert await asking == ("done", 7)
        waiting = asyncio.create_task(process.tidied())
        await asyncio.sleep(0)
        assert not waiting.done()
        if is_lost:
            process.connection_lost(None)
        else:
            process.data_received(encode_frame((TIDIED,)))
        await waiting

    if is_lost:
        with pytest.raises(ProcessLostError):
            asyncio.run(ask())
    else:
        asyncio.run(ask())
