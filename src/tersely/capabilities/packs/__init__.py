"""Answers that fit a token budget."""
