"""Fit the pages to the site, as mkdocs.yml asks: they are written to be read in the repository too."""

from __future__ import annotations

import re

# `[text](../path)`: a file of the repository that is no page of the site
_OUTSIDE = re.compile(r"\[([^\]]*)\]\(\.\./[^)]*\)")
# a block that names the file that it shows
_FILE = re.compile(r"^```(\w+) (\S*[./]\S*)$", re.MULTILINE)

# what may be wider than the window and is then scrolled by keys: a block, a table
_BLOCK = re.compile(r"<pre(?= |>)")
_TABLE = re.compile(r"<table>.*?</table>", re.DOTALL)
# the head of a column that needs none
_NO_HEAD = re.compile(r"<th([^>]*)></th>")
_SEARCH = 'data-md-component="search" role="dialog"'


def on_page_markdown(markdown: str, **_: object) -> str:
    """The text of a page: files outside of the site are named, not linked; blocks of files have titles."""
    return _FILE.sub(r'```\1 title="\2"', _OUTSIDE.sub(r"\1", markdown))


def on_page_content(html: str, **_: object) -> str:
    """The content of a page, whose blocks and tables can be reached by keys, and no head of a table is empty."""
    html = _NO_HEAD.sub(r"<td\1></td>", _BLOCK.sub('<pre tabindex="0"', html))
    return _TABLE.sub(r'<div class="wide" tabindex="0">\g<0></div>', html)


def on_post_page(output: str, **_: object) -> str:
    """A page whose search has a name."""
    return output.replace(_SEARCH, f'{_SEARCH} aria-label="Search"')
