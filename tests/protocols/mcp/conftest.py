"""What the tests of the server share."""

from __future__ import annotations

from tests.own_places import runtime, shop

__all__ = ["runtime", "shop"]
