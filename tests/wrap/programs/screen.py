"""A full-screen program in raw mode: a transcript, a box to type in, a line of state. It draws all
of it each time.

    screen.py LOG [--eats N] [--busy FILE] [--late FILE] [--dialog FILE] [--pastes] [--alternate]

What is sent is added to LOG as JSON. The first N Enters have no effect; it draws a spinner while
FILE exists. It neither shows nor reads anything before the late FILE is there. While the dialog
FILE is there, a dialog has the place of the box, and Enter there adds APPROVED to LOG.
"""

import argparse
import json
import os
import re
import select
import sys
import termios
import time
import tty

asked = argparse.ArgumentParser()
asked.add_argument("log")
asked.add_argument("--eats", type=int, default=0)
asked.add_argument("--busy", default="")
asked.add_argument("--late", default="")
asked.add_argument("--dialog", default="")
asked.add_argument("--pastes", action="store_true")
asked.add_argument("--alternate", action="store_true")
given = asked.parse_args()

transcript: list[str] = []
typed, spinner, eaten = "", 0, 0


def draw(drawn: int = 0) -> int:
    """Erase the rows that were drawn, and draw again; how many rows."""
    columns = os.get_terminal_size().columns
    rows = []
    for line in transcript[-30:]:
        rows += [line[at : at + columns - 4] for at in range(0, len(line), columns - 4)] or [""]
    state = "-\\|/"[spinner % 4] + " working" if is_busy() else "idle"
    box = typed.split("\n")
    boxed = [
        part[at : at + columns - 6]
        for part in box
        for at in range(0, max(1, len(part)), columns - 6)
    ]
    if has_dialog():
        lines = [*rows, "touch a-file", "Do you want to proceed?", "❯ 1. Yes", "  2. No"]
    else:
        lines = [*rows, "╭" + "─" * (columns - 3) + "╮"]
        lines += [f"│ {'>' if not number else ' '} {part}" for number, part in enumerate(boxed)]
        lines += ["╰" + "─" * (columns - 3) + "╯", state]
    up = f"\x1b[{drawn - 1}A" if drawn > 1 else ""
    text = "\x1b[?25l\r" + up + "\x1b[J" + "\r\n".join(lines)
    if given.alternate:
        text = "\x1b[H\x1b[J" + "\r\n".join(lines[-os.get_terminal_size().lines :])
    os.write(1, text.encode())
    return len(lines)


def is_busy() -> bool:
    return bool(given.busy) and os.path.exists(given.busy)


def has_dialog() -> bool:
    return bool(given.dialog) and os.path.exists(given.dialog)


def send(text: str) -> None:
    with open(given.log, "a") as file:
        file.write(json.dumps(text) + "\n")
    transcript.append("> " + text.replace("\n", " / "))
    found = re.search(r"\]: say (.*)", text, re.DOTALL)
    if found:
        transcript.extend(("⏺ " + found[1].replace("@", "->relay:")).split("\n"))


while given.late and not os.path.exists(given.late):
    time.sleep(0.05)
before = termios.tcgetattr(0)
tty.setraw(0)
os.write(1, b"\x1b[?2004h" if given.pastes else b"")
os.write(1, b"\x1b[?1049h" if given.alternate else b"")
rows_drawn = draw()
pasting, left, had_dialog = False, b"", has_dialog()
try:
    while True:
        ready = select.select([0], [], [], 0.1)[0]
        if is_busy() or has_dialog() != had_dialog:
            spinner += 1
            had_dialog = has_dialog()
            rows_drawn = draw(rows_drawn)
        if not ready:
            continue
        left += os.read(0, 4096)
        if has_dialog():
            if b"\r" in left:
                send("APPROVED")
            left = b""
        while left:
            if left.startswith(b"\x1b[200~"):
                pasting, left = True, left[6:]
            elif left.startswith(b"\x1b[201~"):
                pasting, left = False, left[6:]
            elif left[:1] == b"\x1b" and len(left) < 6 and b"\x1b[200~".startswith(left[:6]):
                break
            elif left[:1] == b"\r" and not pasting:
                left = left[1:]
                if eaten < given.eats:
                    eaten += 1
                elif typed:
                    send(typed)
                    typed = ""
            elif left[:1] == b"\x03":
                sys.exit(130)
            elif left[:1] == b"\x7f":
                typed, left = typed[:-1], left[1:]
            else:
                size = next(
                    n for n in range(1, 5) if n == 4 or (left[n : n + 1] or b"\0")[0] & 0xC0 != 0x80
                )
                typed += left[:size].decode(errors="replace").replace("\r", "\n")
                left = left[size:]
        rows_drawn = draw(rows_drawn)
finally:
    termios.tcsetattr(0, termios.TCSADRAIN, before)
