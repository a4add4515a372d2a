"""The generated page of error codes."""

from __future__ import annotations

from collections import Counter

import pytest
from tools.build_errors_page import (
    MESSAGES_PAGE,
    PAGE,
    ROOT,
    SOURCE,
    codes_of,
    messages,
    messages_page,
    page,
)

from tersely.foundation.errors import EXIT_OF_CODE

LEAST_MESSAGES = 100


def test_the_page_is_that_of_the_sources() -> None:
    assert PAGE.read_text("utf-8") == page(), "python tools/build_errors_page.py writes it anew"


def test_nearly_every_message_of_the_page_is_one_of_the_sources() -> None:
    written, now = (
        {line for line in text.splitlines() if line.startswith("| `")}
        for text in (MESSAGES_PAGE.read_text("utf-8"), messages_page())
    )
    assert len(now) > LEAST_MESSAGES
    changed = written ^ now  # a commit that words one anew need not write the page
    assert len(changed) < len(now) / 10, "python -m tools.build_errors_page writes it anew"


def test_a_message_says_what_is_wrong() -> None:
    texts = {one.text for one in messages()}
    assert "no coverage report found" in texts
    assert all(any(part.isalpha() for part in text) for text in texts)


def test_every_code_is_described_and_no_two_mean_the_same() -> None:
    codes = list(codes_of(SOURCE.read_text("utf-8")))
    assert [one.code for one in codes] == list(EXIT_OF_CODE)
    assert Counter(one.meaning for one in codes).most_common(1)[0][1] == 1
    with pytest.raises(ValueError, match="tea has no description"):
        list(codes_of('    # group\n    "tea": EXIT_USAGE,\n'))


def test_every_code_is_used() -> None:
    tables = {SOURCE, ROOT / "src" / "tersely" / "web" / "failures.py"}
    texts = [path.read_text("utf-8") for path in (ROOT / "src").rglob("*.py") if path not in tables]
    assert [code for code in EXIT_OF_CODE if not any(f'"{code}"' in text for text in texts)] == []
