"""Answers on real repositories that were checked by hand, against what the program says today."""
