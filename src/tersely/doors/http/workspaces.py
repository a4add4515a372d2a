"""The code capabilities as offers of the relay, asked of a repository's code daemon or of processes
of our own.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Iterable
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from tersely.capabilities import catalogue
from tersely.capabilities.declaration.binding import ROOT, rooted_schema
from tersely.capabilities.declaration.declaration import Effect
from tersely.capabilities.declaration.references import Referred, with_references
from tersely.daemon.asking import Asking
from tersely.foundation.errors import TerselyError
from tersely.foundation.limits import MAX_REFERRED_BYTES, MAX_REQUEST_SECONDS
from tersely.foundation.storage.roots import resolved_directory
from tersely.foundation.types import JsonMapping, JsonObject
from tersely.relay.artifacts import cassettes
from tersely.relay.policy import CapabilityReach
from tersely.relay.services.calls import Call, Given, Offer, Scope
from tersely.relay.store.store import Store
from tersely.relay.threads.accounting import Size

AnswerT = TypeVar("AnswerT")


class Workspaces:
    """Any number of repositories, each asked through its own processes. Used from the threads of
    calls.
    """

    def __init__(
        self,
        asking: Asking,
        loop: asyncio.AbstractEventLoop,
        default: str,
        count_tokens: Callable[[str], int],
        store: Store,
    ) -> None:
        """`default` is the repository of calls that name none, empty if there is none."""
        self._asking = asking
        self._loop = loop
        self._default = default
        self._count_tokens = count_tokens
        self._store = store

    def offers(self) -> dict[str, Callable[[], Offer]]:
        """Every capability of the catalogue by its name, declared when it is asked for."""
        return {name: partial(self._offer, name) for name in catalogue.CODE_NAMES}

    def _offer(self, name: str) -> Offer:
        capability = catalogue.load(name)

        def run(call: Call) -> Given:
            root, given = self._split(call.arguments)
            read: list[str] = []
            fetch = partial(self._fetch, read)
            arguments = with_references(capability.parameters, given, fetch)
            reply = self._wait(
                self._asking.ask(root, capability.name, arguments, _say_nothing, is_whole=True)
            )
            replaced = self._replaced(root, reply["files"], reply["text"])
            return Given(
                [reply["text"].encode()],
                "code",
                capability.name,
                replaced=replaced,
                made_from=tuple(read),
            )

        def scope(call: Call) -> Scope | None:
            root, arguments = self._split(call.arguments)
            if not capability.is_repeatable(arguments):
                return None
            version = self._wait(self._asking.revision(root))
            return Scope(str(root), version) if version else None

        return Offer(
            capability.name,
            capability.summary,
            rooted_schema(capability, "the repository, as a directory of this machine"),
            run,
            reach=CapabilityReach.READ
            if capability.effect is Effect.READ
            else CapabilityReach.WRITE,
            scope=scope if capability.cacheable else None,
        )

    def _wait(self, asked: Coroutine[Any, Any, AnswerT]) -> AnswerT:
        """The answer of the loop; raises `timed_out` when it takes too long, and gives it up."""
        waiting = asyncio.run_coroutine_threadsafe(asked, self._loop)
        try:
            return waiting.result(MAX_REQUEST_SECONDS)
        except TimeoutError:
            waiting.cancel()
            hint = "ask for less: limit, depth or budget"
            raise TerselyError(
                "timed_out", f"no answer within {MAX_REQUEST_SECONDS} s", hint
            ) from None

    def _fetch(self, read: list[str], ref: str) -> Referred:
        """The artifact that a reference among the arguments means, which is noted as read."""
        found = cassettes.get(self._store, ref)
        read.append(found.digest)
        is_whole = found.type != "binary" and found.size_bytes <= MAX_REFERRED_BYTES
        content = (
            b"".join(self._store.blob(found.digest)) if is_whole else found.preview.text.encode()
        )
        text = content.decode("utf-8", "replace")
        return Referred(found.digest, found.name, found.type, found.size_bytes, text, is_whole)

    def _split(self, arguments: JsonMapping) -> tuple[Path, JsonObject]:
        """The repository that a call is about, and the rest of its arguments."""
        rest = dict(arguments)
        named = rest.pop(ROOT, self._default)
        if not isinstance(named, str) or not named:
            raise TerselyError(
                "invalid_argument", "root: the directory of a repository", "the call names none"
            )
        return Path(resolved_directory(named, ROOT)), rest

    def _replaced(self, root: Path, paths: Iterable[str], text: str) -> Size:
        """The size of what an agent would have read without the answer: the files that it stands
        for, never less than itself.
        """
        whole = [content for path in paths if (content := _file_text(root, path))]
        texts = max(whole, [text], key=lambda texts: sum(map(len, texts)))
        return Size(sum(map(self._count_tokens, texts)), sum(map(len, texts)))


def _file_text(root: Path, path: str) -> str:
    """A file of the repository as it would be read; empty for what is none, or is elsewhere."""
    try:
        file = (root / path).resolve(strict=True)
        is_here = file.is_relative_to(root) and file.is_file()
        return file.read_text("utf-8", "replace") if is_here else ""
    except (OSError, RuntimeError, ValueError):
        return ""


def _say_nothing(done: int, total: int) -> None:
    """Nobody looks at the progress of a call."""
