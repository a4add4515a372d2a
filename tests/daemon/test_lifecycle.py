"""Daemons begin, end, and never get into each other's way."""

from __future__ import annotations

import asyncio
import os
import shutil
import signal
import socket
import stat
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from tests.cli.asking import run
from tests.daemon.asking import (
    ANSWER_WORDS,
    DEADLINE_SECONDS,
    IDLE_SECONDS,
    Talk,
    serving,
    wait_for_end,
)
from tests.unheard import said_when_ended_at_once

from tersely.daemon import lifecycle, place
from tersely.daemon.asking import Asking
from tersely.daemon.place import Place
from tersely.foundation.errors import TerselyError
from tersely.foundation.process.identity import program_identity
from tersely.foundation.storage.private import make_private


def pids_of_analysis(root: Path) -> list[int]:
    with Talk(root) as talk:
        talk.ask(cmd="warm")
        return [process["pid"] for process in talk.ask(cmd="status")["processes"]]


def test_it_is_started_once_and_stopped_once(shop: Path) -> None:
    first = run(["daemon", "start", "--json"], shop)
    assert first.result["started"]
    again = run(["daemon", "start", "--json"], shop)
    assert not again.result["started"]
    assert again.result["pid"] == first.result["pid"]
    listed = run(["daemon", "list", "--json"], shop)
    assert [one["project"] for one in listed.result["daemons"]] == [str(shop)]
    assert run(["daemon", "stop"], shop).status == 0
    wait_for_end(first.result["pid"])
    gone = run(["daemon", "stop"], shop)
    assert gone.status == 1
    assert gone.err.startswith("daemon_not_running: ")
    assert run(["daemon", "status"], shop).status == 1
    assert "no daemon is running" in run(["daemon", "list"], shop).out


def test_it_ends_in_order_while_it_says_that_it_serves(shop: Path) -> None:
    log = Path(Place.of(str(shop)).log)
    given = [str(shop), ANSWER_WORDS, str(IDLE_SECONDS), str(IDLE_SECONDS)]
    said = said_when_ended_at_once("tersely.daemon.serve:main", given, log)
    assert said.startswith(b'{"ok": true')
    assert log.read_text().rstrip().endswith("INFO ending: it was asked to")


def test_starting_returns_although_the_daemon_goes_on(shop: Path) -> None:
    """Whoever captures what a command prints waits until nobody can print any more."""
    command = [sys.executable, "-m", "tersely", "warm"]
    done = subprocess.run(command, cwd=shop, capture_output=True, text=True, check=True, timeout=60)
    assert done.stdout == "6 files indexed, the daemon is warm\n"
    assert done.stderr == ""
    assert lifecycle.stop(str(shop))


def test_of_many_that_start_at_once_one_remains(shop: Path) -> None:
    with ThreadPoolExecutor(6) as threads:
        started = list(threads.map(lambda _: run(["daemon", "start", "--json"], shop), range(6)))
    assert {answer.status for answer in started} == {0}
    assert len({answer.result["pid"] for answer in started}) == 1
    assert sum(answer.result["started"] for answer in started) == 1
    assert lifecycle.stop(str(shop))


def test_after_a_violent_end_nothing_is_left_but_files(shop: Path) -> None:
    with serving(shop) as status:
        children = pids_of_analysis(shop)
        os.kill(status["pid"], signal.SIGKILL)
        for pid in (status["pid"], *children):
            wait_for_end(pid)
        assert Path(Place.of(str(shop)).socket).exists()
        assert lifecycle.status(str(shop)) is None
        with serving(shop) as next_status:
            assert next_status["pid"] != status["pid"]


def test_one_that_hangs_is_not_waited_for_when_it_is_to_end(
    shop: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lifecycle, "DAEMON_STOP_SECONDS", 0.2)
    with serving(shop) as status:
        os.kill(status["pid"], signal.SIGSTOP)
        try:
            with pytest.raises(TerselyError, match="does not end: timed out"):
                lifecycle.stop(str(shop))
        finally:
            os.kill(status["pid"], signal.SIGCONT)
            wait_for_end(status["pid"])


def test_a_record_that_is_no_record_keeps_none_from_ending(shop: Path) -> None:
    with serving(shop) as status:
        Path(Place.of(str(shop)).lock).write_text("[" * 10_000)
        assert lifecycle.stop(str(shop))
        wait_for_end(status["pid"])


def test_an_end_on_request_takes_everything_along(shop: Path) -> None:
    with serving(shop) as status:
        children = pids_of_analysis(shop)
        os.kill(status["pid"], signal.SIGTERM)
        for pid in (status["pid"], *children):
            wait_for_end(pid)
    assert not Path(Place.of(str(shop)).socket).exists()


def test_it_ends_when_nobody_asks(shop: Path) -> None:
    started = lifecycle.start(str(shop), ANSWER_WORDS, 1)
    wait_for_end(started.status["pid"])


def test_it_ends_with_its_repository(shop: Path) -> None:
    with serving(shop) as status:
        pids_of_analysis(shop)
        shop.rename(shop.with_name("moved"))
        wait_for_end(status["pid"])


def test_it_ends_with_its_repository_though_somebody_has_it_open(shop: Path) -> None:
    with serving(shop) as status:
        pids_of_analysis(shop)
        held = os.open(shop, os.O_RDONLY)
        try:
            shutil.rmtree(shop)
            shop.mkdir()  # another one at the same place
            wait_for_end(status["pid"])
        finally:
            os.close(held)


def test_one_that_was_started_for_clients_ends_when_the_last_is_gone(shop: Path) -> None:
    started = lifecycle.start(str(shop), ANSWER_WORDS, IDLE_SECONDS, left_seconds=1)
    assert started.status["ends_when_left"]
    with Talk(shop) as talk:
        talk.ask(cmd="warm")
    wait_for_end(started.status["pid"])
    held = lifecycle.start(str(shop), ANSWER_WORDS, IDLE_SECONDS, left_seconds=1)
    asked = lifecycle.start(str(shop), ANSWER_WORDS, IDLE_SECONDS)  # by a person: it stays
    assert not asked.was_running
    assert asked.status["pid"] != held.status["pid"]
    assert not asked.status["ends_when_left"]
    assert lifecycle.stop(str(shop))


def test_a_daemon_ends_with_the_process_that_it_was_started_for(
    shop: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tersely.daemon.asking.DAEMON_LEFT_SECONDS", 1)

    async def converse() -> int:
        asking = Asking(ANSWER_WORDS, starts_daemons=True)
        try:
            await asking.revision(shop)
            status = lifecycle.status(str(shop))
            assert status is not None
            return int(status["pid"])
        finally:
            asking.close()

    wait_for_end(asyncio.run(converse()))


def test_its_files_are_the_users_alone(shop: Path, runtime: Path) -> None:
    before = os.umask(0)
    try:
        with serving(shop):
            assert stat.S_IMODE(runtime.stat().st_mode) == 0o700
            assert stat.S_IMODE(Path(Place.of(str(shop)).socket).stat().st_mode) == 0o600
    finally:
        os.umask(before)


def test_it_says_where_its_socket_is(shop: Path) -> None:
    with serving(shop), socket.socket(socket.AF_UNIX) as client:
        client.connect(run(["daemon", "status", "--json"], shop).json["result"]["socket"])
        client.sendall(b'{"cmd": "ping"}\n')
        assert client.recv(1_000) == b'{"success":true}\n'


@pytest.mark.parametrize("is_link", [True, False], ids=["a link", "open to all"])
def test_a_directory_that_somebody_has_made_before_is_passed_over(
    shop: Path, runtime: Path, tmp_path: Path, is_link: bool
) -> None:
    foreign = tmp_path / "foreign"
    foreign.mkdir(mode=0o700)
    if is_link:
        runtime.symlink_to(foreign)
    else:
        runtime.mkdir()
        runtime.chmod(0o777)
    found = Path(lifecycle.start(str(shop), ANSWER_WORDS, IDLE_SECONDS).status["socket"])
    try:
        assert found.parent == runtime.parent / f"tersely-{os.geteuid()}"
        assert stat.S_IMODE(found.parent.stat().st_mode) == 0o700
    finally:
        lifecycle.stop(str(shop))
    assert list(foreign.iterdir()) == []


def test_a_directory_that_others_may_write_to_is_refused(tmp_path: Path) -> None:
    foreign = tmp_path / "foreign"
    foreign.mkdir()
    foreign.chmod(0o777)
    with pytest.raises(PermissionError, match="not a directory of this user alone"):
        make_private(str(foreign))


def test_a_long_path_to_the_runtime_directory_is_passed_over(tmp_path: Path) -> None:
    deep = tmp_path / ("d" * 100)
    deep.mkdir(mode=0o700)
    found = place.runtime_directory({"XDG_RUNTIME_DIR": str(deep), "TMPDIR": str(deep)})
    assert found == f"/tmp/tersely-{os.geteuid()}"


def test_a_daemon_of_another_program_is_replaced(
    shop: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with serving(shop) as status:
        monkeypatch.setattr(lifecycle, "program_identity", lambda: "another")
        started = lifecycle.start(str(shop), ANSWER_WORDS, IDLE_SECONDS)
        assert not started.was_running
        assert started.status["pid"] != status["pid"]
        wait_for_end(status["pid"])


def test_a_daemon_whose_program_was_replaced_ends_when_the_new_one_asks(
    shop: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    installed = tmp_path / "site-packages"
    installed.mkdir()
    monkeypatch.setattr(sys, "path", [*sys.path, str(installed)])
    with serving(shop) as status:
        with Talk(shop) as talk:
            talk.send(cmd="revision", program_identity="other", root=str(shop))
            assert talk.receive()["code"] == "unknown_command"
            assert talk.ask(cmd="ping")["success"]
        (installed / "new.py").touch()
        with Talk(shop) as talk:
            talk.send(cmd="revision", program_identity=program_identity(), root=str(shop))
            assert talk.receive()["code"] == "unknown_command"
        wait_for_end(status["pid"])


def test_of_many_that_miss_a_daemon_one_starts_it(shop: Path) -> None:
    with ThreadPoolExecutor(6) as threads:
        found = list(
            threads.map(
                lambda _: lifecycle.start_missing(str(shop), ANSWER_WORDS, IDLE_SECONDS), range(6)
            )
        )
    assert found == [True] * 6
    assert len(lifecycle.running()) == 1
    assert lifecycle.stop(str(shop))


def test_a_setting_lets_commands_start_one(shop: Path) -> None:
    assert run(["tree"], shop, TERSELY_DAEMON="start").status == 0
    deadline = time.monotonic() + DEADLINE_SECONDS
    while lifecycle.status(str(shop)) is None:  # the command has not waited for it
        assert time.monotonic() < deadline
    assert lifecycle.stop(str(shop))


def test_no_command_starts_one_by_itself(shop: Path) -> None:
    assert run(["tree"], shop).status == 0
    assert lifecycle.status(str(shop)) is None
