"""`python -m bench.socket.relay HOME`: the socket of a relay whose commits wait for no disk, as the
echo has none.
"""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

import uvloop

from tersely.doors.socket.serve import serving
from tersely.relay.policy import CONFIG
from tersely.relay.relay import Relay, make_home
from tersely.relay.wire.home import listen

TURNS = 1_000_000_000  # its clients answer each other as fast as they can


async def main(home: Path) -> None:
    """Serve until killed."""
    make_home(home)
    (home / CONFIG).write_text(f"turns = {TURNS}\n")
    with Relay.open(home, len, durable=False) as relay:
        async with serving(relay, listen(relay.home)):
            print("ready", flush=True)
            await asyncio.get_running_loop().create_future()


if __name__ == "__main__":
    uvloop.run(main(Path(sys.argv[1])))
