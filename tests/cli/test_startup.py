"""What a command loads before it does anything."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ENTRY = {"__future__", "laconic", "laconic.cli", "laconic.cli.main"}
# Help may load declarations and the vocabulary of symbols; nothing that parses, stores or counts.
HELP_MAY_LOAD = ("laconic.cli", "laconic.capabilities", "laconic.foundation")
HELP_MAY_LOAD_OF_CODE = {"laconic.code", "laconic.code.symbols", "laconic.code.lenses", "laconic.code.lenses.places"}
HEAVY = {
    *("laconic.foundation.database", "laconic.foundation.tokens"),
    *("apsw", "tree_sitter", "argparse", "json", "subprocess", "multiprocessing", "difflib", "tomllib", "asyncio"),
}


def loaded_by(*words: str) -> set[str]:
    """The modules that a command has loaded when it ends."""
    program = (
        "import sys; before = set(sys.modules); from laconic.cli.main import main; "
        f"main({list(words)!r}); print(*(set(sys.modules) - before), sep='\\n', file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    return set(done.stderr.split())


def test_the_version_costs_nothing() -> None:
    assert loaded_by("--version") == ENTRY


@pytest.mark.parametrize("words", [["--help"], ["help", "context"], ["calls", "--help"], ["completion", "bash"]])
def test_help_loads_no_engine(words: list[str]) -> None:
    loaded = loaded_by(*words)
    ours = {name for name in loaded if name.startswith("laconic.") and not name.startswith(HELP_MAY_LOAD)}
    assert ours <= HELP_MAY_LOAD_OF_CODE
    assert loaded & HEAVY == set()


def test_a_command_loads_no_other_capability(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    areas = {"files", "symbols", "graph", "packs", "index"}
    loaded = {name.split(".")[2] for name in loaded_by("stats") if name.startswith("laconic.capabilities.")}
    assert loaded & areas == {"index"}
