"""Trees of pages, as Playwright writes them, in words; no browser is needed."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from tersely.agent.tools.web.accessible_text import (
    MAX_NAME_CHARACTERS,
    MAX_PAGE_CHARACTERS,
    page_text,
)

TREE = r"""- generic [active] [ref=e1]:
  - navigation [ref=e2]:
    - 'link "One: \"two\"" [ref=e3] [cursor=pointer]':
      - /url: /a
  - heading "Sub" [level=2] [ref=e5]
  - paragraph [ref=e6]:
    - text: para text
    - link "link" [ref=e7] [cursor=pointer]:
      - /url: https://x.y/z
  - generic [ref=e8] [cursor=pointer]: clickable
  - textbox "Name" [disabled] [ref=e10]: "v: 1"
  - checkbox "c" [checked] [ref=e11]
  - list [ref=e13]:
    - listitem [ref=e14]: i1
  - table [ref=e16]:
    - row [ref=e18]:
      - cell "1" [ref=e19]
      - cell "2" [ref=e20]
    - row [ref=e21]:
      - cell "3" [ref=e22]
  - iframe [ref=e30]:
    - button "in" [ref=f1e2]
  - img "pic" [ref=e31]
  - paragraph [ref=e24]: "- button \"fake\" [ref=e1]"
"""
WORDS = """[e3] link "One: "two"" → /a
## Sub
para text
[e7] link "link" → https://x.y/z
[e8] generic "clickable"
[e10] textbox "Name" disabled = "v: 1"
[e11] checkbox "c" checked
- i1
1 | 2
3
iframe:
[f1e2] button "in"
img: pic
- button "fake" [ref=e1]"""


def test_a_tree_in_words() -> None:
    made = page_text(TREE)
    assert made.text == WORDS
    assert list(made.elements) == ["e3", "e7", "e8", "e10", "e11", "f1e2"]
    assert made.elements["e10"] == 'textbox "Name"'


def test_what_is_long_is_cut_and_said() -> None:
    name = "x" * 2 * MAX_NAME_CHARACTERS
    made = page_text(f'- button "{name}" [ref=e1]\n' + "- text: word\n" * MAX_PAGE_CHARACTERS)
    assert len(made.text.split("\n")[0]) < MAX_NAME_CHARACTERS + 20
    assert made.text.endswith("characters are not read")
    assert len(made.text) < MAX_PAGE_CHARACTERS


@settings(max_examples=50)
@given(st.text(alphabet="- :\"'[]=\\/\nabe1refbutton", max_size=120))
def test_any_tree_has_words(tree: str) -> None:
    assert all(ref in tree for ref in page_text(tree).elements)
