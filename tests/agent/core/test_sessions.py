"""Sessions outlive the program, whatever ends it, and share what they have in common."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.agent.core.talking import ALLOWED, Scripted, call, reason_of, talking, turn
from tests.depth import examples

from tersely.agent.events import EndReason
from tersely.agent.models.protocol import RequestUsage
from tersely.agent.sessions.analytics import analytics, tiers_used
from tersely.agent.sessions.holding import Hold
from tersely.agent.sessions.session import BROKEN_OFF, ChatSession, MessageDraft
from tersely.agent.sessions.store import SessionStore
from tersely.capabilities.answers.text import PLAIN
from tersely.cli.agent.chat import folder
from tersely.cli.agent.command_spec import SessionParameters, SessionVerb
from tersely.cli.agent.sessions import run_sessions
from tersely.foundation.errors import TerselyError
from tersely.foundation.text.escape import visible

ROOT = Path(__file__).parents[3]


@pytest.fixture
def store(tmp_path: Path) -> Iterator[SessionStore]:
    with SessionStore.open(tmp_path / "chats") as made:
        yield made


def created(store: SessionStore, repository: str = "r") -> ChatSession:
    return store.create(repository, "m", "prefix", "grammar")


def say(session: ChatSession, *texts: str) -> None:
    """Whole turns: what the user says, what is answered."""
    for text in texts:
        number = session.turn + 1
        session.add(MessageDraft("user", text, 5, number))
        session.add(MessageDraft("assistant", f"re {text}", 5, number))


def texts(session: ChatSession) -> list[str]:
    return [message.content for message in session.prompt()]


def test_a_picture_stays_with_its_message(store: SessionStore) -> None:
    session = created(store)
    session.add(MessageDraft("user", "look", 5, 1))
    session.add(MessageDraft("user", "browser:\na picture", 5, 1, picture="iVBORw0KGgo="))
    again = store.resume(session.id)
    assert [message.pictures for message in again.prompt()][-2:] == [("iVBORw0KGgo=",), ()]
    assert store.fork(session.id).prompt() == again.prompt()


@pytest.mark.parametrize("moment", ["text", "command"])
def test_a_killed_process_has_lost_nothing_that_it_showed(root: Path, moment: str) -> None:
    words = [sys.executable, "-m", "tests.agent.core.killed", str(root), moment]
    path = os.pathsep.join([str(ROOT / "src"), str(ROOT)])
    process = subprocess.Popen(
        words, stdout=subprocess.PIPE, env={**os.environ, "PYTHONPATH": path}, cwd=ROOT
    )
    assert process.stdout is not None
    shown = b""
    until = b"word word word" if moment == "text" else b"[bash]"
    while until not in shown:
        shown += os.read(process.stdout.fileno(), 1_000)
    os.kill(process.pid, signal.SIGKILL)
    shown += process.stdout.read()
    process.wait()
    process.stdout.close()
    with SessionStore.open(root.parent / "chats") as store:
        (listed,) = store.every(str(root))
        session = store.resume(listed.id)
        history = store.history(listed.id)
        kept = "".join(message.text for message in history.messages if message.role == "assistant")
        outputs = "".join(one.output for one in history.calls)
    told = shown.decode().replace("[read]", "").replace("[bash]", "").replace(outputs, "")
    assert kept.startswith(told)
    assert "def price" in outputs
    assert [one.status for one in history.calls] == ["completed"] + ["interrupted"] * (
        moment == "command"
    )
    assert session.messages[-1].role == "assistant"
    prompts = go_on(root, listed.id)
    assert [message.role for message in prompts[0][1:]].count("user") >= 2
    assert prompts[0][: len(session.prompt())] == session.prompt()


def go_on(root: Path, session: str) -> list[tuple[object, ...]]:
    model = Scripted(["I go on."])

    async def one() -> None:
        async with talking(model, root, session=session) as agent:
            assert reason_of(await turn(agent, "go on")) is EndReason.ANSWERED

    asyncio.run(one())
    return list(model.prompts)


def test_a_session_goes_on_as_it_was(root: Path) -> None:
    first = Scripted(
        ["Hello.", call("edit", "--- body\nx = 1\n", path="shop/__init__.py"), "Done."]
    )

    async def begin() -> str:
        async with talking(first, root, choices=ALLOWED) as agent:
            await turn(agent, "hello")
            await turn(agent, "add x")
            return agent.session.id

    async def resume() -> None:
        async with talking(second, root, session=identifier) as agent:
            assert agent.session.tier == 1
            assert agent.session.name == "hello"
            await turn(agent, "what now?")

    identifier = asyncio.run(begin())
    second = Scripted(["Nothing."])
    asyncio.run(resume())
    assert second.prompts[0][: len(first.prompts[-1])] == first.prompts[-1]
    assert second.prompts[0][-2].content == "Done."


def test_a_session_goes_on_in_its_repository_alone(root: Path, tmp_path: Path) -> None:
    async def one(folder: Path, session: str = "") -> str:
        async with talking(Scripted([]), folder, session=session) as agent:
            return agent.session.id

    other = tmp_path / "other"
    other.mkdir()
    identifier = asyncio.run(one(root))
    with pytest.raises(TerselyError, match=f"is about {root}, not about {other}"):
        asyncio.run(one(other, identifier))


def test_with_another_model_the_session_begins_anew_with_all_its_messages(root: Path) -> None:
    async def one(model: Scripted, session: str = "") -> str:
        async with talking(model, root, session=session) as agent:
            await turn(agent, "hello")
            return agent.session.id

    identifier = asyncio.run(one(Scripted(["Hello."])))
    other = Scripted(["Hello again."])
    other.abilities = other.abilities._replace(grammar=False, model="other")
    asyncio.run(one(other, identifier))
    assert "Answer in JSON" in other.prompts[0][0].content
    assert [message.content for message in other.prompts[0][1:]] == ["hello", "Hello.", "hello"]


def test_a_fork_shares_what_went_before_and_neither_hears_of_the_other(store: SessionStore) -> None:
    origin = created(store)
    say(origin, "one", "two")
    fork = store.fork(origin.id, "another way")
    say(origin, "three")
    say(fork, "four")
    assert texts(store.resume(origin.id)) == [
        "prefix",
        "one",
        "re one",
        "two",
        "re two",
        "three",
        "re three",
    ]
    assert texts(store.resume(fork.id)) == [
        "prefix",
        "one",
        "re one",
        "two",
        "re two",
        "four",
        "re four",
    ]
    assert store.find("another way").forked_from == origin.id


@pytest.mark.parametrize("gone", ["origin", "fork"])
def test_what_a_fork_needs_outlives_the_other(store: SessionStore, gone: str) -> None:
    origin = created(store)
    say(origin, "one")
    fork = store.fork(origin.id)
    origin.begin_call("c", "read", "{}", 0)
    say(origin, "two")
    say(fork, "three")
    kept, deleted = (fork, origin) if gone == "origin" else (origin, fork)
    before = texts(kept)
    store.delete(deleted.id)
    assert texts(store.resume(kept.id)) == before
    with pytest.raises(TerselyError, match="session_not_found"):
        store.find(deleted.id)
    store.delete(kept.id)
    assert [
        store.database.value(f"select count(*) from {table}")
        for table in ("messages", "tool_calls")
    ] == [0, 0]


def test_rewinding_goes_on_after_an_earlier_turn(store: SessionStore) -> None:
    session = created(store)
    say(session, "one", "two", "three")
    session.rewind(1)
    say(session, "other")
    assert texts(store.resume(session.id)) == ["prefix", "one", "re one", "other", "re other"]
    session.rewind(0)
    assert texts(store.resume(session.id)) == ["prefix"]
    with pytest.raises(TerselyError, match="there is no turn"):
        session.rewind(1)


def test_a_session_that_went_on_elsewhere_is_not_overwritten(store: SessionStore) -> None:
    session = created(store)
    say(session, "one")
    other = store.resume(session.id)
    say(other, "two")
    with pytest.raises(TerselyError, match="version_conflict"):
        say(session, "three")
    assert texts(store.resume(session.id)) == ["prefix", "one", "re one", "two", "re two"]


def test_a_session_that_was_deleted_elsewhere_is_said_to_be_gone(store: SessionStore) -> None:
    session = created(store)
    say(session, "one")
    store.delete(session.id)
    with pytest.raises(TerselyError, match="deleted by another process"):
        say(session, "two")


def test_a_turn_without_an_answer_is_given_one(store: SessionStore) -> None:
    session = created(store)
    session.add(MessageDraft("user", "one", 5, 1))
    assert texts(store.resume(session.id))[-1] == BROKEN_OFF
    assert store.resume(session.id).messages[-1].is_whole == 0


def test_sessions_are_found_by_what_they_are_called(store: SessionStore) -> None:
    # decides between equal times
    first, second = sorted([created(store), created(store)], key=lambda one: one.id)
    elsewhere = created(store, "elsewhere")
    store.rename(first.id, "  the   first ")
    assert store.find("the first").id == first.id
    store.rename(elsewhere.id, "the first")
    assert store.find("the first", "r").id == first.id
    assert store.find("the first", "elsewhere").id == elsewhere.id
    assert store.find(first.id[-8:]).id == first.id
    say(second, "x")
    assert store.find("last", "r").id == second.id
    for wanted, code in ((first.id[:4], "ambiguous_session"), ("nobody", "session_not_found")):
        with pytest.raises(TerselyError, match=code):
            store.find(wanted)
    with pytest.raises(TerselyError, match="invalid_argument"):
        store.rename(first.id, "x" * 1_000)


@pytest.mark.parametrize("verb", [SessionVerb.LIST, SessionVerb.SHOW, SessionVerb.STATS])
def test_names_of_others_steer_no_terminal(
    root: Path, monkeypatch: pytest.MonkeyPatch, verb: SessionVerb
) -> None:
    monkeypatch.setenv("TERSELY_HOME", str(root.parent / "home"))
    with SessionStore.open(folder()) as store:
        say(store.create(str(root), "m\x1b[2J", "prefix", "grammar"), "hello \x1b[2J")
    told = run_sessions(str(root), SessionParameters(verb, "last"), PLAIN)["text"]
    assert told
    assert visible(told) == told


def test_sessions_of_one_name_are_listed_to_choose_from(store: SessionStore) -> None:
    made = [created(store) for _ in range(3)]
    say(made[1], "one", "two")
    for each, updated in zip(made, (1, 3, 2), strict=True):
        store.rename(each.id, "hello")
        store.database.execute(
            "update sessions set updated_at = ? where id = ?", (updated, each.id)
        )
    with pytest.raises(TerselyError, match="several sessions are called 'hello'") as told:
        store.find("hello", "r")
    first, *rows = told.value.hint.splitlines()
    assert "by its id" in first
    assert [row.split()[0] for row in rows] == [
        each.id[-8:] for each in (made[1], made[2], made[0])
    ]
    assert rows[0].endswith("2 turns")
    assert store.find(rows[0].split()[0]).id == made[1].id
    with pytest.raises(TerselyError, match="no session of this repository yet"):
        store.find("last", "elsewhere")


@pytest.mark.parametrize(
    ("verb", "value", "message"),
    [
        (SessionVerb.REWIND, "²", "a turn is missing"),
        (SessionVerb.REWIND, "9" * 5_000, "a turn is missing"),
        (SessionVerb.REWIND, "7", "there is no turn 7"),
        (SessionVerb.RENAME, " ", "a name is missing"),
        (SessionVerb.RENAME, "x" * 1_000, "at most"),
    ],
)
def test_what_cannot_be_done_with_a_session_is_said(
    root: Path, monkeypatch: pytest.MonkeyPatch, verb: SessionVerb, value: str, message: str
) -> None:
    monkeypatch.setenv("TERSELY_HOME", str(root.parent / "home"))
    with SessionStore.open(folder()) as store:
        say(store.create(str(root), "m", "prefix", "grammar"), "hello")
    with pytest.raises(TerselyError, match=message):
        run_sessions(str(root), SessionParameters(verb, "last", (value,)), PLAIN)


def test_all_that_sessions_make_is_its_users_alone(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TERSELY_HOME", str(root.parent / "new" / "home"))
    SessionStore.open(folder()).close()
    assert [place.stat().st_mode & 0o777 for place in (folder(), *folder().parents[:2])] == [
        0o700
    ] * 3


def test_a_place_that_cannot_be_made_is_told(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERSELY_HOME", str(root / "README.md"))
    with pytest.raises(
        TerselyError, match=r"database_unavailable: .*README\.md/chat cannot be made"
    ):
        SessionStore.open(folder())


def test_figures_are_counted_where_they_were_spent(store: SessionStore) -> None:
    session = created(store)
    for cached in (0, 90, None):
        say(session, "one")
        session.record(RequestUsage(100, cached, 10), 500)
    for number, status in enumerate(["completed", "error", "denied"]):
        session.begin_call(f"c{number}", "edit", "{}", 1)
        session.end_call(f"c{number}", status, "text", 7, 20)
    fork = store.fork(session.id)
    figures = analytics(store, (session.id, fork.id))
    spent = {one.id: one for one in figures.sessions}
    assert spent[session.id][2:] == (3, 300, 90, 200, 30, 1.5)
    assert spent[session.id].cached_percent == 45
    assert (spent[fork.id].requests, spent[fork.id].cached_percent) == (0, None)
    (edit,) = figures.tools
    assert edit == ("edit", 1, 3, 1, 1, 21, 20)
    assert tiers_used(store, "r", "none", 5) == [1]


@settings(max_examples=examples(), deadline=None)
@given(
    st.lists(st.sampled_from(["say", "fork", "rewind", "delete", "leave"]), max_size=14), st.data()
)
def test_every_branch_stays_as_it_was_left(steps: list[str], data: st.DataObject) -> None:
    with tempfile.TemporaryDirectory() as folder, SessionStore.open(Path(folder)) as store:
        left = {session.id: texts(session) for session in [created(store)]}
        for number, step in enumerate(steps):
            chosen = store.resume(data.draw(st.sampled_from(sorted(left))))
            if step == "say":
                say(chosen, f"text {number}")
            elif step == "fork":
                chosen = store.fork(chosen.id)
            elif step == "rewind":
                chosen.rewind(data.draw(st.integers(0, chosen.turn)))
            elif step == "leave" and chosen.turn > 1:
                chosen.leave_out(chosen.messages[-2].id, "a summary")
                say(chosen, "after")
            elif step == "delete" and len(left) > 1:
                store.delete(chosen.id)
                del left[chosen.id]
                continue
            left[chosen.id] = texts(chosen)
            assert {one: texts(store.resume(one)) for one in left} == left


def test_a_session_goes_whose_fork_has_taken_back_what_it_said(store: SessionStore) -> None:
    session = created(store)
    say(session, "one")
    fork = store.fork(session.id)
    say(fork, "two")
    fork.rewind(0)
    store.delete(session.id)
    assert texts(store.resume(fork.id)) == ["prefix"]
    say(store.resume(fork.id), "three")
    assert texts(store.resume(fork.id)) == ["prefix", "three", "re three"]


HOLDS_AND_FORKS = """
import os, sys
from pathlib import Path
from tersely.agent.sessions.holding import Hold
hold = Hold.take(Path(sys.argv[1]), "abc")
if os.fork() == 0:
    sys.stdin.read()  # holds what it has inherited until the end of this
    os._exit(0)
print("held", flush=True)
os.kill(os.getpid(), 9)
"""


def test_a_child_that_a_dead_process_left_is_waited_for(tmp_path: Path) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", HOLDS_AND_FORKS, str(tmp_path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as process:  # fmt: skip
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stdout.readline() == b"held\n"
        process.wait()
        with ThreadPoolExecutor(1) as pool:
            taken = pool.submit(Hold.take, tmp_path, "abc")
            process.stdin.close()
            taken.result().close()
