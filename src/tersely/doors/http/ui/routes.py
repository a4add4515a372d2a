"""The routes of the pages, signing in, and what is sent with all of them."""

from __future__ import annotations

import asyncio
import logging
import re
import secrets
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterable
from concurrent.futures import Executor
from functools import partial
from hashlib import sha256
from importlib.resources import files
from typing import Any
from urllib.parse import parse_qsl

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import RedirectResponse, Response, StreamingResponse
from starlette.routing import BaseRoute, Mount, Route

from tersely.capabilities.relay.asking import result_of
from tersely.capabilities.relay.context import PERSON, RelayContext
from tersely.doors.http.failures import status_of
from tersely.doors.http.request_parsing import AskedOperation
from tersely.doors.http.routes.streams import MAX_EVENT_STREAMS, artifact_content
from tersely.doors.http.ui.entry import BrowserSession, PagesEntry
from tersely.doors.http.ui.pages.agents import agent_page, agents_page
from tersely.doors.http.ui.pages.messages import message_page, messages_page, thread_messages_page
from tersely.doors.http.ui.pages.now import now_page
from tersely.doors.http.ui.pages.of_thread.artifacts import artifact_page, artifacts_page, image
from tersely.doors.http.ui.pages.of_thread.calls import calls_page
from tersely.doors.http.ui.pages.of_thread.events import events_page
from tersely.doors.http.ui.pages.of_thread.state import state_page
from tersely.doors.http.ui.pages.of_thread.thread import thread_page
from tersely.doors.http.ui.pages.services import services_page
from tersely.doors.http.ui.pages.threads import threads_page
from tersely.doors.http.ui.pages.work import work_page
from tersely.doors.http.ui.rendering import (
    MAX_UI_ANSWER_CHARACTERS,
    FormOrigin,
    ShownPage,
    Visit,
    document,
)
from tersely.foundation.activity import ALLOW
from tersely.foundation.clock import Stopwatch
from tersely.foundation.errors import TerselyError
from tersely.relay.encoding import encode
from tersely.relay.relay import Relay

# a character outside of ASCII is up to twelve
MAX_UI_FORM_BYTES = 12 * MAX_UI_ANSWER_CHARACTERS + 8_000
MAX_UI_QUERY_CHARACTERS = 2_000  # of one parameter
LIVE_LOOK_SECONDS = 1.0  # after which a page that somebody looks at is made again
# so many times as long as it takes to make all that are looked at, none is made again
LIVE_REST_FACTOR = 20
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
)
HEADERS = {
    "content-security-policy": POLICY,
    "x-frame-options": "DENY",
    "cross-origin-opener-policy": "same-origin",
    # A form that is sent without any referrer has no origin either, and could not be told from
    # another page's.
    "referrer-policy": "same-origin",
}
_KINDS = {
    "css": "text/css; charset=utf-8",
    "js": "text/javascript; charset=utf-8",
    "svg": "image/svg+xml",
}
# where one may go on to after a form
_PLACE = re.compile(r"/ui/[A-Za-z0-9/_.-]*(\?[A-Za-z0-9&=%+_.~-]*)?")
_EVENTS = "text/event-stream"
_FORM_KEY_BYTES = 16
_LOG = logging.getLogger("tersely.doors.http")

Page = Callable[[Visit], ShownPage]
Endpoint = Callable[[Request], Awaitable[Response]]

_PAGES: dict[str, Page] = {
    "/": now_page,
    "/threads": threads_page,
    "/messages": messages_page,
    "/messages/{number}": message_page,
    "/agents": agents_page,
    "/agent": agent_page,
    "/work": work_page,
    "/services": services_page,
    "/threads/{thread_id}": thread_page,
    "/threads/{thread_id}/events": events_page,
    "/threads/{thread_id}/state": state_page,
    "/threads/{thread_id}/artifacts": artifacts_page,
    "/threads/{thread_id}/artifacts/{ref}": artifact_page,
    "/threads/{thread_id}/calls": calls_page,
    "/threads/{thread_id}/messages": thread_messages_page,
}


class Pages:
    """The pages of one relay."""

    def __init__(self, relay: Relay, entry: PagesEntry, pool: Executor) -> None:
        self._relay = relay
        self._entry = entry
        self._pool = pool
        self._static = dict(_static_files())

    def routes(self) -> list[BaseRoute]:
        """Everything below `/ui`."""
        routes = [Route(path, self._page(page), methods=["GET"]) for path, page in _PAGES.items()]
        artifact = "/threads/{thread_id}/artifacts/{ref}"
        routes += [
            Route(f"{artifact}/content", self._artifact_content, methods=["GET"]),
            Route(f"{artifact}/image", self._artifact_image, methods=["GET"]),
            Route("/static/{name}", self._static_file, methods=["GET"]),
            Route("/login", self._login_page, methods=["GET"]),
            Route("/login", self._login, methods=["POST"]),
            Route("/logout", self._logout, methods=["POST"]),
            Route("/permissions/{id}", self._answer_permission, methods=["POST"]),
            Route("/messages", self._send, methods=["POST"]),
        ]
        failing = {
            TerselyError: self._failed,
            HTTPException: self._unrouted,
            Exception: self._defect,
        }
        app = Starlette(routes=routes, exception_handlers=failing)  # type: ignore[arg-type]
        app.state.event_streams = 0
        app.router.redirect_slashes = False

        async def home(request: Request) -> Response:
            return RedirectResponse("/ui/", 307, HEADERS)

        return [Route("/ui", home, methods=["GET"]), Mount("/ui", app)]

    def refusal(self, error: TerselyError) -> tuple[dict[str, str], bytes]:
        """The headers and the page for a browser that may not see another: the page says why."""
        return {**HEADERS, "content-type": "text/html; charset=utf-8"}, document(
            _failure(error), None
        ).encode()

    # Pages

    def _page(self, page: Page) -> Endpoint:
        async def answering(request: Request) -> Response:
            visit = Visit(self._relay, request.path_params, _query(request))
            form = FormOrigin(_address(request), secrets.token_urlsafe(_FORM_KEY_BYTES))

            def made() -> tuple[ShownPage, str]:
                shown = page(visit)
                return shown, document(shown, self._session(request), form)

            if _EVENTS in request.headers.get("accept", ""):
                return self._live(request, made)
            _, text = await self._in_pool(made)
            return _html(text)

        return answering

    def _live(self, request: Request, made: Callable[[], tuple[ShownPage, str]]) -> Response:
        """A page whenever it is another, for as long as somebody looks and is signed in; raises
        `busy`.
        """
        state = request.app.state
        if state.event_streams >= MAX_EVENT_STREAMS:
            raise TerselyError("busy", f"{MAX_EVENT_STREAMS} pages are looked at", "close one")
        return StreamingResponse(self._changes(request, made), headers=HEADERS, media_type=_EVENTS)

    async def _changes(
        self, request: Request, made: Callable[[], tuple[ShownPage, str]]
    ) -> AsyncGenerator[bytes, None]:
        state, before = request.app.state, ""
        state.event_streams += 1
        try:
            while self._session(request) is not None:
                watch = Stopwatch()
                shown, text = await self._in_pool(made)
                yield b": still here\n\n" if text == before else b"data: %s\n\n" % encode(text)
                before = text
                if not shown.is_live:
                    return
                rest_seconds = LIVE_REST_FACTOR * watch.seconds() * state.event_streams
                await asyncio.sleep(max(LIVE_LOOK_SECONDS, rest_seconds))
        except TerselyError:  # what the page shows is there no longer
            return
        finally:
            state.event_streams -= 1

    async def _in_pool(self, work: Callable[[], Any]) -> Any:
        return await asyncio.get_running_loop().run_in_executor(self._pool, work)

    def _shown(
        self, shown: ShownPage, session: BrowserSession | None, status: int = 200
    ) -> Response:
        return _html(document(shown, session), status)

    def _session(self, request: Request) -> BrowserSession | None:
        return self._entry.session(_cookies(request))

    # What is not a page

    async def _artifact_content(self, request: Request) -> Response:
        path = {"thread": request.path_params["thread_id"], "ref": request.path_params["ref"]}
        return await artifact_content(
            self._relay, AskedOperation(path, {}, None, ""), request, self._pool
        )

    async def _artifact_image(self, request: Request) -> Response:
        visit = Visit(self._relay, request.path_params, {})
        content, kind = await self._in_pool(partial(image, visit))
        return Response(
            content, headers={**HEADERS, "content-security-policy": "sandbox"}, media_type=kind
        )

    async def _static_file(self, request: Request) -> Response:
        name = request.path_params["name"]
        if name not in self._static:
            raise HTTPException(404)
        return Response(
            self._static[name], headers=HEADERS, media_type=_KINDS[name.rpartition(".")[2]]
        )

    # Signing in and out

    async def _login_page(self, request: Request) -> Response:
        """A form that shows the ticket. To look at an address must not use it up, and browsers look
        ahead.
        """
        query = _query(request)
        values = {"ticket": query.get("ticket", ""), "next": _place(query.get("next", ""))}
        return self._shown(ShownPage("Sign in", "login.html", values, is_live=False), None)

    async def _login(self, request: Request) -> Response:
        form = await _form(request)
        secret = self._entry.sign_in(form.get("ticket", ""))
        cookie = {"set-cookie": self._entry.cookie_header(secret)}
        return RedirectResponse(_place(form.get("next", "")), 303, {**HEADERS, **cookie})

    async def _logout(self, request: Request) -> Response:
        session, _ = await self._own_form(request)
        self._entry.sign_out(session)
        cookie = {"set-cookie": self._entry.cookie_header("")}
        return RedirectResponse("/ui/login", 303, {**HEADERS, **cookie})

    async def _own_form(self, request: Request) -> tuple[BrowserSession, dict[str, str]]:
        """The fields of a form of a page that this browser was sent; raises `forbidden_origin`."""
        form = await _form(request)
        session = self._session(request)
        if session is None or not _is_same(form.get("form_token", ""), session.form_token):
            raise _not_of_page()
        return session, form

    async def _form_of_person(self, request: Request) -> tuple[BrowserSession, dict[str, str]]:
        """The same for what the person alone may do; raises `not_permitted` too."""
        session, form = await self._own_form(request)
        if not session.may_answer:
            hint = "`tersely relay open`, typed by you at a terminal, opens pages that may"
            raise TerselyError(
                "not_permitted", "this browser was not signed in by a person at a terminal", hint
            )
        return session, form

    # What the person decides and says

    async def _answer_permission(self, request: Request) -> Response:
        _, form = await self._form_of_person(request)
        self._relay.permissions.answer(
            request.path_params["id"], allows=form.get("answer") == ALLOW
        )
        return _back(form)

    async def _send(self, request: Request) -> Response:
        _, form = await self._form_of_person(request)
        said = {name: form.get(name, "") for name in ("to", "body", "thread", "reply_to")}
        if not said["body"].strip():
            raise TerselyError(
                "invalid_argument", "there is nothing to send", "write something and send it again"
            )
        said["id"] = _message_id(form, said)
        await self._in_pool(
            partial(result_of, RelayContext(self._relay, PERSON), "mail.send", said)
        )
        return _back(form)

    # What goes wrong

    async def _failed(self, request: Request, error: TerselyError) -> Response:
        return self._shown(_failure(error), self._session(request), status_of(error.code))

    async def _unrouted(self, request: Request, error: HTTPException) -> Response:
        code = "method_not_allowed" if error.status_code == 405 else "no_route"
        told = TerselyError(code, "There is no such page.")
        return self._shown(_failure(told), self._session(request), error.status_code)

    async def _defect(self, request: Request, error: Exception) -> Response:
        _LOG.error("%s %s", request.method, request.url.path, exc_info=error)
        told = TerselyError(
            "internal_error", f"{type(error).__name__}: a defect in Tersely", "the log has more"
        )
        return self._shown(_failure(told), self._session(request), 500)


def _failure(error: TerselyError) -> ShownPage:
    title = {"unauthorized": "Sign in first", "no_route": "Not found"}.get(
        error.code, "This did not work"
    )
    hint = error.hint or "Go back to the first page."
    if error.code == "unauthorized" and "ticket" not in error.message:
        hint = "`tersely relay open THREAD` opens a page that signs this browser in."
    return ShownPage(title, "failure.html", {"error": error, "hint": hint}, is_live=False)


def _message_id(form: dict[str, str], said: dict[str, str]) -> str:
    """The same for a form that is sent twice as it is; raises `forbidden_origin` for one without
    its page's key.
    """
    key = form.get("form_key", "")
    if not key:
        raise _not_of_page()
    return sha256(encode([key, *said.values()])).hexdigest()


def _not_of_page() -> TerselyError:
    return TerselyError(
        "forbidden_origin", "this form is not of a page of yours", "reload the page and try again"
    )


def _html(text: str, status: int = 200) -> Response:
    return Response(text, status, HEADERS, "text/html; charset=utf-8")


def _back(form: dict[str, str]) -> Response:
    """To the page that a form was on."""
    return RedirectResponse(_place(form.get("next", "")), 303, HEADERS)


def _address(request: Request) -> str:
    """The address that was asked for, as a form may lead back to it."""
    query = request.url.query
    return request.url.path + (f"?{query}" if query else "")


def _place(text: str) -> str:
    return text if _PLACE.fullmatch(text) and "//" not in text and ".." not in text else "/ui/"


def _query(request: Request) -> dict[str, str]:
    return {
        name: value
        for name, value in request.query_params.items()
        if len(value) <= MAX_UI_QUERY_CHARACTERS
    }


def _cookies(request: Request) -> str:
    return "; ".join(request.headers.getlist("cookie"))


async def _form(request: Request) -> dict[str, str]:
    """The fields of a form that a page of ours has sent; raises `forbidden_origin`,
    `malformed_request`.
    """
    if "origin" not in request.headers:  # which the guard has compared
        raise TerselyError("forbidden_origin", "a form says which page it comes from")
    held = bytearray()
    try:
        async for chunk in request.stream():
            held += chunk
            if len(held) > MAX_UI_FORM_BYTES:
                raise TerselyError(
                    "payload_too_large", f"a form has at most {MAX_UI_FORM_BYTES:,} bytes"
                )
    except ClientDisconnect:
        raise TerselyError("malformed_request", "the request ended before its body did") from None
    try:
        return dict(parse_qsl(held.decode("ascii"), max_num_fields=16))
    except (UnicodeDecodeError, ValueError):
        raise TerselyError("malformed_request", "the body is not a form") from None


def _is_same(shown: str, known: str) -> bool:
    from hmac import compare_digest

    return compare_digest(shown.encode(), known.encode())


def _static_files() -> Iterable[tuple[str, bytes]]:
    for file in (files("tersely.doors.http.ui") / "static").iterdir():
        if file.name.rpartition(".")[2] in _KINDS:
            yield file.name, file.read_bytes()
