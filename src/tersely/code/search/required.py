"""The texts that a match of a regular expression must contain: a quick look spares most lines the
expression.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any


def required_text(expression: re.Pattern[bytes]) -> bytes:
    """The longest text that is part of every match, b"" if there is none; in lower case where case
    does not count.

    Read from the tree that Python's own parser makes of the expression.
    """
    from re import _parser  # type: ignore[attr-defined]  # the only way to that tree

    runs = _runs(_parser.parse(expression.pattern, expression.flags), [b""])
    longest = max(runs, key=len)
    return longest.lower() if expression.flags & re.IGNORECASE else longest


def _runs(items: Iterable[tuple[Any, Any]], runs: list[bytes]) -> list[bytes]:
    """The literal texts that have to be there, in order; the last one goes on with what comes next."""
    for code, value in items:
        match str(code), value:
            case "LITERAL", int(byte) if byte < 256:
                runs[-1] += bytes([byte])
            case "SUBPATTERN", (_, 0, 0, inner):
                _runs(inner, runs)
            case (("MAX_REPEAT" | "MIN_REPEAT" | "POSSESSIVE_REPEAT"), (least, _, inner)) if least:
                _runs(inner, runs)  # what comes next may stand after another round
                runs.append(b"")
            case "AT", _:
                pass
            case _:
                runs.append(b"")
    return runs
