"""Text from files made harmless: what could steer a terminal or hide from a reader is written out
visibly.
"""

from __future__ import annotations

import re

# Controls but tab and newline; marks and overrides of direction; separators that some readers take
# for newlines; what has no width, but for the joiners that scripts and emoji need; byte order
# marks; lone surrogates, which cannot be encoded; tags and the selectors beside them, which spell
# invisible words; letters that are drawn as nothing, some of which programs take for a name
# (Unicode's `Default_Ignorable_Code_Point`).
_HIDDEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb"
    "\ud800-\udfff\U000e0000-\U000e0fff\u034f\u115f\u1160\u17b4\u17b5\u3164\uffa0\ufff0-\ufff8\U0001bca0-\U0001bca3"
    "\U0001d173-\U0001d17a]"
)
LEAST_FENCE_CHARACTERS = 3
_LINE_BREAKING = re.compile(r"[\t\n]")


def visible(text: str) -> str:
    r"""The text with hidden characters as `\x1b`, `\u202e`, `\U000e0041`; tabs and newlines stay."""
    return _HIDDEN.sub(_written_out, text) if _HIDDEN.search(text) else text


def visible_line(text: str) -> str:
    """The same for a name or path, which has to stay on its line."""
    return _LINE_BREAKING.sub(_written_out, visible(text))


def json_escaped(encoded: str) -> str:
    """JSON with hidden characters as its own escapes, so that it still means the same."""
    return _HIDDEN.sub(_as_json, encoded) if _HIDDEN.search(encoded) else encoded


def fenced(text: str) -> str:
    """The text as a quotation of Markdown, which nothing in it can end."""
    longest = max(map(len, re.findall("`+", text)), default=0)
    fence = "`" * max(LEAST_FENCE_CHARACTERS, longest + 1)
    return f"{fence}\n{text}\n{fence}"


def _written_out(found: re.Match[str]) -> str:
    code_point = ord(found[0])
    if code_point > 0xFFFF:
        return f"\\U{code_point:08x}"
    return f"\\u{code_point:04x}" if code_point > 0xFF else f"\\x{code_point:02x}"


def _as_json(found: re.Match[str]) -> str:
    units = found[0].encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{units[at]:02x}{units[at + 1]:02x}" for at in range(0, len(units), 2))
