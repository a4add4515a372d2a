"""The site of docs/: built strictly, loading nothing from elsewhere; its entry pages say what is so."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
import threading
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from importlib.util import find_spec
from pathlib import Path

import pytest
import yaml
from tests.doors.http import chromium
from tests.repositories import initialized
from tools.site_hooks import on_page_content, on_page_markdown, on_post_page

from tersely.capabilities.declaration.binding import read_words
from tersely.cli.commands import COMMANDS, find_command
from tersely.cli.help.overview import OWN_COMMANDS, RELAY, RELAY_COMMANDS
from tersely.cli.main import main
from tersely.cli.options import OPTIONS
from tersely.cli.relay import table

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
GOALS = ("give-context", "let-agents-talk", "ask-by-hand", "chat", "embed")
# of the same form, one step further
FURTHER = (
    "agent-models", "agent-tools", "editors", "mcp", "messages", "packs", "relay", "remote", "search", "talk",
    "wrapper",
)  # fmt: skip
TEXTS = {name: (DOCS / f"{name}.md").read_text("utf-8") for name in ("index", *GOALS, *FURTHER)}
MAX_SENTENCE_WORDS = 30
# read by developers, or made from texts in the sources
OTHER_PAGES = {
    "adding-a-language", "analysis", "decisions", "frameworks", "languages", "tried-and-left-out",
    "twelve-issues",
}  # fmt: skip
USERS_PAGES = sorted(path for path in DOCS.glob("*.md") if path.stem not in OTHER_PAGES)
PAGES = ["", *(f"{path.stem}/" for path in DOCS.glob("*.md") if path.stem != "index")]
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
# `cart.py` of the page, and what is asked about it
CART = re.search(
    r"^```python\n(def total\(prices.*?)^```$", TEXTS["ask-by-hand"], re.MULTILINE | re.DOTALL
)
FLOWS = [
    (shlex.split(command), shown)
    for block in re.findall(r"^```text\n(.*?)^```$", TEXTS["ask-by-hand"], re.MULTILINE | re.DOTALL)
    for part in re.split(r"^\$ tersely ", block, flags=re.MULTILINE)[1:]
    for command, _, shown in [part.partition("\n")]
]
LOADED = re.compile(r"""<(?:script|img|iframe|link)\b[^>]*?\b(?:src|href)=["']?(https?:)?//""")


def prose(text: str) -> str:
    """A page without blocks, tables and headings, its links as their text."""
    text = re.sub(r"^```.*?^```$", "\n", text, flags=re.MULTILINE | re.DOTALL)
    text = re.sub(r"^(\||#|!\[|    ).*$", "\n", text, flags=re.MULTILINE)
    return re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", text)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the site, built."""
    if find_spec("mkdocs") is None:
        pytest.skip("MkDocs is not installed")
    folder = tmp_path_factory.mktemp("site")
    words = ["-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", str(folder)]
    built = subprocess.run(
        [sys.executable, *words], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert built.returncode == 0, built.stdout + built.stderr
    return folder


@pytest.mark.slow
def test_the_site_loads_nothing_from_elsewhere(site: Path) -> None:
    pages = list(site.rglob("*.html"))
    assert len(pages) > len(list(DOCS.glob("*.md")))
    assert [page for page in pages if LOADED.search(page.read_text("utf-8"))] == []
    assert (site / "search" / "search_index.json").stat().st_size > 0


@pytest.mark.slow
@pytest.mark.skipif("AXE_CORE" not in os.environ, reason="AXE_CORE names no axe.min.js")
@pytest.mark.skipif(bool(chromium.missing()), reason=chromium.missing())
@pytest.mark.parametrize(("width", "scheme"), [(390, "light"), (1280, "dark")])
def test_axe_finds_no_error(site: Path, width: int, scheme: str, tmp_path: Path) -> None:
    axe = Path(os.environ["AXE_CORE"]).read_text()
    serve = partial(SimpleHTTPRequestHandler, directory=str(site))
    found = {}
    with (
        ThreadingHTTPServer(("127.0.0.1", 0), serve) as server,
        chromium.browser(tmp_path) as browser,
    ):
        threading.Thread(target=server.serve_forever, daemon=True).start()
        browser.look(width, scheme)
        for page in PAGES:
            browser.go(f"http://127.0.0.1:{server.server_port}/{page}")
            browser.run(f"{axe}; window.axe = axe;")
            errors = browser.run(
                "return axe.run().then(one => one.violations.map(v => [v.id, v.nodes[0].html]))"
            )
            found |= {page: errors} if errors else {}
        server.shutdown()
    assert found == {}


def test_every_page_stands_in_the_navigation_once() -> None:
    text = (ROOT / "mkdocs.yml").read_text("utf-8")
    listed = re.findall(r"[\w-]+\.md$", text, re.MULTILINE)
    assert sorted(listed) == sorted(path.name for path in DOCS.glob("*.md"))
    assert yaml.safe_load(text)["theme"]["font"] is False


@pytest.mark.parametrize("name", [*GOALS, *FURTHER])
def test_each_page_has_a_session_three_recipes_and_its_limits_in_a_table(name: str) -> None:
    text = re.sub(r"^```.*?^```$", "", TEXTS[name], flags=re.MULTILINE | re.DOTALL)
    headings = re.findall(r"^## (.*)$", text, re.MULTILINE)
    assert (*headings[:2], headings[-1]) == ("What you type and see", "Recipes", "Limits")
    recipes, limits = (text.partition(f"\n## {heading}\n")[2] for heading in ("Recipes", "Limits"))
    assert len(re.findall(r"^### ", recipes.partition("\n## ")[0], re.MULTILINE)) >= 3
    assert "\n| limit | what it means for you |\n" in limits


def test_the_first_page_leads_to_each_goal() -> None:
    assert [name for name in GOALS if f"{name}.md" not in TEXTS["index"]] == []


@pytest.mark.parametrize("path", [ROOT / "README.md", *USERS_PAGES], ids=lambda path: path.stem)
def test_no_sentence_is_long(path: Path) -> None:
    ends = r"[.?!](?:\s+|$)|\n\n+|\n *(?:-|\d+\.) "
    sentences = re.split(ends, prose(path.read_text("utf-8")))
    assert [one for one in sentences if len(one.split()) > MAX_SENTENCE_WORDS] == []


def test_no_sentence_of_help_is_long() -> None:
    abouts = [command.capability() for command in COMMANDS]
    texts = [f"{about.summary}. {about.description}" for about in abouts]
    texts += [one.help for command in (*COMMANDS, *table.every()) for one in command.parameters()]
    sentences = [one for text in texts for one in re.split(r"[.?!](?:\s+|$)|\n\n", text)]
    assert [one for one in sentences if len(one.split()) > MAX_SENTENCE_WORDS] == []


@pytest.mark.parametrize(
    ("name", "words"), TYPED, ids=[f"{name}: {words}" for name, words in TYPED]
)
def test_commands_of_the_pages_can_be_typed(name: str, words: str) -> None:
    typed = shlex.split(words.removesuffix("\\"))
    if typed[0] in OWN_COMMANDS or typed[0] == "-p":
        about = [] if typed[0] == "-p" else typed[:1]
        assert main(["help", *about]) == 0
    elif typed[0] in RELAY_COMMANDS:
        check_relay_command(typed[1:] if typed[0] == RELAY else typed)
    else:
        command, rest = find_command(typed)
        read_words((*OPTIONS, *command.parameters()), rest)


def check_relay_command(typed: list[str]) -> None:
    """That there is a command of the relay that the words begin with, and that it has their options."""
    names = [" ".join(typed[:length]) for length in (3, 2, 1)]
    command = table.load(next(name for name in names if name in table.NAMES))
    before, _, _ = " ".join(typed).partition(" -- ")
    declared = {one.flag for one in (*OPTIONS, *command.parameters())} | {"--agent", "--json"}
    flags = re.findall(r"(?<!\S)--[a-z-]+", before)
    if command.name != "services call":  # what follows is said to the service
        assert {one if one in declared else one.replace("--no-", "--") for one in flags} <= declared


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


@pytest.mark.parametrize(("words", "shown"), FLOWS, ids=[" ".join(words) for words, _ in FLOWS])
def test_questions_about_a_function_are_answered_as_shown(
    words: list[str],
    shown: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert CART is not None
    (tmp_path / "cart.py").write_text(CART[1], "utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("TERSELY_DAEMON", "off")
    assert main(["--root", str(tmp_path), *words]) == 0
    printed = capsys.readouterr().out
    parts = [part.strip("\n") for part in shown.split("⋮\n")]
    assert [part for part in parts if part not in printed] == []


def test_blocks_are_reached_by_keys_and_the_search_has_a_name() -> None:
    assert on_page_content("<pre><code>x</code></pre><preface>") == (
        '<pre tabindex="0"><code>x</code></pre><preface>'
    )
    search = '<div data-md-component="search" role="dialog">'
    assert on_post_page(search).endswith('role="dialog" aria-label="Search">')


def test_files_outside_are_named_and_blocks_have_titles() -> None:
    page = "see [the map](../ARCHITECTURE.md#the-map) and [packs](packs.md)\n\n```ts src/a.ts\nx\n```\n"
    fitted = 'see the map and [packs](packs.md)\n\n```ts title="src/a.ts"\nx\n```\n'
    assert on_page_markdown(page) == fitted
