"""Scopes, values, the call graph and what follows from it."""
