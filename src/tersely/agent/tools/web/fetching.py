"""The tool `fetch`: what is behind a URL of the public internet, as text to read or as it came."""

from __future__ import annotations

import asyncio
from enum import StrEnum
from typing import TYPE_CHECKING

from tersely.agent.tools.declaration import Observation
from tersely.agent.tools.observation import failed
from tersely.agent.tools.toolbox import Toolbox
from tersely.agent.tools.web.html_to_text import page_text
from tersely.foundation.errors import TerselyError
from tersely.foundation.text.escape import visible_line
from tersely.foundation.types import JsonMapping, Strings

if TYPE_CHECKING:
    from tersely.foundation.network.fetch import FetchedPage


class PageForm(StrEnum):
    """The forms that a page is given in."""

    TEXT = "text"
    SOURCE = "source"


_OF_TEXT = (
    "text/",
    "application/json",
    "application/xml",
    "application/javascript",
    "application/x-yaml",
)
_OF_PAGES = ("text/html", "application/xhtml+xml")


async def fetch(toolbox: Toolbox, arguments: JsonMapping) -> Observation:
    """The content behind a URL, a page of HTML as text unless its source is asked for."""
    try:
        page = await asyncio.to_thread(
            _page, str(arguments["url"]).strip(), toolbox.choices.private_hosts
        )
        text = _text(page)
    except TerselyError as error:
        return failed(error)
    if page.mime in _OF_PAGES and arguments.get("form") != PageForm.SOURCE:
        text = await asyncio.to_thread(page_text, text, page.url)
    return await toolbox.observed(text if text.strip() else "(the page is empty)")


def preview(toolbox: Toolbox, arguments: JsonMapping) -> str:
    """The URL, which may carry what the model knows of the repository."""
    return f"GET {visible_line(str(arguments.get('url', '')))}"


def _page(url: str, private_hosts: Strings) -> FetchedPage:
    from tersely.foundation.network.fetch import fetch as fetched

    return fetched(url, private_hosts)


def _text(page: FetchedPage) -> str:
    is_text = (
        page.mime.startswith(_OF_TEXT)
        or page.mime in _OF_PAGES
        or not page.mime
        or page.mime.endswith("+json")
    )
    if not is_text or b"\0" in page.body[:1_000]:
        raise TerselyError(
            "fetch_failed", f"{len(page.body):,} bytes of {page.mime or 'something'} are no text"
        )
    return page.body.decode("utf-8", "replace")
