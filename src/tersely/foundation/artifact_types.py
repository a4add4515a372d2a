"""What artifacts are, as far as it decides how they are shown."""

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
