"""Brakes: two agents that answer each other without end are held back until a person speaks, or they rest."""

from __future__ import annotations

from collections import Counter, OrderedDict
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from threading import Lock

from tersely.foundation.clock import elapsed_seconds
from tersely.foundation.errors import TerselyError

MAX_COUNTED_PAIRS = 10_000  # of agents; the longest silent are forgotten
TURN_REST_SECONDS = 600  # without a message, after which two agents begin anew


@dataclass(slots=True)
class _Exchange:
    """What two agents say to each other."""

    last_sender: str
    turns: int
    seconds: float  # when the last was said


class Turns:
    """How often two agents have answered each other since a person wrote to one of them."""

    def __init__(self, most: int, clock: Callable[[], float] = elapsed_seconds) -> None:
        self._most = most
        self._clock = clock
        self._exchanges: OrderedDict[frozenset[str], _Exchange] = OrderedDict()
        self._changing = Lock()
        self.held: Counter[str] = Counter()  # messages that were held back, by whom they were for

    def take(self, sender: str, recipient: str) -> None:
        """Count what one agent says to another; raises `turn_limit` where it is held back."""
        with self._changing:
            pair, now = frozenset((sender, recipient)), self._clock()
            known = self._exchanges.pop(pair, None)
            has_rested = known is None or now - known.seconds >= TURN_REST_SECONDS
            exchange = _Exchange(sender, 0, now) if known is None or has_rested else known
            self._exchanges[pair] = exchange
            if len(self._exchanges) > MAX_COUNTED_PAIRS:
                self._exchanges.popitem(last=False)
            is_answer = exchange.last_sender != sender
            if is_answer and exchange.turns >= self._most:
                self.held[recipient] += 1
                raise self._refusal(sender, recipient, now - exchange.seconds)
            exchange.turns += is_answer
            exchange.last_sender, exchange.seconds = sender, now

    def rest(self, names: Iterable[str]) -> None:
        """A person has written to somebody, who begins anew with everybody."""
        spoken_to = frozenset(names)
        with self._changing:
            for pair in [pair for pair in self._exchanges if pair & spoken_to]:
                del self._exchanges[pair]

    def _refusal(self, sender: str, recipient: str, silent_seconds: float) -> TerselyError:
        message = f"{sender} and {recipient} have answered each other {self._most} times without a person: they rest"
        wait = f"{TURN_REST_SECONDS - silent_seconds:.0f} s"
        return TerselyError("turn_limit", f"{message} for {wait}", "a person who writes to one of them ends this")
