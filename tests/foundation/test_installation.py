"""Which command mends a copy of Tersely, whichever way it was installed."""

from __future__ import annotations

import json
import shlex
import subprocess
import sys
import venv
from pathlib import Path

import pytest

import tersely
from tersely.foundation.installation import missing_requirements, repair_hint

PACKAGE = Path(tersely.__file__).parent
ASK = "from tersely.foundation.installation import *; print(repair_hint()); print(missing_requirements())"
COMMAND = "this installs it again: "


@pytest.fixture(scope="module")
def prefix(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A virtual environment without anything."""
    directory = tmp_path_factory.mktemp("installed") / "with space"
    venv.create(directory, with_pip=False, symlinks=True)
    return directory


def recorded(
    prefix: Path, installer: str, origin: dict[str, object] | None, requires: str = ""
) -> Path:
    """What an installer leaves behind for this package; the folder of packages."""
    packages = next((prefix / "lib").glob("python*")) / "site-packages"
    record = packages / "tersely-0.1.0.dist-info"
    record.mkdir(exist_ok=True)
    (record / "METADATA").write_text(
        f"Metadata-Version: 2.4\nName: tersely\nVersion: 0.1.0\n{requires}"
    )
    (record / "INSTALLER").write_text(f"{installer}\n")
    direct = record / "direct_url.json"
    direct.unlink(missing_ok=True)
    if origin is not None:
        direct.write_text(json.dumps(origin))
    if not (packages / "tersely").exists():
        (packages / "tersely").symlink_to(PACKAGE)
    for name in ("uv-receipt.toml", "pipx_metadata.json"):
        (prefix / name).unlink(missing_ok=True)
    return packages


def said(prefix: Path) -> list[str]:
    done = subprocess.run(
        [prefix / "bin/python", "-c", ASK], capture_output=True, text=True, check=True, cwd=prefix
    )
    return done.stdout.splitlines()


SOURCE = {"url": "file:///srv/my%20code/tersely", "dir_info": {}}
EDITABLE = {"url": "file:///srv/my%20code/tersely", "dir_info": {"editable": True}}
CLONED = {"url": "https://example.org/t.git", "vcs_info": {"vcs": "git", "commit_id": "abc"}}
PATH = "/srv/my code/tersely"


@pytest.mark.parametrize(
    ("installer", "origin", "mark", "command"),
    [
        ("pip", SOURCE, "", ["PYTHON", "-m", "pip", "install", "--force-reinstall", PATH]),
        ("pip", EDITABLE, "", ["PYTHON", "-m", "pip", "install", "--force-reinstall", "--editable", PATH]),
        ("pip", CLONED, "", ["PYTHON", "-m", "pip", "install", "--force-reinstall", "git+https://example.org/t.git@abc"]),
        ("uv", SOURCE, "", ["uv", "pip", "install", "--python", "PYTHON", "--reinstall", PATH]),
        ("uv", SOURCE, "uv-receipt.toml", ["uv", "tool", "install", "--force", "--reinstall", PATH]),
        ("pip", SOURCE, "pipx_metadata.json", ["pipx", "install", "--force", PATH]),
    ],
)  # fmt: skip
def test_the_command_is_that_of_the_installer(
    prefix: Path, installer: str, origin: dict[str, object], mark: str, command: list[str]
) -> None:
    recorded(prefix, installer, origin)
    if mark:
        (prefix / mark).touch()
    hint = said(prefix)[0]
    assert hint.startswith(COMMAND)
    expected = [str(prefix / "bin/python") if word == "PYTHON" else word for word in command]
    assert shlex.split(hint.removeprefix(COMMAND)) == expected


@pytest.mark.parametrize("installer", ["pip", "uv"])
def test_without_a_known_source_no_name_is_given_that_an_index_could_answer(
    prefix: Path, installer: str
) -> None:
    recorded(prefix, installer, None)
    assert said(prefix)[0] == "install Tersely again from the place that it came from"


def test_what_is_missing_is_named(prefix: Path) -> None:
    needs = "Requires-Dist: surely-not-installed<2,>=1\nRequires-Dist: other-one; extra == 'dev'\n"
    recorded(prefix, "pip", SOURCE, needs)
    assert said(prefix)[1] == "['surely-not-installed']"


def test_this_copy_is_whole() -> None:
    assert missing_requirements() == []
    assert sys.executable in repair_hint() or "uv" in repair_hint()
