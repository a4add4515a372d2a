"""Jupyter notebooks as Python: the code of all cells in order, each line at its place in the file.
Texts become comments; outputs and all other lines are blank.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

_KIND = re.compile(r'(\s*)"cell_type": ?"(\w+)"')
_OTHER_LANGUAGE = re.compile(r'"file_extension": ?"(?!\.py")')
# cells of other languages, and lines that only IPython understands: commands and questions
_OTHERS_CELL = re.compile(r"%%(?!time|capture|prun|debug)")
_MEASURED = re.compile(r"^(\s*)%(?:time|timeit|prun|memit) +(?:-\w+ *\d* +)*(?=\w)")
_MAGIC = re.compile(r"^(\s*)((?:[\w, ]+= *)?[%!].*|\?.*|[\w.]+\?+\s*)$")


def notebook_code(source: bytes) -> bytes:
    """The Python in a notebook; of one whose kernel is of another language comments alone."""
    text = source.decode("utf-8", "replace")
    if text.count("\n") < 2:  # on one line: as Jupyter would write it
        try:
            text = json.dumps(json.loads(text), indent=1, ensure_ascii=False)
        except (ValueError, RecursionError):
            return b""
    is_python = _OTHER_LANGUAGE.search(text) is None
    return "\n".join(_lines(text.split("\n"), is_python)).encode("utf-8", "replace")


def _lines(lines: list[str], is_python: bool) -> Iterator[str]:
    margin = kind = ""
    is_inside = is_code = False
    for line in lines:
        cell, value = _KIND.match(line), line.strip().rstrip(",")
        if cell is not None:
            margin, kind = cell.groups()
        if kind and line.startswith(f'{margin}"source":'):
            value = value.removeprefix('"source":').strip()
            is_inside, is_code = value == "[", is_python and kind == "code"
            is_code = is_code and not _OTHERS_CELL.match(_text(value))
            yield "" if is_inside else _python(_text(value), is_code)
        elif is_inside and value != "]":
            text = _text(value)
            is_code = is_code and not _OTHERS_CELL.match(text)
            yield _python(text, is_code)
        else:
            is_inside = False
            yield ""


def _text(value: str) -> str:
    """The text in a piece of JSON, on one line; "" for a value that is no text."""
    try:
        found = json.loads(value)
    except (ValueError, RecursionError):
        return ""
    return "; ".join("".join(found).splitlines()) if isinstance(found, (str, list)) else ""


def _python(line: str, is_code: bool) -> str:
    """A line of a cell as Python has it."""
    line = _MEASURED.sub(r"\1", line)
    if not is_code:
        return f"# {line}" if line else ""
    return _MAGIC.sub(r"\1pass  # \2", line)
