"""Brakes: agents that answer each other without end, or flood others, are held back.

What two agents say to each other is counted, what a channel hears, and what goes round in a circle
of more agents: each message is taken for the answer to the last that its sender got. A person who
writes to one of them ends it, or rest.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Sequence
from threading import Lock
from typing import Any, NamedTuple

from tersely.foundation.clock import elapsed_seconds
from tersely.foundation.errors import TerselyError
from tersely.foundation.types import Strings, record
from tersely.relay.policy import HeldBack, Rates

MAX_COUNTED_PAIRS = 10_000  # of agents, and circles of them; the longest silent are forgotten
MAX_CIRCLE_AGENTS = 8  # of a circle; what goes round among more is not recognised
TURN_REST_SECONDS = 600  # without a message, after which agents begin anew

Path = Strings


@record
class _Exchange:
    """The exchange of some agents with each other."""

    last_sender: str
    turns: int
    seconds: float  # when the last was said


class _Counted(NamedTuple):
    """Agents, or a channel, whose answers to each other are counted, and how many there may be."""

    members: frozenset[str]
    most: int


class Brakes:
    """The counts of how often agents have answered each other since a person wrote to one of them,
    and of how fast they write.
    """

    def __init__(
        self, turns: int, messages_per_minute: int, clock: Callable[[], float] = elapsed_seconds
    ) -> None:
        self._most = turns
        self._clock = clock
        self._rates = Rates(messages_per_minute, clock)
        self._exchanges: OrderedDict[frozenset[str], _Exchange] = OrderedDict()
        # by agent: whose words led to the last that it got
        self._paths: OrderedDict[str, Path] = OrderedDict()
        self._changing = Lock()
        self.held = HeldBack()  # messages, by whom they were for

    def take(self, sender: str, recipients: Sequence[str], channel: str = "") -> None:
        """Count what one agent says to others; raises `turn_limit` or `rate_limited` where it is
        held back.
        """
        try:
            for one in filter(None, (sender, channel)):
                self._rates.take(one)
            with self._changing:
                self._take(sender, recipients, channel)
        except TerselyError as error:
            self.held.note(error, recipients)
            raise

    def rest(self, names: Iterable[str]) -> None:
        """A person has written to somebody, or to a channel, who begins anew with everybody."""
        spoken_to = frozenset(names)
        with self._changing:
            for members in [members for members in self._exchanges if members & spoken_to]:
                del self._exchanges[members]
            for name in spoken_to:
                self._paths.pop(name, None)

    def _take(self, sender: str, recipients: Sequence[str], channel: str) -> None:
        now, path = self._clock(), self._path(sender)
        counted = list(self._counted(path, sender, recipients, channel))
        for one in counted:
            exchange = self._exchange(one.members, sender, now)
            if exchange.last_sender != sender and exchange.turns >= one.most:
                raise _refusal(one, now - exchange.seconds)
        for one in counted:
            exchange = self._exchange(one.members, sender, now)
            exchange.turns += exchange.last_sender != sender
            exchange.last_sender, exchange.seconds = sender, now
        for name in recipients:
            _put(self._paths, name, path)

    def _path(self, sender: str) -> Path:
        """The agents who led to what one says, in their order, itself last."""
        led = self._paths.get(sender, ())
        after = led[led.index(sender) + 1 :] if sender in led else led
        return (*after, sender)[-MAX_CIRCLE_AGENTS:]

    def _counted(
        self, path: Path, sender: str, recipients: Sequence[str], channel: str
    ) -> Iterator[_Counted]:
        if channel:
            yield _Counted(frozenset((channel,)), self._most * max(1, len(recipients)))
            return
        for name in recipients:
            yield _Counted(frozenset((sender, name)), self._most)
            circle = path[path.index(name) :] if name in path else ()
            if len(circle) > 2:  # two are counted already
                yield _Counted(frozenset(circle), self._most)

    def _exchange(self, members: frozenset[str], sender: str, now: float) -> _Exchange:
        known = self._exchanges.get(members)
        has_rested = known is None or now - known.seconds >= TURN_REST_SECONDS
        exchange = _Exchange(sender, 0, now) if known is None or has_rested else known
        _put(self._exchanges, members, exchange)
        return exchange


def _put(counted: OrderedDict[Any, Any], key: Any, value: Any) -> None:
    """Keep something as the newest; the oldest of too many is forgotten."""
    counted[key] = value
    counted.move_to_end(key)
    if len(counted) > MAX_COUNTED_PAIRS:
        counted.popitem(last=False)


def _refusal(counted: _Counted, silent_seconds: float) -> TerselyError:
    names = sorted(counted.members)
    if len(names) == 1:
        message = f"{names[0]} has heard {counted.most:,} answers without a person: it rests"
    else:
        who = f"{', '.join(names[:-1])} and {names[-1]}"
        message = (
            f"{who} have answered each other {counted.most:,} times without a person: they rest"
        )
    wait = f"{TURN_REST_SECONDS - silent_seconds:.0f} s"
    return TerselyError(
        "turn_limit", f"{message} for {wait}", "a person who writes to one of them ends this"
    )
