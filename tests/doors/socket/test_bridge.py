"""The bridge to servers that speak JSON a line each: code daemons of ours, and others that know the
protocol alone.
"""

from __future__ import annotations

import asyncio
import json
import shlex
import subprocess
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.doors.socket.bridging import (
    ANSWER_WORDS,
    APPENDIX,
    SOURCE,
    bridged,
    listening,
    refused,
    serving,
    with_id,
)
from tests.doors.socket.served import served

from tersely.capabilities import catalogue
from tersely.capabilities.answers.reply import whole_reply
from tersely.daemon import lifecycle
from tersely.daemon.ndjson.commands import call
from tersely.doors.socket.bridge.fallbacks import fallback
from tersely.foundation.errors import TerselyError
from tersely.foundation.text.escape import visible_line
from tersely.relay.services.calls import Call, InvocationResult
from tersely.relay.threads import threads
from tersely.workspace import Workspace

pytestmark = pytest.mark.usefixtures("runtime")


async def test_our_daemon_is_started_and_answers_all_of_the_appendix(
    home: Path, shop: Path
) -> None:
    async with bridged(home, shop) as (_, ann):
        assert lifecycle.status(str(shop)) is None  # nothing is connected to before it is needed
        results = {
            method: await ann.ask("tldr", method, parameters)
            for method, parameters in APPENDIX.items()
        }
        assert results["semantic"][0]["file"] == "auth.py"
        assert results["semantic"][0]["signature"] == "def verify(token)"
        assert [call["caller"] for call in results["calls"]["callers"]["items"]] == [
            "auth.py:login"
        ]
        assert "return bool(token)" in results["context"]["text"]
        assert "return bool(token)" in results["extract"]["content"]
        assert lifecycle.status(str(shop)) is not None


async def test_words_are_those_of_the_command_line(home: Path, shop: Path) -> None:
    async with bridged(home, shop) as (_, ann):
        for method, parameters in APPENDIX.items():
            answered = await ann.ask("tldr", method, parameters, in_words=True)
            if method == "semantic":  # whose form is that of the wire
                assert answered == await ann.ask("tldr", method, parameters)
                continue
            asked = call(method, parameters, str(shop))
            with Workspace.open(shop) as workspace:
                printed = whole_reply(catalogue.load(asked.capability), workspace, asked.arguments)
            assert answered.startswith(printed.text), method
        for in_words in (True, False):
            asking = ann.ask("tldr", "impact", {"target": "nobody"}, in_words=in_words)
            assert (await refused(asking))[0] == "symbol_not_found"


async def test_a_socket_path_may_be_that_of_our_daemon(home: Path, shop: Path) -> None:
    socket = lifecycle.start(str(shop), ANSWER_WORDS, 600).status["socket"]
    async with bridged(home, shop, socket=socket) as (_, ann):
        for method, parameters in APPENDIX.items():
            assert await ann.ask("tldr", method, parameters), method
        assert (await ann.ask("tldr", "symbol.find", {"queries": ["ver*"]}))["symbols"][
            "total"
        ] == 1
        assert (await ann.ask("tldr", "tree", {}))["files"] == 1


async def test_a_change_of_a_file_is_a_change_of_the_answer(home: Path, shop: Path) -> None:
    async with bridged(home, shop) as (relay, ann):
        asked = {"target": "verify", "direction": "callers"}
        thread = threads.create(relay.relay.store, "work", "ann").thread_id

        async def called() -> InvocationResult:
            call = Call(thread, "tldr.calls", asked, "ann")
            return await asyncio.to_thread(relay.relay.calls.invoke, call)

        first, again = await called(), await called()
        assert (first.is_hit, again.is_hit) == (False, True)
        assert relay.relay.services.hits("tldr.calls") == (2, 1)
        (shop / "auth.py").write_text(
            f"{SOURCE}\n\ndef renew(token):\n    return verify(token)\n", "utf-8"
        )
        found = await ann.ask("tldr", "calls", asked)
        assert [call["caller"] for call in found["callers"]["items"]] == [
            "auth.py:login",
            "auth.py:renew",
        ]
        anew = await called()
        assert not anew.is_hit
        assert "auth.py:renew" in (anew.text or "")


async def test_each_workspace_has_a_daemon_of_its_own(
    home: Path, shop: Path, tmp_path: Path
) -> None:
    other = tmp_path / "other"
    (other / ".git").mkdir(parents=True)
    (other / ".git" / "HEAD").touch()
    (other / "b.py").write_text("def only_here():\n    pass\n", "utf-8")
    (other / "sub").mkdir()
    async with bridged(home, shop) as (relay, ann):
        assert (await ann.ask("tldr", "extract", {"symbol": "login"}))["path"] == "auth.py"
        named = {"symbol": "only_here", "root": str(other)}
        assert (await ann.ask("tldr", "extract", named))["path"] == "b.py"
        async with await relay.peer("ben", directory=str(other / "sub")) as ben:
            assert (await ben.ask("tldr", "extract", {"symbol": "only_here"}))["path"] == "b.py"
        wrong = {"symbol": "x", "root": "relative"}
        assert (await refused(ann.ask("tldr", "extract", wrong)))[0] == "invalid_argument"
        missing = {**wrong, "root": "/not/there"}
        assert (await refused(ann.ask("tldr", "extract", missing)))[0] == "root_not_found"
    assert lifecycle.running() == []  # they end with what has started them


async def test_a_daemon_that_somebody_else_has_started_stays(home: Path, shop: Path) -> None:
    async with bridged(home, shop) as (_, ann):
        assert (await ann.ask("tldr", "extract", {"symbol": "login"}))["path"] == "auth.py"
        lifecycle.stop(str(shop))
        theirs = lifecycle.start(str(shop), ANSWER_WORDS, 600).status["pid"]
        assert (await ann.ask("tldr", "extract", {"symbol": "login"}))["path"] == "auth.py"
    found = lifecycle.status(str(shop))
    assert found is not None
    assert found["pid"] == theirs
    lifecycle.stop(str(shop))


@pytest.mark.parametrize(
    ("method", "parameters", "code"),
    [
        ("shutdown", {}, "unknown_command"),
        ("nonsense", {}, "unknown_command"),
        ("semantic", {}, "invalid_argument"),
        ("semantic", {"query": 7}, "invalid_argument"),
        ("semantic", {"query": "x", "limit": "many"}, "invalid_argument"),
        ("semantic", {"query": "x", "limits": 1}, "invalid_argument"),
        ("calls", {"target": "x", "direction": "sideways"}, "invalid_argument"),
        ("semantic", ["x"], "invalid_argument"),
    ],
)
async def test_questions_are_checked_before_anybody_is_asked(
    home: Path, shop: Path, runtime: Path, method: str, parameters: Any, code: str
) -> None:
    socket = runtime / "t.sock"
    async with (
        listening(socket, with_id(success=True, result=1)) as other,
        bridged(home, shop, socket=str(socket)) as (_, ann),
    ):
        assert (await refused(ann.ask("tldr", method, parameters)))[0] == code
        assert other.connections == 0


async def test_another_server_is_asked_with_the_words_of_the_appendix(
    home: Path, shop: Path, runtime: Path
) -> None:
    socket = runtime / "t.sock"
    async with (
        listening(socket, lambda request: {"success": True, "result": request["cmd"]}) as other,
        bridged(home, shop, socket=str(socket)) as (_, ann),
    ):
        answers = await asyncio.gather(
            *(ann.ask("tldr", method, given) for method, given in APPENDIX.items())
        )
        assert answers == list(APPENDIX)
        for request, (method, parameters) in zip(other.requests, APPENDIX.items(), strict=True):
            assert request.items() >= {"cmd": method, **parameters}.items()
        assert {"func": "verify"}.items() <= other.requests[2].items()  # as llm-tldr calls it
        assert other.connections == 1
        other.reply = lambda request: {"success": False, "error": "no such function"}
        assert await refused(ann.ask("tldr", "cfg", {"target": "x"})) == (
            "service_error",
            "no such function",
        )
        other.reply = lambda request: {"status": "error", "message": "not built"}
        assert await refused(ann.ask("tldr", "cfg", {"target": "x"})) == (
            "service_error",
            "not built",
        )
        other.reply = lambda request: {"status": "ok", "callers": [1]}
        assert await ann.ask("tldr", "impact", {"target": "x"}) == {"callers": [1]}


async def test_servers_that_give_back_ids_are_asked_many_things_at_a_time(
    home: Path, shop: Path, runtime: Path
) -> None:
    socket, all_here = runtime / "t.sock", asyncio.Event()
    held: list[dict[str, Any]] = []

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        first = json.loads(await reader.readline())
        writer.write(json.dumps({"id": first["id"], "success": True, "result": 0}).encode() + b"\n")
        while len(held) < 5:
            held.append(json.loads(await reader.readline()))
        all_here.set()
        for request in reversed(held):
            told = {"id": request["id"], "success": True, "result": request["query"]}
            writer.write(json.dumps(told).encode() + b"\n")
        await reader.read()

    async with serving(socket, serve), bridged(home, shop, socket=str(socket)) as (_, ann):
        assert await ann.ask("tldr", "semantic", {"query": "first"}) == 0
        queries = [str(number) for number in range(5)]
        answers = await asyncio.gather(
            *(ann.ask("tldr", "semantic", {"query": query}) for query in queries)
        )
        assert answers == queries
        assert all_here.is_set()


async def test_lost_connections_are_made_again_and_no_more_than_three_times(
    home: Path, shop: Path, runtime: Path
) -> None:
    socket = runtime / "t.sock"
    async with (
        listening(socket, lambda request: None) as other,
        bridged(home, shop, socket=str(socket), starts=False) as (_, ann),
    ):
        code, message = await refused(ann.ask("tldr", "semantic", {"query": "it's; rm -rf ~"}))
        assert (code, other.connections, len(other.requests)) == ("daemon_unavailable", 3, 3)
        assert message.startswith("tldr unavailable: the server has hung up. Try: grep ")
        assert "it's; rm -rf ~" in shlex.split(message.partition("Try: ")[2])
        replies = iter([None, None, {"success": True, "result": "there"}])
        other.reply = lambda request: next(replies)
        assert await ann.ask("tldr", "semantic", {"query": "x"}) == "there"
        assert other.connections == 6
        other.reply = lambda request: b"this is no JSON"
        assert (await refused(ann.ask("tldr", "semantic", {"query": "x"})))[
            0
        ] == "daemon_unavailable"
        assert other.connections == 8  # the first of the three tries was on the open one


async def test_a_server_that_hangs_up_after_each_answer_is_asked_again(
    home: Path, shop: Path, runtime: Path
) -> None:
    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readline()
        writer.write(b'{"status": "ok", "result": 7}\n')

    socket = runtime / "t.sock"
    async with serving(socket, serve), bridged(home, shop, socket=str(socket)) as (_, ann):
        asked = [ann.ask("tldr", "semantic", {"query": "x"}) for _ in range(4)]
        assert await asyncio.gather(*asked) == [7] * 4


async def test_who_does_not_answer_in_time_is_given_up_and_answers_no_other_question(
    home: Path, shop: Path, runtime: Path
) -> None:
    socket, late = runtime / "t.sock", asyncio.Event()

    async def slowly(request: dict[str, Any]) -> dict[str, Any]:
        await late.wait()
        return {"success": True, "result": request["query"]}

    async with (
        listening(socket, slowly) as other,
        bridged(home, shop, socket=str(socket)) as (_, ann),
    ):
        late.set()
        assert await ann.ask("tldr", "semantic", {"query": "first"}) == "first"
        late.clear()
        code, _ = await refused(ann.ask("tldr", "semantic", {"query": "slow"}, timeout_ms=30))
        assert code == "timed_out"
        assert other.requests[1]["timeout_ms"] == 30
        late.set()
        assert await ann.ask("tldr", "semantic", {"query": "next"}) == "next"
        # what took too long is not asked again
        assert (len(other.requests), other.connections) == (3, 2)
        late.clear()
        async with bridged(home.parent / "other", shop, socket=str(socket), seconds=0.03) as (
            _,
            ben,
        ):
            assert (await refused(ben.ask("tldr", "semantic", {"query": "x"})))[0] == "timed_out"
        late.set()


async def test_results_are_bounded(home: Path, shop: Path, runtime: Path) -> None:
    socket = runtime / "t.sock"
    async with (
        listening(socket, with_id(success=True, result="x" * 1_000_001)),
        bridged(home, shop, socket=str(socket)) as (_, ann),
    ):
        assert (await refused(ann.ask("tldr", "semantic", {"query": "x"})))[0] == "answer_too_large"


async def test_where_nobody_listens_it_is_said_what_to_try_or_a_daemon_is_started(
    home: Path, shop: Path
) -> None:
    async with bridged(home, shop, socket=str(shop / "none.sock"), starts=False) as (relay, ann):
        for method, parameters in APPENDIX.items():
            code, message = await refused(ann.ask("tldr", method, parameters))
            assert code == "daemon_unavailable"
            assert message.startswith("tldr unavailable: ")
            assert (" Try: " in message) == (method in {"semantic", "context", "impact", "calls"})
        [failures] = {
            json.dumps(one.failures) for _, _, one in relay.relay.services.figures.series()
        }
        assert json.loads(failures) == {"SERVICE_UNAVAILABLE": 1}
    async with bridged(home, shop, socket=str(shop / "none.sock"), starts=True) as (_, ann):
        assert (await ann.ask("tldr", "extract", {"symbol": "login"}))["path"] == "auth.py"


def _as_llm_tldr(request: dict[str, Any]) -> dict[str, Any]:
    """What llm-tldr 1.5.2 answers, by its source: it knows its own names alone, and a line of
    another file is none.
    """
    needed = {
        "semantic": ["query"], "context": ["entry"], "impact": ["func"], "extract": ["file"],
        "cfg": ["file", "function"], "dfg": ["file", "function"], "slice": ["file", "function", "line"],
        "imports": ["file"], "importers": ["module"], "search": ["pattern"],
    }  # fmt: skip
    missing = [name for name in needed.get(request["cmd"], []) if not request.get(name)]
    if missing:
        return {"status": "error", "message": f"Missing required parameters: {', '.join(missing)}"}
    return {
        "status": "ok",
        "asked": {name: request[name] for name in needed.get(request["cmd"], [])},
    }


async def test_llm_tldr_is_asked_by_its_own_names(home: Path, shop: Path, runtime: Path) -> None:
    socket, file = runtime / "t.sock", f"{shop}/auth.py"

    async def one_answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(json.dumps(_as_llm_tldr(json.loads(await reader.readline()))).encode() + b"\n")

    questions: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
        "semantic": ({"query": "tea", "limit": 3}, {"query": "tea"}),
        "search": ({"query": "tea"}, {"pattern": "tea"}),
        "context": ({"target": "verify"}, {"entry": "verify"}),
        "impact": ({"target": "verify"}, {"func": "verify"}),
        "extract": ({"symbol": "auth.py"}, {"file": file}),
        "cfg": ({"target": "auth.py:verify"}, {"file": file, "function": "verify"}),
        "slice": (
            {"target": "auth.py:3", "function": "verify"},
            {"file": file, "function": "verify", "line": 3},
        ),
        "imports": ({"file": "auth.py"}, {"file": file}),
        "importers": ({"module": "auth"}, {"module": "auth"}),
        "structure": ({}, {}),
    }
    async with serving(socket, one_answer), bridged(home, shop, socket=str(socket)) as (_, ann):
        for method, (said, heard) in questions.items():
            assert await ann.ask("tldr", method, said) == {"asked": heard}
        code, message = await refused(ann.ask("tldr", "cfg", {"target": "verify"}))
        assert (code, message) == ("service_error", "Missing required parameters: file, function")


async def test_nobody_takes_the_name_of_a_bridge_and_is_told_what_to_do(
    home: Path, shop: Path
) -> None:
    async with bridged(home, shop) as (relay, _):
        for kind in ("service", "agent"):
            with pytest.raises(TerselyError) as refusal:
                await relay.peer("tldr", kind=kind)
            assert refusal.value.code == "name_taken"
            assert "under another name" in refusal.value.message
            assert '"enabled": false' in refusal.value.message


async def test_without_the_bridge_a_foreign_service_has_its_name(home: Path) -> None:
    """The service of a connection as the first proposal has it."""
    async with served(home) as relay, await relay.peer("ann") as ann:
        names = ["semantic", "context", "impact", "calls"]
        told = {"name": "tldr", "version": "1.0.0", "capabilities": names}
        other = await relay.hello("tldr", entityType="service", service=told)
        asking = asyncio.ensure_future(ann.ask("tldr", "impact", {"target": "verify"}))
        request = await other.hear()
        assert request["payload"]["params"] == {"target": "verify"}
        other.say(
            "SERVICE_RESPONSE", {"request_id": request["id"], "success": True, "result": ["login"]}
        )
        assert await asking == ["login"]
        other.close()


@pytest.mark.parametrize(
    ("method", "parameters", "command"),
    [
        (
            "semantic",
            {"query": "a 'b' $(c)"},
            ["grep", "-rnI", "--exclude-dir=.git", "-e", "a 'b' $(c)", "."],
        ),
        ("context", {"target": "src/auth/jwt.ts:verify"}, ["cat", "--", "src/auth/jwt.ts"]),
        ("context", {"target": "-rf"}, ["grep", "-rnIw", "--exclude-dir=.git", "-e", "-rf", "."]),
        (
            "impact",
            {"target": "handleLogin"},
            ["grep", "-rnIw", "--exclude-dir=.git", "-e", "handleLogin", "."],
        ),
        (
            "calls",
            {"target": "a.py:Session.open"},
            ["grep", "-rnIw", "--exclude-dir=.git", "-e", "open", "."],
        ),
        ("calls", {"direction": "callers"}, []),
        ("slice", {"target": "file.ts:42"}, []),
    ],
)
def test_what_to_try_instead(method: str, parameters: dict[str, Any], command: list[str]) -> None:
    assert shlex.split(fallback(method, parameters)) == command


@given(st.sampled_from([*APPENDIX]), st.text(min_size=1, max_size=60))
def test_what_to_try_is_one_command_whatever_is_asked_for(method: str, text: str) -> None:
    told = fallback(method, {"target": text, "query": text, "path": text, "symbol": text})
    assert visible_line(told) == told
    words = shlex.split(told)
    if not words:
        return
    assert words[0] in {"grep", "cat"}
    # a real shell takes it for the same words
    shell = ["sh", "-c", f"set -- {told}\nprintf '%s\\0' \"$@\""]
    done = subprocess.run(shell, capture_output=True, check=True)
    assert done.stdout.decode().split("\0")[:-1] == words
