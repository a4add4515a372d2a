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
TEMPLATE_LIMIT = (
    f"{MAX_TEMPLATE_CHARACTERS:,} characters were read of {MAX_TEMPLATES} templates of a call"
)

_TEXT = r"\s*[\"']([^\"'\s]+)[\"']"
NAME = re.compile(rf"\{{%-?\s*url{_TEXT}|\burl_for\({_TEXT}")
OTHER = re.compile(rf"\{{%-?\s*(?:extends|include|import|from){_TEXT}")
PATH = re.compile(
    r"\b(?:href|action|hx-(?:get|post|put|patch|delete))\s*=\s*[\"'](/[^\"'\s]*)[\"']"
    rf"|(?:\bfetch|\baxios\.\w+|(?:\$|\bjQuery)\.\w+)\({_TEXT}"
)
PLACE = re.compile(r"\{\{.*?\}\}|\{%.*?%\}|\$\{.*?\}")
HOLES = re.compile(rf"{re.escape(HOLE)}+")


class TemplateLink(NamedTuple):
    """A route that a template names: by its name, or by the path of its URL; line and column from 1."""

    kind: str
    text: str
    line: int
    column: int


class Templates:
    """The templates that calls name, each read once."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self._texts: dict[str, str] = {}

    def shown(self, calling: str, name: str) -> tuple[list[str], bool]:
        """The paths of the template that a file names and of those that it includes or extends; and
        whether some were not read to the end.
        """
        pending = [(calling, name)]
        found: dict[str, None] = {}
        is_cut = False
        while pending:
            path = self._located(*pending.pop(0))
            if not path or path in found:
                continue
            if len(found) == MAX_TEMPLATES:
                return list(found), True
            found[path] = None
            is_cut = is_cut or len(self._texts[path]) > MAX_TEMPLATE_CHARACTERS
            pending += [(path, other) for other in OTHER.findall(self._text(path))]
        return list(found), is_cut

    def links(self, path: str) -> Iterator[TemplateLink]:
        """What a template that was shown names itself."""
        text = self._text(path)
        padded = PLACE.sub(lambda place: HOLE * len(place[0]), text)
        for kind, pattern, source in (("name", NAME, text), ("path", PATH, padded)):
            for match in pattern.finditer(source):
                start = match.start(match.lastindex or 0)
                line, column = text.count("\n", 0, start) + 1, start - text.rfind("\n", 0, start)
                written = HOLES.sub(HOLE, match[match.lastindex or 0])
                yield TemplateLink(kind, written, line, column)

    def _text(self, path: str) -> str:
        return self._texts[path][:MAX_TEMPLATE_CHARACTERS]

    def _located(self, beside: str, name: str) -> str:
        """The path of the nearest template of a name, "" where there is none."""
        directory = posixpath.dirname(beside)
        while is_template(name):
            path = posixpath.normpath(posixpath.join(directory, DIRECTORY, name))
            if path not in self._texts:
                self._texts[path] = self.program.text(path)
            if self._texts[path] or not directory:
                return path if self._texts[path] else ""
            directory = posixpath.dirname(directory)
        return ""


def is_template(path: str) -> bool:
    """True if a file may be a template, by its name."""
    return path.endswith(SUFFIXES)
