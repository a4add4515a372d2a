"""Texts of several lines, from Jinja's templates that lie beside the modules that fill them."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

from tersely.foundation.text.escape import visible, visible_line

if TYPE_CHECKING:
    from jinja2 import Environment


def from_template(template: str, **values: Any) -> str:
    """The text of a template, by its path below the package, with these values; it ends with a
    newline.
    """
    return _environment().get_template(template).render(values)


def plain(value: Any) -> str:
    """A value of somebody else's on one line; nothing for none."""
    return " ".join(str("" if value is None else value).split())


@cache
def _environment() -> Environment:
    from jinja2 import Environment, PackageLoader  # whoever fills no template spares it

    made = Environment(  # noqa: S701 - Markdown, which people read as it is
        loader=PackageLoader("tersely", ""),
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        auto_reload=False,
    )
    made.filters.update(
        plain=plain, visible=visible, visible_line=visible_line, thousands="{:,}".format
    )
    return made
