"""A repository of the files that a test's module lists."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tersely.code.engine import Engine


@pytest.fixture
def engine(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Engine]:
    """An index of `FILES` of the module, by path."""
    for name, text in request.module.FILES.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    with Engine.open(tmp_path) as engine:
        engine.refresh()
        yield engine
