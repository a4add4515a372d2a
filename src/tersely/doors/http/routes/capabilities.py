"""Capabilities of the relay over HTTP: by paths of their own, and all of them by their names."""

from __future__ import annotations

from typing import Any

from msgspec import to_builtins

from tersely.capabilities.answers.text import Style
from tersely.capabilities.relay import asking
from tersely.capabilities.relay.context import RelayContext
from tersely.capabilities.relay.contract.operations import HttpOperation
from tersely.doors.http.request_parsing import AskedOperation
from tersely.doors.http.routes.plain import Handler
from tersely.foundation.types import without_none
from tersely.relay.relay import Relay

SAVINGS = "token.savings"


def handler_of(operation: HttpOperation) -> Handler:
    """The handler of an operation that is a capability."""

    def handler(relay: Relay, asked: AskedOperation) -> Any:
        body = {operation.body: to_builtins(asked.body)} if operation.body else asked.body or {}
        arguments = {**asked.path, **without_none(asked.query), **body}
        return asking.result_of(_context(relay, asked), operation.capability, arguments)

    return handler


def ask(relay: Relay, asked: AskedOperation) -> Any:
    """Any capability, by its name."""
    question = asked.body
    context = _context(relay, asked)
    return asking.answer(
        context, question.capability, question.arguments, Style(question.colored), question.budget
    )


def stats(relay: Relay, asked: AskedOperation) -> Any:
    """The figures of somebody, of everybody where nobody is named."""
    named = {asked.path["kind"]: asked.path["name"]} if asked.path else {}
    figures = asking.result_of(_context(relay, asked), SAVINGS, named)
    return {"scope": figures.scope, "token_savings": figures}


def _context(relay: Relay, asked: AskedOperation) -> RelayContext:
    return RelayContext(
        relay, asked.agent, asked.key, asked.expected, asked.principal, asked.is_typed,
        asked.is_of_agent, asked.token,
    )  # fmt: skip


HANDLERS: dict[str, Handler] = {"ask": ask, "stats": stats, "stats_all": stats}
