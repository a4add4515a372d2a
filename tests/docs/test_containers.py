"""What docs/relay.md says of containers: its mounts, variables and commands, in a mount namespace."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import pytest
from tests.cli.relay_home import home_of

PAGE = (Path(__file__).parents[2] / "docs" / "relay.md").read_text("utf-8")
SECTION = PAGE.partition("### Reach it from a container")[2].partition("\n### ")[0]
LINES = re.findall(r"^\$ docker run (.*?[^\\])$", SECTION, re.MULTILINE | re.DOTALL)
IMAGE = "IMAGE"
REFUSED = 32  # the exit status of `mount`


class Container(NamedTuple):
    """A command line of the page."""

    mounts: list[str]  # from, to, and perhaps ro, with colons between
    environment: dict[str, str]
    command: list[str]


def container(line: str, home: Path, root: Path) -> Container:
    words = shlex.split(
        line.replace("\\\n", " ").replace("$HOME/.tersely", str(home)).replace("$PWD", str(root))
    )
    options, command = words[: words.index(IMAGE)], words[words.index(IMAGE) + 1 :]
    given = list(pairwise(options))
    mounts = [value for name, value in given if name == "-v"]
    environment = dict(value.split("=", 1) for name, value in given if name == "-e")
    return Container(mounts, environment, command)


def within(asked: Container, root: Path, places: Path) -> subprocess.CompletedProcess[str]:
    """Run the command where its mounts are, each at a place of this test's own."""
    steps, moved = ["set -e"], {}
    for number, mount in enumerate(asked.mounts):
        source, target, *how = mount.split(":")
        place = places / str(number) if target == "/relay" else Path(target)
        place.mkdir(exist_ok=True)
        moved[target] = str(place)
        steps.append(f"mount --bind {source} {place}")
        steps += [f"mount -o remount,bind,ro {place}"] if how == ["ro"] else []
    for name, value in asked.environment.items():
        steps.append(f"export {name}={shlex.quote(moved.get(value, value))}")
    program = f"{sys.executable} -m tersely"
    steps.append(f"exec {program} {shlex.join(asked.command[1:])}")
    return subprocess.run(
        ["unshare", "--mount", "--pid", "--fork", "--mount-proc", "sh", "-c", "\n".join(steps)],
        cwd=root, capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL,
    )  # fmt: skip


def may_mount() -> bool:
    try:
        tried = ["unshare", "--mount", "--pid", "--fork", "--mount-proc", "true"]
        return subprocess.run(tried, capture_output=True, check=False).returncode == 0
    except OSError:
        return False


@pytest.mark.slow
@pytest.mark.skipif(not may_mount(), reason="this user may not make a mount namespace")
def test_the_commands_of_the_page_reach_the_relay_outside(tmp_path: Path) -> None:
    root, places = tmp_path / "root", tmp_path / "places"
    root.mkdir()
    places.mkdir()
    assert len(LINES) == 2
    with home_of(tmp_path / "home", root) as home:
        home.up()
        told = [within(container(line, home.home, root), root, places) for line in LINES]
        for one in told:
            assert one.returncode == 0, one.stderr
        assert home.ask("inbox", "ben")["messages"][0]["body"] == "hello from a container"
        [ann] = [one for one in home.ask("agents")["agents"] if one["name"] == "ann"]
        assert ann["directory"] == str(root)
