"""The scorers of `bench/`, on data made by hand."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))  # `bench` is beside the package, not in it
