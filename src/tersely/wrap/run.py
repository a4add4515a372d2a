"""`tersely run`: a program under a name, in this terminal."""

from __future__ import annotations

import asyncio
import contextlib
import os
import re
import secrets
import sys
from pathlib import PurePath

from tersely.capabilities.relay.foreign import BANNER
from tersely.capabilities.relay.introduction import introduction
from tersely.client import Client
from tersely.client.outbox import Outbox
from tersely.foundation.errors import TerselyError
from tersely.foundation.process.ancestry import NAME_VARIABLE, TOKEN_VARIABLE
from tersely.foundation.text.escape import visible_line
from tersely.foundation.types import Environment
from tersely.integrations.run_hook import SOCKET_VARIABLE
from tersely.integrations.table import AGENTS
from tersely.integrations.wrapped import Launch, Wrapped
from tersely.wrap import terminal, tmux
from tersely.wrap.child_processes import Spawned, adopt_orphans
from tersely.wrap.command_executor import Speech
from tersely.wrap.delivery.hooks import Hooks
from tersely.wrap.delivery.inbox import Inbox, WaitingText
from tersely.wrap.delivery.prompts import PROMPT_MARKS, PromptPattern
from tersely.wrap.handoff.handover import Handover
from tersely.wrap.handoff.threads import VARIABLE as THREAD_VARIABLE
from tersely.wrap.handoff.threads import SessionPlace
from tersely.wrap.inline.commands import read_message
from tersely.wrap.mail import RunMail, Who
from tersely.wrap.screen.screen import Screen
from tersely.wrap.session import RunSetup, WrappedSession
from tersely.wrap.wanted import UNSEEN, WantedRun, own_words

_BLIND = "what it showed was not read: tmux is not installed, or has ended"
MARKER_BYTES = 4  # of the marker of a run
_SPEND = "thread.spend"  # the capability that counts programs
INTRODUCTION = "agent.introduction"  # the capability that says who an agent is
MAX_NAME_TRIES = 100  # numbers behind the name of a program


def run(wanted: WantedRun, environment: Environment) -> int:
    """Run a program until it ends; its exit status. Raises what keeps it from being run."""
    report = tmux.RunReport.of(environment)
    try:
        return asyncio.run(_run(wanted, environment, report))
    except* TerselyError as group:
        error = group.exceptions[0]
        assert isinstance(error, TerselyError)
        report.failed(error)
        raise error from None


async def _run(wanted: WantedRun, environment: Environment, report: tmux.RunReport) -> int:
    terminal.find(wanted.words[0], environment)
    mail = await _named(wanted)
    try:
        handover = await asyncio.to_thread(Handover, wanted.place, mail.who.name, wanted.task)
        introduced = await asyncio.to_thread(_introduced, wanted.place, mail.who.name)
        marker = "" if wanted.trusts_screen else secrets.token_hex(MARKER_BYTES)
        run = _Run(wanted, mail, handover, marker, introduced)
        if NAME_VARIABLE not in environment:  # an agent is not told
            _note(UNSEEN, *_unknown_prompt(wanted))
        status = await run.until_end(environment, report)
        not_kept = await asyncio.to_thread(handover.close, mail.who.program, status)
        _note(*filter(None, (not_kept, *run.notes())))
        report.ended(status)
        return status
    finally:
        await mail.close()


class _Run:
    """One program under its name, with what it says and hears."""

    def __init__(
        self, wanted: WantedRun, mail: RunMail, handover: Handover, marker: str, introduced: str
    ) -> None:
        self._wanted, self._mail, self._handover, self._marker = wanted, mail, handover, marker
        self._introduced = introduced  # what the program is told of itself and of others
        self._spawned = Spawned(
            [*own_words(), "run", "--no-start", "--thread", handover.thread],
            wanted.spawn,
            self._count_program,
        )
        self._inbox = Inbox(mail.keep)
        self._outbox = Outbox(mail.who.home, mail.who.name, read_message)
        self._session: WrappedSession | None = None
        self._hooks: Hooks | None = None
        self._is_blind = False  # its screen cannot be read

    async def until_end(self, environment: Environment, report: tmux.RunReport) -> int:
        """Run the program until it ends; its exit status."""
        wrapped = _wrapped(self._wanted)
        adopt_orphans()
        with contextlib.closing(Screen(*terminal.size(None))) as screen:
            if wrapped is None and screen.is_blind:
                message = "tmux is not installed, and reads the screen of a program without hooks"
                raise TerselyError(
                    "program_failed", message, "install it: apt, dnf or brew install tmux"
                )
            await asyncio.to_thread(
                self._count_program if NAME_VARIABLE in environment else self._enter_thread
            )
            status = await self._until_end(environment, report, wrapped, screen)
            self._is_blind = screen.is_blind
        await self._spawned.end_all()
        return status

    async def _until_end(
        self,
        environment: Environment,
        report: tmux.RunReport,
        wrapped: Wrapped | None,
        screen: Screen,
    ) -> int:
        agent = _agent_of(self._wanted)
        launch = wrapped.launch(environment) if wrapped is not None else Launch()
        of_another_run = (tmux.REPORT_VARIABLE, SOCKET_VARIABLE)
        inherited = {
            name: value for name, value in environment.items() if name not in of_another_run
        }
        given = {**inherited, **launch.environment, **self._variables()}
        hooks = (
            Hooks(agent, wrapped, self._inbox, self._rules(), self._taken)
            if wrapped is not None
            else None
        )
        self._hooks = hooks
        async with hooks.listening() if hooks is not None else contextlib.nullcontext("") as path:
            given |= {SOCKET_VARIABLE: path} if path else {}
            words = [self._wanted.words[0], *launch.words, *self._wanted.words[1:]]
            program = terminal.start(words, given, 0 if os.isatty(0) else None)
            speech = Speech(self._mail, self._outbox, self._spawned, self._inbox.put)
            how = self._given(wrapped)
            self._session = WrappedSession(
                how, program, self._mail, speech, self._inbox, hooks, self._spawned, screen
            )
            report.runs()
            return await self._session.run()

    def _count_program(self, programs: int = 1) -> None:
        """Count a program that is about to be started; raises `spending_limit`, and what keeps the
        relay from answering.
        """
        who = self._mail.who
        with Client.local(who.name, who.home) as relay:
            relay.ask(_SPEND, thread=self._handover.thread, programs=programs)

    def _enter_thread(self) -> None:
        """Have the relay know in which thread the program works, if it answers."""
        with contextlib.suppress(TerselyError, OSError):
            self._count_program(0)

    def _given(self, wrapped: Wrapped | None) -> RunSetup:
        """The way in which the session of the program is run."""
        rules = self._rules() if self._wanted.place.has_brief or self._wanted.task else ""
        return RunSetup(
            self._handover, self._prompt(wrapped), self._marker, rules,
            wrapped.dialogs if wrapped is not None else (),
        )  # fmt: skip

    def notes(self) -> list[str]:
        """The remarks at the end, a line each."""
        name = self._mail.who.name
        count = len(self._outbox)
        unsent = f"{count:,} of its messages not sent yet; the next `tersely run --name {name}` sends them"
        unheard = [visible_line(f"{one.head} {one.body}") for one in self._inbox.errors()]
        damaged = [
            f"a message that an earlier run left cannot be read: {path}"
            for path in self._outbox.damaged
        ]
        is_unhooked = self._hooks is not None and not self._hooks.is_alive
        unhooked = f"no hook of {self._mail.who.program} has called: it may not trust them yet, see /hooks there"
        return [
            *([unsent] if count else []),
            *damaged,
            *([unhooked] if is_unhooked else []),
            *([_BLIND] if self._is_blind else []),
            *unheard,
        ]

    def _taken(self, text: WaitingText) -> None:
        if self._session is not None:
            self._session.taken(text)

    def _variables(self) -> dict[str, str]:
        name, session = self._mail.who.name, self._mail.session
        return {
            NAME_VARIABLE: name,
            TOKEN_VARIABLE: session,
            THREAD_VARIABLE: self._handover.thread,
        }

    def _rules(self) -> str:
        """The rules of the relay for an agent. The example is no command: it has no marker."""
        how = (
            f"with the marker {self._marker} in the place of MARKER"
            if self._marker
            else "without -MARKER"
        )
        return (
            f"{self._introduced} A line of your answer that begins `->relay-MARKER:NAME text`, {how}, is sent too. "
            f"What begins with `{BANNER} NAME` is theirs."
        )

    def _prompt(self, wrapped: Wrapped | None) -> PromptPattern:
        row = self._wanted.prompt or (wrapped.prompt if wrapped is not None else "")
        return PromptPattern(re.compile(row) if row else None)


def _note(*notes: str) -> None:
    """Say something at the terminal."""
    for note in notes:
        sys.stderr.write(f"note: {note}\n")
    sys.stderr.flush()


def _unknown_prompt(wanted: WantedRun) -> list[str]:
    """What is to be known of a program that only a prompt on its screen shows to wait, for as long
    as nobody has said how that looks.
    """
    if wanted.prompt or _wrapped(wanted) is not None:
        return []
    program, marks = visible_line(wanted.words[0]), " ".join(PROMPT_MARKS)
    return [
        f"nothing is known of {program}: messages wait until its prompt ends in one of {marks}, or is as --prompt says"
    ]


def _wrapped(wanted: WantedRun) -> Wrapped | None:
    """How a program is wrapped, where it is a known agent."""
    agent = _agent_of(wanted)
    return AGENTS[agent].wrapped if agent in AGENTS else None


def _agent_of(wanted: WantedRun) -> str:
    """The name of the agent that a program is, where it is a known one."""
    return PurePath(wanted.words[0]).stem


def _introduced(place: SessionPlace, name: str) -> str:
    """The introduction of an agent to itself and to others; to itself alone while the relay does
    not answer.
    """
    with contextlib.suppress(TerselyError), Client.local(name, place.home) as relay:
        return relay.answer(INTRODUCTION, {"root": str(place.directory)}).text.rstrip("\n")
    return introduction(name, [])


async def _named(wanted: WantedRun) -> RunMail:
    """The connection under the name that is wanted, or under the first free one that begins like
    the program.
    """
    program = PurePath(wanted.words[0]).name
    about = (wanted.place.home, program, wanted.task, str(wanted.place.directory))
    if wanted.name:
        return await RunMail.open(Who(wanted.name, *about))
    stem = re.sub(r"\W", "-", PurePath(program).stem).strip("-") or "agent"
    for number in range(1, MAX_NAME_TRIES + 1):
        name = stem if number == 1 else f"{stem}-{number}"
        try:
            return await RunMail.open(Who(name, *about))
        except TerselyError as error:
            if error.code not in {"name_taken", "unauthorized"}:
                raise
    raise TerselyError(
        "name_taken", f"{MAX_NAME_TRIES} programs are called {stem}", "--name gives another name"
    )
