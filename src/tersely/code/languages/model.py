"""A language as one value, made of the rules below. Adding a language adds such a value and nothing
else.

A *rule* gives the meaning of a node type of the tree-sitter grammar. `syntax` turns rules into
facts; it knows the rules and no language. A key `=word` is the token `word` where the grammar has
no node of its own for it. Field arguments are the grammar's field names; `#0`, `#-1` name a child
by its position among the named children but for comments, which may stand anywhere, `:type` the
first named child of that node type, `=word` the first token `word`, and `a/b` goes to `b` by way of
`a`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from enum import Enum
from functools import cache
from importlib import import_module
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Protocol, TypeVar, dataclass_transform

from tersely.code.expressions import last_part
from tersely.code.languages.nodes import OptionalNode, TextOf
from tersely.code.places import directory_of
from tersely.code.symbols import Import, Kind
from tersely.foundation.types import JsonMapping, Numbers, Strings, entity, field

if TYPE_CHECKING:
    from tree_sitter import Node

    from tersely.code import expressions
    from tersely.code.syntax.lowering import Lowering

Field = str
Names = frozenset[str]  # of node types, or words of a program
NameTable = Mapping[str, str]
NONE: Names = frozenset()
NOTHING: Mapping[str, Any] = MappingProxyType({})
Made = TypeVar("Made")
Value = TypeVar("Value")


@dataclass_transform(eq_default=False, frozen_default=True, field_specifiers=(field,))
def value(cls: type[Value]) -> type[Value]:
    """A value for the type checker; at run time a class without comparison and guards."""
    return entity(cls)


class Filling(Enum):
    """The first content of a collection that a call makes, by the arguments of the call."""

    ELEMENTS = "elements"  # the elements of the one argument
    PAIRS = "pairs"  # a mapping of the pairs that iterating over it gives
    ITEMS = "items"  # a mapping of its items or of such pairs, and of the keyword arguments
    FACTORY = "factory"  # a mapping of the results of calling the first argument
    DEFAULT = "default"  # the argument of this name


class Redefinition(Enum):
    """The effects of a definition on earlier ones of its name in the same place."""

    REPLACES = "replaces"  # the name means it from then on
    ADDS = "adds"  # a further part of the same definition, such as the setter of a property
    IS_STUB = "is a stub"  # says how a later definition is called


@value
class Name:
    """An identifier that reads a value or names a type; `may_call`: reading it may call a property
    of the receiver.
    """

    may_call: bool = False


@value
class Member:
    """`object.member`; also `object::member`, `object->member`."""

    object: Field = "object"
    member: Field = "member"
    aliases: NameTable = NOTHING  # texts that are names of their own
    reference: str = ""  # with this token between them it is a method as a value


@value
class Call:
    """`callee(arguments)`, or `receiver.name(arguments)` where the grammar has no node for
    `receiver.name`.
    """

    callee: Field = "function"
    arguments: Field = "arguments"
    # set for grammars that keep receiver and name apart; `callee` is then the name
    receiver: Field = ""
    constructs: bool = False  # `new Callee(…)`
    generics: Field = ""  # type arguments: of the constructed class, or of the function
    # an import written as a call
    imports: Callable[[Node, TextOf], Import | None] | None = None


@value
class KeywordArgument:
    """`name=value` inside an argument list."""

    name: Field = "name"
    value: Field = "value"


@value
class Spread:
    """`*value`, `...value`: all elements of it (`keyed`: all its keys and values).

    `behind`: the mode of parameters behind one that takes all that is left.
    """

    value: Field = "#0"
    keyed: bool = False
    behind: int = 0


@value
class Item:
    """`object[index]`."""

    object: Field = "object"
    index: Field = "index"


@value
class Slice:
    """An index with a range: the value is a collection of the same elements."""


@value
class Raises:
    """`raise value`: naming a class constructs it."""

    value: Field = "#0"


@value
class Text:
    """A string literal without interpolation is a constant; with it, its parts are visited."""

    content: Strings = ()  # node types that hold literal text


@value
class Literal:
    """A literal of a builtin type (`int`, `str`…): its members are never guessed by name."""

    type: str


@value
class Sequence:
    """A list, tuple, set, array or argument-like display: its named children are its elements.

    `unwraps`: one element alone is no list.
    """

    unwraps: bool = False


@value
class Comprehension:
    """`[body for …]`: a sequence whose one element is `body`; the clauses are visited first."""

    body: Field = "body"


@value
class Dictionary:
    """A dictionary or object display made of `Pair`s."""


@value
class Pair:
    """`key: value` of a mapping; a bare identifier as key is a constant where `names_are_keys`."""

    key: Field = "key"
    value: Field = "value"
    names_are_keys: bool = False
    # values of a named mapping at module level are symbols of that kind
    defines: Kind | None = None


@value
class Either:
    """The value is that of one of the fields (all named children if there are no fields): `a or b`,
    `c ? a : b`.
    """

    fields: tuple[Field, ...] = ()


@value
class Operator:
    """An operator that may be a method of an operand; the value is that of the operands, or text.

    `methods`: token -> method. With `values` the result is like the operands, as of `+`; else it is
    unknown.
    """

    methods: NameTable
    values: bool = True
    updates: bool = False  # `left += right`


@value
class Removes:
    """`del object[key]`."""


@value
class Inner:
    """The value is that of one field; other children are visited: parentheses, await, casts,
    dereference.
    """

    field: Field = "#0"


@value
class Typed:
    """The value is an instance of the named type: `x as T`, `T{…}`; other children are visited.

    With `value`, the value of that child is kept as far as the type admits it: `(T) x`.
    """

    type: Field = "type"
    value: Field = ""


@value
class Generic:
    """`base<arguments>` in a type."""

    base: Field = "#0"
    arguments: Field = "#1"


@value
class Spelled:
    """A generic type that is written with symbols, as `base` with the types in some fields, else in
    all named children: `T[]`, `map[K]V`, `(A, B)`.
    """

    base: str
    arguments: tuple[Field, ...] = ()


@value
class Assign:
    """`left = right`, `let left: type = right`. Several targets and destructuring come from the
    shape of `left`.

    `defines` makes module- and class-level targets symbols of that kind. With `updates` the
    statement declares nothing: a bare name that no local scope declares is a member of the
    receiver.
    """

    left: Field = "left"
    right: Field = "right"
    type: Field = ""
    defines: Kind | None = None
    updates: bool = False
    names: bool = False  # a function or class without a name on the right is named by the left
    # declares nothing: a name that its scope does not declare is one of a scope around it
    outward: bool = False
    # called behind it with the variable, the type and the value
    noted: Callable[[Lowering, Node, OptionalNode, OptionalNode], None] | None = None


@value
class Return:
    """`return value`."""

    value: Field = "#0"


@value
class Yield:
    """`yield value`; with the token `delegate` all elements of the value."""

    value: Field = "#0"
    delegate: str = "from"


@value
class Iterate:
    """`for target in iterable`: the target holds elements."""

    target: Field = "left"
    iterable: Field = "right"
    type: Field = ""
    keys: str = ""  # with this token between them it holds keys
    waits: str = ""  # with this token `async_methods` are called


@value
class Alias:
    """`value as target` outside imports, also without a target."""

    value: Field = "value"
    target: Field = "alias"


@value
class Enters:
    """A context manager is entered; an `Alias` inside binds the result of entering. `waits`: a
    token of the statement around with which `async_methods` are called.
    """

    value: Field = "value"
    waits: str = ""


@value
class Awaits:
    """The value is the result of awaiting that of one field."""

    field: Field = "#0"


@value
class Catches:
    """An exception of a type is caught and bound; other children are visited."""

    type: Field = "value"
    target: Field = "alias"


@value
class Captures:
    """A pattern that may be a bare name: it binds the subject. Other patterns are visited."""


@value
class Parameter:
    """One parameter where the grammar needs more than an identifier, or several of one type.

    `mode`: see `code/expressions.py`.
    """

    name: Field = "name"
    type: Field = ""
    default: Field = ""
    mode: int = 0
    defines: Kind | None = None  # in a class header, the parameter is a member of that kind
    has_accessor: bool = False  # and a method without parameters that gives it
    fields: Names = NONE  # types of children that make it a field of the class too
    ignored: str = ""  # type of a name that makes it no parameter at all
    is_optional: bool = False  # need not be given, though no default is written


@value
class TypeParameter:
    """A type parameter of a function or class: inside, its name means its bound, or an unknown
    type.
    """

    name: Field = "name"
    bound: Field = ""


@value
class Block:
    """Names that are declared inside end with it; `is_value`: its value is that of its last child."""

    is_value: bool = False


@value
class Branches:
    """One of several bodies runs: a name that one of them binds is a variable of its own until they
    meet again.

    A body stands in the node itself or in a clause of it; with a clause of the type `otherwise` one
    always runs.
    """

    body: str  # the node type of a body
    clauses: Strings = ()  # node types that may hold one
    otherwise: str = ""
    # by a condition, in its body
    known_in: Callable[[Lowering, Node, Node], list[tuple[str, Any]]] | None = None
    known_behind: Callable[[Lowering, Node], list[tuple[str, Any]]] | None = None  # by the node


@value
class Runs:
    """A statement whose body always runs, once: its bindings hold for the statements that follow."""

    body: Field = "body"


@value
class Function:
    """A definition that can be called."""

    kind: Kind = Kind.FUNCTION
    name: Field = "name"  # "" for anonymous functions
    parameters: Field = "parameters"
    body: Field = "body"
    returns: Field = ""
    receiver: Field = ""  # an explicit receiver parameter outside the list (Go)
    # The parameters where rules cannot say them; called in the enclosing scope with the
    # definition's node.
    read: Callable[[Lowering, Node], list[expressions.Parameter]] | None = None
    body_is_value: bool = False  # the last expression of the body is its value
    flags: int = 0
    generics: tuple[Field, ...] = ()  # where type parameters are declared and bounded
    results_are_variables: bool = False  # results with names are variables of the body
    is_value: bool = False  # an expression: its name is bound in its own scope only
    # flags that the types of children mean
    modifiers: Mapping[str, int] = NOTHING
    # whether it only announces a definition that follows
    repeats: Callable[[Node], bool] | None = None


@value
class Class:
    """A definition that has members."""

    kind: Kind = Kind.CLASS
    name: Field = "name"
    bases: tuple[Field, ...] = ()
    # the meaning of a base that is written so
    base: Callable[[Lowering, expressions.Expression], expressions.Expression] | None = None
    metaclass: str = ""  # the keyword argument among the bases that names the metaclass
    body: Field = "body"
    is_value: bool = False  # an expression: its name is bound in its own scope only
    alias: Field = ""  # without a body it is another name of this type
    # adds members to a class defined elsewhere: `impl T`, `extension T`, reopened classes
    extends: bool = False
    generics: tuple[Field, ...] = ()  # where type parameters are declared and bounded


@value
class Variable:
    """A declaration without a value that is a symbol at module or class level (a field, an enum
    member, a type).
    """

    kind: Kind = Kind.FIELD
    name: Field = "name"
    type: Field = ""
    value: Field = ""
    names: bool = False  # a function or class without a name as its value gets this one


@value
class Variables:
    """`type a = x, b`: several variables of one type; at module or class level they are symbols of
    `kind`.

    `each` is the node type of a declarator.
    """

    each: str
    type: Field = "type"
    name: Field = "name"
    value: Field = "value"
    kind: Kind = Kind.FIELD


@value
class Wrapper:
    """A node around a definition that belongs to it: decorators, `export`, templates."""

    definition: Field = "definition"
    # node type of a decorator child; its named child is the decorator's expression
    decorators: str = ""


@value
class Statement:
    """A node around one definition or assignment that belongs to it; around several it has no
    meaning.
    """


@value
class Outer:
    """`global x`, `nonlocal x`: assignments bind the name in an outer scope."""

    module: bool = True


@value
class Imports:
    """An import statement; `read` returns its bindings."""

    read: Callable[[Node, TextOf], list[Import]]
    in_order: bool = False  # it runs where it stands, and may bind a name again


@value
class Comment:
    """A comment; directly above a definition it is its documentation."""


@value
class Attribute:
    """An attribute: a sibling before the definition that it belongs to; its children are visited."""


@value
class Label:
    """A statement with a name that a `Jump` may name."""

    name: Field = "label"


@value
class Jump:
    """`break label`: the name of a statement, not of a value."""

    label: Field = "#0"


@value
class Skip:
    """Nothing in here matters. What stands between parameters may give those `before` it, and those
    `behind` it, a mode.
    """

    before: int = 0
    behind: int = 0


@value
class Custom:
    """A function for node types that no rule covers; use sparingly. It returns the expression that
    the node stands for. `fields`: the children that it is given too, by fields or otherwise, None
    for those that are not there.
    """

    lower: Callable[..., Any]
    fields: str = ""


Rule = (
    Name | Member | Call | KeywordArgument | Spread | Item | Slice | Raises | Text | Literal
    | Sequence | Comprehension | Dictionary | Pair | Either | Operator | Removes | Inner | Typed | Generic | Spelled
    | Assign | Return | Yield | Iterate | Alias | Enters | Awaits | Catches | Captures | Block | Statement
    | Branches | Runs
    | Parameter | TypeParameter | Function | Class | Variable | Variables | Wrapper
    | Outer | Imports | Comment | Attribute | Label | Jump | Skip | Custom
)  # fmt: skip


class Files(Protocol):
    """The paths of the repository, as far as resolving an import needs them."""

    def exists(self, path: str) -> bool:
        """True if there is a file of that path."""
        ...

    def under(self, directory: str) -> list[str]:
        """Paths of the files in a directory and below it."""
        ...

    def ending(self, suffix: str) -> list[str]:
        """Paths equal to `suffix` or ending in `/` + `suffix`, sorted."""
        ...

    def directories(self) -> list[str]:
        """All directories that hold files, the root as ""."""
        ...

    def declaring(self, namespace: str) -> list[str]:
        """Paths of the files that declare a package or namespace, sorted."""
        ...

    def text(self, path: str) -> str:
        """The text of a configuration file (`go.mod`, `tsconfig.json`…), empty when there is none."""
        ...

    def once(self, compute: Callable[[Files], Made]) -> Made:
        """The value that `compute` makes of the repository, made once."""
        ...


@value
class TemplateByModel:
    """The naming of templates by the class that they show: `app/article_list.html`.

    `ends`: by the name of a base outside the repository, the text behind the name of the class
    shown.
    """

    attribute: str  # that says which class is shown
    ends: NameTable


@value
class Topic:
    """The key by which a framework connects a call and the handler that it leads to.

    `kind`: "path" (of a URL; a part with a placeholder fits anything), "pattern" (a regular
    expression that paths match), "name" (a text; its last word counts), "names" (the texts in the
    lists and objects that are passed, in the namespace that a text before them names), "word" (the
    name in the code of a value), "type" (the class of the argument that is passed, or of the
    handler's parameter), "template" (the names and paths in the templates that a call names).
    """

    kind: str
    framework: str = ""  # whose handlers alone are meant
    argument: int = -1  # its position; RECEIVER, or HANDLER for a key from the handler itself
    keyword: str = ""  # the argument of that name
    attribute: str = ""  # that of the class whose method is called, beside the arguments
    otherwise: TemplateByModel | None = None  # where the class has no such attribute


@value
class Registry:
    """The members of an object given to a framework that hold handlers by their names: the objects
    that are its members of some names.

    `frameworks`: by the name of a member, the framework whose `Topic` of the kind "name" names its
    handlers.
    """

    argument: int  # the position of the object
    frameworks: NameTable
    inside: str = ""  # the member that holds further such objects


@value
class Summary:
    """The effects of a function outside the repository on its arguments (positions; -1 for none)."""

    returns: int = -1  # gives this argument back
    returns_named: str = ""  # gives the argument of this name back
    calls: Numbers = ()  # calls these arguments
    calls_named: Names = NONE  # calls the arguments of these names
    # of classes and objects among them, calls these methods: names, and patterns with `*`
    methods: Names = NONE
    # returns the value with which this argument, a function, calls its first parameter
    settled_by: int = -1
    # calls this argument, a function, with the rejection reasons of the receiver, a promise,
    # instead of its value; returns them as well
    refused: int = -1
    result_of: int = -1  # returns the result of calling this argument
    # likewise, of a function that yields the first thing that it yields
    yield_of: int = -1
    collects: Numbers = ()  # returns a collection of the results of calling these arguments
    elements: int = -1  # gives back an element of this argument
    # its result, or the content of it, is narrowed by this argument: a type guard
    admitted_by: int = -1
    pairs: Numbers = ()  # gives back a collection of tuples of elements of these arguments
    # gives back this argument, a function, with the arguments behind it given already
    binds: int = -1
    enters: int = -1  # returns the value of entering this argument, a context manager
    # a function passed to this method of the result may be called in place of the result
    registered_by: str = ""
    member_of: int = -1  # gives back the member of this argument that the next one names
    class_of: int = -1  # gives back the class of this argument
    module_named: int = -1  # imports the module that this argument names, and gives it back
    # gives back an instance of the type that this argument names; with `returns`, that argument as
    # one
    instance_of: int = -1
    # returns a collection of this argument and those after it, or of their elements
    joins: int = -1
    gathers: int = -1  # gives back a collection of this argument and those after it
    # returns a collection of the elements of the results of calling this argument
    flattens: int = -1
    iterates: int = -1  # returns a collection of the elements of this argument
    # gives back a collection of tuples of a number and an element of this argument
    numbers: int = -1
    keys_of: int = -1  # gives back a collection of the keys of this argument
    # returns a mapping of the results of calling this argument to collections of its arguments
    groups: int = -1
    tuple_from: int = -1  # gives back a tuple of this argument and those after it
    part: int = -1  # returns the element of the receiver, a tuple, at this position
    items_of: int = -1  # returns a collection of the items of this argument
    # returns a collection of pairs of the keys and items of this argument
    item_pairs_of: int = -1
    # The arguments of the functions it calls: "receiver", "element" of the receiver, "result" of
    # the function, "rest" of the arguments after the first; with a position an argument: "element
    # 1", "argument 0", "elements 1", or the keyword of one: "elements args"; "rest 2" are the
    # arguments from that position on; "" unknown. "item" is an item of the receiver: of a mapping a
    # value, no pair; "held" an element, or the receiver where that stands for its one content. A
    # function with more parameters than there are words receives the parts of one: of an element of
    # a mapping the key and the item.
    passes: Strings = ()
    fills: re.Pattern[str] | None = (
        None  # gives the receiver, a text, with other texts in these places
    )
    makes_key: bool = False  # gives back a key that is equal to no other
    rule: str = ""  # the framework's rule, in a few words: its edges are inferred and name it
    registers: tuple[Topic, ...] = ()  # the functions it calls are handlers of these
    # Gives a router, the paths of whose routes begin with the path of this call, and with those
    # that the router itself is registered for.
    makes_router: bool = False
    moves_router: bool = False  # the path of this call stands in place of that of the router
    registry: Registry | None = None  # an object that it is given holds handlers
    reaches: Topic | None = None  # calls the handlers of this
    # names the handlers of this and calls none: gives back their URL, or shows a page with links
    links: Topic | None = None
    receives: str = ""  # likewise the receiver in the functions it calls

    @property
    def named_by(self) -> int:
        """The position of the argument that names the member of `member_of`."""
        return max(self.member_of, -1) + 1


HANDLER = -3  # in a `Topic`: the handler
RECEIVER = -2  # in a `Summary` of a method: the object it is called on


def names(text: str) -> Names:
    """Words as a set."""
    return frozenset(text.split())


def shared_directories(path: str, importer: str) -> int:
    """The number of leading directories that two paths share."""
    shared = 0
    for one, other in zip(path.split("/")[:-1], importer.split("/")[:-1], strict=False):
        if one != other:
            break
        shared += 1
    return shared


def nearest_first(paths: Iterable[str], importer: str) -> list[str]:
    """Paths in order, those that share most directories with the importer first."""
    return sorted(paths, key=lambda path: (-shared_directories(path, importer), path))


def directories_above(files: Files, suffix: str) -> list[str]:
    """The root, the directories of the files with a suffix, and those above them, sorted."""
    found = {""}
    for path in files.under(""):
        directory = directory_of(path) if path.endswith(suffix) else ""
        while directory not in found:
            found.add(directory)
            directory = directory_of(directory)
    return sorted(found)


def joined_path(directory: str, relative: str) -> str:
    """A path from a directory as a path from the root, above which no `..` leads."""
    parts = directory.split("/") if directory else []
    for part in relative.split("/"):
        if part == ".." and parts:
            parts.pop()
        elif part not in (".", "..", ""):
            parts.append(part)
    return "/".join(parts)


def no_modules(files: Files, importer: str, module: str) -> list[str]:
    """A language without importable modules."""
    return []


def no_sharing(files: Files, path: str) -> list[str]:
    """A language whose files share no names."""
    return []


def no_words(files: Files, path: str) -> Strings:
    """A language whose files are imported by their paths alone."""
    return ()


@value
class Injection:
    """The way a framework passes to parameters the results of functions of the same names."""

    decorators: Names  # dotted names of decorators that make a function a provider
    # the prefix of the names of functions whose parameters are filled, besides providers
    prefix: str
    shared: str  # the file whose providers serve its directory and all below
    # an argument of a decorator that makes a function provide to every test in reach
    unasked: str = ""


@value
class Inherited:
    """The members that classes have from a generic type outside the repository."""

    type_parameters: Strings
    members: JsonMapping  # method -> the type of its result


@value
class Resolution:
    """The few facts that resolving names in a language needs."""

    # (files, importing path, module) -> paths, best first
    modules: Callable[[Files, str, str], list[str]] = no_modules
    # (files, path) -> words under which the file is imported beside those of its path
    entry_words: Callable[[Files, str], Strings] = no_words
    separator: str = "."  # between the names of a module's path
    # modules of the repository have names everywhere, without an import
    modules_in_scope: bool = False
    macros_in_scope: bool = False  # a macro needs no import: the nearest of its name is meant
    # the meaning of an import depends on the file, not on its directory alone
    relative_to_file: bool = False
    # the files that share top-level names: "file", "directory", "declared", "global", "shared"
    namespace: str = "file"
    # With "shared" the paths of the files that share them with one, as far as both have the same
    # declared namespace.
    sharing: Callable[[Files, str], list[str]] = no_sharing
    # names of the object whose members are the names of the global scope
    global_objects: Strings = ()
    # of declarations in a file for all files of its family of languages
    global_namespace: str = ""
    # so does a file with a declared namespace, by all its top-level names
    scripts_declare_for_all: bool = False
    # namespaces whose names are texts declare the content of a module: `declare module "x" {…}`
    declares_modules: bool = False
    # a name means the definition of that name, in its file, else in an imported one, else anywhere
    # if few files have it
    by_name: bool = False
    setters: bool = False  # assigning a member may call a function: `set name(value) {…}`
    receiver_parameter: bool = False  # the first parameter of a method is the receiver
    receiver_names: Names = NONE  # names for the receiver: this, self
    class_names: Names = NONE  # names for the receiver's class: Self, static
    own_type: str = ""  # in a class, the type parameter that stands for the type of the receiver
    empty_bases: Names = NONE  # bases outside that have no members
    # bases that make a class describe the members of other classes
    protocols: Names = NONE
    # generic types that are given the type parameters of the class which has them as a base
    parameter_lists: Names = NONE
    super_names: Names = NONE
    arguments_name: str = ""  # in a function, the collection of all that it was given
    # kinds of definitions that a bare name may call without an argument list
    called_by_name: Strings = ()
    implicit_receiver: bool = False  # a bare name in a method may be a member
    constructors: Strings = ()  # methods that construction calls, first found along the MRO
    constructs_by_all: bool = False  # construction calls all of them that there are
    # the one of `constructors` that is called of a class whose fields are its parameters
    fields_constructor: str = ""
    subclass_method: str = ""  # called of a base when a class is defined
    missing_method: str = ""  # called where an object lacks a member, with its name
    # methods -> the flags that they have without a declaration
    named_flags: Mapping[str, int] = NOTHING
    # members that construction calls of an object which stands for a class
    object_constructors: Names = NONE
    constructor_is_class_name: bool = False
    # this method of a class constructs, unless the class has its own: `Class.new(…)`
    construct_method: str = ""
    class_member: str = ""  # the member of a thing that is its class: `thing.class`
    call_method: str = ""  # calling an instance calls this method
    enter_method: str = ""  # called when a context manager is entered
    exit_method: str = ""
    iterate_methods: Strings = ()
    next_method: str = ""
    await_method: str = ""  # called when an object is waited for
    # methods that syntax calls -> those that it calls instead where it waits
    async_methods: NameTable = NOTHING
    # straight-line code that stores an item and reads it gets the stored value
    items_in_order: bool = False
    item_methods: Strings = ()  # called to read, store and remove an item
    # methods of operators -> those of the right operand
    reflected: NameTable = NOTHING
    # methods of operators that the right operand has: `in`
    container_first: Names = NONE
    # methods -> those called where a class lacks them
    stand_ins: NameTable = NOTHING
    # Functions and methods that call a function by its name in a text: the positions of that text,
    # and the names of keyword arguments; and the function that a text names, None for none.
    named_callbacks: Mapping[str, tuple[int | str, ...]] = NOTHING
    meant_by_text: Callable[[str], expressions.Expression] | None = None
    # arguments of decorators that pass to a function, first, the result of the decorator
    binding_keywords: Names = NONE
    # functions -> the method of their argument
    asking_functions: NameTable = NOTHING
    # called by syntax only, or by code that knows the object
    implicit_methods: Names = NONE
    # all definitions of one qualified name are one class; qualified names work anywhere
    open_classes: bool = False
    # a class and its instances have methods apart; `self` in a class body is the class
    class_side: bool = False
    class_mixin: str = ""  # a class of this name inside a base holds members of the class itself
    # the object whose members are keys that are no texts: `thing[Symbol.iterator]` is a member
    symbols: str = ""
    members_are_items: bool = False  # `table.name` is `table["name"]`
    star_exports: str = ""  # module variable that lists the names of `import *`
    # Optional, Union: the value is of one of the arguments
    union_types: Names = NONE
    waited_types: Names = NONE  # those of them that hold a value which has to be waited for
    class_types: Names = NONE  # type[X]: the class itself
    callable_types: Names = NONE  # Callable[[A], X]: a function of A that gives X
    containers: Names = NONE  # generic types whose last argument is the element
    generators: Names = NONE  # generic types whose first argument is the element
    # ReturnType<typeof f>: the result of calling the argument
    result_types: Names = NONE
    mappings: Names = NONE  # generic types whose arguments are the key and the item
    # Methods that add to a container: name -> (position of the key or -1, position of the element).
    adders: Mapping[str, tuple[int, int]] = NOTHING
    # methods that add all of an argument: name -> its position
    mergers: Mapping[str, int] = NOTHING
    getters: Names = NONE  # methods of a container that give an element
    # methods of a container that give a container of the same elements
    views: Names = NONE
    # methods of a mapping that give its (key, value) pairs
    item_views: Names = NONE
    # methods of a container that give a container of the results of their argument
    mappers: Names = NONE
    # objects outside to which code gives members, by their full names
    open_objects: Names = NONE
    # generic types that stand for their first argument: Box, Option
    transparent_types: Names = NONE
    # methods of transparent types that give the value back: unwrap, clone
    echoes: Names = NONE
    # by the name of the type outside
    inherited: Mapping[str, Inherited] = NOTHING
    # generic types whose arguments are its elements, place by place
    tuples: Names = NONE
    # a function without a body stands for the one of that qualified name that has one
    announces: bool = False
    # names, with `*` in them, that a runtime, a loader, a test runner or syntax calls
    called_by_runtime: str = ""
    # words before or in the header of a definition that is reached by code that does not name it
    reaching_marks: Strings = ()
    # dotted names, with `*` in them, of bases by which a framework finds the classes below them
    found_bases: str = ""
    # sets of names by which a module is one that a program outside the repository loads
    loaded_modules: tuple[Names, ...] = ()
    # Sets of methods by which a class fits an interface of the standard library, which calls them.
    outside_interfaces: tuple[Names, ...] = ()
    # kinds of types that a class implements by having all their methods
    structural: frozenset[Kind] = frozenset()
    nominal: bool = True  # a class is a subtype of its bases
    # the member of a class or function by which members are added to its instances
    prototype: str = ""
    # the name of a module's export as a whole; unbound it is the module itself
    module_object: str = ""
    default_export: str = ""  # the name of a module's export when it is imported without a name
    # words by which importers of a path are found
    module_keys: Callable[[str], Strings] | None = None
    next_item: str = ""  # the result of `next_method` holds the element in this member
    # methods of values that are not ours, by name
    methods: Mapping[str, Summary] = NOTHING
    # those of `methods` that objects of ours have too
    universal_methods: Names = NONE
    # the result of reading a member of a container
    properties: Mapping[str, Summary] = NOTHING
    # methods of functions whose first argument becomes the receiver
    receiver_binders: Names = NONE
    # collections outside, by the full names of the callables that make them
    fillable: Mapping[str, Filling] = NOTHING
    # `Owner.name` that make an object that inherits from an argument
    deriving_functions: Names = NONE
    # for a parameter with a type of the repository no arguments of callers are looked for
    declarations_suffice: bool = False
    # add all members of later arguments to the first
    mixing_functions: Names = NONE
    # records what a call does beyond its result, by its callee and arguments
    note_call: Callable[[Lowering, expressions.Expression, tuple[Any, ...]], None] | None = None
    traits: bool = False  # the implementation of a trait for a type is a block of its own
    # a value declared to be of a class may be of a subclass; known values stay as known
    open_declarations: bool = False
    # members of classes outside, each with the name of its class, that hold the instances of a class
    # below
    instance_collections: Names = NONE
    # classes outside whose subclasses have a fixed number of instances, the elements of the class
    enumerations: Names = NONE
    # called when a member of a class is read that is an object with this method
    descriptor_method: str = ""
    descriptor_setter: str = ""  # likewise when it is assigned
    # Modules outside -> methods that keep keyword arguments, which their results have as members:
    # `args.func`.
    keyword_keepers: NameTable = NOTHING
    names_parent: bool = False  # `super(B, self)`: the parent of B
    # the receiver of a call on it may be of a subclass of the class around
    open_receivers: bool = False
    # a declared type stands for its subtypes: calls also reach overriding methods
    virtual: bool = False
    # endings of types outside the repository that functions and things of ours may have
    open_types: Strings = ()
    # methods have names of their own: `x` and `x()` are different members
    methods_apart: bool = False
    classes_are_modules: bool = False  # an import may name a class and its member
    sigil: str = ""  # prefix of the names of variables, which names of members lack
    name_quote: str = ""  # names may stand between two of these, which do not belong to them
    # prefix of the names of instance variables: no base outside the repository has these
    variable_mark: str = ""
    outer_namespaces: bool = False  # names of the namespaces around a file's own are visible
    companion: str = ""  # a class of this name in another has members that the other has too
    # a top-level name that only one file of the repository has needs no import
    found_anywhere: bool = False
    top_types: Names = NONE  # types that everything fits: Object, Any
    # functions with a receiver type are members of every type that fits it
    extension_functions: bool = False
    # words before a definition -> its flags
    modifiers: Mapping[str, int] = NOTHING
    inferred_types: Names = NONE  # words in place of a type that say nothing: var
    overloads: bool = False  # several functions of one name are distinguished by their parameters
    text_types: Names = NONE  # types of parameters that take text literals
    number_types: Names = NONE
    # types of parameters that nothing of another name fits
    final_types: Names = NONE
    # types of values -> their kind: no value is of types of two kinds
    basic_types: NameTable = NOTHING
    # a function behind the brackets of a call is an argument, for the last parameter
    trailing_functions: bool = False
    class_objects: Names = NONE  # types of a class as a value
    # calling any member of a function calls it: functional interfaces
    functions_are_objects: bool = False
    function_combinators: Names = NONE  # members of functions that do not call them
    chains_constructors: bool = False  # `this(…)` and `super(…)` call constructors
    # functions passed to functions outside the repository are called there
    calls_back: bool = False
    # members of builtin types: never resolved by name alone
    common_members: Names = NONE
    builtins: str = ""  # external module of names that are not found
    summaries: Mapping[str, Summary] = NOTHING
    # Methods of classes that make a handler: the methods that it calls.
    dispatchers: Mapping[str, Strings] = NOTHING
    # decorator text -> definition flags
    value_decorators: Mapping[str, int] = NOTHING
    # The effect of a definition on earlier ones of its name; without it a name means the latest.
    redefinition: Callable[[Node, TextOf], Redefinition] | None = None
    injection: Injection | None = None

    def in_place_of(self, method: str) -> list[str]:
        """A method, and those that are called where a class lacks it, in order."""
        found = [method]
        while found[-1] in self.stand_ins:
            found.append(self.stand_ins[found[-1]])
        return found


@cache
def member_getters(facts: Resolution) -> Mapping[str, int]:
    """The functions that return a member by its name as a value (`getattr`), with the position of
    the argument that names it.
    """
    found: dict[str, int] = {}
    for table in (facts.summaries, facts.methods):
        for name, summary in table.items():
            if summary.member_of != -1:
                found[last_part(name)] = summary.named_by
    return found


def wheel(module: str, function: str = "language") -> Callable[[], object]:
    """The function that gives the grammar of a wheel, which is imported when it is called."""

    def load() -> object:
        return getattr(import_module(module), function)()

    return load


@value
class Language:
    """One language: its grammar, the meaning of its nodes, the resolution of its names. `registry`
    knows its files.
    """

    name: str
    grammar: Callable[[], object]  # imports the wheel and returns the tree-sitter language pointer
    rules: Mapping[str, Rule]
    # walks a whole tree where not the rules do
    walk: Callable[[Lowering, Node], None] | None = None
    doc_string: str = ""  # node type of a docstring that opens a body
    checks_types: bool = True  # the arguments of a call fit the types of its parameters
    # Node types that names declared inside end with, besides those of functions, classes and
    # comprehensions; whether a name bound at a node outlives such blocks: `var`.
    blocks: Names = NONE
    hoists: bool = False  # a name of such a block may be used before its declaration
    outlives: Callable[[Node], bool] | None = None
    # Source that the grammar can read, of the very length it had: words that only a preprocessor
    # knows are blanked out.
    readable: Callable[[bytes], bytes] | None = None
    # Of source that the grammar does not understand, a reading of the very length that loses less.
    mended: Callable[[bytes], bytes] | None = None
    # code that a part of a file needs before it to be read by itself, on the same line
    prologue: bytes = b""
    # declared package of the file
    namespace_of: Callable[[Node, TextOf], str] | None = None
    # The child of a node that names a field or parameter, so that it means no value, where no rule
    # says so.
    label_of: Callable[[Node], OptionalNode] | None = None
    # the table in `rules/` with the order in which its statements run
    control: str = ""
    resolution: Resolution = field(default_factory=Resolution)
