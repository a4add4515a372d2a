"""What the tests of `code` share."""

from __future__ import annotations
