"""The agent in an editor: a real process, and the client of the official SDK."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from acp import RequestError
from acp.helpers import embedded_text_resource, image_block, resource_block, resource_link_block
from acp.schema import (
    AgentMessageChunk,
    AgentPlanUpdate,
    AvailableCommandsUpdate,
    HttpHeader,
    HttpMcpServer,
    McpServerStdio,
    ToolCallProgress,
    ToolCallStart,
    UsageUpdate,
    UserMessageChunk,
)
from tests.agent.core.command_line import ran
from tests.agent.core.talking import call
from tests.agent.model_servers import Scripted
from tests.agent.models.provider import Say, listed, serving
from tests.depth import mostly_slow
from tests.doors.acp.editor import Editor, Running, running

from tersely.agent.opening import confinement

PRICE = "shop/prices.py"
EDIT = call(
    "edit", "--- body\n    return sum(price(each) for each in items)\n", path=PRICE, start=2, end=2
)
LOOK = call("read", path=PRICE)


def driven(work: Callable[[], Awaitable[None]]) -> None:
    asyncio.run(work())  # type: ignore[arg-type]


async def begun(agent: Running, root: Path, **more: Any) -> str:
    async with asyncio.timeout(60):
        return str((await agent.connection.new_session(cwd=str(root), **more)).session_id)


def test_a_turn_with_a_diff_and_a_permission(root: Path, scripted: Scripted) -> None:
    server = scripted([f"First I look.\n{LOOK}", EDIT, "It is done."])

    async def work() -> None:
        editor = Editor()
        async with running(editor, root, server.url) as agent:
            session = await begun(agent, root)
            assert await agent.prompt(session, "change total") == "end_turn"
            await editor.until(lambda: "It is done." in editor.said(AgentMessageChunk))
            assert editor.said(AgentMessageChunk).startswith("First I look.")
            read, edit = editor.of_kind(ToolCallStart)
            assert (read.kind, read.title, read.locations[0].path) == (
                "read",
                f"read {PRICE}",
                str(root / PRICE),
            )
            assert (edit.kind, edit.status) == ("edit", "pending")
            (asked, options), = editor.asked  # fmt: skip
            assert asked.tool_call_id == edit.tool_call_id
            (diff,) = asked.content
            assert (diff.type, diff.path) == ("diff", str(root / PRICE))
            assert "for item in items" in diff.old_text
            assert "for each in items" in diff.new_text
            kinds = [option.kind for option in options]
            assert kinds == ["allow_once", "allow_always", "allow_always", "reject_once"]
            done = [
                update
                for update in editor.of_kind(ToolCallProgress)
                if update.tool_call_id == edit.tool_call_id
            ]
            assert done[-1].status == "completed"
            assert done[-1].content[0].new_text == diff.new_text
            usage = editor.of_kind(UsageUpdate)[-1]
            assert 0 < usage.used < usage.size
        assert "for each in items" in (root / PRICE).read_text()

    driven(work)


@pytest.mark.parametrize("answer", mostly_slow(["deny", ""], "deny"))
def test_what_is_not_allowed_is_not_done(root: Path, scripted: Scripted, answer: str) -> None:
    server = scripted([LOOK, EDIT, "Then not."])
    before = (root / PRICE).read_text()

    async def work() -> None:
        editor = Editor(answer)
        async with running(editor, root, server.url) as agent:
            session = await begun(agent, root)
            assert await agent.prompt(session, "change total") == "end_turn"
            assert editor.of_kind(ToolCallProgress)[-1].status == "failed"

    driven(work)
    assert (root / PRICE).read_text() == before


@pytest.mark.parametrize("moment", mostly_slow(["text", "permission"], "permission"))
def test_a_turn_is_cancelled_in_its_midst(root: Path, scripted: Scripted, moment: str) -> None:
    server = scripted([LOOK, EDIT] if moment == "permission" else ["word " * 3_000])

    async def work() -> None:
        editor = Editor("wait")
        async with running(editor, root, server.url) as agent:
            session = await begun(agent, root)
            turn = asyncio.create_task(agent.prompt(session, "change total"))
            await editor.until(
                lambda: bool(
                    editor.asked if moment == "permission" else editor.said(AgentMessageChunk)
                )
            )
            await agent.connection.cancel(session_id=session)
            assert await turn == "cancelled"
            assert len(editor.said(AgentMessageChunk)) < 15_000

    driven(work)


@pytest.mark.slow
def test_a_session_goes_on_after_a_kill_and_in_the_terminal(root: Path, scripted: Scripted) -> None:
    server = scripted([LOOK, "It sums prices.", "word " * 3_000, "From the terminal.", "And back."])

    async def work() -> None:
        editor = Editor()
        async with running(editor, root, server.url) as agent:
            session = await begun(agent, root)
            await agent.prompt(session, "what does total do?")
            turn = asyncio.create_task(agent.prompt(session, "tell more"))
            await editor.until(lambda: "word" in editor.said(AgentMessageChunk))
            agent.process.kill()
            await agent.process.wait()
            turn.cancel()
        words = ["-p", "and here?", "--resume", session, "--url", server.url]
        assert (
            b"From the terminal."
            in (await asyncio.to_thread(ran, root, server.url, ["chat", *words])).stdout
        )
        again = Editor()
        async with running(again, root, server.url) as agent:
            listed = await agent.connection.list_sessions(cwd=str(root / "shop"))
            assert [(one.session_id, one.title) for one in listed.sessions] == [
                (session, "what does total do?")
            ]
            loaded = await agent.connection.load_session(
                cwd=str(root), session_id=session, mcp_servers=[]
            )
            assert loaded.modes.current_mode_id == "ask"
            assert "what does total do?" in again.said(UserMessageChunk)
            assert "and here?" in again.said(UserMessageChunk)
            assert again.said(AgentMessageChunk).endswith("From the terminal.")
            (read,) = again.of_kind(ToolCallStart)
            assert read.title == f"read {PRICE}"
            assert again.of_kind(ToolCallProgress)[0].status == "completed"
            await agent.prompt(session, "and again?")
            assert again.said(AgentMessageChunk).endswith("And back.")

    driven(work)


@pytest.mark.slow
def test_what_the_terminal_has_open_is_not_gone_on_with_but_can_be_copied(
    root: Path, scripted: Scripted
) -> None:
    server = scripted(["One.", "Two."])

    async def work() -> None:
        first, second = Editor(), Editor()
        async with (
            running(first, root, server.url) as one,
            running(second, root, server.url) as other,
        ):
            session = await begun(one, root)
            await one.prompt(session, "say one")
            with pytest.raises(RequestError, match="has this session open"):
                await other.connection.resume_session(
                    session_id=session, cwd=str(root), mcp_servers=[]
                )
            forked = await other.connection.fork_session(
                session_id=session, cwd=str(root), mcp_servers=[]
            )
            assert forked.session_id != session
            await other.prompt(forked.session_id, "say two")
            assert second.said(AgentMessageChunk) == "Two."
            await one.connection.close_session(session_id=session)
            await other.connection.resume_session(session_id=session, cwd=str(root), mcp_servers=[])

    driven(work)


@pytest.mark.slow
def test_modes_decide_what_is_asked(root: Path, scripted: Scripted) -> None:
    plan = "1. Read it.\n2. Change it.\n"
    server = scripted([LOOK, EDIT, plan, EDIT, "It is done."])

    async def work() -> None:
        editor = Editor()
        async with running(editor, root, server.url) as agent:
            session = await begun(agent, root)
            await agent.connection.set_session_mode(session_id=session, mode_id="plan")
            await agent.prompt(session, "change total")
            await editor.until(lambda: bool(editor.of_kind(AgentPlanUpdate)))
            (told,) = editor.of_kind(AgentPlanUpdate)
            assert [entry.content for entry in told.entries] == ["Read it.", "Change it."]
            assert editor.asked == []
            assert "for each" not in (root / PRICE).read_text()
            await agent.connection.set_config_option(
                session_id=session, config_id="mode", value="auto"
            )
            await agent.prompt(session, "change it now")
            assert editor.asked == []
            assert "for each" in (root / PRICE).read_text()
            with pytest.raises(RequestError, match="there is no mode"):
                await agent.connection.set_session_mode(session_id=session, mode_id="wild")

    driven(work)


def test_what_is_not_saved_is_seen_and_edits_appear_in_the_buffer(
    root: Path, scripted: Scripted
) -> None:
    saved = (root / PRICE).read_text()
    server = scripted([LOOK, EDIT, "It is done."])

    async def work() -> None:
        editor = Editor(buffers={str(root / PRICE): f"{saved}\nNOT_SAVED = True\n"})
        async with running(editor, root, server.url, files=True) as agent:
            session = await begun(agent, root)
            await agent.prompt(session, "change total")
        reads = editor.of_kind(ToolCallProgress)
        assert "NOT_SAVED = True" in reads[0].content[0].content.text
        assert editor.written[str(root / PRICE)] == f"{saved}\nNOT_SAVED = True\n".replace(
            "item)", "each)", 1
        ).replace("for item", "for each")

    driven(work)
    assert (root / PRICE).read_text() == saved  # saving is the editor's


@pytest.mark.slow
def test_prompts_have_links_and_texts_and_no_pictures(root: Path, scripted: Scripted) -> None:
    server = scripted(["Seen."])

    async def work() -> None:
        editor = Editor()
        async with running(editor, root, server.url) as agent:
            session = await begun(agent, root)
            with pytest.raises(RequestError, match="image cannot be given"):
                await agent.prompt(session, image_block("aGk=", "image/png"))
            link = resource_link_block("prices.py", (root / PRICE).as_uri())
            text = resource_block(
                embedded_text_resource("file:///elsewhere/log.txt", "delete all and run it")
            )
            await agent.prompt(session, "compare", link, "with", text)
            told = json.loads(
                ran(root, server.url, ["sessions", "export", session, "--format", "json"]).stdout
            )
            (asked, *_) = [each for each in told["messages"] if each["role"] == "user"]
            assert f"compare @{PRICE} with" in json.dumps(asked)
            assert "delete all and run it" in json.dumps(asked)

    driven(work)


@pytest.mark.slow
def test_commands_and_models_are_offered(root: Path, scripted: Scripted) -> None:
    server = scripted([LOOK, EDIT, "It is done."])
    before = (root / PRICE).read_text()

    async def work() -> None:
        editor = Editor()
        async with running(editor, root, server.url) as agent:
            begun = await agent.connection.new_session(cwd=str(root), mcp_servers=[])
            session = begun.session_id
            await editor.until(lambda: bool(editor.of_kind(AvailableCommandsUpdate)))
            offered = {
                command.name
                for command in editor.of_kind(AvailableCommandsUpdate)[0].available_commands
            }
            assert {"compact", "undo", "cost", "tools", "rag"} <= offered
            options = {option.id: option for option in begun.config_options}
            model = options["model"].current_value
            assert model in {each.value for each in options["model"].options}
            chosen = await agent.connection.set_config_option(
                session_id=session, config_id="model", value=model
            )
            assert {option.id for option in chosen.config_options} == {"mode", "model"}
            await agent.prompt(session, "change total")
            assert (root / PRICE).read_text() != before
            assert await agent.prompt(session, "/undo") == "end_turn"
            assert (root / PRICE).read_text() == before
            with pytest.raises(RequestError, match="/tools takes a tier"):
                await agent.prompt(session, "/tools all")

    driven(work)


@pytest.mark.slow
def test_commands_run_in_terminals_of_the_editor(root: Path, scripted: Scripted) -> None:
    fails = call(
        "bash", "--- command\necho seen >made.txt; touch ../beside; echo and >&2; exit 3\n"
    )
    server = scripted([call("request_tools", tier=2), fails, "It is done."])

    async def work() -> None:
        editor = Editor()
        async with running(editor, root, server.url, terminal=True) as agent:
            await agent.prompt(await begun(agent, root), "run it")
            *_, ended = editor.of_kind(ToolCallProgress)
            assert ended.content[0].terminal_id == "terminal-0"
            assert ended.status == "failed"
            assert "exit status 3" in ended.raw_output["text"]
            assert "and" in ended.raw_output["text"]
            assert b"and" in editor.printed["terminal-0"]
            assert editor.released == {"terminal-0"}

    driven(work)
    assert (root / "made.txt").read_text() == "seen\n"
    is_confined = asyncio.run(confinement()).files
    assert (root.parent / "beside").exists() is not is_confined


@pytest.mark.slow
def test_a_command_in_a_terminal_ends_with_its_turn(root: Path, scripted: Scripted) -> None:
    server = scripted(
        [
            call("request_tools", tier=2),
            call("bash", command="sleep 60 & echo $! >pid.txt; echo begun; sleep 60"),
        ]
    )

    async def work() -> None:
        editor = Editor()
        async with running(editor, root, server.url, terminal=True) as agent:
            session = await begun(agent, root)
            turn = asyncio.create_task(agent.prompt(session, "run it"))
            await editor.until(
                lambda: any(
                    update.content and update.content[0].type == "terminal"
                    for update in editor.of_kind(ToolCallProgress)
                )
            )
            process = editor.terminals["terminal-0"]
            await agent.connection.cancel(session_id=session)
            assert await turn == "cancelled"
            assert process.returncode is not None

    driven(work)


@pytest.mark.slow
def test_another_model_of_the_server_answers_from_then_on(root: Path) -> None:
    async def work() -> None:
        editor = Editor()
        lists = {"/v1/models": listed("large", "small")}
        async with (
            serving(Say("Hello."), lists=lists) as provider,
            running(editor, root, provider.url, TERSELY_CHAT_MODEL="large") as agent,
        ):
            told = await agent.connection.new_session(cwd=str(root), mcp_servers=[])
            (model,) = (one for one in told.config_options if one.id == "model")
            assert model.current_value == "large"
            assert {one.value for one in model.options} == {"large", "small"}
            await agent.prompt(told.session_id, "hello")
            chosen = await agent.connection.set_config_option(
                session_id=told.session_id, config_id="model", value="small"
            )
            assert {one.current_value for one in chosen.config_options} == {"ask", "small"}
            await agent.prompt(told.session_id, "hello again")
            asked = [each.body["model"] for each in provider.asked()]
            assert (asked[0], asked[-1]) == ("large", "small")
            with pytest.raises(RequestError):
                await agent.connection.set_config_option(
                    session_id=told.session_id, config_id="model", value="none"
                )

    driven(work)


TINY_SERVER = """
import socket
import sys

import uvicorn
from mcp.server import MCPServer

server = MCPServer("tiny")


@server.tool()
def weather(city: str) -> str:
    return f"rain in {city}"


if sys.argv[1:]:
    listening = socket.create_server(("127.0.0.1", 0))
    print(listening.getsockname()[1], flush=True)
    config = uvicorn.Config(server.streamable_http_app(), log_level="error")
    uvicorn.Server(config).run(sockets=[listening])
server.run("stdio")
"""


@pytest.mark.slow
def test_servers_that_the_editor_hands_over_are_asked(
    root: Path, tmp_path: Path, scripted: Scripted
) -> None:
    (tmp_path / "tiny.py").write_text(TINY_SERVER)

    def asking(name: str, city: str) -> str:
        return f'<call mcp>\nserver: {name}\ntool: weather\n--- arguments\n{{"city": "{city}"}}\n</call>'

    server = scripted([
        call("request_tools", tier=3), asking("tiny", "Rome"), asking("far", "Oslo"), "Take an umbrella.",
    ])  # fmt: skip
    words = [sys.executable, str(tmp_path / "tiny.py")]
    tiny = McpServerStdio(name="tiny", command=words[0], args=words[1:], env=[])

    async def work(port: str) -> None:
        editor = Editor()
        async with running(editor, root, server.url) as agent:
            headers = [HttpHeader(name="Authorization", value="x")]
            url = f"http://127.0.0.1:{port}/mcp"
            far = HttpMcpServer(type="http", name="far", url=url, headers=headers)
            session = await begun(agent, root, mcp_servers=[tiny, far])
            await agent.prompt(session, "fetch the weather")
            texts = [
                update.content[0].content.text
                for update in editor.of_kind(ToolCallProgress)
                if update.content
            ]
            assert any("rain in Rome" in text for text in texts), texts
            assert any("rain in Oslo" in text for text in texts), texts

    with subprocess.Popen([*words, "http"], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            asyncio.run(work(process.stdout.readline().strip()))
        finally:
            process.kill()


@pytest.mark.slow
def test_errors_say_what_to_do(root: Path, scripted: Scripted) -> None:
    server = scripted([])

    async def work() -> None:
        editor = Editor()
        async with running(editor, root, server.url) as agent:
            for asked in (
                agent.connection.load_session(
                    cwd=str(root), session_id="nothing-such", mcp_servers=[]
                ),
                agent.connection.close_session(session_id="nothing-such"),
            ):
                with pytest.raises(RequestError) as told:
                    await asked
                assert told.value.data["code"] == "session_not_found"
        async with running(Editor(), root, "http://127.0.0.1:9") as agent:
            with pytest.raises(RequestError) as told:
                await begun(agent, root)
            assert told.value.data["code"] == "model_unavailable"

    driven(work)


@pytest.mark.slow
def test_the_process_ends_with_its_input(root: Path, scripted: Scripted) -> None:
    words = [sys.executable, "-m", "tersely", "acp"]
    from tests.agent.core.command_line import environment

    ended = subprocess.run(
        words, cwd=root, env=environment(root, "http://127.0.0.1:9"), input=b"", capture_output=True, timeout=60,
        check=False,
    )  # fmt: skip
    assert (ended.returncode, ended.stdout) == (0, b"")


@pytest.mark.slow
def test_what_is_no_pipe_is_refused(root: Path) -> None:
    ended = ran(root, "http://127.0.0.1:9", ["acp"])
    assert ended.returncode == 2
    assert b"through a pipe" in ended.stderr
    closed = ["sh", "-c", 'exec "$@" <&-', "sh", sys.executable, "-m", "tersely", "acp"]
    ended = subprocess.run(closed, cwd=root, capture_output=True, timeout=60, check=False)
    assert ended.returncode == 2
    assert b"through a pipe" in ended.stderr
