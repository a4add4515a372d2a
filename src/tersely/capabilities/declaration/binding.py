"""Arguments in, checked parameters out: from JSON values (`bind`) and from words (`read_words`).

Words are read here rather than by `argparse` because a command line is not the only door where they
are typed, and because whoever mistypes one is told what was meant.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from enum import Enum
from typing import Any, TypeVar

from tersely.capabilities.declaration.declaration import (
    Capability,
    Effect,
    Parameter,
    Role,
    arguments_of,
    parameters_of,
)
from tersely.foundation.errors import TerselyError
from tersely.foundation.text.suggestion import suggestion
from tersely.foundation.types import JsonMapping, JsonObject

ROOT = "root"  # the directory that is asked about, where a door asks about any
MAX_ARGUMENT_VALUES = 200  # of one parameter
MAX_SHOWN_CHARACTERS = 200  # of a name or a value that is refused

ParametersT = TypeVar("ParametersT")


JSON_NAMES = {
    str: "string",
    int: "integer",
    float: "number",
    bool: "boolean",
    dict: "object",
    list: "array",
}
_SAME: Mapping[str, str] = {}  # names
_BOUNDS: Mapping[type, tuple[str, str]] = {
    str: ("minLength", "maxLength")
}  # the words of JSON schema, numbers having others
_WHOLE_NUMBER = re.compile(r"[+-]?[0-9]{1,18}")
_TRUE = frozenset({"true", "yes", "on", "1"})
_FALSE = frozenset({"false", "no", "off", "0"})


def bind(parameters: type[ParametersT], arguments: JsonMapping) -> ParametersT:
    """Check `arguments` against the declaration and make the parameters; raises `invalid_argument`."""
    return parameters(**bound(parameters, arguments))


def bound(declared: Callable[..., Any], arguments: JsonMapping) -> JsonObject:
    """The arguments with which to call a function or class that declares parameters; raises
    `invalid_argument`.
    """
    return arguments_of(declared, checked(parameters_of(declared), arguments))


def checked(declared: Sequence[Parameter], arguments: JsonMapping) -> JsonObject:
    """The arguments as these parameters take them; raises `invalid_argument`."""
    by_name = {parameter.name: parameter for parameter in declared}
    for name in arguments:
        if name not in by_name:
            shown = [one.name for one in declared if not one.hidden]
            raise _invalid(f"there is no parameter {shown_value(name)}", suggestion(name, shown))
    given = {name: _checked(by_name[name], value) for name, value in arguments.items()}
    for parameter in declared:
        if parameter.required and parameter.name not in given:
            raise _invalid(f"{parameter.name} is missing", parameter.help)
    return given


def shown_value(value: object) -> str:
    """A value that is refused, as it was given but for what is beyond MAX_SHOWN_CHARACTERS."""
    shown = value[:MAX_SHOWN_CHARACTERS] if isinstance(value, str) else value
    return repr(shown)[: 2 * MAX_SHOWN_CHARACTERS]


def schema(declared: Sequence[Parameter]) -> JsonObject:
    """The declaration as a JSON schema (2020-12) of an object."""
    properties = {parameter.name: schema_of(parameter) for parameter in declared}
    return closed_object(properties, required_names(declared))


def rooted_schema(
    capability: Capability, about_root: str, names: Mapping[str, str] = _SAME
) -> JsonObject:
    """The schema of what only reads, and of the directory that is asked about; `names` are others
    that parameters have.
    """
    described = schema(capability.parameters)
    reads = {one.name for one in capability.parameters if one.effect is Effect.READ}
    properties = {ROOT: {"type": "string", "description": about_root}}
    for own, about in described["properties"].items():
        if own in reads:
            properties[names.get(own, own)] = about
    required = [names.get(own, own) for own in described["required"]]
    return closed_object(properties, required)


def required_names(declared: Iterable[Parameter]) -> list[str]:
    """The names of the parameters that a call has to give."""
    return [parameter.name for parameter in declared if parameter.required]


def object_schema(properties: JsonMapping, required: Sequence[str]) -> JsonObject:
    """A JSON schema of an object with these properties."""
    whole = {"type": "object", "properties": properties}
    return {**whole, "required": required} if required else whole


def closed_object(properties: JsonMapping, required: Sequence[str]) -> JsonObject:
    """A JSON schema of an object with these properties and no others; `required` is always there."""
    whole = {"type": "object", "properties": properties, "required": required}
    return {**whole, "additionalProperties": False}


def read_words(declared: Sequence[Parameter], words: Sequence[str]) -> JsonObject:
    """Read command words (`SYMBOL --depth 2 --with-docs`) into arguments; raises `usage` for words
    that cannot be read so, `invalid_argument` for what a question of any other form may get wrong too.

    Options may stand anywhere, as `--name value` or `--name=value`; only the latter takes a value
    that starts with two dashes. A greedy option takes all words up to the next. After `--` every
    word is positional, and so is a text in which a space follows what looks like an option.
    """
    arguments: JsonObject = {}
    positionals: list[str] = []
    rest = list(words)
    while rest:
        word = rest.pop(0)
        if word == "--":
            positionals += rest
            break
        if _is_option(word):
            _read_option(declared, word, rest, arguments)
        elif _is_text(word):
            positionals.append(word)
        else:
            raise _invalid(
                f"unknown option {word}",
                "options have two dashes; write -- before a word that starts with -",
            )
    _place(declared, positionals, arguments)
    return arguments


def _is_text(word: str) -> bool:
    """True for all but options, whose names have no spaces: `--strict loses zeros` is a text."""
    return word[:1] != "-" or word == "-" or len(word.partition("=")[0].split()) > 1


def _is_option(word: str) -> bool:
    return word.startswith("--") and not _is_text(word)


def _read_option(
    declared: Sequence[Parameter], word: str, rest: list[str], arguments: JsonObject
) -> None:
    flag, equals, value = word.partition("=")
    parameter, implied = _option_named(declared, flag)
    if implied is not None:
        if equals:
            raise _usage(f"{flag} takes no value")
        _set_implied(parameter, implied, arguments)
        return
    if not equals:
        has_none = not rest or _is_option(rest[0])
        if has_none and parameter.bare is not None:
            arguments[parameter.name] = parameter.bare
            return
        if has_none:
            raise _usage(f"{flag} needs a value", f"{flag} {parameter.metavar}: {parameter.help}")
        value = rest.pop(0)
    read = from_text(parameter, value)
    if not parameter.many:
        arguments[parameter.name] = read
        return
    before = arguments.get(parameter.name, ())
    assert isinstance(before, tuple)
    more = _take_values(rest) if parameter.greedy and not equals else []
    arguments[parameter.name] = (*before, read, *(from_text(parameter, word) for word in more))


def _set_implied(parameter: Parameter, value: object, arguments: JsonObject) -> None:
    """Take the value that a flag alone stands for. Of several choices only one may be asked for."""
    before = arguments.setdefault(parameter.name, value)
    if parameter.type is bool:
        arguments[parameter.name] = value
    elif before != value:
        raise _usage(f"--{before} and --{value} exclude each other", parameter.help)


def _take_values(rest: list[str]) -> list[str]:
    """The words up to the next option, which are no longer among the rest."""
    number = next((at for at, word in enumerate(rest) if _is_option(word)), len(rest))
    taken, rest[:] = rest[:number], rest[number:]
    return taken


def _option_named(declared: Sequence[Parameter], flag: str) -> tuple[Parameter, object]:
    """The parameter a flag speaks of, and the value that the flag alone implies (None: a value
    follows).
    """
    known: list[str] = []
    for parameter in declared:
        if parameter.positional:
            continue
        is_flag, denial = parameter.type is bool, "--no-" + parameter.flag[2:]
        if flag == parameter.flag:
            return parameter, True if is_flag else None
        if is_flag and flag == denial:
            return parameter, False
        known.append(denial if parameter.default is True else parameter.flag)
        if parameter.shorthand:
            known += ["--" + choice for choice in parameter.choices]
            if flag[2:] in parameter.choices:
                return parameter, flag[2:]
    raise _invalid(f"unknown option {flag}", suggestion(flag, known))


def _place(declared: Sequence[Parameter], positionals: list[str], arguments: JsonObject) -> None:
    for parameter in declared:
        if not parameter.positional:
            _check_given(parameter, parameter.flag, arguments)
            continue
        if parameter.many:
            if positionals:
                arguments[parameter.name] = tuple(
                    from_text(parameter, word) for word in positionals
                )
                positionals = []
        elif positionals:
            arguments[parameter.name] = from_text(parameter, positionals.pop(0))
        _check_given(parameter, parameter.metavar, arguments)
    if positionals:
        raise _usage(f"unexpected word {positionals[0]!r}")


def _check_given(parameter: Parameter, word: str, arguments: JsonMapping) -> None:
    if parameter.required and parameter.name not in arguments:
        raise _invalid(f"{word} is missing", f"{word}: {parameter.help}")


def from_text(parameter: Parameter, text: str) -> object:
    """A value as typed by its parameter; anything that is left to check is checked by `bind`."""
    if parameter.type is int:
        if not _WHOLE_NUMBER.fullmatch(text):
            raise _invalid(
                f"{parameter.name}: {shown_value(text)} is not a whole number", parameter.help
            )
        return int(text)
    if parameter.type is float:
        try:
            return float(text)
        except ValueError:
            raise _invalid(f"{parameter.name}: {text!r} is not a number", parameter.help) from None
    if parameter.type in {dict, list}:
        return _json_value(parameter, text)
    if parameter.type is bool:
        if text.lower() not in _TRUE | _FALSE:
            raise _invalid(f"{parameter.name}: {text!r} is neither true nor false", parameter.help)
        return text.lower() in _TRUE
    return text


def _json_value(parameter: Parameter, text: str) -> object:
    import json

    try:
        value: object = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise _invalid(f"{parameter.name} is not JSON: {error}", parameter.help) from None
    return value


def _checked(parameter: Parameter, value: object) -> object:
    if parameter.many:
        elements = value if isinstance(value, list | tuple) else (value,)
        _check_range(parameter, len(elements), " values", MAX_ARGUMENT_VALUES)
        return tuple(_checked_element(parameter, element) for element in elements)
    if value is None and parameter.nullable:
        return None
    return _checked_element(parameter, value)


def _checked_element(parameter: Parameter, value: object) -> object:
    name = parameter.name
    if issubclass(parameter.type, Enum):
        if isinstance(value, str) and value in parameter.choices:
            return parameter.type(value)
        raise _invalid(
            f"{name}: {shown_value(value)} is not one of {', '.join(parameter.choices)}",
            parameter.help,
        )
    if parameter.type is float and type(value) is int:
        value = float(value)
    if type(value) is not parameter.type:
        raise _invalid(f"{name} must be of type {JSON_NAMES[parameter.type]}", parameter.help)
    if isinstance(value, str):
        _check_text(parameter, value)
    elif isinstance(value, int | float) and parameter.type is not bool and not parameter.many:
        _check_range(parameter, value, "", None)
    return value


def _check_text(parameter: Parameter, text: str) -> None:
    name = parameter.name
    if len(text) > parameter.longest:
        raise _invalid(f"{name} is longer than {parameter.longest} characters")
    if not parameter.many and len(text) < (parameter.minimum or 0):
        raise _invalid(f"{name} is empty", parameter.help)
    if "\0" in text and parameter.role is not Role.PROSE:
        raise _invalid(f"{name} holds a NUL character")
    if not _is_encodable(text):
        names_file = parameter.role not in {Role.TEXT, Role.PROSE}
        hint = "files whose names are not UTF-8 are not indexed" if names_file else "write UTF-8"
        raise _invalid(f"{name} is not UTF-8", hint)
    if parameter.pattern and not re.fullmatch(parameter.pattern, text):
        raise _invalid(f"{shown_value(text)} is no {name}: {parameter.help}")


def _is_encodable(text: str) -> bool:
    """True if the text can be written down: bytes of a command line that are no UTF-8 arrive as
    lone surrogates.
    """
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _check_range(parameter: Parameter, number: float, unit: str, ceiling: int | None) -> None:
    minimum = parameter.minimum
    maximum = parameter.maximum if parameter.maximum is not None else ceiling
    if minimum is not None and number < minimum:
        raise _invalid(f"{parameter.name}: at least {minimum}{unit}, not {number}", parameter.help)
    if maximum is not None and number > maximum:
        raise _invalid(f"{parameter.name}: at most {maximum}{unit}, not {number}", parameter.help)


def element_schema(parameter: Parameter) -> JsonObject:
    """A JSON schema of one value, without its bounds."""
    element: JsonObject = {"type": JSON_NAMES.get(parameter.type, "string")}
    if parameter.choices:
        element["enum"] = list(parameter.choices)
    if parameter.pattern:
        element["pattern"] = f"^({parameter.pattern})$"
    return element


def schema_of(parameter: Parameter) -> JsonObject:
    """A JSON schema of a parameter, with its bounds, what it means and its default."""
    element = element_schema(parameter)
    bounds = (
        ("minItems", "maxItems")
        if parameter.many
        else _BOUNDS.get(parameter.type, ("minimum", "maximum"))
    )
    whole: JsonObject = {"type": "array", "items": element} if parameter.many else element
    for key, bound in zip(bounds, (parameter.minimum, parameter.maximum), strict=True):
        if bound is not None:
            whole[key] = bound
    if parameter.nullable:
        whole["type"] = [whole["type"], "null"]
        if parameter.choices:
            whole["enum"] = [*parameter.choices, None]
    whole["description"] = parameter.help
    if not parameter.required:
        whole["default"] = list(parameter.default) if parameter.many else parameter.default
    return whole


def _invalid(message: str, hint: str = "") -> TerselyError:
    return TerselyError("invalid_argument", message, hint)


def _usage(message: str, hint: str = "") -> TerselyError:
    return TerselyError("usage", message, hint)
