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
from tersely.cli.relay.command_spec import Nothing, RelayCommand, RelayCommandCall, plain, worded
from tersely.foundation.errors import TerselyError
from tersely.foundation.text.escape import visible
from tersely.foundation.types import JsonObject, frozen

MAX_TAILED_EVENTS = 1_000  # that are shown without waiting for more


@frozen
class _OfThread:
    thread: str = positional("the id of a thread", metavar="THREAD-ID")


@frozen
class _Tail(_OfThread):
    after: int = option(0, "events behind this number", minimum=0)
    follow: bool = option(True, "wait for those to come")


@frozen
class _Put:
    file: str = positional("what to store, - for standard input", role=Role.TEXT, metavar="FILE")
    thread: str = option("", "the id of a thread; of none without")


@frozen
class _Get:
    what: GetParameters = group(GetParameters)
    out: str = option("", "write all of it to a file", metavar="FILE")


@frozen
class _Invoke:
    capability: str = positional("its name, as cap list shows it")
    thread: str = option("", "the id of a thread")
    args: str = option("{}", "the arguments as JSON", metavar="JSON")
    agent: str = option("cli", "the agent that asks")


@frozen
class _Export(_OfThread):
    out: str = option("", "the file to write (default: the id and .zip)", metavar="FILE")


@frozen
class _Import:
    bundle: str = positional("what export has written", metavar="FILE")


def _tail(asked: RelayCommandCall, parameters: _Tail) -> JsonObject:
    with asked.connect() as relay:
        if not parameters.follow:
            page = {
                "thread": parameters.thread,
                "after": parameters.after,
                "limit": MAX_TAILED_EVENTS,
            }
            answered = relay.answer("event.list", page)
            return {**answered.result, "text": answered.text if answered.result["events"] else ""}
        with closing(relay.tail(parameters.thread, parameters.after)) as events:
            for event in events:
                sys.stdout.write(f"{event_line(event)}\n")
                sys.stdout.flush()
    return {"text": ""}


def _open(asked: RelayCommandCall, parameters: _OfThread) -> JsonObject:
    import webbrowser

    with asked.connect() as relay:
        url = relay.page(f"threads/{parameters.thread}")
    is_opened = webbrowser.open(url)
    return {"url": url, "opened": is_opened, "text": f"{url}\n"}


def _artifact_put(asked: RelayCommandCall, parameters: _Put) -> JsonObject:
    name = "" if parameters.file == "-" else Path(parameters.file).name
    with asked.connect() as relay:
        try:
            file = sys.stdin.buffer if parameters.file == "-" else open(parameters.file, "rb")  # noqa: SIM115
            with file:
                made = relay.upload(parameters.thread, file, name=name)
        except OSError as error:
            raise TerselyError("unreadable_file", f"{parameters.file}: {error.strerror}") from error
    return worded(made, f"{made.uri}\n")


def _artifact_get(asked: RelayCommandCall, parameters: _Get) -> JsonObject:
    given = {name: value for name, value in asdict(parameters.what).items() if value}
    with asked.connect() as relay:
        if not parameters.out:
            answered = relay.answer("artifact.get", given, colored=asked.style.colored)
            return {**answered.result, "text": answered.text}
        found = relay.ask("artifact.get", **given)
        if isinstance(found.text, str):
            raise TerselyError("usage", "--out takes no lines", "all of the artifact is written")
        try:
            relay.download(found.thread_id, found.ref, Path(parameters.out))
        except OSError as error:
            raise TerselyError(
                "unwritable_output", f"{parameters.out}: {error.strerror}"
            ) from error
    told = f"{found.size:,} bytes in {parameters.out}\n"
    return {**worded(found, told), "out": parameters.out}


def _cap_invoke(asked: RelayCommandCall, parameters: _Invoke) -> JsonObject:
    from tersely.client import ask

    arguments = _decoded("--args", parameters.args)
    if not parameters.thread:
        raise TerselyError("usage", "--thread is missing", "relay runs lists the threads")
    with asked.connect() as relay:
        if isinstance(arguments, dict):
            listed = relay.ask("cap.list").capabilities
            schema: JsonObject = next(
                (one.args_schema for one in listed if one.name == parameters.capability), {}
            )
            arguments = asked.about_root(relay, arguments, schema)
        made = relay(
            ask(
                "cap_invoke",
                thread_id=parameters.thread,
                capability=parameters.capability,
                args=arguments,
            )
        )
    told = plain(made)
    shown = visible(told.get("text") or made.preview.text).rstrip("\n")
    return {**told, "text": f"{shown}\n{asked.style.faint(f'cass://{made.artifact_ref}')}\n"}


def _export(asked: RelayCommandCall, parameters: _Export) -> JsonObject:
    path = Path(parameters.out or f"{parameters.thread}.zip")
    bundle = asked.ask("thread_export", thread=parameters.thread)
    try:
        path.write_bytes(bundle)
    except OSError as error:
        raise TerselyError("unwritable_output", f"{path}: {error.strerror}") from error
    return {"out": str(path), "size": len(bundle), "text": f"{len(bundle):,} bytes in {path}\n"}


def _import(asked: RelayCommandCall, parameters: _Import) -> JsonObject:
    try:
        bundle = Path(parameters.bundle).read_bytes()
    except OSError as error:
        raise TerselyError("unreadable_file", f"{parameters.bundle}: {error.strerror}") from error
    made = asked.ask("thread_import", bundle)
    return worded(made, f"{made.thread_id}\n")


def _version(asked: RelayCommandCall, parameters: Nothing) -> JsonObject:
    return {"version": __version__, "text": f"{asked.program} {__version__}\n"}


def _decoded(option_name: str, text: str) -> Any:
    import json

    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise TerselyError("usage", f"{option_name} is not JSON: {error}") from None


COMMANDS: tuple[RelayCommand, ...] = (
    RelayCommand(("version",), "The version of the program", Nothing, _version),
    RelayCommand(("tail",), "The events of a thread as they happen", _Tail, _tail),
    RelayCommand(
        ("open",), "Open a thread's page in a browser, which it signs in", _OfThread, _open
    ),
    RelayCommand(("artifact", "put"), "Store a file and print its reference", _Put, _artifact_put),
    RelayCommand(
        ("artifact", "get"),
        "The preview of an artifact, lines of it, or all of it into a file",
        _Get,
        _artifact_get,
    ),
    RelayCommand(
        ("cap", "invoke"), "Call a capability on behalf of a thread", _Invoke, _cap_invoke, "--args"
    ),
    RelayCommand(("export",), "Write a thread to a bundle", _Export, _export),
    RelayCommand(("import",), "Read a thread from a bundle", _Import, _import),
)
