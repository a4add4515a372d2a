"""A program that reads lines and answers: it counts with others, and says what it is told, `@` for its prefix."""

import os
import re
import sys

PREFIX = os.environ["TERSELY_RELAY_PREFIX"]
print("ready", flush=True)
for line in sys.stdin:
    found = re.match(r"Relay message from (\S+) \[[^\]]*\](?: \[\S+\])*: (.*)", line)
    if found is None:
        print("heard:", line.rstrip(), flush=True)
        continue
    sender, body = found.groups()
    print("from", sender, "came", body, flush=True)
    if body.startswith("count "):
        number = int(body.split()[1])
        if number < 6:
            print(f"{PREFIX}{sender} count {number + 1}", flush=True)
    elif body.startswith("say "):
        print(body[4:].replace("@", PREFIX), flush=True)
    elif body == "quit":
        sys.exit(7)
