"""What commands change is taken back to the byte, and what cannot be is said."""

from __future__ import annotations

import asyncio
import os
import signal
import stat
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.agent.tools.box import call, opened, tool
from tests.depth import examples

from tersely.agent.tools import checkpoint_store, undoing
from tersely.agent.tools.declaration import Observation
from tersely.agent.tools.files import snapshots
from tersely.agent.tools.toolbox import Toolbox

AUTHOR = ("-c", "user.name=a", "-c", "user.email=a@b.c")


def undo(toolbox: Toolbox, *, insists: bool = False) -> Observation:
    return asyncio.run(undoing.undo(toolbox, insists=insists))


def git(root: Path, *words: str) -> str:
    return subprocess.run(
        ["git", *words], cwd=root, check=True, capture_output=True, text=True
    ).stdout


def committed(root: Path) -> None:
    for words in (("init", "-q"), ("add", "-A"), (*AUTHOR, "commit", "-qm", "x")):
        git(root, *words)


def contents(root: Path) -> dict[str, tuple[int, bytes]]:
    """Every file and link of a repository but its index, with its permissions."""
    found = {}
    for folder, folders, names in os.walk(root):
        folders[:] = [name for name in folders if name not in (".git", ".tersely")]
        for path in (Path(folder, name) for name in [*names, *folders]):
            mode = path.lstat().st_mode
            if not stat.S_ISDIR(mode):
                data = os.fsencode(path.readlink()) if stat.S_ISLNK(mode) else path.read_bytes()
                found[str(path.relative_to(root))] = (mode, data)
    return found


@pytest.fixture
def project(root: Path) -> Path:
    """Files of all kinds: committed, changed since, unknown to git, ignored."""
    (root / "src").mkdir()
    (root / "src/app.py").write_bytes(b"one = 1\r\ntwo = 2\n\xff")
    (root / "run.sh").write_text("#!/bin/sh\n")
    (root / "run.sh").chmod(0o755)
    (root / "link").symlink_to("src/app.py")
    (root / ".gitignore").write_text("*.log\n")
    (root / ".gitattributes").write_text("* text=auto eol=crlf ident\n*.py filter=odd\n")
    (root / "text.txt").write_bytes(b"$Id$\nlf\n")
    git(root, "init", "-q")
    git(root, "config", "core.autocrlf", "true")
    committed(root)
    (root / "src/app.py").write_bytes(b"one = 1\r\nmine\n")
    (root / "a b\né.txt").write_bytes(b"\0binary\r\n")
    (root / "secret").write_text("s")
    (root / "secret").chmod(0o600)
    (root / "out.log").write_text("log")
    return root


COMMANDS = {
    "content": "sed -i s/mine/theirs/ src/app.py; echo more >> text.txt",
    "deletion": "rm -rf src link 'run.sh' secret *.txt",
    "new files": "mkdir -p new/deep && echo x > new/deep/a && echo y > b && ln -s /etc/passwd c",
    "permissions": "chmod 600 run.sh; chmod 644 secret; chmod 755 text.txt",
    "a folder for a file": "rm text.txt && mkdir text.txt && echo x > text.txt/a && rm -r src && echo x > src",
    "a link for a folder": "mv src elsewhere && ln -s elsewhere src && echo x > elsewhere/app.py",
    "another link": "ln -sfn nowhere link && rm run.sh && ln -s link run.sh",
    "a checkout": "git -c user.name=a -c user.email=a@b.c stash -qu",
    "a commit": "git -c user.name=a -c user.email=a@b.c commit -qam y; echo z > src/app.py",
    "a commit of others": "echo z > text.txt && git rm -q --cached link run.sh && git gc -q --prune=now",
    "failure": "echo z > text.txt; rm run.sh; exit 3",
    "nothing": "true",
}


@pytest.mark.parametrize("command", COMMANDS.values(), ids=list(COMMANDS))
def test_what_a_command_changes_is_taken_back_to_the_byte(
    toolbox: Toolbox, project: Path, command: str
) -> None:
    before = contents(project)
    call(toolbox, "bash", command=command)
    after = contents(project)
    told = undo(toolbox)
    assert contents(project) == before, told
    assert told.status == ("refused" if after == before else "ok")
    assert undo(toolbox).status == "refused"


def test_it_is_said_what_was_taken_back_and_what_was_not(toolbox: Toolbox, project: Path) -> None:
    git(project, *AUTHOR, "commit", "-qam", "y")
    old = git(project, "rev-parse", "HEAD")[:12]
    call(toolbox, "bash", command="git reset -q --hard HEAD~1; echo x > out.log; rm secret")
    new = git(project, "rev-parse", "HEAD")[:12]
    told = undo(toolbox)
    assert told.text.splitlines() == [
        "secret, src/app.py are as before `git reset -q --hard HEAD~1; echo x > out.log; rm secret`",
        f"git's history stays: the commit was {old} and is {new}",
        "files that git ignores, and repositories inside, stay",
    ]
    assert (project / "out.log").read_text() == "x\n"


def test_the_git_tool_can_be_taken_back_as_well(toolbox: Toolbox, project: Path) -> None:
    before = contents(project)
    assert call(toolbox, "git", arguments="checkout src/app.py").status == "ok"
    assert contents(project) != before
    undo(toolbox)
    assert contents(project) == before


def test_files_that_somebody_has_changed_since_are_left_and_named(
    toolbox: Toolbox, project: Path
) -> None:
    before = contents(project)
    call(toolbox, "bash", command="echo a > text.txt; echo b > secret; rm run.sh; echo c > new")
    (project / "text.txt").write_text("the user's\n")
    told = undo(toolbox)
    assert told.status == "ok"
    assert "left as they are: text.txt (it was changed since); /undo force" in told.text
    assert (project / "text.txt").read_text() == "the user's\n"
    assert contents(project) == {**before, "text.txt": contents(project)["text.txt"]}
    assert undo(toolbox).status == "refused"
    assert undo(toolbox, insists=True).text.startswith("text.txt is as before")
    assert contents(project) == before


def test_a_conflict_does_not_bar_the_steps_before_it(toolbox: Toolbox, project: Path) -> None:
    before = contents(project)
    call(toolbox, "edit", path="run.sh", old="#!/bin/sh", body="#!/bin/bash")
    call(toolbox, "edit", path="text.txt", old="lf", body="agent")
    (project / "text.txt").write_text("the user's\n")
    assert undo(toolbox).status == "refused"
    assert undo(toolbox).text == "run.sh is as before the last change"
    assert (project / "text.txt").read_text() == "the user's\n"
    assert undo(toolbox, insists=True).status == "ok"
    assert contents(project) == before


def test_insisting_goes_back_through_all_that_was_left(toolbox: Toolbox, project: Path) -> None:
    before = contents(project)
    for word in ("one", "two"):
        call(toolbox, "bash", command=f"echo {word} > text.txt")
    (project / "text.txt").write_text("the user's\n")
    assert undo(toolbox).status == undo(toolbox).status == "refused"
    assert undo(toolbox, insists=True).status == "ok"
    assert contents(project) == before


def test_what_is_too_large_is_named(
    toolbox: Toolbox, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(snapshots, "MAX_SNAPSHOT_FILE_BYTES", 1_000)
    (project / "large").write_bytes(b"x" * 2_000)
    call(toolbox, "bash", command="echo y >> large; echo x > text.txt")
    assert "too large to be kept, and changed: large" in undo(toolbox).text


def test_where_nothing_can_be_kept_it_is_said_with_the_command(
    toolbox: Toolbox, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(snapshots, "MAX_SNAPSHOT_FILES", 2)
    told = call(toolbox, "bash", command="echo x > text.txt")
    assert (
        told.text
        == "(no output)\n(undo cannot take back what this changed: there are more than 2 files)"
    )
    assert undo(toolbox).status == "refused"


def test_without_git_around_it_all_files_count(toolbox: Toolbox, root: Path) -> None:
    (root / "a.txt").write_text("a")
    before = contents(root)
    call(toolbox, "bash", command="rm a.txt; mkdir x; echo x > x/y")
    undo(toolbox)
    assert contents(root) == before
    assert not (root / "x").exists()
    assert not (root / ".git").exists()


def test_the_repository_of_the_user_stays_untouched(toolbox: Toolbox, project: Path) -> None:
    def own() -> dict[str, bytes]:
        return {
            str(path): path.read_bytes() for path in (project / ".git").rglob("*") if path.is_file()
        }

    before = own()
    call(toolbox, "bash", command="echo x > text.txt")
    undo(toolbox)
    assert own() == before


def test_a_cancelled_command_can_be_taken_back(toolbox: Toolbox, project: Path) -> None:
    before = contents(project)

    async def cancelled() -> None:
        has_changed = asyncio.Event()
        toolbox.heard = lambda chunk: has_changed.set()
        command = "echo x > text.txt; echo changed; sleep 1000"
        task = asyncio.ensure_future(tool("bash").run(toolbox, {"command": command}))
        await has_changed.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(cancelled())
    assert undo(toolbox).status == "ok"
    assert contents(project) == before


def test_what_is_kept_for_undoing_is_bounded(
    project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    most, size = 1_000_000, 300_000
    monkeypatch.setattr(snapshots, "MAX_SNAPSHOT_STORE_BYTES", most)
    monkeypatch.setattr(checkpoint_store, "MAX_CHECKPOINT_BYTES", most)
    states = []
    with opened(project, tmp_path / "kept") as toolbox:
        for _ in range(8):
            states.append(contents(project))
            told = call(toolbox, "bash", command=f"head -c {size} /dev/urandom > big")
            assert told.text == "(no output)"
            stored = sum(
                path.stat().st_size
                for path in (tmp_path / "kept/trees").rglob("*")
                if path.is_file()
            )
            assert stored < most + 3 * size
        for state in reversed(states[-(most // size) :]):
            assert undo(toolbox).status == "ok"
            assert contents(project) == state
        assert undo(toolbox).text == "there is nothing to undo"


KILLED = """
import os, signal, sys
from pathlib import Path
from tests.agent.tools.box import call, opened
from tersely.agent.tools.running import undoable

root, kept = map(Path, sys.argv[1:])
undoable.end = lambda *_: os.kill(os.getpid(), signal.SIGKILL)
with opened(root, kept) as toolbox:
    call(toolbox, "bash", command="echo x > text.txt; rm run.sh")
"""


def test_after_a_kill_what_the_command_changed_is_taken_back_by_whoever_goes_on(
    project: Path, tmp_path: Path
) -> None:
    before = contents(project)
    words = [sys.executable, "-c", KILLED, str(project), str(tmp_path / "kept")]
    ended = subprocess.run(
        words, check=False, env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    )
    assert ended.returncode == -signal.SIGKILL
    assert contents(project) != before
    with opened(project, tmp_path / "kept") as toolbox:
        assert undo(toolbox).status == "ok"
        assert contents(project) == before
    assert list((tmp_path / "kept/trees").iterdir()) == []


NAMES = st.sampled_from(["a", "b", "d/a", "d/b", "d/e/a", "e"])
SCRIPTS = st.lists(
    st.one_of(
        st.builds(
            lambda name, text: f"mkdir -p $(dirname {name}); echo {text} > {name}",
            NAMES,
            st.integers(0, 3),
        ),
        st.builds(lambda name: f"rm -rf {name}", st.sampled_from(["a", "b", "d", "d/e", "d/a"])),
        st.builds(lambda one, other: f"mv {one} {other}", NAMES, NAMES),
        st.builds(lambda one, other: f"ln -sfn {one} {other}", NAMES, NAMES),
        st.builds(
            lambda name, mode: f"chmod {mode} {name}", NAMES, st.sampled_from(["755", "644", "640"])
        ),
    ),
    min_size=1,
    max_size=4,
).map(lambda steps: "; ".join(f"{{ {step}; }} 2>/dev/null" for step in steps))


@pytest.mark.slow
@settings(
    max_examples=examples(fast=6), deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
@given(scripts=st.lists(SCRIPTS, min_size=1, max_size=3))
def test_undo_goes_back_through_any_sequence_of_commands(scripts: list[str]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder) / "repository"
        (root / "d").mkdir(parents=True)
        for name in ("a", "d/a", "d/b"):
            (root / name).write_text(name)
        committed(root)
        with opened(root, Path(folder) / "kept") as toolbox:
            states = [contents(root)]
            for script in scripts:
                call(toolbox, "bash", command=script)
                if contents(root) != states[-1]:
                    states.append(contents(root))
            for state in reversed(states[:-1]):
                assert undo(toolbox).status == "ok"
                assert contents(root) == state
            assert undo(toolbox).status == "refused"
