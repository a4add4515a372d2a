"""`tersely run`: a program under a name, in this terminal or in a session of tmux."""

from __future__ import annotations

import asyncio
import os
import re
import sys
from collections.abc import Mapping, Sequence
from pathlib import PurePath
from typing import NamedTuple

from tersely.continuity.handover import Handover, Place
from tersely.continuity.threads import VARIABLE as THREAD_VARIABLE
from tersely.foundation.errors import TerselyError
from tersely.wrapper import terminal, tmux
from tersely.wrapper.mail import Mail, Who
from tersely.wrapper.session import Given, Session
from tersely.wrapper.spawned import Spawned

MAX_NAME_TRIES = 100  # numbers behind the name of a program
NAME_VARIABLE = "TERSELY_AGENT"  # tells the program and what it runs under which name they are


class Wanted(NamedTuple):
    """What somebody wants to be run, and how."""

    words: Sequence[str]
    place: Place
    name: str = ""  # that of the program, if empty
    task: str = ""
    spawn: Sequence[str] = ()  # programs that it may start, beside itself


def run(wanted: Wanted, environment: Mapping[str, str]) -> int:
    """Run a program until it ends; its exit status. Raises what keeps it from being run."""
    report = tmux.Report.of(environment)
    try:
        return asyncio.run(_run(wanted, environment, report))
    except* TerselyError as group:
        error = group.exceptions[0]
        assert isinstance(error, TerselyError)
        report.failed(error)
        raise error from None


async def _run(wanted: Wanted, environment: Mapping[str, str], report: tmux.Report) -> int:
    mail = await _named(wanted)
    try:
        handover = await asyncio.to_thread(Handover, wanted.place, mail.who.name, wanted.task)
        given = {**environment, NAME_VARIABLE: mail.who.name, THREAD_VARIABLE: handover.thread}
        given.pop(tmux.REPORT_VARIABLE, None)
        spawned = Spawned(
            [*own_words(), "run", "--no-start", "--thread", handover.thread], [wanted.words[0], *wanted.spawn]
        )
        program = terminal.start(wanted.words, given, 0 if os.isatty(0) else None)
        session = Session(Given(wanted.words, given, handover), program, mail, spawned)
        report.runs()
        status = await session.run()
        not_kept = await asyncio.to_thread(handover.close, mail.who.program, status)
        if not_kept:
            sys.stderr.write(f"note: {not_kept}\n")
        report.ended(status)
        return status
    finally:
        await mail.close()


async def _named(wanted: Wanted) -> Mail:
    """The connection under the name that is wanted, or under the first free one that begins like the program."""
    program = PurePath(wanted.words[0]).name
    about = (wanted.place.home, program, wanted.task, str(wanted.place.directory))
    if wanted.name:
        return await Mail.open(Who(wanted.name, *about))
    stem = re.sub(r"\W", "-", PurePath(program).stem).strip("-") or "agent"
    for number in range(1, MAX_NAME_TRIES + 1):
        name = stem if number == 1 else f"{stem}-{number}"
        try:
            return await Mail.open(Who(name, *about))
        except TerselyError as error:
            if error.code not in {"name_taken", "unauthorized"}:
                raise
    raise TerselyError("name_taken", f"{MAX_NAME_TRIES} programs are called {stem}", "--name gives another name")


def own_words() -> list[str]:
    """How this program is started again."""
    return [sys.executable, "-m", "tersely"]


def run_in_tmux(wanted: Wanted, environment: Mapping[str, str]) -> tmux.Ended:
    """Run a program in a session of tmux, and be attached to it where there is a terminal."""
    name = wanted.name or PurePath(wanted.words[0]).stem
    options = ["--no-start", *([] if wanted.place.has_brief else ["--no-brief"])]
    flags = (("--name", [wanted.name]), ("--task", [wanted.task]), ("--thread", [wanted.place.thread]))
    for flag, values in (*flags, ("--spawn", wanted.spawn)):
        for value in values:
            options += [f"{flag}={value}"] if value else []
    words = [*own_words(), "run", *options, "--", *wanted.words]
    return tmux.run(name, words, environment, terminal.size(0 if os.isatty(0) else None))
