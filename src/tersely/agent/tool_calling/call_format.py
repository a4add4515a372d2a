"""The ways of asking for calls."""

from __future__ import annotations

from enum import StrEnum


class CallFormat(StrEnum):
    """The form in which calls are asked for."""

    NATIVE = "native"  # the server asks in the form that its model was trained on, and reads it
    GRAMMAR = "grammar"  # the server lets nothing through but prose and one call
    SCHEMA = "schema"  # the whole answer is JSON: what is said, and a call or null
    TEXT = "text"  # the model is told how, and read with patience
