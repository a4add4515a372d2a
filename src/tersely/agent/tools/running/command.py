"""A command of the agent from start to end: its output as it comes, within bounds, and nothing of
it left behind.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import shutil
import sys
import tempfile
from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from tersely.agent.tools.running import homes, sandbox_policy
from tersely.agent.tools.running.terminal import STATUS_DESCRIPTOR, Window, waited
from tersely.agent.tools.running.variables import environment, git_settings
from tersely.foundation.errors import TerselyError
from tersely.foundation.git.repository import homes_elsewhere
from tersely.foundation.limits import MAX_ARTIFACT_BYTES
from tersely.foundation.text.shortening import KeptOutput
from tersely.foundation.types import Environment, JsonMapping, JsonObject, Strings

LEAST_FREE_BYTES = 500_000_000  # on a disk that a command writes to
COMMAND_END_SECONDS = 5.0  # for what is left of a command to be ended
COMMAND_TICK_SECONDS = 0.05  # between looks at how many processes a command has
MAX_COMMAND_PROCESSES = 512  # of one command, at a time
_SUPERVISOR = Path(__file__).with_name("sandbox_supervisor.py")
_WORDS = (sys.executable, "-I", "-S", str(_SUPERVISOR))
_CHUNK_BYTES = 65_536
_STATUS_BYTES = 1_000
_PROBE_SECONDS = 10
Heard = Callable[[bytes], None]


class Confinement(NamedTuple):
    """The limits that commands are kept within: no writing outside of the repository, no network,
    no Unix sockets.
    """

    files: bool = False
    network: bool = False
    unix_sockets: bool = False

    def told(self) -> str:
        """The same in words for people."""
        if not self.files:
            return "not confined"
        network = "no network" if self.network else "network open"
        sockets = ", no Unix sockets" if self.unix_sockets else ""
        return f"writes in the repository only, reads no home but its programs, {network}{sockets}"


class SharedWithCommands(NamedTuple):
    """The things that the user lets commands have besides: places to write to, places in homes to
    read, names of variables.
    """

    writable: Sequence[Path] = ()
    readable: Sequence[Path] = ()
    variables: Collection[str] = ()


NOTHING_SHARED = SharedWithCommands()


class CommandLimits(NamedTuple):
    """The limits on what one command may use."""

    seconds: float
    processes: int = MAX_COMMAND_PROCESSES


class CommandEnd(NamedTuple):
    """The end of a command: `why` is done, time, processes, disk or left; `status` as a shell says
    it, None if ended.

    `is_clear` says that nothing of it is left; `output` is what it printed, the middle left out
    where that was much; `restored` are settings and hooks of git that it had changed.
    """

    why: str
    status: int | None
    is_clear: bool
    output: str
    restored: Strings = ()


async def confinement(confines: bool = True, network: bool = False) -> Confinement:
    """The confinement of commands by this system and the user's choice. Found out by trying."""
    if not confines or sys.platform != "linux":
        return Confinement()
    able = await _probed()
    if not able.get("landlock"):
        return Confinement()
    reaches_others = not able["is_apart"] or (network and not able["closes_names"])
    return Confinement(
        files=True,
        network=bool(able["network"] and not network),
        unix_sockets=bool(reaches_others and able["filters"]),
    )


async def _probed() -> JsonObject:
    """What the supervisor finds that this system can do; nothing where it does not answer."""
    try:
        process = await asyncio.create_subprocess_exec(
            *_WORDS,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.DEVNULL,
        )
    except (OSError, ValueError):
        return {}
    try:
        async with asyncio.timeout(_PROBE_SECONDS):
            output, _ = await process.communicate(_line({"probes": True}))
    except (OSError, TimeoutError):
        process.kill()
        await process.wait()
        return {}
    return dict(json.loads(output)) if process.returncode == 0 else {}


async def run(
    command: str, root: Path, limits: CommandLimits, confined: Confinement, shared: SharedWithCommands = NOTHING_SHARED,
    variables: Mapping[str, str] | None = None, guards: bool = False, heard: Heard = lambda chunk: None,
    window: Window | None = None,
) -> CommandEnd:  # fmt: skip
    """Run a command of the shell in a repository; whoever is cancelled ends it. Raises
    `program_failed`.

    `variables` are set besides those that `shared` names. Who `guards` has settings and hooks of
    git stay what they are. `heard` is called with what the command prints, as it comes; it must not
    wait. In a `window` the user sees it instead, where the editor shows one.
    """
    temporary = os.path.realpath(tempfile.mkdtemp(prefix="tersely-"))
    folders = [root, *sandbox_policy.homes(root)] if guards else []
    before = sandbox_policy.believed(root, folders)
    try:
        own = {**(git_settings(root, temporary) if confined.files else {}), **(variables or {})}
        given = _supervisor_message(
            command, root, temporary, limits, confined, shared, own, guards=guards
        )
        shown = await _shown(given, limits, window) if window else None
        ended = shown or await _kept(given, limits, heard)
    finally:
        restored = sandbox_policy.restored(root, before)
        await asyncio.to_thread(shutil.rmtree, temporary, ignore_errors=True)
    return ended._replace(restored=tuple(restored))


def _supervisor_message(
    command: str, root: Path, temporary: str, limits: CommandLimits, confined: Confinement, shared: SharedWithCommands,
    variables: Environment, *, guards: bool,
) -> JsonObject:  # fmt: skip
    """The message that the supervisor is given."""
    elsewhere = [*shared.writable, *map(Path, homes_elsewhere(str(root)))]
    places = [str(path) for path in elsewhere if path.exists()]
    writable = [str(root), temporary, *places]
    return {
        "command": command,
        "shell": shutil.which("bash") or "/bin/sh",
        "root": str(root),
        "temporary": temporary,
        "seconds": limits.seconds,
        "end_seconds": COMMAND_END_SECONDS,
        "tick_seconds": COMMAND_TICK_SECONDS,
        "processes": limits.processes,
        "free_bytes": _free_bytes(writable),
        "least_free_bytes": LEAST_FREE_BYTES,
        "confines": confined.files,
        "network": not confined.network,
        "writable": places,
        "hidden": homes.hidden(map(os.path.realpath, writable)),
        "readable": homes.readable(shared.readable),
        "guarded": sandbox_policy.guarded(root) if guards else [],
        "closed": sandbox_policy.sockets(writable),
        "environment": {**environment(temporary, shared.variables), **variables},
    }


def _free_bytes(paths: Sequence[str]) -> dict[str, int]:
    """The bytes that are left on the disks that a command writes to."""
    found = {}
    for path in paths:
        with contextlib.suppress(OSError):
            status = os.statvfs(path)
            found[path] = status.f_bavail * status.f_frsize
    return found


async def _kept(given: JsonMapping, limits: CommandLimits, heard: Heard) -> CommandEnd:
    reading, writing = os.pipe()
    try:
        supervisor = await asyncio.create_subprocess_exec(
            *_WORDS, stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.DEVNULL,
            pass_fds=(writing,), start_new_session=True,
        )  # fmt: skip
    except (OSError, ValueError) as error:
        os.close(reading)
        raise TerselyError("program_failed", f"the command cannot be run: {error}") from error
    finally:
        os.close(writing)
    try:
        output = KeptOutput(MAX_ARTIFACT_BYTES)
        async with asyncio.timeout(limits.seconds + 2 * COMMAND_END_SECONDS):
            assert supervisor.stdin is not None
            assert supervisor.stdout is not None
            supervisor.stdin.write(_line({**given, "status": writing}))
            while chunk := await supervisor.stdout.read(_CHUNK_BYTES):
                output.add(chunk)
                heard(chunk)
            await supervisor.wait()
        return _ended(os.read(reading, _STATUS_BYTES), _text(output))
    except TimeoutError:
        return CommandEnd("time", None, False, _text(output))
    finally:
        os.close(reading)
        await _let_go(supervisor)


def _text(output: KeptOutput) -> str:
    return output.content().decode("utf-8", "replace")


async def _shown(given: JsonMapping, limits: CommandLimits, window: Window) -> CommandEnd | None:
    told = _line({**given, "status": STATUS_DESCRIPTOR})
    seconds = limits.seconds + 2 * COMMAND_END_SECONDS
    shown = await window.run(_WORDS, told, given["root"], seconds, 2 * COMMAND_END_SECONDS)
    return _ended(shown.status, shown.output) if shown else None


async def _let_go(supervisor: asyncio.subprocess.Process) -> None:
    """Have the supervisor clear up, which it does as soon as its input ends; one who is cancelled
    again waits too.
    """
    assert supervisor.stdin is not None
    supervisor.stdin.close()
    try:
        await waited(asyncio.ensure_future(supervisor.wait()), 2 * COMMAND_END_SECONDS)
    finally:
        if supervisor.returncode is None:
            with contextlib.suppress(ProcessLookupError):
                supervisor.kill()


def _line(given: JsonMapping) -> bytes:
    """The line that tells the supervisor what to do. Not by its words: those of a process can be
    read by everybody.
    """
    return json.dumps(given).encode() + b"\n"


def _ended(said: bytes, output: str) -> CommandEnd:
    try:
        told = json.loads(said)
    except ValueError:  # somebody ended the supervisor; what it ran has been told to end with it
        return CommandEnd("left", None, False, output)
    return CommandEnd(told["why"], told["status"], told["is_clear"], output)
