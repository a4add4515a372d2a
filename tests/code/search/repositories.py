"""Small repositories on disk, and questions asked of them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from tersely.code.engine import Engine
from tersely.code.search.searcher import Filters, RankedHits

FILES: Mapping[str, str] = {
    "shop/tokens.py": '''"""Tokens."""

ALGORITHM = "HS256"


class TokenStore:
    """Keeps issued tokens."""

    def validate(self, token):
        """Whether a token was issued and has not expired."""
        return token in self.issued and not self.expired(token)

    def expired(self, token):
        return self.clock() > token.deadline


def issue_token(user):
    """Sign a fresh token for somebody who has logged in."""
    return sign(user.name, ALGORITHM)
''',
    "shop/mail.py": '''def send_receipt(order, address):
    """E-mail the receipt of an order to the customer."""
    connection = open_connection("smtp")
    connection.send("Content-Type: text/plain", order.total, address)


def retry(action, times=3):
    def attempt():
        backoff = times
        return action(backoff)

    return attempt
''',
    "shop/web/session.ts": """export class HttpSession {
  /** Reads the cookie header of a request. */
  readCookie(header: string): string {
    return header.split(";")[0];
  }
}
""",
    "tests/test_tokens.py": """from shop.tokens import TokenStore


def test_validate_token_expired():
    assert not TokenStore().validate("validate token expired")
""",
}


def lay(root: Path, files: Mapping[str, str]) -> None:
    """Make the files of a repository exactly these."""
    for path in root.rglob("*"):
        if (
            path.is_file()
            and ".tersely" not in path.parts
            and str(path.relative_to(root)) not in files
        ):
            path.unlink()
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text, "utf-8")


def found(root: Path, question: str, filters: Filters = Filters(), limit: int = 10) -> RankedHits:  # noqa: B008
    """What a process that has just started finds."""
    with Engine.open(root) as engine:
        engine.refresh()
        return engine.search.find(question, filters, limit)


def ids(answer: RankedHits) -> list[str]:
    """The ids of the hits in order."""
    return [hit.symbol.id for hit in answer.hits]
