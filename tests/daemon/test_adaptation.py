"""Search is fitted to the repository in the background."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from tersely.code.engine import Engine
from tersely.daemon import adaptation
from tersely.daemon.adaptation import Adaptation
from tersely.foundation.private import index_directory


@pytest.fixture
def parcels(tmp_path: Path) -> Path:
    (tmp_path / "parcels.py").write_text(
        "\n".join(
            f'def send_{number}(item):\n    """Send the parcel {number} to a customer."""\n    return {number}\n'
            for number in range(200)
        )
    )
    with Engine.open(tmp_path) as engine:
        engine.refresh()
    return tmp_path


def state_after(root: Path, unasked_seconds: float = 1_000.0, *, soon: bool = False) -> tuple[str, Adaptation]:
    async def run() -> Adaptation:
        fitting = Adaptation(str(root))
        if soon:
            fitting.soon()
        going_on = fitting.look("a revision", unasked_seconds)
        if going_on is not None:
            assert fitting.look("another revision", unasked_seconds) is going_on  # never two
            assert fitting.state["state"] in {"waiting", "running"}
            await going_on
        await fitting.close()
        return fitting

    fitting = asyncio.run(run())
    return fitting.state["state"], fitting


def test_it_is_fitted_when_nobody_has_asked_for_a_while(parcels: Path) -> None:
    words = Path(index_directory(str(parcels))) / "search" / "words"
    assert state_after(parcels)[0] == "fitted"
    written = words.stat().st_mtime_ns, words.stat().st_ino
    assert state_after(parcels, soon=True, unasked_seconds=0.0)[0] == "fitted"
    assert (words.stat().st_mtime_ns, words.stat().st_ino) == written  # nothing has changed since


def test_it_waits_while_somebody_asks(parcels: Path) -> None:
    assert state_after(parcels, unasked_seconds=1.0)[0] == "waiting"


def test_a_revision_is_looked_at_once(parcels: Path) -> None:
    async def run() -> None:
        fitting = Adaptation(str(parcels))
        going_on = fitting.look("a revision", 1_000.0)
        assert going_on is not None
        await going_on
        assert fitting.look("a revision", 1_000.0) is None
        assert fitting.look("another revision", 1_000.0) is None  # too soon after the last one

    asyncio.run(run())


def test_a_setting_turns_it_off(parcels: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERSELY_ADAPT", "off")
    assert state_after(parcels)[0] == "off"


def test_what_takes_too_long_is_ended(parcels: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(adaptation, "ADAPT_SECONDS", 0.01)
    assert state_after(parcels)[0] == "failed"
    assert not (Path(index_directory(str(parcels))) / "search" / "words").exists()


def test_too_little_to_learn_from(shop: Path) -> None:
    with Engine.open(shop) as engine:
        engine.refresh()
    assert state_after(shop)[0] == "too_small"
