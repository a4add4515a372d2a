"""Fit the pages to the site, as mkdocs.yml asks: they are written to be read in the repository too."""

from __future__ import annotations

import re

# `[text](../path)`: a file of the repository that is no page of the site
_OUTSIDE = re.compile(r"\[([^\]]*)\]\(\.\./[^)]*\)")
# a block that names the file that it shows
_FILE = re.compile(r"^```(\w+) (\S*[./]\S*)$", re.MULTILINE)


def on_page_markdown(markdown: str, **_: object) -> str:
    """The text of a page: files outside of the site are named, not linked; blocks of files have titles."""
    return _FILE.sub(r'```\1 title="\2"', _OUTSIDE.sub(r"\1", markdown))
