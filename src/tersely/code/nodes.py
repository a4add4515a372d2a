"""The language of expressions: where a value comes from, whatever language it is written in.

An expression is `None` (not known), a `str` (the value of that name where it stands), or a node.
The index stores nodes as plain tuples that begin with a tag (`code/expressions.py`), which is what
the rules of languages make and `marshal` reads; `decoded` makes nodes of them, when the graph first
asks. A node is the same tuple with its fields by name: two are equal if they say the same.

Whoever reads an expression asks `isinstance(expression, Member)`, or matches its class, and takes
fields by name. Places that still read fields by number are counted (`make budgets`, `reads`): to
convert a file, import `Expression` and the classes from here in place of the tags, write
`isinstance(x, Call)` for `is_tagged(x, CALL)` and `x.callee` for `x[1]`, and lower the limit.

| node | value | Python | elsewhere |
|---|---|---|---|
| `Member` | a member of an object | `cart.total` | Java: `cart.total` |
| `Call` | the result of a call | `total(cart, tax=2)` | Go: `Total(cart)` |
| `New` | the result of explicit construction | | Java: `new Cart(2)` |
| `Item` | what an object holds at a key | `carts["first"]` | PHP: `$carts['first']` |
| `ConstantValue` | a text or number, as a key | `"first"` | Ruby: `:first` |
| `ListLiteral` | a list written down | `[a, *others]` | JavaScript: `[a, ...others]` |
| `MappingLiteral` | a mapping, or an object literal | `{"a": total}` | JavaScript: `{total}` |
| `Displayed` | such a list or mapping, from inside it | | JavaScript: `this` in `{a() { this.b() }}` |
| `DefinedHere` | the function or class defined here | `def total(): …` | JavaScript: `() => 1` |
| `Either` | one of several | `a or b` | C: `x ? a : b` |
| `Typed` | an instance of a type | `cart: Cart` | Java: `Cart cart` |
| `Declared` | a value as far as its type admits it | `cart: Cart = make()` | Go: `var c Cart = f()` |
| `Element` | what iterating gives | `for cart in carts` | Java: `for (Cart c : carts)` |
| `Held` | an item; of a mapping what is at a key | `carts.values()` | Go: `v` in `for _, v := range m` |
| `KeyOf` | a key of a mapping, else an element | `for key in carts` | JavaScript: `for (k in carts)` |
| `SequencePart` | a slice | `carts[1:]` | Go: `carts[1:]` |
| `Spread` | all elements, among arguments or elements | `f(*carts)` | JavaScript: `f(...carts)` |
| `Enter` | what a method called by syntax gives, else the object | `with cart as c` | C#: `await task` |
| `Generic` | a type with arguments | `list[Cart]` in a type | Java: `List<Cart>` |
| `TypeParameter` | what a type parameter stands for | `T` | Java: `T extends Cart` |
| `CallableType` | a callable known by its type | `Callable[[int], Cart]` | TypeScript: `(n: number) => Cart` |
| `Literal` | a value of a type from outside, a text with holes | `f"/carts/{id}"` | Kotlin: `"/carts/$id"` |
| `ImportedValue` | what an import gives | `from shop import Cart` | Rust: `use shop::Cart` |
| `OuterName` | a name as the scope around sees it | `x` in a default | |
| `MethodReference` | a method as a value | | Java: `Cart::total` |
| `AsTrait` | a type as one that has a trait | | Rust: `<Cart as Total>::total` |
| `GuardType` | a type that a function tests | `-> TypeIs[Cart]` | TypeScript: `x is Cart` |
| `Guarded` | the type for which that is true | `if is_cart(x)` | TypeScript: `if (isCart(x))` |
| `MemberTest` | a type by the test of a member | | TypeScript: `x.kind === 'a'` |
| `UnitType` | the type of one constant | | TypeScript: `kind: 'a'` |
| `StoredMember` | a member that is assigned, among reads | `cart.total = 2` | C#: `cart.Total = 2` |
| `Received` | what is passed for a parameter | | |
| `GivenInstances` | instances, in place of a type parameter | | |
| `RejectionReason` | why a promise is not kept | | JavaScript: `catch(reason => …)` |

The graph alone makes the last three and no language writes them.
"""

# ruff: noqa: D101 - the table above says what each class is

from __future__ import annotations

from collections import namedtuple
from typing import Any, ClassVar, TypeAlias, dataclass_transform

from tersely.code import expressions
from tersely.foundation.types import Strings

Expression: TypeAlias = "Node | str | None"
Expressions: TypeAlias = "tuple[Expression, ...]"
Keywords: TypeAlias = "tuple[tuple[str, Expression], ...]"
Entries: TypeAlias = "tuple[tuple[Expression, Expression], ...]"

_classes: dict[int, type[Node]] = {}
# Fields of a tuple by place, read in C; making a class costs less so than by `NamedTuple`.
_PLACES = vars(namedtuple("_PLACES", "tag a b c d e"))  # noqa: PYI024
_FIELDS = [_PLACES[name] for name in "abcde"]
_MATCHED = "__match_args__"


@dataclass_transform(frozen_default=True)
class Record(tuple[Any, ...]):
    """A tag, which tells the class from others, then fields by name."""

    __slots__ = ()
    tag: ClassVar[int]
    absent: ClassVar[tuple[Any, ...]] = ()  # in place of the last fields, where they are not stored
    size: ClassVar[int] = 1

    def __init_subclass__(cls, tag: int = 0) -> None:
        """Make fields of the annotations, and let the tag stand for the class."""
        own, given = tuple(cls.__annotations__), vars(cls)
        cls.absent += tuple(given[name] for name in own if name in given)
        for name, field in zip(own, _FIELDS[cls.size - 1 :], strict=False):
            setattr(cls, name, field)
        setattr(cls, _MATCHED, (*getattr(cls, _MATCHED, ()), *own))
        cls.size += len(own)
        cls.tag = tag

    def __new__(cls, *fields: Any) -> Any:
        """The record of some fields, in order."""
        missing = cls.size - 1 - len(fields)
        return tuple.__new__(cls, (cls.tag, *fields, *(cls.absent[-missing:] if missing else ())))


class Node(Record):
    """An expression that is neither unknown nor a name."""

    def __init_subclass__(cls, tag: int = 0) -> None:
        super().__init_subclass__(tag)
        _classes[tag] = cls


class Member(Node, tag=expressions.MEMBER):
    object: Expression
    name: str


class Invocation(Node):
    """A `Call` or `New`."""

    callee: Expression
    arguments: Expressions
    keywords: Keywords  # the name "" for **mapping
    line: int
    types: Expressions = ()  # arguments for type parameters that are written down

    @property
    def passed(self) -> Expressions:
        """All arguments, those with keywords last."""
        return (*self.arguments, *(value for _, value in self.keywords))


class Call(Invocation, tag=expressions.CALL):
    pass


class New(Invocation, tag=expressions.NEW):
    pass


class Item(Node, tag=expressions.ITEM):
    object: Expression
    key: Expression
    name: str | None = None  # that holds the value stored there just before


class ConstantValue(Node, tag=expressions.CONST):
    value: str | int


class ListLiteral(Node, tag=expressions.SEQUENCE):
    elements: Expressions
    serial: int  # tells two literals of one file apart


class MappingLiteral(Node, tag=expressions.MAPPING):
    entries: Entries
    serial: int


class Displayed(Node, tag=expressions.DISPLAYED):
    serial: int


class DefinedHere(Node, tag=expressions.DEFINED):
    definition: int  # its position


class Either(Node, tag=expressions.EITHER):
    """With OPERATED the alternatives are an `Enter` of the left operand of an operator, and the
    right one: the result of the method, or else both operands.
    """

    alternatives: Expressions
    operated: int = 0


class Typed(Node, tag=expressions.TYPED):
    """With names, the value of a name that has these type parameters: another name of a type."""

    type: Expression
    names: Strings | None = None


class Declared(Node, tag=expressions.DECLARED):
    """An instance of the type if the value is not known."""

    value: Expression
    type: Expression


class Element(Node, tag=expressions.ELEMENT):
    collection: Expression


class Held(Node, tag=expressions.HELD):
    collection: Expression


class KeyOf(Node, tag=expressions.KEY_OF):
    collection: Expression


class SequencePart(Node, tag=expressions.PART):
    collection: Expression
    start: int | None
    stop: int | None
    serial: int


class Spread(Node, tag=expressions.SPREAD):
    collection: Expression


class Enter(Node, tag=expressions.ENTER):
    object: Expression
    method: str


class Generic(Node, tag=expressions.GENERIC):
    base: Expression
    arguments: Expressions


class TypeParameter(Node, tag=expressions.TYPE_PARAMETER):
    bound: Expression
    name: str


class CallableType(Node, tag=expressions.SIGNATURE):
    """A `Spread` at the end of its parameters is the type of the collection of all further ones."""

    returned: Expression
    parameters: Expressions


class Literal(Node, tag=expressions.LITERAL):
    """A text of which parts are known has a pattern with `*` for each unknown one."""

    type: str
    pattern: str | None = None
    beginning: Expression = None  # in the place of the `*` that it begins with


class ImportedValue(Node, tag=expressions.IMPORTED):
    module: str
    name: str  # "" for the module itself


class OuterName(Node, tag=expressions.OUTER_NAME):
    name: str


class MethodReference(Node, tag=expressions.REFERENCE):
    object: Expression
    name: str


class AsTrait(Node, tag=expressions.AS_TRAIT):
    type: Expression
    trait: Expression


class GuardType(Node, tag=expressions.GUARD):
    """The return type of a function that tests whether an argument is an instance of a type."""

    parameter: str
    type: Expression


class Guarded(Node, tag=expressions.GUARDED):
    """As a type, that of an argument for which a type guard is true."""

    callee: Expression
    argument: Expression  # `ConstantValue`, the position


class MemberTest(Node, tag=expressions.TESTED):
    """As the type of a `Declared` value: its member is one of some constants, or none of them;
    without constants, it is present, or absent.
    """

    member: str
    constants: Expressions
    holds: bool


class UnitType(Node, tag=expressions.UNIT):
    value: str | int


class StoredMember(Node, tag=expressions.STORED):
    object: Expression
    name: str
    removed: int = 0


class Received(Node, tag=expressions.PARAMETER):
    position: int  # of the parameter


class GivenInstances(Node, tag=expressions.GIVEN):
    values: frozenset[Any]  # abstract


class RejectionReason(Node, tag=expressions.REASON):
    promise: Expression


Known = dict[int, Any]  # what stored tuples were decoded into, by their identity


def decoded(stored: Any, known: Known) -> Any:
    """The expression, or tuple of expressions, that is stored as plain tuples. Parts that are shared
    are decoded once, so whoever hands on what is known keeps the stored form as well.
    """
    if type(stored) is not tuple:
        return stored
    found = known.get(id(stored))
    if found is None:
        try:
            parts = [
                (known.get(id(part)) or decoded(part, known)) if type(part) is tuple else part
                for part in stored
            ]
        except RecursionError:
            _decode_inside(stored, known)
            return decoded(stored, known)
        if parts and type(parts[0]) is int:
            made = _classes[parts[0]]
            missing = made.size - len(parts)
            if missing:
                parts += made.absent[-missing:]
            found = tuple.__new__(made, parts)
        else:
            found = tuple(parts)
        known[id(stored)] = found
    return found


def _decode_inside(stored: Any, known: Known) -> None:
    """Decode what is nested in a tuple too deeply for calls in calls, the innermost first."""
    pending = [stored]
    while pending:
        whole = pending[-1]
        inner = [part for part in whole if type(part) is tuple and id(part) not in known]
        pending += inner
        if not inner and pending.pop() is not stored:
            decoded(whole, known)
