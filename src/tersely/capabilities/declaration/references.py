"""References to artifacts of the relay among the arguments of a question.

No capability knows the relay. A door that does puts what `cass://<hash>` refers to behind it, so
that the answer is a function of its arguments as any other: the reference, what is known of the
artifact, and on the next lines its text.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import NamedTuple

from tersely.capabilities.declaration.declaration import Parameter, Role
from tersely.foundation.errors import TerselyError
from tersely.foundation.types import JsonMapping, JsonObject

SCHEME = "cass://"
_REFERENCE = re.compile(r"cass://(?P<hash>[0-9A-Fa-f]+)(?P<lines>(?::\d+(?:-\d+)?)?)")
_SHOWN_DIGITS = 12


class Referred(NamedTuple):
    """The artifact that a reference means. `text` is all of it, or of what is long or no text, its
    preview.
    """

    digest: str
    name: str
    type: str
    size_bytes: int
    text: str
    is_whole: bool

    @property
    def path(self) -> str:
        """The words for it in an answer, in the place of a file."""
        return SCHEME + self.digest[:_SHOWN_DIGITS]


Fetch = Callable[[str], Referred]  # of a hash, or the beginning of one


def has_references(arguments: JsonMapping) -> bool:
    """True if a question refers to artifacts."""
    return any(_is_reference(one) for value in arguments.values() for one in _elements(value))


def with_references(
    declared: Sequence[Parameter], arguments: JsonMapping, fetch: Fetch
) -> JsonObject:
    """The same arguments with what they refer to; raises what `fetch` does, and `invalid_argument`."""
    roles = {parameter.name: parameter.role for parameter in declared}
    return {
        name: tuple(
            _written(str(one), fetch) if _is_reference(one) else one for one in _elements(value)
        )
        if roles.get(name) is Role.SOURCE
        else value
        for name, value in arguments.items()
    }


def read_reference(text: str) -> tuple[Referred, str]:
    """The artifact that a door has put behind a reference, and the lines that are wanted of it;
    raises `invalid_argument`.
    """
    head, line_end, body = text.partition("\n")
    reference, _, about = head.partition("?")
    found = _REFERENCE.fullmatch(reference)
    if found is None or not line_end:
        hint = "the command line, the tools and the relay can; in Python tersely.client reads it"
        raise TerselyError(
            "invalid_argument", f"{reference[:80]} cannot be read through this door", hint
        )
    from urllib.parse import parse_qs  # only who refers to something pays for it

    told = {name: values[0] for name, values in parse_qs(about, keep_blank_values=True).items()}
    size_bytes, is_whole = int(told["size"]), told["whole"] == "1"
    return Referred(found["hash"], told["name"], told["type"], size_bytes, body, is_whole), found[
        "lines"
    ]


def _written(text: str, fetch: Fetch) -> str:
    found = _REFERENCE.fullmatch(text)
    if found is None:
        raise TerselyError(
            "invalid_argument",
            f"{text[:80]!r} is not a reference to an artifact",
            f"{SCHEME}HASH[:10-20]",
        )
    from urllib.parse import urlencode

    meant = fetch(found["hash"].lower())
    about = {
        "name": meant.name,
        "type": meant.type,
        "size": meant.size_bytes,
        "whole": int(meant.is_whole),
    }
    return f"{SCHEME}{meant.digest}{found['lines']}?{urlencode(about)}\n{meant.text}"


def _is_reference(value: object) -> bool:
    return isinstance(value, str) and value.startswith(SCHEME)


def _elements(value: object) -> Sequence[object]:
    return value if isinstance(value, tuple | list) else (value,)
