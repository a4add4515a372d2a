"""Services over HTTP: who they are, questions to them, and the figures of all for Prometheus."""

from __future__ import annotations

import asyncio
from concurrent.futures import Executor
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from tersely.doors.http.contract.services import NewQuestion
from tersely.doors.http.request_parsing import Asked
from tersely.doors.http.routes.plain import Handler
from tersely.doors.http.routes.streams import Streamed
from tersely.foundation.clock import Stopwatch
from tersely.relay.encoding import encode
from tersely.relay.relay import Relay
from tersely.relay.services.figures import CONTENT_TYPE
from tersely.relay.services.services import Question


def service_list(relay: Relay, asked: Asked) -> Any:
    """Who can be asked."""
    return {"services": [one.told() for one in relay.services.listed()]}


async def service_call(relay: Relay, asked: Asked, request: Request, pool: Executor) -> Response:
    """A question and its answer. No thread waits for it, so that slow services stop nobody."""
    question: NewQuestion = asked.body
    watch = Stopwatch()
    put = Question(question.service, question.method, encode(question.params), question.format)
    waiting = relay.services.ask(asked.agent, put, question.timeout_ms / 1000)
    result = await asyncio.wrap_future(waiting)
    told = {"service": question.service, "method": question.method, "duration_ms": int(watch.seconds() * 1000)}
    return Response(encode(told)[:-1] + b',"result":' + result + b"}", media_type="application/json")


async def metrics(relay: Relay, asked: Asked, request: Request, pool: Executor) -> Response:
    """The figures."""
    lines = await asyncio.get_running_loop().run_in_executor(pool, lambda: "".join(relay.services.text()))
    return Response(lines, media_type=CONTENT_TYPE)


HANDLERS: dict[str, Handler] = {"service_list": service_list}
STREAMED: dict[str, Streamed] = {"service_call": service_call, "metrics": metrics}
