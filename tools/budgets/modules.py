"""What each kind of command loads: modules of ours, and all that it loads beyond what the
interpreter has.

Of the standard library a package counts as one, and what is private to it as none: those differ
between builds of one Python.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

OURS = "tersely"
# Each begins and ends with nothing to read; of servers it is what they load before they are asked.
COMMANDS = {
    "version": "--version",
    "help": "--help",
    "lookup": "symbol get f",
    "callers": "symbol callers f",
    "context": "context f",
    "search": "search f",
    "plan": "plan f",
    "relay": "agents",
    "mcp": "mcp",
    "editors": "lsp",
    "agent": "acp",
}
SOURCE = 'def f():\n    """Do it.\n\n    Soon.\n    """\n\n\ndef g():\n    f()\n'
REFUSED = {"relay"}  # nobody serves one here
PROGRAM = "import sys; from tersely.cli.main import main; sys.exit(main())"
COMPILING = (
    "unicodedata"  # loaded when a source that is not ASCII is compiled, so only the first time
)
SAID = "import time:"  # how the interpreter begins the line of each module that it loads


def figures() -> dict[str, float]:
    """The number of modules by kind of command, in a small repository whose index is fresh."""
    found: dict[str, float] = {}
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder, "repository")
        root.mkdir()
        (root / "a.py").write_text(SOURCE, encoding="utf-8")
        loaded(PROGRAM, "index", root)
        before = loaded("pass", "", root)
        for kind, words in COMMANDS.items():
            status = int(kind in REFUSED)
            names = set(filter(_is_counted, loaded(PROGRAM, words, root, status) - before))
            found[f"modules.{kind}.own"] = sum(name.partition(".")[0] == OURS for name in names)
            found[f"modules.{kind}.all"] = len(names)
    return found


def loaded(program: str, words: str, root: Path, status: int = 0) -> set[str]:
    """The modules that a program with some words loads in a folder. Raises `RuntimeError` when it ends
    with another status.
    """
    done = subprocess.run(
        [sys.executable, "-X", "importtime", "-c", program, *words.split()],
        cwd=root,
        env={**os.environ, "TERSELY_HOME": f"{root}-home", "TERSELY_DAEMON": "off"},
        input="", capture_output=True, text=True, check=False,
    )  # fmt: skip
    if done.returncode != status:
        said = "\n".join(line for line in done.stderr.splitlines() if not line.startswith(SAID))
        raise RuntimeError(f"{words or program!r} ends with {done.returncode}: {said}")
    lines = [line for line in done.stderr.splitlines() if line.startswith(SAID)]
    return {line.rpartition("|")[2].strip() for line in lines[1:]}


def _is_counted(name: str) -> bool:
    package, _, inside = name.partition(".")
    if name == COMPILING:
        return False
    return package not in sys.stdlib_module_names or not (inside or package.startswith("_"))
