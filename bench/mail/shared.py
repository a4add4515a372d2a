"""Relays that share one database of PostgreSQL, and all that may happen to them."""

from __future__ import annotations

import random
import time
from collections import Counter
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Self

import psycopg
from tests.link import Link
from tests.own_postgres import Server

from bench.mail.relays import Killed

AWAY_SECONDS = (0.05, 0.5)  # for which a network drops, from the least to the most
_BACKENDS = "select pid from pg_stat_activity where application_name = 'tersely relay' order by pid"


class Shared:
    """Some relays, each with a home of its own and a link of its own to the one database; they run
    while this is entered, once.
    """

    def __init__(self, folder: Path, count: int, seed: int) -> None:
        self.happened: Counter[str] = Counter()
        self._chance = random.Random(seed)
        self._server = Server()
        self._links = [Link(self._server.socket) for _ in range(count)]
        self._relays = [
            Killed(folder / str(number), f"postgresql://postgres@127.0.0.1:{link.port}/postgres")
            for number, link in enumerate(self._links)
        ]
        self._harms: dict[str, Callable[[], None]] = {
            "a relay is killed": self._kill,
            "the database is killed": self._crash,
            "connections are ended": self._terminate,
            "a network drops": self._drop,
        }

    @property
    def homes(self) -> list[Path]:
        """The homes of its relays."""
        return [one.home for one in self._relays]

    def __enter__(self) -> Self:
        with ExitStack() as stack:
            stack.callback(self._end)
            for one in self._relays:
                one.up()
            stack.pop_all()
        return self

    def __exit__(self, *_: object) -> None:
        self._end()

    def harm(self) -> None:
        """Have something happen, by chance what, and have all in order again afterwards."""
        name = self._chance.choice(list(self._harms))
        self.happened[name] += 1
        self._harms[name]()

    def _end(self) -> None:
        for one in self._relays:
            one.kill()
        for link in self._links:
            link.close()
        self._server.close()

    def _kill(self) -> None:
        one = self._chance.choice(self._relays)
        one.kill()
        one.up()

    def _crash(self) -> None:
        self._server.kill()
        self._server.start()

    def _terminate(self) -> None:
        with psycopg.connect(self._server.url, autocommit=True) as connection:
            for (pid,) in connection.execute(_BACKENDS).fetchall():
                if self._chance.random() < 0.5:
                    connection.execute("select pg_terminate_backend(%s)", (pid,))

    def _drop(self) -> None:
        link = self._chance.choice(self._links)
        link.cut()
        time.sleep(self._chance.uniform(*AWAY_SECONDS))
        link.mend()
