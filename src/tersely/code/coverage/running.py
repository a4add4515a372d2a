"""Running a program for its coverage: its output, exit status and coverage are kept beside the
index.

The program is the user's, run as the user would: with its words as typed, without a shell, in the
environment of the user. Tests that pytest runs, however it is started, are recorded one by one
(`recorder.py`), by a plugin that is named in the environment. Any other program writes its own
coverage, to a place that the caller names.
"""

from __future__ import annotations

import json
import os
import shlex
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import IO

from tersely.foundation.clock import Stopwatch, wall_ms
from tersely.foundation.errors import TerselyError
from tersely.foundation.process.detached import kill_session
from tersely.foundation.process.pipes import is_readable
from tersely.foundation.text.shortening import KeptOutput
from tersely.foundation.types import frozen

RUN_SECONDS = 3_600  # for a program that is run for its coverage
MAX_RUN_OUTPUT_BYTES = 4_000_000  # kept of the program's output, half of it from the end
MAX_KEPT_RUNS = 5
RUNS = "runs"  # the folder beside the index
OUTPUT, DATA, RESULTS, HASHES = "output.txt", "coverage", "junit.xml", "files.json"
PLUGIN = "tersely_recorder"
_CHUNK_BYTES = 65_536
_DATA_VARIABLE, _ROOT_VARIABLE = "TERSELY_RECORDER_DATA", "TERSELY_RECORDER_ROOT"


@frozen
class Run:
    """A run of tests: its command, exit status, and the folder with its files."""

    command: str
    exit_status: int
    seconds: float
    folder: Path

    @property
    def output(self) -> Path:
        """The file with the program's output; the middle of a long output is left out."""
        return self.folder / OUTPUT

    @property
    def data(self) -> list[Path]:
        """The files with recorded lines, one for each process."""
        return sorted(self.folder.glob(f"{DATA}.*"))

    @property
    def results(self) -> Path | None:
        """The file of the tests' outcomes, None if pytest wrote none."""
        path = self.folder / RESULTS
        return path if path.is_file() else None


def run(
    command: str,
    root: Path,
    beside: Path,
    hashes: Mapping[str, str],
    environment: Mapping[str, str],
) -> Run:
    """Run a program in a repository and wait for it. Raises `program_failed` if it cannot be
    started or exceeds its time limit.

    `hashes` has the content hash of each file; it is kept to decide later whether the recorded
    lines are still valid.
    """
    words = _words(command)
    folder = _new_folder(beside / RUNS)
    plugins = folder / "plugin"
    plugins.mkdir()
    shutil.copyfile(Path(__file__).with_name("recorder.py"), plugins / f"{PLUGIN}.py")
    (folder / HASHES).write_text(json.dumps(dict(hashes)), "utf-8")
    watch = Stopwatch()
    status = _wait(words, root, folder / OUTPUT, _environment(environment, folder, plugins, root))
    shutil.rmtree(plugins, ignore_errors=True)
    return Run(command, status, watch.seconds(), folder)


def _words(command: str) -> list[str]:
    try:
        words = shlex.split(command)
    except ValueError as error:
        raise TerselyError("invalid_argument", f"the command cannot be read: {error}") from error
    if not words:
        raise TerselyError(
            "invalid_argument",
            "the command to run is empty",
            'write it in quotes: --run "pytest -q"',
        )
    return words


def _new_folder(runs: Path) -> Path:
    """A folder of its own; the oldest ones make room."""
    try:
        if runs.is_symlink():
            raise OSError(f"{runs.name} is a symbolic link")
        runs.mkdir(exist_ok=True)
        kept = sorted(path for path in runs.iterdir() if path.is_dir() and not path.is_symlink())
        for old in kept[: max(0, len(kept) - MAX_KEPT_RUNS + 1)]:
            shutil.rmtree(old, ignore_errors=True)
        folder = runs / f"{wall_ms():015d}-{os.getpid()}"
        folder.mkdir()
    except OSError as error:
        raise TerselyError("unwritable_output", f"the run cannot be kept: {error}") from error
    return folder


def _environment(
    given: Mapping[str, str], folder: Path, plugins: Path, root: Path
) -> dict[str, str]:
    """The environment with the plugin of pytest added; other programs ignore it."""
    path = os.pathsep.join(filter(None, [str(plugins), given.get("PYTHONPATH", "")]))
    options = f"-p {PLUGIN} {shlex.quote(f'--junitxml={folder / RESULTS}')}"
    return {
        **given,
        "PYTHONPATH": path,
        "PYTEST_ADDOPTS": f"{given.get('PYTEST_ADDOPTS', '')} {options}".strip(),
        _DATA_VARIABLE: str(folder / DATA),
        _ROOT_VARIABLE: str(root),
    }


def _wait(words: list[str], root: Path, output: Path, environment: Mapping[str, str]) -> int:
    try:
        program = subprocess.Popen(
            words, cwd=root, env=dict(environment), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, start_new_session=True,
        )  # fmt: skip
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or str(error)
        raise TerselyError("program_failed", f"{words[0]} cannot be run: {why}") from error
    assert program.stdout is not None
    try:
        is_done = _keep(program.stdout, output)
        if not is_done:
            raise TerselyError(
                "program_failed",
                f"the program ran for more than {RUN_SECONDS:,} seconds",
                str(output),
            )
        return program.wait()
    finally:
        program.stdout.close()
        if program.poll() is None:
            kill_session(program)
            program.wait()


def _keep(stream: IO[bytes], output: Path) -> bool:
    """Write output to a file up to the bound, half of it from the end. False if the time limit is
    exceeded.
    """
    watch, kept, is_open = Stopwatch(), KeptOutput(MAX_RUN_OUTPUT_BYTES), True
    try:
        while is_open and is_readable(stream.fileno(), RUN_SECONDS - watch.seconds()):
            chunk = os.read(stream.fileno(), _CHUNK_BYTES)
            kept.add(chunk)
            is_open = bool(chunk)
    finally:
        output.write_bytes(kept.content())
    return not is_open
