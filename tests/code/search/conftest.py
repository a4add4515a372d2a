"""What the tests of search share."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[3]))  # so that tests may import from `tests.code`

from tests.code.search.repositories import FILES, lay


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    """A repository to search."""
    lay(tmp_path, FILES)
    return tmp_path
