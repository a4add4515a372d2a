"""The declaration of an agent or editor that can be told of Tersely: its files, and what goes into
each.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from enum import StrEnum
from pathlib import Path
from shutil import which
from typing import Any

from tersely.foundation.types import JsonObject, Strings, field, frozen
from tersely.integrations.formats.json_text import SettingsEntry
from tersely.integrations.wrapped import Wrapped


class Audience(StrEnum):
    """The users whom a file concerns."""

    PROJECT = "project"
    USER = "user"


class FileForm(StrEnum):
    """The form in which a file is changed."""

    JSON = "json"
    TOML = "toml"
    YAML = "yaml"
    BLOCK = "block"  # a marked part of a text that belongs to somebody else
    WHOLE = "whole"  # a file of ours


@frozen
class SettingsTarget:
    """A file of an agent: where it is, from the root of the repository or the home directory, and
    what goes in it.
    """

    project: str
    user: str
    form: FileForm
    entries: Callable[[Sequence[str]], Sequence[SettingsEntry]] = lambda program: ()
    source: str = ""  # the text of ours, in files/
    # what is written in the place of words of the text
    switches: Mapping[str, str] = field(default_factory=dict)
    is_hook: bool = False
    is_text: bool = False
    local: str = ""  # a file of a repository that is one person's, which is read beside `project`

    def comment(self, words: str) -> str:
        """A line of a text that its readers pass over."""
        return f"<!-- {words} -->" if self.source.endswith(".md") else f"# {words}"

    def path(self, place: Audience) -> str:
        """Relative to the root or the home directory, "" if there is none for the place."""
        return (self.local or self.project) if place is Audience.PROJECT else self.user


@frozen
class KnownAgent:
    """An agent, its files, and how its hooks call and are answered."""

    name: str
    title: str
    targets: tuple[SettingsTarget, ...]
    prompt_event: str = ""  # "" where prompts cannot be added to
    untold_event: str = ""  # at which a sub-agent begins that no text of ours reaches
    read_event: str = ""
    after_event: str = ""  # "" where the results of tools cannot be added to
    read_tools: frozenset[str] = frozenset()
    # arguments with which a read is of a part
    range_names: frozenset[str] = frozenset({"offset", "limit"})
    path_names: Strings = ("file_path",)
    # JSON, or a text as it is
    answer_beside: Callable[[str, str], Any] = field(default=lambda event, text: None)
    answer_read: Callable[[str, str], Any] = field(default=lambda event, text: None)
    lacks: str = ""  # what cannot be done there, and why
    extension_program: str = ""  # an editor that takes our extension, by the name of its program
    # how it runs under `tersely run`; None where only its screen can be read
    wrapped: Wrapped | None = None

    def is_present(self, home: Path) -> bool:
        """True if a machine has it: its program is on the PATH, or a folder of its settings in the
        home directory.
        """
        program = self.extension_program or (self.name if self.wrapped else "")
        folders = {(home / target.user).parent for target in self.targets if target.user} - {home}
        return bool(which(program)) or any(folder.is_dir() for folder in folders)


def server(program: Sequence[str]) -> JsonObject:
    """The command that starts our server for tools."""
    return {"command": program[0], "args": [*program[1:], "mcp"]}


def servers(**more: Any) -> Callable[[Sequence[str]], list[SettingsEntry]]:
    """The entry for our server; `more` is what an agent takes beside it.

    Some agents name the tools of servers alone and have their model search for the rest, unless it
    says otherwise.
    """

    def entries(program: Sequence[str]) -> list[SettingsEntry]:
        return [SettingsEntry(("mcpServers", "tersely"), {**server(program), **more})]

    return entries


def snippet(project: str, user: str) -> SettingsTarget:
    """The paragraph of ours in a text that an agent reads; "" where it reads none."""
    return SettingsTarget(project, user, FileForm.BLOCK, source="AGENTS.md", is_text=True)


AGENTS_TEXT = snippet("AGENTS.md", "")
