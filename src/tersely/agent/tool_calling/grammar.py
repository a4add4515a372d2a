"""The grammar of answers, in GBNF: lines of prose, then at most one call, after which the answer
ends.

Every text terminal is a class that lists what is allowed, and is bounded: what is negated lets
bytes through that are no character, and what is unbounded never has to end.
"""

from __future__ import annotations

from collections.abc import Sequence

from tersely.agent.tool_calling.path_trie import KNOWN_PATHS, PathTrie, literal
from tersely.agent.tool_calling.text_call_format import CLOSING, OPENING, marker
from tersely.agent.tools.declaration import AgentTool
from tersely.capabilities.declaration.declaration import Parameter, Role
from tersely.foundation.types import Strings

MAX_CALL_LINE_CHARACTERS = 400  # of one value, or of one line of a raw one

MAX_PROSE_LINES = 300  # before a call
MAX_MARGIN_CHARACTERS = 200  # of a line
MAX_BLANK_LINES = 3  # in a row: some models end in nothing but these
MAX_PROSE_LINE_CHARACTERS = 1_500

# Code points of one line: no control characters but the tabulator, no separators of lines, no
# surrogates.
_LINE = (
    (0x09, 0x09),
    (0x20, 0x7E),
    (0xA0, 0x2027),
    (0x202A, 0xD7FF),
    (0xE000, 0xFDCF),
    (0xFDF0, 0xFFFD),
    (0x10000, 0x1FFFD),
)
_SYMBOL = ((0x21, 0x7E), (0xC0, 0x1FFF), (0x3041, 0xD7A3))  # nothing that separates
_NEW_PATH = ((0x2D, 0x39), (0x41, 0x5A), (0x5F, 0x5F), (0x61, 0x7A))  # letters, digits, and - . / _
# what a line may hold that shows nothing
_BLANK = "\t \xa0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u202f\u205f\u3000"
_MARGIN = ((0x09, 0x09), (0x20, 0x20))


def grammar_for(tools: Sequence[AgentTool], paths: PathTrie | None) -> str:
    """The grammar of an answer that may call one of these tools; `paths` are the ones that it may
    name.
    """
    known = paths.rules if paths is not None else ""
    rules = [
        "root ::= prose blank (last | call)",
        f'prose ::= (blank prose-line "\\n"){{0,{MAX_PROSE_LINES}}}',
        'last ::= "" | prose-line',
        f'blank ::= "\\n"{{0,{MAX_BLANK_LINES}}}',
        f"prose-line ::= {_line_without((OPENING,))}",
        f"rest ::= {_class(_LINE)}{{0,{MAX_PROSE_LINE_CHARACTERS}}}",
        f"call ::= {' | '.join(f'call-{rule_name(tool.name)}' for tool in tools)}",
        'number ::= "0" | [1-9] [0-9]{0,6}',
        f"symbol ::= {_class(_SYMBOL)}{{1,{MAX_CALL_LINE_CHARACTERS}}}",
        known
        or f"known-path ::= {_class(_LINE, _BLANK)} {_class(_LINE)}{{0,{MAX_CALL_LINE_CHARACTERS}}}",
    ]
    for tool in tools:
        rules += _tool_rules(tool)
    return "\n".join(rules) + "\n"


def rule_name(name: str) -> str:
    """A name as rules may be called."""
    return name.replace("_", "-")


def _tool_rules(tool: AgentTool) -> list[str]:
    """The rules of one tool's call: its plain parameters in order, one a line, then its raw ones."""
    lines, rules = [], []
    raw = [parameter for parameter in tool.parameters if parameter.role is Role.CONTENT]
    for parameter in tool.parameters:
        name = f"{rule_name(tool.name)}-{rule_name(parameter.name)}"
        if parameter.role is Role.CONTENT:
            later = [marker(other.name) for other in raw[raw.index(parameter) + 1 :]]
            written = f"{literal(marker(parameter.name) + chr(10))} {name}"
            rules += _raw_rules(name, parameter, (CLOSING, *later))
        else:
            written = f'{literal(parameter.name + ": ")} {name} "\\n"'
            rules.append(f"{name} ::= {_value(parameter)}")
        lines.append((parameter, written if parameter.required else f"({written})?"))
    lines.sort(key=lambda each: each[0].role is Role.CONTENT)
    body = " ".join(written for _, written in lines)
    opening = literal(f"{OPENING} {tool.name}>\n")
    return [
        f"call-{rule_name(tool.name)} ::= {opening} {body} {literal(CLOSING)}".replace("  ", " "),
        *rules,
    ]


def _value(parameter: Parameter) -> str:
    """The rule for the value of a plain parameter."""
    if parameter.choices:
        return " | ".join(map(literal, parameter.choices))
    if parameter.type is int:
        return "number"
    if parameter.role is Role.SYMBOL:
        return "symbol"
    if parameter.role in KNOWN_PATHS:
        return "known-path"
    most = min(parameter.longest, MAX_CALL_LINE_CHARACTERS)
    allowed, not_first = (
        (_NEW_PATH, f"{_BLANK}/") if parameter.role is Role.NEW_PATH else (_LINE, _BLANK)
    )
    return f"{_class(allowed, not_first)} {_class(allowed)}{{0,{most - 1}}}"


def _raw_rules(name: str, parameter: Parameter, endings: Strings) -> list[str]:
    """Lines as they are, none of which may begin with what ends them; all together within the
    parameter's bound.
    """
    width = min(MAX_CALL_LINE_CHARACTERS, max(1, parameter.longest // 2))
    most = max(1, parameter.longest // (width + len(CLOSING) + 1))
    return [
        f'{name} ::= (blank {name}-line "\\n"){{0,{most}}} blank',
        f"{name}-line ::= {_line_without(endings, f'{name}-rest')}",
        f"{name}-rest ::= {_class(_LINE)}{{0,{width}}}",
    ]


def _line_without(prefixes: Strings, rest: str = "rest") -> str:
    """A line with a character in it that begins with none of these, whose end is the rule `rest`."""
    margin = f"{_class(_MARGIN)}{{1,{MAX_MARGIN_CHARACTERS}}} {_class(_LINE, _BLANK)} {rest}"
    return f"{_unlike(prefixes, rest, _BLANK)} | {margin}"


def _end_unlike(prefixes: Strings, rest: str) -> str:
    return f'"" | {_unlike(prefixes, rest)}'


def _unlike(prefixes: Strings, rest: str, without: str = "") -> str:
    """The rule for text that completes none of these: another character, though none of `without`,
    or the same and what differs later.
    """
    first = sorted({prefix[0] for prefix in prefixes})
    ways = [f"{_class(_LINE, ''.join(first) + without)} {rest}"]
    for character in first:
        later = tuple(prefix[1:] for prefix in prefixes if prefix[0] == character)
        if all(later):
            ways.append(f"{literal(character)} ({_end_unlike(later, rest)})")
    return " | ".join(ways)


def _class(ranges: Sequence[tuple[int, int]], without: str = "") -> str:
    """A class of characters, as the ranges that are left when some are taken out."""
    for character in without:
        code = ord(character)
        cut = [
            part
            for low, high in ranges
            for part in ((low, min(high, code - 1)), (max(low, code + 1), high))
        ]
        ranges = [(low, high) for low, high in dict.fromkeys(cut) if low <= high]
    return (
        "["
        + "".join(_code(low) + ("" if low == high else f"-{_code(high)}") for low, high in ranges)
        + "]"
    )


def _code(point: int) -> str:
    if point < 0x100:
        return f"\\x{point:02X}"
    return f"\\u{point:04X}" if point < 0x10000 else f"\\U{point:08X}"
