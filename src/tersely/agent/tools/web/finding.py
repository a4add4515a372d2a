"""The browser of the user's, and whether we can ask it: the extra `browser` brings the client for
it.
"""

from __future__ import annotations

import os
import shutil
from importlib.util import find_spec

_NAMES = (
    "chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "microsoft-edge", "microsoft-edge-stable",
)  # fmt: skip
_PLACES = (
    "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
    "/Applications/Chromium.app/Contents/MacOS/Chromium",
    "/Applications/Microsoft Edge.app/Contents/MacOS/Microsoft Edge",
    "/opt/google/chrome/chrome",
    "/opt/microsoft/msedge/msedge",
    "/snap/bin/chromium",
)


def found_browser() -> str:
    """The program of a Chromium, Chrome or Edge, "" without one or without the client; neither is
    started or loaded.
    """
    if find_spec("playwright") is None:
        return ""
    named = next(filter(None, map(shutil.which, _NAMES)), "")
    return named or next((place for place in _PLACES if os.access(place, os.X_OK)), "")
