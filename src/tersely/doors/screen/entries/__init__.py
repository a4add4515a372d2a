"""The entries of the log: one module a kind."""
