"""The meaning of node types for the order in which statements run: the second half of a language's
value.

`Control.roles` maps node types to the roles below; a node type without one that stands in a block
is a statement that runs straight through. The reads and writes of a statement follow from the rules
of `model.py`; where those are `Custom`, `roles` may give a node type an `Assign`, `Iterate` or
another rule of the same meaning. Fields are written as there.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from enum import Enum
from typing import Any

from tersely.code.languages.model import Field, Names, value
from tersely.foundation.types import JsonMapping


@value
class If:
    """`if condition: then`, with arms in `otherwise` that are an `If`, an `Else` or any statement.

    An `initial` statement runs first. `condition` "+" stands for all children before the body:
    tests, and names with the values that they are bound to if there is any.
    """

    condition: Field = "condition"
    then: Field = "consequence"
    otherwise: Field = "alternative"
    initial: Field = ""
    negated: bool = False  # `unless`
    outlives: bool = False  # the names that the condition binds are known after it


@value
class Else:
    """A block after a condition that failed, or after a loop or `try` that ran to its end; `body`
    "" is the node.
    """

    body: Field = "body"


@value
class While:
    """A loop with a condition, tested `first` or after the body; without a condition it runs for
    ever.
    """

    condition: Field = "condition"
    body: Field = "body"
    initial: Field = ""
    update: Field = ""
    otherwise: Field = ""
    first: bool = True
    negated: bool = False  # `until`
    head: Field = ""  # a child that holds condition, initial and update
    sees_body: bool = False  # the condition after the body sees the names declared in it
    label: Field = ""


@value
class Each:
    """A loop over the elements of a collection."""

    target: Field = "left"
    iterable: Field = "right"
    body: Field = "body"
    otherwise: Field = ""
    initial: Field = ""
    label: Field = ""
    # where further loops and conditions stand, of which `iterable` is in the first
    clauses: Field = ""
    collects: bool = False  # its value is a collection of the values of the body


@value
class Try:
    """`try body`, then children that are a `Catch`, an `Else` or a `Finally`; `resources` are
    entered first.

    Without a `body` it is made of the other children.
    """

    body: Field = "body"
    resources: Field = ""


@value
class Catch:
    """`catch (caught) body`. It catches every exception if it names no `caught`."""

    caught: Field = "value"
    body: Field = "body"
    binds: Field = ""  # a child that names the exception


@value
class Finally:
    """Runs however the `try` was left; `body` "" is the node."""

    body: Field = "#0"


@value
class With:
    """Context managers are entered, the body runs, and they are left again."""

    body: Field = "body"


@value
class Switch:
    """One of several cases runs: the children of `body`, or of the node itself, that are a `Case`."""

    subject: Field = "subject"
    body: Field = "body"
    initial: Field = ""
    alias: Field = ""  # a name for the subject
    breaks: bool = False  # `break` leaves it


@value
class Case:
    """One case: it is a default without a `pattern`, or where the pattern is one of the texts
    `wildcards`.

    The body is the field, or without one all children after the pattern. A `guard` may still
    refuse.
    """

    pattern: Field = "pattern"
    guard: Field = ""
    body: Field = ""
    wildcards: Names = frozenset()
    binds: bool = False  # names in the pattern are bound
    names_fit: bool = False  # a bare name as pattern fits everything
    # into the next one unless something jumps; the subject alone decides where to begin
    falls: bool = False
    # without statements of its own, or where it says `fallthrough`, it has those of the next one
    joins: bool = False
    default: bool = False


class Leap(Enum):
    """The places that a jump goes to."""

    BREAK = "break"
    CONTINUE = "continue"
    RETURN = "return"
    RAISE = "raise"
    GOTO = "goto"
    FALLTHROUGH = "fallthrough"


@value
class Goes:
    """A statement that jumps; `label` names the loop."""

    to: Leap
    label: Field = ""


@value
class Labelled:
    """A statement that a jump may name; without a `body` the label stands before the next
    statement.

    Without a `label` the node is one.
    """

    label: Field = "label"
    body: Field = "#-1"


@value
class Deferred:
    """A call that runs when the function is left; its arguments are evaluated here."""


@value
class Escape:
    """An expression that may leave the function: `value?`."""

    value: Field = "#0"


@value
class Choice:
    """An operator that evaluates `right` only if it has to; `conjunctions` do where the left is
    true.
    """

    left: Field = "left"
    right: Field = "right"
    conjunctions: Names = frozenset({"and", "&&"})
    disjunctions: Names = frozenset({"or", "||"})
    defaults: Names = frozenset({"??", "?:"})


@value
class Ternary:
    """`condition ? then : otherwise`."""

    condition: Field = "condition"
    then: Field = "consequence"
    otherwise: Field = "alternative"


@value
class Unary:
    """An operator before its operand; its effect depends on the token."""

    operand: Field = "#-1"
    negates: Names = frozenset({"not", "!"})
    # tokens that let the receiver of the value change the operand: `&x`
    borrows: Names = frozenset()
    # tokens of a dereference: assigning to it changes the target of the operand: `*x = …`
    follows: Names = frozenset()
    deletes: Names = frozenset()  # `delete x.y`
    updates: Names = frozenset()  # `x++`


@value
class Constant:
    """A condition whose outcome is written down: `True`, `1`."""

    truths: Names = frozenset({"true"})
    falsehoods: Names = frozenset({"false"})


@value
class Update:
    """`left += right`, `x++`: the target is read, then written."""

    left: Field = "left"
    right: Field = "right"


@value
class Borrow:
    """`&mut x`: the receiver of the reference may change the operand; only where the node has a
    child of type `mutable`.
    """

    operand: Field = "value"
    mutable: str = "mutable_specifier"


@value
class Declares:
    """Variables, with or without a value. The value may stand in the `target`, as an `Assign` of
    its own.
    """

    targets: Field = "name"
    value: Field = ""


@value
class Refutable:
    """A declaration that may not fit its value: then `otherwise` runs."""

    left: Field = "pattern"
    right: Field = "value"
    otherwise: Field = "alternative"


@value
class Forgets:
    """`del x`."""


@value
class Fails:
    """An expression that may raise, besides calls and accesses to parts."""


@value
class Suite:
    """A sequence of statements; `scoped`: names declared inside end with it."""

    scoped: bool = True


@value
class Straight:
    """A node that is a statement here, although its rule has another meaning."""


@value
class Forms:
    """A node with several forms: pairs of a mark and a role or rule; "" is the last mark.

    The mark of a form is the type of a child, or the text of one without children of its own, or of
    the node itself.
    """

    forms: tuple[tuple[str, Any], ...]


@value
class Control:
    """The roles of a language's nodes, and the few facts that reading and writing needs."""

    roles: JsonMapping
    declares_by_assignment: bool = False  # assigning a name makes it local: Python, Ruby
    # Methods that change their receiver although their result is used: pop, read.
    mutators: Names = frozenset()
    # Methods and functions that change nothing although their result is not used: print.
    pure: Names = frozenset()
    # Functions that never return, other than by raising: error, fatalError.
    raising: Names = frozenset()
    lending: Names = frozenset()  # tokens before an argument that lend it: `ref x`
    # The types of nodes that declare parameters, where nodes of other types stand beside them.
    parameters: Names = frozenset()
    implicit_parameters: Names = frozenset()  # of functions that declare none: it
    # an anonymous function assigns the variables of the functions around it
    closures_share: bool = False
    members_call: bool = False  # naming a member calls it: `items.clear`
    lends_openly: bool = False  # a function changes only arguments that a `Borrow` lends it
    # functions that change an argument: shuffle
    changing_arguments: Mapping[str, int] = field(default_factory=dict)
    # Decision points besides branches and loops, by node type, as cyclomatic complexity counts
    # them.
    decisions: Mapping[str, int] = field(default_factory=dict)
    undivided: Names = frozenset()  # decisions inside these count no more
