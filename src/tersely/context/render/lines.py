r"""The formats made of lines: `text`, `numbered`, `compact` and `ultracompact`.

    === src/auth.py                              a file; what follows is in it
    @1-90 class of Session.validate              its lines 1 to 90 and why they are here; then code
    class Session(Base)
    @45-72 target                                a member where it stands in its class
      callers: src/cli.py:main                   neighbours of a target without a line of their own
      ≈ Session.renew @80-88: tok → key          its code is that below with these words replaced
        def validate(self, tok: str) -> bool:
            return check_expiry(decode_jwt(tok))
        def close(self) -> None
    @94-99 called by Session.validate: def decode_jwt(tok: str) -> dict
    @+ called by decode_jwt: b64, pad            only names
    === src/cli.py
    @12-30 changed: def main(argv)               a changed symbol, its signature if no hunk has it
    @@ -14,1 +14,1 @@                            hunks, see `hunks.py`
    -    return run(argv)
    +    return run(argv[1:])
    === src/settings.py whole                    lines of a file as they stand, here all of them
    === +12 more callers, whole: symbol get NAME what found no room, and how to have it whole

To a reader who was shown something before, `17 as before` in the last line counts neighbours that
were named before, as what they are named now, and of which nothing that was shown has changed;
`[unchanged TAG]` and `name=` say the same of one symbol, `[diff from TAG to TAG]` is followed by
the hunks of a unified diff, and `name≠` has changed.

In `numbered` a line that stands whole in its file begins with its number there, as in `45|    return
x`, and keeps its indentation.

In `ultracompact` the lines of a target name all its neighbours, which then do not say why they are
there. Its dictionary form says each path once, at the top, and starts items with it:

    P0=src/auth.py P1=src/routes.py
    P0:validate_token @45-72 target
      calls: P1:check_expiry
    P0:Session.close(self) -> None @74-80

Nothing in a file can pass for structure: a line of code that starts like one of ours gets a
backslash before it, lines of neighbours are only directly below the line of an item, and hidden
characters are written out.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import groupby

from tersely.code.symbols import Kind, Symbol
from tersely.context.pack.excerpt import Line
from tersely.context.pack.model import (
    PART_OF_DETAIL,
    Block,
    Count,
    Delta,
    Detail,
    Extract,
    Item,
    Pack,
    Part,
)
from tersely.context.render.hunks import has_hunks, names_itself
from tersely.context.render.nesting import SAID_BY_PLACE, ItemGroup, grouped, pieces
from tersely.context.render.relations import (
    Relations,
    changed_phrase,
    code_text,
    delta_marks,
    delta_phrase,
    evidence_phrase,
    note_phrase,
    printed_items,
    reason_phrase,
    relations_of,
    twin_phrase,
    unique_names,
)
from tersely.foundation.text.escape import visible, visible_line
from tersely.foundation.types import frozen, replace

MODULE_NAME = "<module>"

_STRUCTURE = re.compile(r"^(?==== |@[\d+]|P\d+[:=])", re.MULTILINE)
# Words that only say that this is a function; the name and its parentheses say so too.
_PLAIN_KEYWORD = re.compile(r"(^|\s)(?:def|fn|func|fun|function)\s+(?=\S)")


def text(pack: Pack, count: Count) -> Sequence[Block]:
    """Grouped by file, for people and models alike."""
    return _grouped(pack, compact=False)


def numbered(pack: Pack, count: Count) -> Sequence[Block]:
    """Like text, with the lines of files as they stand, each behind its number, for readers who have
    tools of their own to see more.
    """
    extracts = tuple(
        extract if extract.delta else _numbered_extract(extract) for extract in pack.extracts
    )
    items = tuple(map(_numbered_item, pack.items))
    return _grouped(replace(pack, extracts=extracts, items=items), compact=False, has_hint=False)


def _numbered_extract(extract: Extract) -> Extract:
    lines = enumerate(extract.text.splitlines(), extract.first_line)
    return replace(extract, text="".join(f"{number}|{line}\n" for number, line in lines))


def _numbered_item(item: Item) -> Item:
    is_worded_anew = item.delta is not Delta.WHOLE or item.is_gone or has_hunks(item)
    if is_worded_anew or not item.lines:
        return item
    lines = tuple(map(_numbered_line, item.lines))
    return replace(item, lines=lines, code="".join(f"{line.text}\n" for line in lines))


def _numbered_line(line: Line) -> Line:
    stands_so = line.is_whole and not line.is_gap
    return line._replace(text=f"{line.number}|{line.text}") if stands_so else line


def compact(pack: Pack, count: Count) -> Sequence[Block]:
    """Like text, without blank lines between files and without the keyword of functions."""
    return _grouped(pack, compact=True)


def ultracompact(pack: Pack, count: Count) -> Sequence[Block]:
    """With a dictionary of paths where that is shorter than grouping by file, so never longer than
    compact.

    Neighbours are listed below a target instead of saying themselves what they are to it, unless
    that is longer; what stands in the same file as a target does not say so.
    """
    forms = (
        _grouped(pack, compact=True, lists_all=True),
        _with_dictionary(pack),
        _grouped(pack, compact=True),
    )
    return min(forms, key=lambda blocks: _weight(blocks, count))


def _weight(blocks: Sequence[Block], count: Count) -> int:
    return sum([count(block.text) for block in blocks])


def _grouped(
    pack: Pack, *, compact: bool, lists_all: bool = False, has_hint: bool = True
) -> list[Block]:
    relations = relations_of(pack, lists_all=lists_all)
    items = printed_items(pack, relations)
    between = "" if compact else "\n"
    page = _Page(
        pack, relations, unique_names(items), compact, delta_marks(pack), lists_all=lists_all
    )
    blocks = [block for extract in pack.extracts for block in _extract_blocks(extract)]
    for path, group in groupby(items, key=lambda item: item.symbol.path):
        in_file = list(group)
        start = between if blocks else ""
        blocks.append(Block(f"{start}=== {visible_line(path)}\n", Part.FILE, path))
        for one in grouped(in_file):
            blocks += page.group(one)
        blocks += page.names(in_file, path)
    return blocks + _note(pack, between if blocks else "", has_hint=has_hint)


def _with_dictionary(pack: Pack) -> list[Block]:
    relations = relations_of(pack, lists_all=True)
    items = printed_items(pack, relations)
    times = Counter(item.symbol.path for item in pack.items)
    numbers = {
        path: f"P{number}" for number, path in enumerate(path for path, n in times.items() if n > 1)
    }
    # Names in a list say their path only here, so others cannot leave it out for them.
    listed = {
        item.symbol.qualname
        for item in items
        if item.detail is Detail.NAME and item.symbol.id not in pack.targets
    }
    page = _Page(
        pack,
        relations,
        unique_names(items) - listed,
        True,
        delta_marks(pack),
        numbers,
        lists_all=True,
    )
    legend = [
        Block(f" {number}={visible_line(path)}", Part.HEADER, path)
        for path, number in numbers.items()
    ]
    if legend:
        legend = [
            legend[0]._replace(text=legend[0].text[1:]),
            *legend[1:],
            Block("\n", Part.HEADER),
        ]
    blocks = legend + [block for extract in pack.extracts for block in _extract_blocks(extract)]
    for item in items:
        blocks += page.dictionary_item(item)
    return blocks + page.names(items, "") + _note(pack, "")


@frozen
class _Page:
    """The things that the lines of one pack have in common."""

    pack: Pack
    relations: Relations
    unique: frozenset[str]  # qualified names that need no path
    compact: bool
    marks: dict[str, str]  # after names, by the symbol's id
    numbers: dict[str, str] | None = None  # of paths; without them, items are grouped by file
    lists_all: bool = False  # the lines of a target name all that is related to it

    def group(self, group: ItemGroup) -> list[Block]:
        """An item below the line of its file, with what is open of it in its place."""
        if not group.members:
            return self._grouped_item(group.holder)
        holder = group.holder
        blocks = self._heading(
            holder, self._header(holder, self._label(holder, code_says_name=True))
        )
        for member, code in pieces(group):
            one = holder if member is None else member
            part = PART_OF_DETAIL[one.detail]
            if member is not None:
                blocks += self._heading(member, self._member_header(member))
            blocks.append(Block(_guarded(code), part, one.symbol.path))
        return blocks

    def _grouped_item(self, item: Item) -> list[Block]:
        if item.detail is Detail.NAME and not self._is_target(item):
            return []
        header = self._header(item, self._label(item, code_says_name=True))
        return [*self._heading(item, header), *self._code(item)]

    def _header(self, item: Item, label: str) -> str:
        reason = self._reason(item)
        said = [word for word in (f"@{_line_range(item)}", _delta(item), reason) if word]
        return " ".join(said) + ((": " if reason else " ") + label if label else "")

    def _member_header(self, member: Item) -> str:
        """The line of what is shown within its class, which says whose member it is."""
        if member.delta is not Delta.WHOLE:
            return self._header(member, visible_line(member.symbol.qualname))
        label = "" if member.code else f"  {self._worded(member.signature)}"
        if member.reason in SAID_BY_PLACE and not member.evidence:
            return f"@{_line_range(member)}{f' {label}' if label else ''}"
        return self._header(member, label.strip())

    def dictionary_item(self, item: Item) -> list[Block]:
        """An item that starts with its path."""
        if item.detail is Detail.NAME and not self._is_target(item):
            return []
        label = self._label(item, code_says_name=False)
        said = (
            f"{self._path(item.symbol.path)}:{label}",
            f"@{_line_range(item)}",
            _delta(item),
            self._reason(item),
        )
        return [*self._heading(item, " ".join(filter(None, said))), *self._code(item)]

    def names(self, items: Iterable[Item], path: str) -> list[Block]:
        """The items of which there is only the name, by reason."""
        named: dict[str, list[Symbol]] = {}
        for item in items:
            if item.detail is Detail.NAME and not self._is_target(item):
                named.setdefault(reason_phrase(item), []).append(item.symbol)
        return [
            Block(f"@+ {visible_line(phrase)}: {self._listed(symbols, path)}\n", Part.NAME, path)
            for phrase, symbols in named.items()
        ]

    def _heading(self, item: Item, header: str) -> list[Block]:
        path, part = item.symbol.path, PART_OF_DETAIL[item.detail]
        blocks = [Block(header + "\n", part, path)]
        labels = self.relations.of_target.get(item.symbol.id, {})
        blocks += [
            Block(f"  {label}: {self._listed(symbols, path)}\n", Part.RELATION, path)
            for label, symbols in labels.items()
        ]
        if item.imports:
            blocks.append(
                Block(f"  imports: {visible_line(', '.join(item.imports))}\n", Part.RELATION, path)
            )
        twins = (f"  {visible_line(twin_phrase(twin, path))}\n" for twin in item.twins)
        return [*blocks, *(Block(twin, Part.RELATION, path) for twin in twins)]

    def _code(self, item: Item) -> list[Block]:
        code = code_text(item)
        return (
            [Block(_guarded(code), PART_OF_DETAIL[item.detail], item.symbol.path)] if code else []
        )

    def _reason(self, item: Item) -> str:
        is_said = item.symbol.id in self.relations.said or (
            item.reason in SAID_BY_PLACE and not item.evidence
        )
        if self.lists_all and is_said:
            return ""
        return visible_line(reason_phrase(item) + changed_phrase(item) + evidence_phrase(item))

    def _is_target(self, item: Item) -> bool:
        return item.symbol.id in self.pack.targets

    def _label(self, item: Item, *, code_says_name: bool) -> str:
        """The signature, or the name if there is none or code follows; "" if the code tells the
        name itself.
        """
        symbol = item.symbol
        if item.qualified and (item.detail is Detail.SIGNATURE or _lacks_header(item)):
            return self._worded(item.qualified)
        if item.code and not item.delta and code_says_name and symbol.name == symbol.qualname != "":
            return ""
        return visible_line(symbol.qualname) or (MODULE_NAME if symbol.language else "")

    def _worded(self, signature: str) -> str:
        """A signature in the words of the format."""
        label = visible_line(signature)
        return _PLAIN_KEYWORD.sub(r"\1", label, count=1) if self.compact else label

    def _path(self, path: str) -> str:
        return (self.numbers or {}).get(path) or visible_line(path)

    def _listed(self, symbols: Iterable[Symbol], path: str) -> str:
        """Names; those that follow each other in one file that has to be named share its path."""
        words: list[str] = []
        last_path = ""
        for symbol in symbols:
            name = visible_line(symbol.qualname) + self.marks.get(symbol.id, "")
            if symbol.kind is Kind.MODULE:
                words.append(f", {MODULE_NAME if symbol.path == path else self._path(symbol.path)}")
                last_path = ""
            elif symbol.path == path or symbol.qualname in self.unique:
                words.append(", " + name)
                last_path = ""
            elif symbol.path == last_path:
                words.append("," + name)
            else:
                words.append(f", {self._path(symbol.path)}:{name}")
                last_path = symbol.path
        return "".join(words)[2:]


def _lacks_header(item: Item) -> bool:
    """True if the lines that are shown of a changed symbol are without that which names it."""
    return has_hunks(item) and not names_itself(item)


def _delta(item: Item) -> str:
    phrase = delta_phrase(item)
    return f"[{phrase}]" if phrase else ""


def _line_range(item: Item) -> str:
    first, last = item.symbol.start_line, item.symbol.end_line
    whole = f"{first}-{last}" if last > first else str(first)
    return f"{first}-{item.last_line} of {whole}" if item.is_cut else whole


def _extract_blocks(extract: Extract) -> list[Block]:
    lines = "whole" if extract.whole else f"@{extract.first_line}-{extract.last_line}"
    delta = f" [{delta_phrase(extract)}]" if extract.delta else ""
    return [
        Block(f"=== {visible_line(extract.path)} {lines}{delta}\n", Part.FILE, extract.path),
        Block(_guarded(extract.text), Part.BODY, extract.path),
    ]


def _note(pack: Pack, start: str, *, has_hint: bool = True) -> list[Block]:
    phrase = note_phrase(pack, has_hint=has_hint)
    return [Block(f"{start}=== {visible_line(phrase)}\n", Part.NOTE)] if phrase else []


def _guarded(code: str) -> str:
    return _STRUCTURE.sub(r"\\", visible(code))
