"""The generated page of error codes."""

from __future__ import annotations

from collections import Counter

import pytest
from tools.build_errors_page import PAGE, ROOT, SOURCE, codes_of, page

from tersely.foundation.errors import EXIT_OF_CODE


def test_the_page_is_that_of_the_sources() -> None:
    assert PAGE.read_text("utf-8") == page(), "python tools/build_errors_page.py writes it anew"


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
