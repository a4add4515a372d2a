"""XML from outside, read safely: as events, so that no tree is built; declarations are refused, and
no entity is followed.

Declared entities, and values of attributes that are not written, are how a small file becomes a
huge one or names another file; no report of coverage has any, so one that does is refused. A
document type that is only named is allowed: it is never fetched.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from xml.parsers import expat

MAX_XML_LEVELS = 200

Start = Callable[[str, Mapping[str, str]], None]
End = Callable[[str, str], None]  # with the text inside an element, without that of elements in it


class UnreadableXmlError(Exception):
    """The text is no XML, or none that is read."""


def read_xml(text: bytes, start: Start, end: End) -> None:
    """Call `start` and `end` for every element, with its name without a prefix; raises
    `UnreadableXmlError`.
    """
    parser = expat.ParserCreate()
    parser.buffer_text = True
    texts: list[list[str]] = []

    def on_start(name: str, attributes: dict[str, str]) -> None:
        if len(texts) >= MAX_XML_LEVELS:
            raise UnreadableXmlError(f"elements are nested more than {MAX_XML_LEVELS} deep")
        texts.append([])
        start(name.rpartition(":")[2], attributes)

    def on_end(name: str) -> None:
        end(name.rpartition(":")[2], "".join(texts.pop()))

    def on_text(data: str) -> None:
        if texts:
            texts[-1].append(data)

    def on_entity(*_: object) -> None:
        raise UnreadableXmlError("it declares entities or attributes")

    parser.StartElementHandler = on_start
    parser.EndElementHandler = on_end
    parser.CharacterDataHandler = on_text
    parser.EntityDeclHandler = parser.AttlistDeclHandler = on_entity
    try:
        parser.Parse(text, True)
    except (expat.ExpatError, LookupError, ValueError) as error:
        raise UnreadableXmlError(str(error)) from error


def root_name(text: bytes) -> str:
    """The name of the outermost element, "" for text that is no XML."""
    found: list[str] = []

    class _SeenError(Exception):
        """The first element has been met."""

    def start(name: str, attributes: Mapping[str, str]) -> None:
        found.append(name)
        raise _SeenError

    with suppress(_SeenError, UnreadableXmlError):
        read_xml(text, start, lambda name, text: None)
    return found[0] if found else ""
