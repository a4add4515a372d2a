"""The generated page of limits."""

from __future__ import annotations

from pathlib import Path

import pytest
from tools.build_limits_page import PAGE, numbers_of, page, said, value_of


def test_the_page_is_that_of_the_sources() -> None:
    assert PAGE.read_text("utf-8") == page(), "python tools/build_limits_page.py writes it anew"


def test_a_limit_is_a_number_with_a_name_in_capitals(tmp_path: Path) -> None:
    module = tmp_path / "module.py"
    module.write_text(
        "MAX_JARS = 1_000  # of one shelf\n_WAIT_SECONDS = 0.5\nDAY_SECONDS = 24 * 3_600\n"
        "HALF_BYTES = 1 << 19\nMAX_NAME = 'no number'\nMAX_BOTH = True\nSUM_ROWS = MAX_JARS + 1\n"
    )
    assert numbers_of(module) == {
        "MAX_JARS": 1_000, "WAIT_SECONDS": 0.5, "DAY_SECONDS": 86_400, "HALF_BYTES": 524_288
    }  # fmt: skip


def test_a_limit_that_is_gone_is_named() -> None:
    with pytest.raises(SystemExit, match="foundation has 0 bounds MAX_JARS"):
        value_of("foundation", "MAX_JARS")


@pytest.mark.parametrize(
    ("name", "value", "shown"),
    [
        ("QUIET_SECONDS", 900, "15 minutes"),
        ("WAIT_SECONDS", 0.5, "0.5 seconds"),
        ("DAY_SECONDS", 86_400, "1 day"),
        ("MAX_LEASE_MINUTES", 1_440, "1 day"),
        ("MAX_FRAME_BYTES", 1_048_576, "1,048,576 bytes"),
        ("MAX_FILE_BYTES", 8_000_000, "8 MB"),
        ("MAX_JARS", 1_000, "1,000"),
    ],
)
def test_a_value_has_its_unit(name: str, value: float, shown: str) -> None:
    assert said(name, value) == shown
