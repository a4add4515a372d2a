"""Draw a session of Claude Code with Tersely's packet beside it, as README.md shows it:
`python -m tools.picture_session PROGRAM CLONE [FILE]`.

PROGRAM is Claude Code, CLONE a clone of Flask, FILE the SVG to write (docs/session.svg). The agent
is the real one, in a terminal of tmux, set up by `tersely install claude`; its model is a script
that knows nothing but what its requests say. The left half is the captured screen, the right half
is what the hook put into the request.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
import tempfile
from html import escape
from itertools import takewhile
from pathlib import Path

from rich.color_triplet import ColorTriplet
from rich.console import Console
from rich.terminal_theme import TerminalTheme
from rich.text import Text
from tests.own_tmux import Terminal
from tests.wrap.scripted_model import Asked, Reply, ScriptedModel

from tersely.foundation.text.tokens import Tokenizer

PROMPT = "The session cookie is not refreshed when SESSION_REFRESH_EACH_REQUEST is set"
PACKET = re.compile(r"Probably about, .*?(?=\n\n|\n</|\Z)", re.DOTALL)
FIRST_PLACE = re.compile(r"^(\S+\.py)\n  (\d+)-(\d+) ([\w.]+):", re.MULTILINE)
PLACE = re.compile(r"\S+\.py$|== |(test|next): ")
TESTS = re.compile(r"^test: (.+)$", re.MULTILINE)
COLUMNS, PACKET_COLUMNS, ROWS = 46, 78, 40
CHARACTER, LINE, MARGIN, FONT = 7.3, 17, 14, 12  # pixels
FONTS = "ui-monospace,SFMono-Regular,Menlo,Consolas,'DejaVu Sans Mono',monospace"
DARK = TerminalTheme(
    (22, 27, 34),
    (201, 209, 217),
    [(72, 79, 88), (255, 123, 114), (63, 185, 80), (210, 153, 34), (88, 166, 255), (188, 140, 255), (57, 197, 207),
     (177, 186, 196)],
)  # fmt: skip


def packet_in(text: str) -> str:
    """The packet that stands in a request, without what follows it; empty if there is none."""
    found = PACKET.search(text)
    return found[0].rstrip() if found else ""


def answer(asked: Asked) -> Reply:
    """Read the first place that the packet names, then say what was read."""
    packet = packet_in("\n".join(turn.text for turn in asked.turns if turn.role != "tool"))
    place, tests = FIRST_PLACE.search(packet), TESTS.search(packet)
    if place is None or tests is None or "Read" not in asked.tools:
        return Reply("Ready.")
    path, begin, end, name = place.groups()
    if any(turn.role == "tool" for turn in asked.turns):
        return Reply(f"`{name}` decides it ({path}:{begin}). I change it and run `{tests[1]}`.")
    wanted = {"file_path": path, "offset": int(begin), "limit": int(end) - int(begin) + 1}
    return Reply(tool="Read", arguments=wanted)


def recorded(program: Path, clone: Path, place: Path) -> tuple[Text, str]:
    """(the screen of the agent after its turn, the packet that its model was sent)."""
    home, root = place / "home", place / "flask"
    home.mkdir()
    subprocess.run(["git", "clone", "--quiet", str(clone), str(root)], check=True)
    known = {
        "hasCompletedOnboarding": True, "theme": "dark", "customApiKeyResponses": {"approved": ["scripted"]},
        "projects": {str(root): {"hasTrustDialogAccepted": True}},
    }  # fmt: skip
    (home / ".claude.json").write_text(json.dumps(known))
    own = {
        "HOME": str(home), "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}", "TERSELY_DAEMON": "off",
        "LANG": "C.UTF-8", "TERM": "xterm-256color", "COLORTERM": "truecolor",
    }  # fmt: skip
    for words in (["index", "--quiet"], ["install", "claude", "--user", "--yes"]):
        command = [sys.executable, "-m", "tersely", *words]
        subprocess.run(command, cwd=root, env=own, check=True, stdout=subprocess.DEVNULL)
    model = ScriptedModel(answer)
    own |= {
        "ANTHROPIC_BASE_URL": model.url, "ANTHROPIC_API_KEY": "scripted", "ENABLE_TOOL_SEARCH": "false",
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
    }  # fmt: skip
    terminal = Terminal(place)
    agent = [str(program), "--model", "scripted-model", "--permission-mode", "default"]
    try:
        variables = [f"{name}={value}" for name, value in own.items()]
        terminal.start(shlex.join(["env", "-i", *variables, *agent]), root, COLUMNS, ROWS)
        terminal.shows("manual mode on")
        terminal.keys("-l", PROMPT)
        terminal.shows("SESSION_REFRESH")
        terminal.keys("Enter")
        terminal.shows("· done ")
        screen = Text.from_ansi(terminal.coloured(), no_wrap=True)
        return screen, next(filter(None, map(packet_in, model.texts)))
    finally:
        terminal.tmux("kill-server")
        model.close()


def conversation(screen: Text) -> list[Text]:
    """The lines from the prompt to the last answer, without what the program draws around them."""
    lines = list(screen.split("\n", allow_blank=True))
    begin = next(number for number, line in enumerate(lines) if PROMPT[:20] in line.plain)
    lines = list(takewhile(lambda line: not line.plain.startswith(("✻", "───")), lines[begin:]))
    for line in lines:
        line.rstrip()
    while not lines[-1].plain:
        lines.pop()
    return lines


def emphasized(line: str) -> Text:
    """A line of the packet, shortened to the width; those that name a file or a command are blue."""
    shown = line if len(line) <= PACKET_COLUMNS else f"{line[: PACKET_COLUMNS - 1]}…"
    return Text.assemble((shown, "blue" if PLACE.match(line) else ""))


def spans(line: Text, console: Console) -> str:
    """A line as SVG: one `tspan` for each run of a colour."""
    drawn = []
    for text, style, _ in line.render(console):
        colour = style.color.get_truecolor(DARK) if style and style.color else None
        shown = colour or ColorTriplet(*DARK.foreground_color)
        weight = ' font-weight="bold"' if style and style.bold else ""
        drawn.append(f'<tspan fill="{shown.hex}"{weight}>{escape(text)}</tspan>' if text else "")
    return "".join(drawn)


def panel(left: float, columns: int, title: str, lines: list[str], height: float) -> list[str]:
    """A dark window with a title and lines of text."""
    width = columns * CHARACTER + 2 * MARGIN
    rows = [
        f'<rect x="{left:.0f}" y="1" width="{width:.0f}" height="{height - 2:.0f}" rx="8" fill="#161b22"/>',
        f'<text x="{left + MARGIN:.0f}" y="{MARGIN + 8}" fill="#8b949e">{escape(title)}</text>',
    ]
    for number, line in enumerate(lines):
        y = MARGIN + LINE * (number + 2)
        rows.append(f'<text x="{left + MARGIN:.0f}" y="{y}" xml:space="preserve">{line}</text>')
    return rows


def drawing(screen: Text, packet: str) -> str:
    """The SVG: the agent at the left, the packet at the right."""
    console = Console(width=PACKET_COLUMNS)
    said = [spans(line, console) for line in conversation(screen)]
    shown = [spans(emphasized(line), console) for line in packet.splitlines()]
    title = f"what Tersely put beside the prompt: {Tokenizer().count(packet)} tokens"
    height = MARGIN * 2 + LINE * (max(len(said), len(shown)) + 1.5)
    right = COLUMNS * CHARACTER + 3 * MARGIN
    width = right + PACKET_COLUMNS * CHARACTER + 2 * MARGIN
    form = f'viewBox="0 0 {width:.0f} {height:.0f}" font-family="{FONTS}" font-size="{FONT}"'
    return "\n".join((
        f'<svg xmlns="http://www.w3.org/2000/svg" {form}>',
        f"<title>Claude Code in a clone of Flask; {title}</title>",
        *panel(0, COLUMNS, "Claude Code, in a clone of Flask", said, height),
        *panel(right, PACKET_COLUMNS, title, shown, height),
        "</svg>\n",
    ))  # fmt: skip


def main(words: list[str]) -> None:
    """Write the picture."""
    program, clone, *target = words
    file = Path(*target) if target else Path(__file__).parents[1] / "docs" / "session.svg"
    with tempfile.TemporaryDirectory() as place:
        screen, packet = recorded(Path(program).resolve(), Path(clone).resolve(), Path(place))
    file.write_text(drawing(screen, packet), "utf-8")
    sys.stdout.write(f"{file}: {file.stat().st_size:,} bytes\n")


if __name__ == "__main__":
    main(sys.argv[1:])
