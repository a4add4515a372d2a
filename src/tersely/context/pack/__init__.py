"""Candidates fitted into a token budget."""
