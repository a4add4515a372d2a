"""A full-screen program in raw mode that shows what a file says, and notes the keys that it gets.

    asking.py SCREEN LOG

It draws SCREEN anew whenever that is another; each key goes to LOG as JSON.
"""

import json
import os
import select
import sys
import termios
import tty
from pathlib import Path

screen, log = map(Path, sys.argv[-2:])
before = termios.tcgetattr(0)
tty.setraw(0)
drawn = ""
try:
    while True:
        shown = screen.read_text()
        if shown != drawn:
            os.write(1, ("\x1b[?25l\x1b[H\x1b[J" + shown.replace("\n", "\r\n")).encode())
            drawn = shown
        if select.select([0], [], [], 0.05)[0]:
            keys = os.read(0, 4096)
            with log.open("a") as file:
                file.write(json.dumps(keys.decode()) + "\n")
finally:
    termios.tcsetattr(0, termios.TCSADRAIN, before)
