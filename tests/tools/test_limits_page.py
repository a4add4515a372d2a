"""The generated page of limits."""

from __future__ import annotations

from pathlib import Path

from tools.build_limits_page import PAGE, limits_of, page


def test_the_page_is_that_of_the_sources() -> None:
    assert PAGE.read_text("utf-8") == page(), "python tools/build_limits_page.py writes it anew"


def test_a_limit_is_a_named_number_with_a_unit(tmp_path: Path) -> None:
    module = tmp_path / "module.py"
    module.write_text(
        "MAX_JARS = 1_000  # of one | shelf\n\n# A pause,\n# not more.\n_WAIT_SECONDS = 0.5\n"
        "HALF_BYTES = MAX_JARS // 2\n"
        "MAX_NAME = 'no number'\nMAX_BOTH = True\nNAMES = 3\n"
    )
    assert limits_of(module) == [
        ("MAX_JARS", "1,000", "of one | shelf"),
        ("WAIT_SECONDS", "0.5", "A pause, not more."),
        ("HALF_BYTES", "MAX_JARS // 2", ""),
    ]
