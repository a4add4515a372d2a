"""Nodes of a syntax tree: comments, literals, and the uses of their names."""
