"""The types of artifacts, as far as they decide how these are shown."""

from __future__ import annotations

from enum import StrEnum


class ArtifactType(StrEnum):
    """The types of artifacts."""

    TEXT = "text"
    MARKDOWN = "markdown"
    JSON = "json"
    HTML = "html"
    LOG = "log"
    TOOL_OUTPUT = "tool_output"
    EMAIL = "email"
    CODE = "code"
    BINARY = "binary"
