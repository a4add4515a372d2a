"""A program in a terminal of its own (a pseudo-terminal), and the terminal of whoever runs it."""

from __future__ import annotations

import array
import contextlib
import errno
import fcntl
import os
import select
import shutil
import signal
import struct
import termios
import tty
from collections.abc import Sequence
from typing import Any, NamedTuple, Self

from tersely.foundation.errors import TerselyError
from tersely.foundation.types import Environment
from tersely.wrap.delivery.injection import TerminalLine

_SIZE_FORMAT = "HHHH"
_DEFAULT_SIZE = (80, 24)
_LOCAL_FLAGS = 3  # their place among the attributes of a terminal
_NOT_FOUND = 127
_SAID_BYTES = 64
MAX_COMMAND_LINE_BYTES = 4_096  # of a program in the foreground
MAX_SEARCHED_PROCESSES = 32  # below a program, for one that waits for what is typed
_CALLS = {
    "x86_64": ({"0"}, {"7", "23", "232", "270", "271", "281"}),
    "aarch64": ({"63"}, {"22", "72", "73"}),
}
# numbers of Linux: read; poll, select, epoll
_READS, _POLLS = _CALLS.get(os.uname().machine, (set[str](), set[str]()))


class TerminalProgram(NamedTuple):
    """A program that runs: its process, the end of its terminal that is ours, and the one that it
    has.
    """

    pid: int
    ours: int
    its: int


def find(word: str, environment: Environment) -> str:
    """The path of a program; raises `program_failed` where there is none."""
    path = shutil.which(word, path=environment.get("PATH"))
    if path is None:
        raise TerselyError(
            "program_failed", f"there is no program {word!r}", "give its path, or install it"
        )
    return path


def start(words: Sequence[str], environment: Environment, user: int | None) -> TerminalProgram:
    """Run a program in a terminal that is as the user's; raises `program_failed` where it cannot be
    run.
    """
    path = find(words[0], environment)
    ours, its = os.openpty()
    attributes = _attributes(user)
    if attributes is not None:
        termios.tcsetattr(its, termios.TCSANOW, attributes)
    set_size(its, *size(user))
    heard, said = os.pipe()
    pid = os.fork()
    if pid == 0:
        _become(path, words, environment, its, said)
    os.close(said)
    with os.fdopen(heard, "rb") as told:
        failure = told.read(_SAID_BYTES)
    if failure:
        os.waitpid(pid, 0)
        os.close(ours)
        os.close(its)
        raise TerselyError(
            "program_failed", f"{words[0]} cannot be run: {os.strerror(int(failure))}"
        )
    os.set_blocking(ours, False)
    return TerminalProgram(pid, ours, its)


def _become(path: str, words: Sequence[str], environment: Environment, its: int, said: int) -> None:
    """In the child: have the terminal and be the program. Does not return."""
    try:
        os.login_tty(its)
        for number in (
            signal.SIGPIPE,
            signal.SIGXFSZ,
            signal.SIGINT,
            signal.SIGQUIT,
            signal.SIGTSTP,
        ):
            signal.signal(number, signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_SETMASK, ())
        os.execve(path, list(words), dict(environment))  # noqa: S606 - what the user has asked for
    except OSError as error:
        os.write(said, str(error.errno).encode())
    finally:
        os._exit(_NOT_FOUND)


def line_of(program: TerminalProgram, waiting_bytes: int) -> TerminalLine:
    """The state of a program's terminal; `waiting_bytes` have not been written to it yet."""
    try:
        flags = termios.tcgetattr(program.its)[_LOCAL_FLAGS]
        unread = array.array("i", [0])
        fcntl.ioctl(program.its, termios.FIONREAD, unread)
    except (OSError, termios.error):
        return TerminalLine(False, True, waiting_bytes)
    reads_lines = bool(flags & termios.ICANON)
    is_read = _is_read(program) if reads_lines else None
    return TerminalLine(reads_lines, bool(flags & termios.ECHO), unread[0] + waiting_bytes, is_read)


def foreground_words(program: TerminalProgram) -> list[str]:
    """The command line of what runs in the foreground of a program's terminal; empty where that is
    not known.
    """
    try:
        with open(f"/proc/{os.tcgetpgrp(program.ours)}/cmdline", "rb") as file:
            words = file.read(MAX_COMMAND_LINE_BYTES).split(b"\0")
    except OSError:
        return []
    return [os.fsdecode(word) for word in words if word]


def _is_read(program: TerminalProgram) -> bool | None:
    """True if a process waits for what is typed; None where the system does not say what processes
    wait for.
    """
    processes = [program.pid]
    if not _READS or _call_of(program.pid, program.pid) is None:
        return None
    name = os.ttyname(program.its)
    for number, pid in enumerate(processes):
        tasks = _listed(f"/proc/{pid}/task")[:MAX_SEARCHED_PROCESSES]
        if any(_waits_for(pid, int(task), name) for task in tasks):
            return True
        children = [
            child for task in tasks for child in _words_of(f"/proc/{pid}/task/{task}/children")
        ]
        processes += map(int, children[: MAX_SEARCHED_PROCESSES - number])
        if number >= MAX_SEARCHED_PROCESSES:
            break
    return False


def _waits_for(pid: int, task: int, terminal: str) -> bool:
    call = _call_of(pid, task)
    if not call or call[0] not in _READS | _POLLS:
        return False
    if call[0] in _POLLS:
        return True
    with contextlib.suppress(OSError):
        return os.readlink(f"/proc/{pid}/fd/{int(call[1], 16)}") == terminal
    return False


def _call_of(pid: int, task: int) -> list[str] | None:
    """The system call in which a thread is, with its arguments; None where the system does not say
    it.
    """
    return _words_of(f"/proc/{pid}/task/{task}/syscall") or None


def _words_of(path: str) -> list[str]:
    try:
        with open(path, encoding="ascii") as file:
            return file.read().split()
    except OSError:
        return []


def _listed(path: str) -> list[str]:
    try:
        return os.listdir(path)
    except OSError:
        return []


def size(user: int | None) -> tuple[int, int]:
    """Columns and rows of a terminal, what is usual where there is none."""
    if user is None:
        return _DEFAULT_SIZE
    try:
        rows, columns, _, _ = struct.unpack(
            _SIZE_FORMAT, fcntl.ioctl(user, termios.TIOCGWINSZ, bytes(8))
        )
    except OSError:
        return _DEFAULT_SIZE
    return (columns, rows) if columns and rows else _DEFAULT_SIZE


def set_size(terminal: int, columns: int, rows: int) -> None:
    """Tell a program's terminal its size; the program hears of a change by SIGWINCH."""
    with contextlib.suppress(OSError):
        fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack(_SIZE_FORMAT, rows, columns, 0, 0))


def _attributes(user: int | None) -> list[Any] | None:
    if user is None:
        return None
    try:
        return termios.tcgetattr(user)
    except termios.error:
        return None


class UserTerminal:
    """The terminal that the wrapper runs in: raw while the program has it, as it was afterwards."""

    def __init__(self, descriptor: int) -> None:
        self.descriptor = descriptor
        self._before = _attributes(descriptor)

    def __enter__(self) -> Self:
        self.take()
        return self

    def __exit__(self, *_: object) -> None:
        self.give_back()

    def take(self) -> None:
        """Have every key passed on as it is typed."""
        if self._before is not None:
            with contextlib.suppress(termios.error):
                tty.setraw(self.descriptor, termios.TCSADRAIN)

    def give_back(self) -> None:
        """As it was."""
        if self._before is not None:
            with contextlib.suppress(termios.error):
                termios.tcsetattr(self.descriptor, termios.TCSADRAIN, self._before)


def can_be_read(descriptor: int) -> bool:
    """True if there is something to be read."""
    return bool(select.select([descriptor], [], [], 0)[0])


def read(descriptor: int, size: int) -> bytes | None:
    """The bytes that there are to be read; empty at the end, None if there is nothing yet."""
    try:
        return os.read(descriptor, size)
    except BlockingIOError:
        return None
    except OSError as error:
        if error.errno == errno.EIO:  # nobody has the other end any more
            return b""
        raise
