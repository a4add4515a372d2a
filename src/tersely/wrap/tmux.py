"""A session of tmux with the wrapper in it, as it would run in any other terminal.

tmux does not tell how a program ended, nor why it did not begin. The wrapper inside writes both to
a file.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from tersely.foundation.clock import Stopwatch
from tersely.foundation.errors import EXIT_OF_CODE, TerselyError
from tersely.foundation.types import Environment, JsonMapping, JsonObject

WRAPPER_START_SECONDS = 30.0  # for a program to run in a session of tmux
REPORT_VARIABLE = "TERSELY_RUN_REPORT"
_LOOK_SECONDS = 0.05
# all else tmux has itself
_PASSED = re.compile(r"TERSELY_\w+|AGENT_RELAY_\w+|PATH|PYTHONPATH|VIRTUAL_ENV|HOME")
_REPORT_BYTES = 10_000


class RunReport(NamedTuple):
    """The file in which the wrapper says how it is; None if nobody waits for it."""

    path: Path | None

    @classmethod
    def of(cls, environment: Environment) -> RunReport:
        """That which the environment names."""
        given = environment.get(REPORT_VARIABLE, "")
        return cls(Path(given) if given else None)

    def runs(self) -> None:
        """The program runs."""
        self._write({"runs": True})

    def ended(self, status: int) -> None:
        """The program has ended."""
        self._write({"runs": True, "status": status})

    def failed(self, error: TerselyError) -> None:
        """The program was not run."""
        self._write({"code": error.code, "message": error.message, "hint": error.hint})

    def read(self) -> JsonObject:
        """The values that were said last."""
        assert self.path is not None
        with self.path.open("rb") as file:
            told = file.read(_REPORT_BYTES)
        return dict(json.loads(told)) if told else {}

    def _write(self, told: JsonMapping) -> None:
        if self.path is not None and self.path.exists():
            beside = self.path.with_suffix(".new")
            beside.write_text(json.dumps(told))
            beside.replace(self.path)


class TmuxEnd(NamedTuple):
    """The outcome of a session: the exit status of its program, None while that runs."""

    session: str
    status: int | None


def run(
    name: str, words: Sequence[str], environment: Environment, size: tuple[int, int]
) -> TmuxEnd:
    """Have words run in a new session; return when they have ended, or nobody is attached.

    Raises `program_failed` where there is no tmux, `name_taken` where there is such a session, and
    what was reported.
    """
    program = shutil.which("tmux")
    if program is None:
        raise TerselyError(
            "program_failed", "tmux is not installed", "without --tmux this terminal is used"
        )
    session = "tersely-" + re.sub(r"[^\w-]", "-", name)
    with tempfile.TemporaryDirectory(prefix="tersely-run-") as directory:
        report = RunReport(Path(directory) / "report")
        assert report.path is not None
        report.path.touch(0o600)
        _begin(program, session, words, {**environment, REPORT_VARIABLE: str(report.path)}, size)
        _wait(program, session, report)
        if os.isatty(0):
            _attach(program, session)
        told = report.read()
    return TmuxEnd(session, told.get("status"))


def _begin(
    program: str,
    session: str,
    words: Sequence[str],
    environment: Environment,
    size: tuple[int, int],
) -> None:
    passed = [
        part
        for name in environment
        if _PASSED.fullmatch(name)
        for part in ("-e", f"{name}={environment[name]}")
    ]
    command = [program, "new-session", "-d", "-s", session, "-x", str(size[0]), "-y", str(size[1])]
    begun = subprocess.run(
        [*command, "-c", str(Path.cwd()), *passed, "--", *words],
        capture_output=True,
        text=True,
        check=False,
    )
    if begun.returncode:
        said = " ".join(begun.stderr.split())
        code = "name_taken" if "duplicate session" in said else "program_failed"
        raise TerselyError(
            code, f"tmux: {said}", f"tmux attach -t {session} shows the one there is"
        )


def _wait(program: str, session: str, report: RunReport) -> None:
    """Return when the program runs; raises what the wrapper inside reports."""
    watch = Stopwatch()
    while watch.seconds() < WRAPPER_START_SECONDS:
        told = report.read()
        if "runs" in told:
            return
        if "code" in told:
            code = told["code"] if told["code"] in EXIT_OF_CODE else "program_failed"
            raise TerselyError(code, told["message"], told["hint"])
        if not is_running(program, session) and not report.read():
            break
        time.sleep(_LOOK_SECONDS)
    raise TerselyError("program_failed", f"nothing runs in the session {session}")


def is_running(program: str, session: str) -> bool:
    """True if there is such a session."""
    asked = subprocess.run(
        [program, "has-session", "-t", f"={session}"], capture_output=True, check=False
    )
    return asked.returncode == 0


def _attach(program: str, session: str) -> None:
    verb = "switch-client" if os.environ.get("TMUX") else "attach-session"
    subprocess.run([program, verb, "-t", f"={session}"], check=False)
