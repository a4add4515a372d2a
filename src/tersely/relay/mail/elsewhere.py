"""The connected agents, here and at the other processes that share the database."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping

from tersely.relay.mail.messages import LastScreen, Presence
from tersely.relay.store.news import Here


class Everywhere(Presence):
    """The presence of everybody. Nobody takes anything at once: another process may have written
    something for them before.
    """

    def __init__(self, here: Presence, others: Callable[[], Mapping[str, Here]]) -> None:
        self._here = here
        self._others = others

    def connected(self) -> Collection[str]:
        """Everybody who is connected anywhere."""
        return {*self._here.connected(), *self._others()}

    def activity(self, name: str) -> str:
        """The activity that somebody tells of themselves, "" where they say nothing."""
        other = self._others().get(name)
        return self._here.activity(name) or (other.activity if other else "")

    def screen(self, name: str) -> LastScreen | None:
        """The last screen of somebody that this process has heard of: others keep theirs to
        themselves.
        """
        return self._here.screen(name)

    def live(self, topic: str) -> Iterable[str]:
        """The agents and users that are connected, those alone that subscribe to the topic if there
        is one.
        """
        others = self._others().items()
        elsewhere = {
            name
            for name, one in others
            if one.kind != "service" and (not topic or topic in one.topics)
        }
        return [*self._here.live(topic), *sorted(elsewhere)]
