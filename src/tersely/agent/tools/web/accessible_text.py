"""The text of a page for somebody who does not see it, in few tokens: its texts, and numbers for
what can be used.

It is made of the accessibility tree that Playwright writes (its "aria snapshot" for models), a node
a line:

    - heading "Sign in" [level=1] [ref=e2]
    - link "Help" [ref=e3] [cursor=pointer]:
      - /url: /help
    - textbox "Name" [ref=e4]: Ann

    # Sign in
    [e3] link "Help" → /help
    [e4] textbox "Name" = "Ann"
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import NamedTuple

from tersely.foundation.text.shortening import shortened

MAX_PAGE_CHARACTERS = 400_000  # of a tree that are read
MAX_NAME_CHARACTERS = 300  # of a name, a value or a URL of an element
_LINE = re.compile(r"(?P<indent> *)- (?P<rest>.*)")
_KEY = re.compile(
    r'(?P<role>[\w-]+)(?: (?P<name>"(?:[^"\\]|\\.)*"))?(?P<attributes>(?: \[[^\]]*\])*)(?P<after>:.*)?$'
)
_ATTRIBUTE = re.compile(r"\[([^\]=]+)=?([^\]]*)\]")
_QUOTED_KEY = re.compile(r"'((?:[^']|'')*)'(:.*)?$")
_USABLE = frozenset(
    "button checkbox combobox link listbox menuitem menuitemcheckbox menuitemradio radio scrollbar searchbox slider "
    "spinbutton switch tab textbox treeitem".split()
)
_STATES = ("checked", "disabled", "expanded", "pressed", "selected")
_ANNOUNCED = frozenset("alert alertdialog dialog iframe".split())  # said also without a name
_TEXTS = frozenset("caption code emphasis generic paragraph strong text time".split())
_CELLS = frozenset("cell columnheader gridcell rowheader".split())


class Node(NamedTuple):
    """One line of the tree. `text` is what follows it: a value of what can be filled in, else
    words.
    """

    depth: int
    role: str
    name: str
    text: str
    attributes: dict[str, str]
    url: str = ""

    @property
    def ref(self) -> str:
        """The number by which it can be used, "" for what there is no use for."""
        is_usable = self.role in _USABLE or "cursor" in self.attributes
        return self.attributes.get("ref", "") if is_usable else ""

    @property
    def title(self) -> str:
        """The kind and the name of a page."""
        named = f'{self.role} "{self.name}"' if self.name else self.role
        return named if self.role in _USABLE or self.name else f'{self.role} "{self.text}"'


class PageText(NamedTuple):
    """A page in words, and what its numbers stand for."""

    text: str
    elements: dict[str, str]


def page_text(tree: str) -> PageText:
    """The words of a tree; where it is longer than what is read, they say so."""
    nodes = list(_nodes(tree[:MAX_PAGE_CHARACTERS]))
    lines: list[str] = []
    last_cell = -1  # the depth of the cell that the last line ends with
    for node in nodes:
        line = _line(node)
        is_next_cell = node.role in _CELLS and node.depth == last_cell and not node.ref
        if is_next_cell and line:
            lines[-1] += f" | {line}"
        elif line:
            lines.append(line)
            last_cell = node.depth if node.role in _CELLS else -1
        elif node.role == "row":
            last_cell = -1
    if len(tree) > MAX_PAGE_CHARACTERS:
        lines.append(
            f"… the page goes on: {len(tree) - MAX_PAGE_CHARACTERS:,} more characters are not read"
        )
    return PageText("\n".join(lines), {node.ref: node.title for node in nodes if node.ref})


def _nodes(tree: str) -> Iterator[Node]:
    """The nodes of a tree, each with the URL that the line below it names."""
    before: Node | None = None
    for line in tree.split("\n"):
        node = _node(line)
        if node is None:
            continue
        if node.role == "/url" and before is not None:
            before = before._replace(url=node.text)
            continue
        if before is not None:
            yield before
        before = node
    if before is not None:
        yield before


def _node(line: str) -> Node | None:
    found = _LINE.match(line)
    if found is None:
        return None
    depth, rest = len(found["indent"]) // 2, found["rest"]
    if rest.startswith("/"):
        key, _, value = rest.partition(": ")
        return Node(depth, key, "", _clipped(_value(value)), {})
    quoted = _QUOTED_KEY.match(rest)
    if quoted:
        rest = quoted[1].replace("''", "'") + (quoted[2] or "")
    key = _KEY.match(rest)
    if key is None:
        return Node(depth, "text", "", _clipped(rest), {})
    attributes = dict(_ATTRIBUTE.findall(key["attributes"]))
    text = _value((key["after"] or "").removeprefix(":").strip())
    return Node(depth, key["role"], _clipped(_value(key["name"] or "")), text, attributes)


def _value(written: str) -> str:
    """A text that stands there plain or in quotation marks."""
    if written.startswith('"'):
        try:
            return str(json.loads(written, strict=False))
        except ValueError:
            return written
    if len(written) > 1 and written[0] == written[-1] == "'":
        return written[1:-1].replace("''", "'")
    return written


def _line(node: Node) -> str:
    """The line that is written of a node, "" where there is nothing to say."""
    if node.ref:
        return _usable_line(node)
    said = " ".join(filter(None, [node.name, node.text]))
    if node.role == "heading":
        level = node.attributes.get("level", "1")
        return f"{'#' * int(level if level.isdecimal() else 1)} {said}"
    if node.role == "listitem" and said:
        return f"- {said}"
    if node.role in _TEXTS or node.role in _CELLS:
        return said
    if node.role in _ANNOUNCED or said:
        states = [state for state in _STATES if state in node.attributes]
        return " ".join([f"{node.role}:", *filter(None, [said]), *states])
    return ""


def _usable_line(node: Node) -> str:
    states = [state for state in _STATES if state in node.attributes]
    value = [f'= "{_clipped(node.text)}"'] if node.text and node.role in _USABLE else []
    leads = [f"→ {node.url}"] if node.url else []
    return " ".join([f"[{node.ref}]", node.title, *states, *value, *leads])


def _clipped(text: str) -> str:
    return shortened(text, MAX_NAME_CHARACTERS)
