"""Putting Tersely in the files of agents, and taking it out again."""

from __future__ import annotations

import json
import tomllib
from importlib.resources import files
from pathlib import Path

import pytest

from tersely.agents.table import AGENTS
from tersely.cli.main import main
from tersely.foundation.tokens import count

OWN_TEXTS = ("SKILL.md", "AGENTS.md")
MAX_TEXT_TOKENS = 300


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    home = tmp_path / "home"
    home.mkdir()
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("TERSELY_HOME", str(tmp_path / "state"))
    return home


@pytest.fixture
def project(tmp_path: Path) -> Path:
    root = tmp_path / "project"
    (root / ".claude").mkdir(parents=True)
    (root / ".codex").mkdir()
    (root / ".claude/settings.json").write_text('{\n  // mine\n  "model": "large",\n}\n')
    (root / ".codex/config.toml").write_text('# mine\nmodel = "large"\n\n[mcp_servers.other]\ncommand = "x"')
    (root / "AGENTS.md").write_text("# Rules\n\nBe kind.")
    return root


def run(project: Path, *words: str) -> None:
    assert main([*words, "--root", str(project), "--json"]) == 0


def contents(root: Path) -> dict[str, str]:
    return {str(path.relative_to(root)): path.read_text() for path in root.rglob("*") if path.is_file()}


@pytest.mark.parametrize("agent", AGENTS)
@pytest.mark.parametrize("flags", [[], ["--user"]], ids=["project", "user"])
def test_what_was_put_in_is_taken_out_exactly(project: Path, home: Path, agent: str, flags: list[str]) -> None:
    before = contents(project), contents(home)
    run(project, "install", agent, "--yes", *flags)
    between = contents(project), contents(home)
    assert between != before
    run(project, "install", agent, "--yes", *flags)
    assert (contents(project), contents(home)) == between
    run(project, "uninstall", agent, "--yes", *flags)
    assert (contents(project), contents(home)) == before


@pytest.mark.parametrize("agent", AGENTS)
def test_folders_that_were_made_go_and_the_repository_stays(tmp_path: Path, agent: str) -> None:
    bare = tmp_path / "bare"
    bare.mkdir()
    run(bare, "install", agent, "--yes")
    assert list(bare.iterdir())
    run(bare, "uninstall", agent, "--yes")
    assert list(bare.iterdir()) == []


def test_nothing_is_written_unless_somebody_says_so(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = contents(project)
    assert main(["install", "claude", "--root", str(project)]) == 0
    assert contents(project) == before
    out = capsys.readouterr().out
    assert '+    "UserPromptSubmit": [' in out
    assert "not written" in out


def test_what_was_there_stays(project: Path) -> None:
    for agent in ("claude", "codex"):
        run(project, "install", agent, "--yes")
    settings = (project / ".claude/settings.json").read_text()
    assert "// mine" in settings
    assert '"model": "large"' in settings
    tables = tomllib.loads((project / ".codex/config.toml").read_text())
    assert set(tables["mcp_servers"]) == {"other", "tersely"}
    assert (project / ".codex/config.toml").read_text().startswith("# mine\n")
    assert (project / "AGENTS.md").read_text().startswith("# Rules\n\nBe kind.\n")


def test_changes_of_somebody_else_survive_the_undoing(project: Path) -> None:
    run(project, "install", "claude", "--yes")
    path = project / ".claude/settings.json"
    path.write_text(path.read_text().replace('"large"', '"small"'))
    run(project, "uninstall", "claude", "--yes")
    assert '"model": "small"' in path.read_text()
    assert "// mine" in path.read_text()
    assert "tersely" not in path.read_text()


def test_a_table_goes_from_a_configuration_that_its_agent_has_written_since(project: Path) -> None:
    run(project, "install", "codex", "--yes")
    path = project / ".codex/config.toml"
    path.write_text(path.read_text() + '\n# trusted\n[projects."/kettle"]\ntrust_level = "trusted"\n')
    run(project, "uninstall", "codex", "--yes")
    text = path.read_text()
    assert text.startswith('# mine\nmodel = "large"\n\n[mcp_servers.other]\ncommand = "x"\n')
    assert text.endswith('\n# trusted\n[projects."/kettle"]\ntrust_level = "trusted"\n')
    assert "tersely" not in text


def test_a_text_that_agents_share_stays_as_long_as_one_of_them_has_it(project: Path) -> None:
    run(project, "install", "codex", "--yes")
    run(project, "install", "opencode", "--yes")
    run(project, "uninstall", "codex", "--yes")
    assert "tersely search" in (project / "AGENTS.md").read_text()
    run(project, "uninstall", "opencode", "--yes")
    assert "tersely" not in (project / "AGENTS.md").read_text()


@pytest.mark.parametrize(
    ("name", "text", "agent"),
    [
        (".claude/settings.json", '{"hooks": [}', "claude"),
        (".claude/settings.json", '{"hooks": "no"}', "claude"),
        (".codex/config.toml", "model = ", "codex"),
        (".codex/config.toml", '[mcp_servers.tersely]\ncommand = "other"\n', "codex"),
        ("AGENTS.md", "<!-- tersely: begin -->\n", "codex"),
    ],
)
def test_what_cannot_be_read_is_left_as_it_is(
    project: Path, name: str, text: str, agent: str, capsys: pytest.CaptureFixture[str]
) -> None:
    (project / name).write_text(text)
    before = contents(project)
    assert main(["install", agent, "--yes", "--root", str(project)]) == 3
    assert "is left as it is" in capsys.readouterr().err
    assert contents(project) == before


def test_a_link_out_of_the_repository_is_not_followed(project: Path, home: Path) -> None:
    (home / "settings.json").write_text("{}")
    (project / ".claude/settings.json").unlink()
    (project / ".claude/settings.json").symlink_to(home / "settings.json")
    assert main(["install", "claude", "--yes", "--root", str(project)]) == 3
    assert (home / "settings.json").read_text() == "{}"


def test_only_the_server_without_hooks_and_texts(project: Path) -> None:
    run(project, "install", "claude", "--yes", "--no-hooks", "--no-texts")
    assert json.loads((project / ".mcp.json").read_text())["mcpServers"]["tersely"]["args"][-1] == "mcp"
    assert "hooks" not in (project / ".claude/settings.json").read_text()
    assert not (project / ".claude/skills").exists()


def test_an_agent_that_nobody_knows_is_refused(project: Path) -> None:
    assert main(["install", "clippy", "--root", str(project)]) == 2


@pytest.mark.parametrize("name", OWN_TEXTS)
def test_what_agents_are_taught_is_short_and_right(name: str) -> None:
    from tersely.cli.commands import find_command

    text = (files("tersely.agents") / "files" / name).read_text("utf-8")
    assert count(text) < MAX_TEXT_TOKENS
    commands = [part.removeprefix("tersely ").split() for part in text.split("`") if part.startswith("tersely ")]
    assert {find_command(words)[0].name for words in commands if words[0] != "help"} >= {
        "search",
        "context",
        "diff-context",
    }
