"""Answers as data beside their text, and the schemas of these, for clients that are programs.

Some agents show their model the data in the place of the text, which costs it several times the
tokens: nothing of this is sent unless the server was started for programs.
"""

from __future__ import annotations

from typing import Any, get_type_hints

from tersely.capabilities import catalogue
from tersely.capabilities.answers.reply import BUDGET
from tersely.capabilities.declaration.binding import object_schema
from tersely.capabilities.declaration.declaration import Capability, Context
from tersely.capabilities.declaration.references import has_references
from tersely.daemon.ndjson.spellings import spelling_of
from tersely.doors.mcp.tools import STORE
from tersely.foundation.types import JsonMapping, JsonObject, fields, has_fields

_TEXT = "text"  # the field of answers that are made to be read, as context packs are


def is_data(capability: Capability) -> bool:
    """True if the answers of a capability are data about code rather than a text."""
    answers = _answers(capability)
    return has_fields(answers) and _TEXT not in {field.name for field in fields(answers)}


def output_schema(capability: Capability) -> JsonObject | None:
    """The JSON Schema of the answers of a capability, an object; None where they are no data."""
    if not is_data(capability):
        return None
    import msgspec

    kinds = [_answers(capability)]
    try:
        (root,), parts = msgspec.json.schema_components(kinds, ref_template="#/$defs/{name}")
    except NameError:  # a part of it is imported when it is computed
        return object_schema({}, [])
    own = parts[root["$ref"].rpartition("/")[2]]
    return {**own, "$defs": parts}


def data_arguments(command: str, arguments: JsonMapping) -> JsonObject | None:
    """The arguments by which the answer to a command is asked for as data; None where it is none, is
    kept elsewhere, or refers to what is.
    """
    if STORE in arguments or has_references(arguments):
        return None
    spelling = spelling_of(command)
    if spelling is None or not is_data(catalogue.load(spelling.capability)):
        return None
    return {name: value for name, value in arguments.items() if name != BUDGET}


def _answers(capability: Capability) -> Any:
    """The type of the answers of a capability about code, None for one of the relay."""
    if capability.context is not Context.WORKSPACE:
        return None
    # what a capability is asked of is imported when it is asked
    return get_type_hints(capability.run, localns={"Workspace": object})["return"]
