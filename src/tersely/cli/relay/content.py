"""Commands about what the relay keeps: threads, their state, artifacts, events, calls and figures."""

from __future__ import annotations

import re
import sys
from contextlib import closing
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any

from tersely import __version__
from tersely.capabilities.declaration import Role, option, positional
from tersely.capabilities.text import aligned
from tersely.cli.relay.declared import Asked, Nothing, RelayCommand, plain
from tersely.foundation.errors import TerselyError
from tersely.foundation.escape import visible, visible_line
from tersely.foundation.limits import MAX_WEB_BODY_BYTES

_SHOWN_THREADS = 20
_SHOWN_REF = 12  # characters of a hash
_SHOWN_CHARACTERS = 160  # of one value in a line
_FIELDS = re.compile(r'[\s="]|[:,] ')


class Format(StrEnum):
    """How a report is written."""

    MD = "md"
    JSON = "json"


@dataclass(frozen=True, slots=True)
class _New:
    name: str = option("", "what to call it")


@dataclass(frozen=True, slots=True)
class _OfThread:
    thread_id: str = positional("the id of a thread")


@dataclass(frozen=True, slots=True)
class _InThread:
    thread: str = option("", "the id of a thread")


@dataclass(frozen=True, slots=True)
class _Tail:
    thread_id: str = positional("the id of a thread")
    after: int = option(0, "events behind this number", minimum=0)
    follow: bool = option(True, "wait for those to come")


@dataclass(frozen=True, slots=True)
class _State:
    thread: str = option("", "the id of a thread")
    version: str = option("", "as v7; the present one without")


@dataclass(frozen=True, slots=True)
class _Patch:
    thread: str = option("", "the id of a thread")
    patch: str = option("", "a JSON Patch, or - for standard input", metavar="JSON")


@dataclass(frozen=True, slots=True)
class _Put:
    file: str = positional("what to store, - for standard input", role=Role.TEXT, metavar="FILE")
    thread: str = option("", "the id of a thread")


@dataclass(frozen=True, slots=True)
class _Get:
    ref: str = positional("cass:// and a hash, or the beginning of one")
    thread: str = option("", "the id of a thread")
    out: str = option("", "write all of it to a file; without, its preview is shown", metavar="FILE")


@dataclass(frozen=True, slots=True)
class _Invoke:
    capability: str = positional("its name, as cap list shows it")
    thread: str = option("", "the id of a thread")
    args: str = option("{}", "the arguments as JSON", metavar="JSON")
    agent: str = option("cli", "the agent that asks")


@dataclass(frozen=True, slots=True)
class _Report:
    thread_id: str = positional("the id of a thread")
    format: Format = option(Format.MD, "how it is written")


@dataclass(frozen=True, slots=True)
class _Stats:
    thread_id: str = positional("the id of a thread; without it and options, the figures of all", default="")
    agent: str = option("", "those of an agent")
    capability: str = option("", "those of a capability")


@dataclass(frozen=True, slots=True)
class _Export:
    thread_id: str = positional("the id of a thread")
    out: str = option("", "the file to write (default: the id and .zip)", metavar="FILE")


@dataclass(frozen=True, slots=True)
class _Import:
    bundle: str = positional("what export has written", metavar="FILE")


@dataclass(frozen=True, slots=True)
class _Checkpoint:
    thread_id: str = positional("the id of a thread")
    name: str = option("", "what to call it")


def _thread_new(asked: Asked, parameters: _New) -> dict[str, Any]:
    from tersely.client import ask

    made = asked.ask(ask.thread_new(parameters.name))
    return {"thread_id": made.thread_id, "name": made.name, "text": f"{made.thread_id}\n"}


def _runs(asked: Asked, parameters: Nothing) -> dict[str, Any]:
    from tersely.client import ask

    found = asked.ask(ask.thread_list(limit=_SHOWN_THREADS)).threads
    rows = [
        (one.thread_id, one.created_at, one.state_ref, f"{one.artifact_count}", visible_line(one.name)) for one in found
    ]
    lines = aligned([("thread", "created", "state", "artifacts", "name"), *rows], [asked.style.symbol])
    return {"threads": plain(found), "text": "\n".join(lines) + "\n" if rows else "there are no threads\n"}


def _show(asked: Asked, parameters: _OfThread) -> dict[str, Any]:
    from tersely.client import ask

    with asked.connect() as relay:
        thread = relay(ask.thread_get(parameters.thread_id))
        header = plain(relay(ask.state_header(parameters.thread_id)))
        artifacts = relay(ask.artifact_list(parameters.thread_id)).artifacts
    rows = [("thread", thread.thread_id), ("name", visible_line(thread.name)), ("created", thread.created_at)]
    rows += [("state", thread.state_ref), ("calls", f"{thread.hop_count:,}")]
    lines = aligned(rows, [asked.style.faint])
    for title in ("top_facts", "top_constraints", "open_questions", "next_steps"):
        lines += [f"{title.replace('_', ' ')}:", *(f"  {_line(one)}" for one in header[title])] if header[title] else []
    listed = [(one.ref[:_SHOWN_REF], one.type, f"{one.size:,}", visible_line(one.name)) for one in artifacts]
    lines += (
        ["artifacts:", *(f"  {line}" for line in aligned(listed, [asked.style.symbol], right=(2,)))] if listed else []
    )
    return {"thread": plain(thread), "header": header, "artifacts": plain(artifacts), "text": "\n".join(lines) + "\n"}


def _tail(asked: Asked, parameters: _Tail) -> dict[str, Any]:
    from tersely.client import ask

    with asked.connect() as relay:
        if not parameters.follow:
            found = relay(ask.events(parameters.thread_id, parameters.after, 1_000)).events
            return {"events": plain(found), "text": "".join(_event_line(one, asked) for one in found)}
        with closing(relay.tail(parameters.thread_id, parameters.after)) as events:
            for one in events:
                sys.stdout.write(_event_line(one, asked))
                sys.stdout.flush()
    return {"text": ""}


def _open(asked: Asked, parameters: _OfThread) -> dict[str, Any]:
    import webbrowser

    with asked.connect() as relay:
        url = relay.page(f"threads/{parameters.thread_id}")
    is_opened = webbrowser.open(url)
    return {"url": url, "opened": is_opened, "text": f"{url}\n"}


def _state_header(asked: Asked, parameters: _InThread) -> dict[str, Any]:
    from tersely.client import ask

    return _as_json(asked.ask(ask.state_header(_given(parameters.thread))))


def _state_get(asked: Asked, parameters: _State) -> dict[str, Any]:
    from tersely.client import ask

    return _as_json(asked.ask(ask.state_full(_given(parameters.thread), parameters.version or None)))


def _state_patch(asked: Asked, parameters: _Patch) -> dict[str, Any]:
    from tersely.client import ask

    text = sys.stdin.read(MAX_WEB_BODY_BYTES) if parameters.patch == "-" else parameters.patch
    operations = _decoded("--patch", text)
    made = asked.ask(ask.state_patch(_given(parameters.thread), operations))
    return {**plain(made), "text": f"{made.state_ref}\n"}


def _artifact_put(asked: Asked, parameters: _Put) -> dict[str, Any]:
    name = "" if parameters.file == "-" else Path(parameters.file).name
    with asked.connect() as relay:
        try:
            file = sys.stdin.buffer if parameters.file == "-" else open(parameters.file, "rb")  # noqa: SIM115
            with file:
                made = relay.upload(_given(parameters.thread), file, name=name)
        except OSError as error:
            raise TerselyError("unreadable_file", f"{parameters.file}: {error.strerror}") from error
    return {**plain(made), "text": f"{made.uri}\n"}


def _artifact_get(asked: Asked, parameters: _Get) -> dict[str, Any]:
    from tersely.client import ask

    ref = parameters.ref.removeprefix("cass://")
    with asked.connect() as relay:
        found = relay(ask.artifact_get(_given(parameters.thread), ref))
        if not parameters.out:
            return {**plain(found), "text": visible(found.preview.text).rstrip("\n") + "\n"}
        try:
            relay.download(parameters.thread, found.ref, Path(parameters.out))
        except OSError as error:
            raise TerselyError("unwritable_output", f"{parameters.out}: {error.strerror}") from error
    return {**plain(found), "out": parameters.out, "text": f"{found.size:,} bytes in {parameters.out}\n"}


def _artifact_list(asked: Asked, parameters: _InThread) -> dict[str, Any]:
    from tersely.client import ask

    found = asked.ask(ask.artifact_list(_given(parameters.thread), limit=1_000)).artifacts
    rows = [(one.ref[:_SHOWN_REF], one.type, f"{one.size:,}", visible_line(one.name)) for one in found]
    text = "\n".join(aligned(rows, [asked.style.symbol], right=(2,))) + "\n" if rows else "there are no artifacts\n"
    return {"artifacts": plain(found), "text": text}


def _cap_list(asked: Asked, parameters: Nothing) -> dict[str, Any]:
    from tersely.client import ask

    found = asked.ask(ask.cap_list()).capabilities
    rows = [(one.name, one.effect, visible_line(one.description)) for one in found]
    return {"capabilities": plain(found), "text": "\n".join(aligned(rows, [asked.style.symbol])) + "\n"}


def _cap_invoke(asked: Asked, parameters: _Invoke) -> dict[str, Any]:
    from tersely.client import ask

    arguments, thread = _decoded("--args", parameters.args), _given(parameters.thread)
    if isinstance(arguments, dict):
        listed = asked.ask(ask.cap_list()).capabilities
        schema = next((one.args_schema for one in listed if one.name == parameters.capability), {})
        arguments = asked.about_root(arguments, schema)
    made = asked.ask(ask.cap_invoke(thread, parameters.capability, arguments))
    told = plain(made)
    shown = visible(told.get("text") or made.preview.text).rstrip("\n")
    return {**told, "text": f"{shown}\n{asked.style.faint(f'cass://{made.artifact_ref}')}\n"}


def _report(asked: Asked, parameters: _Report) -> dict[str, Any]:
    from tersely.client import ask

    made = asked.ask(ask.report(parameters.thread_id, parameters.format.value))
    return {**plain(made), "text": visible(made.text).rstrip("\n") + "\n"}


def _stats(asked: Asked, parameters: _Stats) -> dict[str, Any]:
    from tersely.client import ask

    kinds = {"thread": parameters.thread_id, "agent": parameters.agent, "capability": parameters.capability}
    named = [(kind, name) for kind, name in kinds.items() if name]
    if len(named) > 1:
        raise TerselyError("usage", "one of THREAD-ID, --agent and --capability", "figures are of one of them")
    figures = asked.ask(ask.stats(*named[0]) if named else ask.stats_all()).token_savings
    rows = [
        ("artifacts", f"{figures.artifacts:,}", ""),
        ("naive tokens (if pasted)", f"{figures.naive_tokens:,}", f"{figures.estimate.naive_tokens:,}"),
        ("actual tokens (via refs)", f"{figures.actual_tokens:,}", f"{figures.estimate.actual_tokens:,}"),
        ("tokens avoided", f"{figures.avoided_tokens:,}", f"{figures.estimate.avoided_tokens:,}"),
        ("calls", f"{figures.invocations:,}", ""),
        ("cache hits", f"{figures.cache_hits:,}", ""),
    ]
    lines = aligned([("", "tokens", "characters / 4"), *rows], [asked.style.faint], right=(1, 2))
    return {**plain(figures), "text": "\n".join(lines) + "\n"}


def _mirror(asked: Asked, parameters: _OfThread) -> dict[str, Any]:
    from tersely.client import ask

    written = asked.ask(ask.mirror(parameters.thread_id))
    return {**plain(written), "text": f"{written.path}\n"}


def _export(asked: Asked, parameters: _Export) -> dict[str, Any]:
    from tersely.client import ask

    path = Path(parameters.out or f"{parameters.thread_id}.zip")
    bundle = asked.ask(ask.thread_export(parameters.thread_id))
    try:
        path.write_bytes(bundle)
    except OSError as error:
        raise TerselyError("unwritable_output", f"{path}: {error.strerror}") from error
    return {"out": str(path), "size": len(bundle), "text": f"{len(bundle):,} bytes in {path}\n"}


def _import(asked: Asked, parameters: _Import) -> dict[str, Any]:
    from tersely.client import ask

    try:
        bundle = Path(parameters.bundle).read_bytes()
    except OSError as error:
        raise TerselyError("unreadable_file", f"{parameters.bundle}: {error.strerror}") from error
    made = asked.ask(ask.thread_import(bundle))
    return {**plain(made), "text": f"{made.thread_id}\n"}


def _checkpoint(asked: Asked, parameters: _Checkpoint) -> dict[str, Any]:
    from tersely.client import ask

    made = asked.ask(ask.checkpoint(parameters.thread_id, parameters.name))
    return {**plain(made), "text": f"{made.state_ref}, event {made.seq}\n"}


def _replay(asked: Asked, parameters: _OfThread) -> dict[str, Any]:
    from tersely.client import ask

    found = asked.ask(ask.replay(parameters.thread_id)).calls
    lines = [f"{one.outcome:<8} {one.event:>6}  {one.capability}" for one in found]
    lines += [visible(f"\nevent {one.event}:\n{one.changes}") for one in found if one.changes]
    return {"calls": plain(found), "text": "\n".join(lines or ["no calls were made"]) + "\n"}


def _config(asked: Asked, parameters: Nothing) -> dict[str, Any]:
    from tersely.client import ask

    found = asked.ask(ask.settings())
    rows = [("home", found.home), *((name, str(value)) for name, value in found.policy.items())]
    for one in found.services:
        decided = ", ".join(f"{name} {value}" for name, value in one.items() if name != "name" and value != "")
        rows.append((f"service {one['name']}", visible_line(decided)))
    return {**plain(found), "text": "\n".join(aligned(rows, [asked.style.faint])) + "\n"}


def _version(asked: Asked, parameters: Nothing) -> dict[str, Any]:
    return {"version": __version__, "text": f"{asked.program} {__version__}\n"}


COMMANDS: tuple[RelayCommand, ...] = (
    RelayCommand(("version",), "The version of the program", Nothing, _version),
    RelayCommand(("config",), "The settings in force", Nothing, _config),
    RelayCommand(("thread", "new"), "Make a thread and print its id", _New, _thread_new),
    RelayCommand(("runs",), "The newest threads", Nothing, _runs),
    RelayCommand(("show",), "State and artifacts of a thread", _OfThread, _show),
    RelayCommand(("tail",), "The events of a thread as they happen", _Tail, _tail),
    RelayCommand(("open",), "Open a thread's page in a browser, which it signs in", _OfThread, _open),
    RelayCommand(("state", "header"), "The bounded view of a state that agents are given", _InThread, _state_header),
    RelayCommand(("state", "get"), "The whole state, at any version", _State, _state_get),
    RelayCommand(("state", "patch"), "Change a state by JSON Patch", _Patch, _state_patch, "--patch"),
    RelayCommand(("artifact", "put"), "Store a file and print its reference", _Put, _artifact_put),
    RelayCommand(("artifact", "get"), "The preview of an artifact, or all of it into a file", _Get, _artifact_get),
    RelayCommand(("artifact", "list"), "The artifacts of a thread", _InThread, _artifact_list),
    RelayCommand(("cap", "list"), "List capabilities", Nothing, _cap_list),
    RelayCommand(("cap", "invoke"), "Call a capability on behalf of a thread", _Invoke, _cap_invoke, "--args"),
    RelayCommand(("report",), "Write a report of a thread", _Report, _report),
    RelayCommand(("checkpoint",), "Mark where a thread is now", _Checkpoint, _checkpoint),
    RelayCommand(("replay",), "Make a thread's calls again and show what differs", _OfThread, _replay),
    RelayCommand(("export",), "Write a thread to a bundle", _Export, _export),
    RelayCommand(("import",), "Read a thread from a bundle", _Import, _import),
    RelayCommand(("stats",), "Tokens saved, of a thread, an agent, a capability or all", _Stats, _stats),
    RelayCommand(("mirror",), "Write a thread to files that people can read", _OfThread, _mirror),
)


def _given(thread: str) -> str:
    if not thread:
        raise TerselyError("usage", "--thread is missing", "relay runs lists the threads")
    return thread


def _decoded(option_name: str, text: str) -> Any:
    import json

    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise TerselyError("usage", f"{option_name} is not JSON: {error}") from None


def _as_json(value: Any) -> dict[str, Any]:
    import json

    from tersely.foundation.escape import json_escaped

    shown = plain(value)
    return {**shown, "text": json_escaped(json.dumps(shown, ensure_ascii=False, indent=2)) + "\n"}


def _line(item: dict[str, Any]) -> str:
    shown = ", ".join(f"{_delimited(name)}: {_delimited(value)}" for name, value in item.items() if name != "id")
    return visible_line(shown)[:200]


def _delimited(value: Any) -> str:
    """A value of somebody else's, in quotes where it could be taken for more fields than it is."""
    import json

    text = str(value)[:_SHOWN_CHARACTERS]
    return json.dumps(text, ensure_ascii=False) if _FIELDS.search(text) else text


def _event_line(event: Any, asked: Asked) -> str:
    told = {name: value for name, value in event.payload.items() if isinstance(value, str | int)}
    shown = " ".join(f"{_delimited(name)}={_delimited(value)}" for name, value in told.items())
    return visible_line(f"{event.seq:>6} {event.timestamp} {event.type}  {shown}") + "\n"
