"""Runs one command of the agent and stays until nothing of it is left. A program of its own; needs
nothing installed.

It is told what to do by a line of its standard input, a JSON object: `command`, `root`,
`temporary`, `seconds`, `processes`, `confines`, `network`, `writable`, `hidden`, `readable`,
`guarded` and `closed` paths, `environment` and more. That input then stays open as long as whoever
asked is there; what the command prints goes to the standard output, and how it ended, as JSON, to
the descriptor `status`.

On Linux orphans of the command become its own children (`PR_SET_CHILD_SUBREAPER`), so that neither
a double fork nor a session of its own leads away from it. The command is confined before it starts:
Landlock (`landlock(7)`, Linux 5.13) lets it write only where it may, and namespaces of its own
(`namespaces(7)`) have a network that leads nowhere but to itself, files that are read-only as a
whole (`mount_setattr(2)`: Landlock knows no permissions and times), those that git runs or believes
among them, and no sockets of other programs. Landlock knows no sockets in the file system: where
there are no such namespaces, the command makes no Unix socket (`seccomp(2)`).
"""

from __future__ import annotations

import ctypes
import json
import os
import select
import signal
import struct
import sys
import time
from collections.abc import Iterable, Mapping
from contextlib import suppress
from typing import Any, NamedTuple, NoReturn

CANNOT_START = 126

_PR_SET_PDEATHSIG, _PR_SET_CHILD_SUBREAPER, _PR_SET_NO_NEW_PRIVS = 1, 36, 38
_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446  # the same numbers on every architecture
_VERSION, _PATH_BENEATH = 1, 1
# how many kinds of access to files each version of Landlock knows
_FS_OF_ABI = (0, 13, 14, 15, 15, 16)
_FS_MOST, _NET_ABI, _SCOPE_ABI = 16, 4, 6
_EXECUTE = 1 << 0
_WRITE_FILE = 1 << 1
_READ_FILE = 1 << 2
_READ_DIR = 1 << 3
_TRUNCATE = 1 << 14
_IOCTL_DEV = 1 << 15
_NET_ALL, _SCOPE_ALL = 0b11, 0b11  # bind and connect by TCP; abstract sockets and signals
_OF_A_FILE = _EXECUTE | _WRITE_FILE | _READ_FILE | _TRUNCATE | _IOCTL_DEV
_CLONE_NEWNS, _CLONE_NEWUSER, _CLONE_NEWNET = 0x00020000, 0x10000000, 0x40000000
_MS_RDONLY, _MS_REMOUNT, _MS_BIND, _MS_REC, _MS_PRIVATE = 1, 32, 4096, 16384, 1 << 18
_MS_OWN = 2 | 4  # no set-user-id, no devices
# what a mount may have besides: no set-user-id, no devices, no execution, access times
_MS_LOCKED = 0x40F
_SIOCGIFFLAGS, _SIOCSIFFLAGS, _IFF_UP = 0x8913, 0x8914, 1
_MOUNT_SETATTR, _RECURSIVE, _AT_FDCWD, _READ_ONLY = 442, 0x8000, -100, 1
_OPEN_TREE, _MOVE_MOUNT, _OPEN_TREE_CLONE, _MOVE_MOUNT_F_EMPTY_PATH = 428, 429, 1, 4
_SHARED_MEMORY = "/dev/shm"  # noqa: S108 - a file system of its own is put there
_DEVICES = ("null", "zero", "full", "random", "urandom", "tty", "ptmx", "pts", "shm", "fd")
_PR_SET_SECCOMP, _SECCOMP_FILTER = 22, 2
# what is done, how many steps are passed over if so and if not, with which number
_STEP = struct.Struct("=HBBI")
_LOAD, _IS_EQUAL, _IS_LEAST, _AND, _RETURN = 0x20, 0x15, 0x35, 0x54, 0x06
_OFFSET_OF_NUMBER, _OFFSET_OF_ARCHITECTURE = 0, 4
_OFFSET_OF_ARGUMENTS, _ARGUMENT_BYTES = 16, 8  # the lower half comes first on all machines below
_ALLOW, _REFUSE = 0x7FFF0000, 0x00050001  # the latter with EPERM
_FOREIGN_NUMBERS = 0x40000000  # the least of the x32 interface, which has the same mark as x86-64
_URING_CALLS = (425, 426, 427)  # the same numbers on every architecture
_UNIX = 1  # AF_UNIX, as an argument
# of Unix sockets, the last two are one; flags are added to the kind
_DATAGRAM, _RAW, _KIND_OF_SOCKET = 2, 3, 0xF
_MAKE_SOCKET, _MAKE_PAIR = 1, 8  # of `socketcall(2)`


class _Interface(NamedTuple):
    """The numbers of system calls, as one interface of a machine has them."""

    mark: int
    refused: tuple[int, ...]  # add_key, request_key, keyctl and bpf
    socket: int
    socketpair: int
    socketcall: int = 0  # where there is one


_ARCHITECTURES = {
    "x86_64": (
        _Interface(0xC000003E, (248, 249, 250, 321), 41, 53),
        _Interface(0x40000003, (286, 287, 288, 357), 359, 360, 102),
    ),
    "aarch64": (
        _Interface(0xC00000B7, (217, 218, 219, 280), 198, 199),
        _Interface(0x40000028, (309, 310, 311, 386), 281, 288),
    ),
    "riscv64": (_Interface(0xC00000F3, (217, 218, 219, 280), 198, 199),),
}
_TELLS_CHILDREN = os.path.exists(f"/proc/self/task/{os.getpid()}/children")
_LIBC = ctypes.CDLL(None, use_errno=True)


def main() -> None:
    """Run, wait, clear up, report."""
    given = json.loads(sys.stdin.buffer.readline())
    if given.get("probes"):
        print(json.dumps(_probe()), flush=True)
        return
    _prctl(_PR_SET_CHILD_SUBREAPER, 1)
    reading, writing = os.pipe()
    os.set_blocking(writing, False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    signal.set_wakeup_fd(writing, warn_on_full_buffer=False)
    child = os.fork()
    if child == 0:
        _become(given)
    null = os.open(os.devnull, os.O_RDWR)
    os.dup2(null, 1)  # the output ends with the command, not with us
    why, status = _watch(child, given, reading)
    is_clear = _sweep(child, time.monotonic() + given["end_seconds"])
    if why == "left":
        _clear_away(given["temporary"])
    os.write(
        given["status"], json.dumps({"why": why, "status": status, "is_clear": is_clear}).encode()
    )


def _watch(child: int, given: Mapping[str, Any], woken: int) -> tuple[str, int | None]:
    """Wait for the command: why it ended (done, time, processes, left), and its status as a shell
    says it.
    """
    poll = select.poll()
    poll.register(0, select.POLLIN)
    poll.register(woken, select.POLLIN)
    ends = time.monotonic() + given["seconds"]
    while True:
        found, status = os.waitpid(child, os.WNOHANG)
        if found:
            code = os.waitstatus_to_exitcode(status)
            return "done", code if code >= 0 else 128 - code
        if time.monotonic() >= ends:
            return "time", None
        if len(_descendants()) > given["processes"]:
            return "processes", None
        if _is_full(given):
            return "disk", None
        for descriptor, _ in poll.poll(given["tick_seconds"] * 1000):
            if not os.read(descriptor, 4096) and descriptor == 0:
                return "left", None
        _reap(child)


def _is_full(given: Mapping[str, Any]) -> bool:
    """True if the disk is about to be, where the command writes; what was so before is not its
    doing.
    """
    for path, before in given["free_bytes"].items():
        with suppress(OSError):
            status = os.statvfs(path)
            if status.f_bavail * status.f_frsize < min(given["least_free_bytes"], before // 2):
                return True
    return False


def _reap(but: int) -> None:
    """Let orphans go that have ended; the command itself is waited for elsewhere."""
    for pid in _children(os.getpid()):
        if pid != but:
            with suppress(ChildProcessError):
                os.waitpid(pid, os.WNOHANG)


def _sweep(child: int, ends: float) -> bool:
    """End all that is left; True when nothing is.

    What forks while it is being ended is first brought to a halt: a stopped process makes no other.
    Where `/proc` does not say what is left, it is at least all of the group of the command that is
    ended.
    """
    if not _TELLS_CHILDREN:
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(child, signal.SIGKILL)
    while time.monotonic() < ends:
        left = _descendants()
        for number in (signal.SIGSTOP, signal.SIGKILL):
            for pid in left:
                with suppress(ProcessLookupError, PermissionError):
                    os.kill(pid, number)
        try:
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
        except ChildProcessError:
            return True
        time.sleep(0.001)
    return False


def _clear_away(temporary: str) -> None:
    """Remove what the command has left in its own folder: whoever asked may have been killed, and
    does not do it.
    """
    import shutil

    shutil.rmtree(temporary, ignore_errors=True)


def _descendants() -> list[int]:
    """All processes below this one."""
    found: list[int] = []
    pending = [os.getpid()]
    while pending:
        below = _children(pending.pop())
        found += below
        pending += below
    return found


def _children(pid: int) -> list[int]:
    """The processes that a process has started and that are not gone; none where `/proc` does not
    tell.
    """
    found: list[int] = []
    with suppress(OSError):
        for thread in os.listdir(f"/proc/{pid}/task"):
            with suppress(OSError), open(f"/proc/{pid}/task/{thread}/children", "rb") as file:
                found += map(int, file.read().split())
    return found


# The command itself


def _become(given: Mapping[str, Any]) -> NoReturn:
    """Be the command: in a session of its own, without input, confined."""
    try:
        signal.set_wakeup_fd(-1)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        signal.signal(signal.SIGPIPE, signal.SIG_DFL)
        os.setsid()
        _prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        os.dup2(1, 2)
        os.closerange(3, 1024)
        _be_first_to_go()
        _leave_room(given["free_bytes"].values())
        if given["confines"]:
            _confine(given)
        os.chdir(given["root"])  # now: mounts lie on top of what was there
        words = [given["shell"], "-c", given["command"]]
        os.execve(words[0], words, given["environment"])  # noqa: S606
    except BaseException as error:  # noqa: BLE001 - nothing may return from here
        os.write(2, f"the command cannot be started: {error}\n".encode())
    os._exit(CANNOT_START)


def _be_first_to_go() -> None:
    """Have the system end this command first where memory runs out (`proc_pid_oom_score_adj(5)`)."""
    with suppress(OSError), open("/proc/self/oom_score_adj", "w", encoding="ascii") as file:
        file.write("1000")


def _leave_room(free_bytes: Iterable[int]) -> None:
    """No file may take more than half of what is left on the disk; how much all take is watched."""
    import resource

    for free in free_bytes:
        with suppress(OSError, ValueError):
            known = [
                one
                for one in resource.getrlimit(resource.RLIMIT_FSIZE)
                if one != resource.RLIM_INFINITY
            ]
            most = min([free // 2, *known])
            resource.setrlimit(resource.RLIMIT_FSIZE, (most, most))


def _confine(given: Mapping[str, Any]) -> None:
    """Give up what the command is not to do. `OSError` where the system refuses."""
    is_apart = _leave(_CLONE_NEWNS | (0 if given["network"] else _CLONE_NEWNET))
    are_closed = False
    writable = [
        os.path.realpath(path) for path in (given["root"], given["temporary"], *given["writable"])
    ]
    if is_apart and not _LIBC.mount(None, b"/", None, _MS_REC | _MS_PRIVATE, None):
        _hide(given["hidden"], [*given["readable"], *writable])
        _seal(writable)
        _guard(given["guarded"])
        are_closed = _close(given["closed"])
    _prctl(_PR_SET_NO_NEW_PRIVS, 1)
    _filter_calls(
        refuses_sockets=not (are_closed and _reaches_no_names(has_network=given["network"]))
    )
    _restrict_files(
        writable, given["hidden"], given["readable"], closes_tcp=not (given["network"] or is_apart)
    )


def _leave(kinds: int) -> bool:
    """Move into namespaces of one's own; False where that is not allowed."""
    user, group = os.geteuid(), os.getegid()
    if _LIBC.unshare(_CLONE_NEWUSER | kinds):
        return False
    for name, text in (
        ("setgroups", "deny"),
        ("uid_map", f"{user} {user} 1"),
        ("gid_map", f"{group} {group} 1"),
    ):
        with open(f"/proc/self/{name}", "w", encoding="ascii") as file:
            file.write(text)
    if kinds & _CLONE_NEWNET:
        _raise_loopback()
    return True


def _raise_loopback() -> None:
    """In a new network even what leads to itself is down."""
    import fcntl
    import socket

    with suppress(OSError), socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as plain:
        flags = struct.unpack(
            "16sH", fcntl.ioctl(plain, _SIOCGIFFLAGS, struct.pack("16sH14x", b"lo", 0))[:18]
        )[1]
        fcntl.ioctl(plain, _SIOCSIFFLAGS, struct.pack("16sH14x", b"lo", flags | _IFF_UP))


def _hide(hidden: Iterable[str], shown: Iterable[str]) -> None:
    """Have nothing in these folders but what is shown of them, and nothing in these files.

    A program that finds no file of settings goes on; one that may not read it often ends. Landlock
    alone forbids.
    """
    folders = [path for path in hidden if os.path.isdir(path)]
    below = [path for path in shown if any(path.startswith(f"{folder}/") for folder in folders)]
    trees = {path: _detached(path) for path in sorted(below, key=lambda path: path.count("/"))}
    if any(tree < 0 for tree in trees.values()):
        return
    for path in hidden:
        if path in folders:
            _LIBC.mount(b"tmpfs", os.fsencode(path), b"tmpfs", _MS_OWN, b"mode=755,size=1m")
        else:
            _LIBC.mount(b"/dev/null", os.fsencode(path), None, _MS_BIND, None)
    for path, tree in trees.items():
        _attach(tree, path)


def _detached(path: str) -> int:
    """A descriptor of all below a path, to be attached elsewhere (`open_tree(2)`); negative where
    that fails.
    """
    flags = ctypes.c_uint(_OPEN_TREE_CLONE | _RECURSIVE | os.O_CLOEXEC)
    return int(_LIBC.syscall(_OPEN_TREE, ctypes.c_int(_AT_FDCWD), os.fsencode(path), flags))


def _attach(tree: int, path: str) -> None:
    """Put it there (`move_mount(2)`), in folders that are made for it."""
    with suppress(OSError):
        if os.path.isdir(f"/proc/self/fd/{tree}"):
            os.makedirs(path, exist_ok=True)
        elif not os.path.exists(path):
            os.makedirs(os.path.dirname(path), exist_ok=True)
            os.close(os.open(path, os.O_CREAT | os.O_CLOEXEC))
    target, flags = ctypes.c_int(_AT_FDCWD), ctypes.c_uint(_MOVE_MOUNT_F_EMPTY_PATH)
    _LIBC.syscall(_MOVE_MOUNT, ctypes.c_int(tree), b"", target, os.fsencode(path), flags)
    os.close(tree)


def _seal(writable: Iterable[str]) -> None:
    """Make everything read-only but these, where the system can; shared memory is the command's
    own.
    """
    places = [os.fsencode(path) for path in writable if os.path.lexists(path)]
    for path in places:
        _LIBC.mount(path, path, None, _MS_BIND | _MS_REC, None)
    if _set_read_only(b"/", set_flags=_READ_ONLY, recursively=True):
        for path in [*places, b"/dev/pts"]:
            if not _set_read_only(path, clear_flags=_READ_ONLY, recursively=True):
                # something below is, for good
                _set_read_only(path, clear_flags=_READ_ONLY)
    shared = os.fsencode(_SHARED_MEMORY)
    _LIBC.mount(b"tmpfs", shared, b"tmpfs", _MS_OWN, b"mode=1777,size=50%")


def _set_read_only(
    path: bytes, set_flags: int = 0, clear_flags: int = 0, *, recursively: bool = False
) -> bool:
    attributes = struct.pack("=QQQQ", set_flags, clear_flags, 0, 0)
    flags = ctypes.c_uint(_RECURSIVE if recursively else 0)
    size = ctypes.c_size_t(len(attributes))
    return not _LIBC.syscall(_MOUNT_SETATTR, ctypes.c_int(_AT_FDCWD), path, flags, attributes, size)


def _close(sockets: Iterable[str]) -> bool:
    """Have nobody listen at these; False where one stays open."""
    are_closed = True
    for path in map(os.fsencode, sockets):
        is_closed = not _LIBC.mount(
            b"/dev/null", path, None, _MS_BIND, None
        ) or not os.path.lexists(path)
        are_closed = are_closed and is_closed
    return are_closed


def _reaches_no_names(*, has_network: bool) -> bool:
    """True if abstract sockets of other programs are out of reach: they belong to a network, or
    Landlock knows them.
    """
    return not has_network or landlock_version() >= _SCOPE_ABI


def _guard(paths: Iterable[str]) -> None:
    """Let nobody write to these; the folder around each stays where it is, so that none is put in
    its place.
    """
    for folder in dict.fromkeys(map(os.path.dirname, paths)):
        _LIBC.mount(os.fsencode(folder), os.fsencode(folder), None, _MS_BIND | _MS_REC, None)
    for path in map(os.fsencode, paths):
        _LIBC.mount(path, path, None, _MS_BIND | _MS_REC, None)
        kept = os.statvfs(path).f_flag & _MS_LOCKED
        _LIBC.mount(None, path, None, _MS_REMOUNT | _MS_BIND | _MS_RDONLY | kept, None)


# System calls


def _filter_calls(*, refuses_sockets: bool) -> None:
    """Refuse those that the other means do not see: rings of requests, keys of the kernel, programs
    in it.
    """
    if steps := _filter_steps(refuses_sockets=refuses_sockets):
        kept = ctypes.create_string_buffer(steps)
        program = struct.pack("@HP", len(steps) // _STEP.size, ctypes.addressof(kept))
        _checked(_LIBC.prctl(_PR_SET_SECCOMP, ctypes.c_ulong(_SECCOMP_FILTER), program, 0, 0))


def _filter_steps(*, refuses_sockets: bool) -> bytes:
    """The program of `seccomp(2)`: each interface has numbers of its own; "" on machines that it
    does not know.
    """
    machine = os.uname().machine
    if machine not in _ARCHITECTURES:
        return b""
    steps = [(_LOAD, 0, 0, _OFFSET_OF_ARCHITECTURE)]
    for interface in _ARCHITECTURES[machine]:
        refused = [*_URING_CALLS, *interface.refused]
        tests = [(_IS_EQUAL, len(refused) - at, 0, number) for at, number in enumerate(refused)]
        tests += [(_IS_LEAST, 0, 1, _FOREIGN_NUMBERS), (_RETURN, 0, 0, _REFUSE)]
        sockets = _socket_steps(interface) if refuses_sockets else []
        block = [(_LOAD, 0, 0, _OFFSET_OF_NUMBER), *tests, *sockets, (_RETURN, 0, 0, _ALLOW)]
        steps += [(_IS_EQUAL, 0, len(block), interface.mark), *block]
    return b"".join(_STEP.pack(*step) for step in [*steps, (_RETURN, 0, 0, _REFUSE)])


def _socket_steps(interface: _Interface) -> list[tuple[int, int, int, int]]:
    """Steps that refuse Unix sockets, but for pairs that lead to each other: those of datagrams can
    lead elsewhere.
    """
    steps = _argument_steps(interface.socket, 0, 0xFFFFFFFF, (_UNIX,))
    steps += _argument_steps(interface.socketpair, 1, _KIND_OF_SOCKET, (_DATAGRAM, _RAW))
    if interface.socketcall:  # what it is to make is in memory, which no filter reads
        steps += _argument_steps(interface.socketcall, 0, 0xFFFFFFFF, (_MAKE_SOCKET, _MAKE_PAIR))
    return steps


def _argument_steps(
    number: int, position: int, mask: int, refused: tuple[int, ...]
) -> list[tuple[int, int, int, int]]:
    """Steps that refuse a call whose argument, as far as the mask goes, is one of some values."""
    tests = [(_IS_EQUAL, len(refused) - at, 0, value) for at, value in enumerate(refused)]
    block = [
        (_LOAD, 0, 0, _OFFSET_OF_ARGUMENTS + position * _ARGUMENT_BYTES),
        (_AND, 0, 0, mask),
        *tests,
        (_RETURN, 0, 0, _ALLOW),
        (_RETURN, 0, 0, _REFUSE),
    ]
    return [(_IS_EQUAL, 0, len(block), number), *block]


# Landlock


def landlock_version() -> int:
    """The version of Landlock that the kernel has, 0 for none."""
    if sys.platform != "linux":
        return 0
    return max(0, int(_LIBC.syscall(_CREATE_RULESET, None, 0, _VERSION)))


def _restrict_files(
    writable: Iterable[str], hidden: Iterable[str], readable: Iterable[str], *, closes_tcp: bool
) -> None:
    version = landlock_version()
    if not version:
        raise OSError("the kernel has no Landlock")
    everything = (1 << (_FS_OF_ABI[version] if version < len(_FS_OF_ABI) else _FS_MOST)) - 1
    network = _NET_ALL if closes_tcp and version >= _NET_ABI else 0
    attributes = struct.pack(
        "=QQQ", everything, network, _SCOPE_ALL if version >= _SCOPE_ABI else 0
    )
    known = 24 if version >= _SCOPE_ABI else 16 if version >= _NET_ABI else 8
    rules = _checked(_LIBC.syscall(_CREATE_RULESET, attributes, ctypes.c_size_t(known), 0))
    looks = _EXECUTE | _READ_FILE | _READ_DIR
    for path, is_whole in _cover("/", [os.path.realpath(path) for path in hidden]):
        _allow(rules, path, everything & (looks if is_whole else _READ_DIR))
    for path in readable:
        _allow(rules, os.path.realpath(path), everything & looks)
    for device in _DEVICES:
        _allow(rules, f"/dev/{device}", everything)
    for path in writable:
        _allow(rules, os.path.realpath(path), everything)
    _checked(_LIBC.syscall(_RESTRICT_SELF, rules, 0))
    os.close(rules)


def _allow(rules: int, path: str, access: int) -> None:
    """Allow some kinds of access to all below a path; nothing where there is no such path."""
    try:
        descriptor = os.open(path, os.O_PATH | os.O_CLOEXEC)  # type: ignore[attr-defined,unused-ignore]
    except OSError:
        return
    try:
        if not os.path.isdir(f"/proc/self/fd/{descriptor}"):
            access &= _OF_A_FILE
        if access:
            rule = struct.pack("=Qi", access, descriptor)
            _checked(_LIBC.syscall(_ADD_RULE, rules, _PATH_BENEATH, rule, 0))
    finally:
        os.close(descriptor)


def _cover(path: str, hidden: list[str]) -> Iterable[tuple[str, bool]]:
    """Paths that together are all below `path` but what is hidden, and whether all below each is
    meant.

    Rules of Landlock allow and cannot forbid: on the way to what is hidden, everything beside it is
    allowed by itself.
    """
    below = [one for one in hidden if one == path or one.startswith(f"{path.rstrip('/')}/")]
    if path in below:
        return
    if not below:
        yield path, True
        return
    yield path, False
    with suppress(OSError):
        for name in os.listdir(path):
            inner = f"{path.rstrip('/')}/{name}"
            if not os.path.islink(inner):
                yield from _cover(inner, below)


def _probe() -> dict[str, Any]:
    """The means of this system to confine a command."""
    version = landlock_version()
    has_namespace = bool(version) and _leave(_CLONE_NEWNS | _CLONE_NEWNET)
    is_apart = has_namespace and not _LIBC.mount(None, b"/", None, _MS_REC | _MS_PRIVATE, None)
    return {
        "landlock": version,
        "network": has_namespace or version >= _NET_ABI,
        "is_apart": is_apart,
        "closes_names": version >= _SCOPE_ABI,
        "filters": os.uname().machine in _ARCHITECTURES,
    }


def _prctl(option: int, value: int) -> None:
    if sys.platform == "linux":
        _checked(_LIBC.prctl(option, ctypes.c_ulong(value), 0, 0, 0))


def _checked(result: int) -> int:
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
    return result


if __name__ == "__main__":
    main()
