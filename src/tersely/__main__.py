"""`python -m tersely` is the `tersely` command."""

from __future__ import annotations

import sys

from tersely.cli.main import main

if __name__ == "__main__":
    sys.exit(main())
