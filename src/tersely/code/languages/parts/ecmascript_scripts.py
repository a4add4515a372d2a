"""Classic scripts: files that neither import nor export, and share one global scope with those on
the same page.

Which scripts a page loads is read from the `index.html` of a directory. Scripts on no such page
share their names with the scripts of their directory.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Mapping
from typing import TYPE_CHECKING

from tersely.code.languages.model import Files
from tersely.code.languages.nodes import TextOf
from tersely.foundation.types import Strings

if TYPE_CHECKING:
    from tree_sitter import Node

CLASSIC_SCRIPT = "<script>"  # the namespace of a classic script; no package has this name
MODULE_NODES = frozenset({"import_statement", "export_statement"})
MODULE_WORDS = re.compile(rb"\b(?:require\s*\(|module\.exports\b|exports\.|define\s*\()")
# in a file that is a module where there are modules, and a classic script elsewhere
ASKS_FOR_MODULES = re.compile(rb"\btypeof\s+(?:module|exports|define)\b")
PAGE = "index.html"
SCRIPT = re.compile(r"<script\b[^>]*\bsrc\s*=\s*[\"']?([^\"'\s>]+)", re.IGNORECASE)
MAX_PAGE_SCRIPTS = 200  # of one page


def namespace_of(root: Node, text: TextOf) -> str:
    """The namespace of classic scripts, empty for a module."""
    source = root.text or b""
    is_module = any(child.type in MODULE_NODES for child in root.named_children)
    needs_modules = MODULE_WORDS.search(source) and not ASKS_FOR_MODULES.search(source)
    return "" if is_module or needs_modules else CLASSIC_SCRIPT


def sharing_scripts(files: Files, path: str) -> list[str]:
    """The classic scripts that share their names with one: those on its pages, else those of its
    directory.
    """
    on_pages = files.once(scripts_by_path)
    if path in on_pages:
        return list(on_pages[path])
    directory = posixpath.dirname(path)
    beside = (other for other in files.under(directory) if posixpath.dirname(other) == directory)
    return [other for other in beside if other not in on_pages]


def scripts_by_path(files: Files) -> Mapping[str, Strings]:
    """By each script that a page loads the scripts of all pages that load it, in their order."""
    found: dict[str, dict[str, None]] = {}
    for directory in files.directories():
        loaded = _loaded(files, directory)
        for path in loaded:
            found.setdefault(path, {}).update(dict.fromkeys(loaded))
    return {path: tuple(others) for path, others in found.items()}


def _loaded(files: Files, directory: str) -> list[str]:
    """The scripts of the repository that the page of a directory loads."""
    page = files.text(posixpath.join(directory, PAGE))
    sources = [source.partition("?")[0] for source in SCRIPT.findall(page)[:MAX_PAGE_SCRIPTS]]
    paths = (
        posixpath.normpath(posixpath.join(directory, source.lstrip("/"))) for source in sources
    )
    return [path for path in paths if files.exists(path)]
