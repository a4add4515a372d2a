"""The manual, made from the catalogue: an overview, a page a command, and two topics."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence

from tersely.capabilities.answers.text import Style, aligned
from tersely.capabilities.declaration.declaration import Parameter
from tersely.cli.commands import ALIASES, COMMANDS, Command, meant_by
from tersely.cli.help.overview import OWN_COMMANDS, RELAY, RELAY_COMMANDS, SECTIONS
from tersely.cli.options import OPTIONS
from tersely.foundation.errors import TerselyError

WIDTH_CHARACTERS = 100
SUMMARY = "Code context for AI agents, within a token budget"

EXIT_CODES = """\
0    answered
1    answered, and the answer is no: nothing found, or ambiguous
2    usage error: an unknown command, option or value
3    environment error: files, disk, database, a missing grammar
70   a defect in Tersely; TERSELY_DEBUG=1 shows the traceback
130  interrupted (Ctrl-C)
141  output closed by its reader

An error has a stable code, a message and a hint:

    symbol_not_found: no symbol matches 'valdate'
    hint: did you mean validate?
"""

JSON = """\
With --json every command prints exactly one JSON object on standard output:

    {"ok": true, "revision": "9c1f…", "result": …}
    {"ok": false, "revision": "", "error": {"code": "symbol_not_found", "message": "…", "hint": "…"}}

revision identifies the contents of all indexed files: equal revisions give equal answers.
Lists are pages: {"items": […], "total": 73, "offset": 0, "more": 23}.
Errors are printed on standard error as well.
"""

TOPICS = {"exit-codes": ("Exit codes", EXIT_CODES), "json": ("Output for programs", JSON)}


def text(program: str, words: Sequence[str], style: Style) -> str:
    """The page of a command or topic, the overview without one; raises `unknown_command`."""
    if not words:
        return overview(program, style)
    if words[0] in TOPICS:
        title, body = TOPICS[words[0]]
        return f"{style.heading(title)}\n\n{textwrap.indent(body, '  ')}"
    if words[0] in RELAY_COMMANDS:
        # what declares these commands is imported where one is meant
        from tersely.cli.relay.run import help_text

        return help_text(program, words[1:] if words[0] == RELAY else words, style)
    if words[0] in OWN_COMMANDS:
        from tersely.cli.builtin.builtin_commands import own_parameters  # which imports this module

        declared = own_parameters(words[0])
        arguments, summary = OWN_COMMANDS[words[0]]
        usage = f"{program} {words[0]} {arguments}".rstrip()
        head = f"{style.heading(usage)}\n\n  {summary}.\n"
        return "\n".join(
            [head, *(parameter_blocks(declared, style) if declared is not None else [])]
        )
    return _pages(program, words, style)


def overview(program: str, style: Style) -> str:
    """All commands, a line each."""
    head = f"{program}: {SUMMARY}\n\n{style.heading('usage')}: {program} COMMAND [OPTION]…\n"
    blocks = [head]
    sections = {**SECTIONS, "Relay": RELAY_COMMANDS, "Tersely": OWN_COMMANDS}
    rows = [
        (f"{name} {arguments}".rstrip(), summary)
        for section in sections.values()
        for name, (arguments, summary) in section.items()
    ]
    lines = aligned(rows, [style.symbol])
    for title, section in sections.items():
        shown, lines = lines[: len(section)], lines[len(section) :]
        blocks.append("\n".join([style.heading(title), *(f"  {line}" for line in shown)]) + "\n")
    blocks.append(_options("Options of every command", OPTIONS, style))
    blocks.append(f"{program} help COMMAND shows its options and examples.\n")
    return "\n".join(blocks)


def _pages(program: str, words: Sequence[str], style: Style) -> str:
    """The page of one command, or the list of those whose first word it is."""
    group = _begun_by(words[0], COMMANDS) or _begun_by(words[0], ALIASES)
    exact = [command for command in group if command.words == tuple(words[: len(command.words)])]
    if exact:
        return page(program, exact[0], style)
    if not group:
        raise TerselyError(
            "unknown_command", f"there is no command {words[0]!r}", meant_by(words[0])
        )
    lines = aligned([(synopsis(command), command.line()) for command in group], [style.symbol])
    blocks = [
        f"{style.heading(f'{program} {words[0]}')}\n",
        "".join(f"  {line}\n" for line in lines),
        f"{program} help {group[0].name} shows its options and examples.\n",
    ]
    return "\n".join(blocks)


def _begun_by(word: str, commands: Sequence[Command]) -> list[Command]:
    return [command for command in commands if command.words[0] == word]


def page(program: str, command: Command, style: Style) -> str:
    """The manual page of a command."""
    capability = command.capability()
    about = (
        f"{capability.summary}. {capability.description}"
        if not command.summary
        else f"{command.summary}."
    )
    blocks = [
        f"{style.heading(f'{program} {synopsis(command)} [OPTION]…')}\n",
        "\n\n".join(_wrapped(paragraph, "  ") for paragraph in about.split("\n\n")) + "\n",
    ]
    blocks += parameter_blocks(command.parameters(), style)
    if capability.examples and not command.preset:
        lines = "".join(f"  {program} {example}\n" for example in capability.examples)
        blocks.append(f"{style.heading('Examples')}\n{lines}")
    return "\n".join(blocks)


def parameter_blocks(parameters: Sequence[Parameter], style: Style) -> list[str]:
    """The parameters of a command, and the options of every command, as text."""
    positional = [parameter for parameter in parameters if parameter.positional]
    named = [
        parameter for parameter in parameters if not parameter.positional and not parameter.hidden
    ]
    own = {parameter.name for parameter in named}
    common = [parameter for parameter in OPTIONS if parameter.name not in own]
    sections = (
        ("Arguments", positional),
        ("Options", named),
        ("Options of every command", common),
    )
    return [_options(title, shown, style) for title, shown in sections if shown]


def synopsis(command: Command) -> str:
    """The name of a command and the words that it is given without an option."""
    return " ".join([command.name, *places(command.parameters())])


def places(parameters: Sequence[Parameter]) -> list[str]:
    """The words that stand for what a command is given without an option."""
    words = []
    for parameter in parameters:
        if parameter.positional:
            word = parameter.metavar + ("…" if parameter.many else "")
            words.append(word if parameter.required else f"[{word}]")
    return words


def _options(title: str, parameters: Sequence[Parameter], style: Style) -> str:
    spelled = [(spelling(parameter), _description(parameter)) for parameter in parameters]
    indent = max(len(words) for words, _ in spelled) + 4
    lines = []
    for words, told in spelled:
        first, *more = textwrap.wrap(told, WIDTH_CHARACTERS - indent)
        lines.append(f"  {style.symbol(words)}{' ' * (indent - 2 - len(words))}{first}")
        lines += [" " * indent + line for line in more]
    return "\n".join([style.heading(title), *lines]) + "\n"


def spelling(parameter: Parameter) -> str:
    """The spelling of a parameter as it is typed."""
    if parameter.positional:
        return parameter.metavar
    if parameter.type is bool:
        return parameter.flag if not parameter.default else "--no-" + parameter.flag[2:]
    if parameter.shorthand:
        return ", ".join("--" + choice for choice in parameter.choices)
    return f"{parameter.flag} {parameter.metavar}"


def _description(parameter: Parameter) -> str:
    notes = []
    if parameter.choices and not parameter.shorthand:
        notes.append(", ".join(parameter.choices))
    if parameter.type is int and parameter.maximum is not None:
        notes.append(f"{parameter.minimum or 0} to {parameter.maximum:,}")
    if parameter.type is not bool and parameter.default not in (None, "", ()):
        notes.append(f"default {parameter.default}")
    if parameter.many and not parameter.positional:
        notes.append("may be repeated")
    told = (
        f"do not {parameter.help}"
        if parameter.type is bool and parameter.default
        else parameter.help
    )
    return told + (f" ({'; '.join(notes)})" if notes else "")


def _wrapped(text: str, indent: str) -> str:
    return textwrap.fill(text, WIDTH_CHARACTERS, initial_indent=indent, subsequent_indent=indent)
