"""A program that has used up what its maker allows is said to be limited, until the time that it
names.
"""

from __future__ import annotations

import asyncio
import json
import sys
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from tests.cli.relay_home import Home
from tests.pty.conftest import Friend, Tmux, wait_for
from tests.pty.test_hooks import Run, during, printed

from tersely.pty.limits.reset_times import reset_seconds
from tersely.pty.limits.usage_limits import UsageLimit

NOON = datetime(2026, 11, 26, 12, 0, tzinfo=ZoneInfo("UTC")).timestamp()
HOUR = 3_600
CLAUDE = "  ⎿  You've hit your session limit · resets 3pm (UTC)"
CODEX = "■ You've hit your usage limit. Upgrade to Pro or try again at 3:00 PM."
GEMINI = [
    "│ Usage limit reached for gemini-2.5-pro.  │",
    "│ Access resets at 3:00 PM GMT+1.          │",
]


@pytest.mark.parametrize(
    ("text", "hours"),
    [
        ("3pm (UTC)", 3), ("3:30pm (Europe/Berlin)", 2.5), ("3:00 PM GMT+5:30", -2.5 + 24), ("11am (UTC)", 23),
        ("11:55am (UTC)", -1 / 12), ("Nov 29, 1pm (UTC)", 73), ("Nov 29th, 2026 1:00 PM UTC", 73),
        ("Jan 2 at 12am (UTC)", 36 * 24 + 12), ("12pm (America/New_York)", 5),
    ],
)  # fmt: skip
def test_times_are_those_of_their_zones(text: str, hours: float) -> None:
    assert reset_seconds(text, NOON) == NOON + hours * HOUR


def test_the_clock_may_be_changed_before_the_time() -> None:
    """In Berlin the clock goes back at 3:00 on 25 October: 8am is nine hours after midnight."""
    midnight = datetime(2026, 10, 25, 0, 0, tzinfo=ZoneInfo("Europe/Berlin")).timestamp()
    assert reset_seconds("8am (Europe/Berlin)", midnight) == midnight + 9 * HOUR


@pytest.mark.parametrize(
    "text", ["soon", "25pm (UTC)", "3:77pm", "Feb 31, 1pm (UTC)", "Mar 1, 2031 1pm (UTC)", ""]
)
def test_what_is_no_time_soon_is_none(text: str) -> None:
    assert reset_seconds(text, NOON) is None


@pytest.fixture
def in_utc(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("TZ", "UTC")
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


@pytest.mark.usefixtures("in_utc")
@pytest.mark.parametrize("rows", [[CLAUDE], [CODEX], GEMINI])
def test_the_words_of_each_program_are_known(rows: list[str]) -> None:
    limit = UsageLimit()
    limit.look(["> do it", *rows, "", ">"], NOON)
    hour = 14 if rows is GEMINI else 15
    assert limit.state(NOON) == f"limited until {hour}:00 UTC"
    assert limit.state(NOON + 3 * HOUR) == ""


@pytest.mark.parametrize(
    "row",
    [
        'return "You\'ve hit your limit · resets 3pm"',
        "it says You've hit your limit · resets 3pm (UTC)",
    ],
)
def test_who_writes_about_limits_is_not_limited(row: str) -> None:
    limit = UsageLimit()
    limit.look([row], NOON)
    assert limit.state(NOON) == ""


def test_words_that_stay_on_the_screen_are_said_once() -> None:
    limit = UsageLimit()
    limit.look([CLAUDE], NOON)
    limit.works()
    limit.look(["> go on", CLAUDE, "done"], NOON + 1)
    assert limit.state(NOON + 1) == ""
    limit.look([], NOON + 4 * HOUR)
    limit.look([CLAUDE], NOON + 4 * HOUR)  # drawn again: it does not mean tomorrow
    assert limit.state(NOON + 4 * HOUR) == ""


def test_one_limit_of_a_run_is_resumed_when_its_time_has_come() -> None:
    limit = UsageLimit()
    limit.look([CLAUDE], NOON)
    assert not limit.may_resume(NOON + 2 * HOUR)
    assert limit.may_resume(NOON + 3 * HOUR)
    assert not limit.may_resume(NOON + 3 * HOUR)
    limit.told("You've hit your session limit · resets 8pm (UTC)", NOON + 4 * HOUR)
    assert not limit.may_resume(NOON + 9 * HOUR)


def test_a_hook_says_why_a_request_failed() -> None:
    async def do(run: Run, path: str) -> None:
        said = {"error": "rate_limit", "error_details": None, "last_assistant_message": CLAUDE}
        assert await printed(path, json.dumps({"hook_event_name": "StopFailure", **said})) == ""
        limit = UsageLimit()
        limit.told(run.hooks.take_failure(), NOON)
        assert limit.state(NOON)
        assert run.hooks.take_failure() == ""
        await asyncio.sleep(0)

    during(do)


def test_others_are_told_until_when(tmux: Tmux, friend: Callable[..., Friend], relay: Home) -> None:
    hour = datetime.now(UTC) + timedelta(hours=3)  # what has just passed is today's, and over
    words = f"You've hit your weekly limit · resets {hour:%I%p} (UTC)"
    program = f"print({words!r}, flush=True)\nimport sys\nsys.stdin.read()"
    tmux.run_under("una", (), (sys.executable, "-c", program), ("--trust-screen",))

    def limited() -> str:
        [found] = [one for one in relay.ask("agents")["agents"] if one["name"] == "una"]
        return str(found["state"]) if found["state"].startswith("limited") else ""

    state = wait_for(limited, "the limit")
    assert friend("tester").send("una", "hello").limited == {"una": state}
    assert f"una is {state}" in relay.ok("send", "una", "hello")
