"""The first look at a call after a tool: what may be an edit or a search is handed to `hook after`.

It is started after every command of an agent, so it imports the standard library alone, and starts
nothing for most of them.
"""

from __future__ import annotations

import re
import sys

MAX_AFTER_BYTES = 4_000_000  # of a call
_SIGNS = re.compile(rb"[gG]rep|search_file|\brg |[eE]dit|[wW]rite|replace|patch")


def main(agent: str) -> int:
    """Answer one call on standard input; always 0."""
    call = sys.stdin.buffer.read(MAX_AFTER_BYTES)
    if _SIGNS.search(call):
        import subprocess

        words = [sys.executable, "-m", "tersely", "hook", "after", "--agent", agent]
        subprocess.run(words, input=call, check=False)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
