"""The tool `browser`: a page in a browser, read as its accessibility tree with numbers for what can
be used.
"""

from __future__ import annotations

import re
from enum import StrEnum

from tersely.agent.tools.declaration import Observation
from tersely.agent.tools.observation import failed
from tersely.agent.tools.toolbox import Toolbox
from tersely.agent.tools.web.browser import BrowsedPage, Browser, PagePicture
from tersely.capabilities.declaration.declaration import Effect
from tersely.foundation.errors import TerselyError
from tersely.foundation.text.escape import visible_line
from tersely.foundation.types import JsonMapping

# of Base64, in a picture that a model is sent; providers take 5 MB and more
MAX_PICTURE_CHARACTERS = 2_700_000


class Action(StrEnum):
    """The things that can be done with a page."""

    OPEN = "open"
    READ = "read"
    CLICK = "click"
    TYPE = "type"
    PRESS = "press"
    SCREENSHOT = "screenshot"
    LOG = "log"


_LOOKS = frozenset({Action.READ, Action.SCREENSHOT, Action.LOG})
_REF = re.compile(r"\[?(?:ref=)?((?:f\d+)?e)?(\d+)\]?")
_ON_THIS_MACHINE = "(a server of this machine, which pages that are opened can use from now on)"


async def browser(toolbox: Toolbox, arguments: JsonMapping) -> Observation:
    """Do something with a page, and tell how it is then."""
    page = toolbox.browser
    try:
        action = str(arguments["action"])
        if action == Action.LOG:
            return await toolbox.observed(await page.log())
        if action == Action.SCREENSHOT:
            return await _pictured(toolbox, await page.screenshot())
        shown = await _done(page, action, arguments)
    except TerselyError as error:
        return failed(error)
    return await toolbox.observed(_page_text(shown))


def effect_of(arguments: JsonMapping) -> Effect:
    """The effect: what is only looked at needs no approval, since the page is there already."""
    return Effect.READ if arguments.get("action") in _LOOKS else Effect.NETWORK


def subject_of(toolbox: Toolbox, arguments: JsonMapping) -> str:
    """The URL that is opened, or of the page that is used."""
    return (
        str(arguments.get("url") or "").strip()
        if arguments.get("action") == Action.OPEN
        else toolbox.browser.shown.url
    )


def is_doubtful(toolbox: Toolbox, arguments: JsonMapping) -> bool:
    """True if a server of this machine is opened that nobody was asked about."""
    return arguments.get("action") == Action.OPEN and toolbox.browser.is_unasked(
        str(arguments.get("url") or "")
    )


def preview(toolbox: Toolbox, arguments: JsonMapping) -> str:
    """The action, with the element as the page names it."""
    page, action = toolbox.browser, str(arguments.get("action"))
    if action == Action.OPEN:
        warning = [_ON_THIS_MACHINE] if is_doubtful(toolbox, arguments) else []
        return "\n".join([visible_line(f"open {arguments.get('url')}"), *warning])
    ref = _ref(arguments)
    text = [repr(str(arguments["text"]))] if arguments.get("text") else []
    named = page.element(ref) or "(which the page does not have)"
    element = [f"[{ref}] {named}"] if ref else []
    return visible_line(" ".join([action, *text, *element, f"on {page.shown.url or 'no page'}"]))


async def _pictured(toolbox: Toolbox, picture: PagePicture) -> Observation:
    """A picture of what the page shows: its path, and itself unless it is too large to be sent."""
    told = await toolbox.observed(f"a picture of {toolbox.browser.shown.url}: {picture.path}")
    if len(picture.png) > MAX_PICTURE_CHARACTERS:
        return told._replace(text=f"{told.text}\n(it is too large to be shown to you)")
    return told._replace(picture=picture.png)


async def _done(page: Browser, action: str, arguments: JsonMapping) -> BrowsedPage:
    if action == Action.OPEN:
        return await page.open(_given(arguments, "url"))
    if action == Action.CLICK:
        return await page.click(_ref(arguments) or _given(arguments, "element"))
    if action == Action.TYPE:
        return await page.type(
            _ref(arguments) or _given(arguments, "element"), str(arguments.get("text") or "")
        )
    if action == Action.PRESS:
        return await page.press(_ref(arguments), _given(arguments, "text"))
    return await page.read()


def _given(arguments: JsonMapping, name: str) -> str:
    value = str(arguments.get(name) or "").strip()
    if not value:
        raise TerselyError("invalid_argument", f"browser({arguments['action']}) needs {name}")
    return value


def _ref(arguments: JsonMapping) -> str:
    """The number of an element as the page has it, of what models make of it."""
    said = str(arguments.get("element") or "").strip()
    found = _REF.fullmatch(said)
    return f"{found[1] or 'e'}{found[2]}" if found else said


def _page_text(shown: BrowsedPage) -> str:
    """A page for the model, which is told first that its words are the page's."""
    head = f'page {shown.url} "{shown.title}" (what follows is said by the page, not by the user)'
    return "\n".join(filter(None, [head, shown.log, shown.text or "(the page is empty)"]))
