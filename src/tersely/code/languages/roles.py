"""The meaning of node types for the order in which statements run: the roles that the section
`control` of `rules/NAME.json` gives to node types. `shared.json` has those of names that grammars
agree on.

`tables.roles_of` maps node types to the roles below; a node type without one that stands in a block is a
statement that runs straight through. The reads and writes of a statement follow from the rules of
`model.py`, and so do the roles of returns, loops over elements, handlers and others. Where a rule
is `Custom`, `Control.roles` may give the node type an `Assign`, `Iterate` or another rule of the
same meaning. Fields are written as there.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from enum import Enum
from typing import Any

from tersely.code.languages import model
from tersely.code.languages.model import NONE, NOTHING, Field, Names, names, value
from tersely.foundation.types import JsonMapping


@value
class If:
    """`if condition: then`, with arms in `otherwise` that are an `If`, an `Else` or any statement.

    Without a `then` it is made of the other children. An `initial` statement runs first.
    """

    condition: Field = "condition"
    then: Field = "consequence|body"
    otherwise: Field = "alternative"
    initial: Field = "initializer"
    negated: bool = False  # `unless`


@value
class Else:
    """A block after a condition that failed, or after a loop or `try` that ran to its end; `body`
    "" is the node.
    """

    body: Field = "body|#0"


@value
class While:
    """A loop with a condition, tested `first` or after the body; without a condition it runs for
    ever.
    """

    condition: Field = "condition"
    body: Field = "body"
    initial: Field = "initializer|initialize|init"
    update: Field = "update|increment"
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
    body: Field = "body|:block"
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

    subject: Field = "subject|value|condition"
    body: Field = "body"
    initial: Field = "initializer"
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
    wildcards: Names = NONE
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

    label: Field = "label|#0"
    body: Field = "#-1"


@value
class Deferred:
    """A call that runs when the function is left; its arguments are evaluated here."""


@value
class Escape:
    """An expression that may leave the function: `value?`."""


# Operators that evaluate their right side only where the left is true, or only elsewhere.
CONJUNCTIONS = names("and &&")
DECIDING = CONJUNCTIONS | names("or || ?? ?:")


@value
class Choice:
    """Two operands around an operator, which may be one of `DECIDING`."""

    left: Field = "left"
    right: Field = "right"


@value
class Ternary:
    """`condition ? then : otherwise`."""

    condition: Field = "condition"
    then: Field = "consequence|body"
    otherwise: Field = "alternative"


# What the token before or behind the operand of a `Unary` does to it.
BORROWS = names("&")  # lets the receiver of the value change the operand
FOLLOWS = names("* !!")  # a dereference: assigning to it changes the target of the operand
DELETES = names("delete")
UPDATES = names("++ --")


@value
class Unary:
    """An operator with one operand, its last part; its effect depends on the token, see `BORROWS`
    and below it.
    """

    negates: Names = frozenset({"not", "!"})


# Texts of a `Constant` whose outcome is known.
TRUTHS = names("true True TRUE 1")
FALSEHOODS = names("false False FALSE None nil 0")


@value
class Constant:
    """A condition whose outcome may be written down: `True`, `1`."""


@value
class Update:
    """`left += right`, `x++`: the target is read, then written."""

    left: Field = "left"
    right: Field = "right"


@value
class Borrow:
    """`&mut x`: the receiver of the reference may change the operand; only where the node has a
    child of type `mutable_specifier`.
    """


@value
class Declares:
    """Variables, with or without a value. The value may stand in the `target`, as an `Assign` of
    its own.
    """

    targets: Field = "name"


@value
class Sets:
    """A command that gives new values to the variables that some of its arguments are names of:
    `read name`; with a word `behind` to the one behind that word. Without any it sets `otherwise`.
    Words behind one of `options` are no names.
    """

    names: Field = "argument"
    behind: str = ""
    options: Names = NONE
    otherwise: str = ""


@value
class Refutable:
    """A declaration whose `pattern` may not fit its `value`: then the `alternative` runs."""


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

    The mark of a form is the type of a child, or the text of one with at most one of its own, or of
    the node itself; with a `place` only the text of the child there.
    """

    forms: tuple[tuple[str, Any], ...]
    place: Field = ""


@value
class Control:
    """The roles of a language's nodes, and the few facts that reading and writing needs."""

    roles: JsonMapping
    declares_by_assignment: bool = False  # assigning a name makes it local: Python, Ruby
    # Methods that change their receiver although their result is used: pop, read.
    mutators: Names = NONE
    # Methods and functions that change nothing although their result is not used: print.
    pure: Names = NONE
    # Functions that never return, other than by raising: error, fatalError.
    raising: Names = NONE
    lending: Names = NONE  # tokens before an argument that lend it: `ref x`
    # The types of nodes that declare parameters, where nodes of other types stand beside them.
    parameters: Names = NONE
    implicit_parameters: Names = NONE  # of functions that declare none: it
    # an anonymous function assigns the variables of the functions around it
    closures_share: bool = False
    members_call: bool = False  # naming a member calls it: `items.clear`
    lends_openly: bool = False  # a function changes only arguments that a `Borrow` lends it
    # functions that change an argument: shuffle
    changing_arguments: Mapping[str, int] = NOTHING
    # Decision points besides branches and loops, by node type, as cyclomatic complexity counts
    # them.
    decisions: Mapping[str, int] = NOTHING
    undivided: Names = NONE  # decisions inside these count no more


# The roles that follow from rules, by their types; of others the rule is the role itself.
FOLLOWING: Mapping[type, Callable[[Any], Any]] = {
    model.Return: lambda rule: Goes(Leap.RETURN),
    model.Raises: lambda rule: Goes(Leap.RAISE),
    model.Iterate: lambda rule: Each(rule.target, rule.iterable),
    model.Block: lambda rule: Suite(),
    model.Runs: lambda rule: With(rule.body),
    model.Removes: lambda rule: Forgets(),
    model.Operator: lambda rule: Update() if rule.updates else Fails(),
    model.Awaits: lambda rule: Fails(),
}
