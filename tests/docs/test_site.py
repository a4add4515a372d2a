"""The site of docs/: built strictly, loading nothing from elsewhere; its entry pages say what is so."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest
import yaml
from tests.repositories import initialized
from tools.site_hooks import on_page_markdown

from tersely.capabilities.declaration.binding import read_words
from tersely.cli.commands import find_command
from tersely.cli.help.overview import OWN_COMMANDS
from tersely.cli.main import main
from tersely.cli.options import OPTIONS

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
GOALS = ("give-context", "let-agents-talk", "ask-by-hand", "chat", "embed")
TEXTS = {name: (DOCS / f"{name}.md").read_text("utf-8") for name in ("index", *GOALS)}
MAX_SENTENCE_WORDS = 30
FILES = re.findall(r"^```python (\S+)\n(.*?)^```$", TEXTS["ask-by-hand"], re.MULTILINE | re.DOTALL)
BLOCKS = {
    name: re.findall(r"^```console\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    for name, text in TEXTS.items()
}
TYPED = [
    (name, line.removeprefix("$ tersely "))
    for name, blocks in BLOCKS.items()
    for block in blocks
    for line in block.splitlines()
    if line.startswith("$ tersely ")
]
ASKED = [
    (shlex.split(command), shown)
    for block in BLOCKS["ask-by-hand"]
    for part in re.split(r"^\$ tersely ", block, flags=re.MULTILINE)[1:]
    for command, _, shown in [part.partition("\n")]
]
LOADED = re.compile(r"""<(?:script|img|iframe|link)\b[^>]*?\b(?:src|href)=["']?(https?:)?//""")


def prose(text: str) -> str:
    """A page without blocks, tables and headings, its links as their text."""
    text = re.sub(r"^```.*?^```$", "\n", text, flags=re.MULTILINE | re.DOTALL)
    text = re.sub(r"^(\||#|!\[).*$", "\n", text, flags=re.MULTILINE)
    return re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", text)


@pytest.mark.slow
@pytest.mark.skipif(find_spec("mkdocs") is None, reason="MkDocs is not installed")
def test_the_site_is_built_strictly_and_loads_nothing_from_elsewhere(tmp_path: Path) -> None:
    words = ["-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", str(tmp_path)]
    built = subprocess.run(
        [sys.executable, *words], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert built.returncode == 0, built.stdout + built.stderr
    pages = list(tmp_path.rglob("*.html"))
    assert len(pages) > len(list(DOCS.glob("*.md")))
    assert [page for page in pages if LOADED.search(page.read_text("utf-8"))] == []
    assert (tmp_path / "search" / "search_index.json").stat().st_size > 0


def test_every_page_stands_in_the_navigation_once() -> None:
    text = (ROOT / "mkdocs.yml").read_text("utf-8")
    listed = re.findall(r"[\w-]+\.md$", text, re.MULTILINE)
    assert sorted(listed) == sorted(path.name for path in DOCS.glob("*.md"))
    assert yaml.safe_load(text)["theme"]["font"] is False


@pytest.mark.parametrize("name", GOALS)
def test_each_goal_has_a_session_three_recipes_and_its_limits(name: str) -> None:
    headings = re.findall(r"^## (.*)$", TEXTS[name], re.MULTILINE)
    assert headings == ["What you type and see", "Recipes", "Limits"]
    assert len(re.findall(r"^### ", TEXTS[name], re.MULTILINE)) >= 3
    assert f"{name}.md" in TEXTS["index"]


@pytest.mark.parametrize("name", TEXTS)
def test_no_sentence_is_long(name: str) -> None:
    sentences = re.split(r"[.:?!](?:\s+|$)|\n\n+", prose(TEXTS[name]))
    assert [one for one in sentences if len(one.split()) > MAX_SENTENCE_WORDS] == []


@pytest.mark.parametrize(
    ("name", "words"), TYPED, ids=[f"{name}: {words}" for name, words in TYPED]
)
def test_commands_of_the_goals_can_be_typed(name: str, words: str) -> None:
    typed = shlex.split(words)
    if name == "let-agents-talk" or typed[0] in OWN_COMMANDS or typed[0] == "-p":
        about = [] if typed[0] == "-p" else typed[:1]
        assert main(["help", *about]) == 0
        return
    command, rest = find_command(typed)
    read_words((*OPTIONS, *command.parameters()), rest)


@pytest.mark.parametrize(("words", "shown"), ASKED, ids=[" ".join(words) for words, _ in ASKED])
def test_questions_are_answered_as_shown(
    words: list[str],
    shown: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    root = tmp_path / "shop"
    for path, content in FILES:
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(content, "utf-8")
    initialized(root)
    monkeypatch.chdir(root)
    monkeypatch.setenv("TERSELY_DAEMON", "off")
    assert main(words) == 0
    printed = capsys.readouterr().out
    assert printed.strip()
    assert not shown or printed.strip() == shown.strip()


def test_files_outside_are_named_and_blocks_have_titles() -> None:
    page = "see [the map](../ARCHITECTURE.md#the-map) and [packs](packs.md)\n\n```ts src/a.ts\nx\n```\n"
    fitted = 'see the map and [packs](packs.md)\n\n```ts title="src/a.ts"\nx\n```\n'
    assert on_page_markdown(page) == fitted
