"""The server over standard streams, driven by the official client."""

from __future__ import annotations

import contextlib
import io
import json
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any
from urllib.parse import quote

import anyio
import pytest
from mcp.client.client import Client
from mcp.shared.exceptions import MCPError
from mcp_types import INVALID_PARAMS, ListRootsResult, Root, TextResourceContents
from tests.cli.asking import as_repository, run
from tests.cli.relay_home import home_of
from tests.cli.test_commands import QUESTIONS
from tests.daemon.asking import serving
from tests.doors.mcp.conversing import COMMAND, DEADLINE_SECONDS, converse, text_of
from tests.doors.mcp.held_git import held_git
from tests.repositories import initialized

from tersely.capabilities import catalogue
from tersely.capabilities.declaration.toolset import tool_name
from tersely.cli.main import main
from tersely.cli.run import read_request
from tersely.daemon import lifecycle
from tersely.doors.mcp.roots import PROJECT_VARIABLES
from tersely.doors.mcp.tools import CALL, CORE, DEFAULT_BUDGETS, MORE_TOOLS
from tersely.foundation.ids import new_id
from tersely.foundation.limits import MAX_BUDGET_TOKENS
from tersely.foundation.text.tokens import count

AUTHOR = ["-c", "user.name=a", "-c", "user.email=a@b.c"]
MODES = ["legacy", "auto"]  # the handshake, and the protocol without one


def questions() -> list[tuple[list[str], str, dict[str, Any]]]:
    """A question for every command of the command line: its words, its capability, its arguments."""
    asked = []
    for name, (words, _) in QUESTIONS.items():
        request = read_request([], [*name.split(), *words])
        if request.command.capability().checks_freshness:
            # the others tell of their own work, which differs
            asked.append(
                ([*name.split(), *words], request.command.capability_name, request.arguments)
            )
    return asked


def of_stranger(arguments: dict[str, Any], parameters: set[str]) -> dict[str, Any]:
    """The arguments as somebody gives them who was shown nothing before, where that makes a
    difference.
    """
    own = {"session": new_id()}
    return {**{name: value for name, value in own.items() if name in parameters}, **arguments}


def printed(words: list[str]) -> str:
    """What the command line prints in this process."""
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        assert main(words) == 0
    return out.getvalue()


def own_budget(capability: str) -> list[str]:
    """The option with which the command line has the budget that the server gives by default."""
    return ["--budget", str(DEFAULT_BUDGETS[capability])] if capability in DEFAULT_BUDGETS else []


@pytest.mark.parametrize("mode", MODES)
def test_every_tool_says_what_the_command_line_prints(shop: Path, mode: str) -> None:
    as_repository(shop)
    expected = {
        tuple(words): printed([*words, *own_budget(name)]) for words, name, _ in questions()
    }

    async def work(client: Client) -> None:
        for words, capability, given in questions():
            arguments = {
                name: list(value) if isinstance(value, tuple) else value
                for name, value in given.items()
            }
            parameters = {one.name for one in catalogue.load(capability).parameters}
            # What fits its answer into a budget has the same one by default; the text of any other
            # is not to be cut.
            if "budget" not in parameters:
                arguments["budget"] = MAX_BUDGET_TOKENS
            name = tool_name(capability)
            answers = [
                await client.call_tool(
                    CALL, {"tool": name, "arguments": of_stranger(arguments, parameters)}
                )
            ]
            if capability in CORE:
                answers.append(await client.call_tool(name, of_stranger(arguments, parameters)))
            assert [text_of(answer) for answer in answers] == [expected[tuple(words)]] * len(
                answers
            ), words
            assert not any(answer.is_error for answer in answers)

    asked = {name for _, name, _ in questions()}
    rest = {
        one.name for one in catalogue.every(catalogue.CODE_NAMES) if one.checks_freshness
    } - asked
    # These need a report of coverage, or a history to learn from: tests/hostile asks them through
    # the same door.
    assert rest <= {
        "code.coverage.context",
        "code.coverage.slice",
        "code.coverage.files",
        "code.packet",
    }
    converse(work, mode=mode)


def test_no_answer_is_larger_than_its_budget(shop: Path) -> None:
    as_repository(shop)

    async def work(client: Client) -> None:
        for _, capability, given in questions():
            for budget in (1, 20, 60, 150):
                arguments = {
                    name: list(value) if isinstance(value, tuple) else value
                    for name, value in given.items()
                }
                asked = {
                    "tool": tool_name(capability),
                    "arguments": {**arguments, "budget": budget},
                }
                answer = await client.call_tool(CALL, asked)
                if answer.is_error:
                    assert text_of(answer).startswith("budget_too_small: ")
                else:
                    assert sum(count(block.text) for block in answer.content) <= budget  # type: ignore[union-attr]
        listed = text_of(await client.call_tool(MORE_TOOLS, {"budget": 100}))
        assert count(listed) <= 100
        assert "more lines have no room in 100 tokens" in listed

    converse(work)


def test_a_budget_that_is_not_said_is_that_of_the_settings(shop: Path) -> None:
    (shop / ".tersely").mkdir()
    (shop / ".tersely" / "config.toml").write_text("budget_tokens = 50\n")

    async def work(client: Client) -> None:
        for name in ("structure", "map"):
            answer = await client.call_tool(CALL, {"tool": name, "arguments": {}})
            assert count(text_of(answer)) <= 50

    converse(work)


@pytest.mark.parametrize("name", ["diff_context", "difflens.context"])
def test_a_change_has_a_larger_budget_by_default(shop: Path, name: str) -> None:
    for words in (
        ["init", "--quiet"],
        ["add", "src"],
        [*AUTHOR, "commit", "--quiet", "--message", "one"],
    ):
        subprocess.run(["git", *words], cwd=shop, check=True)
    (shop / ".tersely").mkdir()
    configuration = shop / ".tersely" / "config.toml"

    async def work(client: Client) -> None:
        async def budget(**given: int) -> int:
            answer = await client.call_tool(name, {"format": "json", **given})
            told: int = json.loads(text_of(answer))["budget"]
            return told

        assert await budget() == 4_000
        assert await budget(budget=700) == 700
        configuration.write_text("budget_tokens = 900\n")
        assert await budget() == 900

    converse(work)


def test_what_goes_wrong_is_an_error_of_the_tool(shop: Path) -> None:
    async def work(client: Client) -> None:
        for name, arguments, code in [
            ("context", {"symbols": ["valdate"]}, "symbol_not_found"),
            ("symbol_get", {"symbol": "validate"}, "ambiguous_symbol"),
            ("symbol_get", {}, "invalid_argument"),
            ("calls", {"symbol": "checkout", "budget": "many"}, "invalid_argument"),
            ("calls", {"symbol": "checkout", "speed": 1}, "invalid_argument"),
            (CALL, {"tool": "fly"}, "unknown_command"),
            (MORE_TOOLS, {"tool": "fly"}, "unknown_command"),
        ]:
            answer = await client.call_tool(name, arguments)
            assert answer.is_error, name
            assert answer.meta is not None
            told = answer.meta["tersely/error"]
            assert told["code"] == code
            assert text_of(answer) == f"{code}: {told['message']}\nhint: {told['hint']}\n"
        with pytest.raises(MCPError) as refusal:
            await client.call_tool("fly", {})
        assert refusal.value.code == INVALID_PARAMS

    converse(work)


def test_tools_have_the_names_that_clients_know(shop: Path) -> None:
    for words in (
        ["init", "--quiet"],
        ["add", "src"],
        [*AUTHOR, "commit", "--quiet", "--message", "one"],
    ):
        subprocess.run(["git", *words], cwd=shop, check=True)
    (shop / "src/shop/audit.py").write_text("def record(order):\n    pass\n")

    async def work(client: Client) -> None:
        async def said(name: str, **arguments: Any) -> str:
            answer = await client.call_tool(CALL, {"tool": name, "arguments": arguments})
            assert not answer.is_error, text_of(answer)
            return text_of(answer)

        assert "def format_cents(\n" in await said(
            "symbols.get", symbol_id="src/shop/money.py:format_cents"
        )
        assert "Order.place" in await said("symbols_callers", symbol_id="format_cents", limit=10)
        assert "Order.place" in await said("symbols.callees", symbol_id="checkout", depth=1)
        assert "Price.validate" in await said("symbols.search", query="validate", kind="method")
        assert "def checkout" in await said(
            "symbols.slice", symbol_id="checkout", depth=1, budget=300
        )
        assert "def checkout" in await said("difflens_slice", symbol="checkout", budget=300)
        assert " changed" in await said("difflens.context", base_ref="HEAD", budget=400)
        assert "called by" in await said(
            "difflens.deps", symbol="format_cents", direction="callers"
        )

    converse(work)


@pytest.mark.parametrize("mode", MODES)
def test_symbols_are_resources(shop: Path, mode: str) -> None:
    (shop / "odd name%.py").write_text("def hundred():\n    return 100\n")

    async def work(client: Client) -> None:
        (listed,) = (await client.list_resources()).resources
        (template,) = (await client.list_resource_templates()).resource_templates
        assert template.uri_template == "tersely://symbol/{+id}"
        for symbol, line in [
            ("src/shop/money.py:Price.validate", "        return self.cents >= 0"),
            ("odd name%.py:hundred", "    return 100"),
        ]:
            uri = template.uri_template.replace("{+id}", quote(symbol, safe="/:."))
            (content,) = (await client.read_resource(uri)).contents
            assert isinstance(content, TextResourceContents)
            assert content.text == printed(["symbol", "get", symbol])
            assert line in content.text.splitlines()
            assert content.meta is not None
            etag = content.meta["tersely/etag"]
            again = await client.call_tool("symbol_get", {"symbol": symbol, "etag": etag})
            assert "UNCHANGED" in text_of(again)
        (outline,) = (await client.read_resource(listed.uri)).contents
        assert isinstance(outline, TextResourceContents)
        assert outline.text == printed(["map"])
        for uri in (
            "tersely://symbol/nobody",
            "tersely://symbol/",
            "tersely://else",
            "file:///etc/passwd",
        ):
            with pytest.raises(MCPError) as refusal:
                await client.read_resource(uri)
            assert refusal.value.data["code"] in {"symbol_not_found", "path_not_found"}

    converse(work, mode=mode)


def test_indexing_tells_how_far_it_has_come(shop: Path) -> None:
    for number in range(60):
        (shop / f"part{number}.py").write_text(f"def part{number}():\n    return {number}\n")
    told: list[tuple[float, float | None]] = []

    async def note(progress: float, total: float | None, message: str | None) -> None:
        told.append((progress, total))

    async def work(client: Client) -> None:
        await client.call_tool("search", {"query": ["part"]}, progress_callback=note)

    converse(work)
    assert told
    assert [done for done, _ in told] == sorted({done for done, _ in told})
    assert all(total is not None and done <= total for done, total in told)


def test_a_slow_question_keeps_nobody_waiting_and_can_be_cancelled(
    shop: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    initialized(shop)

    async def work(client: Client) -> None:
        async def ask() -> None:
            await client.call_tool(CALL, {"tool": "stats"})

        async with anyio.create_task_group() as group:
            group.start_soon(ask)
            await anyio.to_thread.run_sync(git.wait)
            await client.list_tools(cache_mode="bypass")  # while git is not done, and cannot be
            group.cancel_scope.cancel()
        git.release()
        assert "revision" in text_of(await client.call_tool(CALL, {"tool": "stats"}))

    with held_git(tmp_path, monkeypatch) as git:
        converse(work)


def test_the_repository_is_where_the_client_works(shop: Path, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere and more"
    elsewhere.mkdir()
    (elsewhere / "only.py").write_text("def only_here():\n    pass\n")
    places = [elsewhere]

    async def roots(context: Any) -> ListRootsResult:
        return ListRootsResult(roots=[Root(uri=place.as_uri()) for place in places])  # type: ignore[arg-type]

    async def work(client: Client) -> None:
        assert "only_here" in text_of(await client.call_tool("map", {}))
        places[:] = [shop]
        await client.session.send_notification(roots_changed())
        assert "only_here" not in text_of(await client.call_tool("map", {}))
        places[:] = [tmp_path / "nowhere"]
        await client.session.send_notification(roots_changed())
        assert text_of(await client.call_tool("map", {})).startswith("root_not_found: ")

    async def named(client: Client) -> None:
        assert "checkout" in text_of(await client.call_tool("map", {}))

    converse(work, list_roots_callback=roots)
    converse(named, "--root", str(shop), cwd=elsewhere, list_roots_callback=roots)


@pytest.mark.parametrize("value", ["{}", "{},/other"])
def test_the_project_that_a_client_has_set_counts_outside_of_repositories(
    shop: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, value: str
) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    other = initialized(tmp_path / "other")
    (other / "only.py").write_text("def only_here():\n    pass\n")

    async def of_shop(client: Client) -> None:
        assert "checkout" in text_of(await client.call_tool("map", {}))

    async def of_other(client: Client) -> None:
        assert "only_here" in text_of(await client.call_tool("map", {}))

    for name in PROJECT_VARIABLES:
        monkeypatch.setenv(name, value.format(shop))
        converse(of_shop, cwd=outside)
        converse(of_other, cwd=other)  # what is set for the agent around it does not count there
        monkeypatch.delenv(name)


def test_a_project_setting_that_names_no_directory_is_passed_over(
    shop: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "only.py").write_text("def only_here():\n    pass\n")

    async def work(client: Client) -> None:
        assert "only_here" in text_of(await client.call_tool("map", {}))

    for value in ("${workspaceFolder}", str(shop / "gone"), ""):
        monkeypatch.setenv(PROJECT_VARIABLES[0], value)
        converse(work, cwd=outside)


def roots_changed() -> Any:
    from mcp_types import RootsListChangedNotification

    return RootsListChangedNotification()


def test_a_daemon_is_asked_where_one_answers(shop: Path) -> None:
    async def work(client: Client) -> None:
        assert "checkout" in text_of(await client.call_tool("map", {}))
        assert text_of(await client.call_tool("symbol_get", {"symbol": "nobody"})).startswith(
            "symbol_not_found: "
        )

    with serving(shop):
        before = requests(shop)
        converse(work)
        assert requests(shop) == before + 3  # and the first look at its status


def requests(shop: Path) -> int:
    status = lifecycle.status(str(shop))
    assert status is not None
    return int(status["requests"])


def test_nothing_outside_of_the_repository_is_read(shop: Path, tmp_path: Path) -> None:
    secret = tmp_path / "secret.py"
    secret.write_text("def hidden_word():\n    return 'hidden_word'\n")
    (shop / "link.py").symlink_to(secret)
    (shop / "up").symlink_to(tmp_path)
    places = ["../secret.py", str(secret), "link.py", "up/secret.py"]

    async def work(client: Client) -> None:
        for place in places:
            for name, arguments in [
                ("extract", {"file": place}),
                ("imports", {"file": place}),
                ("definition", {"place": f"{place}:1"}),
                ("slice", {"place": f"{place}:2"}),
                ("context", {"symbols": ["checkout"], "include": [place]}),
                ("symbol_get", {"symbol": f"{place}:hidden_word"}),
                ("map", {"path": place}),
                ("search", {"query": ['"hidden_word"'], "in": [place]}),
            ]:
                answer = await client.call_tool(CALL, {"tool": name, "arguments": arguments})
                assert "return 'hidden_word'" not in text_of(answer), (name, place)
                assert answer.is_error or "no results" in text_of(answer), (name, place)

    converse(work)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_it_at_once(shop: Path, number: signal.Signals) -> None:
    with subprocess.Popen(
        [sys.executable, *COMMAND], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(b'{"jsonrpc":"2.0","id":1,"method":"ping"}\n')
        process.stdin.flush()
        process.stdout.readline()
        process.send_signal(number)
        assert process.wait(DEADLINE_SECONDS) == -number


def test_noise_on_the_input_is_survived(shop: Path) -> None:
    noise = b'not json\n{"jsonrpc": "2.0"}\n\xff\xfe\n[]\n'
    command = [sys.executable, *COMMAND]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(noise + b'{"jsonrpc":"2.0","id":1,"method":"ping"}\n')
        process.stdin.flush()
        said = iter(process.stdout.readline, b"")
        reply = next(line for line in said if json.loads(line).get("id") == 1)
        assert json.loads(reply)["result"] == {}
        process.stdin.close()
        assert process.wait(DEADLINE_SECONDS) == 0


def test_a_root_that_is_not_there_is_said_at_once(shop: Path) -> None:
    assert run(["mcp", "--root", "nowhere"], shop).err.startswith("root_not_found: nowhere")


def test_an_answer_is_kept_in_the_relay_where_that_is_wanted(
    shop: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with home_of(tmp_path / "home", shop) as relay:
        relay.up()
        monkeypatch.setenv("TERSELY_HOME", str(relay.home))
        told: list[str] = []

        async def work(client: Client) -> None:
            arguments = {"symbols": ["format_cents"], "budget": 400, "store_in_cassette": True}
            told.append(text_of(await client.call_tool("context", arguments)))

        converse(work)
        uri = told[0].split()[0]
        assert uri.startswith("cass://")
        again = relay.ok("context", "checkout", "--budget", "2000", "--include", uri)
        assert "return str(cents * RATE)" in again
