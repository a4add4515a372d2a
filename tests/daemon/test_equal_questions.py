"""Agents that ask the same at the same time: one answer is worked out, and all of them get it."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from tests.daemon.asking import Talk, serving

from tersely.daemon.sharing import Sharing
from tersely.foundation.errors import TerselyError

AGENTS = 12
FUNCTIONS = 400


@pytest.fixture
def root(tmp_path: Path, runtime: Path) -> Iterator[Path]:
    """A repository whose first question takes a while."""
    folder = tmp_path / "chain"
    folder.mkdir()
    steps = [f"def step_{n}(value):\n    return step_{n + 1}(value)\n" for n in range(FUNCTIONS)]
    (folder / "chain.py").write_text(
        "\n\n".join([*steps, f"def step_{FUNCTIONS}(value):\n    return value\n"])
    )
    with serving(folder):
        yield folder


def test_twelve_who_ask_the_same_need_one_process_and_get_one_answer(root: Path) -> None:
    with ExitStack() as stack:
        talks = [stack.enter_context(Talk(root)) for _ in range(AGENTS)]
        for number, talk in enumerate(talks):
            talk.send(cmd="impact", target=f"step_{FUNCTIONS}", id=number)
        replies = [talk.receive() for talk in talks]
        status = talks[0].ask(cmd="status")
    assert [reply.pop("id") for reply in replies] == list(range(AGENTS))
    assert all(reply == replies[0] for reply in replies)
    assert replies[0]["success"]
    assert len(status["processes"]) == 1


def test_who_leaves_or_runs_out_of_time_takes_the_answer_from_nobody(root: Path) -> None:
    (root / "other.py").write_text(
        "from chain import step_0\n\n\ndef first():\n    return step_0(1)\n"
    )
    with Talk(root) as staying:
        with Talk(root) as leaving, Talk(root) as hasty:
            leaving.send(cmd="impact", target="step_7", id="same")
            hasty.send(cmd="impact", target="step_7", id="same", timeout_ms=1)
            staying.send(cmd="impact", target="step_7", id="same")
        assert staying.receive()["success"]


def test_work_ends_when_the_last_one_leaves_and_its_error_is_everybodys() -> None:
    asyncio.run(_leave_and_fail())


async def _leave_and_fail() -> None:
    sharing: Sharing[str] = Sharing()
    may_end, told = asyncio.Event(), list[tuple[int, int]]()
    begun = ended = 0

    async def work(tell: object) -> str:
        nonlocal begun, ended
        begun += 1
        assert callable(tell)
        tell(1, 2)
        try:
            await may_end.wait()
        finally:
            ended += 1
        raise TerselyError("busy", "not now")

    def note(done: int, total: int) -> None:
        told.append((done, total))

    async def some(count: int) -> list[asyncio.Task[object]]:
        asking = [asyncio.create_task(sharing.ask("question", work, note)) for _ in range(count)]
        for _ in range(3):
            await asyncio.sleep(0)
        return asking

    first = await some(2)
    assert begun == 1
    assert told == [(1, 2)] * 2
    for one in first:
        one.cancel()
    await asyncio.gather(*first, return_exceptions=True)
    await asyncio.sleep(0)
    assert ended == 1

    second = await some(3)
    may_end.set()
    errors = await asyncio.gather(*second, return_exceptions=True)
    assert begun == 2
    assert [str(getattr(error, "code", "")) for error in errors] == ["busy"] * 3
