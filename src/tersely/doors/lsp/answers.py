"""Questions of editors as questions to the catalogue, and the answers in the values of the
protocol.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from lsprotocol import types
from pygls.workspace.position_codec import PositionCodec

from tersely.capabilities.answers.text import counted
from tersely.daemon.asking import Asking
from tersely.doors.lsp.places import (
    OpenDocument,
    column_of,
    items,
    kind_of,
    lines_range,
    location,
    name_of,
    named_at,
    path_of,
    range_of,
    uri_of,
)
from tersely.foundation.errors import TerselyError
from tersely.foundation.types import JsonMapping

MAX_LISTED_SYMBOLS = 200  # of one search for symbols
MAX_LISTED_CALLS = 1_000  # of one symbol, on one side
MAX_LISTED_REFERENCES = 5_000  # of one symbol
MAX_LENSES = 300  # of one file
QUERIES_AT_A_TIME = 50  # as `code.symbol.find` takes them
_EXTERNAL = "external:"
_LENS_KINDS = frozenset({"class", "function", "method"})
# is there
_NOTHING = frozenset({"symbol_not_found", "path_not_found", "invalid_argument", "unreadable_file"})


class Answers:
    """The answers of the catalogue, for one editor."""

    def __init__(self, asking: Asking, codec: PositionCodec) -> None:
        self._asking = asking
        self._codec = codec

    async def symbols(self, root: Path, query: str) -> list[types.WorkspaceSymbol]:
        """Symbols whose name has the words of a query in it."""
        if not query.strip("* "):
            return []
        asked = {
            "queries": [query, f"*{query.strip()}*"],
            "limit": MAX_LISTED_SYMBOLS,
            "signatures": False,
        }
        found = await self._value(root, "code.symbol.find", asked)
        return [
            types.WorkspaceSymbol(
                location=types.Location(uri_of(root, each["path"]), lines_range(each["line"], each["line"])),
                name=name_of(each["id"]), kind=kind_of(each["kind"]), container_name=each["id"],
            )
            for each in items(found and found["symbols"])
        ]  # fmt: skip

    async def defined(self, document: OpenDocument, position: types.Position) -> str:
        """The id of the symbol whose name is at a position, "" where none of the repository is."""
        place = f"{document.path}:{position.line + 1}:{column_of(document, position, self._codec)}"
        found = await self._value(document.root, "code.definition", {"place": place})
        places = [place for name in (found["names"] if found else []) for place in name["places"]]
        return next((str(place["symbol"]) for place in places if place["symbol"]), "")

    async def references(
        self, document: OpenDocument, position: types.Position, *, with_definition: bool
    ) -> list[types.Location]:
        """Every name that means the symbol at a position, by file and place, its definition first."""
        symbol = await self.defined(document, position)
        asked = {"symbol": symbol, "limit": MAX_LISTED_REFERENCES}
        found = (
            await self._value(document.root, "code.symbol.references", asked) if symbol else None
        )
        if found is None:
            return []
        root = document.root
        places = [named_at(root, each, self._codec) for each in items(found["references"])]
        if with_definition:
            places.insert(
                0, location(root, path_of(symbol), found["line"], name_of(symbol), self._codec)
            )
        return places

    async def item(self, root: Path, symbol: str) -> list[types.CallHierarchyItem]:
        """A symbol as an item of a call hierarchy."""
        return list((await self._items(root, [symbol])).values())

    async def incoming(
        self, item: types.CallHierarchyItem
    ) -> list[types.CallHierarchyIncomingCall]:
        """The callers of an item, and their lines."""
        root, symbol = _of(item)
        calls = items((await self._calls(root, symbol, "callers"))["callers"])
        known = await self._items(root, [call["caller"] for call in calls])
        name = name_of(symbol)
        return [
            types.CallHierarchyIncomingCall(known[call["caller"]], self._ranges(root, call, name))
            for call in calls
            if call["caller"] in known
        ]

    async def outgoing(
        self, item: types.CallHierarchyItem
    ) -> list[types.CallHierarchyOutgoingCall]:
        """The callees of an item, and the lines of the calls; what is outside of the repository is
        left out.
        """
        root, symbol = _of(item)
        calls = items((await self._calls(root, symbol, "callees"))["callees"])
        known = await self._items(root, [call["callee"] for call in calls])
        return [
            types.CallHierarchyOutgoingCall(
                known[call["callee"]], self._ranges(root, call, name_of(call["callee"]))
            )
            for call in calls
            if call["callee"] in known
        ]  # fmt: skip

    async def lenses(self, document: OpenDocument) -> list[types.CodeLens]:
        """A lens over each definition of a file, to be resolved when it is shown."""
        asked = {"path": document.path, "limit": MAX_LENSES}
        found = await self._value(document.root, "code.structure", asked)
        return [
            types.CodeLens(
                range=range_of(document.root, each["path"], each["line"], name_of(each["id"]), self._codec),
                data={"root": str(document.root), "symbol": each["id"]},
            )
            for each in items(found and found["entries"])
            if each["kind"] in _LENS_KINDS
        ]  # fmt: skip

    async def resolved(self, lens: types.CodeLens, note: str) -> types.CodeLens:
        """A lens with its words and the command behind them."""
        data: Any = lens.data
        calls = await self._calls(Path(data["root"]), data["symbol"], "callers")
        total, tests = (calls["callers"] or {}).get("total", 0), calls["tests"]
        words = f"{counted(total, 'caller')}, {counted(tests, 'test')}{note}"
        lens.command = types.Command(words, IMPACT, arguments=[data["symbol"], data["root"]])
        return lens

    async def text(self, root: Path, capability: str, arguments: JsonMapping) -> str:
        """An answer in words."""
        reply = await self._asking.ask(root, capability, arguments, lambda done, total: None)
        return str(reply["text"])

    async def value(self, root: Path, capability: str, arguments: JsonMapping) -> Any:
        """The same as a plain value."""
        return await self._asking.value(root, capability, arguments)

    async def _calls(self, root: Path, symbol: str, direction: str) -> JsonMapping:
        asked = {
            "symbol": symbol,
            "direction": direction,
            "limit": MAX_LISTED_CALLS,
            "external": False,
        }
        nothing = {"symbol": symbol, "line": 1, "callers": None, "callees": None, "tests": 0}
        return await self._value(root, "code.calls", asked) or nothing

    async def _items(
        self, root: Path, symbols: Sequence[str]
    ) -> dict[str, types.CallHierarchyItem]:
        """Symbols of the repository by their ids."""
        own = [symbol for symbol in dict.fromkeys(symbols) if not symbol.startswith(_EXTERNAL)]
        found: dict[str, types.CallHierarchyItem] = {}
        for start in range(0, len(own), QUERIES_AT_A_TIME):
            queries = own[start : start + QUERIES_AT_A_TIME]
            asked = {"queries": queries, "limit": MAX_LISTED_CALLS, "signatures": False}
            lines = await self._value(root, "code.symbol.find", asked)
            found |= {
                line["id"]: self._item(root, line) for line in items(lines and lines["symbols"])
            }
        return found

    def _item(self, root: Path, line: JsonMapping) -> types.CallHierarchyItem:
        name = name_of(line["id"]) or line["path"]
        return types.CallHierarchyItem(
            name=name, kind=kind_of(line["kind"]), uri=uri_of(root, line["path"]),
            range=lines_range(line["line"], line["end_line"]), detail=line["path"],
            selection_range=range_of(root, line["path"], line["line"], name, self._codec),
            data={"root": str(root), "symbol": line["id"]},
        )  # fmt: skip

    def _ranges(self, root: Path, call: JsonMapping, name: str) -> list[types.Range]:
        lines: Iterable[int] = call["lines"]
        return [range_of(root, call["path"], line, name, self._codec) for line in lines]

    async def _value(self, root: Path, capability: str, arguments: JsonMapping) -> Any:
        """The result of a capability; None where there is nothing of what was asked about."""
        try:
            return await self._asking.value(root, capability, arguments)
        except TerselyError as error:
            if error.code in _NOTHING:
                return None
            raise


IMPACT = "tersely.impact"


def _of(item: types.CallHierarchyItem) -> tuple[Path, str]:
    data: Any = item.data
    return Path(data["root"]), str(data["symbol"])
