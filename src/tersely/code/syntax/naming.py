"""Names that definitions receive from their assignment."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from tersely.code.languages import model
from tersely.code.languages.children import field
from tersely.code.symbols import Kind
from tersely.code.syntax.drafts import Naming

if TYPE_CHECKING:
    from tree_sitter import Node

    from tersely.code.syntax.lowering import Lowering


PLAIN_PATH = re.compile(r"[\w$#]+(\.[\w$#]+)*")


def naming_of(walk: Lowering, target: Node) -> Naming | None:
    """The name that the target of an assignment gives to a function, class or mapping."""
    rule = walk.rules[target.kind_id]
    text = walk.text(target)
    if type(rule) is model.Name:
        return Naming(text.removeprefix(walk.resolution.sigil), target)
    if type(rule) is not model.Member:
        return None
    module_object = walk.resolution.module_object
    if text in rule.aliases:
        return Naming("", target)
    owner, member = field(rule.object)(target), field(rule.member)(target)
    if owner is None or member is None or not PLAIN_PATH.fullmatch(walk.text(owner)):
        return None
    path = walk.text(owner)
    alias = next((long for long in rule.aliases if path == long or path.startswith(f"{long}.")), "")
    prefix = (
        path.removeprefix(alias or module_object).lstrip(".")
        if alias or path == module_object
        else path
    )
    prototype = walk.resolution.prototype
    first, _, rest = prefix.partition(".")
    own = first in walk.resolution.receiver_names
    method = own or bool(prototype and prefix.endswith(f".{prototype}"))
    prefix = (rest if own else prefix).removesuffix(f".{prototype}" if prototype else "")
    name = "" if walk.text(member) == prototype else walk.text(member)
    return Naming(name, member, prefix, walk.callee(owner), Kind.METHOD if method else None)
