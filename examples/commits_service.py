"""A complete service: what git knows of a file, for whoever asks the relay.

    tersely up
    python examples/commits_service.py &
    tersely services call commits latest --path README.md --count 3

Any agent that `tersely run` has started asks it by writing a line: `->relay:commits latest --path README.md`.
"""

# ruff: noqa: INP001 - it stands for itself

from __future__ import annotations

import subprocess

from tersely.client.service import Service
from tersely.foundation.errors import TerselyError

service = Service("commits", version="1.0")


@service.method(effect="read")
def latest(path: str = ".", count: int = 10, repository: str = ".") -> list[dict[str, str]]:
    """The latest commits that touched a path."""
    command = [
        "git",
        "-C",
        repository,
        "log",
        f"--max-count={count}",
        "--format=%h%x00%an%x00%s",
        "--",
        path,
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=20)
    if done.returncode:
        raise TerselyError("invalid_argument", done.stderr.strip())
    lines = [line.split("\0") for line in done.stdout.splitlines()]
    return [
        {"commit": commit, "author": author, "subject": subject}
        for commit, author, subject in lines
    ]


if __name__ == "__main__":
    service.run()
