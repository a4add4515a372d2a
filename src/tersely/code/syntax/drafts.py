"""The drafts of a walk: scopes, and names for definitions that follow."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, NamedTuple

from tersely.code.expressions import Expression, Parameter
from tersely.code.languages import model
from tersely.code.languages.children import field
from tersely.code.symbols import CLASS_KINDS, Kind
from tersely.foundation.types import Strings

if TYPE_CHECKING:
    from tree_sitter import Node

    from tersely.code.syntax.lowering import Lowering


PLAIN_PATH = re.compile(r"[\w$#]+(\.[\w$#]+)*")
SCOPE_OWNERS = CLASS_KINDS | {Kind.EXTENSION, Kind.NAMESPACE}


class Naming(NamedTuple):
    """The name that a function, class or mapping receives from its assignment or key."""

    name: str
    node: Node  # where the name stands
    prefix: str = ""  # qualifies the name beyond the scope
    holder: Expression = None  # the object that it becomes a member of
    kind: Kind | None = None  # of a function

    @property
    def path(self) -> str:
        """The prefix of names inside."""
        return (
            f"{self.prefix}.{self.name}" if self.prefix and self.name else self.prefix or self.name
        )


def naming_of(walk: Lowering, target: Node) -> Naming | None:
    """The name that the target of an assignment gives to a function, class or mapping."""
    rule = walk.rules[target.kind_id]
    text = walk.text(target)
    if type(rule) is model.Name:
        return Naming(text.removeprefix(walk.resolution.sigil), target)
    if type(rule) is not model.Member:
        return None
    if text in rule.aliases:
        return Naming("", target)
    owner, member = field(rule.object)(target), field(rule.member)(target)
    if member is None or not PLAIN_PATH.fullmatch(walk.text(owner)):
        return None
    prefix, prototype = _prefix(walk, rule, walk.text(owner)), walk.resolution.prototype
    ending = f".{prototype}" if prototype else ""
    first, _, rest = prefix.partition(".")
    is_own = first in walk.resolution.receiver_names
    is_method = is_own or (bool(ending) and prefix.endswith(ending))
    prefix = (rest if is_own else prefix).removesuffix(ending)
    name = "" if walk.text(member) == prototype else walk.text(member)
    return Naming(name, member, prefix, walk.callee(owner), Kind.METHOD if is_method else None)


def _prefix(walk: Lowering, rule: model.Member, path: str) -> str:
    """What qualifies the names of the members of an owner: nothing those that a module exports."""
    for alias in rule.aliases:
        if f"{path}.".startswith(f"{alias}."):
            return path.removeprefix(alias).lstrip(".")
    return path if path != walk.resolution.module_object else ""


class ScopeDraft:
    """A scope under construction; `Scope` explains the lists."""

    __slots__ = (
        "around", "bases", "binds", "block_variables", "body", "bound", "calls", "declared", "decorated", "definition",
        "flags", "holder", "holds_symbols", "kind", "outer", "outward", "parameters", "qualname", "read", "reads",
        "receiver_type", "returned_type", "returns", "stars", "stored", "type_parameters", "types", "unnamed", "values",
        "versions", "versions_made", "yields",
    )  # fmt: skip

    def __init__(self, definition: int, kind: Kind, qualname: str) -> None:
        self.definition = definition
        self.kind = kind
        # variables of a module, and of a kind that owns a scope, are symbols
        self.holds_symbols = kind is Kind.MODULE or kind in SCOPE_OWNERS
        self.qualname = qualname
        self.parameters: list[Parameter] = []
        self.binds: list[tuple[Expression, Expression]] = []
        self.calls: list[Expression] = []
        self.reads: list[tuple[Expression, int]] = []
        self.returns: list[Expression] = []
        self.yields: list[Expression] = []
        self.outer: list[tuple[str, int]] = []
        self.stars: list[str] = []
        self.bases: list[Expression] = []
        self.decorated: Expression = None
        self.returned_type: Expression = None
        self.receiver_type: Expression = None
        self.flags = 0
        self.holder: Expression = None
        self.type_parameters: Strings = ()
        self.unnamed = 0
        self.read: set[str] = set()  # names read, to find those that must come from elsewhere
        self.bound: set[str] = set()
        self.types: dict[str, Expression] = {}  # declared types of local names
        # scope and blocks where the definition stands
        self.around: tuple[ScopeDraft, dict[str, str] | None, dict[str, str]] = (self, None, {})
        self.block_variables: set[str] = set()
        self.versions: dict[str, int] = {}  # of names that straight-line code has bound again
        self.versions_made: dict[str, int] = {}  # ever, those of blocks that have ended included
        self.body = 0  # node id of the body, whose statements run one after the other
        # items that straight-line code has just stored -> the variables of their values
        self.stored: dict[Expression, str] = {}
        self.values: set[str] = set()  # variables that already are symbols
        self.declared: set[str] = set()  # names that the scope declares
        self.outward: set[str] = set()  # names that it assigns without declaring them at that place

    def take(self, parameters: list[Parameter]) -> None:
        """Make these the parameters: names that are bound from the start."""
        self.parameters = parameters
        for parameter in parameters:
            self.bound.add(parameter.name)
            self.types[parameter.name] = parameter.annotation

    def freeze(self) -> tuple[Any, ...]:
        """The scope as a plain tuple in the order of `Scope`, cheap to marshal."""
        return (
            tuple(map(tuple, self.parameters)),
            tuple(self.binds), tuple(self.calls), tuple(self.reads), tuple(self.returns), tuple(self.yields),
            tuple(self.outer), tuple(self.stars), tuple(self.bases), self.decorated, self.returned_type,
            self.receiver_type, self.flags, self.holder, self.type_parameters,
        )  # fmt: skip
