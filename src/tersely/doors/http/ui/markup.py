"""HTML as values: elements with children, of which one function makes text.

There is no other way from text to a page, so nothing can be forgotten: text is escaped, and what could hide in it is
written out, when it is rendered. What an element may be is bounded by what these pages need; an address leads nowhere
but into the pages.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple, TypeAlias, Union

from tersely.foundation.escape import visible

_TAGS = frozenset(
    "a abbr article aside bdi body button caption code dd details div dl dt footer form h1 h2 h3 head header html img "
    "input label li link main meta nav ol option p pre script section select small span strong summary table tbody td "
    "th thead time title tr ul "
    "circle clipPath desc g line path rect svg text tspan".split()
)
_VOID = frozenset({"img", "input", "link", "meta"})
_ADDRESSES = frozenset({"action", "href", "src"})
_INSIDE = re.compile(r"(/ui(/[^\\]*)?|[?#][^\\]*)")
_NAME = re.compile(r"[a-zA-Z][a-zA-Z0-9-]*")
_FORBIDDEN = re.compile(r"on.*|style|srcdoc|srcset|formaction|ping", re.IGNORECASE)

Child: TypeAlias = Union["Element", str, int, float, Iterable["Child"], None]
Value: TypeAlias = str | int | float | bool | None  # a flag where true; left out where None or false


class Element(NamedTuple):
    """One element. Children that are None are left out."""

    tag: str
    attributes: tuple[tuple[str, str], ...]
    children: tuple[Child, ...]


def e(tag: str, *children: Child, **attributes: Value) -> Element:
    """An element: `e("a", "text", href="/ui/", class_="x", aria_label="y")`. Raises `ValueError` for what none is."""
    if tag not in _TAGS:
        raise ValueError(f"pages have no {tag}")
    given = []
    for key, value in attributes.items():
        if value is None or value is False:
            continue
        name = key.rstrip("_").replace("_", "-")
        if not _NAME.fullmatch(name) or _FORBIDDEN.fullmatch(name):
            raise ValueError(f"pages have no {name}")
        text = "" if value is True else str(value)
        if name in _ADDRESSES and not _INSIDE.fullmatch(text):
            raise ValueError(f"{text[:80]!r} leads out of the pages")
        given.append((name, text))
    return Element(tag, tuple(given), children)


def rendered(child: Child) -> str:
    """The text of elements."""
    return "".join(_parts(child))


def _parts(child: Child) -> Iterator[str]:
    if child is None:
        return
    if isinstance(child, Element):
        attributes = "".join(f' {name}="{_escaped(value)}"' for name, value in child.attributes)
        yield f"<{child.tag}{attributes}>"
        if child.tag in _VOID:
            return
        if child.tag == "pre":
            yield "\n"  # which browsers skip, so that one of the text is not skipped instead
        for one in child.children:
            yield from _parts(one)
        yield f"</{child.tag}>"
    elif isinstance(child, str):
        yield _escaped(child)
    elif isinstance(child, int | float):
        yield str(child)
    else:
        for one in child:
            yield from _parts(one)


def _escaped(text: str) -> str:
    return html.escape(visible(text))
