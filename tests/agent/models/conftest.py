"""What all tests of models share: no attempt waits for the one before."""

from __future__ import annotations

import pytest

from tersely.agent.models import retries


@pytest.fixture(autouse=True)
def _without_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(retries, "FIRST_RETRY_SECONDS", 0.0)
