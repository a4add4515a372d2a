"""Pages as text: Jinja's templates, which escape every value, and what hides in text written out
before that.

Templates hold all markup and Python none. `tests/doors/http/test_templates.py` reads their syntax:
no filter passes a value by unescaped, every attribute is quoted, and no address leads out of the
pages.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import quote, urlencode

from tersely import __version__
from tersely.doors.http.ui.entry import BrowserSession
from tersely.foundation.text.escape import visible
from tersely.foundation.types import JsonMapping, field, frozen
from tersely.relay.encoding import timestamp
from tersely.relay.relay import Relay

if TYPE_CHECKING:
    from jinja2 import Environment


MAX_UI_TEXT_CHARACTERS = 400  # of one value in a list
MAX_UI_NUMBER_DIGITS = 15  # of a place in a list, as an address has it
MAX_UI_ANSWER_CHARACTERS = 8_000  # of what the person writes on a page


@frozen
class Visit:
    """One request for a page."""

    relay: Relay
    path: Mapping[str, str]
    query: Mapping[str, str]

    def number(self, name: str) -> int | None:
        """A place in a list by its name in the query, None where it is none."""
        text = self.query.get(name, "")
        is_number = text.isascii() and text.isdigit() and len(text) <= MAX_UI_NUMBER_DIGITS
        return int(text) if is_number else None


class Trail(NamedTuple):
    """The page above one."""

    title: str
    address: str


@frozen
class ShownPage:
    """A page without its frame: its template, and what stands in it."""

    title: str
    template: str
    values: JsonMapping = field(default_factory=dict)
    trail: Trail | None = None
    is_live: bool = True  # sent again while somebody looks, whenever it is another


class FormOrigin(NamedTuple):
    """The hidden fields in the forms of one page: its address, to which they lead back, and a key
    that no other page has.
    """

    address: str = ""
    key: str = ""


_NO_FORM = FormOrigin()


def document(shown: ShownPage, session: BrowserSession | None, form: FormOrigin = _NO_FORM) -> str:
    """A whole page as HTML."""
    template = _environment().get_template(shown.template)
    return template.render(
        shown.values, page=shown, session=session, form=form, path=form.address.partition("?")[0]
    )


def address(*parts: str, **query: object) -> str:
    """The address of a page, from parts of its path."""
    path = "/".join(["/ui", *(quote(part, safe="") for part in parts)])
    given = {name: value for name, value in query.items() if value not in {None, ""}}
    return f"{path}?{urlencode(given)}" if given else path


def address_with(name: str) -> str:
    """The address of the messages with somebody."""
    return address("messages", **{"with": name})


def clipped(value: Any) -> str:
    """A value of somebody's as one piece of text, cut where it is long."""
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return text if len(text) <= MAX_UI_TEXT_CHARACTERS else text[: MAX_UI_TEXT_CHARACTERS - 1] + "…"


@cache
def _environment() -> Environment:
    # only a relay whose pages are seen pays for it
    from jinja2 import Environment, PackageLoader, StrictUndefined

    made = Environment(
        loader=PackageLoader("tersely.doors.http.ui"),
        autoescape=True,
        finalize=_finalized,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        auto_reload=False,
    )
    made.filters.update(
        thousands="{:,}".format,
        clipped=clipped,
        at=timestamp,
        second=_second,
        code_parts=_code_parts,
    )
    made.globals.update(
        url=address,
        url_with=address_with,
        version=__version__,
        most_answer_characters=MAX_UI_ANSWER_CHARACTERS,
    )
    return made


def _finalized(value: Any) -> Any:
    """A value as it is escaped next: hidden characters of text are written out, and nothing is
    nothing.
    """
    if value is None:
        return ""
    is_markup = hasattr(value, "__html__")  # made by a template, from values that were looked at
    return visible(value) if isinstance(value, str) and not is_markup else value


def _second(time: str) -> str:
    return time[:19].replace("T", " ")


def _code_parts(text: str) -> list[str]:
    """A sentence of ours in pieces, of which every second one is code."""
    return text.split("`")
