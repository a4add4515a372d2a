"""The scorers of `bench/`, on data made by hand."""

from __future__ import annotations
