"""Tersely: what a model or a person needs to know about code, in as few tokens as it takes."""

__version__ = "0.1.0"
