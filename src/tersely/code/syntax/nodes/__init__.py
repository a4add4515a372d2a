"""Nodes of a syntax tree: their children, comments, literals, and what their names are for."""
