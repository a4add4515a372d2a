"""Text of others as it is typed into a program: it can steer no terminal, begin no command, and
name no other sender.

A mark is broken by a blank and not by a backslash: programs that render Markdown take backslashes
away, and a mark that a reader quotes has to stay broken. Lines after the first begin with a gutter,
so that none can pass for a new message.
"""

from __future__ import annotations

import re

from tersely.foundation.text.escape import visible, visible_line

BANNER = "Relay message from"  # begins every message that is typed in; nothing foreign may begin so
GUTTER = "| "
LINE_MARK = " ⏎ "  # a newline where one would be taken for Enter
ID_CHARACTERS = 8  # of a message's id that are shown
_HIGH, _HIGHEST = 50, 75  # importance above which a message is marked

_COMMAND = re.compile(r"->(?=\s*(?:relay|thinking)\b)", re.IGNORECASE)
_BRACKETS = re.compile(r"\[(?=\[\s*/?\s*RELAY)", re.IGNORECASE)
_FENCE = re.compile(r"(`{3,}|~{3,})")
_BANNER = re.compile(r"(relay)(\s+)(message\s+from)", re.IGNORECASE)
_OF_NO_NAME = re.compile(
    r"(?!\A[#*])[^\w.:@/-]"
)  # the first character of an address may be one of these
_SPACES = re.compile(r"[\t ]+$", re.MULTILINE)


def neutral(text: str) -> str:
    """The text without anything that a terminal or a reader of commands could take for more than
    text.
    """
    text = visible(text.replace("\r\n", "\n").replace("\r", "\n"))
    text = _COMMAND.sub("-> ", text)
    text = _BRACKETS.sub("[ ", text)
    text = _FENCE.sub(lambda found: " ".join(found[0]), text)
    text = _BANNER.sub(lambda found: f"(quoted: {found[1]}){found[2]}{found[3]}", text)
    return text.expandtabs(4)


def banner(
    sender: str, message_id: str, *, thread: str = "", to: str = "", importance: int | None = None
) -> str:
    """The words that begin a message: who wrote it, and what an answer may refer to."""
    shown = f"{BANNER} {one_word(sender)} [{one_word(message_id)[:ID_CHARACTERS]}]"
    if thread:
        shown += f" [thread:{one_word(thread)}]"
    if importance is not None and importance > _HIGH:
        shown += " [!!]" if importance > _HIGHEST else " [!]"
    if to == "*" or to.startswith("#"):
        shown += f" [{one_word(to)}]"
    return shown


def typed(head: str, body: str, *, has_lines: bool) -> str:
    """A message as it is typed: on one line where a newline would send what was typed so far."""
    lines = _SPACES.sub("", neutral(body)).strip("\n").split("\n")
    if not has_lines:
        return f"{head}: " + LINE_MARK.join(line for line in lines if line)
    return f"{head}: " + "\n".join([lines[0], *(GUTTER + line for line in lines[1:])])


def one_word(text: str) -> str:
    """A name or an address that others have chosen, as one word."""
    return _OF_NO_NAME.sub("_", visible_line(text))
