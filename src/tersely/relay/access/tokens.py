"""The tokens of all identities, and the codes that machines join with. Only hashes are kept.

What happened to each is an entry of a stream in the relay's own store; the present ones are in
memory, made from it. Whatever process writes to the stream, every process that reads it knows at
once, and tells who listens.
"""

from __future__ import annotations

import re
import secrets
from collections.abc import Callable
from hashlib import sha256
from threading import Lock

import msgspec

from tersely.foundation.errors import TerselyError
from tersely.foundation.types import Strings, frozen
from tersely.relay.access.principals import LOCAL, WRITER, Principal, PrincipalKind, Scopes
from tersely.relay.encoding import encode
from tersely.relay.mail.identities import check_misleading
from tersely.relay.store.commands import Append, StoreBatch
from tersely.relay.store.store import TENANT_NAME, Store, paged

STREAM = "access/tokens"
CODE_SECONDS = 15 * 60  # in which a code has to be used
MAX_TOKENS = 10_000  # that are in force
MAX_WRONG_CODES = 20  # within `CODE_SECONDS`, beyond which whoever shows another is told to wait
NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._-]{0,31}")
_ISSUED, _USED, _ROTATED, _REVOKED = "token.issued", "code.used", "token.rotated", "token.revoked"
_TOKEN_BYTES = 32
_CODE_CHARACTERS, _CODE_GROUP = 20, 5
_LETTERS = "ABCDEFGHJKLMNPQRSTUVWXYZ23456789"  # that nobody takes for one another
_UNKNOWN = "the token is unknown, expired or revoked"


class IdentityToken(msgspec.Struct, frozen=True, omit_defaults=True):
    """The record of a token, or of a code that becomes one."""

    id: str
    identity: str
    kind: PrincipalKind
    digest: str  # SHA-256 of the secret, in hexadecimal
    created_ms: int
    tenant: str = LOCAL
    scopes: Scopes = WRITER
    expires_ms: int | None = None
    code_until_ms: int | None = None  # of a code: until when it may be used
    machine: str = ""  # that joined with it

    def principal(self) -> Principal:
        """The principal that it stands for."""
        return Principal(
            self.identity, self.kind, self.tenant, self.scopes, self.id, self.expires_ms
        )


class _TokenChange(msgspec.Struct, omit_defaults=True):
    """An entry of the stream."""

    token: IdentityToken | None = None  # that is in force from now on
    ended: Strings = ()  # ids of those that are no longer


@frozen
class Grant:
    """The identity and the reach that a new token is to have."""

    identity: str
    kind: PrincipalKind = PrincipalKind.PERSON
    tenant: str = LOCAL
    scopes: Scopes = WRITER
    lasts_ms: int | None = None  # None: until it is revoked


def tenants(store: Store) -> set[str]:
    """All who were ever given a token, but for the owner of the relay."""
    entries = paged(store.entries, STREAM)
    changes = (msgspec.json.decode(one.body, type=_TokenChange) for one in entries)
    return {one.token.tenant for one in changes if one.token is not None} - {LOCAL}


class Tokens:
    """Those in force. May be used from any thread; close it before its store."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._read = 0  # the last entry that is known
        self._known: dict[str, IdentityToken] = {}
        self._by_digest: dict[str, str] = {}
        self._wrong_ms: list[int] = []  # when codes were shown that are none
        self._changing = Lock()
        self._on_end: tuple[Callable[[str], None], ...] = ()
        self._follow()
        self._forget = store.watch(self._grown)

    def close(self) -> None:
        """Listen to the store no longer."""
        self._forget()

    def on_end(self, ended: Callable[[str], None]) -> None:
        """Have a function called, on any thread, with the id of each token that is revoked or
        rotated.
        """
        self._on_end = (*self._on_end, ended)

    def known(self) -> list[IdentityToken]:
        """All that are in force, by identity."""
        found = [one for one in self._known.values() if self._holds(one)]
        return sorted(found, key=lambda one: (one.tenant, one.identity, one.created_ms))

    def principal(self, secret: str) -> Principal:
        """The principal that a secret stands for; raises `unauthorized`."""
        token = self._of_secret(secret)
        if token is None or token.code_until_ms is not None or not self._holds(token):
            raise TerselyError("unauthorized", _UNKNOWN, "ask whoever runs the relay for another")
        return token.principal()

    def is_ended(self, token_id: str) -> bool:
        """True if a token is in force no longer."""
        token = self._known.get(token_id)
        return token is None or not self._holds(token)

    def issue(self, grant: Grant) -> tuple[IdentityToken, str]:
        """A token and its secret, which is nowhere else; raises `invalid_argument` or `busy`."""
        secret = secrets.token_urlsafe(_TOKEN_BYTES)
        return self._issue(grant, secret, None), secret

    def issue_code(self, grant: Grant) -> tuple[IdentityToken, str]:
        """A code that a machine joins with, once and soon."""
        letters = "".join(secrets.choice(_LETTERS) for _ in range(_CODE_CHARACTERS))
        until_ms = self._store.now_ms() + CODE_SECONDS * 1000
        return self._issue(grant, letters, until_ms), _grouped(letters)

    def exchange(self, code: str, machine: str) -> tuple[IdentityToken, str]:
        """The token and its secret for a code, which is used up; raises `unauthorized` or
        `rate_limited`.
        """
        token = self._by_code(code)
        secret = secrets.token_urlsafe(_TOKEN_BYTES)
        now_ms = self._store.now_ms()
        lasts_ms = None if token.expires_ms is None else token.expires_ms - token.created_ms
        made = msgspec.structs.replace(
            token, id=_new_id(), digest=digest_of(secret), machine=machine, created_ms=now_ms, code_until_ms=None,
            expires_ms=None if lasts_ms is None else now_ms + lasts_ms,
        )  # fmt: skip
        entry = Append(STREAM, _USED, encode(_TokenChange(made, (token.id,))))
        done = self._store.commit(StoreBatch((entry,), f"code/{token.id}", token.digest.encode()))
        if done.is_repetition:
            raise _no_code()
        self._follow()
        return made, secret

    def rotate(self, token_id: str) -> tuple[IdentityToken, str]:
        """A token with a new secret: the one before opens nothing any more; raises
        `token_not_found`.
        """
        token = self._one(token_id)
        secret = secrets.token_urlsafe(_TOKEN_BYTES)
        now_ms = self._store.now_ms()
        made = msgspec.structs.replace(
            token, id=_new_id(), digest=digest_of(secret), created_ms=now_ms
        )
        self._write(_ROTATED, _TokenChange(made, (token.id,)))
        return made, secret

    def revoke(self, meant: str) -> list[IdentityToken]:
        """End a token, or all of an identity; those that were ended. Raises `token_not_found`."""
        self._follow()
        ended = [one for one in self._known.values() if meant in {one.id, one.identity}]
        if not ended:
            raise _no_token(meant)
        self._write(_REVOKED, _TokenChange(ended=tuple(one.id for one in ended)))
        return ended

    def _issue(self, grant: Grant, secret: str, code_until_ms: int | None) -> IdentityToken:
        if not NAME.fullmatch(grant.identity):
            hint = "letters, digits and . _ -, at most 32"
            raise TerselyError(
                "invalid_argument", f"{grant.identity[:80]!r} is no name of an identity", hint
            )
        check_misleading(grant.identity, is_from_elsewhere=True)
        if not TENANT_NAME.fullmatch(grant.tenant):
            hint = "small letters, digits and -, at most 63"
            raise TerselyError(
                "invalid_argument", f"{grant.tenant[:80]!r} is no name of a tenant", hint
            )
        now_ms = self._store.now_ms()
        if len(self.known()) >= MAX_TOKENS:
            raise TerselyError(
                "busy", f"{MAX_TOKENS:,} tokens are in force", "revoke those that nobody needs"
            )
        token = IdentityToken(
            _new_id(), grant.identity, grant.kind, digest_of(secret), now_ms, grant.tenant, grant.scopes,
            None if grant.lasts_ms is None else now_ms + grant.lasts_ms, code_until_ms,
        )  # fmt: skip
        self._write(_ISSUED, _TokenChange(token))
        return token

    def _by_code(self, code: str) -> IdentityToken:
        """The code that somebody shows. All wrong ones count together, and keep no right one out:
        then anybody could keep everybody from joining.
        """
        now_ms = self._store.now_ms()
        letters = re.sub(r"[\s-]", "", code).upper()
        token = self._of_secret(letters)
        if token is not None and token.code_until_ms is not None and self._holds(token):
            return token
        with self._changing:
            self._wrong_ms = [
                at_ms for at_ms in self._wrong_ms if now_ms - at_ms < CODE_SECONDS * 1000
            ]
            if len(self._wrong_ms) >= MAX_WRONG_CODES:
                raise TerselyError(
                    "rate_limited", "too many wrong codes were shown", "try again in 15 minutes"
                )
            self._wrong_ms.append(now_ms)
        raise _no_code()

    def _holds(self, token: IdentityToken) -> bool:
        ends_ms = token.expires_ms if token.code_until_ms is None else token.code_until_ms
        return ends_ms is None or self._store.is_in_force(token.created_ms, ends_ms)

    def _of_secret(self, secret: str) -> IdentityToken | None:
        """The token of a secret. One that is not known may have been issued by another process a
        moment ago.
        """
        digest = digest_of(secret)
        if digest not in self._by_digest:
            self._follow()
        return self._known.get(self._by_digest.get(digest, ""))

    def _one(self, token_id: str) -> IdentityToken:
        if token_id not in self._known:
            self._follow()
        token = self._known.get(token_id)
        if token is None:
            raise _no_token(token_id)
        return token

    def _write(self, kind: str, change: _TokenChange) -> None:
        self._store.commit(StoreBatch((Append(STREAM, kind, encode(change)),)))
        self._follow()

    def _grown(self, touched: frozenset[str]) -> None:
        """Called on the thread of the store: what it tells is read at once, so that nobody is let
        in who is ended.
        """
        if STREAM in touched:
            self._follow()

    def _follow(self) -> None:
        """Take in the entries that are new, and tell who was ended by them."""
        ended: list[str] = []
        with self._changing:
            while entries := self._store.entries(STREAM, self._read):
                for entry in entries:
                    self._read = entry.number
                    ended += self._take(msgspec.json.decode(entry.body, type=_TokenChange))
        for token_id in ended:
            for told in self._on_end:
                told(token_id)

    def _take(self, change: _TokenChange) -> Strings:
        for token_id in change.ended:
            token = self._known.pop(token_id, None)
            if token is not None:
                self._by_digest.pop(token.digest, None)
        if change.token is not None:
            self._known[change.token.id] = change.token
            self._by_digest[change.token.digest] = change.token.id
        return change.ended


def digest_of(secret: str) -> str:
    """The digest that is kept of a secret. Secrets are random and long: no slow hash is needed to
    hide them.
    """
    return sha256(secret.encode("utf-8", "surrogatepass")).hexdigest()


def _new_id() -> str:
    return secrets.token_hex(4)


def _grouped(letters: str) -> str:
    return "-".join(letters[at : at + _CODE_GROUP] for at in range(0, len(letters), _CODE_GROUP))


def _no_code() -> TerselyError:
    hint = "`tersely relay token new NAME`, where the relay runs, makes another; each works once, for 15 minutes"
    return TerselyError("unauthorized", "this code was used before, has expired, or is none", hint)


def _no_token(meant: str) -> TerselyError:
    hint = "`tersely relay token list` lists them"
    return TerselyError("token_not_found", f"there is no token or identity {meant[:80]!r}", hint)
