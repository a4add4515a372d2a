"""A wrapped program in a terminal: everything goes through as if nothing were between."""

from __future__ import annotations

import contextlib
import fcntl
import os
import pty
import select
import signal
import struct
import subprocess
import sys
import termios
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from tests.cli.relay_home import Home
from tests.wrap.conftest import PATIENCE_SECONDS, Friend, wait_for
from tests.wrap.screens import needs_tmux

from tersely.foundation.clock import Stopwatch

pytestmark = needs_tmux

PYTHON = (sys.executable, "-c")

LOOK_SECONDS = 0.1  # for output, after which it is seen whether the program has ended


class Seat:
    """Somebody at a terminal who runs a program with `tersely run`."""

    def __init__(self, home: Home, *words: str, options: tuple[str, ...] = ()) -> None:
        self.ours, self.its = pty.openpty()
        self.resize(100, 30)
        self.before = termios.tcgetattr(self.its)
        self.seen = b""
        command = [
            sys.executable,
            "-m",
            "tersely",
            "run",
            "--no-start",
            "--no-brief",
            *options,
            "--",
            *words,
        ]
        self.process = subprocess.Popen(
            command, env={**os.environ, **home.environment}, cwd=home.root, start_new_session=True,
            stdin=self.its, stdout=self.its, stderr=self.its, preexec_fn=self._take,  # noqa: PLW1509
        )  # fmt: skip

    def _take(self) -> None:
        fcntl.ioctl(0, termios.TIOCSCTTY, 0)

    def resize(self, columns: int, rows: int) -> None:
        fcntl.ioctl(self.ours, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def keys(self, data: bytes) -> None:
        os.write(self.ours, data)

    def shows(self, data: bytes) -> bytes:
        watch = Stopwatch()
        while data not in self.seen:
            assert watch.seconds() < PATIENCE_SECONDS, self.seen
            self._read(LOOK_SECONDS)
        return self.seen

    def ends(self) -> int:
        """The exit status; all that was written is in `seen`."""

        watch = Stopwatch()
        while self.process.poll() is None:
            assert watch.seconds() < PATIENCE_SECONDS, "it has not ended"
            self._read(LOOK_SECONDS)
        while self._read(0):
            pass
        return int(self.process.returncode)

    def _read(self, seconds: float) -> bool:
        """Take what comes within so many seconds; whether anything did."""
        has_come = bool(select.select([self.ours], [], [], seconds)[0])
        if has_come:
            with contextlib.suppress(OSError):
                self.seen += os.read(self.ours, 65_536)
        return has_come

    def close(self) -> None:
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        os.close(self.ours)
        os.close(self.its)


@pytest.fixture
def seat(relay: Home) -> Iterator[Callable[..., Seat]]:
    seats: list[Seat] = []

    def sit(*words: str, options: tuple[str, ...] = ()) -> Seat:
        seats.append(Seat(relay, *words, options=options))
        return seats[-1]

    yield sit
    for one in seats:
        one.close()


def test_bytes_status_and_terminal_are_those_of_the_program(seat: Callable[..., Seat]) -> None:
    written = b"\x1b[38;5;200mcolours\x1b[0m \xff\x1b]0;title\x07 {}"
    one = seat(*PYTHON, f"import os, sys; os.write(1, {written!r}); sys.exit(7)")
    assert one.ends() == 7
    unseen, prompt, seen = one.seen.split(b"\r\n", 2)
    assert unseen.startswith(
        b"note: programs that it starts through tmux"
    )  # what no wrapper can see
    assert prompt.startswith(b"note: nothing is known of")
    assert b"--prompt" in prompt
    assert seen == written
    assert termios.tcgetattr(one.its) == one.before


def test_much_output_comes_whole(seat: Callable[..., Seat]) -> None:
    one = seat(
        *PYTHON,
        "import sys; sys.stdout.write('x' * 79 + '\\n') ; sys.stdout.write(('y' * 79 + '\\n') * 20000)",
    )
    assert one.ends() == 0
    assert one.seen.count(b"y" * 79 + b"\r\n") == 20_000


def test_death_by_a_signal_is_told_as_shells_do(seat: Callable[..., Seat]) -> None:
    assert seat("sh", "-c", "kill -9 $$").ends() == 128 + signal.SIGKILL
    other = seat(*PYTHON, "import time; print('ready', flush=True); time.sleep(100)")
    other.shows(b"ready")
    other.process.send_signal(signal.SIGTERM)
    assert other.ends() == 128 + signal.SIGTERM
    assert termios.tcgetattr(other.its) == other.before


def test_control_keys_reach_the_program_and_no_one_else(seat: Callable[..., Seat]) -> None:
    program = "import tty, sys, os; tty.setraw(0); os.write(1, b'ready'); os.write(1, repr(os.read(0, 9)).encode())"
    one = seat(*PYTHON, program)
    one.shows(b"ready")
    one.keys(b"\x03\x1a\x1c\x11\x13")
    one.shows(rb"b'\x03\x1a\x1c\x11\x13'")
    assert one.ends() == 0
    interrupted = seat(
        "sh", "-c", "trap 'echo caught; exit 5' INT; echo ready; while :; do read x; done"
    )
    interrupted.shows(b"ready")
    interrupted.keys(b"\x03")
    interrupted.shows(b"caught")
    assert interrupted.ends() == 5


def test_the_size_is_passed_on_when_it_changes(seat: Callable[..., Seat]) -> None:
    program = (
        "import os, signal; s = lambda *_: print(*os.get_terminal_size(), flush=True); "
        "signal.signal(signal.SIGWINCH, s); s(); input()"
    )
    one = seat(*PYTHON, program)
    one.shows(b"100 30")
    one.resize(61, 17)
    one.shows(b"61 17")
    one.keys(b"\r")
    assert one.ends() == 0


def test_a_program_that_stops_stops_the_wrapper_and_goes_on_with_it(
    seat: Callable[..., Seat],
) -> None:
    one = seat("sh", "-c", "echo ready; kill -STOP $$; echo again; exit 4")
    one.shows(b"ready")
    wait_for(
        lambda: os.waitid(os.P_PID, one.process.pid, os.WSTOPPED | os.WNOHANG | os.WNOWAIT),
        "the stop",
    )
    assert termios.tcgetattr(one.its) == one.before
    one.process.send_signal(signal.SIGCONT)
    one.shows(b"again")
    assert one.ends() == 4


def test_what_keeps_a_program_from_running_is_one_line(
    seat: Callable[..., Seat], tmp_path: Path
) -> None:
    one = seat("no-such-program")
    assert one.ends() == 3
    assert one.seen.startswith(b"program_failed: there is no program 'no-such-program'")
    alone = Home(tmp_path / "home", tmp_path)
    assert alone.refused("run", "--no-start", "--", "true") == "daemon_not_running"
    assert alone.refused("run") == "invalid_argument"


def test_a_name_that_is_taken_is_refused_and_a_default_one_is_numbered(
    seat: Callable[..., Seat], friend: Callable[..., Friend]
) -> None:
    friend("kim")
    assert seat("true", options=("--name", "kim")).ends() != 0
    waits = "import os; print('I am', os.environ['TERSELY_AGENT'], flush=True); input()"
    first, second = seat(*PYTHON, waits), None
    shown = first.shows(b"I am ")
    second = seat(*PYTHON, waits)
    assert second.shows(b"I am ") != shown


def test_keys_typed_while_a_message_is_typed_do_not_fall_into_it(
    seat: Callable[..., Seat], friend: Callable[..., Friend]
) -> None:
    one = seat(
        *PYTHON, "while True: print('got', input('> '), flush=True)", options=("--name", "lea")
    )
    wait_for(lambda: termios.tcgetattr(one.its) != one.before, "the raw terminal")
    tester = friend("tester")
    sent = tester.send("lea", "a message of some length")
    one.shows(b"a message of")
    one.keys(b"mine\r")
    one.shows(b"got mine")
    assert b"a message of some length\r\n" in one.seen
    wait_for(lambda: (sent.id, "injected") in tester.receipts, "the receipt")
