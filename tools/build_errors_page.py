"""Write docs/errors.md: every error code, its exit status and status of HTTP, what it means, and
what to do.

    python tools/build_errors_page.py

The comment above each code in `foundation/errors.py` says both, with a `|` between, on one line or
several; a line that begins with a capital letter names a group of codes.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from tersely.doors.http.failures import status_of
from tersely.foundation.errors import EXIT_OF_CODE

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src" / "tersely" / "foundation" / "errors.py"
PAGE = ROOT / "docs" / "errors.md"
_GROUP = re.compile(r"    # (?P<title>[A-Z][^|]+)")
_COMMENT = re.compile(r"    # (?P<text>.+)")
_CODE = re.compile(r'    "(?P<code>[a-z_]+)": EXIT_\w+,')
_HEAD = """# Errors

Every failure is `CODE: MESSAGE` on standard error, often with a hint below; with `--json`, over HTTP and in protocols
it is an object with `code`, `message` and `hint`. Scripts test the code. The exit status of the command follows from
it: 1 says that the answer is no, 2 that the question was wrong, 3 that files, disk, network or other programs did not
allow an answer, 70 that Tersely has a defect. Made by `python tools/build_errors_page.py`; a test compares it with the
sources.
"""


class Code(NamedTuple):
    """One error code as the sources describe it."""

    group: str
    code: str
    meaning: str
    remedy: str


def codes_of(text: str) -> Iterator[Code]:
    """The codes that a module describes, in its order. Raises `ValueError` for one without a
    description.
    """
    group = ""
    about: list[str] = []
    for line in text.splitlines():
        if titled := _GROUP.fullmatch(line):
            group = titled["title"]
        elif comment := _COMMENT.fullmatch(line):
            about.append(comment["text"])
        elif named := _CODE.fullmatch(line):
            meaning, bar, remedy = " ".join(about).partition(" | ")
            if not bar:
                raise ValueError(f"{named['code']} has no description")
            yield Code(group, named["code"], meaning, remedy)
            about = []


def page() -> str:
    """The text of the page."""
    return _HEAD + "".join(_sections())


def _sections() -> Iterator[str]:
    group = ""
    for code in codes_of(SOURCE.read_text("utf-8")):
        if code.group != group:
            group = code.group
            yield f"\n## {group}\n\n| code | exit | HTTP | meaning | what to do |\n|---|--:|--:|---|---|\n"
        numbers = f"{EXIT_OF_CODE[code.code]} | {status_of(code.code)}"
        yield f"| `{code.code}` | {numbers} | {code.meaning} | {code.remedy} |\n"


if __name__ == "__main__":
    PAGE.write_text(page(), "utf-8")
