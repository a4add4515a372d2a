"""The names that all rooms use for objects of JSON, what is given to programs and servers, and plain values.

`frozen`, `record` and `entity` make of a class with annotations what `dataclasses` would, and
`dataclasses` takes it for one of its own. But that module loads the parsers of Python, and compiles
half a dozen functions for each class, which was a quarter of the time of a question. Here the one
that has to be compiled, which sets the fields, is when the first object is made.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Self, TypeVar, cast, dataclass_transform

JsonObject = dict[str, Any]  # an object of JSON, decoded
JsonMapping = Mapping[str, Any]  # the same, where it is only read
Environment = Mapping[str, str]  # the variables of a process, by name
Strings = tuple[str, ...]  # several, in order
Numbers = tuple[int, ...]  # likewise
Weights = Mapping[str, float]  # how much something counts, by its name
Sums = dict[str, float]  # the same, while it is added up
Headers = Mapping[str, str]  # the fields of a head of HTTP
ValueT = TypeVar("ValueT")


class Closing:
    """Something that the end of a `with` closes."""

    def close(self) -> None:
        """Let go of what is held."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


MISSING: Any = object()  # the default of a field that has to be given


class Field:
    """A field of a class that `frozen`, `record` or `entity` made."""

    name = type = ""
    default = default_factory = MISSING
    init = repr = True
    metadata: JsonMapping = {}  # noqa: RUF012 - nobody changes it

    def __init__(self, **given: Any) -> None:
        self.given = given
        vars(self).update(given)


def field(**given: Any) -> Any:
    """A field with more than a default, as that of `dataclasses`: with a `default_factory` for each
    object, with `metadata`, left out of the `repr`, or of the parameters (`init`).
    """
    return Field(**given)


def fields(of: Any) -> tuple[Field, ...]:
    """The fields of such a class, or of an object of one, in order; `AttributeError` for any other."""
    return tuple(of.__own_fields__.values())


def has_fields(of: object) -> bool:
    """True for such a class, and for an object of one."""
    return hasattr(of, "__own_fields__")


def by_name(value: object) -> JsonObject:
    """What the fields of an object hold, by their names."""
    return {one.name: getattr(value, one.name) for one in fields(value)}


def without_none(values: JsonMapping) -> JsonObject:
    """The values that are there, by their names."""
    return {name: value for name, value in values.items() if value is not None}


def replace(value: ValueT, **changes: Any) -> ValueT:
    """An object like another one but for some fields."""
    same = {one.name: getattr(value, one.name) for one in fields(value) if one.init}
    return type(value)(**same | changes)


@dataclass_transform(frozen_default=True, field_specifiers=(field,))
def frozen(made: type[ValueT]) -> type[ValueT]:
    """A class as a plain value: parameters, results and what they consist of. That nobody changes
    one is checked by the type checker.
    """
    return _made(made, {"__eq__": _equal, "__hash__": _hash})


@dataclass_transform(field_specifiers=(field,))
def record(made: type[ValueT]) -> type[ValueT]:
    """A class whose objects change, and are compared by what they hold."""
    return _made(made, {"__eq__": _equal})


@dataclass_transform(eq_default=False, field_specifiers=(field,))
def entity(made: type[ValueT]) -> type[ValueT]:
    """A class whose objects change, each of which is equal to itself alone."""
    return _made(made, {})


def _made(made: type[ValueT], methods: JsonObject) -> type[ValueT]:
    """The class again, with slots for its fields, and with methods where it has none of its own."""
    members = {name: one for name, one in vars(made).items() if name not in _OF_CLASS}
    every: dict[str, Field] = {}
    for base in reversed(made.__mro__[1:]):
        every |= vars(base).get("__own_fields__", {})
    slots = [*members.pop("__slots__", ())]
    for name, type_ in members.get("__annotations__", {}).items():
        if not str(type_).startswith("ClassVar"):
            own = members.pop(name, MISSING)
            if not isinstance(own, Field):
                own = Field() if own is MISSING else Field(default=own)
            own.name, own.type = name, type_
            slots += () if name in every else (name,)
            every[name] = own
    given = {
        "__own_fields__": every,
        "__slots__": slots,
        "__match_args__": tuple(name for name, one in every.items() if one.init),
        "__dataclass_fields__": _StandardFields(),
        "__repr__": _repr,
        **methods,
    }
    kind: Any = type(made)
    found: Any = kind(made.__name__, made.__bases__, given | members)
    if "__init__" not in members:
        found.__init__ = _compiling(found)
    found.__qualname__ = made.__qualname__
    return cast("type[ValueT]", found)


_OF_CLASS = {"__dict__", "__weakref__"}  # what a class without slots has for its objects


class _StandardFields:
    """The fields as `dataclasses` has them, for those who read these."""

    def __get__(self, value: object, owner: type) -> JsonObject:
        import dataclasses

        found: JsonObject = {}
        for one in fields(owner):
            made = found[one.name] = dataclasses.field(**one.given)
            made.name, made.type, made._field_type = one.name, one.type, dataclasses._FIELD  # type: ignore[attr-defined]
        return found


def _compiling(owner: Any) -> Callable[..., None]:
    """A method that compiles the one that sets the fields, which takes its place, and calls that."""

    def first(self: Any, *values: Any, **named: Any) -> None:
        if vars(owner)["__init__"] is first:  # else another thread has been quicker
            owner.__init__ = _setter(owner)
        owner.__init__(self, *values, **named)

    return first


def _setter(owner: Any) -> Callable[..., None]:
    known: JsonObject = {"MISSING": MISSING}
    parameters, lines = [], []
    for name, one in owner.__own_fields__.items():
        known |= {f"_{name}": one.default, f"make_{name}": one.default_factory}
        value = name if one.init else f"_{name}"
        if one.default_factory is not MISSING:
            value = f"make_{name}() if {value} is MISSING else {value}"
        if one.init:
            has_default = "default" in one.given or "default_factory" in one.given
            parameters.append(f"{name}=_{name}" if has_default else name)
        if one.init or one.given.keys() & {"default", "default_factory"}:
            lines.append(f" self.{name} = {value}")
    if hasattr(owner, "__post_init__"):
        lines.append(" self.__post_init__()")
    head = f"def __init__(self, {', '.join(parameters)}):"
    exec("\n".join([head, *lines, " return"]), known)  # noqa: S102 - of our names alone
    return cast("Callable[..., None]", known["__init__"])


def _repr(self: Any) -> str:
    shown = (f"{one.name}={getattr(self, one.name)!r}" for one in fields(self) if one.repr)
    return f"{type(self).__qualname__}({', '.join(shown)})"


def _equal(self: Any, other: Any) -> Any:
    return by_name(self) == by_name(other) if type(other) is type(self) else NotImplemented


def _hash(self: Any) -> int:
    return hash((*by_name(self).values(),))
