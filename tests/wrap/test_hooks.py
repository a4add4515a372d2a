"""What the hooks of an agent are answered, by the program that they execute and by others."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Awaitable, Callable

import pytest

from tersely.cli.main import main
from tersely.integrations.run_hook import SOCKET_VARIABLE
from tersely.integrations.wrapped import CLAUDE, AgentState, hook_words
from tersely.wrap.delivery.hooks import Hooks
from tersely.wrap.delivery.inbox import Inbox, WaitingText

PROMPT = json.dumps({"hook_event_name": "UserPromptSubmit", "prompt": "begin"})


class Run:
    """The hooks of a run under the name of an agent, and what its inbox has handed over."""

    def __init__(self) -> None:
        self.taken: list[WaitingText] = []
        self.inbox = Inbox(self._keep)
        self.hooks = Hooks("claude", CLAUDE, self.inbox, "the rules", self.taken.append)

    async def _keep(self, text: str, name: str) -> str:
        raise AssertionError("nothing here is long")

    async def with_socket(self, do: Callable[[str], Awaitable[None]]) -> None:
        async with asyncio.timeout(30), self.hooks.listening() as path:
            await do(path)


def during(do: Callable[[Run, str], Awaitable[None]]) -> None:
    async def running() -> None:
        run = Run()
        await run.with_socket(lambda path: do(run, path))

    asyncio.run(running())


async def printed(path: str, call: str) -> str:
    """What the program of the hooks prints for a call."""
    process = await asyncio.create_subprocess_exec(
        *hook_words(), stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE,
        env={**os.environ, SOCKET_VARIABLE: path},
    )  # fmt: skip
    out, _ = await process.communicate(call.encode())
    assert process.returncode == 0
    return out.decode()


async def said(path: str, line: bytes, *, reads: bool = True) -> bytes:
    """What the socket answers to a line of somebody who then hangs up."""
    reader, writer = await asyncio.open_unix_connection(path)
    writer.write(line)
    answer = await reader.readline() if reads else b""
    writer.close()
    await writer.wait_closed()
    return answer


def test_what_waits_stands_beside_the_next_prompt() -> None:
    async def do(run: Run, path: str) -> None:
        run.inbox.put("[tester]", "hello")
        answer = json.loads(await printed(path, PROMPT))
        assert answer["hookSpecificOutput"]["additionalContext"] == "[tester]: hello"
        while not run.taken:
            await asyncio.sleep(0)
        assert run.hooks.state is AgentState.WORKING
        assert await printed(path, PROMPT) == ""

    during(do)


def test_an_agent_is_kept_from_stopping_once() -> None:
    async def do(run: Run, path: str) -> None:
        run.inbox.put("[tester]", "one")
        answer = json.loads(await printed(path, json.dumps({"hook_event_name": "Stop"})))
        assert answer == {"decision": "block", "reason": "[tester]: one"}
        run.inbox.put("[tester]", "two")
        assert (
            await printed(path, json.dumps({"hook_event_name": "Stop", "stop_hook_active": True}))
            == ""
        )
        assert run.hooks.state is AgentState.IDLE
        assert len(run.inbox) == 1

    during(do)


def test_a_hook_that_ends_before_it_has_printed_took_nothing() -> None:
    async def do(run: Run, path: str) -> None:
        run.inbox.put("[tester]", "hello")
        line = json.dumps({"waits": "", "call": json.loads(PROMPT)}).encode() + b"\n"
        assert json.loads(await said(path, line))["text"]
        while not run.inbox:
            await asyncio.sleep(0)
        assert run.taken == []

    during(do)


@pytest.mark.parametrize(
    "line", [b"\n", b"[]\n", b'{"call": 1}\n', b"\xff\n", b"[" * 100_000 + b"\n", b"no end"]
)
def test_what_is_no_call_is_not_answered(line: bytes) -> None:
    async def do(run: Run, path: str) -> None:
        run.inbox.put("[tester]", "hello")
        assert await said(path, line, reads=line.endswith(b"\n")) == b""
        assert "hello" in await printed(path, PROMPT)

    during(do)


def test_an_agent_that_a_wrapped_one_starts_gets_nothing_of_its() -> None:
    async def do(run: Run, path: str) -> None:
        run.inbox.put("[tester]", "hello")
        line = (
            json.dumps({"agent": "qwen", "waits": "", "call": json.loads(PROMPT)}).encode() + b"\n"
        )
        assert await said(path, line) == b""
        assert len(run.inbox) == 1

    during(do)


def test_hooks_do_nothing_where_no_program_is_wrapped(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv(SOCKET_VARIABLE, raising=False)
    assert main(["hook", "run", "--agent", "gemini"]) == 0
    assert capsys.readouterr() == ("", "")
