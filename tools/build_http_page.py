"""Write docs/http.md: every operation of the relay over HTTP, with what its request may have.

python -m tools.build_http_page
"""

from __future__ import annotations

from pathlib import Path

from tersely.capabilities.relay.contract.operations import operations

PAGE = Path(__file__).parents[1] / "docs" / "http.md"
_HEAD = """# The relay over HTTP

The relay answers at the socket `http.sock` of its home and at a TCP port of this machine. It speaks JSON.
Prefer the socket: it needs no token, and nobody else can listen there.

```sh
curl --unix-socket ~/.tersely/http.sock -H 'X-Relay-Agent: me' http://relay/threads
```

| header | meaning |
|---|---|
| `X-Relay-Agent` | who asks |
| `X-Relay-Token` | the token of a [name that is bound](messages.md#who-is-who) |
| `Authorization: Bearer` | at the port: the text of the file `token` in the home; open requests need none |
| `If-Match: "v3"` | a patch is applied to that version of a state and to no other |
| `Idempotency-Key` | a request that is repeated happens once |
| `Last-Event-ID` | a stream of events goes on behind that event |

A failure is `{"error", "code", "message", "hint"}`. Codes never change, and [errors.md](errors.md) lists them.
`/openapi.json` has every parameter and answer in detail. Made by `python -m tools.build_http_page`; a test compares it
with the program.

| request | what it does |
|---|---|
"""


def page() -> str:
    """The text of the page."""
    rows = (f"| `{one.method} {one.path}` | {one.summary} |\n" for one in operations())
    return _HEAD + "".join(rows)


if __name__ == "__main__":
    PAGE.write_text(page(), "utf-8")
