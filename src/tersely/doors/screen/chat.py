"""The screen of a conversation: the log, the prompt, and what keys do."""

from __future__ import annotations

from collections.abc import Awaitable, Sequence
from typing import ClassVar, TypeVar

from textual import work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.events import Key
from textual.screen import Screen
from textual.timer import Timer
from textual.widget import Widget
from textual.widgets import Footer, Static

from tersely.agent.events import (
    ApprovalAsked,
    CallEnded,
    CallProgress,
    CallStarted,
    Decision,
    EndReason,
    Event,
    TextDelta,
    ThoughtDelta,
    TurnEnded,
)
from tersely.agent.opening import Mode
from tersely.capabilities.invoke import defect
from tersely.doors.screen.dialogs.approving import ApprovalAnswer, Approving
from tersely.doors.screen.dialogs.choosing import ChoiceRow, Choosing
from tersely.doors.screen.dialogs.listing import ToolListing
from tersely.doors.screen.log import MAX_ENTRIES, Log
from tersely.doors.screen.shown import ShownAgent, ShownWords
from tersely.doors.screen.status import StatusBar
from tersely.doors.screen.typing import commands
from tersely.doors.screen.typing.completion import Index
from tersely.doors.screen.typing.prompt import Prompt
from tersely.doors.screen.typing.queue import MAX_QUEUED_MESSAGES, Queue, TypedEntry
from tersely.foundation.clock import Stopwatch
from tersely.foundation.errors import TerselyError
from tersely.foundation.text.escape import visible_line

ResultT = TypeVar("ResultT")

_SHELL = "!"  # before a command of the shell
_THINKING, _WRITING, _REASONING = "Waiting for the model", "The model writes", "The model thinks"
WELCOME = (
    ("", "Ask about this repository, or say what to change. For example:"),
    ("", ""),
    ("  what does this program do?", ""),
    ("  who calls main, and with what?", ""),
    ("  add a docstring to @src/app.py", ""),
    ("", ""),
    ("", "Files are read at once; before one is changed or a command runs, you are asked."),
    ("", "/help lists commands and keys, Tab the tools. Ctrl+Q quits."),
)
_FULL = f"{MAX_QUEUED_MESSAGES} messages are queued; this one stays in the prompt."
_QUITS = "Press q again to quit."
_QUITS_ANYWAY = "Something is typed, queued or running. Press q again to quit all the same."


class ChatScreen(Screen[None]):
    """One conversation."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("tab", "tools", "Tools"),
        Binding("ctrl+t", "tier", "Tier", priority=True),
        Binding("ctrl+r", "retrieval", "RAG", priority=True),
        Binding("ctrl+c", "app.cancel", "Cancel", priority=True),
        Binding("ctrl+o", "details", "Details", priority=True),
        Binding("ctrl+g", "mode", "Mode", priority=True),
        Binding("q", "quit_asked", "Quit"),
        Binding("escape", "escape", show=False),
        Binding("shift+tab", "other", show=False),
    ]

    def __init__(self, agent: ShownAgent, index: Index | None) -> None:
        super().__init__()
        self.agent = agent
        self._index = index
        self._activity = ""
        self._watch = Stopwatch()
        self._ticking: Timer | None = None
        self._is_turn = False
        self._asked: Approving | None = None
        self._welcome: Widget | None = None
        self._is_quitting = False  # the next q ends the program

    def compose(self) -> ComposeResult:
        """From top to bottom."""
        yield StatusBar(id="status")
        yield Log(id="log")
        yield Static(id="activity", markup=False)
        queue = Queue(id="queued")
        yield queue
        yield Prompt(self._index, queue, id="prompt")
        yield Footer(show_command_palette=False, compact=True)

    def on_mount(self) -> None:
        """Show how things stand, and what was said before."""
        self._ticking = self.set_interval(1, self._show_activity, pause=True)
        self.set_activity("")
        self.show_history()

    @property
    def log_view(self) -> Log:
        """The log."""
        return self.query_one("#log", Log)

    @property
    def prompt(self) -> Prompt:
        """The prompt."""
        return self.query_one("#prompt", Prompt)

    @property
    def queue(self) -> Queue:
        """The messages that wait until the agent is done."""
        return self.query_one("#queued", Queue)

    def show_status(self) -> None:
        """Ask how things stand, and tell."""
        self.query_one("#status", StatusBar).show(self.agent.status(), self.agent.mode())

    def show_history(self) -> None:
        """Show what this session has said so far."""
        history = self.agent.history()
        self.log_view.clear()
        for past in history[-MAX_ENTRIES:]:
            if not isinstance(past, ShownWords):
                self.log_view.show(past)
            elif past.role == "user":
                self.log_view.say(_said(past.text), "user")
            else:
                self.log_view.answered(past.text)
        if not history:
            self._welcome = self.log_view.table(WELCOME)
        self.prompt.history.fill(
            [past.text for past in history if isinstance(past, ShownWords) and past.role == "user"]
        )
        self.show_status()

    # Messages and commands.

    def on_prompt_sent(self, event: Prompt.Sent) -> None:
        """A message or a command: begun at once, or queued while something runs."""
        self._is_quitting = False
        written = event.written
        must_wait = self._activity and not (
            _is_command(written) and commands.may_run_meanwhile(written.text)
        )
        if must_wait and self.queue.is_full:
            self.notify(_FULL, markup=False)
            return
        self.prompt.sent()
        if must_wait:
            self.queue.add(written)
        else:
            self._begin(written)

    def _begin(self, written: TypedEntry) -> None:
        if _is_command(written):
            self.run_command(written.text)
            return
        if self._welcome is not None:
            self.log_view.take_back(self._welcome)
            self._welcome = None
        self.log_view.say(_said(written.shown or written.text), "user")
        self.log_view.anchor()
        if written.text.startswith(_SHELL):
            self._run_program(written.text.removeprefix(_SHELL).strip())
        else:
            self._turn(written.text, written.pasted)

    def _begin_queued(self) -> None:
        """Go on with what was sent first, if nothing runs."""
        if (
            self.is_running
            and not self._activity
            and (written := self.queue.take_first()) is not None
        ):
            self._begin(written)

    def run_command(self, line: str) -> None:
        """Do what a command says, and show what went wrong."""
        self._command(line)

    def _run_program(self, command: str) -> None:
        """Run what was typed behind `!`, and show what it prints."""

        async def ran() -> None:
            program = self.agent.run_command(command)
            self.log_view.say(await self.busy(f"Running {visible_line(command)}", program))

        self._do(ran())

    def _command(self, line: str) -> None:
        self._do(commands.run(self, line))

    @work(group="command")
    async def _do(self, command: Awaitable[None]) -> None:
        try:
            await command
        except TerselyError as error:
            self._say_error(error)
        except Exception as error:  # noqa: BLE001 - a defect ends no conversation
            self.log_view.say(defect(error).message, "error")
        self.show_status()
        self._begin_queued()

    @work(group="turn")
    async def _turn(self, message: str, pasted: Sequence[str]) -> None:
        self._is_turn = True
        is_answered = False
        self.set_activity(_THINKING)
        try:
            async for event in self.agent.run(message, pasted):
                self._take(event)
                is_answered = isinstance(event, TurnEnded) and event.reason is EndReason.ANSWERED
        except TerselyError as error:
            self._say_error(error)
        except Exception as error:  # noqa: BLE001 - a defect ends no conversation
            self.log_view.say(defect(error).message, "error")
        finally:
            self._is_turn = False
            if self.is_running:
                self._end_asking()
                self.set_activity("")
                self.show_status()
                if is_answered:
                    self._begin_queued()
                else:  # whoever sent it may not want it any more
                    self.prompt.take_back()

    def _take(self, event: Event) -> None:
        if isinstance(event, ApprovalAsked):
            self._ask(event)
        elif isinstance(event, TextDelta):
            self.set_activity(_WRITING)
        elif isinstance(event, ThoughtDelta):
            self.set_activity(_REASONING)
        elif isinstance(event, CallStarted):
            self.set_activity(_running(event.tool))
        elif isinstance(event, CallEnded):
            self.set_activity(_THINKING)
        self.log_view.show(event)
        if not isinstance(event, TextDelta | ThoughtDelta | CallProgress):
            self.show_status()

    def _say_error(self, error: TerselyError) -> None:
        hint = f"\n{error.hint}" if error.hint else ""
        self.log_view.say(f"{error}{hint}", "error")

    # Approvals.

    def _ask(self, event: ApprovalAsked) -> None:
        self.set_activity(f"{visible_line(event.tool)} waits for your answer")
        asked = self._asked = Approving(event, self._type_early)

        def answer(given: ApprovalAnswer | None) -> None:
            if self._asked is not asked:
                return
            self._asked = None
            if given is None:
                self._cancel_running()
                return
            self.agent.approve(event.call_id, given.decision, given.pattern)
            self.set_activity(
                _THINKING if given.decision is Decision.DENY else _running(event.tool)
            )

        self.app.push_screen(asked, answer)

    async def _type_early(self, event: Key) -> None:
        """Take a key that was pressed before a question could be read: what was meant for the log
        is not typed.
        """
        if event.key == "shift+tab":
            self.action_other()
        elif self.focused is self.prompt.editor:
            await self.prompt.editor.type(event)

    def _end_asking(self) -> None:
        """The turn has ended: nobody waits for the answer."""
        asked, self._asked = self._asked, None
        if asked is not None and asked.is_current:
            asked.dismiss(None)

    # What is going on.

    def set_activity(self, activity: str) -> None:
        """Show what takes time just now, "" for nothing."""
        if activity == self._activity and activity:
            return
        self._activity = activity
        self._watch = Stopwatch()
        if self._ticking is not None:
            (self._ticking.resume if activity else self._ticking.pause)()
        self.query_one("#activity").visible = bool(activity)
        self._show_activity()

    def _show_activity(self) -> None:
        seconds = int(self._watch.seconds())
        waited = f" · {seconds:,} s" if seconds else ""
        self.query_one("#activity", Static).update(f"{self._activity}{waited} · Esc cancels")

    async def busy(self, what: str, work: Awaitable[ResultT]) -> ResultT:
        """Say that something takes time while it does."""
        self.set_activity(what)
        try:
            return await work
        finally:
            self.set_activity("")

    async def choose(self, title: str, choices: Sequence[ChoiceRow]) -> str | None:
        """Have one of a list chosen; None if nobody wants any."""
        return await self.app.push_screen_wait(Choosing(title, choices))

    # Keys.

    def action_tools(self) -> None:
        """Tab."""
        self.app.push_screen(ToolListing(self.agent.tools()))

    def action_tier(self) -> None:
        """Ctrl+T: the next tier, after the last one the first."""
        highest = max((tool.tier for tool in self.agent.tools()), default=0)
        try:
            self.agent.set_tier((self.agent.status().tier + 1) % (highest + 1))
        except TerselyError as error:
            self._say_error(error)
        else:
            self.say_tier()

    def say_tier(self) -> None:
        """List capabilities now."""
        self.show_status()
        names = ", ".join(
            visible_line(tool.name) for tool in self.agent.tools() if tool.is_unlocked
        )
        self.log_view.say(f"tier {self.agent.status().tier}: {names}")

    def action_retrieval(self) -> None:
        """Ctrl+R."""
        self.run_command("/rag")

    def action_details(self) -> None:
        """Ctrl+O."""
        self.log_view.open_calls()

    def action_escape(self) -> None:
        """Esc: cancel what runs, else go to the log and back."""
        if not self._cancel_running():
            self.action_other()

    def action_mode(self) -> None:
        """Ctrl+G: the next mode, after the last one the first."""
        modes = list(Mode)
        mode = modes[(modes.index(self.agent.mode()) + 1) % len(modes)]
        self.run_command(f"/mode {mode.value}")

    def action_quit_asked(self) -> None:
        """Q outside of the prompt: ask once; a second one ends the program."""
        if self._is_quitting:
            self.app.exit()
            return
        has_more = bool(self._activity or self.prompt.text or not self.queue.is_empty)
        self._is_quitting = True
        self.log_view.say(_QUITS_ANYWAY if has_more else _QUITS, "warning")

    async def on_key(self, event: Key) -> None:
        """A letter that is typed in the log is meant for the prompt."""
        if event.key == "q" or self.focused is self.prompt.editor:
            return
        self._is_quitting = False
        if event.is_printable:
            event.stop()
            self.set_focus(self.prompt.editor)
            await self.prompt.editor.type(event)

    def action_other(self) -> None:
        """From the prompt to the log and back."""
        self.set_focus(self.log_view if self.focused is self.prompt.editor else self.prompt.editor)

    def cancel(self) -> None:
        """Ctrl+C: copy what is selected, or end the turn, or forget what was typed."""
        if text := self.get_selected_text() or self.prompt.editor.selected_text:
            self.app.copy_to_clipboard(text)
            self.notify("Copied.")
        elif self._cancel_running():
            pass
        elif self.prompt.text:
            self.prompt.put("")
        else:
            self.notify("Nothing is running. Ctrl+Q quits.")

    def _cancel_running(self) -> bool:
        """End the turn or the command that runs; whether one does."""
        if self._is_turn:
            self.agent.cancel()
            self.set_activity("Cancelling")
        elif self._activity:
            self.workers.cancel_group(self, "command")
        else:
            return False
        return True


def _is_command(written: TypedEntry) -> bool:
    return written.text.startswith("/")


def _running(tool: str) -> str:
    return f"Running {visible_line(tool)}"


def _said(text: str) -> str:
    return "› " + text.replace("\n", "\n  ")
