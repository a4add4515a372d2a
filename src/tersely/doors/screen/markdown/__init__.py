"""Markdown as rows of a screen: cut into pieces while it arrives, each laid out once."""
