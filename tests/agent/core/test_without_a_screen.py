"""`tersely -p`: what it prints and how it ends, whoever ends it."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

import pytest
from bench.modelserver.scripts import Reply, write_scripted
from bench.modelserver.server import Server
from tests.agent.core.command_line import (
    environment,
    events,
    printed_until,
    ran,
    read,
    rest,
    running,
)
from tests.agent.core.talking import call
from tests.depth import mostly_slow

from tersely.agent.sessions.store import SessionHistory, SessionStore
from tersely.cli.agent.without_screen import stdin_prompt
from tersely.cli.main import main
from tersely.foundation.errors import TerselyError

KEPT = ("--no-retrieval", "--keep-session")
NOWHERE = "http://127.0.0.1:9"
COUNTED = " ".join(map(str, range(700)))
LEAVES = "echo $$ > pids; sleep 300 & echo $! >> pids; echo begun; sleep 301"
SCRIPT = [
    Reply("I run it.\n" + call("bash", f"--- command\n{LEAVES}\n"), "leave"),
    Reply("I look.\n" + call("read", path="shop/prices.py"), "look"),
    Reply(COUNTED, "count"),
    Reply(COUNTED, "def price"),
    Reply(call("write", body="--- body\n# Notes\n", path="NOTES.md"), "change"),
    Reply("I may not.", "write (denied)"),
    Reply("Hello.", "hello"),
]
FIELDS = {
    "type", "ok", "is_error", "reason", "code", "message", "hint", "session", "answer", "calls", "usage", "notices",
}  # fmt: skip


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    path = tmp_path_factory.mktemp("model") / "scripted.gguf"
    write_scripted(path, SCRIPT)
    with Server(path) as server:
        yield server.url


def result_of(printed: bytes | str) -> dict[str, Any]:
    """The object that is the last line."""
    found: dict[str, Any] = json.loads(printed.splitlines()[-1])
    assert set(found) == FIELDS
    assert found["type"] == "result"
    assert found["is_error"] is not found["ok"]
    return found


def kept(root: Path) -> SessionHistory:
    """The one session there is, as it is kept."""
    with SessionStore.open(root.parent / "home" / "chat") as store:
        (listed,) = store.every(str(root))
        return store.history(listed.id)


@pytest.mark.parametrize("form", ["json", "stream-json"])
@pytest.mark.parametrize(
    ("words", "code", "status"),
    [
        (["--url", NOWHERE], "model_unavailable", 3),
        (["--root", "/nowhere"], "root_not_found", 3),
        (["--root", "README.md"], "root_not_found", 3),
        (["--window", "many"], "invalid_argument", 2),
        (["--window", "100"], "usage", 2),
        (["--allow", "2", "--deny", "1"], "usage", 2),
        (["--fork"], "usage", 2),
        (["--resume", "one", "--continue"], "usage", 2),
        (["--continue"], "session_not_found", 1),
        (["--nosuch"], "invalid_argument", 2),
    ],
)
def test_what_keeps_a_turn_from_beginning_is_told_by_the_same_object(
    root: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    form: str,
    words: list[str],
    code: str,
    status: int,
) -> None:
    monkeypatch.setenv("TERSELY_HOME", str(root.parent / "home"))
    monkeypatch.chdir(root)
    assert main(["-p", "hello", "--output-format", form, *words]) == status
    told = capsys.readouterr()
    result = result_of(told.out)
    assert len(told.out.splitlines()) == 1
    assert (result["ok"], result["reason"], result["code"], result["session"]) == (
        False,
        "failed",
        code,
        "",
    )
    assert result["message"]
    assert f"{code}: {result['message']}\n" in told.err


@pytest.mark.slow
def test_an_answer_is_told_by_it_too(root: Path, url: str) -> None:
    (answered,) = events(ran(root, url, ["--json", "-p", "hello", "--keep-session"]).stdout)
    assert set(answered) == FIELDS
    assert (answered["ok"], answered["code"], answered["message"], answered["answer"]) == (
        True,
        "",
        "",
        "Hello.",
    )
    again = ran(root, url, ["-p", "hello", "--continue", "--output-format", "json"])
    assert result_of(again.stdout)["session"] == answered["session"]
    fork = ran(root, url, ["-p", "hello", "--continue", "--fork", "--output-format", "json"])
    assert result_of(fork.stdout)["session"] != answered["session"]
    long = ran(root, url, ["-p", "hello " * 2_000, "--no-retrieval", "--json"])
    assert result_of(long.stdout)["ok"]
    missing = ran(root, url, ["-p", "hello", "--model", "nosuch", "--output-format", "json"])
    assert (result_of(missing.stdout)["code"], missing.returncode) == ("model_unavailable", 3)


def sessions_of(root: Path) -> list[str]:
    with SessionStore.open(root.parent / "home" / "chat") as store:
        return [each.id for each in store.every(str(root))]


@pytest.mark.slow
def test_no_session_is_left_behind_unless_it_is_asked_for(root: Path, url: str) -> None:
    assert (
        result_of(ran(root, url, ["-p", "look", "--json", "--no-retrieval"]).stdout)["session"]
        == ""
    )
    assert sessions_of(root) == []
    first = result_of(ran(root, url, ["-p", "hello", "--json", "--keep-session"]).stdout)["session"]
    assert sessions_of(root) == [first]
    assert (
        result_of(ran(root, url, ["-p", "hello", "--json", "--continue"]).stdout)["session"]
        == first
    )
    assert sessions_of(root) == [first]


@pytest.mark.slow
def test_no_session_is_left_behind_by_a_turn_that_is_ended(root: Path, url: str) -> None:
    with running(
        root, url, ["-p", "count", "--output-format", "stream-json", "--no-retrieval"]
    ) as process:
        printed_until(process, b"10")
        process.send_signal(signal.SIGTERM)
        result = result_of(rest(process))
    assert (result["reason"], result["session"]) == ("cancelled", "")
    assert sessions_of(root) == []


@pytest.mark.slow
def test_an_answer_after_a_denied_call_is_no_success(root: Path, url: str) -> None:
    words = ["-p", "change the notes", "--no-retrieval"]
    told = ran(root, url, [*words, "--json"])
    result = result_of(told.stdout)
    assert told.returncode == 1
    assert (result["ok"], result["reason"], result["code"]) == (False, "answered", "denied")
    assert result["message"] == "1 call denied: write"
    assert result["answer"] == "I may not."
    assert not (root / "NOTES.md").exists()
    quiet = ran(root, url, [*words, "--quiet"])
    assert (quiet.returncode, quiet.stdout) == (1, b"I may not.\n")
    assert quiet.stderr.startswith(b"denied: 1 call denied: write (--allow 1 allows edits")


@pytest.mark.parametrize("name", mostly_slow(["SIGINT", "SIGTERM", "SIGHUP"], "SIGTERM"))
def test_a_signal_ends_the_turn_and_the_result_says_so(root: Path, url: str, name: str) -> None:
    number = signal.Signals[name]
    with running(root, url, ["-p", "count", "--output-format", "stream-json", *KEPT]) as process:
        printed = printed_until(process, b"10")
        process.send_signal(number)
        printed += rest(process)
        assert process.returncode == 128 + number
    result = result_of(printed)
    assert (result["reason"], result["message"]) == ("cancelled", f"ended by {name}")
    history = kept(root)
    assert history.listed.id == result["session"]
    assert history.messages[-1].text == result["answer"]
    assert COUNTED.startswith(result["answer"])
    # its one slot is free
    assert result_of(ran(root, url, ["-p", "hello", "--continue", "--json"]).stdout)["ok"]


@pytest.mark.slow
def test_a_second_process_is_told_who_has_the_session_and_goes_on_in_a_copy(
    root: Path, url: str
) -> None:
    with running(root, url, ["-p", "count", "--output-format", "stream-json", *KEPT]) as process:
        printed_until(process, b"10")
        process.send_signal(signal.SIGSTOP)  # or it may be done before the second has started
        second = ran(root, url, ["-p", "hello", "--continue", "--json"])
        result = result_of(second.stdout)
        assert (result["code"], second.returncode) == ("session_in_use", 1)
        assert f"process {process.pid} has this session open" in result["message"]
        assert result["hint"].endswith(" --fork")
        process.kill()
        process.wait()
    words = result["hint"].partition("copy: ")[2].split()
    copy = result_of(ran(root, url, ["-p", "hello", "--json", *words]).stdout)
    assert (copy["answer"], copy["session"] == words[1]) == ("Hello.", False)


def test_a_signal_before_the_turn_is_told_too(root: Path) -> None:
    command = [sys.executable, "-m", "tersely", "-p", "-", "--output-format", "json"]
    streams = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with subprocess.Popen(command, cwd=root, env=environment(root, NOWHERE), **streams) as process:  # type: ignore[call-overload]
        assert b"waiting for standard input" in process.stderr.readline()
        process.send_signal(signal.SIGTERM)
        printed = process.stdout.read()
        assert process.wait(60) == 128 + signal.SIGTERM
    assert result_of(printed)["reason"] == "cancelled"


@pytest.mark.slow
def test_a_signal_leaves_no_command_running(root: Path, url: str) -> None:
    words = ["-p", "run leave", "--allow", "2", "--output-format", "stream-json", *KEPT]
    with running(root, url, words) as process:
        printed = printed_until(process, b'"tail":"begun"')
        process.send_signal(signal.SIGTERM)
        result = result_of(printed + rest(process))
    assert [each["status"] for each in result["calls"]] == ["interrupted"]
    assert [each.status for each in kept(root).calls] == ["interrupted"]
    for pid in (root / "pids").read_text().split():
        with pytest.raises(ProcessLookupError):
            os.kill(int(pid), 0)


@pytest.mark.parametrize("seed", mostly_slow(range(4), 0))
def test_whatever_was_printed_is_kept_whenever_it_is_killed(
    root: Path, url: str, seed: int
) -> None:
    most = Random(seed).randrange(1, 6_000)
    with running(
        root, url, ["-p", "look", "--output-format", "stream-json", "--no-retrieval"]
    ) as process:
        printed = b""
        while len(printed) < most and (more := read(process, most - len(printed))):
            printed += more
        process.kill()
        printed += rest(process)
    told, history = events(printed), kept(root)
    answers = "".join(each.text for each in history.messages if each.role == "assistant")
    assert answers.startswith(
        "".join(each["text"] for each in told if each["type"] == "text_delta")
    )
    begun = {each["call_id"] for each in told if each["type"] == "call_started"}
    ended = {each["call_id"]: each["observation"] for each in told if each["type"] == "call_ended"}
    assert begun <= {each.id for each in history.calls}
    assert (
        ended.items()
        <= {each.id: each.output for each in history.calls if each.status == "completed"}.items()
    )
    result = result_of(ran(root, url, ["-p", "hello", "--continue", "--json"]).stdout)
    assert (result["answer"], result["session"]) == ("Hello.", history.listed.id)


@pytest.mark.slow
def test_whoever_stops_reading_gets_no_complaint(root: Path, url: str) -> None:
    with running(root, url, ["-p", "count", *KEPT]) as process:
        printed_until(process, b"10")
        assert process.stdout is not None
        process.stdout.close()
        assert process.wait(60) == 141
    assert kept(root).messages[-1].role == "assistant"


@pytest.mark.slow
def test_an_answer_that_cannot_be_printed_says_so(root: Path, url: str) -> None:
    with open("/dev/full", "wb") as full:
        words = [sys.executable, "-m", "tersely", "-p", "hello", "--json"]
        streams = {"stdin": subprocess.DEVNULL, "stdout": full, "stderr": subprocess.PIPE}
        ended = subprocess.run(
            words, cwd=root, env=environment(root, url), timeout=60, check=False, **streams
        )  # type: ignore[call-overload]
    assert ended.returncode == 3
    assert ended.stderr.startswith(b"unwritable_output: the answer cannot be printed")
    assert len(ended.stderr.splitlines()) == 1


READS = "from tersely.cli.agent.without_screen.stdin_prompt import message_of; print(message_of({!r}, print), end='')"


def asked(prompt: str | None, content: bytes | None) -> str:
    """What is asked by words with standard input, closed where there is none."""
    words = [sys.executable, "-c", READS.format(prompt)]
    if content is None:
        words = ["sh", "-c", 'exec "$@" <&-', "sh", *words]
    path = {"PYTHONPATH": os.pathsep.join(sys.path)}
    found = subprocess.run(
        words,
        input=content,
        env={**os.environ, **path},
        capture_output=True,
        timeout=60,
        check=False,
    )
    return (found.stdout + found.stderr[-300:]).decode()


@pytest.mark.parametrize(
    ("prompt", "content", "message"),
    [
        ("why?", b"a log\n", "why?\n\n```\na log\n```"),
        ("-", b"a task\n", "a task"),
        (None, b"a task\n", "a task"),
        ("why?", b"", "why?"),
        ("why?", None, "why?"),
        (
            "why?",
            b"\xe9\xff",
            "why?\n\n```\n\N{REPLACEMENT CHARACTER}\N{REPLACEMENT CHARACTER}\n```",
        ),
        ("why?", b"```\nx\n```", "why?\n\n````\n```\nx\n```\n````"),
    ],
)
def test_standard_input_follows_the_words(
    prompt: str | None, content: bytes | None, message: str
) -> None:
    assert asked(prompt, content) == message


@pytest.mark.parametrize(
    ("prompt", "content", "code"),
    [
        ("why?", b"\x7fELF\0\0", "invalid_argument"),
        ("-", b" \n", "usage"),
        ("-", None, "usage"),
        ("", b"", "usage"),
    ],
)
def test_what_is_no_message_is_refused(prompt: str, content: bytes | None, code: str) -> None:
    assert f"TerselyError: {code}" in asked(prompt, content) or f"('{code}'" in asked(
        prompt, content
    )


def test_of_much_input_the_beginning_and_the_end_are_read(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(stdin_prompt, "MAX_PIPED_KEPT_BYTES", 100)
    monkeypatch.setattr(stdin_prompt, "MAX_PIPED_BYTES", 10_000)
    told: list[str] = []

    def message(content: bytes) -> str:
        place = tmp_path / "log"
        place.write_bytes(content)
        with place.open("rb") as file:
            before = os.dup(0)
            os.dup2(file.fileno(), 0)
            try:
                return stdin_prompt.message_of(stdin_prompt.STANDARD_INPUT, told.append)
            finally:
                os.dup2(before, 0)
                os.close(before)

    assert message(b"x" * 100) == "x" * 100
    assert told == []
    text = message(b"a" * 60 + b"x" * 5_000 + b"b" * 60)
    assert text == f"{'a' * 50}\n[5,020 bytes of 5,120 are left out here]\n{'b' * 50}"
    assert told == ["standard input is long: 5,020 bytes of 5,120 are left out in the middle"]
    with pytest.raises(TerselyError, match="more than 10,000 bytes"):
        message(b"x" * 10_001)
