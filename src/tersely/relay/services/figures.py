"""The figures of services: how often they were asked, how long they took, and what went wrong; all
in the text format of Prometheus.

The format: https://prometheus.io/docs/instrumenting/exposition_formats/ (version 0.0.4).
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from itertools import accumulate

from tersely.foundation.types import field, record

MAX_MEASURED_METHODS = 1_000  # whose figures are kept apart
CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
BOUNDS_SECONDS = (
    0.001,
    0.0025,
    0.005,
    0.01,
    0.025,
    0.05,
    0.1,
    0.15,
    0.25,
    0.5,
    1.0,
    2.5,
    5.0,
    10.0,
    30.0,
)
OTHER = "other"  # methods that nobody has declared, or too many

Labels = Mapping[str, str]
Sample = tuple[str, Labels, float]  # what is behind the family's name, the labels, the value


@record
class Series:
    """The answers of one method. A failure is an answer, too, under its code."""

    # by the least bound
    counts: list[int] = field(default_factory=lambda: [0] * (len(BOUNDS_SECONDS) + 1))
    seconds: float = 0.0
    failures: Counter[str] = field(default_factory=Counter)

    @property
    def total(self) -> int:
        """The number of all."""
        return sum(self.counts)

    def quantile(self, share: float) -> float | None:
        """The bound in seconds below which such a share of the answers took; None without one."""
        total = self.total
        for bound, upto in zip((*BOUNDS_SECONDS, None), accumulate(self.counts), strict=True):
            if total and upto >= share * total:
                return bound
        return None


class Figures:
    """The figures of one relay since it was started. Written on one thread, read from any."""

    def __init__(self) -> None:
        self._series: dict[tuple[str, str], Series] = {}

    def answered(self, service: str, method: str, seconds: float, failure: str = "") -> None:
        """Note an answer; `failure` is its code where it is one."""
        key = (service, method)
        if key not in self._series and len(self._series) >= MAX_MEASURED_METHODS:
            key = (OTHER, OTHER)
        series = self._series.setdefault(key, Series())
        series.counts[bisect_left(BOUNDS_SECONDS, seconds)] += 1
        series.seconds += seconds
        if failure:
            series.failures[failure] += 1

    def series(self) -> list[tuple[str, str, Series]]:
        """Service, method and figures, by name."""
        return [
            (service, method, series) for (service, method), series in sorted(self._series.items())
        ]

    def text(self) -> Iterator[str]:
        """The lines for Prometheus."""
        every = self.series()
        asked = [("", _labels(service, method), one.total) for service, method, one in every]
        failed = [
            ("", {**_labels(service, method), "code": code}, count)
            for service, method, one in every
            for code, count in sorted(one.failures.items())
        ]
        yield from family(
            "tersely_service_requests_total", "counter", "Questions to services, answered", asked
        )
        yield from family(
            "tersely_service_failures_total", "counter", "Of those, answered by a failure", failed
        )
        timed = [
            sample
            for service, method, one in every
            for sample in _histogram(_labels(service, method), one)
        ]
        about = "Seconds from a question to its answer"
        yield from family("tersely_service_request_seconds", "histogram", about, timed)


def family(name: str, kind: str, about: str, samples: Iterable[Sample]) -> Iterator[str]:
    """One metric: what it is, and its values by their labels."""
    yield f"# HELP {name} {about}\n# TYPE {name} {kind}\n"
    for suffix, labels, value in samples:
        told = ",".join(f'{label}="{_escaped(text)}"' for label, text in labels.items())
        yield f"{name}{suffix}{{{told}}} {value:g}\n" if told else f"{name}{suffix} {value:g}\n"


def _labels(service: str, method: str) -> Labels:
    return {"service": service, "method": method}


def _histogram(labels: Labels, series: Series) -> Iterator[Sample]:
    for bound, upto in zip((*BOUNDS_SECONDS, "+Inf"), accumulate(series.counts), strict=True):
        yield "_bucket", {**labels, "le": f"{bound}"}, upto
    yield "_sum", labels, series.seconds
    yield "_count", labels, series.total


def _escaped(text: str) -> str:
    return text.replace("\\", r"\\").replace('"', r"\"").replace("\n", r"\n")
