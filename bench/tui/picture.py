"""The picture of the screen in README.md and docs/agent-screen.md: `python -m bench.tui.picture`.

Everything in it is what users run (llama.cpp's server, index, tools, session, screen), in a small repository that is
made for it, but for the model, whose words are written below. Chromium, which has to be installed, makes the SVG of
the screen a PNG.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from textual.pilot import Pilot

from bench.modelserver.scripts import write_scripted
from bench.modelserver.server import Server as ModelServer
from bench.tui.scripted import shown
from tersely.agent.opening import Wanted
from tersely.cli.agent.screen import open_shown
from tersely.cli.agent.servers import Server, connected
from tersely.cli.daemon import ANSWER_WORDS
from tersely.foundation.clock import Stopwatch
from tersely.tui.app import ChatApp

PICTURE = Path(__file__).parents[2] / "docs" / "agent-screen.png"
SIZE = (92, 26)
PATIENCE_SECONDS = 120
LOOK_SECONDS = 0.05
FILES = {
    "src/flask/app.py": '''class Flask:
    def url_for(self, endpoint, *, _external=None, **values):
        """The URL of an endpoint, with these values."""
        return self.url_adapter.build(endpoint, values, force_external=_external)
''',
    "src/flask/helpers.py": '''from .globals import current_app


def url_for(endpoint, *, _external=None, **values):
    """The URL of an endpoint of the current application."""
    return current_app.url_for(endpoint, **values)
''',
    "src/flask/globals.py": "current_app = None\n",
}
ASKED = ("what uses url_for?", "only passes on")  # a message, and words after which it is answered
CHANGED = ("edit the one in helpers.py so that _external is passed on", "Allow edit")
ANSWER = """`url_for` builds the URL of an endpoint. In `src/flask`, two places use it:

1. `Flask.url_for` (`app.py`) does the work and reads the `app_ctx`.
2. `flask.url_for` (`helpers.py`) only passes on to **`current_app.url_for`**.
"""
EDIT = """<call edit>
path: src/flask/helpers.py
start: 6
end: 6
--- body
    return current_app.url_for(endpoint, _external=_external, **values)
</call>"""
SCRIPT = [
    "<call search>\nquery: url_for callers\n</call>",
    ANSWER,
    "<call read>\npath: src/flask/helpers.py\n</call>",
    EDIT,
    "Done.",
]


def main() -> int:
    """Make the repository, the model, the picture."""
    parser = argparse.ArgumentParser(prog="python -m bench.tui.picture", description=__doc__)
    parser.add_argument("--to", type=Path, default=PICTURE, help="where the picture is written")
    to = parser.parse_args().to.resolve()
    browser = shutil.which("chromium") or shutil.which("google-chrome")
    if browser is None:
        sys.stderr.write("there is no Chromium here to make a PNG of an SVG\n")
        return 3
    with tempfile.TemporaryDirectory() as folder:
        os.environ.update(TERSELY_HOME=f"{folder}/home", TERSELY_DAEMON="off")
        model = Path(folder, "scripted.gguf")
        write_scripted(model, SCRIPT)
        with ModelServer(model, 8_192) as server:
            picture = asyncio.run(pictured(server.url, repository(Path(folder, "flask")), Path(folder, "home", "chat")))
        source = Path(folder, "screen.svg")
        source.write_text(picture, "utf-8")
        painted(browser, source, to)
    return 0


def repository(root: Path) -> Path:
    """A small one, of git."""
    for name, text in FILES.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text, "utf-8")
    subprocess.run(["git", "init", "--quiet"], cwd=root, check=True)
    return root


async def pictured(url: str, root: Path, folder: Path) -> str:
    """The screen as SVG, when it asks whether a file may be changed."""
    server, model = await connected(Server(url))
    agent = await open_shown(Wanted(root, folder, ANSWER_WORDS), server, model, retrieves=True)
    app = ChatApp(agent, root)
    try:
        async with app.run_test(size=SIZE) as pilot:
            for message, answered in (ASKED, CHANGED):
                await pilot.press(*message, "enter")
                await seen(pilot, answered)
            picture = app.export_screenshot()
            await pilot.press("n")
    finally:
        await agent.close()
    return picture


async def seen(pilot: Pilot[None], words: str) -> None:
    """Wait until something stands on the screen."""
    watch = Stopwatch()
    while words not in shown(pilot.app):
        if watch.seconds() > PATIENCE_SECONDS:
            raise TimeoutError(f"{words!r} has not come:\n{shown(pilot.app)}")
        await pilot.pause(LOOK_SECONDS)
    await pilot.pause(LOOK_SECONDS)


def painted(browser: str, source: Path, to: Path) -> None:
    """An SVG as PNG, in the size that it names."""
    box = re.search(r'viewBox="0 0 ([\d.]+) ([\d.]+)"', source.read_text("utf-8"))
    if box is None:
        raise ValueError("the picture has no size")
    size = f"--window-size={float(box[1]):.0f},{float(box[2]):.0f}"
    words = [browser, "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", size]
    subprocess.run([*words, f"--screenshot={to}", source.as_uri()], check=True, capture_output=True, timeout=120)


if __name__ == "__main__":
    sys.exit(main())
