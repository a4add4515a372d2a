"""The place of a server of the Model Context Protocol."""

from __future__ import annotations

from tersely.foundation.types import Environment, Headers, Strings, field, frozen


@frozen
class ToolServer:
    """A server of the Model Context Protocol that the user has set up: a program to start, or the
    URL of one.
    """

    command: Strings = ()
    url: str = ""
    environment: Environment = field(default_factory=dict)
    headers: Headers = field(default_factory=dict)  # of every request to the URL
    # it speaks the older form of HTTP, which answers by server-sent events
    sends_events: bool = False
