"""A page of the web as text: its words in the order in which they are read, headings, items, and
where links lead.

What the page itself marks as not to be seen is left out: nobody would notice what it tells a model.
Style sheets are not read, so a page can still hide text.
"""

from __future__ import annotations

import re
from html.parser import HTMLParser
from urllib.parse import urljoin

_MOST_LINKS = 40
_HIDDEN = frozenset("script style noscript template svg head iframe".split())
_BLOCKS = frozenset(
    "address article aside blockquote br dd div dl dt fieldset figure footer form h1 h2 h3 h4 h5 h6 header hr li main "
    "nav ol p pre section table tr ul".split()
)
_BEFORE = {"li": "- ", **{f"h{level}": "#" * level + " " for level in range(1, 7)}}
# elements without an end
_EMPTY = frozenset("area base br col embed hr img input link meta source track wbr".split())
_UNSEEN = re.compile(
    r"display:none|visibility:hidden|opacity:0(\.0*)?(;|$)|font-size:0[a-z%]*(;|$)"
)
_BLANK = re.compile(r"[ \t\r\f\v\n\u00a0]+")


def page_text(html: str, url: str) -> str:
    """The text of a page, a block a line, then its links; `url` is where it comes from."""
    reader = _PageReader(url)
    reader.feed(html)
    reader.close()
    reader.end_block()
    links = [
        f"{text or target}: {target}" for target, text in list(reader.links.items())[:_MOST_LINKS]
    ]
    title = [f"title: {reader.title.strip()}"] if reader.title.strip() else []
    return "\n".join([*title, *reader.lines, *(["links:", *links] if links else [])])


class _PageReader(HTMLParser):
    def __init__(self, url: str) -> None:
        super().__init__(convert_charrefs=True)
        self.lines: list[str] = []
        self.links: dict[str, str] = {}
        self.title = ""
        self._url = url
        self._block: list[str] = []
        self._before = ""
        self._hidden = 0
        self._unseen: list[str] = []  # the element that is not to be seen, and those like it inside
        self._kept = 0  # levels of preformatted text
        self._in_title = False
        self._target = ""

    def end_block(self) -> None:
        text = "".join(self._block)
        lines = text.strip("\n").split("\n") if self._kept else [_BLANK.sub(" ", text).strip()]
        for line in lines:
            if line.strip():
                self.lines.append(self._before + line.rstrip())
                self._before = ""
        self._block = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in _BLOCKS:
            self.end_block()
            # any block ends a paragraph
            self._unseen = [] if self._unseen == ["p"] else self._unseen
            self._before = _BEFORE.get(tag, "")
        if tag not in _EMPTY and (
            tag in self._unseen or (not self._unseen and _is_unseen(dict(attrs)))
        ):
            self._unseen.append(tag)
        self._hidden += tag in _HIDDEN
        self._kept += tag == "pre"
        self._in_title = tag == "title"
        if tag == "a":
            self._target = self._link(dict(attrs).get("href") or "")

    def handle_endtag(self, tag: str) -> None:
        if tag in _BLOCKS:
            self.end_block()
            self._before = ""
        if tag in self._unseen:
            self._unseen.pop()
        self._hidden -= tag in _HIDDEN and self._hidden > 0
        self._kept -= tag == "pre" and self._kept > 0
        self._in_title = False
        if tag == "a":
            self._target = ""

    def handle_data(self, data: str) -> None:
        if self._in_title:
            self.title += data
        elif not (self._hidden or self._unseen):
            self._block.append(data)
            if self._target:
                self.links[self._target] = _BLANK.sub(
                    " ", self.links.get(self._target, "") + data
                ).strip()

    def _link(self, target: str) -> str:
        try:
            found = urljoin(self._url, target).partition("#")[0]
        except ValueError:
            return ""
        return found if found.startswith(("http://", "https://")) and found != self._url else ""


def _is_unseen(attributes: dict[str, str | None]) -> bool:
    style = "".join((attributes.get("style") or "").lower().split())
    return "hidden" in attributes or _UNSEEN.search(style) is not None
