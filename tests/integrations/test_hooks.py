"""The hooks of agents, called with what agents send."""

from __future__ import annotations

import io
import json
import subprocess
from pathlib import Path
from shlex import split
from shutil import rmtree
from types import SimpleNamespace
from typing import Any

import pytest

from tersely.cli.main import main
from tersely.integrations.adoption import figures
from tersely.integrations.table import AGENTS

PROMPT = "Basket.total ignores the currency of a basket that holds lines of shop baskets"


@pytest.fixture
def shop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("TERSELY_HOME", str(tmp_path / "state"))
    monkeypatch.setenv("TERSELY_DAEMON", "off")
    monkeypatch.setattr(
        "tersely.cli.builtin.hook.HOOK_SECONDS", 60.0
    )  # on a machine with other work
    root = tmp_path / "shop"
    root.mkdir()
    methods = "".join(
        f"\n    def part{number}(self):\n        return {number}\n" for number in range(400)
    )
    body = '    """A basket of lines in the shop."""\n\n    def total(self, currency):\n        return self.lines\n'
    (root / "basket.py").write_text(f"class Basket:\n{body}{methods}")
    (root / "small.py").write_text("x = 1\n")
    (root / "notes.txt").write_text("a line of notes\n" * 2_000)
    (root / ".git").mkdir()
    (root / ".git" / "HEAD").touch()
    return root


def hook(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    kind: str,
    agent: str,
    call: Any,
) -> tuple[int, str]:
    text = call if isinstance(call, str) else json.dumps(call)
    monkeypatch.setattr(
        "sys.stdin", SimpleNamespace(buffer=io.BytesIO(text.encode()), isatty=lambda: False)
    )
    status = main(["hook", kind, "--agent", agent])
    return status, capsys.readouterr().out


def reading(shop: Path, agent: str, name: str, session: str = "s", **more: Any) -> dict[str, Any]:
    known = AGENTS[agent]
    arguments = {known.path_names[0]: str(shop / name), **more}
    return {
        "session_id": session,
        "cwd": str(shop),
        "hook_event_name": known.read_event,
        "tool_name": min(known.read_tools),
        "tool_input": arguments,
    }


@pytest.mark.parametrize("agent", [name for name, agent in AGENTS.items() if agent.read_event])
def test_a_large_file_is_read_in_outline_and_whole_when_asked_again(
    shop: Path, agent: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    call = reading(shop, agent, "basket.py")
    status, first = hook(monkeypatch, capsys, "read", agent, call)
    assert status == 0
    assert "total(self, currency)" in first
    assert hook(monkeypatch, capsys, "read", agent, call) == (0, "")


def test_reads_that_were_answered_in_outline_are_counted(
    shop: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert figures().line() == "use by agents: nothing is noted yet"
    for name in ("basket.py", "basket.py", "small.py", "notes.txt"):
        hook(monkeypatch, capsys, "read", "claude", reading(shop, "claude", name))
    told = figures()
    assert (told.reads, told.outlined, told.sessions) == (2, 1, 0)
    assert told.line().endswith(
        "0 of 0 sessions of agents asked about code, 1 of 2 (50 %) reads of large files of "
        "code were answered in outline"
    )
    assert str(shop) not in (shop.parent / "state" / "adoption.log").read_text("utf-8")


@pytest.mark.parametrize("kind", ["prompt", "read"])
def test_a_home_is_not_read_for_an_agent_that_was_started_there(
    shop: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], kind: str
) -> None:
    monkeypatch.setenv("HOME", str(shop))
    call = {**reading(shop, "claude", "basket.py"), "prompt": PROMPT}
    assert hook(monkeypatch, capsys, kind, "claude", call) == (0, "")
    assert not list(shop.parent.glob("**/index.db"))


def test_a_log_that_cannot_be_written_keeps_nobody_from_reading(
    shop: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (shop.parent / "state" / "adoption.log").mkdir(parents=True)
    status, answer = hook(
        monkeypatch, capsys, "read", "claude", reading(shop, "claude", "basket.py")
    )
    assert (status, "total(self, currency)" in answer) == (0, True)
    assert figures().reads == 0


@pytest.mark.parametrize(
    ("name", "more"),
    [
        ("small.py", {}),
        ("basket.py", {"offset": 3}),
        ("basket.py", {"limit": 9}),
        ("notes.txt", {}),
        ("gone.py", {}),
    ],
)
def test_all_other_reading_is_left_alone(
    shop: Path,
    name: str,
    more: Any,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert hook(monkeypatch, capsys, "read", "claude", reading(shop, "claude", name, **more)) == (
        0,
        "",
    )


def test_a_prompt_gets_a_packet_or_nothing(
    shop: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(
        "tersely.cli.builtin.hook.PACKET_WORDS",
        ("packet", "--task-file", "-", "--min-confidence", "0"),
    )
    call = {
        "session_id": "s",
        "cwd": str(shop),
        "hook_event_name": "UserPromptSubmit",
        "prompt": PROMPT,
    }
    status, out = hook(monkeypatch, capsys, "prompt", "claude", call)
    told = json.loads(out)["hookSpecificOutput"]
    assert (status, told["hookEventName"]) == (0, "UserPromptSubmit")
    assert "basket.py" in told["additionalContext"]
    assert hook(monkeypatch, capsys, "prompt", "claude", {**call, "prompt": "/clear"}) == (0, "")


def starting(shop: Path, source: str, session: str = "s") -> dict[str, Any]:
    return {
        "session_id": session,
        "cwd": str(shop),
        "hook_event_name": "SessionStart",
        "source": source,
    }


@pytest.mark.slow
def test_a_packet_is_sent_once_in_a_session_until_its_reader_has_lost_it(
    shop: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(
        "tersely.cli.builtin.hook.PACKET_WORDS",
        ("packet", "--task-file", "-", "--min-confidence", "0"),
    )
    call = {
        "session_id": "s",
        "cwd": str(shop),
        "hook_event_name": "UserPromptSubmit",
        "prompt": PROMPT,
    }

    def packet(**more: str) -> str:
        status, out = hook(monkeypatch, capsys, "prompt", "claude", {**call, **more})
        assert status == 0
        return out

    first = packet()
    assert "basket.py" in first
    assert packet() == ""
    assert packet(session_id="other") == first
    hook(monkeypatch, capsys, "session", "claude", starting(shop, "startup"))
    assert packet() == ""
    for source in ("compact", "clear", "resume"):
        assert hook(monkeypatch, capsys, "session", "claude", starting(shop, source)) == (0, "")
        assert packet() == first
    assert "sent before in this session" in (shop.parent / "state" / "hooks.log").read_text()


@pytest.mark.slow
def test_a_packet_that_came_too_late_is_not_taken_for_sent(
    shop: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ("packet", "--task-file", "-", "--min-confidence", "0")
    monkeypatch.setattr("tersely.cli.builtin.hook.PACKET_WORDS", words)
    call = {
        "session_id": "s",
        "cwd": str(shop),
        "hook_event_name": "UserPromptSubmit",
        "prompt": PROMPT,
    }
    assert hook(monkeypatch, capsys, "prompt", "claude", call)[1]
    assert hook(monkeypatch, capsys, "prompt", "claude", call) == (0, "")
    monkeypatch.setattr("tersely.cli.builtin.hook.PACKET_WORDS", (*words, "--no-such-option"))
    assert hook(monkeypatch, capsys, "prompt", "claude", call) == (0, "")
    monkeypatch.setattr("tersely.cli.builtin.hook.PACKET_WORDS", words)
    assert hook(monkeypatch, capsys, "prompt", "claude", call)[1]


def test_commands_that_an_agent_runs_know_its_session(
    shop: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    variables = shop.parent / "variables.sh"
    monkeypatch.setenv("CLAUDE_ENV_FILE", str(variables))
    hook(monkeypatch, capsys, "session", "claude", starting(shop, "startup", "it's"))
    exported = dict(
        line.removeprefix("export ").split("=", 1) for line in variables.read_text().splitlines()
    )
    monkeypatch.setenv("TERSELY_SESSION", "".join(split(exported["TERSELY_SESSION"])))
    words = ["context", "Basket.total", "--root", str(shop)]
    assert main(words) == 0
    assert "def total(self, currency):" in capsys.readouterr().out
    assert main(words) == 0
    again = capsys.readouterr().out
    assert "[unchanged " in again
    assert "def total" not in again
    hook(monkeypatch, capsys, "session", "claude", starting(shop, "compact", "it's"))
    *_, last = variables.read_text().splitlines()
    monkeypatch.setenv("TERSELY_SESSION", "".join(split(last.partition("=")[2])))
    assert main(words) == 0
    assert "def total(self, currency):" in capsys.readouterr().out


def test_an_outline_is_given_again_to_a_reader_that_has_lost_it(
    shop: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    call = reading(shop, "claude", "basket.py")
    assert hook(monkeypatch, capsys, "read", "claude", call)[1]
    assert hook(monkeypatch, capsys, "read", "claude", call) == (0, "")
    hook(monkeypatch, capsys, "session", "claude", starting(shop, "compact"))
    assert hook(monkeypatch, capsys, "read", "claude", call)[1]


def test_who_is_not_sure_leaves_a_prompt_alone(
    shop: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    call = {"session_id": "s", "cwd": str(shop), "prompt": "write me a poem about the sea"}
    assert hook(monkeypatch, capsys, "prompt", "claude", call) == (0, "")


@pytest.mark.parametrize(
    "call", ["", "{", "[]", '{"tool_input": 3, "cwd": 4}', '{"cwd": "/nowhere", "prompt": "x y"}']
)
@pytest.mark.parametrize("kind", ["session", "prompt", "read"])
def test_no_call_ever_fails(
    shop: Path,
    kind: str,
    call: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(shop)
    assert hook(monkeypatch, capsys, kind, "claude", call) == (0, "")


def test_a_failure_is_written_down(
    shop: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    hook(monkeypatch, capsys, "prompt", "nobody", {"prompt": "x"})
    assert "KeyError" in (shop.parent / "state" / "hooks.log").read_text()


def test_cursor_names_the_conversation_and_the_roots_of_its_workspace(
    shop: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    call = {
        "conversation_id": "c-1",
        "generation_id": "g-1",
        "model": "some",
        "hook_event_name": "preToolUse",
        "cursor_version": "3.1.0",
        "workspace_roots": [str(shop)],
        "transcript_path": None,
        "tool_name": "Read",
        "tool_input": {"file_path": str(shop / "basket.py")},
        "tool_use_id": "t-1",
    }
    answer = json.loads(hook(monkeypatch, capsys, "read", "cursor", call)[1])
    assert answer["permission"] == "deny"
    assert "total(self, currency)" in answer["agent_message"]
    assert hook(monkeypatch, capsys, "read", "cursor", call) == (0, "")
    assert hook(monkeypatch, capsys, "read", "cursor", {**call, "conversation_id": "c-2"})[1]


PRICES = "def price(cents):\n    return cents\n\n\ndef total(items):\n    return price(items)\n"
TILL = "from prices import price\n\n\ndef open_till():\n    return price(1)\n"


@pytest.fixture
def till(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository with two files, both committed, and its index."""
    monkeypatch.setenv("TERSELY_HOME", str(tmp_path / "state"))
    monkeypatch.setenv("TERSELY_DAEMON", "off")
    monkeypatch.setattr("tersely.cli.builtin.hook.HOOK_SECONDS", 60.0)
    root = tmp_path / "till"
    root.mkdir()
    (root / "prices.py").write_text(PRICES)
    (root / "till.py").write_text(TILL)
    own = ["-c", "user.name=x", "-c", "user.email=x@example.org"]
    for words in (["init", "-q"], ["add", "."], ["commit", "-q", "-m", "first"]):
        subprocess.run(["git", *own, *words], cwd=root, check=True)
    assert main(["index", "--root", str(root), "--quiet"]) == 0
    return root


def after(root: Path, tool: str, given: Any, result: Any, session: str = "s") -> dict[str, Any]:
    return {
        "session_id": session, "cwd": str(root), "hook_event_name": "PostToolUse", "tool_name": tool,
        "tool_input": given, "tool_response": result,
    }  # fmt: skip


# What agents print for a search: where each hit stands differs.
RESULTS = {
    "claude, lines": ("Grep", {"pattern": "price"}, {"mode": "content", "content": "till.py:5:    return price(1)"}),
    "claude, files": ("Grep", {"pattern": r"price\("}, {"mode": "files_with_matches", "filenames": ["till.py"]}),
    "a shell": ("Bash", {"command": "cd . && grep -rn price ."}, {"stdout": "./till.py:5:    return price\n"}),
    "codex": ("exec_command", {"command": ["bash", "-lc", "rg -n price"]}, "till.py:5:    return price(1)"),
    "gemini": ("search_file_content", {"pattern": "price"}, {"llmContent": "---\nFile: till.py\nL5: x\n---"}),
    "opencode": ("grep", {"pattern": "price"}, "Found 1 matches\ntill.py:\n  Line 5:     return price(1)"),
    "one file of a shell": ("Bash", {"command": "grep -n price till.py"}, {"stdout": "5:    return price"}),
    "a shell elsewhere": ("Bash", {"command": "cd lib/.. && rg -n price"}, {"stdout": "till.py:5:  x"}),
    "one file elsewhere": ("Bash", {"command": "cd ../till && grep -n price till.py"}, {"stdout": "5:x"}),
    "one file": ("Grep", {"pattern": "price", "path": "till.py"}, {"mode": "content", "content": "5:  x"}),
}  # fmt: skip


@pytest.mark.parametrize("name", RESULTS)
def test_a_search_gets_the_definitions_around_its_hits_once(
    till: Path, name: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    call = after(till, *RESULTS[name])
    status, answer = hook(monkeypatch, capsys, "after", "claude", call)
    told = json.loads(answer)["hookSpecificOutput"]
    assert (status, told["hookEventName"]) == (0, "PostToolUse")
    assert told["additionalContext"] == "tersely: till.py:open_till 4-5"
    assert hook(monkeypatch, capsys, "after", "claude", call) == (0, "")


def test_callers_of_what_encloses_a_hit_are_told(
    till: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    call = after(till, "Bash", {"command": "git grep -n cents"}, {"stdout": "prices.py:2:x"})
    _, answer = hook(monkeypatch, capsys, "after", "opencode", call)
    assert answer == ("tersely: prices.py:price 1-2 <- prices.py:6 total, till.py:5 open_till\n")


@pytest.mark.parametrize(
    ("tool", "given", "result"),
    [
        ("Bash", {"command": "ls"}, {"stdout": "till.py:5:x"}),
        ("Bash", {"command": "grep -rn x docs"}, {"stdout": "docs/a.rst:3:x\nnot/there.py:1:x\n"}),
        ("Bash", {"command": "grep -hn price till.py prices.py"}, {"stdout": "5:x"}),
        ("Bash", {"command": "grep -n x till.py; grep -n price prices.py"}, {"stdout": "5:x"}),
        ("Grep", {"pattern": "x"}, {"mode": "files_with_matches", "filenames": []}),
        ("Grep", {"pattern": "from"}, {"mode": "content", "content": "till.py:1:from prices"}),
        ("Edit", {"file_path": "till.py"}, {}),
        ("Write", {"file_path": "../elsewhere.py"}, {}),
    ],
)
def test_where_nothing_is_to_be_added_nothing_is(
    till: Path,
    tool: str,
    given: Any,
    result: Any,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    call = after(till, tool, given, result)
    assert hook(monkeypatch, capsys, "after", "claude", call) == (0, "")


def test_no_index_is_made_beside_an_edit(
    till: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    rmtree(till / ".tersely")
    (till / "prices.py").write_text(PRICES.replace("(cents)", "(cents, unit)"))
    call = after(till, "Edit", {"file_path": str(till / "prices.py")}, {})
    assert hook(monkeypatch, capsys, "after", "codex", call) == (0, "")
    assert not (till / ".tersely").exists()


def test_after_an_edit_what_it_breaks_is_told_in_one_line(
    till: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (till / "prices.py").write_text(PRICES.replace("(cents)", "(cents, unit)"))
    call = after(till, "Edit", {"file_path": str(till / "prices.py")}, {})
    said = "calls `price`, which has another signature: prices.py:6, till.py:5"
    _, answer = hook(monkeypatch, capsys, "after", "codex", call)
    assert json.loads(answer)["hookSpecificOutput"]["additionalContext"] == f"tersely: {said}"
    assert hook(monkeypatch, capsys, "after", "codex", call) == (0, "")  # it is known
    _, answer = hook(monkeypatch, capsys, "after", "cursor", {**call, "session_id": "t"})
    assert json.loads(answer) == {"additional_context": f"tersely: {said}"}


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (RESULTS["a shell"], "tersely: till.py:open_till 4-5"),
        (("Bash", {"command": "ls"}, ""), ""),
    ],
)
def test_what_is_installed_answers_after_a_tool(till: Path, call: Any, said: str) -> None:
    [command] = [
        one["command"]
        for target in AGENTS["claude"].targets
        for entry in target.entries(["tersely"] * 2)
        if entry.path[:1] == ("hooks",) and "Grep" in entry.value.get("matcher", "")
        for one in entry.value["hooks"]
    ]
    given = json.dumps(after(till, *call))
    done = subprocess.run(split(command), input=given, capture_output=True, text=True, check=True)
    assert said in done.stdout
    assert bool(said) is bool(done.stdout)


def test_a_sub_agent_that_reads_no_text_of_ours_is_told_by_its_hook(
    till: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    call = {"session_id": "s", "cwd": str(till), "hook_event_name": "SubagentStart"}
    _, answer = hook(monkeypatch, capsys, "session", "claude", call)
    told = json.loads(answer)["hookSpecificOutput"]
    assert told["hookEventName"] == "SubagentStart"
    assert told["additionalContext"].count("\n- `tersely ") == 4
    assert "claim" not in told["additionalContext"]  # it is told of others by another hook
    assert hook(monkeypatch, capsys, "session", "codex", call) == (0, "")  # which reads AGENTS.md
    begins = {**call, "hook_event_name": "SessionStart"}
    assert hook(monkeypatch, capsys, "session", "claude", begins) == (0, "")
