"""Tests as each language writes them, and the programs that run them."""
