"""`python FOLDER COMMAND …`: this folder runs by itself, wherever it was copied to and whatever it
is called.
"""

from __future__ import annotations

import sys
from importlib import import_module
from pathlib import Path

if __name__ == "__main__":
    folder = Path(__file__).resolve().parent
    sys.path[0] = str(folder.parent)
    import_module(f"{folder.name}.commands").program(sys.argv[1:], f"python {folder.name}")
