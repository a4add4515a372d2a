"""One of a list."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, NamedTuple

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Label, OptionList
from textual.widgets.option_list import Option

from tersely.foundation.text.escape import visible_line


class ChoiceRow(NamedTuple):
    """One entry: what choosing it gives, what is shown, and a few words about it."""

    value: str
    text: str
    note: str = ""


class Choosing(ModalScreen[str | None]):
    """A list with a title; None if nothing was chosen."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,ctrl+c", "dismiss_without", "Back", priority=True)
    ]

    def __init__(self, title: str, choices: Sequence[ChoiceRow]) -> None:
        super().__init__()
        self._title = title
        self._choices = choices

    def compose(self) -> ComposeResult:
        """Title, entries, what to press."""
        with Vertical(classes="dialog"):
            yield Label(self._title, markup=False, classes="title")
            yield OptionList(
                *(option(choice.text, choice.note) for choice in self._choices), markup=False
            )
            yield Label(
                "Enter chooses, Esc goes back"
                if self._choices
                else "There are none. Esc goes back",
                classes="keys",
            )

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        """Enter or a click."""
        self.dismiss(self._choices[event.option_index].value)

    def action_dismiss_without(self) -> None:
        """Esc."""
        self.dismiss(None)


def option(text: str, note: str) -> Option:
    """An entry of a list with a few words about it."""
    return Option(
        Content.assemble(visible_line(text), (f"  {visible_line(note)}" if note else "", "dim"))
    )
