"""A toolbox of an empty repository."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.agent.tools.box import opened

from tersely.agent.tools.toolbox import Toolbox


@pytest.fixture
def root(tmp_path: Path) -> Path:
    made = tmp_path / "repository"
    made.mkdir()
    return made


@pytest.fixture
def toolbox(tmp_path: Path, root: Path) -> Iterator[Toolbox]:
    with opened(root, tmp_path / "kept") as made:
        yield made
