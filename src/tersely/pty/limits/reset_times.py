"""Times of day as agents write them: `3pm (Europe/Berlin)`, `Oct 6, 3:30pm (UTC)`, `Nov 29th, 2025
3:04 PM`.

What names no zone, or one by letters that several have, is the time of this machine, whose zone the
agent shares.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta, timezone, tzinfo
from zoneinfo import ZoneInfo

MAX_RESET_SECONDS = 40 * 86_400  # from now; what is later is not believed
PASSED_SECONDS = 600  # ago, in which a time of day means today and not tomorrow
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_TIME = re.compile(
    r"(?:(?P<month>[A-Za-z]{3})[a-z]* (?P<day>\d{1,2})(?:st|nd|rd|th)?(?:, (?P<year>\d{4}))?(?:,| at)? )?"
    r"(?P<hour>1[0-2]|0?[1-9])(?::(?P<minute>\d{2}))?[ \u202f]?(?P<half>[ap])\.?m\b\.?"
    r"(?: \(?(?P<zone>(?:GMT|UTC)(?:[+-]\d{1,2}(?::\d{2})?)?|[A-Za-z_]+(?:/[A-Za-z_+-]+)+)\)?)?",
    re.IGNORECASE,
)
_OFFSET = re.compile(
    r"(?:GMT|UTC)(?:(?P<sign>[+-])(?P<hours>\d{1,2})(?::(?P<minutes>\d{2}))?)?", re.IGNORECASE
)


def reset_seconds(text: str, now: float) -> float | None:
    """The time that a text begins with, in seconds since 1970 as `now` is; None for what is none,
    or is too far.

    A time of day alone is the next one. A day without a year is the nearest one.
    """
    found = _TIME.match(text)
    if found is None:
        return None
    zone = _zone(found["zone"])
    today = datetime.fromtimestamp(now, zone) if zone is not None else datetime.fromtimestamp(now)  # noqa: DTZ006
    hour = int(found["hour"]) % 12 + (12 if found["half"].lower() == "p" else 0)
    try:
        at_hour = today.replace(
            hour=hour, minute=int(found["minute"] or 0), second=0, microsecond=0, fold=0
        )
        times = (
            _on_day(at_hour, found) if found["month"] else [at_hour, at_hour + timedelta(days=1)]
        )
        seconds = [one.timestamp() for one in times]
    except (ValueError, OverflowError, OSError):  # there is no such day, hour or minute
        return None
    return next(
        (one for one in seconds if now - PASSED_SECONDS < one <= now + MAX_RESET_SECONDS), None
    )


def local_clock(seconds: float, now: float) -> str:
    """A moment as people of this machine write it, with its zone, and its day where that is not
    today.
    """
    at = datetime.fromtimestamp(seconds, UTC).astimezone()
    today = datetime.fromtimestamp(now, UTC).astimezone()
    clock = f"{at:%H:%M} {at:%Z}"
    return (
        clock
        if at.date() == today.date()
        else f"{clock} on {at.day} {_MONTHS[at.month - 1].title()}"
    )


def _on_day(at_hour: datetime, found: re.Match[str]) -> list[datetime]:
    month = _MONTHS.index(found["month"].lower()) + 1
    years = [int(found["year"])] if found["year"] else [at_hour.year, at_hour.year + 1]
    return [at_hour.replace(year=year, month=month, day=int(found["day"])) for year in years]


def _zone(name: str | None) -> tzinfo | None:
    """The zone of a name, None for that of this machine."""
    if name is None:
        return None
    if offset := _OFFSET.fullmatch(name):
        ahead = timedelta(hours=int(offset["hours"] or 0), minutes=int(offset["minutes"] or 0))
        return timezone(-ahead if offset["sign"] == "-" else ahead)
    try:
        return ZoneInfo(name)
    except (ValueError, KeyError, OSError):  # no such zone is known here
        return None
