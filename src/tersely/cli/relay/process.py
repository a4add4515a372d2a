"""Commands about the relay itself: starting and stopping it, how it is, what is wrong with it."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from tersely import __version__
from tersely.capabilities.declaration.declaration import option, positional
from tersely.cli.agent.command_spec import ChatParameters, ServerKind
from tersely.cli.builtin.daemon import ANSWER_WORDS, default_workspace
from tersely.cli.own_command import CommandCall, command, worded
from tersely.cli.relay.examining import examined_remote
from tersely.foundation.errors import TerselyError, failing_as
from tersely.foundation.installation import missing_requirements, repair_hint
from tersely.foundation.process.lockfile import is_held
from tersely.foundation.storage.private import index_places, is_private
from tersely.foundation.text.escape import visible_line
from tersely.foundation.types import JsonObject
from tersely.integrations import adoption
from tersely.relay.wire.home import DEFAULT_PORT, LOCK, LOG, NO_PORT, home_directory

_LEAST_FREE_BYTES = 100_000_000


@command("agents approve")
def _approve(
    asked: CommandCall, *, permission: str = positional("its id, as agents shows it")
) -> JsonObject:
    """Allow what an agent waits for permission to do."""
    return _answered(asked, permission, allows=True)


@command("agents deny")
def _deny(
    asked: CommandCall, *, permission: str = positional("its id, as agents shows it")
) -> JsonObject:
    """Refuse what an agent waits for permission to do."""
    return _answered(asked, permission, allows=False)


@command("init")
def _init(asked: CommandCall) -> JsonObject:
    """Make the home directory with its settings."""
    from tersely.relay.policy import CONFIG
    from tersely.relay.relay import make_home

    home = home_directory()
    make_home(home)
    config = home / CONFIG
    if not config.exists():
        with failing_as("unwritable_output", config, "check the disk, and who may write there"):
            config.write_text(_CONFIG)
            config.chmod(0o600)
    return {"home": str(home), "config": str(config), "text": f"home    {home}\nconfig  {config}\n"}


@command("up")
def _up(
    asked: CommandCall,
    *,
    port: int | None = option(
        None,
        f"where browsers find it; the next free one if it is taken (default: as before, {DEFAULT_PORT} at first)",
        minimum=0,
        maximum=65_535,
    ),
    listen: str = option(
        "", "also for other machines, at this address and port", metavar="HOST:PORT"
    ),
    tls_cert: str = option(
        "", "the file of a certificate, with those that it is signed by", metavar="FILE"
    ),
    tls_key: str = option("", "and that of its key", metavar="FILE"),
    no_tcp: bool = option(
        False, "listen at the sockets in the home alone; there are no pages then"
    ),
    stay: bool = option(
        False,
        "end with the relay, and the relay with this command, as systemd and containers want it",
    ),
) -> JsonObject:
    """Start the relay, which connects agents."""
    from tersely.cli.relay import addresses
    from tersely.client import relay_process

    if no_tcp and port is not None:
        raise TerselyError(
            "usage", "--no-tcp leaves no port to choose", "leave out --port, or --no-tcp"
        )
    wanted = NO_PORT if no_tcp else "" if port is None else str(port)
    address = addresses.wanted(listen, tls_cert, tls_key)
    root = default_workspace(asked.options.root)
    # before the start: who is told to end meanwhile would leave the relay behind
    told = relay_process.endings() if stay else None
    started = relay_process.start(home_directory(), wanted, root, ANSWER_WORDS, address)
    how = "runs already" if started.was_running else "started"
    found = started.told
    where = f" at {found.url}" if found.url else ""
    taken = f" (port {found.wanted_port} is taken)" if found.wanted_port else ""
    others = f"for other machines at {found.remote_url}\n" if found.remote_url else ""
    text = f"relay {how}{where}{taken} as process {found.pid}\n{others}"
    if told is not None:
        sys.stderr.write(text)
        relay_process.stay(home_directory(), told)
        text = "stopped\n"
    about = {name: getattr(found, name) for name in ("url", "remote_url", "pid")}
    return {**about, "was_running": started.was_running, "text": text}


@command("down")
def _down(asked: CommandCall) -> JsonObject:
    """Stop the relay."""
    from tersely.client import relay_process

    connected = _connected(home_directory())
    was_running = relay_process.stop(home_directory())
    text = "stopped\n" if was_running else "no relay runs\n"
    if connected:
        text += f"{', '.join(connected)} go on and connect again when a relay runs\n"
    return {"was_running": was_running, "connected": connected, "text": text}


def _connected(home: Path) -> list[str]:
    """Who is connected to the relay of a home; nobody where it does not answer or is another
    machine's.
    """
    from tersely.client import Client, joining
    from tersely.client.relay_process import STATUS_SECONDS

    if joining.load(home) is not None:
        return []
    with suppress(TerselyError), Client.local(home=home, seconds=STATUS_SECONDS) as relay:
        return [one.name for one in relay.ask("agent.list", connected=True).agents]
    return []


@command("doctor")
def _doctor(
    asked: CommandCall,
    *,
    url: str = option("", "check only the server of a model here, whatever is configured"),
    model: str = option("", "which of its models"),
    kind: ServerKind = option(ServerKind.AUTO, "what the server speaks"),
) -> JsonObject:
    """Check the relay and the agent, or one server of a model, for problems."""
    from tersely.cli.agent.doctor import examined_model

    server = ChatParameters(url=url, model=model, kind=kind)
    root = Path(default_workspace(asked.options.root))
    findings = list(examined_model(root, server))
    if not url:
        findings = [*_examined(home_directory()), *_examined_index(root), *findings]
    marks = {True: asked.style.good("ok  "), False: asked.style.bad("bad ")}
    lines = [f"{marks[is_well]} {what}" for is_well, what in findings]
    bad = [what for is_well, what in findings if not is_well]
    if bad and asked.options.json:
        raise TerselyError("doctor_found", "; ".join(" ".join(what.split()) for what in bad))
    if bad:
        sys.stdout.write("\n".join(lines) + "\n")
        raise TerselyError("doctor_found", "not all is well", "the lines marked bad say what to do")
    return {"findings": [what for _, what in findings], "text": "\n".join(lines) + "\n"}


def _examined(home: Path) -> Iterator[tuple[bool, str]]:
    yield True, f"tersely {__version__} with Python {sys.version.split()[0]}"
    packages = missing_requirements()
    yield (
        not packages,
        f"packages: {', '.join(packages)} missing; {repair_hint()}" if packages else "packages",
    )
    yield True, adoption.figures().line()
    if not home.exists():
        above = next(place for place in home.parents if place.exists())
        is_well = os.access(above, os.W_OK)
        yield (
            is_well,
            f"{home} is made by the first start"
            if is_well
            else f"{home} cannot be made: {above} is read-only",
        )
        return
    is_own = is_private(str(home))
    yield is_own, f"{home} is this user's alone" if is_own else f"chmod 700 {home}"
    yield os.access(home, os.W_OK), f"{home} can be written"
    free = shutil.disk_usage(home).free
    has_room = free > _LEAST_FREE_BYTES
    wanted = "" if has_room else f": make room, the relay wants {_LEAST_FREE_BYTES:,}"
    yield has_room, f"{free:,} bytes are free on its disk{wanted}"
    if packages:
        return
    yield from examined_remote(home)
    yield from _examined_relay(home)


def _examined_index(root: Path) -> Iterator[tuple[bool, str]]:
    """Whether the index of a repository can be read and kept; one that is damaged is built anew."""
    from tersely.workspace import Workspace

    if not os.path.exists(index_places(str(root)).in_repository) and os.access(root, os.W_OK):
        return
    with Workspace.open(root) as workspace:
        try:
            workspace.engine.store.check()
        except TerselyError:
            workspace.engine.replace_damaged_index()
        told = workspace.engine.store.notices or workspace.refresh().news
        yield not told, told[0] if told else "index"


def _examined_relay(home: Path) -> Iterator[tuple[bool, str]]:
    from tersely.client import relay_process
    from tersely.relay.policy import load
    from tersely.relay.services import configuration

    try:
        load(home)
        configuration.load(os.environ)
    except TerselyError as error:
        yield False, str(error)
    else:
        yield True, "settings"
    yield _examined_database(home)
    try:
        found = relay_process.running(home)
    except TerselyError as error:
        yield False, f"{error}; {error.hint}"
        return
    if found is not None:
        yield True, f"relay answers at {found.url or 'its sockets'}"
    elif is_held(str(home / LOCK)):
        yield False, f"a relay holds {home / LOCK} and does not answer; its log is {home / LOG}"
    else:
        yield True, "no relay runs"


def _examined_database(home: Path) -> tuple[bool, str]:
    from tersely.relay.relay import check

    try:
        check(home)
    except TerselyError as error:
        return False, f"{error}; {error.hint}"
    return True, "database"


_CONFIG = """\
# What agents may do. Every setting has a default; `tersely config` shows those in force.
# payload_bytes = 16384        # of one request but an artifact's
# note_characters = 280
# hops = 50                    # calls that may lead from one to the next
# turns = 100                  # answers between two agents without a person
# thread_programs = 64         # that agents start in one thread and day; then none starts another
# calls_per_minute = 600       # of one agent
# messages_per_minute = 6000   # of one agent, in one channel; its questions to the relay, to each service
# trusted_hosts = []           # names by which `up --listen` may be asked; any without
# trusted_proxies = []         # addresses whose X-Forwarded-For is believed
# private_hosts = []           # that http.fetch may reach beside the public internet

[allow]
# "http.fetch" = ["*"]         # what reaches the network or runs programs is denied unless it stands here

[deny]
"""


def _answered(asked: CommandCall, permission: str, *, allows: bool) -> JsonObject:
    told = asked.ask("permission_answer", name=permission, allows=allows)
    said = "allowed" if allows else "denied"
    text = f"{said}: {told.agent} {visible_line(f'{told.tool}: {told.what}')}\n"
    return worded(told, text)
