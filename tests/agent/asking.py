"""Asking a model server as any client would."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any
from urllib.request import Request, urlopen

from bench.modelserver.server import Server

ANSWER_SECONDS = 120


def asked(server: Server, path: str, body: Mapping[str, Any]) -> dict[str, Any]:
    """What a server answers to JSON, whole."""
    request = Request(
        server.url + path, json.dumps(body).encode(), {"Content-Type": "application/json"}
    )
    with urlopen(request, timeout=ANSWER_SECONDS) as answer:
        told: dict[str, Any] = json.load(answer)
    return told
