"""The commands `daemon` and `warm`, in words for people."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from tersely.capabilities.answers.text import Style, aligned, counted
from tersely.daemon import lifecycle
from tersely.foundation.errors import TerselyError
from tersely.foundation.settings import Settings, load
from tersely.foundation.storage.roots import find_root, resolved_directory

if TYPE_CHECKING:
    from tersely.foundation.types import JsonObject

ANSWER_WORDS = "tersely.cli.printing.recorded_output:answer"
_MEGABYTE = 1_000_000


def run_warm(root: str) -> JsonObject:
    """Have a daemon, with everything loaded."""
    place = resolved_root(root)
    _start(place)
    reply = lifecycle.ask(place, {"cmd": "warm"})
    if not reply.get("success"):
        raise TerselyError(reply.get("code", "daemon_unavailable"), str(reply.get("error")))
    files = counted(reply["files"], "file")
    return {
        "files": reply["files"],
        "revision": reply["revision"],
        "text": f"{files} indexed, the daemon is warm\n",
    }


def start_unasked(root: Path, settings: Settings) -> None:
    """Have a daemon for later questions, without waiting for it."""
    lifecycle.start_unasked(str(root), ANSWER_WORDS, settings.daemon_idle_seconds)


def _start(root: str) -> lifecycle.Started:
    return lifecycle.start(root, ANSWER_WORDS, load(Path(root)).daemon_idle_seconds)


def _run_start(root: str, style: Style) -> JsonObject:
    started = _start(resolved_root(root))
    status = started.status
    what = "runs already" if started.was_running else "runs"
    text = f"the daemon of {status['project']} {what} as process {status['pid']}\n"
    return {
        "started": not started.was_running,
        "pid": status["pid"],
        "project": status["project"],
        "text": text,
    }


def _run_stop(root: str, style: Style) -> JsonObject:
    place = resolved_root(root)
    if not lifecycle.stop(place):
        raise TerselyError(
            "daemon_not_running",
            f"no daemon serves {place}",
            "tersely daemon list shows those that run",
        )
    return {"stopped": True, "text": f"the daemon of {place} has ended\n"}


def _run_status(root: str, style: Style) -> JsonObject:
    status = lifecycle.ask(resolved_root(root), {"cmd": "status"})
    watched = (
        f"{status['watched_directories']:,} directories"
        if not status["why_unwatched"]
        else status["why_unwatched"]
    )
    memory = sum(one["resident_bytes"] for one in status["processes"]) / _MEGABYTE
    rows = [
        ("status", status["status"]),
        ("project", status["project"]),
        ("process", str(status["pid"])),
        ("socket", status["socket"]),
        ("version", status["version"]),
        ("up", f"{status['uptime']:.0f} s, {counted(status['requests'], 'request')}"),
        (
            "index",
            f"{counted(status['files'], 'file')}, revision {status['revision'] or 'none yet'}",
        ),
        ("watched", watched),
        (
            "analysis",
            f"{counted(len(status['processes']), 'process', 'processes')}, {memory:.0f} MB",
        ),
        ("answers kept", f"{status['cached_answers']:,}"),
    ]
    told = {key: value for key, value in status.items() if key not in {"success", "status"}}
    return {
        "state": status["status"],
        **told,
        "text": "\n".join(aligned(rows, [style.faint])) + "\n",
    }


def _run_list(root: str, style: Style) -> JsonObject:
    found = lifecycle.running()
    rows = [
        (str(one["pid"]), one["version"], counted(one["files"], "file"), one["project"])
        for one in found
    ]
    lines = aligned(rows, [style.symbol], right=(0, 2)) if rows else ["no daemon is running"]
    daemons = [
        {key: one[key] for key in ("pid", "project", "version", "files", "revision", "uptime")}
        for one in found
    ]
    return {"daemons": daemons, "text": "\n".join(lines) + "\n"}


def resolved_root(root: str) -> str:
    """The resolved root that a command is about."""
    return resolved_directory(root or str(find_root(Path())), "--root")


def default_workspace(root: str) -> str:
    """As `resolved_root`, "" where the command names none and is typed in none: whoever starts a
    relay need not be in a repository.
    """
    try:
        return resolved_root(root)
    except TerselyError:
        if root:
            raise
        return ""


# what a verb does at a root: the result, with its `text`
VERBS: Mapping[str, Callable[[str, Style], JsonObject]] = {
    "start": _run_start,
    "stop": _run_stop,
    "status": _run_status,
    "list": _run_list,
}
