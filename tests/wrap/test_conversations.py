"""Programs in real terminals: they talk, ask, and are typed to."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.cli.relay_home import Home
from tests.wrap.conftest import PROGRAMS, Friend, Tmux, sent_lines, wait_for

from tersely.cli.printing.cassettes import fetch
from tersely.foundation.errors import TerselyError

TALKER = (sys.executable, str(PROGRAMS / "talker.py"))
SCREEN = (sys.executable, str(PROGRAMS / "screen.py"))
Friends = Callable[..., Friend]


def never_shows(tmux: Tmux, name: str, text: str) -> None:
    """It is not there for as many looks as typing it takes, several times over."""
    looks = iter(range(60))
    wait_for(lambda: text in tmux.screen(name) or next(looks, None) is None)
    assert text not in tmux.screen(name)


def test_two_programs_hold_a_conversation(tmux: Tmux, friend: Friends) -> None:
    tmux.run("ann", *TALKER)
    tmux.run("ben", *TALKER)
    tester = friend("tester")
    tester.send("ann", "say @ben count 1")
    shown = tmux.shows("ann", "came count 6")
    assert [
        line.split()[-1] for line in shown.splitlines() if line.startswith("from ben came count")
    ] == [
        "2",
        "4",
        "6",
    ]
    assert "from ann came count 5" in tmux.shows("ben", "came count 5")


def test_the_code_service_is_asked_and_its_answer_is_typed_in(
    tmux: Tmux, friend: Friends, relay: Home, request: pytest.FixtureRequest
) -> None:
    assert relay.run_apart("daemon", "start").status == 0
    request.addfinalizer(lambda: relay.run_apart("daemon", "stop"))
    tmux.run("cat", *TALKER)
    tester = friend("tester")
    tester.send("cat", 'say @tldr semantic "boil water" --limit 1')
    shown = tmux.shows("cat", "heard: [tldr semantic]: kettle.py:1 def boil(water)")
    assert re.search(r"kettle.py:1 def boil\(water\) \(\d+%\)", shown)
    tester.send("cat", "say @tldr calls heat --direction callers")
    tmux.shows("cat", "boil  line ")
    tester.send("cat", "say @tldr calls heat --depth many")
    tmux.shows("cat", "heard: [tldr error]: depth: 'many' is not a whole number")
    tester.send("cat", "say @nobody hello there")
    tmux.shows("cat", "heard: [relay error]: no agent is called 'nobody'")


def test_any_other_service_is_asked_by_its_name(tmux: Tmux, friend: Friends) -> None:
    service = friend(
        "weather",
        kind="service",
        service={"name": "weather", "version": "1", "capabilities": ["now"]},
    )
    service.answer = lambda method, params: (
        "18 degrees" if method == "now" else ("SERVICE_ERROR", "no such method")
    )
    tmux.run("ira", *TALKER)
    tester = friend("tester")
    tester.send("ira", 'say @weather now "New York" --days 3 --metric')
    tmux.shows("ira", "heard: [weather now]: 18 degrees")
    assert service.questions == [("now", {"query": "New York", "days": 3, "metric": True})]
    tester.send("ira", "say @weather later")
    tmux.shows("ira", "heard: [weather error]: weather has no method 'later'")


def test_what_is_long_is_shown_in_part_and_kept_whole(
    tmux: Tmux, friend: Friends, relay: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    tmux.run("jan", *TALKER)
    tester = friend("tester")
    body = "\n".join(f"line {number} of many" for number in range(400))
    sent = tester.send("jan", body)
    wait_for(lambda: (sent.id, "injected") in tester.receipts, "the receipt")
    shown = tmux.shows("jan", "cass://")
    uri = re.search(r"cass://\w+", shown)
    assert uri is not None
    assert "line 30 of many" in shown
    assert "line 399" not in shown
    monkeypatch.setenv("TERSELY_HOME", str(relay.home))
    assert fetch(uri[0].removeprefix("cass://")).text == body


def test_a_full_screen_program_that_eats_enter_gets_the_message_once(
    tmux: Tmux, friend: Friends, tmp_path: Path
) -> None:
    log = tmp_path / "log"
    tmux.run("dan", *SCREEN, str(log), "--eats", "2", "--pastes")
    tester = friend("tester")
    sent = tester.send("dan", "first line\nsecond line")
    wait_for(lambda: (sent.id, "injected") in tester.receipts, "the receipt")
    assert [text.split("]: ")[1] for text in sent_lines(log)] == ["first line\n| second line"]
    tester.send("dan", "say @tester hello from the screen")
    assert tester.gets("hello from the screen").sender == "dan"
    assert len([one for one in tester.received if one.sender == "dan"]) == 1


def test_nothing_is_typed_while_a_program_is_busy(
    tmux: Tmux, friend: Friends, tmp_path: Path
) -> None:
    log, busy = tmp_path / "log", tmp_path / "busy"
    busy.touch()
    tmux.run("eve", *SCREEN, str(log), "--busy", str(busy), "--alternate")
    tester = friend("tester")
    sent = tester.send("eve", "are you there?")
    assert sent.recipients == 1
    never_shows(tmux, "eve", "are you there?")
    busy.unlink()
    wait_for(lambda: (sent.id, "injected") in tester.receipts, "the receipt")
    assert [text.split("]: ")[1] for text in sent_lines(log)] == ["are you there?"]


def test_half_typed_input_stays_whole(tmux: Tmux, friend: Friends, tmp_path: Path) -> None:
    log = tmp_path / "log"
    tmux.run("fay", *SCREEN, str(log), "--pastes")
    tester = friend("tester")
    tmux.shows("fay", "idle")
    tmux.keys("fay", "-l", "half of a thought")
    tmux.shows("fay", "half of a thought")
    sent = tester.send("fay", "a message")
    never_shows(tmux, "fay", "a message")
    tmux.keys("fay", "-l", " and the other half")
    tmux.keys("fay", "Enter")
    wait_for(lambda: (sent.id, "injected") in tester.receipts, "the receipt")
    assert [text.split("]: ")[-1] for text in sent_lines(log)] == [
        "half of a thought and the other half",
        "a message",
    ]


def test_a_program_that_never_takes_it_is_reported_as_stuck(
    tmux: Tmux, friend: Friends, tmp_path: Path
) -> None:
    log = tmp_path / "log"
    tmux.run("gus", *SCREEN, str(log), "--eats", "5")
    tester = friend("tester")
    sent = tester.send("gus", "take this")
    told = tester.gets("does not take it")
    assert told.kind == "state"
    assert told.sender == "gus"
    assert (sent.id, "injected") not in tester.receipts
    tmux.keys("gus", "Enter")
    tmux.keys("gus", "Enter")
    wait_for(lambda: (sent.id, "injected") in tester.receipts, "the receipt")
    assert len(sent_lines(log)) == 1


def test_the_status_of_the_program_is_that_of_the_command(tmux: Tmux, friend: Friends) -> None:
    tmux.run("hal", *TALKER)
    tester = friend("tester")
    tester.send("hal", "quit")
    wait_for(lambda: "tersely-hal" not in tmux.ask("list-sessions"), "the end")


def test_a_program_starts_another_and_ends_it(tmux: Tmux, friend: Friends, tmp_path: Path) -> None:
    program = tmp_path / "kid"
    program.write_text(f"#!{sys.executable}\nwhile True: input('> ')\n")
    program.chmod(0o755)
    tmux.run("liz", *TALKER, options=("--trust-screen", "--spawn", str(program)))
    tester = friend("tester")
    tester.send("liz", f"say @spawn kid {program} --no-such-option")
    tmux.shows("liz", "heard: [relay]: kid runs as ")
    wait_for(lambda: connected(tester, "kid"), "the spawned program")
    sent = tester.send("kid", "hello")
    wait_for(lambda: (sent.id, "injected") in tester.receipts, "the receipt")
    tester.send("liz", "say @spawn other sh")
    tmux.shows("liz", "heard: [relay error]: sh may not be started from here")
    tester.send("liz", "say @release kid")
    tmux.shows("liz", "heard: [relay]: kid has ended")


def connected(tester: Friend, name: str) -> bool:
    """Whether there is somebody of that name."""
    try:
        tester.send(name, "are you there?")
    except TerselyError:
        return False
    return True


def test_no_words_of_ours_are_typed_into_a_shell(tmux: Tmux, friend: Friends) -> None:
    """Whichever way the shell was started: it would run them."""
    tester = friend("tester")
    for name, words in (("sue", ["bash", "--norc"]), ("stu", ["sh", "-c", "bash --norc; true"])):
        tmux.run(name, *words, options=())
        tmux.shows(name, "bash-")
        # a line that would be a command, and has not the marker of the run
        tmux.keys(name, "printf '%s%s\\n' '->rel' 'ay:tester hello'", "Enter")
        tmux.shows(name, "->relay:tester hello")
        for body in ("hello", "and again"):  # what is said of the line waits behind the first
            sent = tester.send(name, body)
            wait_for(lambda sent=sent: (sent.id, "injected") in tester.receipts, "the receipt")
        assert tmux.screen(name).count("Relay message from tester") >= 2
        assert "[relay]" not in tmux.screen(name)
