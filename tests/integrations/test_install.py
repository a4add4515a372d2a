"""Putting Tersely in the files of agents, and taking it out again."""

from __future__ import annotations

import io
import json
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest
from tests.depth import mostly_slow

from tersely.cli.builtin import extension
from tersely.cli.main import main
from tersely.foundation.text.tokens import count
from tersely.integrations.formats import json_text
from tersely.integrations.table import AGENTS

OWN_TEXTS = ("SKILL.md", "AGENTS.md")
MAX_TEXT_TOKENS = 350
ROOT = Path(__file__).parents[2]


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    home = tmp_path / "home"
    home.mkdir()
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("TERSELY_HOME", str(tmp_path / "state"))
    programs = tmp_path / "programs"  # none of the editors that are installed here
    programs.mkdir()
    (programs / "git").symlink_to(str(shutil.which("git")))
    monkeypatch.setenv("PATH", str(programs))
    monkeypatch.setattr(extension, "FILE", str(a_vsix(tmp_path)))  # for which `make vsix` is long
    return home


def an_editor(programs: Path, name: str, *, works: bool = True) -> Path:
    """A program that notes how it is called; the notes."""
    notes = programs / f"{name}.notes"
    program = programs / name
    body = f'echo "$@" >>"{notes}"' if works else "echo it is broken >&2; exit 3"
    program.write_text(f"#!/bin/sh\n{body}\n")
    program.chmod(0o755)
    return notes


def a_vsix(folder: Path) -> Path:
    """A file in the place of the extension."""
    file = folder / "own.vsix"
    file.write_bytes(b"PK")
    return file


@pytest.fixture
def project(tmp_path: Path) -> Path:
    root = tmp_path / "project"
    (root / ".claude").mkdir(parents=True)
    (root / ".codex").mkdir()
    (root / ".claude/settings.json").write_text('{\n  // mine\n  "model": "large",\n}\n')
    (root / ".codex/config.toml").write_text(
        '# mine\nmodel = "large"\n\n[mcp_servers.other]\ncommand = "x"'
    )
    (root / "AGENTS.md").write_text("# Rules\n\nBe kind.")
    return root


def run(project: Path, *words: str) -> None:
    assert main([*words, "--root", str(project), "--json"]) == 0


HOOKED = [name for name in AGENTS if any(target.is_hook for target in AGENTS[name].targets)]
IN_REPOSITORIES = sorted(
    name for name in AGENTS if any(target.project for target in AGENTS[name].targets)
)


def contents(root: Path) -> dict[str, str]:
    return {
        str(path.relative_to(root)): path.read_text(errors="replace")
        for path in root.rglob("*")
        if path.is_file()
    }


@pytest.mark.parametrize(
    ("agent", "flags"),
    [*((name, ()) for name in IN_REPOSITORIES), *((name, ("--user",)) for name in AGENTS)],
)
def test_what_was_put_in_is_taken_out_exactly(
    project: Path, home: Path, agent: str, flags: tuple[str, ...]
) -> None:
    before = contents(project), contents(home)
    run(project, "install", agent, "--yes", *flags)
    between = contents(project), contents(home)
    assert between != before
    run(project, "install", agent, "--yes", *flags)
    assert (contents(project), contents(home)) == between
    run(project, "uninstall", agent, "--yes", *flags)
    assert (contents(project), contents(home)) == before


@pytest.mark.parametrize("flags", [[], ["--user"]], ids=["project", "user"])
def test_the_line_that_takes_out_what_was_put_in_works(
    project: Path, home: Path, flags: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    before = contents(project), contents(home)
    run(project, "install", "claude", "--yes", *flags)
    line = (
        json.loads(capsys.readouterr().out)["result"]["text"]
        .partition("written; `tersely ")[2]
        .partition("`")[0]
    )
    assert main([*line.split(), "--yes"]) == 0
    assert (contents(project), contents(home)) == before


@pytest.mark.parametrize("agent", IN_REPOSITORIES)
def test_folders_that_were_made_go_and_the_repository_stays(tmp_path: Path, agent: str) -> None:
    bare = tmp_path / "bare"
    bare.mkdir()
    run(bare, "install", agent, "--yes")
    assert list(bare.iterdir())
    run(bare, "uninstall", agent, "--yes")
    assert list(bare.iterdir()) == []


def test_nothing_is_written_unless_somebody_says_so(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
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


@pytest.mark.parametrize("agent", ["claude", "gemini", "cursor"])
def test_no_empty_lists_are_left_in_what_was_changed_since(project: Path, agent: str) -> None:
    run(project, "install", agent, "--yes")
    texts = {
        project / name: json_text.read(text)
        for name, text in contents(project).items()
        if name.endswith(".json") and "hooks" in text
    }
    for path, value in texts.items():
        hooks = {**value["hooks"], "Mine": []}
        path.write_text(json.dumps({**value, "hooks": hooks, "theme": "dark"}))
    run(project, "uninstall", agent, "--yes")
    assert texts
    for path in texts:
        left = json_text.read(path.read_text())
        assert left.pop("theme") == "dark"
        assert left.pop("hooks") == {"Mine": []}
        assert left == {}


def test_a_table_goes_from_a_configuration_that_its_agent_has_written_since(project: Path) -> None:
    run(project, "install", "codex", "--yes")
    path = project / ".codex/config.toml"
    path.write_text(
        path.read_text() + '\n# trusted\n[projects."/kettle"]\ntrust_level = "trusted"\n'
    )
    run(project, "uninstall", "codex", "--yes")
    text = path.read_text()
    assert text.startswith('# mine\nmodel = "large"\n\n[mcp_servers.other]\ncommand = "x"\n')
    assert text.endswith('\n# trusted\n[projects."/kettle"]\ntrust_level = "trusted"\n')
    assert "tersely" not in text


@pytest.fixture
def program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Tersely as it is installed somewhere with blanks in its name, and run by its path."""
    script = tmp_path / "my tools (1)" / "tersely"
    script.parent.mkdir()
    script.write_text(
        f"#!{sys.executable}\nimport sys\nfrom tersely.cli.main import main\nsys.exit(main())\n"
    )
    script.chmod(0o755)
    monkeypatch.setattr(sys, "argv", [str(script), "install"])
    return script


def commands(value: Any) -> Iterator[Any]:
    """Every command that settings name: a server's words, and the lines of hooks."""
    if isinstance(value, dict):
        if "command" in value:
            args = value.get("args")
            yield value["command"] if args is None else [value["command"], *args]
        for inner in value.values():
            yield from commands(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from commands(inner)


@pytest.mark.parametrize("agent", mostly_slow(HOOKED, "claude"))
@pytest.mark.parametrize("flags", [[], ["--user"]], ids=["project", "user"])
def test_what_is_written_starts_without_a_path_to_the_command(
    project: Path, home: Path, program: Path, agent: str, flags: list[str]
) -> None:
    run(project, "install", agent, "--yes", *flags)
    found = []
    for path in [
        *project.rglob("*.json"),
        *project.rglob("*.toml"),
        *home.rglob("*.json"),
        *home.rglob("*.toml"),
    ]:
        read = tomllib.loads if path.suffix == ".toml" else json_text.read
        found += [
            command for command in commands(read(path.read_text())) if "tersely" in str(command)
        ]
    plugins = [*project.rglob("*.js"), *home.rglob("*.js")]
    called = str(program) if flags else "tersely"
    assert all(f"PROGRAM = {json.dumps([called])}" in path.read_text() for path in plugins)
    assert len(found) + len(plugins) >= 2
    path = "/nowhere" if flags else str(program.parent)
    for command in found:
        server = command if isinstance(command, list) else None
        done = subprocess.run(
            server or ["/bin/sh", "-c", command],
            env={"PATH": path, "HOME": str(home), "TERSELY_HOME": str(home / "state")},
            input='{"jsonrpc":"2.0","id":1,"method":"ping"}\n' if server else "{}",
            capture_output=True, text=True, cwd=project, timeout=60, check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        assert done.stderr == ""
        if server:
            assert json.loads(done.stdout)["result"] == {}


@pytest.mark.parametrize("agent", IN_REPOSITORIES)
def test_files_that_a_team_commits_name_no_place_of_this_machine(
    tmp_path: Path, home: Path, program: Path, agent: str
) -> None:
    bare = tmp_path / "bare"
    bare.mkdir()
    run(bare, "install", agent, "--yes")
    committed = {name: text for name, text in contents(bare).items() if ".local." not in name}
    personal = (str(program.parent), sys.prefix, str(home), str(bare), str(ROOT))
    assert committed
    assert [
        (name, one) for name, text in committed.items() for one in personal if one in text
    ] == []


def test_hooks_that_an_earlier_version_wrote_for_everybody_are_taken_out(
    project: Path, program: Path
) -> None:
    shared, local = project / ".claude/settings.json", project / ".claude/settings.local.json"
    before = contents(project)
    run(project, "install", "claude", "--yes")
    written = json_text.read(local.read_text())["hooks"]
    shared.write_text(json.dumps({"model": "large", "hooks": written}))
    local.unlink()
    run(project, "install", "claude", "--yes")
    kept = json_text.read(shared.read_text())
    assert (kept["model"], any(kept["hooks"].values())) == ("large", False)
    assert json_text.read(local.read_text())["hooks"] == written
    run(project, "uninstall", "claude", "--yes")
    assert set(contents(project)) == set(before)


@pytest.mark.parametrize("agent", HOOKED)
def test_it_says_in_three_lines_what_its_hooks_do(
    project: Path, agent: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["install", agent, "--root", str(project)]) == 0  # nothing is written
    shown = capsys.readouterr().out
    assert "`tersely index` makes one" in shown
    said = [line for line in shown.splitlines() if line.startswith("on ")]
    assert 2 <= len(said) <= 3
    assert "relay" in said[-1]
    assert main(["install", agent, "--no-hooks", "--root", str(project)]) == 0
    assert "\non " not in capsys.readouterr().out


@pytest.mark.parametrize("agent", HOOKED)
def test_another_copy_takes_the_place_of_the_one_before_and_takes_it_out(
    project: Path, program: Path, agent: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = contents(project)
    run(project, "install", agent, "--yes")
    monkeypatch.setattr(sys, "argv", ["tersely"])  # found beside Python
    run(project, "install", agent, "--yes")
    written = "".join(
        text
        for name, text in contents(project).items()
        if name not in before or before[name] != text
    )
    assert "my tools" not in written
    for path in (project / ".mcp.json", project / ".codex/config.toml", project / "opencode.json"):
        if path.exists():
            # somebody else's change: not byte for byte what was written
            path.write_text(path.read_text() + "\n")
    monkeypatch.setattr(sys, "argv", [str(program)])
    run(project, "uninstall", agent, "--yes")
    assert "hook" not in "".join(contents(project).values())
    assert "mcpServers.tersely" not in "".join(contents(project).values())


def test_settings_of_npm_stay_beside_ours(
    project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = tmp_path / "own-home"
    file = home / ".config" / "opencode" / ".npmrc"
    file.parent.mkdir(parents=True)
    file.write_text("//npm.example/:_authToken=secret\n")
    monkeypatch.setenv("HOME", str(home))
    run(project, "install", "opencode", "--user", "--yes")
    assert file.read_text().splitlines() == [
        "//npm.example/:_authToken=secret", "", "# tersely: begin", "fetch-retries=0",
        "# tersely: end",
    ]  # fmt: skip
    run(project, "uninstall", "opencode", "--user", "--yes")
    assert file.read_text() == "//npm.example/:_authToken=secret\n"


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
        (".claude/settings.local.json", '{"hooks": [}', "claude"),
        (".claude/settings.local.json", '{"hooks": "no"}', "claude"),
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
    assert "was not changed" in capsys.readouterr().err
    assert contents(project) == before


def test_a_link_out_of_the_repository_is_not_followed(project: Path, home: Path) -> None:
    (home / "settings.json").write_text("{}")
    (project / ".claude/settings.json").unlink()
    (project / ".claude/settings.json").symlink_to(home / "settings.json")
    assert main(["install", "claude", "--yes", "--root", str(project)]) == 3
    assert (home / "settings.json").read_text() == "{}"


def test_only_the_server_without_hooks_and_texts(project: Path) -> None:
    run(project, "install", "claude", "--yes", "--no-hooks", "--no-texts")
    assert (
        json.loads((project / ".mcp.json").read_text())["mcpServers"]["tersely"]["args"][-1]
        == "mcp"
    )
    assert "hooks" not in (project / ".claude/settings.json").read_text()
    assert not (project / ".claude/skills").exists()


def test_a_slip_is_told_which_agent_is_meant(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["install", "cluade", "--root", str(project)]) == 2
    said = capsys.readouterr().err
    assert said == "usage: there is no agent 'cluade'\nhint: did you mean claude?\n"


def test_what_has_nothing_in_a_repository_says_so(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["install", "claude-desktop", "--yes", "--root", str(project)]) == 2
    assert "install claude-desktop --user" in capsys.readouterr().err


def test_an_agent_that_nobody_knows_is_refused(project: Path) -> None:
    assert main(["install", "clippy", "--root", str(project)]) == 2


@pytest.mark.parametrize("name", OWN_TEXTS)
def test_what_agents_are_taught_is_short_and_right(name: str) -> None:
    from tersely.cli.commands import find_command
    from tersely.cli.help.overview import RELAY_COMMANDS

    text = (files("tersely.integrations") / "files" / name).read_text("utf-8")
    assert count(text) < MAX_TEXT_TOKENS
    commands = [
        part.removeprefix("tersely ").split()
        for part in text.split("`")
        if part.startswith("tersely ")
    ]
    others = {"help", *RELAY_COMMANDS}
    assert {words[0] for words in commands} >= {"agents", "claim", "inbox", "send", "board"}
    assert {find_command(words)[0].name for words in commands if words[0] not in others} >= {
        "search",
        "context",
        "diff-context",
    }


FORMS = {
    "vscode": (".vscode/mcp.json", ("servers", "tersely")),
    "zed": (".zed/settings.json", ("context_servers", "tersely")),
    "kiro": (".kiro/settings/mcp.json", ("mcpServers", "tersely")),
    "jetbrains": (".junie/mcp/mcp.json", ("mcpServers", "tersely")),
    "antigravity": (".agents/mcp_config.json", ("mcpServers", "tersely")),
}
USER_FORMS = {
    "windsurf": (".codeium/windsurf/mcp_config.json", ("mcpServers", "tersely"), "mcp"),
    "antigravity": (".gemini/config/mcp_config.json", ("mcpServers", "tersely"), "mcp"),
    "cline": (
        ".cline/data/settings/cline_mcp_settings.json",
        ("mcpServers", "tersely"),
        "mcp",
    ),
    "claude-desktop": (
        ".config/Claude/claude_desktop_config.json",
        ("mcpServers", "tersely"),
        "mcp",
    ),
    "zed": (".config/zed/settings.json", ("agent_servers", "Tersely"), "acp"),
    "jetbrains": (".jetbrains/acp.json", ("agent_servers", "Tersely"), "acp"),
}


def at(path: Path, names: tuple[str, ...]) -> Any:
    value = json.loads(path.read_text())
    for name in names:
        value = value[name]
    return value


@pytest.mark.parametrize("editor", FORMS)
def test_an_editor_is_told_of_the_server(project: Path, editor: str) -> None:
    run(project, "install", editor, "--yes")
    path, names = FORMS[editor]
    assert at(project / path, names)["args"][-1] == "mcp"


@pytest.mark.parametrize("editor", USER_FORMS)
def test_an_editor_of_the_user_is_told_of_the_server_or_the_agent(
    project: Path, home: Path, editor: str
) -> None:
    run(project, "install", editor, "--yes", "--user")
    path, names, word = USER_FORMS[editor]
    assert at(home / path, names)["args"][-1] == word


def test_goose_is_told_of_the_server(project: Path, home: Path) -> None:
    file = home / ".config/goose/config.yaml"
    file.parent.mkdir(parents=True)
    file.write_text(
        "GOOSE_MODEL: large\nextensions:\n  developer:\n    enabled: true\n    type: builtin\n"
    )
    before = file.read_text()
    run(project, "install", "goose", "--yes", "--user")
    (added,) = set(file.read_text().splitlines()) - set(before.splitlines())
    name, _, value = added.partition(": ")
    assert name == "  tersely"
    own = json.loads(value)  # which YAML includes
    assert {**own, "cmd": "", "args": own["args"][-1:]} == {
        "enabled": True, "type": "stdio", "name": "tersely", "cmd": "", "args": ["mcp"], "envs": {}, "timeout": 300,
    }  # fmt: skip
    run(project, "uninstall", "goose", "--yes", "--user")
    assert file.read_text() == before


def test_the_extension_is_taken_in_and_let_go(project: Path, home: Path, tmp_path: Path) -> None:
    notes = an_editor(tmp_path / "programs", "codium")
    file = a_vsix(tmp_path)
    run(project, "install", "vscodium", "--user", "--yes", "--vsix", str(file))
    assert notes.read_text() == f"--install-extension {file}\n"
    run(project, "uninstall", "vscodium", "--user", "--yes")
    assert notes.read_text().splitlines()[1:] == ["--uninstall-extension tersely.tersely"]


def test_the_extension_is_shown_before_an_editor_is_asked(
    project: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    notes = an_editor(tmp_path / "programs", "code")
    file = a_vsix(tmp_path)
    run(project, "install", "vscode", "--user", "--vsix", str(file))
    assert f"--install-extension {file}" in capsys.readouterr().out
    assert not notes.exists()


def test_an_editor_that_does_not_take_the_extension_is_told_of(
    project: Path, home: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    an_editor(tmp_path / "programs", "code", works=False)
    file = a_vsix(tmp_path)
    assert (
        main(["install", "vscode", "--user", "--yes", "--vsix", str(file), "--root", str(project)])
        != 0
    )
    assert "it is broken" in capsys.readouterr().err
    assert contents(home) == {}


def test_a_file_that_is_no_extension_is_named(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert (
        main(
            ["install", "vscode", "--user", "--yes", "--vsix", "none.vsix", "--root", str(project)]
        )
        != 0
    )
    assert "make vsix" in capsys.readouterr().err


def test_without_the_program_of_an_editor_the_rest_is_written(
    project: Path, home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run(project, "install", "vscode", "--user", "--yes")
    said = json.loads(capsys.readouterr().out)["result"]["text"]
    assert "code is not on the PATH" in said
    assert at(home / ".config/Code/User/mcp.json", ("servers", "tersely"))


def test_a_copy_without_the_extension_fails_once_the_rest_is_written(
    project: Path,
    home: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    notes = an_editor(tmp_path / "programs", "code")
    monkeypatch.setattr(extension, "FILE", "none.vsix")  # as in a copy for which none was built
    for _ in range(2):  # also where nothing else is left to be written
        words = ["install", "vscode", "--user", "--yes", "--root", str(project)]
        assert main(words) == 1
        told = capsys.readouterr()
        assert (told.out, told.err.count("\n")) == ("", 2)
        assert "the extension is not in this copy" in told.err
        assert "--vsix FILE" in told.err
        assert at(home / ".config/Code/User/mcp.json", ("servers", "tersely"))
    assert (
        main(["install", "vscode", "--yes", "--root", str(project)]) == 0
    )  # no extension is asked for
    assert not notes.exists()


@pytest.fixture
def source(project: Path) -> Path:
    """A file of the project, which has one function."""
    (project / "kettle.py").write_text("def boil():\n    return 100\n")
    return project


def said(project: Path, capsys: pytest.CaptureFixture[str], *words: str) -> dict[str, Any]:
    """The result of a command in a project."""
    run(project, *words)
    result: dict[str, Any] = json.loads(capsys.readouterr().out)["result"]
    return result


def test_all_agents_at_once_are_told_in_the_settings_of_the_user(
    source: Path, home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (home / ".claude").mkdir()
    (home / ".codex").mkdir()
    (home / ".codex/config.toml").write_text('model = "large"\n')
    before = contents(source), contents(home)
    result = said(source, capsys, "install", "--yes")
    assert result["agents"] == ["claude", "codex"]
    lines = result["text"].splitlines()
    assert lines[0] == "found: Claude Code, Codex"
    assert [line.partition(" ")[0] for line in lines[1:4]] == ["tools", "hooks:", "instructions"]
    assert "~/.codex/config.toml" in lines[1]
    assert lines[-2] == "1 file indexed"
    assert "kettle.py:boil" in lines[-1]
    assert at(home / ".claude.json", ("mcpServers", "tersely"))
    written = {path for path in contents(source) if not path.startswith(".tersely/")}
    assert written == set(before[0])
    again = said(source, capsys, "install", "--yes")
    assert (again["agents"], again["files"]) == ([], [])
    said(source, capsys, "uninstall", "--yes")
    assert (contents(source), contents(home)) == before
    assert not (source / ".tersely").exists()
    assert said(source, capsys, "uninstall", "--yes")["text"] == "nothing to remove\n"


def folders(root: Path) -> list[Path]:
    return sorted(path.relative_to(root) for path in root.rglob("*") if path.is_dir())


def test_all_agents_at_once_are_taken_out_of_the_repository_too(
    source: Path, home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = contents(source), contents(home), folders(source)
    for agent in IN_REPOSITORIES:
        run(source, "install", agent, "--yes")
    run(source, "install", "claude", "--user", "--yes")
    capsys.readouterr()
    assert {"claude", "codex", "gemini"} <= {*said(source, capsys, "uninstall", "--yes")["agents"]}
    assert (contents(source), contents(home), folders(source)) == before
    assert said(source, capsys, "uninstall", "--yes")["text"] == "nothing to remove\n"


@pytest.mark.parametrize("place", [[], ["--user"]])
def test_folders_that_were_there_before_stay(
    source: Path, home: Path, place: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    (source / ".claude/settings.json").unlink()
    (home / ".claude").mkdir()
    before = folders(source), folders(home)
    run(source, "install", "claude", "--yes", *place)
    run(source, "uninstall", "claude", "--yes", *place)
    assert (folders(source), folders(home)) == before


@pytest.mark.parametrize("words", [["install"], ["uninstall"]])
def test_where_a_failure_leaves_all_as_it_is_the_command_fails(
    source: Path, home: Path, words: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    (home / ".claude").mkdir()
    if words == ["uninstall"]:
        run(source, "install", "claude", "--user", "--yes")
    (home / ".claude/settings.json").write_text("{ broken")
    before = contents(source), contents(home)
    capsys.readouterr()
    assert main([*words, "--yes", "--root", str(source)]) == 3
    told = capsys.readouterr()
    happened = "written" if words == ["install"] else "removed"
    assert told.out == ""
    assert f"nothing was {happened}: Claude Code: " in told.err
    assert (contents(source), contents(home)) == before


def test_where_nothing_can_be_written_the_command_fails(
    source: Path, home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (home / ".claude").mkdir()
    (home / ".claude/skills").write_text("a file in the place of a folder")
    before = contents(home)
    assert main(["install", "--yes", "--root", str(source)]) == 3
    failed = home / ".claude/skills/tersely/SKILL.md"
    assert f"nothing was written: Claude Code: {failed} cannot" in capsys.readouterr().err
    assert contents(home) == before
    assert not (source / ".tersely").exists()


def test_settings_of_ones_own_below_the_index_stay(
    source: Path, home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (home / ".claude").mkdir()
    said(source, capsys, "install", "--yes")
    (source / ".tersely/config.toml").write_text("budget_tokens = 500\n")
    said(source, capsys, "uninstall", "--yes")
    kept = {path.name for path in (source / ".tersely").iterdir()}
    assert kept == {".gitignore", "config.toml"}


@pytest.mark.parametrize("agent", [[], ["claude", "--user"]])
@pytest.mark.parametrize(("command", "question"), [("install", "write"), ("uninstall", "remove")])
def test_somebody_at_a_terminal_is_asked_about_what_would_happen(
    source: Path,
    home: Path,
    agent: list[str],
    command: str,
    question: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    (home / ".claude").mkdir()
    if command == "uninstall":
        said(source, capsys, "install", "claude", "--user", "--yes")
    before = contents(home)
    terminal = io.StringIO("n\n")
    monkeypatch.setattr(terminal, "isatty", lambda: True)
    monkeypatch.setattr("sys.stdin", terminal)
    assert main([command, *agent, "--root", str(source)]) == 0
    told = capsys.readouterr()
    assert told.err.endswith(f"{question} this? [y/N] ")
    assert f"--yes {question}s it" in told.out
    assert contents(home) == before


def test_the_summary_names_refused_edits_and_questions_for_permission(
    source: Path, home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (home / ".claude").mkdir()
    hooks = said(source, capsys, "install")["text"].splitlines()[2]
    assert "no edits of files that another agent has claimed" in hooks
    assert "questions for permission" in hooks


@pytest.mark.parametrize("words", [["install"], ["uninstall"]])
def test_of_all_agents_nothing_is_changed_unless_somebody_says_so(
    source: Path, home: Path, words: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    (home / ".claude").mkdir()
    if words == ["uninstall"]:
        said(source, capsys, "install", "--yes")
    before = contents(source), contents(home)
    result = said(source, capsys, *words)
    assert result["agents"] == []
    assert "--yes" in result["text"].splitlines()[-1]
    assert (contents(source), contents(home)) == before


def test_a_machine_without_agents_gets_one_line(
    source: Path, home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    result = said(source, capsys, "install", "--yes")
    assert result["text"].count("\n") == 1
    assert "no coding agent found" in result["text"]
    assert not (source / ".tersely").exists()


@pytest.mark.parametrize("agent", AGENTS)
def test_an_agent_is_found_by_a_folder_of_its_settings(
    source: Path, home: Path, agent: str, capsys: pytest.CaptureFixture[str]
) -> None:
    user = next(target.user for target in AGENTS[agent].targets if "/" in target.user)
    (home / user).parent.mkdir(parents=True)
    assert agent in said(source, capsys, "install", "--yes")["agents"]


def test_an_agent_is_found_by_its_program(
    source: Path, home: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    an_editor(tmp_path / "programs", "codex")
    an_editor(tmp_path / "programs", "goose")  # also what changes databases, so no sign of it
    assert said(source, capsys, "install", "--yes")["agents"] == ["codex"]


def test_settings_of_one_agent_that_cannot_be_read_hinder_no_other(
    source: Path, home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (home / ".claude").mkdir()
    (home / ".codex").mkdir()
    (home / ".codex/config.toml").write_text("= broken")
    result = said(source, capsys, "install", "--yes")
    assert result["agents"] == ["claude"]
    assert "Codex: " in result["text"]
    assert "was not changed" in result["text"]
    assert (home / ".codex/config.toml").read_text() == "= broken"


def test_an_editor_that_fails_hinders_no_other_agent(
    source: Path, home: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    an_editor(tmp_path / "programs", "code", works=False)
    (home / ".claude").mkdir()
    result = said(source, capsys, "install", "--yes")
    assert result["agents"] == ["claude"]
    assert "VS Code: " in result["text"]


def test_outside_of_a_repository_no_index_is_made(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (home / ".claude").mkdir()
    monkeypatch.chdir(home)
    assert main(["install", "--yes"]) == 0
    assert "tersely index" in capsys.readouterr().out.splitlines()[-1]
    assert not (home / ".tersely").exists()


def test_uninstalling_outside_of_a_repository_leaves_the_home_of_the_relay(
    home: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (home / ".claude").mkdir()
    (home / ".tersely").mkdir()
    (home / ".tersely/.gitignore").write_text("*\n")
    monkeypatch.chdir(home)
    before = contents(home)
    assert main(["install", "--yes"]) == 0
    assert main(["uninstall", "--yes"]) == 0
    assert contents(home) == before


def test_a_record_that_cannot_be_kept_is_said_in_one_line(
    project: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "state").write_text("no folder")
    assert main(["install", "claude", "--yes", "--root", str(project)]) == 3
    assert "what was installed is not remembered" in capsys.readouterr().err
