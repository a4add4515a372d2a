"""What a release brings: the bundle runs, the manifests say what the project says, the workflows use what is there."""

from __future__ import annotations

import hashlib
import json
import os
import re
import subprocess
import sys
from pathlib import Path
from zipfile import ZipFile

import pytest
import yaml
from tests.test_house import ROOT, project

from tools import release

VERSION = project()["project"]["version"]
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
ASKED = (
    {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
        "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}},
    {"jsonrpc": "2.0", "method": "notifications/initialized"},
    {"jsonrpc": "2.0", "id": 2, "method": "tools/list"},
)  # fmt: skip


@pytest.fixture
def dist(tmp_path: Path) -> Path:
    """A folder with our sources in the form of a wheel."""
    folder = tmp_path / "dist"
    folder.mkdir()
    with ZipFile(folder / f"tersely-{VERSION}-py3-none-any.whl", "w") as wheel:
        for path in sorted((ROOT / "src" / "tersely").rglob("*")):
            if path.is_file() and "__pycache__" not in path.parts:
                wheel.write(path, path.relative_to(ROOT / "src"))
    return folder


def test_the_bundle_is_unpacked_and_run(dist: Path, tmp_path: Path) -> None:
    release.main([str(dist)])
    unpacked, site, asked_about = (tmp_path / name for name in ("bundle", "site", "repository"))
    ZipFile(dist / f"tersely-{VERSION}.mcpb").extractall(unpacked)
    (wheel,) = unpacked.glob("*.whl")
    assert f'path = "{wheel.name}"' in (unpacked / "pyproject.toml").read_text()
    ZipFile(wheel).extractall(site)  # as `uv run` would install it
    asked_about.mkdir()
    (asked_about / "shop.py").write_text("def total(): ...\n")
    manifest = json.loads((unpacked / "manifest.json").read_text())
    command = manifest["server"]["mcp_config"]["args"]
    given = {"${__dirname}": str(unpacked), "${user_config.repository}": str(asked_about)}
    start = [given.get(word, word) for word in command[command.index("main.py") :]]
    ended = subprocess.run(
        [sys.executable, *start], cwd=unpacked, env={**os.environ, "PYTHONPATH": str(site), "TERSELY_DAEMON": "off"},
        input="".join(json.dumps(one) + "\n" for one in ASKED), capture_output=True, text=True, check=False,
        timeout=120,
    )  # fmt: skip
    first, second = map(json.loads, ended.stdout.splitlines())
    assert first["result"]["serverInfo"]["version"] == VERSION
    assert second["result"]["tools"]


def test_the_manifests_say_where_the_release_lies_and_what_its_hash_is(dist: Path) -> None:
    release.main([str(dist), "--repository", "https://github.com/tersely/code"])
    bundle = dist / f"tersely-{VERSION}.mcpb"
    server, agent = (
        json.loads((dist / f"{name}.json").read_text()) for name in ("server", "agent")
    )
    assert re.fullmatch(r"[a-zA-Z0-9.-]+/[a-zA-Z0-9._-]+", server["name"])
    assert 0 < len(server["description"]) <= 100
    (package,) = server["packages"]
    assert package["identifier"].startswith("https://github.com/tersely/code/releases/download/v")
    assert package["identifier"].endswith(bundle.name)
    assert package["fileSha256"] == hashlib.sha256(bundle.read_bytes()).hexdigest()
    assert {server["version"], package["version"], agent["version"]} == {VERSION}
    assert agent["distribution"] == {"uvx": {"package": f"tersely=={VERSION}", "args": ["acp"]}}
    listed = dict(line.split("  ")[::-1] for line in (dist / "SHA256SUMS").read_text().splitlines())
    kept = {path.name for path in dist.iterdir()} - {"SHA256SUMS"}
    assert set(listed) == kept
    assert listed[bundle.name] == package["fileSha256"]


def test_the_same_wheel_gives_the_same_bundle(dist: Path) -> None:
    (wheel,) = dist.glob("*.whl")
    targets = [dist / name for name in ("one", "two")]
    for target in targets:
        release.write_bundle(wheel, release.product(), target)
    assert targets[0].read_bytes() == targets[1].read_bytes()


@pytest.mark.parametrize(
    "repository", ["https://github.com/other/tersely", "https://example.org/x"]
)
def test_a_repository_of_somebody_else_is_refused(dist: Path, repository: str) -> None:
    with pytest.raises(SystemExit, match="mcp-name"):
        release.main([str(dist), "--repository", repository])
    assert not (dist / "server.json").exists()


def test_a_folder_without_the_wheel_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SystemExit, match="0 wheels"):
        release.main([str(tmp_path)])


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_workflows_use_targets_folders_and_jobs_that_exist(path: Path) -> None:
    workflow = yaml.safe_load(path.read_text("utf-8"))
    jobs = workflow["jobs"]
    assert workflow["permissions"] == {"contents": "read"}
    for job in jobs.values():
        needs = job.get("needs", [])
        assert set([needs] if isinstance(needs, str) else needs) <= set(jobs)
        if called := job.get("uses"):
            assert (ROOT / called).is_file()
    text = path.read_text("utf-8")
    targets = re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE)
    assert set(re.findall(r"run: make ([a-z-]+)", text)) <= set(targets)
    assert [name for name in re.findall(r" (tests/\w+)", text) if not (ROOT / name).is_dir()] == []


def test_no_hint_names_the_package_alone() -> None:
    """Before the first release, an index could answer with somebody else's."""
    named = re.compile(r"(?:\binstall|uvx|pipx run) +(?:--\S+ +)*[\"'`]*tersely\b(?![\w/@-])")
    read = [*ROOT.glob("*.md"), *ROOT.glob("docs/*.md"), *ROOT.glob("src/tersely/**/*.py")]
    found = [
        f"{path.relative_to(ROOT)}: {line}"
        for path in read
        for line in path.read_text("utf-8").splitlines()
        if named.search(line)
    ]
    assert found == []


def test_the_sdist_has_all_that_is_tracked() -> None:
    included = project()["tool"]["hatch"]["build"]["targets"]["sdist"]["include"]
    listed = subprocess.run(
        ["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    if listed.returncode != 0:
        pytest.skip("not a git checkout")
    parts = {f"/{line.partition('/')[0]}" for line in listed.stdout.splitlines()}
    pages = {part for part in parts if part.endswith(".md")}
    implied = {"/pyproject.toml", "/.gitignore", "/.dockerignore", "/.git-blame-ignore-revs"}
    assert parts - pages - implied <= set(included)
