"""What the tests of search share."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.code.search.repositories import FILES, lay


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    """A repository to search."""
    lay(tmp_path, FILES)
    return tmp_path
