"""The cost of the requests of a conversation beside their tokens, by its events."""

from __future__ import annotations

from tersely.agent.events import Event, ToolsDeclared, Usage
from tersely.capabilities.answers.text import counted
from tersely.foundation.types import record


@record
class Tally:
    """Figures since the session was opened here: no table keeps them."""

    declarations: int = 0  # changes of the list of functions that requests carry
    declared_tokens: int = 0  # of the list as it is now
    changed_tokens: int = 0  # evaluated again by the requests after such changes
    reevaluated_tokens: int = 0  # by all requests
    thought_tokens: int = 0
    stopped: int = 0  # requests that were stopped, whose tokens are estimated
    _has_changed: bool = False  # the list, since the last request

    def take(self, event: Event) -> None:
        """Count an event."""
        if isinstance(event, ToolsDeclared):
            self.declarations += 1
            self.declared_tokens = event.tokens
            self._has_changed = True
        elif isinstance(event, Usage):
            self.reevaluated_tokens += event.reevaluated_tokens
            self.changed_tokens += event.reevaluated_tokens if self._has_changed else 0
            self.thought_tokens += event.thought_tokens or 0
            self.stopped += event.is_estimated
            self._has_changed = False

    def lines(self) -> list[str]:
        """The lines that there are to tell."""
        told = []
        if self.declarations:
            changes = counted(self.declarations, "change")
            told.append(
                f"functions: {self.declared_tokens:,} tokens, {changes}, "
                f"{self.changed_tokens:,} tokens evaluated again for that"
            )
        if self.reevaluated_tokens:
            told.append(f"evaluated again in all: {self.reevaluated_tokens:,} tokens")
        if self.thought_tokens:
            told.append(f"thoughts: {self.thought_tokens:,} tokens of the answers")
        if self.stopped:
            told.append(f"{counted(self.stopped, 'request')} stopped, their tokens estimated")
        return told
