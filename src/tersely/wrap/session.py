"""One wrapped program from its start to its end: bytes both ways untouched, its lines read, texts
typed in.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import stat
from collections.abc import Coroutine, Iterator, Sequence
from typing import Any, NamedTuple

from tersely.client.peer import Delivery
from tersely.foundation.background import Background
from tersely.foundation.clock import elapsed_seconds
from tersely.foundation.errors import TerselyError
from tersely.foundation.limits import WRAPPER_END_SECONDS
from tersely.integrations.wrapped import AgentState, Dialog
from tersely.wrap import terminal
from tersely.wrap.child_processes import Spawned, reap_orphans
from tersely.wrap.command_executor import RELAY, Speech
from tersely.wrap.delivery.activity import ProgramActivity
from tersely.wrap.delivery.approvals import PermissionAnswers
from tersely.wrap.delivery.dialogs import AskedPermission, asked
from tersely.wrap.delivery.hooks import Hooks
from tersely.wrap.delivery.inbox import Inbox, TypedText, WaitingText
from tersely.wrap.delivery.injection import Scene, TypingOutcome, Typist
from tersely.wrap.delivery.keys import Keys
from tersely.wrap.delivery.prompts import PromptPattern, Sight, has_dialog
from tersely.wrap.handoff.handover import Handover
from tersely.wrap.mail import UNDELIVERED, RunMail
from tersely.wrap.screen.screen import Screen
from tersely.wrap.screen_scanner import Watcher
from tersely.wrap.terminal import TerminalProgram, UserTerminal
from tersely.wrap.wanted import shell_of

MAX_UNWRITTEN_BYTES = 1_000_000  # that a program has not taken from its terminal
TERMINAL_CHUNK_BYTES = 65_536  # read from a terminal at once
MAX_LAST_BYTES = 4_000_000  # read of what a program wrote before it ended
# for which a message waits until its sender and whoever sits at the terminal hear of it
NOTICE_SECONDS = 5.0
SCREEN_SECONDS = 2.0  # from one screen that the relay is told to the next
# for a prompt to be seen in which the task can be typed, before a hook may take it
TASK_SECONDS = 30.0
_TICK_SECONDS = 0.05
_REST_SECONDS = 0.5  # without any output, after which none is waited for
_STUCK = "it is typed in, but the program does not take it"
_DOING = {
    AgentState.WORKING: "is working",
    AgentState.IDLE: "is idle, but cannot be typed to",
    AgentState.PERMISSION: "waits for permission",
    None: "shows no prompt that is known",
}
_SIGNALLED = 128  # added to the number of the signal that ended a program, as shells do
_TYPED_KINDS = frozenset({"message", "action", "channel"})
_END_OF_INPUT = b"\x04"
# the title is that of the program again at the end
_PUSH_TITLE, _POP_TITLE, _BELL = "\x1b[22;2t", "\x1b[23;2t", "\a"


class RunSetup(NamedTuple):
    """The program that is run, and with what."""

    handover: Handover  # what is typed in first, and who writes down what goes on
    prompt: PromptPattern  # how the program looks when it waits for one
    marker: str  # of its commands
    rules: str  # what the program is told of the relay, "" where nothing is typed in
    dialogs: Sequence[Dialog]  # in which it asks for permission, where that can be answered


class WrappedSession:
    """A program, its terminal, the user's, and the relay."""

    def __init__(
        self,
        given: RunSetup,
        program: TerminalProgram,
        mail: RunMail,
        speech: Speech,
        inbox: Inbox,
        hooks: Hooks | None,
        spawned: Spawned,
        screen: Screen,
    ) -> None:
        self._given = given
        self._spawned = spawned
        self._program = program
        self._mail = mail
        self._input = 0 if _can_be_read(0) else None
        self._output = 1 if _can_be_written(1) else None
        self._user = UserTerminal(0) if self._input is not None and os.isatty(0) else None
        self._screen = screen
        screen.resize(*terminal.size(self._size_from()))
        self._watcher = Watcher(self._screen, given.marker)
        self._typist = Typist(self._screen, Keys())
        self._inbox = inbox
        self._speech = speech
        self._hooks = hooks
        self._activity = ProgramActivity()
        self._approvals = PermissionAnswers(mail.who)
        self._typing: TypedText | None = None
        self._handing: asyncio.Task[None] | None = None
        self._unwritten = bytearray()
        self._held = bytearray()  # keys that wait until a text is typed
        self._ended = asyncio.get_running_loop().create_future()
        self._passed_bytes = 0
        self._is_passing = False  # output that has been read and is not shown yet
        self._telling = Background()
        self._has_title = False  # ours is shown in the place of the program's
        self._told_state = ""
        self._told_screen = ""
        self._screen_due = 0.0  # when the relay is told the next

    async def run(self) -> int:
        """Run until the program ends; its exit status."""
        loop = asyncio.get_running_loop()
        with self._user or contextlib.nullcontext(), self._listening(loop):
            async with asyncio.TaskGroup() as tasks:
                speaking = tasks.create_task(self._speech.run())
                passing = tasks.create_task(self._pass_output())
                others = [
                    tasks.create_task(one)
                    for one in (
                        self._mail.receive(self._received),
                        self._listen(),
                        self._deliver(),
                    )
                ]
                status = await self._ended
                for task in others:
                    task.cancel()
                await self._approvals.close()
                await self._pass_rest(passing)
                await self._last_words()
                speaking.cancel()
        return int(status)

    # What goes on

    @contextlib.contextmanager
    def _listening(self, loop: asyncio.AbstractEventLoop) -> Iterator[None]:
        """Hear of keys, of the terminal's size, and of the program's end."""
        for number in (
            signal.SIGCHLD,
            signal.SIGWINCH,
            signal.SIGTERM,
            signal.SIGHUP,
            signal.SIGTSTP,
        ):
            loop.add_signal_handler(number, self._on_signal, number)
        if self._input is not None:
            loop.add_reader(self._input, self._on_key)
        self._on_signal(signal.SIGCHLD)
        try:
            yield
        finally:
            if self._input is not None:
                loop.remove_reader(self._input)
            loop.remove_writer(self._program.ours)

    def _on_signal(self, number: signal.Signals) -> None:
        if number is signal.SIGCHLD:
            self._look_at_child()
            reap_orphans({self._program.pid, *self._spawned.process_ids()})
        elif number is signal.SIGWINCH:
            size = terminal.size(self._size_from())
            terminal.set_size(self._program.its, *size)
            self._screen.resize(*size)
        elif number is signal.SIGTSTP:
            self._stop()
        else:
            self._signal_program(number)

    def _look_at_child(self) -> None:
        try:
            pid, status = os.waitpid(self._program.pid, os.WNOHANG | os.WUNTRACED)
        except ChildProcessError:
            return
        if not pid or self._ended.done():
            return
        if os.WIFSTOPPED(status):
            self._begin(self._stop_with_program())
        elif os.WIFSIGNALED(status):
            self._ended.set_result(_SIGNALLED + os.WTERMSIG(status))
        else:
            self._ended.set_result(os.WEXITSTATUS(status))

    async def _stop_with_program(self) -> None:
        """Stop when what the program has written is shown."""
        await asyncio.sleep(_TICK_SECONDS)
        while self._is_passing or terminal.can_be_read(self._program.ours):
            await asyncio.sleep(_TICK_SECONDS)
        if self._user is not None:
            self._stop()
            self._signal_program(signal.SIGCONT)

    def _stop(self) -> None:
        """Stop as the program has, and go on with it: the shell sees one job."""
        if self._user is None:
            return
        self._user.give_back()
        os.kill(os.getpid(), signal.SIGSTOP)
        self._user.take()
        self._on_signal(signal.SIGWINCH)

    def _signal_program(self, number: signal.Signals) -> None:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self._program.pid, number)

    async def _pass_output(self) -> None:
        """Pass on what the program writes, as fast as the user's terminal takes it."""
        loop = asyncio.get_running_loop()
        while True:
            readable = asyncio.Event()
            loop.add_reader(self._program.ours, readable.set)
            try:
                await readable.wait()
            finally:
                loop.remove_reader(self._program.ours)
            data = terminal.read(self._program.ours, TERMINAL_CHUNK_BYTES)
            if data == b"":
                return
            if data:
                self._is_passing = True
                if self._output is not None:
                    await asyncio.to_thread(_write_all, self._output, data)
                self._is_passing = False
                self._passed_bytes += len(data)
                self._screen.feed(data)
                self._hear(is_over=False)

    def _hear(self, *, is_over: bool) -> None:
        for command in self._watcher.look(elapsed_seconds(), is_over=is_over):
            self._given.handover.record.heard(command)
            self._speech.hear(command)

    async def _pass_rest(self, passing: asyncio.Task[None]) -> None:
        """Pass on what the program has written before it ended. What it has left running may go on
        to write.
        """
        os.close(self._program.its)  # the last one to do so ends the output
        passed = -1
        most = self._passed_bytes + MAX_LAST_BYTES
        while not passing.done() and passed < self._passed_bytes < most:
            passed = self._passed_bytes
            await asyncio.wait([passing], timeout=_REST_SECONDS)
        passing.cancel()

    async def _last_words(self) -> None:
        """Do what the program has said before it ended."""
        self._hear(is_over=True)
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(WRAPPER_END_SECONDS):
                await self._speech.finish()
        self._show_title("")

    # Keys, and what is typed in

    def _on_key(self) -> None:
        assert self._input is not None
        if len(self._unwritten) > MAX_UNWRITTEN_BYTES:
            return
        data = terminal.read(self._input, TERMINAL_CHUNK_BYTES)
        if data is None:
            return
        if not data:
            asyncio.get_running_loop().remove_reader(self._input)
            self._write(_END_OF_INPUT)
            return
        if self._typist.holds_keys(elapsed_seconds()):
            self._held += data
        else:
            self._press(data)

    def _press(self, data: bytes) -> None:
        self._typist.note_key(data, elapsed_seconds())
        self._approvals.end()
        self._write(data)

    def _write(self, data: bytes) -> None:
        self._unwritten += data
        self._flush()

    def _flush(self) -> None:
        loop = asyncio.get_running_loop()
        try:
            while self._unwritten:
                del self._unwritten[: os.write(self._program.ours, self._unwritten)]
        except BlockingIOError:
            loop.add_writer(self._program.ours, self._flush)
            return
        except OSError:  # the program is gone
            self._unwritten.clear()
        loop.remove_writer(self._program.ours)

    async def _listen(self) -> None:
        """Look at the screen now and then: what stands there is read, and keys that were held go
        on.
        """
        while True:
            await asyncio.sleep(_TICK_SECONDS)
            self._hear(is_over=False)
            if self._held and not self._typist.holds_keys(elapsed_seconds()):
                held, self._held = bytes(self._held), bytearray()
                self._press(held)

    async def _deliver(self) -> None:
        """Hand over what waits, by a hook that takes it or typed in, what the session begins with
        before all else.
        """
        opening = await self._given.handover.opening()
        knows_rules = self._hooks is not None and (self._hooks.is_alive or not opening)
        rules = "" if knows_rules else self._given.rules
        if opening or rules:
            self._inbox.put_task(f"[{RELAY}]", opening, rules)
        while True:
            await asyncio.sleep(_TICK_SECONDS)
            scene = self._look()
            self._tell_screen()
            if key := self._answer(scene):
                self._write(key)
            if self._can_hand_over():
                assert self._hooks is not None
                self._handing = asyncio.create_task(self._hooks.hand_over())
            elif self._typing is not None:
                self._go_on_typing(self._typing, scene)
            elif self._may_type(scene):
                self._typing = await self._inbox.take(has_lines=self._screen.takes_pastes)
                self._start_typing(self._typing)
            self._notice()

    def _look(self) -> Scene:
        """The state of the program now, as it can be seen; the relay hears of it when that changes."""
        line = terminal.line_of(self._program, len(self._unwritten))
        sight = self._given.prompt.sight(self._screen, line)
        said, said_at = (
            (self._hooks.state, self._hooks.changed) if self._hooks is not None else (None, 0.0)
        )
        now = elapsed_seconds()
        self._activity.look(now, sight, said, said_at)
        state = self._state()
        if state != self._told_state and self._mail.tell_state(state):
            self._told_state = state
        if not self._mail.is_connected:
            self._told_state = self._told_screen = ""
        is_open = sight is Sight.PROMPT and self._activity.state is AgentState.IDLE
        is_alive = self._hooks is not None and self._hooks.is_alive
        return Scene(line, is_open, not has_dialog(self._screen), is_alive)

    def _answer(self, scene: Scene) -> bytes:
        """The key that answers the dialog that is shown, once the person has said so elsewhere."""
        is_drawn = not self._is_passing and not terminal.can_be_read(self._program.ours)
        is_calm = is_drawn and not scene.line.unread_bytes and not self._held
        return self._approvals.look(elapsed_seconds(), self._dialog(), is_calm=is_calm)

    def _dialog(self) -> AskedPermission | None:
        """The dialog in which the program waits for permission; None for none that is known."""
        if self._activity.state is not AgentState.PERMISSION:
            return None
        return asked(self._given.dialogs, self._given.prompt, self._screen.texts())

    def _state(self) -> str:
        """The state of the program, as others are told; "" while that is not known."""
        return self._activity.state or ""

    def _tell_screen(self) -> None:
        """Have the person's page show the screen, now and then, where it is another."""
        now = elapsed_seconds()
        if now < self._screen_due:
            return
        self._screen_due = now + SCREEN_SECONDS
        shown = "\n".join(self._screen.texts()).rstrip()
        if shown != self._told_screen and self._mail.tell_state(self._state(), shown):
            self._told_screen = shown

    def _can_hand_over(self) -> bool:
        """True if a hook takes what waits. What the person wants done goes in as a prompt instead."""
        if (
            not self._inbox
            or self._hooks is None
            or (self._handing is not None and not self._handing.done())
        ):
            return False
        is_task = self._inbox.begins_with_task(elapsed_seconds() - TASK_SECONDS)
        return self._hooks.can_hand_over(self._activity.state) and (
            self._hooks.takes_tasks or not is_task
        )

    def _may_type(self, scene: Scene) -> bool:
        is_handing = self._handing is not None and not self._handing.done()
        if not self._inbox or is_handing or not self._typist.may_begin(elapsed_seconds(), scene):
            return False
        if shell_of(terminal.foreground_words(self._program) or [self._mail.who.program]):
            self._inbox.leave_messages()
        return bool(self._inbox)

    def _start_typing(self, written: TypedText) -> None:
        """Type a text, if the program still waits as it did when the text was made ready."""
        scene = self._look()
        has_other_form = "\n" in written.whole and not self._screen.takes_pastes
        if has_other_form or not self._typist.may_begin(elapsed_seconds(), scene):
            self._typing = None
            self._inbox.put_back([written.text])
            return
        if self._hooks is not None:
            self._hooks.expect(written.whole)
        self._write(self._typist.begin(written.whole, elapsed_seconds(), scene))

    def _go_on_typing(self, written: TypedText, scene: Scene) -> None:
        if self._hooks is not None and self._hooks.has_arrived(written.whole):
            self._typist.confirm()
            self._typed(written, TypingOutcome.TAKEN)
            return
        step = self._typist.step(elapsed_seconds(), scene)
        if step.write:
            self._write(step.write)
        if step.outcome is not None:
            self._typed(written, step.outcome)

    def _typed(self, written: TypedText, outcome: TypingOutcome) -> None:
        """Do what follows from what came of a text."""
        if outcome is TypingOutcome.STUCK:
            if written.text.delivery is not None:
                self._begin(self._mail.not_taken(written.text.delivery, _STUCK))
            return
        self._typing = None
        if self._hooks is not None:
            self._hooks.forget(written.whole)
        if outcome is TypingOutcome.TAKEN:
            self.taken(written.text)
        else:
            self._inbox.put_back([written.text])

    def taken(self, text: WaitingText) -> None:
        """The program has taken a text: the relay and its sender are told."""
        self._inbox.done(text)
        if text.delivery is not None:
            self._begin(self._mail.took(text.delivery))

    def _notice(self) -> None:
        """Say of messages that have waited for long why they do: to their senders, and at the
        terminal.
        """
        overdue = self._inbox.overdue(elapsed_seconds() - NOTICE_SECONDS)
        why = f"it waits: {self._mail.who.name} {_DOING[self._activity.state]}"
        for delivery in overdue:
            self._begin(self._mail.not_taken(delivery, why))
        if overdue:
            self._show_title(f"{len(self._inbox)} waiting for {self._mail.who.name}")
        elif not self._inbox:
            self._show_title("")

    def _show_title(self, title: str) -> None:
        """Show a title in the place of the program's, with a bell; "" shows the program's again."""
        if self._user is None or self._output is None or (not title and not self._has_title):
            return
        text = (
            f"{'' if self._has_title else _PUSH_TITLE}\x1b]2;{title}\a{_BELL}"
            if title
            else _POP_TITLE
        )
        self._has_title = bool(title)
        _write_all(self._output, text.encode())

    def _begin(self, telling: Coroutine[Any, Any, None]) -> None:
        """Tell the relay something without waiting. What does not get there is asked for again by
        the relay.
        """
        self._telling.begin(telling).add_done_callback(_told)

    async def _received(self, delivery: Delivery) -> None:
        if delivery.kind in _TYPED_KINDS:
            self._given.handover.record.came(delivery)
        if delivery.kind in _TYPED_KINDS and self._inbox.put_message(delivery):
            return
        told = delivery.data.get(UNDELIVERED) if isinstance(delivery.data, dict) else None
        if delivery.kind == "state" and isinstance(told, str):
            self._inbox.put(
                f"[{RELAY} error]",
                f"{delivery.sender} has not taken message {told}: {delivery.body}",
            )
        self._begin(self._mail.read(delivery))

    def _size_from(self) -> int | None:
        return next((one for one in (0, 1) if os.isatty(one)), None)


def _told(task: asyncio.Task[None]) -> None:
    error = None if task.cancelled() else task.exception()
    if error is not None and not isinstance(error, TerselyError):
        raise error


def _can_be_read(descriptor: int) -> bool:
    """True if somebody may write there: a terminal, a pipe or a file."""
    try:
        mode = os.fstat(descriptor).st_mode
    except OSError:
        return False
    return os.isatty(descriptor) or stat.S_ISFIFO(mode) or stat.S_ISREG(mode) or stat.S_ISSOCK(mode)


def _can_be_written(descriptor: int) -> bool:
    try:
        os.fstat(descriptor)
    except OSError:
        return False
    return True


def _write_all(descriptor: int, data: bytes) -> None:
    view = memoryview(data)
    with contextlib.suppress(OSError):  # nobody reads it any more; the program may go on
        while view:
            view = view[os.write(descriptor, view) :]
