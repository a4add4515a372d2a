"""Answers of a relay: as values, in words, in pages, and cut to what an identity may see."""
