"""The same programs that `python -m bench.mail` runs for long, for a short while."""

from __future__ import annotations

import asyncio
import secrets
from pathlib import Path

import pytest
from bench.mail import crashes, floods, states, teams
from bench.mail.relays import Alone
from bench.mail.shared import Shared

MAX_SEED = 1_000_000  # moments of kills are drawn anew each run; a failure shows from which seed
CRASH_RUNS = 3  # of one run of the tests


@pytest.mark.slow
@pytest.mark.parametrize("attempt", range(CRASH_RUNS))
def test_what_was_acknowledged_outlives_kills_at_any_moment(tmp_path: Path, attempt: int) -> None:
    seed = secrets.randbelow(MAX_SEED)
    with Alone(tmp_path / "home") as relay:
        told = asyncio.run(crashes.run(relay, points=3, clients=16, streams=2, seed=seed))
    assert (told["complaints"], told["acknowledged"] > 0) == ([], True), (
        f"seed {seed}, run {attempt}"
    )


@pytest.mark.slow
def test_claims_and_items_of_boards_outlive_kills_at_any_moment(tmp_path: Path) -> None:
    seed = secrets.randbelow(MAX_SEED)
    with Alone(tmp_path / "home") as relay:
        told = teams.run(relay, points=4, agents=6, seed=seed)
    assert (told["complaints"], told["claims"] > 0, told["items_done"] > 0) == ([], True, True), (
        f"seed {seed}"
    )


@pytest.mark.slow
def test_relays_that_share_a_database_keep_what_they_acknowledge_whatever_is_killed(
    tmp_path: Path,
) -> None:
    seed = secrets.randbelow(MAX_SEED)
    with Shared(tmp_path, 2, seed) as both:
        told = asyncio.run(crashes.run(both, points=3, clients=6, streams=2, seed=seed))
        seen = states.run(both, points=2, agents=4, seed=seed)
    assert (told["complaints"], told["acknowledged"] > 0) == ([], True), f"seed {seed}"
    assert (seen["complaints"], seen["changes"] > 0) == ([], True), f"seed {seed}"


@pytest.mark.slow
def test_a_flood_is_answered_message_by_message(tmp_path: Path) -> None:
    told = asyncio.run(floods.run(tmp_path / "home", senders=8, count=400))
    assert told["complaints"] == []
    assert (told["acknowledged"], told["delivered"], told["gaps"]) == (3_200, 3_200, 0)


@pytest.mark.slow
def test_a_client_that_stands_still_gets_its_backlog_when_it_goes_on(tmp_path: Path) -> None:
    told = asyncio.run(floods.stopped(tmp_path / "home", backlog=1_500, seconds=0.3))
    assert told["complaints"] == []
    assert min(told[when]["trips"] for when in ("before", "with_backlog", "while_draining")) > 0
