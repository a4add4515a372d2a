"""Commands about what the relay keeps that do more than ask it: with files, the browser, and what
follows.
"""

from __future__ import annotations

import sys
from contextlib import closing
from dataclasses import asdict
from pathlib import Path
from typing import Any

from tersely import __version__
from tersely.capabilities.declaration.declaration import Role, group, option, positional
from tersely.capabilities.relay.artifacts import GetParameters
from tersely.capabilities.relay.threads import event_line
from tersely.cli.own_command import CommandCall, command, plain, worded
from tersely.foundation.errors import TerselyError, failing_as
from tersely.foundation.text.escape import visible
from tersely.foundation.types import JsonObject

MAX_TAILED_EVENTS = 1_000  # that are shown without waiting for more


@command("version")
def _version(asked: CommandCall) -> JsonObject:
    """The version of the program."""
    return {"version": __version__, "text": f"{asked.program} {__version__}\n"}


@command("tail")
def _tail(
    asked: CommandCall,
    *,
    thread: str = positional("the id of a thread", metavar="THREAD-ID"),
    after: int = option(0, "events behind this number", minimum=0),
    follow: bool = option(True, "wait for those to come"),
) -> JsonObject:
    """The events of a thread as they happen."""
    with asked.connect() as relay:
        if not follow:
            page = {
                "thread": thread,
                "after": after,
                "limit": MAX_TAILED_EVENTS,
            }
            answered = relay.answer("event.list", page)
            return {**answered.result, "text": answered.text if answered.result["events"] else ""}
        with closing(relay.tail(thread, after)) as events:
            for event in events:
                sys.stdout.write(f"{event_line(event)}\n")
                sys.stdout.flush()
    return {"text": ""}


@command("open")
def _open(
    asked: CommandCall,
    *,
    thread: str = positional("the id of a thread", metavar="THREAD-ID"),
) -> JsonObject:
    """Open a thread's page in a browser, which it signs in."""
    import webbrowser

    with asked.connect() as relay:
        url = relay.page(f"threads/{thread}")
    is_opened = webbrowser.open(url)
    return {"url": url, "opened": is_opened, "text": f"{url}\n"}


@command("artifact put")
def _artifact_put(
    asked: CommandCall,
    *,
    file: str = positional("what to store, - for standard input", role=Role.TEXT, metavar="FILE"),
    thread: str = option("", "the id of a thread; of none without"),
) -> JsonObject:
    """Store a file and print its reference."""
    name = "" if file == "-" else Path(file).name
    with asked.connect() as relay, failing_as("unreadable_file", file):
        stream = sys.stdin.buffer if file == "-" else open(file, "rb")  # noqa: SIM115
        with stream:
            made = relay.upload(thread, stream, name=name)
    return worded(made, f"{made.uri}\n")


@command("artifact get")
def _artifact_get(
    asked: CommandCall,
    *,
    what: GetParameters = group(GetParameters),
    out: str = option("", "write all of it to a file", metavar="FILE"),
) -> JsonObject:
    """The preview of an artifact, lines of it, or all of it into a file."""
    given = {name: value for name, value in asdict(what).items() if value}
    with asked.connect() as relay:
        if not out:
            answered = relay.answer("artifact.get", given, colored=asked.style.colored)
            return {**answered.result, "text": answered.text}
        found = relay.ask("artifact.get", **given)
        if isinstance(found.text, str):
            raise TerselyError("usage", "--out takes no lines", "all of the artifact is written")
        with failing_as("unwritable_output", out):
            relay.download(found.thread_id, found.ref, Path(out))
    told = f"{found.size:,} bytes in {out}\n"
    return {**worded(found, told), "out": out}


@command("cap invoke", payload="--args")
def _cap_invoke(
    asked: CommandCall,
    *,
    capability: str = positional("its name, as cap list shows it"),
    thread: str = option("", "the id of a thread"),
    args: str = option("{}", "the arguments as JSON", metavar="JSON"),
    agent: str = option("cli", "the agent that asks"),
) -> JsonObject:
    """Call a capability on behalf of a thread."""
    from tersely.client import ask

    arguments = _decoded("--args", args)
    if not thread:
        raise TerselyError("usage", "--thread is missing", "relay runs lists the threads")
    with asked.connect() as relay:
        if isinstance(arguments, dict):
            listed = relay.ask("cap.list").capabilities
            schema: JsonObject = next(
                (one.args_schema for one in listed if one.name == capability), {}
            )
            arguments = asked.about_root(relay, arguments, schema)
        made = relay(
            ask(
                "cap_invoke",
                thread_id=thread,
                capability=capability,
                args=arguments,
            )
        )
    told = plain(made)
    shown = visible(told.get("text") or made.preview.text).rstrip("\n")
    return {**told, "text": f"{shown}\n{asked.style.faint(f'cass://{made.artifact_ref}')}\n"}


@command("export")
def _export(
    asked: CommandCall,
    *,
    thread: str = positional("the id of a thread", metavar="THREAD-ID"),
    out: str = option("", "the file to write (default: the id and .zip)", metavar="FILE"),
) -> JsonObject:
    """Write a thread to a bundle."""
    path = Path(out or f"{thread}.zip")
    bundle = asked.ask("thread_export", thread=thread)
    with failing_as("unwritable_output", path):
        path.write_bytes(bundle)
    return {"out": str(path), "size": len(bundle), "text": f"{len(bundle):,} bytes in {path}\n"}


@command("import")
def _import(
    asked: CommandCall,
    *,
    bundle: str = positional("what export has written", metavar="FILE"),
) -> JsonObject:
    """Read a thread from a bundle."""
    with failing_as("unreadable_file", bundle):
        content = Path(bundle).read_bytes()
    made = asked.ask("thread_import", content)
    return worded(made, f"{made.thread_id}\n")


def _decoded(option_name: str, text: str) -> Any:
    import json

    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise TerselyError("usage", f"{option_name} is not JSON: {error}") from None
