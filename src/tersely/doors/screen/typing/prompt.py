"""The prompt: several lines, what was sent before, and what a word may become."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Sequence
from typing import ClassVar

from textual import work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.events import Key, Paste
from textual.message import Message
from textual.widgets import OptionList, TextArea

from tersely.doors.screen.dialogs.choosing import option
from tersely.doors.screen.typing.commands import COMMANDS
from tersely.doors.screen.typing.completion import (
    Completion,
    Index,
    TypedWord,
    referred,
    word_before,
)
from tersely.doors.screen.typing.queue import Queue, TypedEntry
from tersely.foundation.text.escape import visible

_PLACEHOLDER = "Ask, or say what to change · / commands · @ files"
MAX_REMEMBERED = 200  # messages that can be called back
LEAST_PASTED_WORDS = 3
MAX_PASTED_LINES = 4  # longer texts that are pasted are one row in the prompt
MAX_PASTED_CHARACTERS = 800


class SentMessages:
    """The messages that were sent, and the place in them."""

    def __init__(self) -> None:
        self._sent: list[str] = []
        self._at = 0
        self._draft = ""

    def add(self, text: str) -> None:
        """One more message; the same twice in a row is one."""
        if not self._sent or self._sent[-1] != text:
            self._sent = [*self._sent[-MAX_REMEMBERED + 1 :], text]
        self._at = len(self._sent)

    def fill(self, texts: Sequence[str]) -> None:
        """Put in what was sent in a session that goes on."""
        self._sent = list(texts[-MAX_REMEMBERED:])
        self._at = len(self._sent)

    def older(self, current: str) -> str | None:
        """The message before, None at the first one. What is being written is kept."""
        if self._at == 0:
            return None
        if self._at == len(self._sent):
            self._draft = current
        self._at -= 1
        return self._sent[self._at]

    def newer(self) -> str | None:
        """The message after, at last what was being written."""
        if self._at >= len(self._sent):
            return None
        self._at += 1
        return self._sent[self._at] if self._at < len(self._sent) else self._draft


class Editor(TextArea):
    """The text itself. Keys that mean something to the prompt are asked for before they are typed."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+j,shift+enter,alt+enter", "new_line", "New line", show=False)
    ]

    def on_paste(self, event: Paste) -> None:
        """Know what was not typed; the text area puts it in, where it steers no terminal."""
        event.text = visible(event.text.replace("\r\n", "\n").replace("\r", "\n"))
        self._note_paste(event.text)
        if isinstance(self.parent, Prompt):
            event.text = self.parent.folded(event.text)

    def action_paste(self) -> None:
        """The same for what was cut here."""
        self._note_paste(self.app.clipboard)
        super().action_paste()

    def _note_paste(self, text: str) -> None:
        prompt = self.parent
        if isinstance(prompt, Prompt):
            prompt.note_paste(text)

    async def type(self, event: Key) -> None:
        """Take a key that was pressed for this text and came to something else."""
        await self._on_key(event)

    async def _on_key(self, event: Key) -> None:
        prompt = self.parent
        if isinstance(prompt, Prompt) and prompt.takes(event.key):
            event.stop()
            event.prevent_default()
            return
        await super()._on_key(event)

    def action_new_line(self) -> None:
        """Go on in the next line instead of sending."""
        self.insert("\n")


class Prompt(Vertical):
    """The editor with a list of completions above it; `queue` has what waits to be sent."""

    class Sent(Message):
        """Enter was pressed on a text that is not empty."""

        def __init__(self, written: TypedEntry) -> None:
            super().__init__()
            self.written = written

    def __init__(self, index: Index | None, queue: Queue, *, id: str) -> None:
        super().__init__(id=id)
        self._index = index
        self._queue = queue
        self._word: TypedWord | None = None
        self._offered: Sequence[Completion] = ()
        self._offered_for: TypedWord | None = None
        self._given = ""  # a text that was not typed, so that nothing is offered for it
        # also of messages that are called back
        self._pasted: deque[str] = deque(maxlen=MAX_REMEMBERED)
        self._folded: dict[str, str] = {}  # by the rows that stand for them
        self._folds = 0
        self.history = SentMessages()

    def compose(self) -> ComposeResult:
        """The list is there all the time, mostly unseen."""
        yield OptionList(id="completions", markup=False)
        yield Editor(
            id="editor",
            soft_wrap=True,
            tab_behavior="focus",
            highlight_cursor_line=False,
            placeholder=_PLACEHOLDER,
        )

    def on_mount(self) -> None:
        """Only the editor is typed into."""
        self._list.can_focus = False
        self._list.display = False
        self.editor.focus()

    @property
    def editor(self) -> Editor:
        """The editor that is typed into."""
        return self.query_one("#editor", Editor)

    @property
    def text(self) -> str:
        """The text that has been typed."""
        return self.editor.text

    @property
    def _list(self) -> OptionList:
        return self.query_one("#completions", OptionList)

    def put(self, text: str) -> None:
        """Have this text instead, with the cursor at its end."""
        self._given = visible(text)
        self.editor.text = self._given
        self.editor.move_cursor(self.editor.document.end)

    def note_paste(self, text: str) -> None:
        """Something was pasted. A word or two are as good as typed."""
        text = "\n".join(text.splitlines()).strip()
        if len(text.split()) >= LEAST_PASTED_WORDS and text not in self._pasted:
            self._pasted.append(text)

    def takes(self, key: str) -> bool:
        """True if a key was meant for the prompt instead of the text; if so it has been done."""
        keys = {"enter": self._send, "up": self._go_back, "down": self._go_forth}
        if self._list.display:
            accept = self._accept_whole if self._word_now() == self._offered_for else self._send
            keys = {
                "enter": accept, "tab": self._accept, "escape": self._close,
                "up": lambda: self._move(-1), "down": lambda: self._move(1),
            }  # fmt: skip
        return key in keys and keys[key]()

    def _send(self) -> bool:
        text = self.text.strip()
        if text:
            whole = self._unfolded(text).strip()
            pasted = tuple(each for each in self._pasted if each in whole)
            self.post_message(self.Sent(TypedEntry(whole, pasted, text if whole != text else "")))
        return True

    def folded(self, text: str) -> str:
        """What stands in the prompt for a text that is pasted: one row for a long one."""
        lines = text.strip("\n").count("\n") + 1
        if lines <= MAX_PASTED_LINES and len(text) <= MAX_PASTED_CHARACTERS:
            return text
        self._folds += 1
        row = f"[pasted {self._folds}: {lines:,} lines]"
        self._folded[row] = text
        if len(self._folded) > MAX_REMEMBERED:
            del self._folded[next(iter(self._folded))]
        return row

    def _unfolded(self, text: str) -> str:
        for row, pasted in self._folded.items():
            text = text.replace(row, pasted)
        return text

    def sent(self) -> None:
        """Make room for the next message: what was sent is on its way."""
        self.history.add(self.text.strip())
        self.put("")

    def take_back(self) -> None:
        """Have everything that waits before what is being written."""
        texts = [written.shown or written.text for written in self._queue.take_all()]
        if texts:
            self.put("\n".join([*texts, *filter(None, [self.text])]))

    def _go_back(self) -> bool:
        if self.editor.cursor_location[0] > 0:
            return False
        if not self.text and (last := self._queue.take_last()) is not None:
            return self._call_back(last.shown or last.text)
        return self._call_back(self.history.older(self.text))

    def _go_forth(self) -> bool:
        if self.editor.cursor_location[0] < self.editor.document.line_count - 1:
            return False
        return self._call_back(self.history.newer())

    def _call_back(self, text: str | None) -> bool:
        if text is not None:
            self.put(text)
        return text is not None

    # Completion.

    async def on_text_area_changed(self, event: TextArea.Changed) -> None:
        """Look what the word before the cursor may become."""
        self._look()

    def on_text_area_selection_changed(self, event: TextArea.SelectionChanged) -> None:
        """The cursor has left the word."""
        if self._list.display and self._word_now() != self._word:
            self._look()

    def _word_now(self) -> TypedWord | None:
        line, column = self.editor.cursor_location
        return word_before(self.editor.document.get_line(line)[:column], is_first_line=line == 0)

    def _look(self) -> None:
        self._word = self._word_now()
        if self._word is None or self.text == self._given:
            self._close()
            return
        self._offer(self._word)

    @work(group="completion", exclusive=True)
    async def _offer(self, word: TypedWord) -> None:
        found = await self._candidates(word)
        if word != self._word:
            return
        self._offered, self._offered_for = found, word
        self._list.clear_options()
        self._list.add_options([option(candidate.text, candidate.note) for candidate in found])
        self._list.display = bool(found)
        if found:
            self._list.highlighted = 0

    async def _candidates(self, word: TypedWord) -> Sequence[Completion]:
        if word.mark == "/":
            found = [
                (name, command) for name, command in COMMANDS.items() if name.startswith(word.typed)
            ]
            width = max((len(name) for name, _ in found), default=0)
            return [
                Completion(name, f"{'':{width - len(name)}}{command.summary}")
                for name, command in found
            ]
        if self._index is None:
            return []
        return await asyncio.get_running_loop().run_in_executor(
            self._index.thread, self._index.complete, word.typed
        )

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        """A click."""
        self._accept()

    def _accept(self) -> bool:
        at, word = self._list.highlighted, self._word_now()
        # what was typed since the list was made is kept
        if at is not None and word is not None and word == self._offered_for:
            text = self._offered[at].text
            line, column = self.editor.cursor_location
            written = f"/{text} " if word.mark == "/" else referred(text)
            self.editor.replace(written, (line, word.start), (line, column))
        self._close()
        return True

    def _accept_whole(self) -> bool:
        """Enter: a command that needs nothing more is sent at once."""
        is_command = self._word is not None and self._word.mark == "/"
        self._accept()
        command = COMMANDS.get(self.text.strip().removeprefix("/"))
        return (
            self._send()
            if is_command and command is not None and not command.needs_argument
            else True
        )

    def _close(self) -> bool:
        self._word = None
        self._list.display = False
        return True

    def _move(self, by: int) -> bool:
        at = self._list.highlighted
        self._list.highlighted = ((at or 0) + by) % self._list.option_count
        return True
