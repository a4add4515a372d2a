"""A thread in which every field that agents can write is hostile."""

from __future__ import annotations

from itertools import cycle

from tests.doors.http.conftest import Web

from tersely.relay.store.commands import StoreBatch
from tersely.relay.store.streams import happened

# Whatever runs leaves a mark on the root of the page, so that a browser can be asked whether
# anything has.
RUN = "document.documentElement.dataset.owned=1"
PAYLOADS = (
    f"<script>{RUN}</script>",
    f'"><img src=x onerror="{RUN}">',
    f"'><svg onload='{RUN}'>",
    f"</pre></code></title><script>{RUN}</script>",
    f"javascript:{RUN}",
    '<iframe src="https://evil.example/"></iframe><base href="https://evil.example/">',
    "![x](https://evil.example/x.png) [y](javascript:alert(1))",
    "<meta http-equiv=refresh content='0;url=https://evil.example/'><style>*{display:none}</style>",
    "\x1b]8;;https://evil.example\x07link\x1b]8;;\x07 \x1b[2J",
    "abc\u202egnp.exe\u2066\u200b\u2028\U000e0041\ufeff",
    "{{7*7}} ${7*7} <%= 7*7 %> %s {0}",
    "&lt;script&gt; &amp; &#60;",
)

MESSAGE_PAGES = ("/ui/messages", "/ui/messages?with=ben", "/ui/agents", "/ui/work")


def fill(web: Web) -> str:
    """The thread, through all doors by which something gets in."""
    texts = cycle(PAYLOADS)
    everything = "\n".join(PAYLOADS)
    thread = web.thread(f"{PAYLOADS[0]} {PAYLOADS[1]}")
    lists = (
        "facts",
        "constraints",
        "open_questions",
        "decisions",
        "plan",
        "artifacts",
        "last_actions",
    )
    members = {
        "facts": "key", "constraints": "description", "open_questions": "question", "decisions": "description",
        "plan": "step", "artifacts": "ref", "last_actions": "description",
    }  # fmt: skip
    for name in lists:
        items = [
            {"id": text, members[name]: text, text: [text, {text: text}], "value": text}
            for text in PAYLOADS
        ]
        patch = [{"op": "add", "path": f"/{name}/-", "value": item} for item in items]
        assert web.ask("POST", f"/threads/{thread}/state/patch", patch).status == 200
    for kind in ("text", "markdown", "json", "html", "log", "code"):
        about = {
            "name": next(texts)[:200],
            "type": kind,
            "mime": "text/html",
            "source_refs": [next(texts)],
        }
        content = f"{kind}\n{everything}\n" * (1 if kind == "text" else 20)
        assert (
            web.ask("POST", f"/threads/{thread}/artifacts", {**about, "content": content}).status
            == 201
        )
    for text in PAYLOADS:
        call = {
            "capability": "retrieval.search",
            "thread_id": thread,
            "args": {"query": f"script {text}"},
        }
        assert web.ask("POST", "/cap/invoke", call).status == 200
        assert web.ask("POST", f"/threads/{thread}/checkpoints", {"name": text[:200]}).status == 201
    for text in PAYLOADS:
        message = {
            "to": "ben",
            "body": text,
            "thread": thread,
            "topic": text[:200],
            "data": {text: text},
            "queue": True,
        }
        assert web.ask("POST", "/messages", message).status == 201
        late = {"to": "cid", "body": everything, "thread": text[:200], "ttl_ms": 1, "queue": True}
        assert web.ask("POST", "/messages", late).status == 201
    for text in PAYLOADS:
        line = text.replace("\n", " ")[:100]
        added = {"capability": "board.add", "arguments": {"step": line, "project": "shop"}}
        assert web.ask("POST", "/ask", added).status == 200
        claimed = {
            "capability": "claim.take",
            "arguments": {"targets": [f"name:{line}"], "why": line, "project": "shop"},
        }
        assert web.ask("POST", "/ask", claimed).status == 200
    for name in ("board.add", "claim.take"):  # that break nowhere
        words = (
            {"step": "w" * 300}
            if name == "board.add"
            else {"targets": ["deep/" * 30], "why": "w" * 100}
        )
        long = {"capability": name, "arguments": {"project": "p" * 100, **words}}
        assert web.ask("POST", "/ask", long, X_Relay_Agent="a" * 64).status == 200
    web.relay.mail.expire()
    for text in PAYLOADS:  # as a bundle of somebody else's may hold it
        told = {"by": text, "capability": text, "artifact_ref": text, "ref": text, "version": text, "operations": text,
                "arguments": {text: text}, "name": text, "type": text, "size": text, text: text}  # fmt: skip
        for kind in (
            text.replace("\n", " "),
            "capability.invoked",
            "state.patch.applied",
            "artifact.created",
        ):
            web.relay.store.commit(
                StoreBatch((happened(thread, kind, told), happened(thread, kind, {"by": [text]})))
            )
    return thread


MESSAGES = 2 * len(PAYLOADS)  # one of each text, one of all of them, in turn


def pages(web: Web, thread: str, messages: int) -> list[str]:
    """Every page of the thread, those of so many messages among them."""
    versions = web.ask("GET", f"/threads/{thread}/state/history").json["versions"]
    refs = [one["ref"] for one in web.ask("GET", f"/threads/{thread}/artifacts").json["artifacts"]]
    base = f"/ui/threads/{thread}"
    return [
        "/ui/", base, f"{base}/events", f"{base}/events?before=40", f"{base}/state", f"{base}/artifacts",
        f"{base}/calls", *(f"{base}/state?version={one['version']}" for one in versions[:3]),
        *(f"{base}/artifacts/{ref}" for ref in refs[:8]), *MESSAGE_PAGES, f"{base}/messages",
        *(f"/ui/messages/{number}" for number in range(1, messages + 1)),
    ]  # fmt: skip
