"""The declaration of a capability and of its parameters.

A capability is a function. Its keyword arguments are written with `positional(…)` or `option(…)`:
that one declaration yields the options of the command line, the JSON schema and the checks of every
door. Its docstring, a summary and a description, is what they say of it:

    @capability("code.callers", text, "callers Session.get")
    def callers(
        workspace: Workspace,
        *,
        symbol: str = positional("the symbol to start from", role=Role.SYMBOL),
        depth: int = option(3, "how many calls to follow", minimum=1, maximum=20),
    ) -> Callers:

A parameter's type is `str`, `int`, `float`, `bool`, a `StrEnum`, one of them `| None`, `tuple[str,
...]`, or `dict` or `list` for what JSON has by these names. What several capabilities declare alike,
or hand on together, is a frozen class of such fields, and a parameter of theirs that is written
with `group(…)`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from enum import Enum, IntEnum, StrEnum
from functools import cache, partial
from types import SimpleNamespace, UnionType
from typing import (
    TYPE_CHECKING,
    Any,
    TypeVar,
    get_args,
    get_origin,
    get_type_hints,
)

from tersely.foundation.limits import MAX_ARGUMENT_CHARACTERS, MAX_BUDGET_TOKENS, MAX_CONTENT_BYTES
from tersely.foundation.types import (
    MISSING,
    Field,
    JsonMapping,
    JsonObject,
    Strings,
    field,
    fields,
    replace,
)
from tersely.foundation.types import frozen as frozen  # noqa: PLC0414 - declarations import it from here

if TYPE_CHECKING:
    from tersely.capabilities.answers.later import Later
    from tersely.capabilities.answers.text import Style
    from tersely.foundation.types import JsonObject

ResultT = TypeVar("ResultT")
ValueT = TypeVar("ValueT")


class Effect(StrEnum):
    """The effects that a capability, or a tool of the agent, may have on the world. The index is
    derived data: refreshing it is not an effect.
    """

    READ = "read"
    WRITE = "write"
    EXECUTE = "execute"  # runs a program that the caller names
    NETWORK = "network"  # reaches others, on this machine or elsewhere

    @property
    def tier(self) -> Tier:
        """The level of trust that it needs."""
        return _TIER_OF_EFFECT[self]


class Tier(IntEnum):
    """The levels of trust that a caller needs before a capability is offered to it."""

    READ = 0
    EDIT = 1
    SYSTEM = 2
    EXTERNAL = 3


class Context(StrEnum):
    """The things that a capability is asked of: `run` is handed a `Workspace`, or a `RelayContext`."""

    WORKSPACE = "workspace"
    RELAY = "relay"


_TIER_OF_EFFECT = {
    Effect.READ: Tier.READ,
    Effect.WRITE: Tier.EDIT,
    Effect.EXECUTE: Tier.SYSTEM,
    Effect.NETWORK: Tier.EXTERNAL,
}


class Role(StrEnum):
    """The things that a text parameter stands for, so that a door can complete it or resolve it
    against its own directory.
    """

    TEXT = "text"
    SYMBOL = "symbol"  # a symbol id, qualified name, name or glob
    PATH = "path"  # a file or directory of the repository, POSIX, from its root
    FILE = "file"  # as PATH, never a directory
    NEW_PATH = "new path"  # as PATH, of what need not exist yet
    PLACE = "place"  # PATH:LINE or PATH:LINE:COLUMN
    # as PLACE or FILE, or `cass://` and the hash of an artifact, see `references`
    SOURCE = "source"
    MODULE = "module"  # a dotted module name, or a PATH
    DIRECTORY = "directory"  # a directory of the machine
    # a file, or a folder of files, that a tool wrote; from the root, or absolute outside of it
    REPORT = "report"
    PROSE = "prose"  # words of a person, of any length
    # a text; a door may take it from a file of the machine, or from what it is sent
    CONTENT = "content"


# those of what is in the repository, by where it is
PLACES = frozenset(
    {Role.PATH, Role.FILE, Role.NEW_PATH, Role.PLACE, Role.SOURCE, Role.MODULE, Role.REPORT}
)
_LONG_ROLES = frozenset({Role.CONTENT, Role.SOURCE, Role.PROSE})


@frozen
class Parameter:
    """One declared parameter, in the words that every door understands."""

    name: str
    # str, int, float, bool, a StrEnum, dict or list of JSON; of the elements where `many`
    type: type = str
    help: str = ""
    default: Any = None
    required: bool = True
    positional: bool = False
    many: bool = False
    nullable: bool = False
    # of a number; of characters of a text; of the number of elements where `many`
    minimum: int | None = None
    maximum: int | None = None
    # of the whole of a text, in the dialect that Python and JSON Schema share; "" for any
    pattern: str = ""
    metavar: str = ""
    role: Role = Role.TEXT
    bare: str | None = None  # the value of the flag alone, None if it needs one
    shorthand: bool = False  # each choice is also a flag: `--callers` for `--direction callers`
    effect: Effect = Effect.READ  # what giving it does, beside what its capability does
    hidden: bool = False  # help leaves it out
    greedy: bool = False  # an option that takes all words up to the next option

    def tier(self, value: object) -> Tier:
        """The level of trust that a value needs. What is outside of the repository is not for
        everybody to have read.
        """
        values = value if isinstance(value, list | tuple) else (value,)
        is_outside = self.role is Role.REPORT and any(
            isinstance(one, str) and (one.startswith("/") or ".." in one.split("/"))
            for one in values
        )
        return Tier.SYSTEM if is_outside else (self.effect if value else Effect.READ).tier

    @property
    def choices(self) -> Strings:
        """The allowed words of a closed vocabulary, empty for an open one."""
        return (
            tuple(str(member.value) for member in self.type) if issubclass(self.type, Enum) else ()
        )

    @property
    def longest(self) -> int:
        """The most characters that a text may have, or each of several."""
        bound = None if self.many else self.maximum
        usual = MAX_CONTENT_BYTES if self.role in _LONG_ROLES else MAX_ARGUMENT_CHARACTERS
        return bound or usual

    @property
    def flag(self) -> str:
        """The option as it is written on a command line."""
        return "--" + self.name.replace("_", "-")


_TOLD = "told"  # what a field's metadata has its parameter under, as far as the field says it


def positional(help: str, *, default: Any = MISSING, **more: Any) -> Any:
    """Declare a parameter that is given by its place; required unless it has a default. `more` are
    further fields of `Parameter`.
    """
    told = Parameter("", help=help, positional=True, **more)
    return field(default=default, metadata={_TOLD: told})


def option(default: Any, help: str, **more: Any) -> Any:
    """Declare a parameter that is given by its name: that of the field, without the `_` after a
    word of Python's. `more` are further fields of `Parameter`.
    """
    told = Parameter("", help=help, **more)
    return field(default=default, metadata={_TOLD: told})


def budget_option(
    default: int | None = None,
    what: str = "the most tokens that the answer may have",
    metavar: str = "TOKENS",
) -> Any:
    """Declare the most tokens of an answer; None leaves it to the settings."""
    if default is None:
        what += "; 2,000 if no setting says otherwise"
    return option(default, what, minimum=1, maximum=MAX_BUDGET_TOKENS, metavar=metavar)


def group(declared: type) -> Any:
    """Declare the parameters of another class in the place of one of its values."""
    return field(default_factory=declared)


# Declarations do not change, and working out their types takes longer than many an answer.
_hints: Callable[[Any], JsonObject] = cache(get_type_hints)
Fields = Mapping[str, Field]


def _fields(declared: Any) -> Fields:
    """The fields of a class of parameters, or the keyword arguments of a function."""
    if isinstance(declared, type):
        return {own.name: own for own in fields(declared)}
    return _unwrapped(declared).__kwdefaults__ or {}


def _unwrapped(function: Any) -> Any:
    """What `functools.wraps` has put others around."""
    while hasattr(function, "__wrapped__"):
        function = function.__wrapped__
    return function


def _types(declared: Any, fields: Fields) -> JsonObject:
    """The types of the fields; what a function is asked of, and its result, may be unknown here."""
    if isinstance(declared, type):
        return _hints(declared)
    function = _unwrapped(declared)
    annotations = {name: function.__annotations__[name] for name in fields}
    return get_type_hints(SimpleNamespace(__annotations__=annotations), function.__globals__)


def parameters_of(declared: Any) -> tuple[Parameter, ...]:
    """The declared parameters of a function or a class of parameters, in their order, those of
    groups where these stand.
    """
    return _declared(declared)


def _read(declared: Any) -> tuple[Parameter, ...]:
    fields = _fields(declared)
    types = _types(declared, fields)
    found: list[Parameter] = []
    for name, own in fields.items():
        inner = _group_of(own)
        if inner is None:
            found.append(_parameter(_outside(name), own, types[name]))
        else:
            found += parameters_of(inner)
    return tuple(found)


_declared: Callable[[Any], tuple[Parameter, ...]] = cache(_read)


def _group_of(own: Field) -> Any:
    """The class of parameters that stands in the place of a value, None for a single parameter."""
    return None if own.default_factory is MISSING else own.default_factory


def arguments_of(declared: Any, values: JsonMapping) -> JsonObject:
    """The arguments of a function, or the fields of a class, with these values, each group with
    those that are declared in it; defaults for all others.
    """
    given: JsonObject = {}
    for name, own in _fields(declared).items():
        inner = _group_of(own)
        if inner is None:
            given[name] = values.get(_outside(name), own.default)
        else:
            given[name] = inner(**arguments_of(inner, values))
    return given


def _outside(name: str) -> str:
    """The name of a parameter outside of Python, where `in` and `continue` are names."""
    return name.rstrip("_")


def _parameter(name: str, own: Field, hint: Any) -> Parameter:
    told: Parameter = own.metadata[_TOLD]
    nullable = get_origin(hint) is UnionType
    if nullable:
        hint = next(part for part in get_args(hint) if part is not type(None))
    many = get_origin(hint) is tuple
    required = own.default is MISSING
    return replace(
        told,
        name=name,
        type=get_args(hint)[0] if many else get_origin(hint) or hint,
        default=None if required else own.default,
        required=required,
        many=many,
        nullable=nullable,
        metavar=told.metavar or name.upper().replace("_", "-"),
    )


def _is_later(declared: Any) -> bool:
    """True if a type is that of results that come later, which most never import."""
    return getattr(get_origin(declared), "__name__", "") == "Later"


class Repeats(IntEnum):
    """The time for which the same question has the same answer."""

    NEVER = 0
    # at one revision of the index, while git's own files and those of the working tree stand
    WITH_GIT = 1
    AT_REVISION = 2


@frozen
class Capability:
    """One thing that can be asked: `run` answers with plain frozen values, `text` renders them for
    reading.

    `run` gives a `Later` result where it waits for others, whom no thread should wait for.
    `summary` is one line without a full stop; `description` says the rest and may have several
    paragraphs. An `example` is written as the words after the program's name.
    """

    name: str
    run: Callable[..., Any]  # what it is asked of comes first, see `context`
    text: Callable[[Any, Style], str]
    summary: str = ""
    description: str = ""
    # whether a result has what was looked for; None: always
    found: Callable[[Any], bool] | None = None
    # what is said beside the answer and is no part of it
    aside: Callable[[Any, Style], str] | None = None
    examples: Strings = ()
    context: Context = Context.WORKSPACE
    effect: Effect = Effect.READ
    fails: Strings = ()  # the codes of its own errors, where doors document them
    cacheable: bool = True  # the same parameters at the same revision give the same answer
    # not cacheable, but the same again while files and repository stand as they are
    depends_on_git: bool = False
    is_kept: bool = False  # what it asks of code and files is all that its answers depend on
    # parameters with which an answer depends on more: answers before it, say
    remembering: frozenset[str] = frozenset()
    # the index is refreshed before `run`; False where `run` does it itself
    checks_freshness: bool = True

    @property
    def parameters(self) -> tuple[Parameter, ...]:
        """The parameters that it declares, in their order."""
        return parameters_of(self.run)

    @property
    def tier(self) -> Tier:
        """The trust that a caller needs before it is offered."""
        return self.effect.tier

    @property
    def answers(self) -> Any:
        """The type of its results, as `run` declares it."""
        declared = _hints(self.run)["return"]
        parts = get_args(declared)
        if _is_later(declared):
            return parts[0]
        at_once = [one for one in parts if not _is_later(one)]
        return at_once[0] if len(at_once) < len(parts) else declared

    def tier_of(self, arguments: JsonMapping) -> Tier:
        """The level of trust that a call with these arguments needs."""
        given = [one for one in self.parameters if one.name in arguments]
        return max([self.tier, *(one.tier(arguments[one.name]) for one in given)])

    def is_repeatable(self, arguments: JsonMapping) -> bool:
        """True if these arguments at the same revision give the same answer."""
        return self.cacheable and not self._remembers(arguments)

    def repeats(self, arguments: JsonMapping) -> Repeats:
        """The time for which these arguments give the same answer."""
        if self.is_repeatable(arguments):
            return Repeats.AT_REVISION
        return (
            Repeats.WITH_GIT
            if self.depends_on_git and not self._remembers(arguments)
            else Repeats.NEVER
        )

    def _remembers(self, arguments: JsonMapping) -> bool:
        return any(arguments.get(name) is not None for name in self.remembering)


def capability(
    name: str, text: Callable[[ResultT, Style], str], *examples: str, **more: Any
) -> Callable[[Callable[..., ResultT | Later[ResultT]]], Capability]:
    """Declare a function as a capability, its docstring being what is said of it; `more` are further
    fields.
    """

    def declared(run: Callable[..., ResultT | Later[ResultT]]) -> Capability:
        first, *rest = [" ".join(part.split()) for part in (run.__doc__ or "").split("\n\n")]
        said = {"summary": first.removesuffix("."), "description": "\n\n".join(rest)}
        return Capability(name, run, text, examples=examples, **{**said, **more})

    return declared


# Asked of a relay: the answers change with what others do there.
relay_capability = partial(capability, context=Context.RELAY, cacheable=False)
