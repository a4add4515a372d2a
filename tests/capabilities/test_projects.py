"""Worktrees and clones of one repository are one project: to names, claims, the board, threads and
conflicts.
"""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tersely.capabilities.answers.text import PLAIN
from tersely.capabilities.relay.asking import RelayAnswer, answer, result_of
from tersely.capabilities.relay.context import RelayContext
from tersely.foundation.errors import TerselyError
from tersely.foundation.git.project import are_of_one_project, project_name
from tersely.relay.relay import Relay

IDENTITY = ("-c", "user.name=A", "-c", "user.email=a@example.org")
COPIES = ("shop", "tree", "clone", "clone of clone", "shallow", "copy")


def git(directory: Path, *words: str) -> None:
    subprocess.run(["git", *IDENTITY, *words], cwd=directory, check=True, capture_output=True)


@pytest.fixture(scope="module")
def copies(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A repository with two commits, with a worktree, clones, a shallow clone and a plain copy of
    it beside.
    """
    place = tmp_path_factory.mktemp("copies")
    shop = place / "shop"
    shop.mkdir()
    git(shop, "init", "-q")
    for content in ("one", "two"):
        (shop / "a.py").write_text(content)
        git(shop, "add", ".")
        git(shop, "commit", "-q", "-m", content)
    git(shop, "worktree", "add", "-q", str(place / "tree"))
    git(place, "clone", "-q", "shop", "clone")
    git(place, "clone", "-q", "clone", "clone of clone")
    git(place, "clone", "-q", "--depth", "1", f"file://{shop}", "shallow")
    shutil.copytree(shop, place / "copy")
    (place / "tree" / "src").mkdir()
    return place


@pytest.fixture
def relay(tmp_path: Path) -> Iterator[Relay]:
    with Relay.open(tmp_path, len, durable=False) as one:
        yield one


def ask(relay: Relay, agent: str, name: str, root: Path, **arguments: Any) -> Any:
    return result_of(RelayContext(relay, agent), name, {**arguments, "root": str(root)})


@pytest.mark.parametrize("other", COPIES[1:])
def test_what_is_claimed_in_one_copy_is_held_in_all(copies: Path, relay: Relay, other: str) -> None:
    ask(relay, "ann", "claim.take", copies / "shop", targets=("a.py",))
    with pytest.raises(TerselyError, match=r"a\.py is held by ann"):
        ask(relay, "ben", "claim.take", copies / other, targets=("a.py",))
    ask(relay, "ann", "board.add", copies / "shop", step="parse")
    board = ask(relay, "ben", "board.ready", copies / other)
    assert [one.step for one in board.items] == ["parse"]
    assert board.thread == ask(relay, "ann", "board.show", copies / "shop").thread
    assert are_of_one_project(str(copies / "shop"), str(copies / other))


def test_all_copies_but_a_plain_one_have_the_name_of_the_first(copies: Path) -> None:
    assert {one: project_name(str(copies / one)) for one in COPIES} == dict.fromkeys(
        COPIES, "shop"
    ) | {"copy": "copy"}
    assert project_name(str(copies / "tree" / "src")) == "shop"


def test_agents_are_listed_with_their_project_and_their_own_tree(
    copies: Path, relay: Relay
) -> None:
    for name, place in (("ann", "shop"), ("ben", "tree"), ("cleo", "clone of clone")):
        ask(relay, name, "agent.introduction", copies / place)
    listed = answer(RelayContext(relay, "ann"), "agent.list", {}, PLAIN)
    assert isinstance(listed, RelayAnswer)
    known = {one["name"]: (one["project"], one["directory"]) for one in listed.result["agents"]}
    assert known == {
        "ann": ("shop", str(copies / "shop")),
        "ben": ("shop", str(copies / "tree")),
        "cleo": ("shop", str(copies / "clone of clone")),
    }
    for place in ("shop in tree", "shop in clone of clone"):
        assert place in listed.text


def test_peers_of_the_same_project_are_told_of_first(
    copies: Path, relay: Relay, tmp_path: Path
) -> None:
    (tmp_path / "other").mkdir()
    ask(relay, "zoe", "agent.introduction", copies / "tree")
    ask(relay, "bob", "agent.introduction", tmp_path / "other")
    told = ask(relay, "ann", "agent.introduction", copies / "clone")
    assert [one.name for one in told.peers] == ["zoe", "bob"]


def test_a_project_stays_one_with_its_first_commit_and_its_remote(
    tmp_path: Path, relay: Relay
) -> None:
    shop = tmp_path / "shop"
    shop.mkdir()
    git(shop, "init", "-q")
    ask(relay, "ann", "claim.take", shop, targets=("a.py",))
    (shop / "a.py").write_text("one of this test alone")
    git(shop, "add", ".")
    git(shop, "commit", "-q", "-m", "first")
    git(shop, "remote", "add", "origin", "https://ann:secret@Example.org:8443/team/shop.git")
    assert [one.holder for one in ask(relay, "ben", "claim.list", shop).claims] == ["ann"]
    other = tmp_path / "shop2"
    other.mkdir()
    git(other, "init", "-q")
    git(other, "remote", "add", "origin", "git@example.org:team/shop")
    assert [one.holder for one in ask(relay, "ben", "claim.list", other).claims] == ["ann"]
    assert project_name(str(other)) == "shop"


def test_other_repositories_are_other_projects(copies: Path, tmp_path: Path, relay: Relay) -> None:
    ask(relay, "ann", "claim.take", copies / "shop", targets=("a.py",))
    stranger = tmp_path / "stranger"
    stranger.mkdir()
    git(stranger, "init", "-q")
    assert ask(relay, "ben", "claim.take", stranger, targets=("a.py",)).claims
    pretender = tmp_path / "pretender"
    pretender.mkdir()
    (pretender / ".git").write_text(f"gitdir: {copies / 'shop' / '.git'}\n")
    assert ask(relay, "eve", "claim.list", pretender).claims == []
    assert not are_of_one_project(str(copies / "shop"), str(pretender))


def test_projects_outlive_the_relay(copies: Path, tmp_path: Path) -> None:
    ids = []
    for place in ("shop", "clone"):
        with Relay.open(tmp_path / "home", len, durable=False) as relay:
            ids.append(relay.projects.project_of(str(copies / place)))
    assert ids[0] == ids[1]
