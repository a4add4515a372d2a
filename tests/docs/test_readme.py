"""What the documents say is so: commands run, links lead somewhere, tables are those of the
program.
"""

from __future__ import annotations

import dataclasses
import re
import shlex
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tersely.cli.commands import COMMANDS, find_command
from tersely.cli.help.overview import OWN_COMMANDS
from tersely.cli.main import main
from tersely.code.languages.registry import document_language_of, language_of_path
from tersely.daemon import lifecycle
from tersely.foundation import errors, settings
from tools import build_commands_page

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text("utf-8")
COMMANDS_PAGE = (ROOT / "docs" / "commands.md").read_text("utf-8")
SETTINGS_PAGE = (ROOT / "docs" / "settings.md").read_text("utf-8")
LANGUAGES_PAGE = (ROOT / "docs" / "languages.md").read_text("utf-8")
SOURCES = ROOT / "src" / "tersely"
# What the examples name; the rest of the sources would be asked as well, for minutes.
NAMED = [
    *SOURCES.glob("*.py"),
    *(
        path
        for room in ("foundation", "code/flow", "code/index")
        for path in (SOURCES / room).rglob("*.py")
    ),
]
DOCUMENTS = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/*.md")])

SESSIONS = re.findall(r"^```console\n(.*?)^```$", README + COMMANDS_PAGE, re.MULTILINE | re.DOTALL)
# In a session a refusal follows its command; in the table every command succeeds.
REFUSED = re.compile(r'^(\w+: .*|\{"ok":false.*)')
EXAMPLES = re.findall(r"\| `tersely ([^`]+)` \|$", README + COMMANDS_PAGE, re.MULTILINE)
PYTHON = re.findall(r"^```python\n(.*?)^```$", COMMANDS_PAGE, re.MULTILINE | re.DOTALL)


def asked(session: str) -> list[tuple[str, bool]]:
    """(words, whether an answer is shown) of each command of ours in a session."""
    parts = re.split(r"^\$ ", session, flags=re.MULTILINE)[1:]
    lines = [part.partition("\n") for part in parts]
    return [
        (command.removeprefix("tersely "), not REFUSED.match(shown))
        for command, _, shown in lines
        if command.startswith("tersely ")
    ]


SHOWN = [question for session in SESSIONS for question in asked(session)]
QUESTIONS = list(dict.fromkeys([*((example, True) for example in EXAMPLES), *SHOWN]))


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the sources that examples name, with something that is not committed, indexed
    once.
    """
    root = tmp_path_factory.mktemp("documents") / "tersely"
    for path in NAMED:
        copied = root / "src" / path.relative_to(ROOT / "src")
        copied.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(path, copied)
    who = ["-c", "user.name=n", "-c", "user.email=e@example.org", "-c", "commit.gpgsign=false"]
    for words in (["init", "-q"], ["add", "-A"], [*who, "commit", "-q", "-m", "m"]):
        subprocess.run(["git", *words], cwd=root, check=True)
    (root / "notes.txt").write_text("a note\n", "utf-8")
    (root / "lcov.info").write_text("SF:src/tersely/__main__.py\nDA:10,1\nend_of_record\n", "utf-8")
    assert main(["index", "--quiet", "--root", str(root)]) == 0
    return root


@pytest.fixture
def here(copy: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The copy as the current directory, without anybody's settings; a daemon that is started ends
    with the test.
    """
    for variable in (
        "NO_COLOR",
        "TERSELY_DEBUG",
        *(f"TERSELY_{name.upper()}" for name in settings._KNOWN),
    ):
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.chdir(copy)
    with tempfile.TemporaryDirectory(prefix="tersely-") as runtime:
        monkeypatch.setenv("XDG_RUNTIME_DIR", runtime)
        monkeypatch.setenv("TMPDIR", runtime)
        yield copy
        lifecycle.stop(str(copy))


def test_the_readme_is_short() -> None:
    assert len(README.splitlines()) <= 130


def test_the_readmes_commands_answer_in_a_repository_of_the_readers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    examples = re.findall(r"\| `tersely ([^`]+)` \|$", README, re.MULTILINE)
    assert examples
    source = tmp_path / "config.py"
    source.write_text("def read_configuration(path):\n    return open(path).read()\n", "utf-8")
    who = ["-c", "user.name=n", "-c", "user.email=e@example.org", "-c", "commit.gpgsign=false"]
    for words in (["init", "-q"], ["add", "-A"], [*who, "commit", "-q", "-m", "m"]):
        subprocess.run(["git", *words], cwd=tmp_path, check=True)
    source.write_text(source.read_text("utf-8").replace("path", "place"), "utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("TERSELY_DAEMON", "off")
    ended = {words: main(shlex.split(words)) for words in examples}
    assert set(ended.values()) == {errors.EXIT_OK}, (ended, capsys.readouterr().err)


def test_the_tables_of_commands_are_those_of_the_program() -> None:
    assert build_commands_page.page() == COMMANDS_PAGE, (
        "python -m tools.build_commands_page writes them anew"
    )


def test_there_is_an_example_of_every_command() -> None:
    shown = {
        find_command(shlex.split(words))[0].name
        for words in EXAMPLES
        if words.split()[0] not in OWN_COMMANDS
    }
    named = set(
        re.findall(r"`([a-z -]+)`", "".join(re.findall(r"^\|[^|]*\|", COMMANDS_PAGE, re.MULTILINE)))
    )
    assert {command.name for command in COMMANDS} | set(OWN_COMMANDS) <= named
    assert {command.name for command in COMMANDS} <= shown


@pytest.mark.parametrize(("words", "answered"), QUESTIONS, ids=[words for words, _ in QUESTIONS])
def test_commands_end_as_shown(
    here: Path, capsys: pytest.CaptureFixture[str], words: str, answered: bool
) -> None:
    status = main(shlex.split(words))
    printed = capsys.readouterr()
    assert status == (errors.EXIT_OK if answered else errors.EXIT_NEGATIVE), printed.err
    assert printed.out or not answered


def test_the_python_example_prints_what_is_shown(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert len(PYTHON) == 1
    exec(compile(PYTHON[0], "commands.md", "exec"), {"__name__": "example"})
    *callers, last = capsys.readouterr().out.splitlines()
    assert callers
    assert all(line in COMMANDS_PAGE for line in callers)
    assert re.fullmatch(r"\d+ of 300 tokens at revision \w+", last)


def test_the_table_of_exit_codes_is_that_of_the_program() -> None:
    shown = {int(status) for status in re.findall(r"^\| (\d+) \|", COMMANDS_PAGE, re.MULTILINE)}
    assert shown == {
        status for name, status in vars(errors).items() if re.fullmatch(r"EXIT_(?!OF)\w+", name)
    }


def test_the_table_of_settings_is_that_of_the_program() -> None:
    rows = re.findall(r"^\| `(\w+)` \| `(\w+)` \| (\S+) \|", SETTINGS_PAGE, re.MULTILINE)
    given = dataclasses.asdict(settings.Settings())
    assert [(name, float(shown) if shown.isdecimal() else shown) for name, _, shown in rows] == [
        (name, given[name]) for name in settings._KNOWN
    ]
    assert [variable for name, variable, _ in rows if variable != f"TERSELY_{name.upper()}"] == []


def test_the_table_of_languages_says_which_files_are_whose() -> None:
    rows = re.findall(r"^\| ([a-z]+)[^|]* \| ((?:`\.\S+` ?)+) \|", LANGUAGES_PAGE, re.MULTILINE)
    listed = {
        suffix: name for name, suffixes in rows for suffix in re.findall(r"`(\S+)`", suffixes)
    }
    assert listed
    assert {
        suffix: (document_language_of(suffix) or language_of_path(f"a{suffix}") or "").removesuffix(
            "_interface"
        )
        for suffix in listed
    } == listed


@pytest.mark.parametrize("document", DOCUMENTS, ids=[path.name for path in DOCUMENTS])
def test_links_lead_somewhere(document: Path) -> None:
    text = re.sub(r"^```.*?^```$", "", document.read_text("utf-8"), flags=re.MULTILINE | re.DOTALL)
    links = [link for link in re.findall(r"\]\(([^)\s]+)\)", text) if "://" not in link]
    broken = [link for link in links if not (document.parent / link.partition("#")[0]).exists()]
    assert broken == []
    anchors = [link for link in links if "#" in link]
    pages = {
        link: document.parent / link.partition("#")[0] if link[0] != "#" else document
        for link in anchors
    }
    assert [link for link, page in pages.items() if not has_heading(page, link)] == []


def has_heading(path: Path, link: str) -> bool:
    headings = re.findall(r"^#+ (.*)$", path.read_text("utf-8"), re.MULTILINE)
    return link.partition("#")[2] in {
        re.sub(r"[^\w -]", "", heading).lower().replace(" ", "-") for heading in headings
    }


def test_paths_of_the_architecture_exist() -> None:
    text = (ROOT / "ARCHITECTURE.md").read_text("utf-8")
    homes = [
        ROOT,
        ROOT / "src" / "tersely",
        *(path for path in (ROOT / "src" / "tersely").rglob("*") if path.is_dir()),
    ]
    named = set(re.findall(r"`([\w/]+\.py)`", text))
    assert named
    assert [
        path for path in sorted(named) if not any((home / path).exists() for home in homes)
    ] == []
