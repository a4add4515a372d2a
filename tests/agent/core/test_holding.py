"""One process talks in a session at a time; what is deleted elsewhere is said to be gone."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest
from tests.agent.core.talking import Scripted, call, of_kind, reason_of, talking, turn, wanted

from tersely.agent.events import EndReason, Notice, NoticeLevel
from tersely.agent.opening import open_agent
from tersely.agent.sessions.holding import FOLDER
from tersely.agent.sessions.session import ChatSession, MessageDraft
from tersely.agent.sessions.store import SessionStore
from tersely.capabilities.answers.text import PLAIN
from tersely.cli.agent.chat import folder
from tersely.cli.agent.command_spec import SessionParameters, SessionVerb
from tersely.cli.agent.sessions import run_sessions
from tersely.foundation.errors import TerselyError

HOLDER = """
import sys
from pathlib import Path
from tersely.agent.sessions.holding import Hold
hold = Hold.take(Path(sys.argv[1]), sys.argv[2])
print("held", flush=True)
sys.stdin.read()
"""


@contextmanager
def held_elsewhere(place: Path, session: str) -> Iterator[subprocess.Popen[str]]:
    """Another process that holds a session until it is killed."""
    words = [sys.executable, "-c", HOLDER, str(place), session]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    with subprocess.Popen(
        words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "held\n"
        try:
            yield process
        finally:
            process.kill()


@pytest.fixture
def session(root: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A session of the repository, where the command line looks for it."""
    monkeypatch.setenv("TERSELY_HOME", str(root.parent / "home"))
    with SessionStore.open(folder()) as store:
        made = store.create(str(root), "m", "prefix", "grammar")
        made.add(MessageDraft("user", "one", 5, 1))
        made.add(MessageDraft("assistant", "re one", 5, 1))
    return made.id


async def goes_on(root: Path, session: str) -> None:
    """Open an agent with the session, and let go of it."""
    agent = await open_agent(Scripted([]), replace(wanted(root, session=session), folder=folder()))
    await agent.close()


def test_a_session_that_another_process_has_open_is_not_gone_on_with(
    root: Path, session: str
) -> None:
    with held_elsewhere(folder(), session) as process:
        for verb, more in ((SessionVerb.DELETE, ()), (SessionVerb.REWIND, ("0",))):
            with pytest.raises(TerselyError, match="session_in_use"):
                run_sessions(str(root), SessionParameters(verb, session, more), PLAIN)
        with pytest.raises(
            TerselyError, match=f"process {process.pid} has this session open"
        ) as told:
            asyncio.run(goes_on(root, session))
        assert f"--resume {session} --fork" in told.value.hint
        forked = run_sessions(str(root), SessionParameters(SessionVerb.FORK, session), PLAIN)["id"]
        asyncio.run(goes_on(root, forked))


def test_a_process_that_was_killed_holds_nothing(root: Path, session: str) -> None:
    with held_elsewhere(folder(), session) as process:
        process.kill()
        process.wait()
        assert (folder() / FOLDER / session).exists()
        asyncio.run(goes_on(root, session))
    assert list((folder() / FOLDER).iterdir()) == []


def test_an_agent_holds_its_session_until_it_is_closed(root: Path) -> None:
    async def one() -> None:
        async with talking(Scripted([]), root) as agent:
            with pytest.raises(TerselyError, match=f"process {os.getpid()} has"):
                await open_agent(Scripted([]), wanted(root, session=agent.session.id))
            again = await open_agent(
                Scripted([]), wanted(root, session=agent.session.id, hold=agent.conversation.hold)
            )
            await again.close()
            with pytest.raises(TerselyError, match="session_in_use"):
                agent.conversation.store.hold(agent.session.id)
        await (await open_agent(Scripted([]), wanted(root, session=agent.session.id))).close()

    asyncio.run(one())


CHANGES: dict[str, Callable[[SessionStore, ChatSession], object]] = {
    "message": lambda store, session: session.add(MessageDraft("user", "two", 5, 2)),
    "words": lambda store, session: session.keep_draft("wo"),
    "call": lambda store, session: session.begin_call("c", "read", "{}", 0),
    "tier": lambda store, session: session.unlock(2),
    "name": lambda store, session: session.rename("other"),
    "rewind": lambda store, session: session.rewind(0),
    "compaction": lambda store, session: session.leave_out(None, "summary"),
    "model": lambda store, session: session.use("other", "prefix", "grammar", 0),
    "fork": lambda store, session: store.fork(session.id),
    "rename": lambda store, session: store.rename(session.id, "other"),
    "history": lambda store, session: store.history(session.id),
}


@pytest.mark.parametrize("change", sorted(CHANGES))
def test_whatever_is_done_to_a_deleted_session_says_so(session: str, change: str) -> None:
    with SessionStore.open(folder()) as store:
        known = store.resume(session)
        with SessionStore.open(folder()) as other:
            other.delete(session)
        with pytest.raises(TerselyError, match="deleted by another process"):
            CHANGES[change](store, known)


def test_a_turn_whose_session_was_deleted_ends_and_the_agent_goes_on(root: Path) -> None:
    async def one() -> None:
        async with talking(Scripted([call("read", path="README.md"), "Hello."]), root) as agent:
            with SessionStore.open(root.parent / "chats") as other:
                other.delete(agent.session.id)
            for _ in range(2):
                events = await turn(agent, "hello")
                assert reason_of(events) is EndReason.FAILED
                (notice,) = [
                    each for each in of_kind(events, Notice) if each.level is NoticeLevel.ERROR
                ]
                assert "deleted by another process" in notice.text

    asyncio.run(one())
