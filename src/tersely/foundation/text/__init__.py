"""Texts: their tokens, made short, made harmless, and names meant by a mistyped one."""
