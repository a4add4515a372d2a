"""Figures by group, each group in a process of its own, so that nothing that ran before matters:
`python -m tools.budgets.measure GROUP` prints them as JSON.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path

from tools.budgets.limits import ROOT

# The seed of hashes is left to chance: no figure depends on it.
FIXED = {"TERSELY_DAEMON": "off", "NO_COLOR": "1"}
QUICK = ("nodes", "reads", "walk", "tokens", "modules")
SLOW = ("questions",)


def measured(group: str, root: Path = ROOT) -> dict[str, float]:
    """The figures of a group, measured by a process that knows no user and no settings."""
    with tempfile.TemporaryDirectory() as home:
        places = dict.fromkeys(("HOME", "TERSELY_HOME", "XDG_RUNTIME_DIR", "XDG_CONFIG_HOME"), home)
        kept = {name: os.environ[name] for name in ("PATH", "TMPDIR") if name in os.environ}
        done = subprocess.run(
            [sys.executable, "-m", "tools.budgets.measure", group],
            cwd=root, env={**kept, **places, **FIXED, "PYTHONPATH": f"{root}/src"},
            capture_output=True, text=True, check=False,
        )  # fmt: skip
    if done.returncode:
        raise RuntimeError(f"{group} cannot be measured: {done.stderr.strip()}")
    found: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return found


def is_exact(name: str) -> bool:
    """True if a figure is the same on every machine under this Python: calls and modules of others
    are counted for Python 3.11.
    """
    depends = name.startswith(("walk.", "questions.")) or name.endswith(".all")
    return not depends or sys.version_info[:2] == (3, 11)


def main(words: Sequence[str]) -> None:
    """Print the figures of a group."""
    module = import_module(f"tools.budgets.{words[0]}")
    print(json.dumps(module.figures()))


if __name__ == "__main__":
    main(sys.argv[1:])
