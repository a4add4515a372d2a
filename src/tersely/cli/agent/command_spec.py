"""The words of `chat` and `sessions`."""

from __future__ import annotations

from enum import StrEnum

from tersely.capabilities.declaration.declaration import Role, option, positional
from tersely.foundation.types import Strings, frozen

STANDARD_INPUT = "-"
LAST = "last"
HIGHEST_TIER = 3


class OutputFormat(StrEnum):
    """The form of an answer without a screen."""

    TEXT = "text"  # what the model says, as it says it
    JSON = "json"  # one object at the end
    STREAM_JSON = "stream-json"  # one object an event, a line each


class ServerKind(StrEnum):
    """The protocol that a server speaks."""

    AUTO = "auto"
    OPENAI = "openai"
    ANTHROPIC = "anthropic"
    OLLAMA = "ollama"


@frozen
class ChatParameters:
    """The options of a talk with the agent."""

    prompt: str | None = option(
        None, "answer this without a screen; `-`, or no text, reads standard input", role=Role.CONTENT,
        bare=STANDARD_INPUT,
    )  # fmt: skip
    output_format: OutputFormat = option(
        OutputFormat.TEXT, "how to print what is answered without a screen"
    )
    url: str = option(
        "",
        "where the model is served (default: TERSELY_CHAT_URL, else where servers usually listen)",
    )
    model: str = option("", "which of its models (default: TERSELY_CHAT_MODEL, else the first)")
    kind: ServerKind = option(ServerKind.AUTO, "what the server speaks")
    window: int = option(
        0, "tokens of context: what Ollama loads a model with, or fewer than another has", minimum=0
    )
    resume: str = option("", "go on with a session: an id, a name, or the last one here", bare=LAST)
    continue_: bool = option(False, "go on with the last session of this repository")
    fork: bool = option(False, "go on in a copy of the session, which stays as it is")
    keep_session: bool = option(
        False, "without a screen: keep the new session, so that --continue goes on with it"
    )
    session_tokens: int = option(
        0, "tokens that all requests of the session may use together (default: TERSELY_CHAT_SESSION_TOKENS, else any)",
        minimum=0, metavar="N",
    )  # fmt: skip
    allow: int = option(
        0, "allow the tools up to this tier without asking: 1 edits, 2 runs programs, 3 the web", minimum=0,
        maximum=HIGHEST_TIER,
    )  # fmt: skip
    deny: int = option(
        HIGHEST_TIER + 1, "deny the tools from this tier on", minimum=1, maximum=HIGHEST_TIER + 1
    )
    retrieval: bool = option(True, "put code that a message is about in front of it")
    code_context: bool = option(
        True, "know symbols: without it tools read files and find text alone, for comparisons"
    )


class SessionVerb(StrEnum):
    """The verbs for sessions."""

    LIST = "list"
    SHOW = "show"
    RESUME = "resume"
    FORK = "fork"
    REWIND = "rewind"
    RENAME = "rename"
    DELETE = "delete"
    EXPORT = "export"
    STATS = "stats"


class ExportFormat(StrEnum):
    """The form of an exported session."""

    MARKDOWN = "markdown"
    JSON = "json"


@frozen
class SessionParameters:
    """The session that is meant, and what to do with it."""

    verb: SessionVerb = positional("what to do", metavar="VERB", default=SessionVerb.LIST)
    session: str = positional("an id, its end, a name, or `last`", metavar="SESSION", default="")
    value: Strings = positional(
        "a name for rename and fork, a turn for rewind", metavar="VALUE", default=()
    )
    format: ExportFormat = option(ExportFormat.MARKDOWN, "how to export")
