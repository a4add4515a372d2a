"""The definitions of a file that is walked, and the scopes that they open."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tersely.code.expressions import DEFINED, Expression, NamedExpressions, is_tagged
from tersely.code.languages import model
from tersely.code.languages.nodes import OptionalNode
from tersely.code.symbols import Definition, Import, Kind
from tersely.code.syntax.drafts import SCOPE_OWNERS, Naming, ScopeDraft
from tersely.code.syntax.nodes.comments import comment_above, doc_string, first_attribute
from tersely.code.syntax.redefinitions import Redefinitions
from tersely.foundation.types import JsonObject

if TYPE_CHECKING:
    from tree_sitter import Node


class _Texts(dict[bytes, str]):
    """Source texts by their bytes, one object for equal texts, without the quotes around names."""

    def __init__(self, quote: str) -> None:
        super().__init__()
        self._quote = quote

    def __missing__(self, raw: bytes) -> str:
        text, quote = raw.decode("utf-8", "replace"), self._quote
        is_quoted = quote and text.startswith(quote) and text.endswith(quote)
        known = self[raw] = text.strip(quote) if is_quoted else text
        return known


class Scopes:
    """The definitions of one file, as far as a walk has come, and the scope that it is in."""

    def __init__(self, source: bytes, language: model.Language, rules: list[Any]) -> None:
        self.source = source
        self.path = ""  # of the file, where the caller knows it
        self.language = language
        self.resolution = language.resolution
        self.rules = rules
        self.definitions: list[Definition] = []
        self.drafts: list[ScopeDraft | None] = []
        # of definitions by their positions: the one that they are another name of
        self.other_names: dict[int, int] = {}
        self.imports: list[Import] = []
        self.mentions: set[str] = set()
        self.serial = 0
        # variables of the innermost block by name, None outside of any
        self.block: dict[str, str] | None = None
        # variables of all blocks around, those of functions around included
        self.in_blocks: dict[str, str] = {}
        # of variables, once the present block has ended
        self.known_behind: NamedExpressions = []
        # last names of the members of which more is known in some block
        self.narrowed_members: set[str] = set()
        self.outward = False  # bindings now declare nothing
        self.rebinds = False  # bindings now replace the earlier ones of the same names
        # the node around the next definition, and flags for it
        self.wrapped: tuple[Node, int] | None = None
        self.naming: Naming | None = None  # the name of the next function, class or mapping
        self.texts = _Texts(language.resolution.name_quote)
        self.redefinitions = Redefinitions(language.resolution.redefinition)
        self.notes: JsonObject = {}  # notes of a language's rules during the walk
        # a newline at the end begins no other line
        lines = source.count(b"\n", 0, len(source) - 1) + 1
        module = Definition(Kind.MODULE, "", "", -1, 1, lines, 1, 0, len(source), 0, 0, 0)
        self.scope = self._open(module, Kind.MODULE, "")

    def text(self, node: OptionalNode) -> str:
        """The source text of a node, one object for equal texts; "" of None."""
        if node is None:
            return ""
        return self.texts[self.source[node.start_byte : node.end_byte]]

    def rule(self, node: Node) -> Any:
        """The rule of a node's type, None without one."""
        return self.rules[node.kind_id]

    def next_serial(self) -> int:
        """The next serial, by which displays of the file differ."""
        self.serial += 1
        return self.serial

    def anonymous(self, what: str) -> str:
        """A name for a definition without one, counted within its scope."""
        self.scope.unnamed += 1
        return f"<{what}{self.scope.unnamed}>"

    def is_definition(self, value: Expression, name: str) -> bool:
        """True if a value is a definition of that name, so that no variable of the name need be a
        symbol.
        """
        name = name.removeprefix(self.resolution.sigil)
        return is_tagged(value, DEFINED) and self.definitions[value[1]].name == name

    def define_node(self, node: Node, name: Node, kind: Kind) -> None:
        """Make the variable whose name a node is a symbol, as `define_value` does."""
        self.define_value(node, self.text(name), name, kind)

    def define_value(self, node: Node, name: str, name_node: Node, kind: Kind, prefix: str = "",
                     meant: int = -1) -> None:  # fmt: skip
        """Make a variable of a module or class a symbol, once: another name of the definition
        `meant` if that is one.
        """
        scope = self.scope
        key = f"{prefix}.{name}" if prefix else name
        if key in scope.values:
            return
        scope.values.add(key)
        doc = comment_above(self, node)
        row = self._definition(kind, name, node, name_node, node.end_byte, doc, prefix, node)
        if meant >= 0:
            self.other_names[len(self.definitions)] = meant
        self.definitions.append(row)
        self.drafts.append(None)

    def qualname(self, name: str, prefix: str) -> str:
        """The qualified name of a definition of the current scope."""
        return ".".join(filter(None, (self.scope.qualname, prefix, name)))

    def enter(self, node: Node, kind: Kind, name: str, name_node: OptionalNode, body: OptionalNode,
              prefix: str = "") -> ScopeDraft:  # fmt: skip
        """Open the scope of a new definition; `leave` closes it. `prefix` qualifies the name beyond
        the scope.
        """
        wrapped, self.wrapped = self.wrapped, None
        outermost = first_attribute(self, wrapped[0] if wrapped else node)
        doc = doc_string(self, body)
        if doc == (0, 0):
            doc = comment_above(self, outermost)
        signature_end = body.start_byte if body is not None else node.end_byte
        row = self._definition(
            kind,
            name,
            wrapped[0] if wrapped else node,
            name_node or node,
            signature_end,
            doc,
            prefix,
            outermost,
        )
        draft = self._open(row, kind, row.qualname)
        draft.around = self.scope, self.block, self.in_blocks
        self.block = None
        self.redefinitions.add(draft, wrapped[0] if wrapped else node, self.text)
        if wrapped:
            draft.flags |= wrapped[1]
        modifiers = self.resolution.modifiers
        for child in node.children if modifiers else ():
            if "modifier" in child.type:
                for word in self.text(child).split():
                    draft.flags |= modifiers.get(word, 0)
        return draft

    def enter_lambda(self, node: Node, body: OptionalNode) -> ScopeDraft:
        """Open the scope of a function without a name."""
        return self.enter(node, Kind.LAMBDA, self.anonymous("lambda"), None, body)

    def leave(self, draft: ScopeDraft) -> Expression:
        """Close a definition's scope for the one around it; returns the expression of the definition."""
        elsewhere = draft.outward - draft.declared
        if elsewhere:
            elsewhere -= {parameter.name for parameter in draft.parameters}
            draft.outer.extend((name, 0) for name in sorted(elsewhere))
        own = draft.bound - elsewhere if draft.kind not in SCOPE_OWNERS else set()
        self.mentions |= draft.read - own
        if own:
            draft.reads = [read for read in draft.reads if read[0] not in own]
        self.scope, self.block, self.in_blocks = draft.around
        return (DEFINED, draft.definition)

    def _open(self, row: Definition, kind: Kind, qualname: str) -> ScopeDraft:
        draft = ScopeDraft(len(self.definitions), kind, qualname)
        self.definitions.append(row)
        self.drafts.append(draft)
        return draft

    def _definition(self, kind: Kind, name: str, node: Node, name_node: Node, signature_end: int,
                    doc: tuple[int, int], prefix: str, outermost: Node) -> Definition:  # fmt: skip
        end_row, end_column = node.end_point
        # in broken source the name may stand elsewhere
        name_row = max(name_node.start_point[0], node.start_point[0])
        return Definition(
            kind, name, self.qualname(name, prefix), self.scope.definition, outermost.start_point[0] + 1,
            end_row + (1 if end_column else 0), name_row + 1,
            outermost.start_byte, node.end_byte, signature_end, *doc,
        )  # fmt: skip
