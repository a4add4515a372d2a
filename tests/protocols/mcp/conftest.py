"""What the tests of the server share."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[3]))  # so that tests may import from `tests`

from tests.own_places import runtime, shop

__all__ = ["runtime", "shop"]
