"""The forms in which calls of tools are asked for and read.

call_format = call_format_of(model.abilities) constraint = constraint_for(tools, call_format, paths)
reading = read_calls(answer, tools, paths, call_format)  # its `calls` are each a Call or a
Malformed
"""

from tersely.agent.tool_calling.asking import (
    AUTO,
    Reading,
    call_format_of,
    call_instructions,
    constraint_for,
    read_calls,
    read_raw_call,
)
from tersely.agent.tool_calling.call import MalformedCall, ToolCall
from tersely.agent.tool_calling.call_format import CallFormat
from tersely.agent.tool_calling.path_trie import PathTrie
from tersely.agent.tool_calling.prose import ProseReader, prose_reader
from tersely.agent.tool_calling.repetition import Repetition
from tersely.agent.tool_calling.text_call_format import written
from tersely.agent.tool_calling.thoughts import ThoughtReader

__all__ = [
    "AUTO",
    "CallFormat",
    "MalformedCall",
    "PathTrie",
    "ProseReader",
    "Reading",
    "Repetition",
    "ThoughtReader",
    "ToolCall",
    "call_format_of",
    "call_instructions",
    "constraint_for",
    "prose_reader",
    "read_calls",
    "read_raw_call",
    "written",
]  # fmt: skip
