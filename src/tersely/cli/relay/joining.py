"""Commands by which a machine uses the relay of another, and its own again."""

from __future__ import annotations

import os
import stat
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from tersely.capabilities.declaration.declaration import option, positional
from tersely.cli.builtin.daemon import ANSWER_WORDS, default_workspace, resolved_root
from tersely.cli.own_command import CommandCall, command
from tersely.foundation.errors import TerselyError
from tersely.foundation.types import JsonObject
from tersely.relay.wire.home import home_directory

if TYPE_CHECKING:
    from tersely.client.joining import JoinedRelay

MAX_CODE_CHARACTERS = 100
_AGAIN = "tersely leave, then join the other"


@command("join")
def _join(
    asked: CommandCall,
    *,
    url: str = positional(
        "the address of the relay (default: the one that is joined)", default="", metavar="URL"
    ),
    code_file: str = option(
        "", "a file of this user alone with the code, instead of typing it", metavar="FILE"
    ),
    machine: str = option("", "what this machine is called there (default: its name)", maximum=30),
    share: bool = option(False, "let other machines ask about the code of this repository"),
) -> JsonObject:
    """Have this machine use the relay of another."""
    from tersely.client import joining
    from tersely.doors.gateway import code

    home = home_directory()
    found = resolved_root if share else default_workspace
    root = found(asked.options.root)
    membership = joining.load(home)
    if membership is not None and url:
        raise TerselyError(
            "join_state", f"this machine uses the relay at {membership.url} already", _AGAIN
        )
    if membership is None:
        membership = _membership(home, url, code_file, machine)
    if share and root not in membership.shared:
        membership = _with_shared(membership, root)
    joining.save(home, membership)
    _start_again(home, root)
    shared = [
        f"{code.service_name(one, membership.machine)} answers about {one}"
        for one in membership.shared
    ]
    who = f"{membership.identity} at {membership.machine}"
    lines = [f"this machine uses the relay at {membership.url} as {who}", *shared]
    told = {"url": membership.url, "identity": membership.identity, "tenant": membership.tenant}
    return {
        **told,
        "machine": membership.machine,
        "shared": shared,
        "text": "\n".join(lines) + "\n",
    }


def _membership(home: Path, url: str, code_file: str, machine: str) -> JoinedRelay:
    from tersely.client import joining
    from tersely.relay.relay import make_home

    if not url:
        raise TerselyError("usage", "which relay?", "as tersely join https://relay.example:7474")
    make_home(home)
    check_package()
    return joining.join(url, _code(code_file), machine)


def check_package() -> None:
    """Raise `damaged_installation` where envelopes cannot go from machine to machine."""
    from importlib.util import find_spec

    if find_spec("websockets") is None:
        hint = "install Tersely again, from where it came, with the extra `remote`"
        raise TerselyError("damaged_installation", "the package websockets is missing", hint)


def _with_shared(membership: JoinedRelay, root: str) -> JoinedRelay:
    import msgspec

    from tersely.client.joining import MAX_SHARED_WORKSPACES

    if len(membership.shared) >= MAX_SHARED_WORKSPACES:
        raise TerselyError("busy", f"{MAX_SHARED_WORKSPACES} repositories are shared", _AGAIN)
    return msgspec.structs.replace(membership, shared=(*membership.shared, root))


def _start_again(home: Path, root: str) -> None:
    from tersely.client import relay_process

    relay_process.stop(home)
    relay_process.start(home, "", root, ANSWER_WORDS)


def _code(path: str) -> str:
    """The code, from a file of this user alone, standard input, or a terminal; never from an
    argument, which all users of a machine can read.
    """
    if path:
        return _read_private(Path(path))
    if not sys.stdin.isatty():
        return sys.stdin.read(MAX_CODE_CHARACTERS).strip()
    import getpass

    return getpass.getpass("code: ").strip()


def _read_private(path: Path) -> str:
    try:
        with open(os.open(path, os.O_RDONLY | os.O_NONBLOCK)) as file:
            status = os.fstat(file.fileno())
            if (
                not stat.S_ISREG(status.st_mode)
                or status.st_uid != os.geteuid()
                or status.st_mode & 0o077
            ):
                raise TerselyError(
                    "unreadable_file",
                    f"{path} is not a file of this user alone",
                    f"chmod 600 {path}",
                )
            return file.read(MAX_CODE_CHARACTERS).strip()
    except (OSError, UnicodeDecodeError) as error:
        raise TerselyError(
            "unreadable_file", f"{path}: {getattr(error, 'strerror', None) or error}"
        ) from error


@command("leave")
def _leave(asked: CommandCall) -> JsonObject:
    """Have this machine use a relay of its own again."""
    from tersely.client import ask, joining, relay_process
    from tersely.doors.gateway.requests import waiting

    home = home_directory()
    path = home / joining.JOINED
    if not os.path.lexists(path):
        raise TerselyError(
            "join_state", "this machine uses no relay of another", "tersely join URL"
        )
    relay_process.stop(home)
    lines = []
    try:
        membership = joining.load(home)
        if membership is not None:
            joining.once(membership, ask("token_revoke", name=membership.token_id))
            lines.append(f"left {membership.url}; the token of this machine is revoked")
    except TerselyError as error:
        lines.append(f"left, but its token could not be revoked: {error.message}")
        lines.append("have it done where the relay runs: tersely relay token list, then revoke")
    path.unlink(missing_ok=True)
    count = waiting(home)
    if count:
        lines.append(f"{count:,} messages were not sent; they wait until this machine joins again")
    lines.append("this machine uses a relay of its own again: tersely up")
    return {"unsent": count, "text": "\n".join(lines) + "\n"}
