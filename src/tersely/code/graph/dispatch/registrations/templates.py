"""The references of page templates: routes by name, paths of links and scripts, other templates.

Templates are no code of ours. One is read where a call names it, as text, from the `templates`
directory beside the calling file or above it.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator
from typing import NamedTuple

from tersely.code.expressions import HOLE
from tersely.code.graph.program.program import Program

DIRECTORY = "templates"
SUFFIXES = (".html", ".htm", ".xml", ".txt", ".jinja", ".jinja2", ".j2")
MAX_TEMPLATE_CHARACTERS = 200_000  # read of one
MAX_TEMPLATES = 40  # that one call leads to, with those that they include or extend
TEMPLATE_LIMIT = f"truncated: {MAX_TEMPLATE_CHARACTERS:,} characters were read of {MAX_TEMPLATES} templates of a call"

_TEXT = r"\s*[\"']([^\"'\s]+)[\"']"
NAME = re.compile(rf"\{{%-?\s*url{_TEXT}|\burl_for\({_TEXT}")
OTHER = re.compile(rf"\{{%-?\s*(?:extends|include|import|from){_TEXT}")
PATH = re.compile(
    r"\b(?:href|action|hx-(?:get|post|put|patch|delete))\s*=\s*[\"'](/[^\"'\s]*)[\"']"
    rf"|(?:\bfetch|\baxios\.\w+|(?:\$|\bjQuery)\.\w+)\({_TEXT}"
)
PLACE = re.compile(r"\{\{.*?\}\}|\{%.*?%\}|\$\{.*?\}")


class Reference(NamedTuple):
    """A route that a template names: by its name, or by the path of its URL."""

    kind: str
    text: str


class Templates:
    """The templates that calls name, each read once."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self._texts: dict[str, str] = {}

    def references(self, calling: str, name: str) -> tuple[list[Reference], bool]:
        """What a template refers to that a file names, with those it includes or extends; and
        whether some were not read to the end.
        """
        found: dict[Reference, None] = {}
        pending = [(calling, name)]
        seen: set[str] = set()
        is_cut = False
        while pending:
            beside, wanted = pending.pop(0)
            path, text = self._located(beside, wanted)
            if not path or path in seen:
                continue
            if len(seen) == MAX_TEMPLATES:
                return list(found), True
            seen.add(path)
            is_cut = is_cut or len(text) > MAX_TEMPLATE_CHARACTERS
            text = text[:MAX_TEMPLATE_CHARACTERS]
            found.update(dict.fromkeys(_references(text)))
            pending += [(path, other) for other in OTHER.findall(text)]
        return list(found), is_cut

    def _located(self, beside: str, name: str) -> tuple[str, str]:
        """The nearest template of a name, as path and text, both empty where there is none."""
        if not name.endswith(SUFFIXES):
            return "", ""
        directory = posixpath.dirname(beside)
        while True:
            path = posixpath.normpath(posixpath.join(directory, DIRECTORY, name))
            if path not in self._texts:
                self._texts[path] = self.program.text(path)
            if self._texts[path] or not directory:
                return (path, self._texts[path]) if self._texts[path] else ("", "")
            directory = posixpath.dirname(directory)


def _references(text: str) -> Iterator[Reference]:
    for match in NAME.finditer(text):
        yield Reference("name", match[1] or match[2])
    for match in PATH.finditer(PLACE.sub(HOLE, text)):
        yield Reference("path", match[1] or match[2])
