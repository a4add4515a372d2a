"""Commands of the agent: told with what they print, ended in time, confined, and nothing of them
left.
"""

from __future__ import annotations

import asyncio
import os
import socket
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.agent.tools.box import call, opened, tokens
from tests.depth import mostly_slow

from tersely.agent.tools.running import command as running
from tersely.agent.tools.running.command import (
    CommandEnd,
    CommandLimits,
    Confinement,
    SharedWithCommands,
    confinement,
    run,
)
from tersely.agent.tools.running.sandbox_supervisor import landlock_version
from tersely.agent.tools.toolbox import Toolbox
from tersely.foundation.limits import MAX_ARTIFACT_BYTES, OBSERVATION_TOKENS
from tersely.foundation.text.shortening import KeptOutput

PATIENCE_SECONDS = 60.0
confined_only = pytest.mark.skipif(landlock_version() == 0, reason="the kernel has no Landlock")
linux_only = pytest.mark.skipif(sys.platform != "linux", reason="processes are found by /proc")


def ran(
    command: str, root: Path, seconds: float = PATIENCE_SECONDS, processes: int = 100
) -> CommandEnd:
    return asyncio.run(run(command, root, CommandLimits(seconds, processes), Confinement()))


def marked(mark: str) -> list[str]:
    """The processes whose environment has a mark."""
    found = []
    for name in filter(str.isdecimal, os.listdir("/proc")):
        try:
            if f"MARK={mark}".encode() in Path(f"/proc/{name}/environ").read_bytes():
                found.append(name)
        except OSError:
            continue
    return found


def test_what_is_printed_and_how_it_ended_is_told(toolbox: Toolbox, root: Path) -> None:
    told = call(toolbox, "bash", command="pwd; echo bad >&2; exit 3")
    assert told.text == f"{root}\nbad\nexit status 3"
    assert told.status == "failed"
    assert call(toolbox, "bash", command="true").text == "(no output)"


def test_there_is_no_input(toolbox: Toolbox) -> None:
    assert call(toolbox, "bash", command="cat; read x; echo $?").text == "1"


def test_what_takes_too_long_is_ended(root: Path) -> None:
    for seconds in (0.5, PATIENCE_SECONDS):  # a busy machine may begin nothing in the first
        ended = ran("echo begun; sleep 1000", root, seconds=seconds)
        if ended.output:
            break
    assert (ended.why, ended.status, ended.is_clear, ended.output) == (
        "time",
        None,
        True,
        "begun\n",
    )


@linux_only
@pytest.mark.parametrize(
    "command",
    [
        "sleep 1000 & echo done",
        "setsid sleep 1000 & echo done",
        "(setsid bash -c 'setsid sleep 1000 & sleep 1000' > /dev/null 2>&1 < /dev/null &) ; echo done",
        "nohup bash -c \"trap '' TERM HUP INT; sleep 1000\" & echo done",
        "python3 -c 'import os, time\nif not os.fork(): os.setsid(); os.fork() or time.sleep(1000)' ; echo done",
    ],
)
def test_nothing_is_left_running(root: Path, tmp_path: Path, command: str) -> None:
    ended = ran(f"export MARK={tmp_path.name}; {command}", root)
    assert ended.is_clear
    assert "done" in ended.output
    assert marked(tmp_path.name) == []


@linux_only
def test_what_forks_without_end_is_ended(root: Path, tmp_path: Path) -> None:
    bomb = f"export MARK={tmp_path.name}; f() {{ sleep 0.05; f & f & wait; }}; f"
    ended = ran(bomb, root, processes=40)
    assert (ended.why, ended.is_clear) == ("processes", True)
    assert marked(tmp_path.name) == []


@linux_only
def test_a_command_ends_with_whoever_waits_for_it(root: Path, tmp_path: Path) -> None:
    async def cancelled() -> None:
        task = asyncio.ensure_future(
            run(
                f"export MARK={tmp_path.name}; setsid sleep 1000 & sleep 1000",
                root,
                CommandLimits(1000),
                Confinement(),
            )
        )
        while not marked(tmp_path.name):
            await asyncio.sleep(0.01)
        task.cancel()
        await asyncio.sleep(0)
        task.cancel()  # as by somebody who is impatient
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(cancelled())
    assert marked(tmp_path.name) == []


KILLED = """
import asyncio, sys
from pathlib import Path
from tersely.agent.tools.running.command import Confinement, CommandLimits, run
mark, root = sys.argv[1:]
command = f"export MARK={mark}; touch $TMPDIR/x; setsid sleep 1000 & sleep 1000"
asyncio.run(run(command, Path(root), CommandLimits(1000), Confinement()))
"""


@linux_only
def test_a_command_ends_when_the_agent_is_killed(root: Path, tmp_path: Path) -> None:
    words = [sys.executable, "-c", KILLED, tmp_path.name, str(root)]
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    variables = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "TMPDIR": str(temporary)}
    with subprocess.Popen(words, env=variables) as agent:
        wait_until(lambda: bool(marked(tmp_path.name)) and bool(list(temporary.glob("*/x"))))
        agent.kill()
    wait_until(lambda: not marked(tmp_path.name) and not list(temporary.iterdir()))


def wait_until(is_so: Callable[[], bool]) -> None:
    async def waited() -> None:
        async with asyncio.timeout(PATIENCE_SECONDS):
            while not is_so():
                await asyncio.sleep(0.01)

    asyncio.run(waited())


def test_much_output_is_bounded_and_can_be_read_on(toolbox: Toolbox) -> None:
    told = call(toolbox, "bash", command="seq 1 100000; echo end")
    assert tokens(toolbox, told) <= OBSERVATION_TOKENS
    assert told.text.startswith("1\n2\n")
    assert told.text.endswith("\n100000\nend")
    assert f"read ref {told.ref}" in told.text
    more = call(toolbox, "read", ref=told.ref, start=500, end=502)
    assert more.text.startswith("500|500\n501|501\n502|502")
    assert call(toolbox, "read", ref=f"ref {told.ref}") == call(toolbox, "read", ref=told.ref)


def test_output_without_end_takes_bounded_memory() -> None:
    output = KeptOutput(most_bytes=1_000)
    for _ in range(10_000):
        output.add(b"x" * 1_000)
    assert len(output.content()) < 3_000
    assert "bytes are left out here" in output.content().decode()


def test_a_command_that_prints_a_great_deal_is_read_to_its_end(root: Path) -> None:
    ended = ran("yes | head -c 200000000; echo end", root)
    assert ended.status == 0
    assert len(ended.output) < 2 * MAX_ARTIFACT_BYTES
    assert ended.output.endswith("end\n")


def test_output_steers_no_terminal(toolbox: Toolbox) -> None:
    told = call(
        toolbox,
        "bash",
        command=r"printf '\033[31mred\033[0m \033]0;title\007\u202eback\n10%%\r100%%\nbell\007\n'",
    )
    assert told.text == "red \\u202eback\n100%\nbell\\x07"


def test_only_variables_on_a_list_are_handed_on(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("SERVICE_API_KEY", "SSH_AUTH_SOCK", "TERSELY_CHAT_KEY", "DATABASE_URL", "GH_PAT", "SLACK_WEBHOOK",
                 "MYSQL_PWD", "SMTP_PASS", "ANYTHING", "HTTPS_PROXY", "GIT_CONFIG_PARAMETERS",
                 "MAKEFLAGS"):  # fmt: skip
        monkeypatch.setenv(name, "hidden-value")
    monkeypatch.setenv("LC_NUMERIC", "C")
    monkeypatch.setenv("TEST_DATABASE", "shown-value")
    with opened(
        root, tmp_path / "kept", shared=SharedWithCommands(variables=("TEST_DATABASE",))
    ) as toolbox:
        told = call(
            toolbox, "bash", command="env | grep -e shown- -e hidden- -e LC_NUM | sort"
        ).text
    assert told == "LC_NUMERIC=C\nTEST_DATABASE=shown-value"


@confined_only
def test_variables_of_other_processes_are_not_read(
    toolbox: Toolbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    told = call(toolbox, "bash", command="cat /proc/$PPID/environ | wc -c").text
    assert told.splitlines()[-1] == "0" or "Permission denied" in told


@confined_only
def test_a_command_writes_in_the_repository_alone(
    toolbox: Toolbox, root: Path, tmp_path: Path
) -> None:
    (root / "out").symlink_to(tmp_path / "linked.txt")
    command = f"echo a > a.txt; echo b > {tmp_path}/b.txt; echo c > out; mktemp > /dev/null && echo made; mkdir -p x/y"
    told = call(toolbox, "bash", command=command)
    assert "made" in told.text
    assert (root / "a.txt").read_text() == "a\n"
    assert (root / "x/y").is_dir()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["kept", "repository"]
    assert (
        "writes in the repository only"
        in call(toolbox, "bash", command=f"rm -rf {tmp_path}/kept/tools.sqlite").text
    )
    assert (tmp_path / "kept/tools.sqlite").exists()


@confined_only
def test_a_command_does_not_reach_what_listens_outside(toolbox: Toolbox) -> None:
    if not asyncio.run(confinement()).network:
        pytest.skip("the system does not let a command be kept from the network")
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        told = call(
            toolbox,
            "bash",
            command=f"(exec 3<>/dev/tcp/127.0.0.1/{port}) 2> /dev/null && echo reached; true",
        )
        assert "reached" not in told.text


SECRETS = (
    ".ssh/id", ".codex/auth.json", ".claude/.credentials.json", ".pgpass", ".cargo/credentials.toml",
    ".cargo/config.toml", ".npmrc", ".git-credentials", ".config/git/credentials", ".gitconfig", ".aws/credentials",
    ".config/gh/hosts.yml", ".bash_history", ".m2/settings.xml", ".gradle/gradle.properties",
    ".cache/huggingface/token", "notes", ".whatever/new",
)  # fmt: skip
PROGRAMS = (".cargo/bin/own", ".local/bin/own", ".pyenv/version", ".m2/repository/a.jar")


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    made = tmp_path / "home"
    for name in SECRETS + PROGRAMS:
        (made / name).parent.mkdir(parents=True, exist_ok=True)
        (made / name).write_text("private key" if name in SECRETS else "program")
    monkeypatch.setenv("HOME", str(made))
    return made


@confined_only
def test_below_a_home_a_command_reads_programs_and_nothing_else(
    home: Path, root: Path, tmp_path: Path
) -> None:
    names = " ".join(SECRETS)
    with opened(
        root, tmp_path / "kept", shared=SharedWithCommands(readable=(home / "notes",))
    ) as toolbox:
        command = (
            f"cd; head -v {names} /proc/self/root/$HOME/.ssh/id 2> /dev/null; ls -A .ssh .codex"
        )
        told = call(toolbox, "bash", command=command).text
        programs = call(
            toolbox, "bash", command="cat " + " ".join(f"~/{name}" for name in PROGRAMS)
        ).text
        call(toolbox, "bash", command="echo evil > ~/.local/bin/own; echo evil > ~/.bashrc")
    assert told.count("private key") == 1
    assert "==> notes <==\nprivate key" in told
    assert programs.count("program") == len(PROGRAMS)
    assert (home / ".local/bin/own").read_text() == "program"
    assert not (home / ".bashrc").exists()


CALLS = """
import ctypes, os
libc = ctypes.CDLL(None, use_errno=True)
x86 = os.uname().machine == "x86_64"
for name, number in {"io_uring": 425, "keyctl": 250 if x86 else 219, "bpf": 321 if x86 else 280}.items():
    print(name, libc.syscall(number, 0, 0, 0, 0, 0) < 0 and os.strerror(ctypes.get_errno()))
"""


@confined_only
@pytest.mark.skipif(
    os.uname().machine not in {"x86_64", "aarch64"}, reason="its numbers are not known here"
)
def test_no_system_calls_are_made_that_lead_around_confinement(
    toolbox: Toolbox, root: Path
) -> None:
    (root / "calls.py").write_text(CALLS)
    told = call(toolbox, "bash", command=f"{sys.executable} calls.py").text
    assert told.splitlines() == [
        f"{name} Operation not permitted" for name in ("io_uring", "keyctl", "bpf")
    ]


@confined_only
def test_a_repository_in_a_home_is_worked_in(home: Path, tmp_path: Path) -> None:
    root = home / "code/tea"
    root.mkdir(parents=True)
    with opened(root, tmp_path / "kept") as toolbox:
        told = call(toolbox, "bash", command="echo a > a.txt; cat a.txt ../../.ssh/id")
    assert told.text.startswith("a\n")
    assert "private key" not in told.text
    assert (root / "a.txt").read_text() == "a\n"


@confined_only
def test_git_knows_who_commits_and_no_other_setting_of_the_user(
    home: Path, root: Path, tmp_path: Path
) -> None:
    name, place = 'A "B" \\ C', home / ".git-settings"
    settings = {
        "user.name": name, "user.email": "a@b.c", "filter.own.clean": "cat",
        "url.https://user:hidden@a.b/.insteadOf": "https://a.b/", "http.extraHeader": "hidden",
        "core.sshCommand": "sshpass -p hidden ssh", "core.autocrlf": "input",
    }  # fmt: skip
    (home / ".gitconfig").unlink()
    for words in settings.items():
        subprocess.run(["git", "config", "--file", str(place), *words], check=True)
    (home / ".gitconfig").write_text("[include]\n\tpath = .git-settings\n")
    subprocess.run(["git", "init", "-q"], cwd=root, check=True)
    with opened(root, tmp_path / "kept") as toolbox:
        command = (
            "git commit -q --allow-empty -m x; git log --format=%an; "
            "git config --list; git config filter.own.clean"
        )
        told = call(toolbox, "bash", command=command)
    assert told.text.startswith(f"{name}\n")
    assert told.text.endswith("\ncat")
    assert "hidden" not in told.text


@confined_only
@pytest.mark.parametrize(
    "command",
    mostly_slow([
        "echo evil > .git/hooks/pre-commit", "echo evil >> .git/config", "git config core.fsmonitor evil",
        "mv .git g && cp -r g .git && echo evil > .git/config", "rm -rf .git/hooks; echo evil > .git/hooks/x",
        "ln -sf /evil .git/config", "umount .git/config; echo evil > .git/config",
    ], "echo evil > .git/hooks/pre-commit", "echo evil >> .git/config"),
)  # fmt: skip
def test_a_command_leaves_nothing_for_git_to_run(
    toolbox: Toolbox, root: Path, command: str
) -> None:
    if not asyncio.run(confinement()).network:
        pytest.skip("the system gives a command no namespaces of its own")
    subprocess.run(["git", "init", "-q"], cwd=root, check=True)
    before = (root / ".git/config").read_text()
    call(toolbox, "bash", command=command)
    assert (root / ".git/config").read_text() == before
    assert [path for path in (root / ".git/hooks").iterdir() if "evil" in path.read_text()] == []
    author = "-c user.name=a -c user.email=a@b.c"
    told = call(
        toolbox,
        "bash",
        command=f"git {author} commit -q --allow-empty -m x && git log --oneline | wc -l",
    )
    assert told.text.endswith("1"), told


@confined_only
def test_a_command_cannot_end_what_watches_it(toolbox: Toolbox) -> None:
    if landlock_version() < 6:
        pytest.skip("Landlock does not know signals yet")
    told = call(toolbox, "bash", command="kill -9 $PPID; echo alive")
    assert told.text.splitlines()[-1] == "alive"
    assert told.status == "ok"


def test_who_is_not_confined_is_told_so(root: Path, tmp_path: Path) -> None:
    with opened(root, tmp_path / "kept", confines=False) as toolbox:
        told = call(toolbox, "bash", command=f"echo b > {tmp_path}/b.txt")
        assert told.status == "ok"
        assert asyncio.run(toolbox.confinement()).told() == "not confined"


def free(monkeypatch: pytest.MonkeyPatch, free_bytes: int) -> None:
    """Have a command believe that so much is left on the disk, of which it may use half."""
    monkeypatch.setattr(running, "_free_bytes", lambda paths: dict.fromkeys(paths, free_bytes))


def test_no_file_takes_more_than_half_of_what_is_left(
    toolbox: Toolbox, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    free(monkeypatch, 20_000)
    assert call(toolbox, "bash", command="head -c 9000 /dev/zero > small").status == "ok"
    assert call(toolbox, "bash", command="head -c 90000 /dev/zero > large").status == "failed"
    assert (root / "large").stat().st_size <= 10_000


def test_a_command_is_ended_before_it_fills_the_disk(
    toolbox: Toolbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(running, "LEAST_FREE_BYTES", 1 << 60)
    free(monkeypatch, 1 << 60)  # much more than there is: it seems to be used up
    assert (
        call(toolbox, "bash", command="sleep 1000").text == "ended: it had nearly filled the disk"
    )
