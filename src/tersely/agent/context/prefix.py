"""The beginning of every prompt of a session, which never changes: who the model is, how it calls,
what, and where.

A server keeps what it has evaluated as long as the next prompt begins with the same tokens, so all
that comes later is appended: tools of a tier that is unlocked, what a project asks of agents,
retrieved code, summaries.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from tersely.agent.prompts import system_text
from tersely.agent.tool_calling import CallFormat, call_instructions
from tersely.agent.tools.declaration import AgentTool
from tersely.foundation.text.escape import visible_line
from tersely.foundation.types import JsonMapping

MAX_CARD_CHARACTERS = 160  # of the line on the repository in every prompt
MAX_CARD_FOLDERS = 6
MAX_CARD_LANGUAGES = 3


def prefix_text(family: str, call_format: CallFormat, tools: Sequence[AgentTool], card: str) -> str:
    """The first message of a session's prompts."""
    is_declared = call_format is CallFormat.NATIVE  # as functions
    told = "" if is_declared else f"Tools:\n{signatures(tools)}"
    return "\n".join(
        filter(None, [system_text(family), call_instructions(call_format), told, card])
    )


def card_of(prefix: str) -> str:
    """The line on the repository in the first message of a session's prompts."""
    return prefix.rpartition("\n")[2]


def signatures(tools: Sequence[AgentTool]) -> str:
    """Tools as the model reads of them, a line each."""
    return "\n".join(tool.signature for tool in tools)


def unlocked_text(tools: Sequence[AgentTool]) -> str:
    """The words by which a model is told of tools that it has from now on."""
    return f"Tools unlocked:\n{signatures(tools)}"


def repository_card(root: Path, stats: JsonMapping, tree: JsonMapping) -> str:
    """One line on a repository, of the answers of `code.stats` and `code.tree`."""
    languages = sorted(stats["languages"], key=lambda each: -each["bytes"])[:MAX_CARD_LANGUAGES]
    entries = sorted(tree["entries"]["items"], key=lambda each: -each["bytes"])
    folders = [each["name"] for each in entries if each["closed"]][:MAX_CARD_FOLDERS]
    files = sum(each["files"] for each in stats["languages"])
    parts = [
        root.name,
        f"{files:,} files",
        ", ".join(each["language"] for each in languages),
        " ".join(folders),
    ]
    return f"Repository: {visible_line('; '.join(filter(None, parts)))[:MAX_CARD_CHARACTERS]}"
