"""The Language Server Protocol: what an editor may ask. All of it is answered by the repository's
daemon.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Awaitable
from contextlib import suppress
from pathlib import Path
from typing import Any, TypeVar

from lsprotocol import types
from pygls.exceptions import JsonRpcException, JsonRpcInvalidParams
from pygls.lsp.server import LanguageServer
from pygls.uris import to_fs_path

from tersely import __version__
from tersely.capabilities import catalogue
from tersely.capabilities.declaration.declaration import Effect
from tersely.daemon.asking import Asking
from tersely.daemon.place import runtime_directory
from tersely.doors.lsp.answers import IMPACT, Answers
from tersely.doors.lsp.places import MAX_READ_BYTES, OpenDocument, document_of, path_of
from tersely.doors.lsp.waiting import waiting
from tersely.foundation.errors import TerselyError
from tersely.foundation.storage.private import make_private
from tersely.foundation.storage.roots import find_root
from tersely.foundation.types import JsonObject

CONTEXT, TESTS = "tersely.context", "tersely.tests"
VALUE = "tersely.value"
TEXT = "tersely.text"
WAITING = "tersely.waiting"
SOCKETS = "tersely.sockets"
REQUEST_FAILED = -32803  # of the protocol: it was understood, and cannot be answered
UNSAVED = "not saved: this is of the saved file"
COMMANDS = {
    IMPACT: ("code.impact", "symbol"),
    CONTEXT: ("code.context", "symbols"),
    TESTS: ("code.change_impact", "files"),
}

ResultT = TypeVar("ResultT")


class CodeServer(LanguageServer):
    """One editor: its folders, and which of its files are not saved."""

    def __init__(self, answer_words: str) -> None:
        super().__init__(
            "tersely", __version__, text_document_sync_kind=types.TextDocumentSyncKind.Incremental
        )
        self._answer_words = answer_words
        self._answers: Answers | None = None
        self._unsaved: dict[str, bool] = {}  # by URI, whether that was said

    @property
    def answers(self) -> Answers:
        """The answers of the catalogue; made when the encoding of positions is agreed on, on the
        event loop.
        """
        if self._answers is None:
            asking = Asking(self._answer_words, starts_daemons=True)
            self._answers = Answers(asking, self.workspace.position_codec)
        return self._answers

    def folders(self) -> list[Path]:
        """The folders that the editor has open."""
        uris = [*self.workspace.folders] or [self.workspace.root_uri or ""]
        return [
            Path(path) for uri in uris if uri and (path := to_fs_path(uri)) and Path(path).is_dir()
        ]

    def document(self, uri: str) -> OpenDocument | None:
        """The file of a URI, if it is of a repository here; that it is not saved is said, once
        until it is.
        """
        found = document_of(uri, self.folders())
        if found and self._unsaved.get(uri) is False and not self._is_as_saved(uri):
            self._unsaved[uri] = True
            message = types.ShowMessageParams(types.MessageType.Info, f"{found.path} is {UNSAVED}")
            self.window_show_message(message)
        return found

    def note(self, path: Path) -> str:
        """The remark beside an answer about a file, "" for one that is saved."""
        unsaved = {to_fs_path(uri) for uri in list(self._unsaved) if not self._is_as_saved(uri)}
        return f" ({UNSAVED})" if str(path) in unsaved else ""

    def has_changed(self, uri: str, *, is_saved: bool) -> None:
        """A file was changed in the editor, or is as on the disk again."""
        if is_saved:
            self._unsaved.pop(uri, None)
        else:
            self._unsaved.setdefault(uri, False)

    def _is_as_saved(self, uri: str) -> bool:
        """True if a changed file is as on the disk all the same, because the editor has read it
        anew from there.
        """
        path = Path(to_fs_path(uri) or "")
        with suppress(OSError, UnicodeError):
            if path.stat().st_size <= MAX_READ_BYTES and path.read_bytes().decode() == self._text(
                uri
            ):
                self._unsaved.pop(uri, None)
                return True
        return False

    def _text(self, uri: str) -> str:
        return self.workspace.get_text_document(uri).source

    async def told(self, asking: Awaitable[ResultT]) -> ResultT:
        """An answer; what keeps it from coming as an error with our code and what to do."""
        try:
            return await asking
        except TerselyError as error:
            hint = f" ({error.hint})" if error.hint else ""
            data = {"code": error.code, "hint": error.hint}
            raise JsonRpcException(f"{error.message}{hint}", REQUEST_FAILED, data) from error

    async def in_words(self, capability: str, parameter: str, given: list[Any]) -> str:
        """An answer in words about a symbol or file, by its id or URI, in the repository of a
        folder or the first.
        """
        if not given or not isinstance(given[0], str):
            raise JsonRpcInvalidParams(
                "the arguments are a symbol or file, and a folder if there are several"
            )
        about = str(given[0])
        folders = [Path(str(given[1]))] if len(given) > 1 else self.folders()
        if not folders:
            raise JsonRpcInvalidParams("no folder is open")
        note, root = "", find_root(folders[0])
        if about.startswith("file:"):
            document = document_of(about, folders)
            if document is None:
                raise JsonRpcInvalidParams(f"{about} is outside of the repository")
            root, about = document
            note = self.note(root / about)
        value: Any = about if parameter == "symbol" else [about]
        text = await self.told(self.answers.text(root, capability, {parameter: value}))
        return f"{note.strip()}\n{text}" if note else text

    async def asked(
        self, form: str, capability: Any, arguments: Any = None, folder: Any = None
    ) -> Any:
        """The answer of a capability that only reads code, as a value or in words."""
        given = {} if arguments is None else arguments
        if not isinstance(capability, str) or not isinstance(given, dict):
            raise JsonRpcInvalidParams(
                "the arguments are a capability, what it takes, and a folder"
            )
        if (
            capability not in catalogue.CODE_NAMES
            or catalogue.load(capability).effect is not Effect.READ
        ):
            raise JsonRpcInvalidParams(f"{capability[:80]} is no capability that only reads code")
        folders = [Path(str(folder))] if folder else self.folders()
        if not folders:
            raise JsonRpcInvalidParams("no folder is open")
        ask = self.answers.text if form == TEXT else self.answers.value
        return await self.told(ask(find_root(folders[0]), capability, given))


def serve(answer_words: str) -> None:
    """Serve the editor at the standard streams until it leaves."""
    made(answer_words).start_io()


def made(answer_words: str) -> CodeServer:
    """A server with everything that it answers."""
    server = CodeServer(answer_words)
    _follow_changes(server)
    _answer_symbols(server)
    _answer_hierarchy(server)
    _answer_lenses(server)
    for name, (capability, parameter) in COMMANDS.items():
        _answer_command(server, name, capability, parameter)
    _answer_extensions(server)
    return server


def _follow_changes(server: CodeServer) -> None:
    @server.feature(types.TEXT_DOCUMENT_DID_CHANGE)
    def changed(ls: CodeServer, asked: types.DidChangeTextDocumentParams) -> None:
        ls.has_changed(asked.text_document.uri, is_saved=False)

    @server.feature(types.TEXT_DOCUMENT_DID_SAVE)
    def saved(ls: CodeServer, asked: types.DidSaveTextDocumentParams) -> None:
        ls.has_changed(asked.text_document.uri, is_saved=True)

    @server.feature(types.TEXT_DOCUMENT_DID_CLOSE)
    def closed(ls: CodeServer, asked: types.DidCloseTextDocumentParams) -> None:
        ls.has_changed(asked.text_document.uri, is_saved=True)


def _answer_symbols(server: CodeServer) -> None:
    @server.feature(types.WORKSPACE_SYMBOL)
    async def symbols(
        ls: CodeServer, asked: types.WorkspaceSymbolParams
    ) -> list[types.WorkspaceSymbol]:
        roots = dict.fromkeys(map(find_root, ls.folders()))
        found = await ls.told(
            asyncio.gather(*(ls.answers.symbols(root, asked.query) for root in roots))
        )
        return [symbol for each in found for symbol in each]

    @server.feature(types.TEXT_DOCUMENT_REFERENCES)
    async def references(ls: CodeServer, asked: types.ReferenceParams) -> list[types.Location]:
        document = ls.document(asked.text_document.uri)
        if document is None:
            return []
        wanted = asked.context.include_declaration
        return await ls.told(
            ls.answers.references(document, asked.position, with_definition=wanted)
        )


def _answer_hierarchy(server: CodeServer) -> None:
    @server.feature(types.TEXT_DOCUMENT_PREPARE_CALL_HIERARCHY)
    async def prepared(
        ls: CodeServer, asked: types.CallHierarchyPrepareParams
    ) -> list[types.CallHierarchyItem]:
        document = ls.document(asked.text_document.uri)
        symbol = await ls.told(ls.answers.defined(document, asked.position)) if document else ""
        return await ls.told(ls.answers.item(document.root, symbol)) if document and symbol else []

    @server.feature(types.CALL_HIERARCHY_INCOMING_CALLS)
    async def incoming(
        ls: CodeServer, asked: types.CallHierarchyIncomingCallsParams
    ) -> list[types.CallHierarchyIncomingCall]:
        return await ls.told(ls.answers.incoming(asked.item))

    @server.feature(types.CALL_HIERARCHY_OUTGOING_CALLS)
    async def outgoing(
        ls: CodeServer, asked: types.CallHierarchyOutgoingCallsParams
    ) -> list[types.CallHierarchyOutgoingCall]:
        return await ls.told(ls.answers.outgoing(asked.item))


def _answer_lenses(server: CodeServer) -> None:
    @server.feature(types.TEXT_DOCUMENT_CODE_LENS, types.CodeLensOptions(resolve_provider=True))
    async def lenses(ls: CodeServer, asked: types.CodeLensParams) -> list[types.CodeLens]:
        document = ls.document(asked.text_document.uri)
        return await ls.told(ls.answers.lenses(document)) if document else []

    @server.feature(types.CODE_LENS_RESOLVE)
    async def resolved(ls: CodeServer, lens: types.CodeLens) -> types.CodeLens:
        data: Any = lens.data
        path = Path(data["root"]) / path_of(data["symbol"])
        return await ls.told(ls.answers.resolved(lens, ls.note(path)))


def _answer_command(server: CodeServer, name: str, capability: str, parameter: str) -> None:
    @server.command(name)
    async def command(ls: CodeServer, *given: Any) -> str:
        return await ls.in_words(capability, parameter, list(given))


def _answer_extensions(server: CodeServer) -> None:
    """Answer the extension of an editor: any question, who waits, and where its socket is to be."""

    @server.command(VALUE)
    async def value(ls: CodeServer, *given: Any) -> Any:
        return await ls.asked(VALUE, *given)

    @server.command(TEXT)
    async def text(ls: CodeServer, *given: Any) -> Any:
        return await ls.asked(TEXT, *given)

    @server.command(WAITING)
    async def waits(ls: CodeServer, *given: Any) -> JsonObject:
        return await waiting()

    @server.command(SOCKETS)
    def sockets(ls: CodeServer, *given: Any) -> str:
        directory = runtime_directory(os.environ)
        make_private(directory)
        return directory
