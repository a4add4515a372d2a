"""The command that runs other programs as agents."""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from tersely.capabilities.declaration.declaration import option, positional
from tersely.cli.builtin.daemon import ANSWER_WORDS, default_workspace
from tersely.cli.own_command import EXIT_STATUS, CommandCall, command
from tersely.cli.relay.brief import session_directory
from tersely.foundation.errors import TerselyError
from tersely.foundation.types import JsonObject, Strings
from tersely.relay.wire.home import home_directory

if TYPE_CHECKING:
    from tersely.wrap.handoff.threads import SessionPlace


@command("run")
def _run(
    asked: CommandCall,
    *,
    program: Strings = positional("the program and its arguments, after --"),
    name: str = option(
        "", "as whom others know it (default: the program's name, numbered where that is taken)"
    ),
    tmux: bool = option(
        False, "in a new session of tmux, which goes on when this terminal is closed"
    ),
    task: str = option("", "what it is to do, typed in first"),
    brief: bool = option(
        True, "type in what is worth knowing: thread, unread messages, code about the task, outline"
    ),
    thread: str = option(
        "", "where its summary goes (default: TERSELY_THREAD or this project's)", metavar="ID"
    ),
    spawn: Strings = option(
        (), "a program that it may start with a spawn command; without it, none"
    ),
    prompt: str = option(
        "", "how the row of its empty prompt looks, a regular expression", metavar="REGEX"
    ),
    trust_screen: bool = option(False, "obey every ->relay: line that it shows, whoever wrote it"),
    start: bool = option(True, "start the relay if none runs"),
) -> JsonObject:
    """Run a program as an agent: its lines are commands."""
    from tersely.wrap.wanted import WantedRun, run_in_tmux, warning

    try:
        re.compile(prompt)
    except re.error as error:
        raise TerselyError("usage", f"--prompt is no regular expression: {error}") from None
    home = home_directory()
    _have_relay(home, asked.options.root, may_start=start)
    place = _place(asked, home, thread, has_brief=brief)
    wanted = WantedRun(
        program, place, name, task, spawn, prompt,
        trust_screen,
    )  # fmt: skip
    if said := warning(program):
        sys.stderr.write(f"warning: {said}\n")
    environment = dict(os.environ)
    if not tmux:
        from tersely.wrap.run import run

        return {EXIT_STATUS: run(wanted, environment), "text": ""}
    ended = run_in_tmux(wanted, environment)
    if ended.status is not None:
        return {"session": ended.session, EXIT_STATUS: ended.status, "text": ""}
    text = f"it runs in the session {ended.session}: tmux attach -t {ended.session}\n"
    return {"session": ended.session, EXIT_STATUS: 0, "text": text}


def _place(asked: CommandCall, home: Path, named: str, *, has_brief: bool) -> SessionPlace:
    from tersely.wrap.handoff import threads

    directory, is_repository = session_directory(asked.options.root)
    thread = named or os.environ.get(threads.VARIABLE, "")
    return threads.SessionPlace(home, directory, is_repository, ANSWER_WORDS, thread, has_brief)


def _have_relay(home: Path, root: str, *, may_start: bool) -> None:
    from tersely.client import relay_process

    if relay_process.running(home) is not None:
        return
    if not may_start:
        raise TerselyError("daemon_not_running", f"no relay serves {home}", "tersely up starts one")
    relay_process.start(home, "", default_workspace(root), ANSWER_WORDS)
