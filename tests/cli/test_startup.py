"""What a command loads before it does anything."""

from __future__ import annotations

import os
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

from tersely import capabilities
from tersely.cli.builtin.builtin_commands import own_parameters
from tersely.cli.commands import COMMANDS
from tersely.cli.help.manual import synopsis
from tersely.cli.help.overview import OWN_COMMANDS, RELAY, RELAY_COMMANDS, SECTIONS, TALK
from tersely.cli.own_command import commands_of
from tersely.cli.relay import table

ENTRY = {"__future__", "tersely", "tersely.cli", "tersely.cli.main"}
# Help may load declarations and the vocabulary of symbols; nothing that parses, stores or counts.
HELP_MAY_LOAD = ("tersely.cli", "tersely.capabilities", "tersely.foundation")
HELP_MAY_LOAD_OF_CODE = {
    *("tersely.code", "tersely.code.symbols", "tersely.code.places"),
    *("tersely.context.pack", "tersely.context.pack.brief", "tersely.context.pack.brief.zoom"),
}
HEAVY = {
    *("tersely.foundation.storage.database", "tersely.foundation.text.tokens"),
    *(
        "apsw",
        "tree_sitter",
        "argparse",
        "json",
        "subprocess",
        "multiprocessing",
        "difflib",
        "tomllib",
        "asyncio",
    ),
}


# A lookup in an index that is fresh reads rows: it computes no graph, parses nothing, counts
# nothing, starts nothing.
LOOKUP_MAY_LOAD_OF_CODE = {
    *("tersely.code", "tersely.code.bounds", "tersely.code.engine"),
    *("tersely.code.places", "tersely.code.symbols"),
    *("tersely.code.languages", "tersely.code.languages.registry"),
    *("tersely.code.index", "tersely.code.index.building", "tersely.code.index.building.jobs"),
    *(
        f"tersely.code.index.{name}"
        for name in "content fingerprint qualified_names refresh scan storage unread".split()
    ),
    *(f"tersely.code.index.storage.{name}" for name in ("lookup", "schema", "store", "writer")),
    *("tersely.context.pack", "tersely.context.pack.excerpt"),
    *(f"tersely.context.pack.delta{name}" for name in ("", ".deltas", ".etag", ".sessions")),
    *(
        f"tersely.code.index.listing{name}"
        for name in ("", ".git", ".gitignore", ".home", ".ignore", ".running")
    ),
}
LOOKUP_HEAVY = HEAVY - {"tersely.foundation.storage.database", "apsw"}


def loaded_by(*words: str) -> set[str]:
    """The modules that a command has loaded when it ends."""
    program = (
        "import sys; before = set(sys.modules); from tersely.cli.main import main; "
        f"main({list(words)!r}); print(*(set(sys.modules) - before), sep='\\n', file=sys.stderr)"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    return set(done.stderr.split())


def test_the_version_costs_nothing() -> None:
    assert loaded_by("--version") == ENTRY


@pytest.mark.parametrize(
    "words", [["--help"], ["help", "context"], ["calls", "--help"], ["completion", "bash"]]
)
def test_help_loads_no_engine(words: list[str]) -> None:
    loaded = loaded_by(*words)
    ours = {
        name
        for name in loaded
        if name.startswith("tersely.") and not name.startswith(HELP_MAY_LOAD)
    }
    assert ours <= HELP_MAY_LOAD_OF_CODE
    assert loaded & HEAVY == set()


def test_the_overview_loads_no_declaration_of_a_capability() -> None:
    folders = {path.name for path in Path(capabilities.__file__).parent.iterdir() if path.is_dir()}
    areas = folders - {"declaration", "answers"}
    assert {name for name in loaded_by("--help") if name.startswith("tersely.capabilities.")} & {
        f"tersely.capabilities.{area}" for area in areas
    } == set()


def test_the_overview_says_what_the_declarations_say() -> None:
    shown = {name: row for section in SECTIONS.values() for name, row in section.items()}
    declared = {
        command.name: (synopsis(command).removeprefix(command.name).lstrip(), command.line())
        for command in COMMANDS
    }
    assert declared == shown


@pytest.mark.parametrize("module", table.MODULES)
def test_the_table_of_the_relay_lists_what_its_modules_declare(module: str) -> None:
    declared = commands_of(import_module(f"tersely.cli.relay.{module}"))
    assert tuple(command.name for command in declared) == table.MODULES[module]


def test_the_overview_of_the_relay_says_what_its_commands_declare() -> None:
    declared = {command.words: command.line() for command in table.every()}
    shown = {word: line for word, (_, line) in RELAY_COMMANDS.items() if word != RELAY}
    assert shown == {word: declared[word,] for word in shown}
    assert [name for name in OWN_COMMANDS if own_parameters(name) is None] == [TALK]


def test_a_command_loads_no_other_capability(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    areas = {"files", "symbols", "graph", "packs", "index"}
    loaded = {
        name.split(".")[2]
        for name in loaded_by("stats")
        if name.startswith("tersely.capabilities.")
    }
    assert loaded & areas == {"index"}


def test_a_lookup_loads_neither_graph_nor_grammars(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "a.py").write_text("def f(): ...\n")
    monkeypatch.chdir(tmp_path)
    loaded_by("index")
    loaded = loaded_by("symbol", "get", "f")
    assert {name for name in loaded if name.startswith("tersely.code")} <= LOOKUP_MAY_LOAD_OF_CODE
    assert loaded & LOOKUP_HEAVY == set()


def test_a_changed_file_loads_its_own_language_only(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "a.py").write_text("def f(): ...\n")
    monkeypatch.chdir(tmp_path)
    loaded = loaded_by("symbol", "get", "f")
    languages = {
        name.rpartition(".")[2] for name in loaded if name.startswith("tersely.code.languages.")
    }
    others = {name for name in languages if not name.startswith("python")}
    rules = {"children", "conditions", "model", "nodes", "parts", "roles", "tables"}
    assert others == {"registry", "summaries"} | rules
    assert not any(name.startswith("tersely.code.graph") for name in loaded)


WITHOUT_PACKAGES = """
import sys
for name in ("httpcore2", "markdown_it", "textual", "msgspec", "starlette", "uvicorn", "uvloop", "numpy"):
    sys.modules[name] = None
from tersely.cli.main import main
for line in sys.stdin.read().splitlines():
    print(main(line.split()), file=sys.stderr)
"""


def test_a_missing_package_is_a_damaged_installation(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("def f(): ...\n")
    asked = [
        "agents",
        "send ann hello",
        "services",
        "sessions",
        "chat -p hello",
        "search f --no-refresh",
    ]
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT_PACKAGES],
        input="\n".join(asked),
        cwd=tmp_path,
        env={**os.environ, "TERSELY_HOME": str(tmp_path / "home"), "TERSELY_DAEMON": "off"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout == ""
    said = done.stderr.splitlines()
    assert said[2::3] == ["3"] * len(asked)
    assert {line.partition(":")[0] for line in said[::3]} == {"damaged_installation"}
    assert {line.partition(":")[0] for line in said[1::3]} == {"hint"}


def test_a_process_that_has_answered_frees_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "a.py").write_text("def f(): ...\n")
    monkeypatch.chdir(tmp_path)
    program = (
        "import atexit; from tersely.cli.main import main; "
        "atexit.register(print, 'freed'); raise SystemExit(main())"
    )
    for name, status, answer in (("f", 0, "a.py:f"), ("g", 1, "")):
        done = subprocess.run(
            [sys.executable, "-c", program, "symbol", "get", name],
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == status
        assert done.stdout.startswith(answer)
        assert "freed" not in done.stdout
