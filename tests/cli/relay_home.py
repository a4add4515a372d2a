"""A relay process in a home directory of its own, driven as a user does."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from tersely.cli.main import main

Program = Callable[[Sequence[str]], int]


class Printed(NamedTuple):
    status: int
    out: str
    err: str


class Home:
    """One home; `run` is a command, `ask` the `--json` of it, and `run_apart` a command in a
    process of its own.
    """

    def __init__(self, home: Path, root: Path) -> None:
        self.home = home
        self.root = root
        self.environment = {"TERSELY_HOME": str(home), "TERSELY_DAEMON": "off", "NO_COLOR": "1"}

    def run(self, *words: str, input: str = "", program: Program = main) -> Printed:
        out, err = io.StringIO(), io.StringIO()
        with pytest.MonkeyPatch.context() as patched:
            for name, value in self.environment.items():
                patched.setenv(name, value)
            patched.chdir(self.root)
            patched.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(input.encode())))
            patched.setattr("sys.stdout", out)
            patched.setattr("sys.stderr", err)
            status = program(list(words))
        return Printed(status, out.getvalue(), err.getvalue())

    def run_apart(self, *words: str) -> Printed:
        command = [
            sys.executable,
            "-c",
            "import sys; from tersely.cli.main import main; sys.exit(main())",
            *words,
        ]
        done = subprocess.run(
            command, env={**os.environ, **self.environment}, cwd=self.root, capture_output=True, text=True,
            timeout=120, check=False,
        )  # fmt: skip
        return Printed(done.returncode, done.stdout, done.stderr)

    def ok(self, *words: str, input: str = "") -> str:
        printed = self.run(*words, input=input)
        assert printed.status == 0, printed
        return printed.out

    def ask(self, *words: str) -> Any:
        return json.loads(self.ok(*words, "--json"))["result"]

    def refused(self, *words: str) -> str:
        printed = self.run(*words)
        assert printed.status != 0, printed
        assert "Traceback" not in printed.err
        return printed.err.partition(":")[0]

    def up(self, *words: str) -> Any:
        return self.ask("up", "--port", "0", *words)


@contextmanager
def home_of(home: Path, root: Path) -> Iterator[Home]:
    """A home whose relay is gone at the end."""
    made = Home(home, root)
    try:
        yield made
    finally:
        made.run("down")
