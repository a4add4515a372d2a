"""Tersely: Code context for AI agents, within a token budget."""

__version__ = "0.1.0"
