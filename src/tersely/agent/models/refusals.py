"""The meaning of a server's refusal: another attempt, another way of calling, another parameter, or
an error.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from tersely.agent.models.protocol import Constraint, Prompt
from tersely.agent.models.retries import (
    DEFECT_STATUS,
    MAX_DEFECT_ATTEMPTS,
    RETRIED_STATUSES,
    TransientError,
    seconds_to_wait,
)
from tersely.agent.models.wire import Endpoint, WholeReply
from tersely.foundation.errors import TerselyError
from tersely.foundation.limits import MAX_MODEL_ERROR_CHARACTERS

_NOT_FOUND = 404
_KEY_STATUSES = {401, 403}
# statuses of servers that do not know a part of a request
_ABOUT_THE_REQUEST = {400, 404, 422, 500, 501}
_PARAMETER_STATUSES = {400, 422}
# What servers say when a prompt is too long: llama.cpp, vLLM and OpenAI, LM Studio, Ollama,
# Anthropic.
_TOO_LONG = (
    "exceed_context_size", "exceeds the available context", "context_length_exceeded", "maximum context length",
    "context length exceeded", "exceeds the context", "input length exceeds", "prompt is too long",
    "greater than the context length", "context window", "exceed context limit",
)  # fmt: skip
# Kinds of errors that servers report instead of a status, in a stream or beside another status.
_TRANSIENT_KINDS = {
    "overloaded_error", "rate_limit_error", "api_error", "timeout_error", "server_error", "rate_limit_exceeded",
    "server_is_overloaded", "slow_down", *map(str, RETRIED_STATUSES),
}  # fmt: skip
# refusals that time does not mend
_NOT_RETRIED = ("insufficient_quota", "credit balance", "billing")
_WORDS_OF_ABILITY = {
    "grammar": ("grammar",),
    "schema": (
        "response_format",
        "json_schema",
        "schema",
        "structured output",
        "output_config",
    ),
    "tools": ("tool", "function"),
}
_WORDS_OF_PICTURES = ("image", "multimodal", "multi-modal", "vision")
_UNSUPPORTED = (
    "not support", "unsupported", "no support", "support tool use", "requires", "not available", "not enabled",
    "not implemented", "not permitted", "not allowed", "unknown", "unrecognized", "invalid schema", "failed to parse",
    "failed to initialize",
)  # fmt: skip
_PAGE = re.compile(
    r"\s*(?:<!--.*?-->\s*)*<(?:!doctype\s+html|html|head|body)\b", re.IGNORECASE | re.DOTALL
)
_OUTPUT_LIMIT = re.compile(r"max_(?:completion_|output_)?tokens|completion tokens|output tokens")
_LEAST_OUTPUT_TOKENS = 64  # a smaller figure in a refusal is no limit


def refusal_error(place: Endpoint, model: str, reply: WholeReply) -> TerselyError:
    """The error that an answer with another status than 200 is."""
    is_page = is_web_page(reply.text)
    if is_page and reply.status == _NOT_FOUND:
        return not_a_model_server(place)
    said = "a web page" if is_page else " ".join(reply.text.split())
    words = reason_of(reply.body) or said or "without a word"
    message = f"{place.url} refused: {words[:MAX_MODEL_ERROR_CHARACTERS]} (status {reply.status})"
    if is_too_long(reply.text):
        hint = "start a new session, compact this one, or serve a larger window"
        return TerselyError("window_exceeded", message, hint)
    if _is_transient(reply):
        hint = "wait until the model is loaded, or has room again"
        return TransientError("model_unavailable", message, hint, seconds_to_wait(reply.headers))
    if reply.status == DEFECT_STATUS and _may_be_retried(reply):
        return TransientError("model_failed", message, attempts=MAX_DEFECT_ATTEMPTS)
    if reply.status in _KEY_STATUSES:
        return TerselyError("model_unavailable", message, "the server wants another key")
    if reply.status == _NOT_FOUND:
        return TerselyError(
            "model_unavailable", message, f"does it have the model {model!r}?" if model else ""
        )
    return TerselyError("model_failed", message)


def _is_transient(reply: WholeReply) -> bool:
    is_for_a_time = (
        reply.status in RETRIED_STATUSES or reply.headers.get("x-should-retry") == "true"
    )
    return is_for_a_time and _may_be_retried(reply)


def _may_be_retried(reply: WholeReply) -> bool:
    says_no = reply.headers.get("x-should-retry") == "false"
    return not says_no and not any(words in reply.text.lower() for words in _NOT_RETRIED)


def is_web_page(text: str) -> bool:
    """True if an answer is HTML: somebody else listens there, or a proxy in front of the server."""
    return _PAGE.match(text) is not None


def not_a_model_server(place: Endpoint) -> TerselyError:
    """The error of an address where web pages are served."""
    return TerselyError(
        "model_unavailable",
        f"{place.url} is not a model server: it answers with a web page",
        "is it the right port and path?",
    )


def stream_error(place: Endpoint, error: Any, data: str) -> TerselyError:
    """The error that a stream reports: as a text, or as an object with a kind, a code and a
    message.
    """
    words = reason_of({"error": error}) or repr(data[:MAX_MODEL_ERROR_CHARACTERS])
    message = f"{place.url} broke off: {words[:MAX_MODEL_ERROR_CHARACTERS]}"
    if is_too_long(data):
        return TerselyError("window_exceeded", message)
    kinds = {str(error.get("type")), str(error.get("code"))} if isinstance(error, dict) else set()
    is_final = any(words in data.lower() for words in _NOT_RETRIED)
    if kinds & _TRANSIENT_KINDS and not is_final:
        return TransientError("model_failed", message)
    return TerselyError("model_failed", message)


def cut_error(place: Endpoint) -> TransientError:
    """The error of a stream that ended before the answer did."""
    return TransientError("model_failed", f"{place.url} broke off in the middle of its answer")


def ability_in_refusal(constraint: Constraint | None, reply: WholeReply) -> str:
    """The way of calling that a refusal is about (grammar, schema or tools), "" where it is about
    something else.
    """
    ability = ability_of(constraint)
    if not ability or reply.status not in _ABOUT_THE_REQUEST or is_too_long(reply.text):
        return ""
    words, text = _WORDS_OF_ABILITY[ability], reply.text.lower()
    if _parameter(reply.body).startswith(words):
        return ability
    is_about_it = any(word in text for word in words) and any(word in text for word in _UNSUPPORTED)
    return ability if is_about_it else ""


def refuses_pictures(prompt: Prompt, reply: WholeReply) -> bool:
    """True if a refusal is about the pictures of a prompt."""
    if reply.status not in _ABOUT_THE_REQUEST or is_too_long(reply.text):
        return False
    has_pictures = any(message.pictures for message in prompt)
    return has_pictures and any(word in reply.text.lower() for word in _WORDS_OF_PICTURES)


def ability_of(constraint: Constraint | None) -> str:
    """The name of the ability that a constraint makes use of."""
    if constraint is None:
        return ""
    if constraint.grammar:
        return "grammar"
    if constraint.schema is not None:
        return "schema"
    return "tools" if constraint.tools else ""


def parameter_in_refusal(candidates: Mapping[str, str], reply: WholeReply) -> str:
    """The parameter that a refusal names, "" for none.

    `candidates` has what can be left out or sent otherwise: by the words that a refusal uses, what
    is remembered of it.
    """
    if reply.status not in _PARAMETER_STATUSES:
        return ""
    text = f"{reason_of(reply.body)} {reply.text}"
    for words, name in candidates.items():
        if re.search(rf"(?<![\w.]){re.escape(words)}(?!\w)", text):
            return name
    return ""


def output_limit(asked: int, reply: WholeReply) -> int:
    """The most tokens of an answer by a refusal that says them, 0 where it does not."""
    text = reason_of(reply.body)
    if reply.status not in _PARAMETER_STATUSES or not _OUTPUT_LIMIT.search(text):
        return 0
    figures = (int(each.replace(",", "")) for each in re.findall(r"\d[\d,]{1,11}", text))
    return max((each for each in figures if _LEAST_OUTPUT_TOKENS <= each < asked), default=0)


def reason_of(body: Any) -> str:
    """The reason that an answer states: `error` is a text, or an object with a `message`; "" where
    it says nothing.
    """
    error = body.get("error") if isinstance(body, dict) else None
    if isinstance(error, dict):
        error = error.get("message")
    return " ".join(error.split()) if isinstance(error, str) else ""


def _parameter(body: Any) -> str:
    error = body.get("error") if isinstance(body, dict) else None
    return str(error.get("param") or "") if isinstance(error, dict) else ""


def is_too_long(text: str) -> bool:
    """True if a refusal is about the length of the prompt."""
    lowered = text.lower()
    return any(words in lowered for words in _TOO_LONG)
