"""Whom the commands of the relay believe: the process that holds the lock and listens in the home,
and nobody else.
"""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from tests.cli.relay_home import Home, home_of
from tests.foundation.serving import serving
from tests.own_terminal import IS_TOLD_APART

from tersely.doors.listening import listening
from tersely.foundation.process.ancestry import NAME_VARIABLE
from tersely.foundation.process.detached import wait_for_end
from tersely.relay.wire.home import HTTP_SOCKET, LOCK, NO_PORT, PORT, SOCKET, listen

HEALTHY = b'HTTP/1.1 200 OK\r\nContent-Length: 15\r\n\r\n{"status":"ok"}'


@pytest.fixture
def homes(tmp_path: Path) -> Iterator[tuple[Home, Home]]:
    with ExitStack() as stack:
        root = tmp_path / "root"
        root.mkdir()
        first, second = (
            stack.enter_context(home_of(tmp_path / name, root)) for name in ("first", "second")
        )
        yield first, second


@pytest.fixture
def home(homes: tuple[Home, Home]) -> Home:
    return homes[0]


def port_of(url: str) -> int:
    port = urlsplit(url).port
    assert port is not None
    return port


def status_over_tcp(url: str, token: str) -> int:
    """The status with which the port answers to a token."""
    request = urllib.request.Request(f"{url}/threads", headers={"Authorization": f"Bearer {token}"})
    try:
        with urllib.request.urlopen(request) as answer:
            return int(answer.status)
    except urllib.error.HTTPError as error:
        with error:
            return error.code


def test_a_foreign_listener_at_the_port_is_asked_nothing(home: Home) -> None:
    port = port_of(home.up()["url"])
    home.ok("down")
    with socket.create_server(("127.0.0.1", port)) as foreign:
        foreign.setblocking(False)
        assert home.refused("status") == "daemon_not_running"
        assert home.refused("send", "ann", "hello") == "daemon_not_running"
        started = home.ask("up")
        assert port_of(started["url"]) != port
        assert f"(port {port} is taken)" in started["text"]
        assert home.ask("relay", "runs")["threads"] == []
        with pytest.raises(BlockingIOError):
            foreign.accept()


def test_a_home_whose_port_another_home_has_taken_is_a_relay_of_its_own(
    homes: tuple[Home, Home],
) -> None:
    first, second = homes
    port = port_of(first.up()["url"])
    first.ok("down")
    other = second.ask("up", "--port", str(port))
    assert port_of(other["url"]) == port
    assert first.refused("status") == "daemon_not_running"
    mine = first.ask("up")
    assert (mine["was_running"], mine["pid"] == other["pid"]) == (False, False)
    assert first.ok("down") == "stopped\n"
    assert second.ask("status")["pid"] == other["pid"]


def test_the_port_of_a_home_stays(home: Home) -> None:
    url = home.up()["url"]
    home.ok("down")
    assert home.ask("up")["url"] == url


def url_of(home: Path, port: str = "") -> str:
    """Where a home is listened for, by which port that is wanted."""
    with listening(home, port, None) as places:
        return places.url


def test_a_port_is_kept_without_one_and_what_names_none_is_passed_over(tmp_path: Path) -> None:
    url = url_of(tmp_path, "0")
    assert [url_of(tmp_path), url_of(tmp_path, NO_PORT), url_of(tmp_path)] == [url, "", url]
    (tmp_path / PORT).write_text("no port\n")
    assert url_of(tmp_path).startswith("http://127.0.0.1:74")
    (tmp_path / PORT).unlink()
    os.mkfifo(tmp_path / PORT)
    assert url_of(tmp_path).startswith("http://127.0.0.1:74")


def test_without_tcp_everything_works_but_pages(home: Home) -> None:
    started = home.ask("up", "--no-tcp")
    assert started["url"] == ""
    thread = home.ok("relay", "thread", "new").strip()
    assert "no TCP port" in home.ok("status")
    assert home.refused("relay", "open", thread) == "port_unavailable"
    assert home.refused("up", "--no-tcp", "--port", "1") == "usage"


def test_a_token_that_is_rotated_opens_nothing_any_more(home: Home) -> None:
    url = home.up()["url"]
    old = (home.home / "token").read_text()
    assert status_over_tcp(url, old) == 200
    path = Path(home.ask("relay", "token", "rotate")["path"])
    new = path.read_text()
    assert path.stat().st_mode & 0o777 == 0o600
    assert (status_over_tcp(url, old), status_over_tcp(url, new)) == (401, 200)
    home.ok("down")
    home.ok("up")
    assert (home.home / "token").read_text() == new
    home.ok("down")
    for database in home.home.glob("relay.db*"):
        database.unlink()
    home.ok("up")
    assert (home.home / "token").read_text() not in {old, new}


def test_a_disk_without_room_is_named_as_what_it_is(home: Home) -> None:
    """Where no file may grow, as on a disk that is full."""
    typed = "import sys; from tersely.cli.main import main; sys.exit(main(['up']))"
    done = subprocess.run(
        ["sh", "-c", 'ulimit -f 0; exec "$0" -c "$1"', sys.executable, typed],
        env={**os.environ, **home.environment}, cwd=home.root, capture_output=True, text=True,
        timeout=120, check=False,
    )  # fmt: skip
    assert done.stderr == (
        "daemon_unavailable: no relay can be started: File too large\n"
        f"hint: make room on the disk of {home.home}\n"
    )
    assert done.returncode == 3


def test_a_home_that_others_may_look_into_is_refused_with_what_to_do(home: Home) -> None:
    home.home.mkdir(mode=0o755)
    home.home.chmod(0o755)
    for words in (["up"], ["relay", "init"], ["relay", "token", "rotate"]):
        printed = home.run(*words)
        assert printed.err.startswith("home_not_private: others may look into")
        assert f"chmod 700 {home.home}" in printed.err
    home.home.chmod(0o700)
    home.up()


@pytest.mark.parametrize("words", ["up --port 0", "search f", "relay token rotate"])
def test_a_home_in_a_repository_is_nothing_to_commit(tmp_path: Path, words: str) -> None:
    (tmp_path / "a.py").write_text("def f(): ...\n")
    _git(tmp_path, "init", "-q")
    _git(tmp_path, "add", ".")
    _git(tmp_path, "-c", "user.name=a", "-c", "user.email=a@example.org", "commit", "-qm", "all")
    for folder in (".tersely", "state/of/agents"):
        with home_of(tmp_path / folder, tmp_path) as home:
            home.ok(*words.split())
            assert any(home.home.iterdir())
    assert _git(tmp_path, "status", "--porcelain") == b""


def _git(root: Path, *words: str) -> bytes:
    return subprocess.run(["git", *words], cwd=root, check=True, capture_output=True).stdout


@pytest.mark.parametrize("name", [SOCKET, HTTP_SOCKET])
def test_what_is_in_the_place_of_a_socket_is_named_and_left(home: Home, name: str) -> None:
    home.home.mkdir(mode=0o700)
    path = home.home / name
    path.mkdir()
    printed = home.run("up", "--port", "0")
    assert printed.err.startswith(f"unwritable_output: {path} is a directory")
    path.rmdir()
    path.write_text("precious")
    assert f"{path} is no socket" in home.run("up", "--port", "0").err
    assert path.read_text() == "precious"
    path.unlink()
    home.up()


def test_what_listens_in_the_home_and_does_not_hold_its_lock_is_no_relay_and_not_ended(
    home: Home,
) -> None:
    home.home.mkdir(mode=0o700)
    with serving(HEALTHY, at=home.home / HTTP_SOCKET):
        for words in (["up"], ["down"], ["status"], ["relay", "runs"]):
            assert home.refused(*words) == "not_a_relay"
        assert home.refused("doctor") == "doctor_found"


def test_down_ends_the_process_that_listens_also_when_it_does_not_answer(home: Home) -> None:
    home.home.mkdir(mode=0o700)
    program = (
        "import fcntl, sys, time; from pathlib import Path; from tersely.relay.wire.home import listen; "
        "file = open(sys.argv[2], 'w'); fcntl.flock(file, fcntl.LOCK_EX); "
        "deaf = listen(Path(sys.argv[1]), 'http.sock'); print(flush=True); time.sleep(600)"
    )
    words = [sys.executable, "-c", program, str(home.home), str(home.home / LOCK)]
    with subprocess.Popen(words, stdout=subprocess.PIPE) as deaf:
        assert deaf.stdout is not None
        deaf.stdout.readline()
        assert home.ok("down") == "stopped\n"
        assert deaf.wait(60) == -signal.SIGTERM


def test_a_socket_that_a_killed_relay_left_starts_nothing_and_ends_nobody(home: Home) -> None:
    started = home.up()
    os.kill(started["pid"], signal.SIGKILL)
    wait_for_end(started["pid"], 60)
    assert (home.home / HTTP_SOCKET).is_socket()
    for words in (["status"], ["relay", "runs"], ["inbox", "ann"]):
        assert home.refused(*words) == "daemon_not_running"
    assert home.ok("down") == "no relay runs\n"
    assert not home.up()["was_running"]


def test_a_socket_is_this_users_alone(tmp_path: Path) -> None:
    with listen(tmp_path, SOCKET):
        assert (tmp_path / SOCKET).stat().st_mode & 0o777 == 0o600


def test_a_service_is_asked_about_the_repository_that_is_meant(home: Home, tmp_path: Path) -> None:
    """The service of code is a daemon, one for each repository."""
    roots = [tmp_path / name for name in ("tea", "milk")]
    for root in roots:
        root.mkdir()
        (root / "pot.py").write_text(
            f"def {root.name}():\n    return 1\n\n\ndef drink():\n    return {root.name}()\n"
        )
    home.up()
    tea, milk = (Home(home.home, root) for root in roots)
    try:
        for one in (tea, milk):
            assert one.run_apart("daemon", "start").status == 0
        asked = ("services", "call", "tldr", "calls", "drink", "--direction", "callees")
        assert "tea  line 6" in tea.ok(*asked)
        assert "milk  line 6" in milk.ok(*asked)
        assert "milk  line 6" in tea.ok(*asked, "--root", str(roots[1]))
        assert "milk  line 6" in tea.ok(*asked, f"--root={roots[1]}")
        assert tea.run("services", "call", "tldr", "calls", "sugar").err.startswith(
            "symbol_not_found: no symbol"
        )
        assert tea.refused("services", "call", "tldr", "brew") == "unknown_command"
        assert tea.refused("services", "call", "coffee", "brew") == "service_not_found"
        assert tea.refused(*asked, "--root", str(tmp_path / "nowhere")) == "root_not_found"
    finally:
        for one in (tea, milk):
            one.run_apart("daemon", "stop")


@pytest.mark.skipif(not IS_TOLD_APART, reason="persons cannot be told from agents here")
def test_an_agent_does_not_write_as_the_person(homes: tuple[Home, Home]) -> None:
    home, _ = homes
    home.up()
    words = ["send", "ann", "--queue", "stop", "--agent", "cli"]
    command = [sys.executable, "-m", "tersely", *words]
    agent = {**os.environ, **home.environment, NAME_VARIABLE: "mallory"}
    done = subprocess.run(command, env=agent, capture_output=True, text=True, check=False)
    assert (done.returncode != 0, "not_permitted" in done.stderr) == (True, True), done
    assert home.run_apart(*words).status == 0
