"""`python -m laconic` is the `laconic` command."""

from __future__ import annotations

import sys

from laconic.cli.main import main

if __name__ == "__main__":
    sys.exit(main())
