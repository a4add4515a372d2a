"""Nodes of a syntax tree: their children, comments, literals, and the uses of their names."""
