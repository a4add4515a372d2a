"""The pages of one thread."""
