"""A program that reads lines at a prompt: it counts with others, and says what it is told, `@` for
its prefix.
"""

import re
import sys


def lines():
    while True:
        print("> ", end="", flush=True)
        if not (line := sys.stdin.readline()):
            return
        yield line


prefix = "->relay:"
print("ready", flush=True)
for line in lines():
    if marker := re.search(r"with the marker (\w+) in the place of MARKER", line):
        prefix = f"->relay-{marker[1]}:"
    found = re.match(r"Relay message from (\S+) \[[^\]]*\](?: \[\S+\])*: (.*)", line)
    if found is None:
        print("heard:", line.rstrip(), flush=True)
        continue
    sender, body = found.groups()
    print("from", sender, "came", body, flush=True)
    if body.startswith("count "):
        number = int(body.split()[1])
        if number < 6:
            print(f"{prefix}{sender} count {number + 1}", flush=True)
    elif body.startswith("say "):
        print(body[4:].replace("@", prefix), flush=True)
    elif body == "quit":
        sys.exit(7)
