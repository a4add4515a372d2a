"""Repositories whose git would run programs, wait for ever, or tell of other repositories."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from tersely.code.index.history.changes import Changes
from tersely.code.index.history.history import history
from tersely.code.index.history.subjects import subjects
from tersely.code.index.scan import scan
from tersely.foundation.errors import TerselyError
from tersely.foundation.git.listing import ignored_directories
from tersely.foundation.limits import MAX_SETTINGS_BYTES

# Settings that make some git run a program; `{}` is the program.
PROGRAMS = {
    "core.fsmonitor": "{}",
    "core.hooksPath": "hooks",
    "core.pager": "{}",
    "core.editor": "{}",
    "core.askPass": "{}",
    "core.sshCommand": "{}",
    "core.gitProxy": "{}",
    "core.alternateRefsCommand": "{}",
    "credential.helper": "!{}",
    "diff.external": "{}",
    "diff.own.command": "{}",
    "diff.own.textconv": "{}",
    "merge.own.driver": "{}",
    "filter.own.clean": "{}",
    "filter.own.smudge": "{}",
    "filter.own.process": "{}",
    "filter.own.required": "true",
    "gpg.program": "{}",
    "log.showSignature": "true",
    "alias.ls-files": "!{}",
    "alias.log": "!{}",
    "alias.diff": "!{}",
    "pager.log": "{}",
    "pager.diff": "{}",
    "interactive.diffFilter": "{}",
    "sequence.editor": "{}",
    "uploadpack.packObjectsHook": "{}",
    "protocol.ext.allow": "always",
    "protocol.allow": "always",
    "remote.origin.url": "ext::{}",
    "remote.origin.promisor": "true",
    "remote.origin.partialclonefilter": "blob:none",
    "remote.origin.uploadpack": "{}",
    "extensions.partialClone": "origin",
    "core.repositoryFormatVersion": "1",
}


def git(root: Path, *words: str) -> str:
    own = {"GIT_CONFIG_GLOBAL": "/dev/null", "GIT_AUTHOR_NAME": "a", "GIT_AUTHOR_EMAIL": "a@b"}
    own |= {"GIT_COMMITTER_NAME": "a", "GIT_COMMITTER_EMAIL": "a@b"}
    done = subprocess.run(
        ["git", *words], cwd=root, env=os.environ | own, capture_output=True, text=True, check=True
    )
    return done.stdout.strip()


def repository(root: Path) -> Path:
    root.mkdir(parents=True)
    git(root, "init", "-q", "-b", "main")
    (root / ".gitattributes").write_text("*.py diff=own filter=own merge=own\n")
    (root / "a.py").write_text("def one():\n    return 1111111111\n")
    (root / "gone.py").write_text("def gone():\n    return 2222222222\n")
    git(root, "add", ".")
    git(root, "commit", "-q", "-m", "first")
    return root


def ask_everything(root: Path) -> None:
    """Every way in which git is asked."""
    scan(str(root))
    ignored_directories(str(root))
    subjects(root)
    tip = git(root, "rev-parse", "HEAD")
    history(root, tip, ["a.py"], None)
    for staged in (False, True):
        try:
            changes = Changes(root, staged=staged)
            changes.paths()
            diffs = changes.diffs()
            changes.main_branch()
            changes.blobs([one.old_blob for one in diffs if getattr(one, "old_blob", "")])
        except TerselyError:
            continue  # an object is missing, and nobody is asked for it


def test_no_program_that_a_repository_names_is_run(tmp_path: Path) -> None:
    root, mark = repository(tmp_path / "root"), tmp_path / "mark"
    program = tmp_path / "program"
    program.write_text(f'#!/bin/sh\necho "$0 $*" >> "{mark}"\nexit 0\n')
    program.chmod(0o755)
    hooks = root / "hooks"
    hooks.mkdir()
    for name in (
        "post-index-change",
        "reference-transaction",
        "pre-auto-gc",
        "fsmonitor-watchman",
        "post-checkout",
    ):
        (hooks / name).symlink_to(program)
        (root / ".git" / "hooks" / name).unlink(missing_ok=True)
        (root / ".git" / "hooks" / name).symlink_to(program)
    for key, text in PROGRAMS.items():
        git(root, "config", key, text.format(program))
    (root / "a.py").write_text("def one():\n    return 3333333333\n")
    (root / "gone.py").unlink()
    ask_everything(root)
    # now one that would be fetched
    blob = git(root, "-c", "core.fsmonitor=false", "rev-parse", "HEAD:gone.py")
    mark.unlink(missing_ok=True)  # what our own call of git has run
    (root / ".git" / "objects" / blob[:2] / blob[2:]).unlink()
    before = mark.exists()
    scan(str(root))
    # told, not fetched
    assert [one.old_path for one in Changes(root).diffs() if one.is_missing] == ["gone.py"]
    assert (before, mark.exists()) == (False, False), mark.read_text()


def test_the_programs_would_run_otherwise(tmp_path: Path) -> None:
    """The trap is one: a git without our care falls into it."""
    root, mark = repository(tmp_path / "root"), tmp_path / "mark"
    program = tmp_path / "program"
    program.write_text(f'#!/bin/sh\necho run >> "{mark}"\n')
    program.chmod(0o755)
    git(root, "config", "diff.external", str(program))
    (root / "a.py").write_text("changed\n")
    subprocess.run(["git", "diff"], cwd=root, capture_output=True, check=True)
    assert mark.exists()


PIPES: dict[str, Callable[[Path], Path]] = {
    "ignore file": lambda root: root / "deep" / ".gitignore",
    "attributes": lambda root: root / ".gitattributes",
    "exclude": lambda root: root / ".git" / "info" / "exclude",
    "settings": lambda root: root / ".git" / "config",
    "staged files": lambda root: root / ".git" / "index",
}


@pytest.mark.parametrize("which", PIPES)
def test_nobody_waits_for_a_pipe(
    tmp_path: Path, which: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = repository(tmp_path / "root")
    monkeypatch.setattr("tersely.foundation.git.runner.GIT_PATIENCE_SECONDS", 0.1)
    tip = git(root, "rev-parse", "HEAD")
    pipe = PIPES[which](root)
    pipe.parent.mkdir(exist_ok=True)
    pipe.unlink(missing_ok=True)
    os.mkfifo(pipe)
    found = scan(str(root))
    assert sorted(file.path for file in found.files) == ["a.py", "gone.py"]
    history(root, tip, ["a.py"], None)
    subjects(root)
    try:
        Changes(root).diffs()
    except TerselyError as error:
        assert "is a pipe, for which git waits" in error.message


def test_a_pipe_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root = repository(tmp_path / "root")
    monkeypatch.setattr("tersely.foundation.git.runner.GIT_PATIENCE_SECONDS", 0.1)
    os.mkfifo(root / ".gitignore")
    said = "git is not asked which files belong here: .gitignore is a pipe, for which git waits"
    assert scan(str(root)).notices == [said]


@pytest.mark.parametrize(
    "way", ["a file", "a file of two lines", "a link", "shared", "shared as by a worktree"]
)
def test_another_repository_of_the_user_is_not_read(tmp_path: Path, way: str) -> None:
    secret = repository(tmp_path / "secret")
    root = tmp_path / "root"
    root.mkdir()
    if way == "a file":
        (root / ".git").write_text(f"gitdir: {secret}/.git\n")
    elif way == "a file of two lines":  # the first of which leads to what is inside
        git(root, "init", "-q", "--bare", "inside")
        (root / "inside\n").mkdir()
        (root / ".git").write_text("gitdir: inside\n/../../secret/.git\n")
    elif way == "a link":
        (root / ".git").symlink_to(secret / ".git")
    else:
        git(root, "init", "-q")
        (root / ".git" / "commondir").write_text(f"{secret}/.git\n")
        if way != "shared":  # the repository that was made up says itself that it is known
            (root / ".git" / "gitdir").write_text("../.git\n")
    (root / "b.py").write_text("def b(): ...\n")
    found = scan(str(root))
    assert [file.path for file in found.files] == ["b.py"]
    assert "does not know of this directory" in found.notices[0]
    with pytest.raises(TerselyError, match="does not know of this directory"):
        Changes(root)
    assert subjects(root) == []


def borrowed(root: Path, secret: Path) -> None:
    nested = root / "objects"
    (nested / "info").mkdir(parents=True)
    (nested / "info" / "alternates").write_text(f"{secret}/.git/objects\n")
    (root / ".git" / "objects" / "info" / "alternates").write_text(f"# ours\n\n{nested}\n")


def linked(root: Path, secret: Path) -> None:
    (root / ".git" / "packed-refs").symlink_to(secret / ".git" / "HEAD")


def included(root: Path, secret: Path) -> None:
    (root / "settings").write_text(f'[includeIf "gitdir:/"]\n\tpath = {secret}/.git/config\n')
    git(root, "config", "include.path", "../settings")


@pytest.mark.parametrize("lead", [borrowed, linked, included])
def test_a_repository_that_leads_elsewhere_is_not_asked(
    tmp_path: Path, lead: Callable[[Path, Path], None]
) -> None:
    secret, root = repository(tmp_path / "secret"), repository(tmp_path / "root")
    lead(root, secret)
    assert re.search("ELSEWHERE does not allow|leads out", str(scan(str(root)).notices))
    assert subjects(root) == []
    with pytest.raises(TerselyError, match=r"\.git(/\S+)? (borrows|leads|includes)"):
        Changes(root)


@pytest.mark.parametrize("name", ["config", "objects/info/alternates"])
def test_a_repository_whose_settings_are_longer_than_what_is_looked_at_is_not_asked(
    tmp_path: Path, name: str
) -> None:
    secret, root = repository(tmp_path / "secret"), repository(tmp_path / "root")
    end = (
        f"[include]\n\tpath = {secret}/.git/config\n"
        if name == "config"
        else f"{secret}/.git/objects\n"
    )
    with (root / ".git" / name).open("a") as file:
        file.write("# nothing\n" * (MAX_SETTINGS_BYTES // 10) + end)
    assert "is not looked at" in scan(str(root)).notices[0]
    assert subjects(root) == []


@pytest.mark.parametrize("lead", [borrowed, included])
def test_the_user_can_allow_a_place_elsewhere(
    tmp_path: Path, lead: Callable[[Path, Path], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    secret, root = repository(tmp_path / "secret"), repository(tmp_path / "root")
    lead(root, secret)
    monkeypatch.setenv("TERSELY_GIT_ELSEWHERE", f"none:{tmp_path / 'other'}:{secret}")
    assert scan(str(root)).notices == []
    assert [one.text for one in subjects(root)] == ["first"]


def test_what_a_repository_keeps_inside_it_may_name(tmp_path: Path) -> None:
    root = repository(tmp_path / "root")
    (root / "settings").write_text("[user]\n\tname = a\n")
    git(root, "config", "include.path", "../settings")
    (root / ".git" / "objects" / "info" / "alternates").write_text("../more\n")
    (root / ".git" / "info" / "exclude").unlink()
    (root / ".git" / "info" / "exclude").symlink_to("../../settings")
    assert scan(str(root)).notices == []
    assert [one.text for one in subjects(root)] == ["first"]


@pytest.mark.parametrize(
    "setting", ["core.excludesFile", "core.attributesFile", "mailmap.file", "diff.orderFile"]
)
def test_no_file_elsewhere_that_a_setting_names_is_opened(
    tmp_path: Path, setting: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The file is a pipe: who opens it waits until it is ended."""
    root = repository(tmp_path / "root")
    (root / "a.py").write_text("def one():\n    return 2\n")
    git(root, "commit", "-q", "-a", "-m", "second")
    (root / "a.py").write_text("def one():\n    return 3\n")
    os.mkfifo(tmp_path / "pipe")
    git(root, "config", setting, str(tmp_path / "pipe"))
    for bound in ("GIT_PATIENCE_SECONDS", "GIT_SECONDS"):
        monkeypatch.setattr(f"tersely.foundation.git.runner.{bound}", 5.0)
    assert scan(str(root)).notices == []
    assert [one.path for one in Changes(root).diffs()] == ["a.py"]
    assert [one.text for one in subjects(root)] == ["second", "first"]
    assert history(root, git(root, "rev-parse", "HEAD"), ["a.py"], None)


def test_the_head_of_a_repository_that_a_submodule_leads_to_is_not_told(tmp_path: Path) -> None:
    secret, root = repository(tmp_path / "secret"), repository(tmp_path / "root")
    (secret / "a.py").write_text("def secret(): ...\n")
    git(secret, "commit", "-q", "-a", "-m", "second")
    git(
        root, "update-index", "--add", "--cacheinfo", f"160000,{git(root, 'rev-parse', 'HEAD')},sub"
    )
    git(root, "commit", "-q", "-m", "with a submodule")
    (root / "sub").mkdir()
    (root / "sub" / ".git").write_text(f"gitdir: {secret}/.git\n")
    (root / "a.py").write_text("def one():\n    return 3\n")
    diffs = Changes(root).diffs()
    assert [one.path for one in diffs] == ["a.py"]
    assert git(secret, "rev-parse", "HEAD") not in str(diffs)


def test_worktrees_know_of_each_other(tmp_path: Path) -> None:
    root = repository(tmp_path / "root")
    git(root, "worktree", "add", "-q", str(tmp_path / "other"))
    assert [file.path for file in scan(str(tmp_path / "other")).files] == ["a.py", "gone.py"]
    assert [one.text for one in subjects(tmp_path / "other")] == ["first"]
