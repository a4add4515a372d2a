"""What commands are kept from by the kernel; and what git
believes afterwards.
"""

from __future__ import annotations

import errno
import json
import os
import shutil
import socket
import subprocess
import sys
from pathlib import Path

import pytest
from tests.agent.tools.box import call, opened
from tests.depth import mostly_slow

from tersely.agent.tools.running.command import SharedWithCommands
from tersely.agent.tools.running.sandbox_supervisor import landlock_version
from tersely.agent.tools.toolbox import Toolbox
from tersely.cli.agent.chat import wanted
from tersely.cli.agent.command_spec import ChatParameters
from tersely.cli.builtin.daemon import ANSWER_WORDS
from tersely.foundation.errors import TerselyError
from tersely.foundation.settings import load

AUTHOR = ("-c", "user.name=a", "-c", "user.email=a@b.c")
HOOK = "#!/bin/sh\necho own\n"
linux_only = pytest.mark.skipif(sys.platform != "linux", reason="confinement is Linux's")
confined_only = pytest.mark.skipif(landlock_version() == 0, reason="the kernel has no Landlock")


def git(root: Path, *words: str) -> str:
    return subprocess.run(
        ["git", *words], cwd=root, check=True, capture_output=True, text=True
    ).stdout


@pytest.fixture
def apart(toolbox: Toolbox) -> None:
    """Only where the system gives a command namespaces of its own."""
    own = os.readlink("/proc/self/ns/mnt")
    if call(toolbox, "bash", command="readlink /proc/self/ns/mnt").text == own:
        pytest.skip("the system gives a command no namespaces of its own")


@pytest.fixture
def repository(root: Path) -> Path:
    (root / "a.txt").write_text("one\n")
    for words in (
        ("init", "-q", "--template="),
        ("config", "user.name", "a"),
        ("config", "user.email", "a@b.c"),
    ):
        git(root, *words)
    git(root, "add", ".")
    git(root, "commit", "-qm", "x")
    return root


PLANTED = {
    "new hooks": "mkdir -p .git/hooks; echo evil > .git/hooks/post-commit; chmod +x .git/hooks/post-commit",
    "another hook": "echo evil > .git/hooks/own; chmod +x .git/hooks/own",
    "no hook": "rm -f .git/hooks/own",
    "hooks elsewhere": "mkdir evil; echo x > evil/post-commit; rm -rf .git/hooks; ln -s ../evil .git/hooks",
    "settings": "printf '[core]\\n\\tfsmonitor = evil\\n' >> .git/config",
    "settings of a tree": "printf '[core]\\n\\tfsmonitor = evil\\n' > .git/config.worktree",
    "settings elsewhere": "mkdir evil; cp .git/config evil; echo ../evil > .git/commondir",
    "another repository": "mv .git old; cp -r old .git; echo evil > .git/hooks/own",
}


@pytest.mark.parametrize(
    "confines", [pytest.param(True, marks=confined_only), False], ids=["confined", "not confined"]
)
@pytest.mark.parametrize("has_hook", mostly_slow([True, False], True), ids=["a hook", "no hooks"])
def test_nothing_is_planted_that_git_runs_later(
    repository: Path, tmp_path: Path, has_hook: bool, confines: bool
) -> None:
    folder = repository / ".git"
    hook = folder / "hooks/own"
    if has_hook:
        hook.parent.mkdir()
        hook.write_text(HOOK)
        hook.chmod(0o755)
    before = (folder / "config").read_bytes()
    with opened(repository, tmp_path / "kept", confines=confines) as toolbox:
        for what, command in PLANTED.items():
            call(toolbox, "bash", command=f"rm -rf evil old; {command}")
            assert (folder / "config").read_bytes() == before, what
            assert [path.name for path in (folder / "hooks").glob("*")] == (
                ["own"] if has_hook else []
            ), what
            assert not has_hook or (hook.read_text(), hook.stat().st_mode & 0o777) == (
                HOOK,
                0o755,
            ), what
            assert not (folder / "hooks").is_symlink(), what
            assert not [
                name for name in ("commondir", "config.worktree") if (folder / name).exists()
            ], what


def test_it_is_said_what_was_taken_back(toolbox: Toolbox, repository: Path) -> None:
    told = call(toolbox, "bash", command="echo x > .git/commondir")
    assert told.text == "(no output)\n(taken back, for git would believe or run it: .git/commondir)"
    assert call(toolbox, "bash", command="git commit --allow-empty -qm y").text == "(no output)"


@pytest.mark.parametrize(
    "command", ["rm -rf .git", "mv .git old; ln -s old .git", "rm -rf .git; touch .git"]
)
def test_what_cannot_be_taken_back_is_said(repository: Path, tmp_path: Path, command: str) -> None:
    (repository / ".git/hooks").mkdir(exist_ok=True)
    with opened(repository, tmp_path / "kept", confines=False) as toolbox:
        told = call(toolbox, "bash", command=f"echo done; {command}")
    assert told.text.startswith("done\n")
    assert ".git/config (cannot be: " in told.text


@confined_only
def test_permissions_and_times_of_others_stay(toolbox: Toolbox, tmp_path: Path) -> None:
    own = tmp_path / "own"
    own.write_text("x")
    own.chmod(0o600)
    before = own.stat()
    if "Read-only" not in call(toolbox, "bash", command=f"chmod 777 {own}").text:
        pytest.skip("the system has no file systems that are read-only for one program")
    call(toolbox, "bash", command=f"chmod 777 {own}; touch -d 2001-01-01 {own}; mv {own} {own}2")
    assert (own.stat().st_mode, own.stat().st_mtime_ns) == (before.st_mode, before.st_mtime_ns)


@confined_only
@pytest.mark.usefixtures("apart")
def test_what_is_shared_in_memory_is_gone_afterwards(toolbox: Toolbox) -> None:
    name = f"tersely-{os.getpid()}"
    assert (
        call(toolbox, "bash", command=f"echo x > /dev/shm/{name}; cat /dev/shm/{name}").text == "x"
    )
    assert not Path("/dev/shm", name).exists()


CONNECTS = (
    "import socket, sys; socket.socket(socket.AF_UNIX).connect(sys.argv[1]); print('through')"
)


@confined_only
@pytest.mark.usefixtures("apart")
def test_sockets_of_other_programs_are_not_reached(
    toolbox: Toolbox, root: Path, tmp_path: Path
) -> None:
    (root / "connects.py").write_text(CONNECTS)
    with socket.socket(socket.AF_UNIX) as outside, socket.socket(socket.AF_UNIX) as inside:
        outside.bind(str(tmp_path / "s"))
        inside.bind(str(root / "s"))
        outside.listen()
        inside.listen()
        assert (
            call(toolbox, "bash", command=f"{sys.executable} connects.py {root}/s").text
            == "through"
        )
        told = call(toolbox, "bash", command=f"{sys.executable} connects.py {tmp_path}/s")
        assert "ConnectionRefusedError" in told.text


def test_places_that_the_user_has_named_are_written_to(root: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    with opened(
        root, tmp_path / "kept", shared=SharedWithCommands((other, tmp_path / "missing"))
    ) as toolbox:
        assert call(toolbox, "bash", command=f"echo x > {other}/a").status == "ok"
    assert (other / "a").read_text() == "x\n"


@pytest.fixture
def linked(repository: Path, tmp_path: Path) -> Path:
    made = tmp_path / "linked"
    git(repository, "worktree", "add", "-q", str(made))
    return made


@pytest.mark.parametrize("name", ["bash", "git"])
def test_a_linked_working_tree_is_committed_to(
    linked: Path, repository: Path, tmp_path: Path, name: str
) -> None:
    with opened(linked, tmp_path / "kept") as toolbox:
        (linked / "a.txt").write_text("two\n")
        words = {
            "bash": {"command": "git commit -qam two"},
            "git": {"arguments": "commit -qam two"},
        }[name]
        told = call(toolbox, name, **words)
        assert told.status == "ok", told
    assert git(linked, "log", "-1", "--format=%s").strip() == "two"
    assert git(repository, "log", "-1", "--format=%s").strip() == "x"


@pytest.mark.parametrize(
    "confines", [pytest.param(True, marks=confined_only), False], ids=["confined", "not confined"]
)
def test_in_a_linked_working_tree_nothing_is_planted_either(
    linked: Path, repository: Path, tmp_path: Path, confines: bool
) -> None:
    common, own = repository / ".git", repository / ".git/worktrees/linked"
    before = {
        path: path.read_bytes() for path in (common / "config", own / "commondir", linked / ".git")
    }
    with opened(linked, tmp_path / "kept", confines=confines) as toolbox:
        for command in (
            f"mkdir -p {common}/hooks; echo evil > {common}/hooks/post-commit",
            f"echo evil > {common}/config; echo /tmp > {own}/commondir; echo evil > {own}/config.worktree",
            f"rm -f .git; mkdir -p .git; echo evil > {repository}/b.txt",
        ):
            call(toolbox, "bash", command=command)
    assert not list((common / "hooks").glob("*"))
    assert not (own / "config.worktree").exists()
    assert {path: path.read_bytes() for path in before} == before
    if confines:
        assert not (repository / "b.txt").exists()


@confined_only
def test_a_git_file_that_names_the_repository_of_others_opens_nothing(
    root: Path, tmp_path: Path
) -> None:
    others = tmp_path / "others"
    others.mkdir()
    git(others, "init", "-q")
    (root / ".git").write_text(f"gitdir: {others}/.git\n")
    with opened(root, tmp_path / "kept") as toolbox:
        call(toolbox, "bash", command=f"echo evil > {others}/.git/evil")
    assert not (others / ".git/evil").exists()


# Where the system does not have all of it

REFUSING = """
import asyncio, ctypes, json, struct, sys
from pathlib import Path
from tests.agent.tools.box import call, opened, tool

# seccomp(2): one system call fails, with ENOSYS or EPERM
number, failure = map(int, sys.argv[1:3])
code = [(0x20, 0, 0, 0), (0x15, 0, 1, number), (0x06, 0, 0, 0x00050000 | failure), (0x06, 0, 0, 0x7FFF0000)]
steps = b"".join(struct.pack("=HBBI", *one) for one in code)
kept_steps = ctypes.create_string_buffer(steps)
program = struct.pack("@HP", len(code), ctypes.addressof(kept_steps))
libc = ctypes.CDLL(None, use_errno=True)
assert libc.prctl(38, ctypes.c_ulong(1), 0, 0, 0) == 0
assert libc.prctl(22, ctypes.c_ulong(2), program, 0, 0) == 0

root, kept, *commands = sys.argv[3:]
with opened(Path(root), Path(kept)) as toolbox:
    held = asyncio.run(toolbox.confinement())
    preview = tool("bash").preview(toolbox, {"command": "true"})
    told = [call(toolbox, "bash", command=command).text for command in commands]
print(json.dumps({"told": held.told(), "preview": preview, "observed": told}))
"""
MAKE_RULES = (444, errno.ENOSYS)  # of Landlock, as before Linux 5.13
UNSHARE = ({"x86_64": 272, "aarch64": 97, "riscv64": 97}.get(os.uname().machine, 0), errno.EPERM)


def with_refused(
    call: tuple[int, int], root: Path, kept: Path, path: str, *commands: str, **more: str
) -> dict[str, object]:
    variables = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "PATH": path, **more}
    words = [sys.executable, "-c", REFUSING, *map(str, call), str(root), str(kept), *commands]
    ended = subprocess.run(words, check=True, env=variables, capture_output=True, text=True)
    found: dict[str, object] = json.loads(ended.stdout)
    return found


REACHES = """
import os, socket, sys
def tried(what, does):
    try:
        does()
        print(what, "through")
    except OSError as error:
        print(what, type(error).__name__)
def of_pair(path):
    one, _ = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
    one.connect(path)
stream, datagram = sys.argv[1:]
tried("stream", lambda: socket.socket(socket.AF_UNIX).connect(stream))
tried("datagram", lambda: socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM).sendto(b"x", datagram))
tried("pair of datagrams", lambda: of_pair(datagram))
tried("pair", socket.socketpair)
tried("internet", lambda: socket.socket().bind(("127.0.0.1", 0)))
"""


@confined_only
@pytest.mark.skipif(not UNSHARE[0], reason="the number of unshare(2) is not known here")
def test_where_there_are_no_namespaces_no_unix_socket_is_reached(
    root: Path, tmp_path: Path
) -> None:
    (root / "reaches.py").write_text(REACHES)
    with (
        socket.socket(socket.AF_UNIX) as stream,
        socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as datagram,
    ):
        stream.bind(str(tmp_path / "s"))
        stream.listen()
        datagram.bind(str(tmp_path / "d"))
        command = f"{sys.executable} reaches.py {tmp_path}/s {tmp_path}/d"
        found = with_refused(UNSHARE, root, tmp_path / "kept", os.environ["PATH"], command)
    assert str(found["told"]).endswith(", no Unix sockets")
    assert found["told"] in str(found["preview"])
    told = str(found["observed"])
    for way in ("stream", "datagram", "pair of datagrams"):
        assert f"{way} PermissionError" in told
    assert "pair through" in told


@confined_only
def test_the_directory_of_sockets_is_not_there(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    runtime = tmp_path / "runtime"
    runtime.mkdir(0o700)
    (runtime / "secret").write_text("secret")
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(runtime))
    with opened(root, tmp_path / "kept") as toolbox:
        told = call(toolbox, "bash", command=f"cat {runtime}/secret")
    assert told.status == "failed"
    assert told.text.split("\n")[0] != "secret"


@linux_only
def test_without_landlock_it_is_said_that_commands_are_not_confined(
    repository: Path, tmp_path: Path
) -> None:
    folders = [tmp_path / "bin"]
    folders[0].mkdir()
    for name in ("git", "bash", "cat", "sh"):
        (folders[0] / name).symlink_to(str(shutil.which(name)))
    found = with_refused(
        MAKE_RULES, repository, tmp_path / "kept", str(folders[0]), "echo x > a.txt; cat a.txt"
    )
    assert (found["told"], found["observed"]) == ("not confined", ["x"])
    assert "(not confined;" in str(found["preview"])


def test_the_environment_names_places_and_hosts(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = tmp_path / "other"
    other.mkdir()
    monkeypatch.setenv("TERSELY_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("TERSELY_CHAT_WRITABLE", f"{other}:{root}")
    monkeypatch.setenv("TERSELY_CHAT_PRIVATE_HOSTS", "wiki.local, 10.0.0.7")
    choices = wanted(root, ChatParameters(), load(root), can_ask=False).choices
    assert choices.private_hosts == ("wiki.local", "10.0.0.7")
    with Toolbox.open(root, tmp_path / "kept", "session", ANSWER_WORDS, choices) as toolbox:
        assert call(toolbox, "bash", command=f"echo x > {other}/a").status == "ok"
    assert (other / "a").exists()


@pytest.mark.parametrize("place", ["relative", "/", "/nowhere/at/all"])
def test_a_place_that_cannot_be_is_refused(
    root: Path, monkeypatch: pytest.MonkeyPatch, place: str
) -> None:
    monkeypatch.setenv("TERSELY_CHAT_WRITABLE", place)
    with pytest.raises(TerselyError, match="invalid_setting"):
        wanted(root, ChatParameters(), load(root), can_ask=False)


def test_no_repository_says_what_may_be_written_to(root: Path) -> None:
    (root / ".tersely").mkdir()
    settings = 'chat_writable = "/"\nchat_readable = "/"\nchat_variables = "A"\nchat_private_hosts = "10.0.0.1"\n'
    (root / ".tersely/config.toml").write_text(settings)
    choices = wanted(root, ChatParameters(), load(root), can_ask=False).choices
    assert (choices.shared, choices.private_hosts) == (SharedWithCommands((), (), ()), ())
