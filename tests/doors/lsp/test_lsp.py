"""The language server: a real process, and the client of pygls."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from lsprotocol import types
from pygls.exceptions import JsonRpcException
from pygls.lsp.client import LanguageClient
from tests.agent.core.conftest import root
from tests.depth import mostly_slow

__all__ = ["root"]
PRICES = "shop/prices.py"
Kind = types.PositionEncodingKind


class Editor(LanguageClient):
    """A client that keeps what it is told."""

    def __init__(self) -> None:
        super().__init__("editor", "1")
        self.messages: list[str] = []

        @self.feature(types.WINDOW_SHOW_MESSAGE)
        def shown(client: Editor, message: types.ShowMessageParams) -> None:
            client.messages.append(message.message)


@asynccontextmanager
async def editing(
    root: Path, encodings: Sequence[Kind] = (Kind.Utf16,), daemon: str = "off"
) -> AsyncIterator[Editor]:
    editor = Editor()
    await editor.start_io(
        sys.executable,
        "-m",
        "tersely",
        "lsp",
        cwd=root,
        env={**os.environ, "TERSELY_DAEMON": daemon},
    )
    general = types.GeneralClientCapabilities(position_encodings=list(encodings))
    folder = types.WorkspaceFolder(root.as_uri(), root.name)
    asked = types.InitializeParams(
        types.ClientCapabilities(general=general),
        root_uri=root.as_uri(),
        workspace_folders=[folder],
    )
    async with asyncio.timeout(60):
        able = (await editor.initialize_async(asked)).capabilities
    assert able.position_encoding == encodings[0]
    assert {able.completion_provider, able.hover_provider, able.folding_range_provider} == {None}
    editor.initialized(types.InitializedParams())
    try:
        yield editor
        await editor.shutdown_async(None)
    finally:
        editor.exit(None)
        await editor.stop()


def driven(work: Callable[[], Awaitable[None]]) -> None:
    async def bounded() -> None:
        async with asyncio.timeout(120):
            await work()

    asyncio.run(bounded())


def at(root: Path, path: str, line: int, character: int) -> dict[str, Any]:
    document = types.TextDocumentIdentifier((root / path).as_uri())
    return {"text_document": document, "position": types.Position(line, character)}


def cut(root: Path, place: types.Location) -> tuple[str, str]:
    """The file of a location, and the text that it marks."""
    path = Path(place.uri.removeprefix("file://"))
    line = path.read_text().split("\n")[place.range.start.line]
    return path.relative_to(root).as_posix(), line[
        place.range.start.character : place.range.end.character
    ]


def test_symbols_references_and_calls(root: Path) -> None:
    async def work() -> None:
        async with editing(root) as editor:
            found = await editor.workspace_symbol_async(types.WorkspaceSymbolParams("tota"))
            assert [(each.name, each.container_name) for each in found] == [
                ("total", f"{PRICES}:total")
            ]
            assert found[0].location.uri == (root / PRICES).as_uri()
            assert found[0].location.range.start == types.Position(0, 0)
            assert await editor.workspace_symbol_async(types.WorkspaceSymbolParams("")) == []
            context = types.ReferenceContext(include_declaration=True)
            for place in (at(root, PRICES, 0, 5), at(root, "shop/orders.py", 4, 37)):
                places = await editor.text_document_references_async(
                    types.ReferenceParams(context, **place)
                )
                marked = [cut(root, each) for each in places]
                # imported, called twice
                assert marked == [(PRICES, "total"), *[("shop/orders.py", "total")] * 3]
            (item,) = await editor.text_document_prepare_call_hierarchy_async(
                types.CallHierarchyPrepareParams(**at(root, PRICES, 0, 5))
            )
            assert (item.name, item.kind) == ("total", types.SymbolKind.Function)
            asked = types.CallHierarchyIncomingCallsParams(item)
            callers = await editor.call_hierarchy_incoming_calls_async(asked)
            assert [call.from_.name for call in callers] == ["invoice", "order"]
            called = types.CallHierarchyOutgoingCallsParams(item)
            (callee,) = await editor.call_hierarchy_outgoing_calls_async(called)
            assert (callee.to.name, callee.from_ranges[0].start.line) == ("price", 1)

    driven(work)


@pytest.mark.slow
def test_lenses_are_resolved_when_they_are_shown(root: Path) -> None:
    async def work() -> None:
        async with editing(root) as editor:
            document = types.TextDocumentIdentifier((root / PRICES).as_uri())
            lenses = await editor.text_document_code_lens_async(types.CodeLensParams(document))
            assert [lens.command for lens in lenses] == [None, None]
            shown = [await editor.code_lens_resolve_async(lens) for lens in lenses]
            titles = [lens.command.title for lens in shown]
            assert titles == ["2 callers, 0 tests", "2 callers, 1 test"]
            command = shown[1].command
            asked = types.ExecuteCommandParams(command.command, arguments=command.arguments)
            assert "order" in await editor.workspace_execute_command_async(asked)

    driven(work)


def test_commands_answer_in_words(root: Path) -> None:
    async def asked(editor: Editor, name: str, *arguments: Any) -> str:
        command = types.ExecuteCommandParams(name, arguments=list(arguments))
        return str(await editor.workspace_execute_command_async(command))

    async def work() -> None:
        async with editing(root) as editor:
            assert "def total" in await asked(editor, "tersely.context", "total")
            assert "tests/test_prices.py" in await asked(
                editor, "tersely.tests", (root / PRICES).as_uri()
            )
            with pytest.raises(JsonRpcException, match="nothing_such"):
                await asked(editor, "tersely.impact", "nothing_such")
            with pytest.raises(JsonRpcException, match="outside of the repository"):
                await asked(editor, "tersely.tests", "file:///elsewhere/a.py")
            with pytest.raises(JsonRpcException):
                await asked(editor, "tersely.impact")

    driven(work)


@pytest.mark.parametrize("encoding", mostly_slow([Kind.Utf8, Kind.Utf16, Kind.Utf32], Kind.Utf16))
def test_positions_are_counted_in_the_units_that_were_agreed_on(root: Path, encoding: Kind) -> None:
    line = "smile = '😀é'; total([])\n"
    (root / "shop" / "smile.py").write_text(
        f"from shop.prices import total\n\n\ndef smiling():\n    {line}"
    )
    before = f"    {line}".partition("total")[0]
    width = {Kind.Utf8: "utf-8", Kind.Utf16: "utf-16-le", Kind.Utf32: "utf-32-le"}[encoding]
    size = {Kind.Utf8: 1, Kind.Utf16: 2, Kind.Utf32: 4}[encoding]
    column = len(before.encode(width)) // size

    async def work() -> None:
        async with editing(root, [encoding]) as editor:
            context = types.ReferenceContext(include_declaration=False)
            asked = types.ReferenceParams(context, **at(root, "shop/smile.py", 4, column + 2))
            places = await editor.text_document_references_async(asked)
            imported, own = [place for place in places if place.uri.endswith("smile.py")]
            assert imported.range.start.line < own.range.start.line
            assert (own.range.start.character, own.range.end.character) == (column, column + 5)

    driven(work)


@pytest.mark.slow
def test_a_file_that_is_not_saved_is_answered_for_as_it_was_saved(root: Path) -> None:
    async def work() -> None:
        async with editing(root) as editor:
            uri, text = (root / PRICES).as_uri(), (root / PRICES).read_text()
            opened = types.TextDocumentItem(uri, types.LanguageKind.Python, 1, text)
            editor.text_document_did_open(types.DidOpenTextDocumentParams(opened))
            document = types.VersionedTextDocumentIdentifier(uri=uri, version=2)
            whole = types.TextDocumentContentChangeWholeDocument(f"# above\n{text}")
            editor.text_document_did_change(types.DidChangeTextDocumentParams(document, [whole]))
            lenses = await editor.text_document_code_lens_async(types.CodeLensParams(document))
            assert [lens.range.start.line for lens in lenses] == [0, 4]
            said = f"{PRICES} is not saved: this is of the saved file"
            assert editor.messages == [said]
            shown = await editor.code_lens_resolve_async(lenses[0])
            assert shown.command.title.endswith("(not saved: this is of the saved file)")
            asked = types.ExecuteCommandParams("tersely.tests", arguments=[uri])
            assert (await editor.workspace_execute_command_async(asked)).startswith("(not saved")
            await editor.text_document_code_lens_async(types.CodeLensParams(document))
            assert editor.messages == [said]
            editor.text_document_did_save(types.DidSaveTextDocumentParams(document))
            again = await editor.code_lens_resolve_async(lenses[0])
            assert again.command.title == "2 callers, 0 tests"
            (root / PRICES).write_text(f"# below\n{text}")  # and the editor reads it anew
            changed = types.VersionedTextDocumentIdentifier(uri=uri, version=3)
            whole = types.TextDocumentContentChangeWholeDocument(f"# below\n{text}")
            editor.text_document_did_change(types.DidChangeTextDocumentParams(changed, [whole]))
            lenses = await editor.text_document_code_lens_async(types.CodeLensParams(document))
            assert (
                await editor.code_lens_resolve_async(lenses[0])
            ).command.title == "2 callers, 0 tests"
            assert editor.messages == [said]

    driven(work)


@pytest.mark.slow
def test_what_is_elsewhere_or_gone_has_no_answer(root: Path, tmp_path: Path) -> None:
    (tmp_path / "alone.py").write_text("def alone():\n    pass\n")

    async def work() -> None:
        async with editing(root) as editor:
            context = types.ReferenceContext(include_declaration=True)
            outside = types.ReferenceParams(context, **at(tmp_path, "alone.py", 0, 5))
            assert not await editor.text_document_references_async(outside)
            before = types.ReferenceParams(context, **at(root, PRICES, 0, 5))
            assert len(await editor.text_document_references_async(before)) == 4
            (root / PRICES).unlink()
            assert not await editor.text_document_references_async(before)
            document = types.TextDocumentIdentifier((root / PRICES).as_uri())
            assert not await editor.text_document_code_lens_async(types.CodeLensParams(document))
            nowhere = types.ReferenceParams(context, **at(root, "shop/orders.py", 900, 1))
            assert not await editor.text_document_references_async(nowhere)

    driven(work)


@pytest.mark.slow
def test_an_extension_asks_any_question_about_code(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TERSELY_HOME", str(tmp_path / "no-relay"))
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.delenv("XDG_RUNTIME_DIR", raising=False)

    async def work() -> None:
        async with editing(root) as editor:

            async def asked(command: str, *arguments: Any) -> Any:
                given = types.ExecuteCommandParams(f"tersely.{command}", arguments=list(arguments))
                return await editor.workspace_execute_command_async(given)

            impact = await asked("value", "code.impact", {"symbol": "price"}, str(root))
            assert impact["callers"]["items"][0]["caller"] == f"{PRICES}:total"
            assert "def price" in await asked("text", "code.context", {"symbols": ["price"]})
            waiting = await asked("waiting")
            assert waiting == {"problem": "daemon_not_running", "unread": 0, "permissions": []}
            place = Path(await asked("sockets"))
            assert place.stat().st_mode & 0o777 == 0o700
            for refused in ("mail.send", "no such", 3):
                with pytest.raises(JsonRpcException):
                    await asked("value", refused, {})

    driven(work)
